"""The program in a model's answer, however it is wrapped."""

from __future__ import annotations

import pytest

from atc.program.source import extract, parsed, same


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("```python\nprint(1)\n```", "print(1)"),
        ("Here it is:\n\n``` Python \nprint(1)\n```\nThat is all.", "print(1)"),
        ("```\nprint(1)", "print(1)"),
        ("x = 1\nprint(x)\n```", "x = 1\nprint(x)"),
        ("x = 1\r\nprint(x)\r", "x = 1\nprint(x)"),
        ("print(f(1)", "print(f(1)"),
        ("Sorry", ""),
        ("I cannot help with that.", ""),
        ("", ""),
        ("print('\udcff')", "print('\udcff')"),
    ],
)
def test_extract(text: str, program: str) -> None:
    assert extract(text) == program


@pytest.mark.parametrize("text", ["x = ", "-" * 6000 + "1", "1" + "+1" * 20000, "print('\udcff')", "a\0b"])
def test_what_cannot_be_parsed_is_told_apart_without_a_crash(text: str) -> None:
    assert parsed(text) is None
    assert same(text, text)
    assert not same(text, "print(1)")


def test_layout_does_not_make_another_program() -> None:
    assert same("print(1)  # one", "print( 1 )")


def test_a_text_too_large_to_be_parsed_is_no_program() -> None:
    """What the sandbox would refuse before parsing reaches no parser of this process before that either."""
    names = f"import a{'.a' * 45_000}"

    assert parsed(names) is None
    assert same(names, names)
