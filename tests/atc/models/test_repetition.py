"""When a model writes the same for ever."""

from __future__ import annotations

import pytest

from atc.models.repetition import repetition_start

LOOP = "for film in films:\n    if film['title'] == 'Dune':\n        print(film['title'], film['year'])\n"


@pytest.mark.parametrize(
    ("beginning", "again"),
    [
        ("films = GET_films()\n", LOOP),
        ("", 'print(GET_films_filmId(filmId=film["filmId"])["title"], film["year"])\n'),
        ("titles = [", '"Dune", "Tenet", "Heat", '),
        ("total = ", "a + "),
    ],
)
def test_copies_are_noticed_and_all_but_the_first_are_cut(beginning: str, again: str) -> None:
    text = beginning
    while len(text) < len(beginning) + 80 * len(again):
        text += again
        if (end := repetition_start(text)) is not None:
            break
    else:
        pytest.fail("nobody noticed")

    assert len(beginning) < end < len(text) - 2 * len(again)


@pytest.mark.parametrize(
    "text",
    [
        "print()\n" * 6,
        LOOP * 3,
        "".join(LOOP.replace("Dune", f"Film {number}") for number in range(20)),
        "x = [" + ", ".join(map(str, range(400))),
        "\n" * 500,
        "print('" + "-" * 200,
    ],
)
def test_what_goes_on_is_let_be(text: str) -> None:
    for end in range(len(text), 0, -31):
        assert repetition_start(text[:end]) is None, text[:end][-80:]
