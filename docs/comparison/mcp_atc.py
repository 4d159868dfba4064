from atc import Agent

with Agent("mcp:stdio:python server.py", model="openai:gpt-5") as agent:
    print(agent.solve("How many desk lamps are in stock?").answer)
