"""Python functions become tools by their hints and docstrings."""

from __future__ import annotations

import collections.abc
import json
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict
from uuid import UUID

import pytest

from protocols import Protocol, ToolError, UsageError
from protocols.calls.binding import bind
from protocols.calls.call_errors import signature
from protocols.dataflow.graph import ProtocolGraph
from protocols.functions.host_function import ResultError
from protocols.functions.values import NotJSONError, encode
from protocols.render import render
from tests.protocols.functions.shop import Amount, Cart, depth, find, shop


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


class Row(TypedDict):
    """A row of a price list."""

    name: str
    price: NotRequired[Decimal]
    parts: NotRequired[list[Row]]


class Size(Enum):
    SMALL = "S"
    LARGE = "L"


def order(
    row: Annotated[Row, "What is ordered"],
    number: UUID,
    day: date = date(2026, 1, 2),
    wait: timedelta = timedelta(hours=1),
    *,
    size: Size = Size.SMALL,
    file: Path | None = None,
) -> list[Row]:
    """Order by a price list.

    Args:
        number: Of the order.
    """
    assert (type(number), type(wait), type(file or Path())) == (UUID, timedelta, type(Path()))
    return [row, {"name": f"{number.hex[:4]} {day:%d.%m.} {size.name}", "price": Decimal(str(wait.total_seconds()))}]


NUMBER = "12345678-1234-5678-1234-567812345678"


def test_types_of_the_standard_library_are_texts_and_numbers() -> None:
    """They are shown, checked and given as such, defaults too; a TypedDict is a dict with its keys."""
    protocol = Protocol.from_functions([order])
    tool = protocol.tool("order")
    text = render(protocol.tools, ProtocolGraph(protocol))
    row = "{'name': str, 'price': NotRequired[float], 'parts': NotRequired[list[dict]]}"

    assert (
        f"order(row: {row}, number: str, day: str = '2026-01-02', wait: float = 3600.0, *, "
        f"size: Literal['S', 'L'] = 'S', file: str | None = None) -> list[{row}]"
    ) in text
    assert "  row: What is ordered\n  number: Of the order." in text
    assert [argument.schema.get("default") for argument in tool.arguments] == [
        None,
        None,
        "2026-01-02",
        3600,
        "S",
        None,
    ]
    assert tool.function is not None
    pen = {"name": "pen", "price": 2.5, "parts": [{"name": "cap"}]}
    arguments = {"row": pen, "number": NUMBER}
    assert tool.function.call(arguments) == [pen, {"name": "1234 02.01. SMALL", "price": 3600.0}]
    assert "1234 02.01. LARGE" in str(tool.function.call({**arguments, "size": "L", "file": "a/b"}))


def test_a_class_may_hold_its_own_kind() -> None:
    """Its schema ends where it stands in itself; values are checked and made as deep as they go."""
    protocol = Protocol.from_functions([depth])
    tool = protocol.tool("depth")
    nested = {"name": "a", "folders": [{"name": "b", "folders": [{"name": "c"}]}]}

    assert protocol.with_values(["depth"]) == ("depth", "Folder")
    assert "Folder(name: str, folders: list[Folder] = [])" in render(protocol.tools, ProtocolGraph(protocol))
    assert json.dumps(tool.arguments[0].schema).count("Folder") == 2
    assert tool.function is not None and tool.function.call({"folder": nested}) == 3
    with pytest.raises(ToolError, match="unexpected keyword argument 'size'"):
        bind(tool, [{"name": "a", "folders": [{"name": "b", "size": 1}]}], {})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"number": "12"}, "argument 'number' must be a uuid, not '12'"),
        ({"day": "soon"}, "argument 'day' must be a date, not 'soon'"),
        ({"wait": "1"}, "argument 'wait' must be a number, not '1'"),
        ({"wait": 1e300}, "argument 'wait' must be a timedelta, not 1e+300"),
        ({"size": "M"}, "argument 'size' must be one of 'S', 'L', not 'M'"),
        ({"row": {"price": 1}}, "argument 'row' has no key 'name'"),
        ({"row": {"name": "pen", "weight": 1}}, "argument 'row' has no key 'weight' among name, price, parts"),
        ({"row": {"name": "pen", "price": "2"}}, "argument 'row' must be float"),
    ],
)
def test_a_text_that_is_no_value_of_its_type_is_refused(wrong: dict[str, object], message: str) -> None:
    """The message has the argument and what it must be."""
    arguments = {"row": {"name": "pen"}, "number": NUMBER, **wrong}

    with pytest.raises(ToolError) as caught:
        bind(Protocol.from_functions([order]).tool("order"), (), arguments)

    assert message in str(caught.value)


def no_hint(name) -> None:  # type: ignore[no-untyped-def]
    """Do nothing."""


def no_result(name: str):  # type: ignore[no-untyped-def]
    """Do nothing."""


def no_docstring(name: str) -> None: ...


def no_json(name: Callable[[], None]) -> None:
    """Do nothing."""


def wrong_name(words: list[str]) -> collections.abc.Nothing:  # type: ignore[name-defined]
    """Do nothing."""


def wrong_text(words: "list[str") -> int:  # type: ignore[valid-type]  # noqa: F722
    """Do nothing."""
    return 0


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
        ([wrong_name], "its signature cannot be read: module 'collections.abc' has no attribute 'Nothing'"),
        ([wrong_text], "its signature cannot be read: Forward reference must be an expression"),
        ({"half": partial(find, "red")}, "half has no docstring of its own: write a function around it"),
        ([find, find], "two functions are called find"),
        ({"Amount": find, "cart": Cart()}, "would be called Amount"),
        ({"not a name": find}, "'not a name' is no name"),
        ({"open": find}, 'open means something else in a program; pass it under another name, as in {"my_open": …}'),
        ({"list": Cart()}, "list means something else in a program"),
        ([Cart], "of a class a program has only the constructor, not add(); pass an object of it"),
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


NOTHING_GIVEN = object()


class Place:
    """A place, which keeps its name to itself."""

    def __init__(self, name: str) -> None:
        self.hidden = name


def create(name: str, near: object = NOTHING_GIVEN, day: date | None = None) -> Place:
    """Create a place."""
    return Place(name)


def endless() -> Iterable[int]:
    """All numbers."""
    return count()


def large() -> int:
    """A large number."""
    return 10**5000


def ring() -> list[Any]:
    """A list that holds itself."""
    values: list[Any] = []
    values.append(values)
    return values


def test_a_default_that_no_program_can_write_is_left_out() -> None:
    """Its place in memory would make each prompt another one."""
    protocol = Protocol.from_functions([create])
    text = render(protocol.tools, ProtocolGraph(protocol))

    assert "create(name: str, near: Any = ..., day: str | None = None) -> Place" in text
    assert signature(protocol.tool("create")) == "create(name, near=..., day=None)"

    def create_again(name: str, near: object = object(), day: date | None = None) -> Place:
        """Create a place."""
        return Place(name)

    assert Protocol.from_functions({"create": create_again}).digest == protocol.digest


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (create, {"name": "a"}, "a Place keeps no attribute 'name', as its constructor takes it"),
        (ring, {}, "it holds itself, or is nested too deeply"),
        (endless, {}, "it has more than 1,000,000 items"),
        (large, {}, "of more than 4,000 digits"),
    ],
)
def test_a_result_that_cannot_be_read_says_why(
    function: Callable[..., object], arguments: dict[str, object], message: str
) -> None:
    """The function has run by then, so the call is no mistake of ours."""
    called = Protocol.from_functions([function]).tool(function.__name__).function
    assert called is not None
    with pytest.raises(ResultError, match=message):
        called.call(arguments)


def test_a_set_becomes_a_list_in_a_fixed_order() -> None:
    """Numbers by their size, then texts; a result with a hint `set[int]` is a list of numbers."""
    assert encode({10, 9, 1.5}, {}) == [1.5, 9, 10]
    assert encode(frozenset({"b", "a", 2}), {}) == [2, "a", "b"]
    with pytest.raises(NotJSONError):
        encode({1j}, {})
