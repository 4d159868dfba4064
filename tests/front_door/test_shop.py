"""The shop of the guide: its service replies as `docs/examples/shop.yaml` says, in pages and with a token."""

from __future__ import annotations

from pathlib import Path

import pytest

from atc import Agent
from protocols import load
from protocols.calls.auth import credential
from sandbox import Sandbox
from tests.scripted import ScriptedModel
from tests.shop import TOKEN, serving_shop

QUESTION = "Which orders of March are not paid?"
PROGRAM = """
unpaid, page, pages = [], 1, 1
while page <= pages:
    reply = GET_orders(status="unpaid", createdFrom="2026-03-01T00:00:00Z", page=page, pageSize=3)
    unpaid += [order["id"] for order in reply["items"]]
    page, pages = page + 1, reply["pages"]
print(unpaid)
try:
    GET_orders_orderId(orderId=1)
except ToolError as error:
    print(error.status)
"""


def test_the_shop_replies_as_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, filters and errors are those of the document; without the token there is no reply."""
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    with serving_shop(tmp_path) as shop:
        protocol = load(tmp_path / "openapi.yaml")
        credentials = [credential("bearer:env:SHOP_TOKEN", protocol)]
        with Sandbox(protocol, credentials=credentials) as sandbox:
            run = sandbox.run(PROGRAM)
        with Sandbox(protocol) as stranger:
            refused = stranger.run("GET_orders()")

    assert run.stdout == "[1115, 1107, 1099, 1091, 1083, 1075]\n404\n"
    assert [call.status for call in refused.calls] == [401]
    assert len(shop.requests) == 3


def test_a_small_model_is_told_the_opposite_value_and_the_whole_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The opposite of a value is named, "which orders" is the whole list, and an order has only its number."""
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    model = ScriptedModel('```python\nfor order in GET_orders(status="unpaid")["items"]:\n    print(order["id"])\n```')
    with (
        serving_shop(tmp_path),
        Agent.from_openapi(tmp_path / "openapi.yaml", auth=["bearer:env:SHOP_TOKEN"], model=model) as agent,
    ):
        solution = agent.solve(QUESTION)

    prompt = "".join(message.content for message in model.asked[0])
    assert '"status" may be "unpaid"' in prompt
    assert '\norders = GET_orders()["items"]\n\nQuestion' in prompt
    assert solution.standing == "supported"
