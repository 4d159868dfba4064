"""Patterns of a document are matched in bounded time, or not at all."""

from __future__ import annotations

import time

import pytest

from protocols import load
from protocols.calls.binding import bind
from protocols.errors import ToolError
from protocols.patterns import is_bounded, matches

HARMLESS = [
    r"^[a-z0-9]+(?:-[a-z0-9]+)*$",
    r"^\w+@\w+\.\w+$",
    r"^([a-z]{2}-)*$",
    r"^(\.\w+)*$",
    r"^\d{4}-\d{2}-\d{2}$",
    r"^#[0-9a-f]{6}$",
    r"^[0-9a-f]{64}$",
    r"^.*$",
    r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    r"^(?!x)[a-z]+$",
    r"^(red|green|blue)$",
    r"^[^,]+(?:,[^,]+)*$",
    r"^(?=.*[a-z])(?=.*[A-Z]).{8,}$",
    r"^(?:\d{1,3}\.){3}\d{1,3}$",
    r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z]+)*$",
]
HARMFUL = [
    r"^(a+)+$",
    r"^(a|a)*$",
    r"^(\w+\s?)*$",
    r"(x+x+)+y",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"((a{0,100}){0,100}){0,100}",
    r".*.*.*.*x",
    r"(a?){100}a{100}",
    r"^(-\w*-\w*)+$",
    r"(\w)(\1*)*x",
    "a" * 2000,
    r"^(a{0,20}){0,20}b$",
    "^" + "a{0,20}" * 20 + "b$",
    "^" + "a?" * 40 + "a" * 40 + "b$",
    "^" + "(?:a[bc]|[ab]c)" * 40 + "$",
    r"^(?:,a*a*)*$",
    r"(?i)^(?:aA+)+$",
    r"^(?:(?:a{1,20}){1,20}){1,20}$",
    "^(?:a|a?){1,20}(?:a|a?){1,20}b$",
    "(?i)" + "[\0-\U0010ffff]" * 190,
]
SLOW = [
    ("a*a*a*b", "a"),
    (r"^\w*\d*1*x*y$", "1"),
    ("a*?a*?a*?b", "a"),
    ("(?=a*a*b)a*c", "a"),
    ("(?>a*a*)b", "a"),
    (r"(a*)(\1*)b", "a"),
    ("(?<=a)a*a*b", "a"),
    ("(?:,[^,]*)*[^;]*b", ",a"),
    ("a{1,100000}a{1,100000}b", "a"),
]
"""Patterns whose work grows by a power of the text, and of what."""


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_harmless_pattern_is_matched(pattern: str) -> None:
    assert is_bounded(pattern)


@pytest.mark.parametrize("pattern", HARMFUL)
def test_a_harmful_pattern_is_left_to_the_service(pattern: str) -> None:
    assert not is_bounded(pattern)
    assert matches(pattern, "a" * 60 + "!")


@pytest.mark.parametrize(("pattern", "part"), SLOW)
@pytest.mark.parametrize("length", [40, 200, 1000, 2000])
def test_the_longer_a_text_the_simpler_its_pattern(pattern: str, part: str, length: int) -> None:
    """One that is matched with short texts is left to the service where a text is long; no check takes seconds."""
    started = time.process_time()

    matches(pattern, part * (length // len(part)))

    assert time.process_time() - started < 2


def test_a_long_text_is_not_matched() -> None:
    assert matches(r"^\w*\d*x$", "a" * 100_000)
    assert not matches(r"^\w*\d*x$", "a" * 100)


def test_no_argument_holds_the_interpreter() -> None:
    """Also where the whole body is checked as JSON Schema."""
    body = {
        "type": "object",
        "minProperties": 1,
        "properties": {"code": {"type": "string", "pattern": r"^(a+)+$"}, "colour": {"pattern": "^#[0-9a-f]{6}$"}},
        "patternProperties": {r"^(x+)+$": {"type": "integer"}},
        "additionalProperties": False,
    }
    protocol = load(
        {
            "openapi": "3.1.0",
            "info": {"title": "Patterns", "version": "1"},
            "servers": [{"url": "http://patterns.example"}],
            "paths": {
                "/codes": {
                    "post": {
                        "requestBody": {"content": {"application/json": {"schema": body}}},
                        "responses": {"204": {"description": "Good."}},
                    }
                }
            },
        }
    )
    hard = "a" * 60 + "!"

    assert bind(protocol.tool("POST_codes"), (), {"code": hard}, protocol.definitions).arguments == {"code": hard}
    assert bind(protocol.tool("POST_codes"), (), {"body": {"x" * 60 + "!": 1}}, protocol.definitions)
    with pytest.raises(ToolError, match="must match the pattern"):
        bind(protocol.tool("POST_codes"), (), {"colour": "red"}, protocol.definitions)
