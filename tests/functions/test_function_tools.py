"""Python functions become tools by their hints and docstrings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from protocols import Protocol, ToolError, UsageError
from protocols.calls.binding import bind, signature
from protocols.dataflow.graph import ProtocolGraph
from protocols.functions.values import NotJSONError, encode
from protocols.render import render
from tests.functions.shop import Amount, Cart, find, shop


def test_hints_and_docstrings_describe_a_tool() -> None:
    """A method becomes `object.method`: its first line, its arguments with schemas and descriptions, its result."""
    tool = shop(Cart()).tool("cart.add")

    name, count, gift = tool.arguments
    assert tool.summary == "Put a thing into the cart."
    assert (name.schema, name.required) == ({"type": "string"}, True)
    assert name.description == "The name of the thing, as find gives it."
    assert (count.schema, count.required) == ({"type": "integer", "default": 1}, False)
    assert gift.schema["type"] == "boolean"
    assert tool.response_schema == {"type": "integer"}
    assert tool.success is not None and tool.success.description == "The things in the cart."


def test_public_methods_are_tools_and_others_are_not() -> None:
    """Methods come in the order of their definition; value classes that hints name come behind them."""
    names = [tool.name for tool in shop(Cart()).tools]

    methods = ["add", "total", "limit", "sort", "tagged", "broken"]
    assert names == [*(f"cart.{name}" for name in methods), "find", "Amount", "Tag"]


def test_only_those_named_in_reads_read() -> None:
    """A function writes, unless `reads` names it, with or without its object."""
    protocol = shop(Cart())

    assert [t.name for t in protocol.tools if not t.writes] == ["cart.total", "cart.sort", "find", "Amount", "Tag"]
    assert protocol.tool("cart.add").method == "CALL"


def test_an_object_alone_is_called_by_its_class() -> None:
    """`from_functions(Cart())` gives `cart.add`; methods of an object named "" go without a name."""
    assert "cart.add" in Protocol.from_functions(Cart())
    assert "add" in Protocol.from_functions({"": Cart()})
    assert [tool.name for tool in Protocol.from_functions([find, Amount]).tools] == ["find", "Amount"]


def test_a_model_sees_the_signature() -> None:
    """A prompt shows Python's own way of writing a function, and what each argument means."""
    protocol = shop(Cart())
    text = render(protocol.tools, ProtocolGraph(protocol))

    assert "cart.add(name: str, count: int = 1, *, gift: bool = False) -> int — Put a thing into the cart." in text
    assert "  count: How many." in text
    assert "cart.sort(*orders: tuple[str, Literal['asc', 'des']], **options: bool)" in text
    assert "Amount(value: float, currency: Literal['EUR', 'USD'] = 'EUR') — A sum of money." in text
    assert signature(protocol.tool("cart.add")) == "cart.add(name, count=1, *, gift=False)"


def test_a_tool_brings_the_classes_of_its_arguments() -> None:
    """Whoever offers a few tools offers the value classes of their hints, too."""
    protocol = shop(Cart())

    assert protocol.with_values(["cart.limit", "find"]) == ("cart.limit", "find", "Amount")


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "missing 1 required argument: 'name'"),
        (("pen", 1, True), {}, "too many positional arguments"),
        (("pen",), {"cuont": 2}, "got an unexpected keyword argument 'cuont'; did you mean 'count'?"),
        (("pen",), {"name": "ink"}, "multiple values for argument 'name'"),
        (("pen", "2"), {}, "argument 'count' must be an integer, not '2'"),
        (("pen", True), {}, "argument 'count' must be an integer, not True"),
    ],
)
def test_a_wrong_call_is_refused(args: tuple[object, ...], kwargs: dict[str, object], message: str) -> None:
    """Arguments are checked by the hints, strictly: a text is no number."""
    with pytest.raises(ToolError, match=r"cart\.add\(\)") as caught:
        bind(shop(Cart()).tool("cart.add"), args, kwargs)

    assert message in str(caught.value)


def test_a_value_of_a_class_is_checked() -> None:
    """Neither another class nor a wrong field passes for an Amount, and its constructor may refuse."""
    tool = shop(Cart()).tool("cart.limit")

    assert bind(tool, [{"value": 3}], {}).arguments == {"most": {"value": 3}}
    for wrong in ({"__class__": "Tag", "word": "a"}, {"value": "3"}, {"value": -1}, "3"):
        with pytest.raises(ToolError, match="argument 'most' must be Amount or None"):
            bind(tool, [wrong], {})


def no_hint(name) -> None:  # type: ignore[no-untyped-def]
    """Do nothing."""


def no_result(name: str):  # type: ignore[no-untyped-def]
    """Do nothing."""


def no_docstring(name: str) -> None: ...


def no_json(name: Callable[[], None]) -> None:
    """Do nothing."""


async def waits() -> None:
    """Do nothing."""


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ([no_hint], "no_hint (test_function_tools.py, line NUMBER): argument 'name' has no type hint"),
        ([no_result], "no_result (test_function_tools.py, line NUMBER) has no type hint for its result"),
        ([no_docstring], "no_docstring (test_function_tools.py, line NUMBER) has no docstring"),
        ([no_json], "no_json (test_function_tools.py, line NUMBER): argument 'name': the hint"),
        ([waits], "waits (test_function_tools.py, line NUMBER) is asynchronous"),
        ([find, find], "two functions are called find"),
        ({"Amount": find, "cart": Cart()}, "would be called Amount"),
        ({"not a name": find}, "'not a name' is no name"),
        ([3], "3 is no function"),
        ([object()], "has no public methods"),
        ([], "there are no functions"),
    ],
)
def test_bad_functions_are_named_with_their_place(functions: Any, message: str) -> None:
    """The message says which function it is, and its line."""
    code = getattr(functions[0], "__code__", None) if isinstance(functions, list) and functions else None
    line = code.co_firstlineno if code is not None else 0

    with pytest.raises(UsageError) as caught:
        Protocol.from_functions(functions)

    assert message.replace("NUMBER", str(line)) in str(caught.value)


def test_reads_names_functions() -> None:
    """A name that no function has is an error."""
    with pytest.raises(UsageError, match="reads names 'nothing'"):
        Protocol.from_functions([find], reads=["nothing"])


def test_a_set_becomes_a_list_in_a_fixed_order() -> None:
    """Numbers by their size, then texts; a result with a hint `set[int]` is a list of numbers."""
    assert encode({10, 9, 1.5}, {}) == [1.5, 9, 10]
    assert encode(frozenset({"b", "a", 2}), {}) == [2, "a", "b"]
    with pytest.raises(NotJSONError):
        encode({1j}, {})
