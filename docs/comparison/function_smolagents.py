from smolagents import CodeAgent, OpenAIModel, tool


@tool
def stock(product: str) -> int:
    """How many pieces of a product are in stock.

    Args:
        product: Name of the product.
    """
    return {"desk lamp": 12, "oak shelf": 0}[product.lower()]


agent = CodeAgent(tools=[stock], model=OpenAIModel("gpt-5"))
print(agent.run("How many desk lamps are in stock?"))
