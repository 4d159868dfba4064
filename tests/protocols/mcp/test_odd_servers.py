"""MCP servers that keep to the protocol as they understand it: their tools are used as far as that goes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocols import Protocol, load
from sandbox import Sandbox

HERE = Path(__file__).parent


def spec(file: str, *arguments: str) -> str:
    """The source that starts a server of this folder."""
    return f"mcp:stdio:{shlex.join([sys.executable, str(HERE / file), *arguments])}"


@pytest.fixture(scope="module")
def odd() -> Iterator[Protocol]:
    protocol = load(spec("odd_server.py", "--banner"))
    yield protocol
    protocol.close()


@pytest.mark.parametrize(
    ("tool", "value"),
    [
        ("a_list", [1, 2]),
        ("a_list_of_one", [{"id": 1}]),
        ("a_list_in_words", [1, 2]),
        ("a_list_in_parts", [{"id": 1}, {"id": 2}]),
        ("a_text", "words"),
        ("a_number", 5),
        ("a_truth", False),
        ("nothing", None),
        ("nothing_at_all", None),
        ("without_content", {"id": 1}),
        ("a_list_without_content", [1]),
        ("an_object", {"id": 1}),
    ],
)
def test_structured_content_may_be_any_json_value(odd: Protocol, tool: str, value: object) -> None:
    """Lines on stdout that are no messages are passed over."""
    with Sandbox(odd, writes="allow") as sandbox:
        run = sandbox.run(f"print(repr({tool}()))")

    assert (run.error, run.stdout) == (None, f"{value!r}\n")
    assert run.calls[0].response == value


@pytest.mark.parametrize("tool", ["json_in_a_text", "another_text", "an_empty_object"])
def test_the_text_decides_where_the_two_contradict(odd: Protocol, tool: str) -> None:
    """A structured content that is no object with data in it says less than a text that is one."""
    with Sandbox(odd, writes="allow") as sandbox:
        run = sandbox.run(f"print({tool}()['id'], nothing_but_words())")

    assert (run.error, run.stdout) == (None, "1 words\n")


def test_a_failure_is_one_whatever_its_structured_content(odd: Protocol) -> None:
    """The text is the message."""
    with Sandbox(odd, writes="allow") as sandbox:
        run = sandbox.run("a_failure()")

    assert run.error is not None
    assert "no such part" in run.error.message


@pytest.fixture(scope="module")
def loose() -> Iterator[Protocol]:
    protocol = load(spec("odd_server.py", "--loose"))
    yield protocol
    protocol.close()


@pytest.mark.parametrize(
    ("call", "arrived"),
    [
        ("free(day='Monday', size=[1])", {"day": "Monday", "size": [1]}),
        ("free()", {}),
        ("partly_free('x', others=2)", {"name": "x", "others": 2}),
        ("partly_free(name='x')", {"name": "x"}),
        ("numbers(one=1)", {"one": 1}),
        ("closed()", {}),
    ],
)
def test_a_schema_that_names_no_arguments_takes_any(loose: Protocol, call: str, arrived: object) -> None:
    """They arrive under their names."""
    with Sandbox(loose, writes="allow") as sandbox:
        run = sandbox.run(f"print({call})")

    assert (run.error, run.stdout) == (None, f"{arrived}\n")


@pytest.mark.parametrize("call", ["closed(day=1)", "numbers(one='x')", "partly_free(day=1)"])
def test_what_a_schema_does_not_take_is_refused(loose: Protocol, call: str) -> None:
    """Before it is sent."""
    with Sandbox(loose, writes="allow") as sandbox:
        run = sandbox.run(call)

    assert run.error is not None
    assert call.partition("(")[0] in run.error.message


def test_a_tool_that_is_listed_wrongly_is_left_out(loose: Protocol) -> None:
    """The others stay, and a warning says why."""
    assert [tool.name for tool in loose.tools] == ["free", "closed", "partly_free", "numbers"]
    assert [(left.name, warning) for left, warning in zip(loose.left_out, loose.warnings, strict=True)] == [
        ("without_schema", "left out the tool without_schema: inputSchema.type: Field required"),
        (
            "a_text_for_a_schema",
            "left out the tool a_text_for_a_schema: inputSchema: Input should be a valid dictionary or instance of "
            "InputSchema",
        ),
    ]


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        (
            spec("odd_server.py", "--stuck"),
            "the same page of its tools again and again; the 19 tools so far are used",
        ),
        (spec("small_server.py", "--endless"), "sends pages of its tools without end; the "),
    ],
)
def test_a_list_of_tools_without_end_is_left(server: str, problem: str) -> None:
    """A cursor that comes again, and cursors without end: one warning, and the tools that were listed."""
    protocol = load(server)
    protocol.close()
    names = [tool.name for tool in protocol.tools]

    assert len([warning for warning in protocol.warnings if problem in warning]) == 1
    assert len(set(names)) == len(names) > 5
