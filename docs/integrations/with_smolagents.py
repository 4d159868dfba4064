"""A smolagents agent with the tools of an API."""

from smolagents import OpenAIModel, ToolCallingAgent, tool

from atc.apps.toolset import open_toolset

with open_toolset("openapi.yaml", auth=["bearer:env:SHOP_TOKEN"], model="openai:gpt-5") as functions:
    agent = ToolCallingAgent(tools=[tool(function) for function in functions], model=OpenAIModel("gpt-5"))
    print(agent.run("How many orders of March are not paid?"))
