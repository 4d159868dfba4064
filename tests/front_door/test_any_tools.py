"""One constructor for all that has tools, and an agent as a function of another framework."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest
import yaml

from atc import Agent
from protocols import Protocol, UsageError, load
from protocols.samples import sample
from tests.scripted import ScriptedModel
from tests.shop import TOKEN, serving_shop

SHOP = Path(__file__).resolve().parents[2] / "docs/examples/shop.yaml"


def vat(amount: float) -> float:
    """Compute the tax on an amount.

    Args:
        amount: In euros.
    """
    return round(amount * 0.2, 2)


class Crm:
    """The customers that we know of."""

    def city(self, name: str) -> str:
        """Say where a customer lives.

        Args:
            name: The customer.
        """
        return {"Ada Moreau": "Lyon"}[name]


def names(tools: object) -> set[str]:
    """The tools of an agent."""
    with Agent(tools, ScriptedModel()) as agent:
        return {tool.name for tool in agent.protocol.tools}


@pytest.mark.parametrize("source", [SHOP, str(SHOP), yaml.safe_load(SHOP.read_text("utf-8")), load(SHOP), [SHOP]])
def test_an_api_alone_keeps_its_names(source: object) -> None:
    """As a path, a text, a parsed document, a protocol or a list of one."""
    assert "GET_orders" in names(source)


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        (vat, {"vat"}),
        (Crm(), {"crm.city"}),
        ([vat, Crm()], {"vat", "crm.city"}),
        ({"tax": vat, "people": Crm()}, {"tax", "people.city"}),
        ([vat, SHOP], {"vat", "GET_orders"}),
        ([SHOP, sample("cinema"), vat], {"vat", "shop__GET_orders", "cinema__GET_films"}),
        ({"ours": SHOP, "tax": vat}, {"tax", "ours__GET_orders"}),
        ([Protocol.from_functions(vat), SHOP], {"vat", "GET_orders"}),
    ],
)
def test_functions_keep_their_names_and_several_apis_have_namespaces(tools: object, expected: set[str]) -> None:
    assert expected <= names(tools)


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([SHOP, SHOP], r"title 'Shop': another one begins with the same word; name them, as in \{'first'"),
        ([{"tax": vat}, SHOP], "a mapping by name cannot stand in a list: put all sources into it"),
        ([], "there are no tools: give an API document, a function"),
        (5, "5 is no function, no class and no object with methods"),
        (None, "there are no tools"),
        ("absent.yaml", "absent.yaml: no such file"),
    ],
)
def test_what_has_no_tools_is_told(tools: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Agent(tools, ScriptedModel())


def test_two_tools_of_one_name_are_told() -> None:
    """A function beside the only API would hide its operation."""

    def GET_orders() -> str:  # noqa: N802
        """List what was ordered."""
        return ""

    with pytest.raises(UsageError, match="two tools are called GET_orders: a function and one of Shop"):
        Agent([GET_orders, SHOP], ScriptedModel())


def test_a_program_uses_an_api_and_a_function(tmp_path: Path) -> None:
    """The credential is that of the API; the function needs none."""
    (tmp_path / "token").write_text(TOKEN)
    tools, auth = [vat, tmp_path / "openapi.yaml"], [f"bearer:file:{tmp_path / 'token'}"]
    program = "order = GET_orders_orderId(orderId=1003)\nprint(vat(order['total']))"
    with serving_shop(tmp_path), Agent(tools, ScriptedModel(program), auth=auth, reads=["vat"]) as agent:
        solution = agent.solve("What is the tax on order 1003?")

    assert solution.status == "answered", solution.message
    assert [call.tool for call in solution.calls] == ["GET_orders_orderId", "vat"]


def test_an_agent_is_a_function_for_other_frameworks() -> None:
    """Named after the API, typed, with its operations in the docstring; those that are denied are not there."""
    with Agent(SHOP, ScriptedModel("print(len(GET_orders()))"), simulate=True, writes="deny") as agent:
        ask = agent.as_tool()
        answer = ask("How many orders are there?")

    assert ask.__name__ == "ask_shop"
    assert str(inspect.signature(ask, eval_str=True)) == "(question: str) -> str"
    assert ask.__doc__ is not None
    assert "- GET_orders: List orders" in ask.__doc__
    assert "refund" not in ask.__doc__
    assert "It changes nothing." in ask.__doc__
    assert answer.splitlines()[0].isdecimal()


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_tool_tells_why_there_is_no_answer(asynchronous: bool) -> None:
    """As a text that the other framework's model can read; nothing of ours is raised."""
    with Agent(SHOP, ScriptedModel("print(1 / 0)"), simulate=True, max_reflections=0) as agent:
        if asynchronous:
            ask = agent.as_tool(asynchronous=True)
            assert inspect.iscoroutinefunction(ask)
            texts = [asyncio.run(_awaited(ask, question)) for question in (" ", "How many?")]
        else:
            texts = [agent.as_tool()(question) for question in (" ", "How many?")]

    assert texts[0] == "There is no answer: the question is empty"
    assert texts[1].startswith("There is no answer: ZeroDivisionError")


async def _awaited(ask: object, question: str) -> str:
    assert callable(ask)
    text: str = await ask(question)
    return text
