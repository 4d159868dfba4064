import os

import requests
from smolagents import CodeAgent, OpenAIModel, tool

API = "https://api.shop.example/v1"


@tool
def list_orders(status: str, created_from: str, page: int = 1) -> dict:
    """List orders, newest first: {"items": [...], "pages": number of pages, "total": number of orders}.

    Args:
        status: unpaid, paid, shipped or cancelled.
        created_from: Only orders placed at or after this time, such as 2026-01-01T00:00:00Z.
        page: Number of the page, from 1.
    """
    query = {"status": status, "createdFrom": created_from, "page": page}
    headers = {"Authorization": f"Bearer {os.environ['SHOP_TOKEN']}"}
    return requests.get(f"{API}/orders", params=query, headers=headers).json()


def is_list_of_numbers(answer: object, memory: object, agent: object) -> bool:
    """A check of the final answer, which the agent repeats until it holds."""
    return isinstance(answer, list) and all(isinstance(item, int) for item in answer)


agent = CodeAgent(tools=[list_orders], model=OpenAIModel("gpt-5"), final_answer_checks=[is_list_of_numbers])
print(agent.run("Which orders of March are not paid?"))
