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


agent = CodeAgent(tools=[list_orders], model=OpenAIModel("gpt-5"))
print(agent.run("How many orders of March are not paid?"))
