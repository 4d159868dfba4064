"""Patterns of a document are matched in time that grows with the text alone, or not at all."""

from __future__ import annotations

import pytest

from protocols import load
from protocols.bounded import matches
from protocols.calls.binding import bind
from protocols.errors import ToolError
from tests.protocols.documents.samples import document


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^[a-z0-9]+(?:-[a-z0-9]+)*$", "a-b1", "a--b"),
        (r"^\w+@\w+\.\w+$", "ann@example.com", "ann"),
        (r"^#[0-9a-f]{6}$", "#00ff00", "#00ff0"),
        (r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", "YWJj", "YWJ"),
        (r"^((http[s]?|ftp):\/)?\/?([^:\/\s]+)((\/\w+)*\/)([\w\-\.]+)$", "http://a/b/c.txt", "a b"),
        (r"(?i)^(pay|details)$", "PAY", "payer"),
        (r"b+", "abc", "ac"),
        # Each of these holds Python's own engine for minutes.
        (r"^(a+)+$", "a" * 60, "a" * 60 + "!"),
        (r"(x+x+)+y", "xxy", "x" * 2000),
        (r"^(\w+\s?)*$", "a b", "a" * 1000 + "!"),
        (r".*.*.*.*x", "ax", "a" * 2000),
        ("^" + "a?" * 40 + "a" * 40 + "b$", "a" * 60 + "b", "a" * 60),
        (r"^\w*\d*1*x*y$", "1y", "1" * 2000),
    ],
)
def test_a_pattern_is_matched_however_it_is_written(pattern: str, good: str, bad: str) -> None:
    assert matches(pattern, good)
    assert not matches(pattern, bad)


@pytest.mark.parametrize(
    "pattern",
    [r"^(?!x)[a-z]+$", r"(\w)(\1*)*x", r"((a{0,100}){0,100}){0,100}", r"\p{L}{1,90000}x", "a" * 2000, "(", r"^[a-\d]$"],
)
def test_a_pattern_that_is_not_understood_or_too_large_is_left_to_the_service(pattern: str) -> None:
    assert matches(pattern, "x" + "!" * 60)


def test_no_argument_holds_the_interpreter() -> None:
    """Also where the whole body is checked as JSON Schema; names of properties are matched with no pattern."""
    body = {
        "type": "object",
        "minProperties": 1,
        "properties": {"code": {"type": "string", "pattern": r"^(a+)+$"}, "colour": {"pattern": "^#[0-9a-f]{6}$"}},
        "patternProperties": {r"^(x+)+$": {"type": "integer"}},
        "additionalProperties": False,
    }
    protocol = load(document(body=body, place="post /codes"))

    assert bind(protocol.tool("POST_codes"), (), {"body": {"x" * 60 + "!": 1}}, protocol.definitions)
    for values in ({"code": "a" * 60 + "!"}, {"colour": "red"}):
        with pytest.raises(ToolError, match="must match the pattern"):
            bind(protocol.tool("POST_codes"), (), values, protocol.definitions)
