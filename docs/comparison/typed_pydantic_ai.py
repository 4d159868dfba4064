import os
from pathlib import Path

import httpx2
import yaml
from fastmcp import FastMCP
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai_harness import CodeMode

with Path("openapi.yaml").open() as file:
    document = yaml.safe_load(file)
headers = {"Authorization": f"Bearer {os.environ['SHOP_TOKEN']}"}
client = httpx2.AsyncClient(base_url=document["servers"][0]["url"], headers=headers)
shop = MCPToolset(FastMCP.from_openapi(document, client))
agent = Agent("openai-chat:gpt-5", toolsets=[shop], capabilities=[CodeMode()], output_type=list[int])
print(agent.run_sync("Which orders of March are not paid?").output)
