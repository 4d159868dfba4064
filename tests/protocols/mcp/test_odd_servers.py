"""MCP servers that keep to the protocol as they understand it: their tools are used as far as that goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from protocols import Protocol, load
from sandbox import Sandbox
from tests.protocols.mcp.conftest import ran, spec

RESULTS: dict[str, object] = {
    "a_list": [1, 2],
    "a_list_of_one": [{"id": 1}],
    "a_list_in_words": [1, 2],
    "a_list_in_parts": [{"id": 1}, {"id": 2}],
    "a_text": "words",
    "a_number": 5,
    "a_truth": False,
    "nothing": None,
    "nothing_at_all": None,
    "nothing_but_words": "words",
    "without_content": {"id": 1},
    "a_list_without_content": [1],
    "an_object": {"id": 1},
    # The text decides: a structured content that is no object with data in it says less than a text that is one.
    "json_in_a_text": {"id": 1},
    "another_text": {"id": 1},
    "an_empty_object": {"id": 1},
}
FAILURES = {"a_failure": "no such part", "a_failure_in_data": "out of parts", "a_failure_in_a_word": "out of parts"}


def test_structured_content_may_be_any_json_value() -> None:
    """A failure is one whatever it is, with its words. Lines on stdout that are no messages are passed over."""
    odd = load(spec("--odd", "--banner"))
    run = ran(odd, "\n".join(f"print(repr({tool}()))" for tool in RESULTS), writes="allow")
    failed = {tool: ran(odd, f"{tool}()", writes="allow").error for tool in FAILURES}
    odd.close()

    assert (run.error, run.stdout.splitlines()) == (None, [repr(value) for value in RESULTS.values()])
    assert [call.response for call in run.calls] == list(RESULTS.values())
    for tool, words in FAILURES.items():
        assert words in str(failed[tool])


@pytest.fixture(scope="module")
def loose() -> Iterator[Protocol]:
    protocol = load(spec("--loose"))
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
        ("closed(day=1)", None),
        ("numbers(one='x')", None),
        ("partly_free(day=1)", None),
    ],
)
def test_a_schema_that_names_no_arguments_takes_any(loose: Protocol, call: str, arrived: object) -> None:
    """They arrive under their names; what a schema does not take (None here) is refused before it is sent."""
    with Sandbox(loose, writes="allow") as sandbox:
        run = sandbox.run(f"print({call})")

    assert run.stdout == ("" if arrived is None else f"{arrived}\n")
    if arrived is None:
        assert run.error is not None and call.partition("(")[0] in run.error.message


def test_a_tool_that_is_listed_wrongly_is_left_out(loose: Protocol) -> None:
    """The others stay, and a warning says why."""
    assert [tool.name for tool in loose.tools] == ["free", "closed", "partly_free", "numbers"]
    assert [operation.name for operation in loose.left_out] == ["without_schema", "a_text_for_a_schema"]
    assert loose.warnings == (
        "left out the tool without_schema: inputSchema.type: Field required",
        "left out the tool a_text_for_a_schema: inputSchema: Input should be a valid dictionary or instance of "
        "InputSchema",
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--odd", "--stuck"), "the same page of its tools again and again; the 19 tools so far are used"),
        (("--endless",), "sends pages of its tools without end; the "),
    ],
)
def test_a_list_of_tools_without_end_is_left(options: tuple[str, ...], problem: str) -> None:
    """A cursor that comes again, and cursors without end: one warning, and the tools that were listed."""
    protocol = load(spec(*options))
    protocol.close()
    names = [tool.name for tool in protocol.tools]

    assert len([warning for warning in protocol.warnings if problem in warning]) == 1
    assert len(set(names)) == len(names) > 5
