"""Which kind of answer, which entry and which list a question asks for.

The rates in the docstrings are right/wrong answers of the local model on unseen splits (60 and 34).
"""

from __future__ import annotations

import pytest

from sandbox.records import Source
from tests.atc.assist.rules.reading import kinds
from tests.atc.evidence.runs import call, exact, printed, run

FILMS = {
    "films": [{"title": "Dusk", "rating": 6.1}, {"title": "Dune", "rating": 8.4}, {"title": "Dawn", "rating": 7.0}]
}


@pytest.mark.parametrize(
    ("query", "text", "is_wrong"),
    [
        ("How many films are there?", "Dune, Solaris", True),
        ("How many films are there?", "There are seven.", False),
        ("When was it made?", "In France", True),
        ("When was it made?", "1972-03-20", False),
        ("On which day of the week is it shown?", "Monday", False),
        ("How many grams do both weigh together?", "Ana: 1,200 g\nBen: 800 g", True),
        ("How many grams do both weigh together?", "Ana: 1,200 g\nBen: 800 g\nTogether: 2,000 g", False),
        ("What are the fees of both in all?", "3.5\n4", True),
    ],
)
def test_a_number_a_date_or_a_sum_is_wanted(query: str, text: str, is_wrong: bool) -> None:
    """WrongKind: 0/6. A question for one is not answered with something else."""
    assert ("WrongKind" in kinds("", printed(text, 200), query)) is is_wrong


def test_an_identifier_is_no_name() -> None:
    """What identifies a thing answers only who asked for that; which one it is no number tells."""
    record = call(response={"films": [{"filmId": 41, "title": "Dusk", "insured": 9000}]})
    number = run("41", record, printed=(exact("films", 0, "filmId"),))
    dear = run("For 9000 euros", record, printed=(exact("films", 0, "insured"),))

    assert kinds("print(41)", number, "Which film is the best one?") == ["WrongKind"]
    assert kinds("print(41)", number, "Which id has the best film?") == []
    assert kinds("print(9000)", dear, "Of the three films, which one is insured for the most?") == ["WrongKind"]


def test_an_entry_by_its_place_is_no_extreme() -> None:
    """TakenByPlace: 0/3. The first is not the best, unless a field says so or the program compares."""
    program, question = 'film = GET_films()["films"][0]\nprint(film["title"])', "What is the best rated film?"
    middle = {"films": [FILMS["films"][2], *FILMS["films"][:2]]}
    finished = run("Dawn", call(response=middle), printed=(exact("films", 0, "title"),))

    assert "TakenByPlace" in kinds(program, finished, question)
    assert "TakenByPlace" not in kinds(program, finished, "Which film is it?")
    best = run("Dune", call(response={"films": FILMS["films"][1:]}), printed=(exact("films", 0, "title"),))
    assert "TakenByPlace" not in kinds(program, best, question)
    ordered = run("Dawn", call(response=middle, sort="rating"), printed=(exact("films", 0, "title"),))
    assert "TakenByPlace" in kinds(program, ordered, question), "it was asked for in an order, and is in none"
    compared = program.replace('GET_films()["films"][0]', 'max(GET_films()["films"], key=len)')
    assert "TakenByPlace" not in kinds(compared, finished, question)


def test_an_extreme_needs_a_comparison() -> None:
    """A sum of all is not the best."""
    finished = run("21.5", call(response=FILMS), printed=(Source(0, ("films",), "made"),))

    summed = 'print(sum(f["rating"] for f in GET_films()["films"]))'
    assert "TakenByPlace" in kinds(summed, finished, "What is the best film?")
    assert "TakenByPlace" not in kinds('print(max(GET_films()["films"], key=len))', finished, "What is the best film?")


def test_the_list_beside_it_has_what_is_asked_for() -> None:
    """OtherList: 0/2. Who directed it stands in the crew, not in the cast."""
    credits = {"cast": [{"name": "Ana", "part": "Queen"}], "crew": [{"name": "Ben", "job": "Director"}]}
    question = "Who is the director of Dune?"
    cast = run("Ana", call("GET_films_filmId_credits", credits), printed=(exact("cast", 0, "name"),))
    crew = run("Ben", call("GET_films_filmId_credits", credits), printed=(exact("crew", 0, "name"),))

    assert "OtherList" in kinds('print(c["cast"][0]["name"])', cast, question)
    assert "OtherList" not in kinds('print(c["crew"][0]["name"])', crew, question)


def test_another_entry_has_what_the_question_says() -> None:
    """OtherEntity: 2/8. The first film is that of another studio; a field of both tells them apart."""
    films = {"films": [{"title": "Dusk", "studio": "north", "year": 1}, {"title": "Dune", "studio": "east", "year": 2}]}
    finished = run("Dusk", call(response=films), printed=(exact("films", 0, "title"),))
    program = 'print(GET_films()["films"][0]["title"])'

    assert "OtherEntity" in kinds(program, finished, "Which film has east made?")
    assert "OtherEntity" not in kinds(program, finished, "Which film has north made?")
