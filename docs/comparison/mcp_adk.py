import asyncio

from google.adk.agents import Agent
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from mcp import StdioServerParameters

server = StdioConnectionParams(server_params=StdioServerParameters(command="python", args=["server.py"]))
agent = Agent(name="shop", model="gemini-2.5-pro", tools=[McpToolset(connection_params=server)])
events = asyncio.run(InMemoryRunner(agent).run_debug("How many desk lamps are in stock?", quiet=True))
print(events[-1].content.parts[0].text)
