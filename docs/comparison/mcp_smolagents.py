from mcp import StdioServerParameters
from smolagents import CodeAgent, MCPClient, OpenAIModel

with MCPClient(StdioServerParameters(command="python", args=["server.py"]), structured_output=True) as tools:
    print(CodeAgent(tools=tools, model=OpenAIModel("gpt-5")).run("How many desk lamps are in stock?"))
