"""An observation keeps what the next step needs: identifiers, names, what the question asks for, and all items."""

from __future__ import annotations

import json

import pytest

from benchmarks.methods.observations import render_value
from protocols.text.prose import estimate

FILMS = [
    {
        "id": number,
        "title": f"Film {number}",
        "overview": "A long story. " * 30,
        "poster_path": f"/p{number}.jpg",
        "homepage": "https://example.org/films",
        "tagline": None,
        "vote_average": number / 10,
        "crew": {"count": 3, "names": ["A", "B", "C"]},
    }
    for number in range(20)
]


def test_a_short_response_is_whole() -> None:
    assert json.loads(render_value(FILMS[0], 400)) == FILMS[0]


def test_urls_and_long_texts_go_first() -> None:
    """The rest of the object is there as it was."""
    seen = json.loads(render_value(FILMS[0], 110))

    assert seen.keys() == {"id", "title", "overview", "vote_average", "crew"}
    assert seen["overview"].endswith("… (420 characters)")
    assert seen["crew"] == FILMS[0]["crew"]


def test_all_items_keep_identifier_name_and_what_is_asked_for() -> None:
    """Twenty films with their votes, where the question speaks of votes."""
    seen = json.loads(render_value({"results": FILMS}, 700, {"vote"}))["results"]

    assert [film["id"] for film in seen] == list(range(20))
    assert seen[0]["…"] == "not shown: overview, crew"
    assert seen[3] == {"id": 3, "title": "Film 3", "vote_average": 0.3}


@pytest.mark.parametrize("budget", [60, 120, 180])
def test_items_that_do_not_fit_are_counted(budget: int) -> None:
    text = render_value({"results": FILMS, "total": 20}, budget)
    seen = json.loads(text)["results"]

    assert estimate(text) <= budget
    assert seen[-1] == f"… {20 - len(seen) + 1} more items"
    assert [film["title"] for film in seen[:-1]] == [f"Film {number}" for number in range(len(seen) - 1)]


def test_what_cannot_be_reduced_is_cut() -> None:
    text = render_value("x" * 5000, 50)

    assert estimate(text) <= 51
    assert "characters)" in text
