"""What a program chose its output by: filters, orders and limits behind what it prints, and nothing else."""

from __future__ import annotations

import pytest

from atc.program.choices import choices, lines_behind_output

LATEST = """
def newest(films):
    return sorted([film for film in films if film["shown"]], key=lambda film: film["date"])[-1]

films = GET_films(query="Dune")["films"]
unused = [film for film in films if film["old"]]
names = []
for film in films[:3]:
    if film["rating"] > 7:
        names.append(film["title"])
if names:
    print(names, newest(films)["title"])
"""


def test_choices_behind_the_output() -> None:
    """Those of functions, loops and lists that are filled count; a list that is not printed has none."""
    assert [(choice.kind, choice.line, choice.text) for choice in choices(LATEST)] == [
        ("limit", 3, "sorted([film for film in films if film['shown']], key=lambda film: film['date'])[-1]"),
        ("order", 3, "sorted([film for film in films if film['shown']], key=lambda film: film['date'])"),
        ("filter", 3, "film['shown']"),
        ("limit", 8, "films[:3]"),
        ("filter", 9, "film['rating'] > 7"),
        ("filter", 11, "names"),
    ]


@pytest.mark.parametrize(
    ("program", "kinds"),
    [
        ("films = GET_films()\nfilms.sort(key=len)\nprint(films[0])", ["order", "limit"]),
        ("print(max(GET_films(), key=len) if True else 0)", ["order"]),
        ('films = GET_films()\nprint(films["films"])', []),
        ('if __name__ == "__main__":\n    print(GET_films())', []),
        ("print(", []),
    ],
)
def test_forms_of_a_choice(program: str, kinds: list[str]) -> None:
    """A list that is sorted in place is ordered; keys and the usual last lines of a script choose nothing."""
    assert [choice.kind for choice in choices(program)] == kinds


def test_lines_that_the_output_depends_on() -> None:
    """A list that is only gone through is behind what is printed of it; a call that nothing needs is not."""
    program = "films = GET_films()\nother = GET_people()\nfor film in films:\n    print('one')"

    assert {1, 2} & lines_behind_output(program) == {1}
