"""An observation keeps what the next step needs: identifiers, names, what the question asks for, and all items."""

from __future__ import annotations

import json

import pytest

from benchmarks.methods.observations import page_of, part_of, render_value, truncate
from protocols.quoting import estimate

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


DAYS = [
    {
        "day": f"2024-06-{day:02}",
        "report": "Clouds. " * 40,
        "all": {"heat": 9.5 + day, "wind": {"speed": day, "to": "W"}},
    }
    for day in range(1, 22)
]
LINKED = [
    {"part": {"label": f"Bolt {number}", "page": "https://example.org/b", "weight": 1.5, "made": [{"of": "steel"}] * 4}}
    for number in range(25)
]


def test_what_the_question_asks_for_is_kept_inside_of_objects_and_its_item_has_a_name() -> None:
    """A day without identifier and name is told by its first short field."""
    seen = json.loads(render_value({"days": DAYS}, 500, {"heat"}))["days"]

    assert seen[4] == {"day": "2024-06-05", "all": {"heat": 14.5}}
    assert len(seen) == 21


def test_fields_of_items_are_told_once() -> None:
    """Objects that only wrap another one, and links, cost nothing."""
    text = render_value({"hits": LINKED}, 500)

    assert json.loads(text)["hits"][7] == {"part": {"label": "Bolt 7", "weight": 1.5}}
    assert text.count("not shown") == 1


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("", {"days": DAYS}),
        ("days[3].all.wind", {"speed": 4, "to": "W"}),
        ('["days"][-1]["day"]', "2024-06-21"),
        ("days[*].all.heat", [9.5 + day for day in range(1, 22)]),
        ("days[].all.rain", [None] * 21),
    ],
)
def test_a_part_is_had_by_its_path(path: str, part: object) -> None:
    assert part_of({"days": DAYS}, path) == part


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("days[99]", r"there is no days\[99\]; days is a list of 21 items"),
        ("day", "there is no day; the reply is an object with days"),
        ("days[0].day[*]", "days.0..day is no list, but the value .2024-06-01"),
        ("days[?]", "is no path; write it like"),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_leads(path: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        part_of({"days": DAYS}, path)


@pytest.mark.parametrize("value", [DAYS, LINKED, {f"key {number}": number for number in range(500)}, "é word " * 400])
def test_the_pages_of_a_part_have_all_of_it(value: object) -> None:
    """Every item, field or character is on one page, and no page is much larger than an observation."""
    pages = [page_of(value, 1, 150)]
    count = int(pages[0].split()[3].rstrip(":"))
    pages += [page_of(value, page, 150) for page in range(2, count + 1)]
    read = [json.loads(page.partition(": ")[2]) for page in pages]

    assert all(estimate(page) <= 170 for page in pages)
    if isinstance(value, str):
        assert "".join(read) == value
    elif isinstance(value, dict):
        assert {key: part for page in read for key, part in page.items()} == value
    else:
        assert isinstance(value, list)
        assert sum(map(len, read)) == len(value)
    with pytest.raises(ValueError, match=f"there is no page {count + 1}; there are {count}"):
        page_of(value, count + 1, 150)


@pytest.mark.parametrize("budget", [1, 9, 10, 40])
def test_a_text_is_cut_whatever_the_budget(budget: int) -> None:
    """A budget below the note on the cut leaves the note alone."""
    assert len(truncate("word " * 200, budget)) <= 3 * max(budget, 10)
