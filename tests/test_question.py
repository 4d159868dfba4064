"""What a question says about the calls that answer it, beyond the words that it shares with them."""

from __future__ import annotations

import pytest

from protocols.question import Question


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Who made Dune?", ["Who made Dune"]),
        (
            "Find a museum in Oslo. Also, tell me when it opens, and which days are free?",
            ["Find a museum in Oslo", "Also, tell me when it opens", "which days are free"],
        ),
        ("Oslo", ["Oslo"]),
    ],
)
def test_a_long_question_has_parts(text: str, parts: list[str]) -> None:
    assert [part.strip(" ,?") for part in Question(text).parts] == parts


def test_whose_a_thing_is_which_one_and_how_many() -> None:
    """As plain words say it; what is not said is not made up."""
    asked = Question("Name three songs by Ana Bell from the second album, and two concerts")

    assert ("song" in asked.owned, "album" in asked.owned) == (True, False)
    assert asked.numbered == {"album": 2}
    assert (asked.counted("song"), asked.counted("concert"), asked.counted("album")) == (3, 2, 0)
    assert Question("a pasta recipe, a rice recipe and the wine").listed("recipe") == 2
    assert "film" in Question("What is Ana Bell's latest film about?").owned
