from atc import Agent

with Agent("openapi.yaml", auth=["bearer:env:SHOP_TOKEN"], model="openai:gpt-5") as agent:
    print(agent.solve("How many orders of March are not paid?").answer)
