from atc import Agent


def stock(product: str) -> int:
    """How many pieces of a product are in stock.

    Args:
        product: Name of the product.
    """
    return {"desk lamp": 12, "oak shelf": 0}[product.lower()]


with Agent(stock, reads=["stock"], model="openai:gpt-5") as agent:
    print(agent.solve("How many desk lamps are in stock?").answer)
