"""A LangChain agent, which is a LangGraph graph, with the tools of an API."""

from langchain.agents import create_agent

from atc.apps.toolset import open_toolset

with open_toolset("openapi.yaml", auth=["bearer:env:SHOP_TOKEN"], model="openai:gpt-5") as functions:
    agent = create_agent("openai:gpt-5", tools=functions)
    result = agent.invoke({"messages": [("user", "How many orders of March are not paid?")]})
    print(result["messages"][-1].content)
