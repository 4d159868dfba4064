import asyncio

from google.adk.agents import Agent
from google.adk.runners import InMemoryRunner


def stock(product: str) -> int:
    """How many pieces of a product are in stock.

    Args:
        product: Name of the product.
    """
    return {"desk lamp": 12, "oak shelf": 0}[product.lower()]


agent = Agent(name="shop", model="gemini-2.5-pro", tools=[stock])
events = asyncio.run(InMemoryRunner(agent).run_debug("How many desk lamps are in stock?", quiet=True))
print(events[-1].content.parts[0].text)
