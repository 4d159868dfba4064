"""A Pydantic AI agent with the tools of an API: it asks, runs programs of its own, and searches operations."""

from pydantic_ai import Agent, FunctionToolset

from atc.apps.toolset import open_toolset

with open_toolset("openapi.yaml", auth=["bearer:env:SHOP_TOKEN"], model="openai:gpt-5") as functions:
    agent = Agent("openai-chat:gpt-5", toolsets=[FunctionToolset(functions)])
    print(agent.run_sync("How many orders of March are not paid?").output)
