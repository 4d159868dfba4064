from pydantic_ai import Agent
from pydantic_ai_harness import CodeMode

agent = Agent("openai-chat:gpt-5", capabilities=[CodeMode()])


@agent.tool_plain
def stock(product: str) -> int:
    """How many pieces of a product are in stock.

    Args:
        product: Name of the product.
    """
    return {"desk lamp": 12, "oak shelf": 0}[product.lower()]


print(agent.run_sync("How many desk lamps are in stock?").output)
