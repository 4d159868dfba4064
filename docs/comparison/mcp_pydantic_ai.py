from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai_harness import CodeMode

agent = Agent("openai-chat:gpt-5", toolsets=[MCPToolset("server.py")], capabilities=[CodeMode()])
print(agent.run_sync("How many desk lamps are in stock?").output)
