"""Findings from the data flow: what leads nowhere, what was taken by its place, and lists that were mixed up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from atc.assist.language.question import Question
from atc.assist.rules import inspect
from sandbox.records import Provenance, Run, Source
from tests.atc.assist.rules.runs import GRAPH, call, exact, kinds, run

PEOPLE = {"people": [{"personId": 7, "name": "Ana Bell"}]}
FILMS = {
    "films": [{"title": "Dusk", "rating": 6.1}, {"title": "Dune", "rating": 8.4}, {"title": "Dawn", "rating": 7.0}]
}


def test_a_call_that_leads_nowhere() -> None:
    """It is told where its tool has a word of the question that no live one has, and where no line depends on it."""
    films, reviews = call(response=FILMS), call("GET_films_filmId_reviews", {"reviews": [{"text": "Fine"}]}, line=2)
    program = (
        'film = GET_films(query="Dune")["films"][0]\nreviews = GET_films_filmId_reviews(filmId=1)\nprint(film["title"])'
    )
    finished = run("Dusk", films, reviews, printed=(exact("films", 0, "title"),))

    findings = inspect(program, finished, Question("What are the reviews of the film?"), GRAPH)
    assert [(finding.kind, finding.call) for finding in findings if finding.kind == "DeadCall"] == [("DeadCall", 1)]
    assert "DeadCall" not in kinds(program, finished, "How is the film called?")
    tested = program.replace("print", 'if not reviews["reviews"]:\n    print("No reviews")\nprint')
    assert "DeadCall" not in kinds(tested, finished, "What are the reviews of the film?")


def test_a_reply_that_another_one_replaces() -> None:
    """Two replies go into one variable, and nothing reads the first."""
    program = 'film = GET_films(query="Dune")\nfilm = GET_films(query="Dusk")\nprint(film["films"][0]["title"])'
    finished = run(
        "Dusk", call(response=FILMS), call(response=FILMS, line=2), printed=(exact("films", 0, "title", at=1),)
    )

    assert "Overwritten" in kinds(program, finished, "How are they called?")
    read = program.replace("\nfilm =", "\nprint(film)\nfilm =")
    assert "Overwritten" not in kinds(read, finished, "How are they called?")


@pytest.mark.parametrize(("text", "is_placeholder"), [("…", True), ("...", True), ("Dune", False), ("*", False)])
def test_an_ellipsis_stands_for_a_value(text: str, is_placeholder: bool) -> None:
    """It is no argument; a star may be one."""
    finished = run("Dusk", call(response=FILMS, query=text), printed=(exact("films", 0, "title"),))

    found = kinds(f'print(GET_films(query="{text}")["films"][0]["title"])', finished, "Which film is Dune?")
    assert ("Placeholder" in found) is is_placeholder


def test_an_entry_by_its_place_is_no_extreme() -> None:
    """The first is not the best, unless a field says so or the program compares."""
    program = 'film = GET_films()["films"][0]\nprint(film["title"])'
    question = "What is the best rated film?"
    middle = {"films": [FILMS["films"][2], *FILMS["films"][:2]]}
    finished = run("Dawn", call(response=middle), printed=(exact("films", 0, "title"),))

    assert "TakenByPlace" in kinds(program, finished, question)
    assert "TakenByPlace" not in kinds(program, finished, "Which film is it?")
    best = {"films": [FILMS["films"][1], *FILMS["films"][:1]]}
    assert "TakenByPlace" not in kinds(
        program, run("Dune", call(response=best), printed=(exact("films", 0, "title"),)), question
    )
    ordered = run("Dawn", call(response=middle, sort="rating"), printed=(exact("films", 0, "title"),))
    assert "TakenByPlace" in kinds(program, ordered, question), "it was asked for in an order, and is in none"
    compared = program.replace('GET_films()["films"][0]', 'max(GET_films()["films"], key=len)')
    assert "TakenByPlace" not in kinds(compared, finished, question)
    method = f"class Films:\n    def best(self):\n        return max(self.films, key=len)\n{program}"
    assert "TakenByPlace" not in kinds(method, finished, question)


def test_one_where_several_are_asked_for() -> None:
    """A single entry of a longer list answers a question for one, and none for all."""
    program = 'print(GET_films()["films"][0]["title"])'
    finished = run("Dusk", call(response=FILMS), printed=(exact("films", 0, "title"),))

    assert "OneOfMany" in kinds(program, finished, "Which films are shown?")
    assert "OneOfMany" in kinds("print(best)", finished, "Give me some films.")
    assert "OneOfMany" not in kinds(program, finished, "Which film is shown?")
    alone = run("Dusk", call(response={"films": FILMS["films"][:1]}), printed=(exact("films", 0, "title"),))
    assert "OneOfMany" not in kinds(program, alone, "Which films are shown?")


def test_the_list_beside_it_has_what_is_asked_for() -> None:
    """Who directed it stands in the crew, not in the cast; a field that the question names is where to look."""
    credits = {"cast": [{"name": "Ana", "part": "Queen"}], "crew": [{"name": "Ben", "job": "Director"}]}
    finished = run("Ana", call("GET_films_filmId_credits", credits), printed=(exact("cast", 0, "name"),))

    assert "OtherList" in kinds('print(c["cast"][0]["name"])', finished, "Who is the director of Dune?")
    crew = run("Ben", call("GET_films_filmId_credits", credits), printed=(exact("crew", 0, "name"),))
    assert "OtherList" not in kinds('print(c["crew"][0]["name"])', crew, "Who is the director of Dune?")
    named = run(
        "7",
        call("GET_people", {"people": [{"personId": 7, "knownFor": ["Dune"]}]}),
        printed=(exact("people", 0, "personId"),),
    )
    assert "OtherList" in kinds('print(p["people"][0]["personId"])', named, "What is Ana known for?")


def test_a_program_that_drops_its_condition() -> None:
    """An earlier program of the solve had one; an order in its place is as good."""
    finished = run("Dusk", call(response=FILMS), printed=(exact("films", 0, "title"),))
    earlier = 'films = GET_films()["films"]\nprint([film["title"] for film in films if film["rating"] > 8])'

    def found(program: str) -> list[str]:
        findings = inspect(program, finished, Question("Which film is it?"), GRAPH, [earlier])
        return [finding.kind for finding in findings]

    assert "Weakened" in found('print(GET_films()["films"][0]["title"])')
    assert "Weakened" not in found('print(max(GET_films()["films"], key=len)["title"])')


def wrote(*writes: tuple[str, dict[str, Any]]) -> Run:
    """A run with accepted writes: the tool and the arguments of each."""
    records = [call(tool, {"id": 1}, 201, place + 1, **arguments) for place, (tool, arguments) in enumerate(writes)]
    return replace(run("done", *records), provenance=Provenance())


def test_a_write_says_nothing_of_its_own() -> None:
    """A written text that neither question nor reply holds is told; so is a write that nobody asked for."""
    question = 'Write a review of it: "Worth an evening".'
    right = wrote(("POST_films_filmId_reviews", {"text": "Worth an evening"}))

    assert kinds("print('done')", right, question) == []
    invented = wrote(("POST_films_filmId_reviews", {"text": "Great acting throughout"}))
    assert "ForeignText" in kinds("print('done')", invented, question)
    further = wrote(
        ("POST_films_filmId_reviews", {"text": "Worth an evening"}), ("DELETE_me_watchlist", {"position": 1})
    )
    assert "UnaskedWrite" in kinds("print('done')", further, question)


def test_a_service_that_changes_between_two_calls() -> None:
    """The same read had two answers; after a write that is as it should be."""
    first, second = call(response=FILMS), call(response={"films": FILMS["films"][:1]}, line=2)
    program = 'first = GET_films()\nprint(len(GET_films()["films"]), first["films"][0]["title"])'
    finished = run("1 Dusk", first, second, printed=(exact("films", at=1), exact("films", 0, "title")))

    assert "Changed" in kinds(program, finished, "Which film is it?")
    write = call("POST_films_filmId_reviews", {}, 201, line=2)
    assert "Changed" not in kinds(
        program, run("1", first, write, second, printed=(exact("films", at=2),)), "Which is it?"
    )
    assert "Changed" not in kinds(program, run("3", first, first, printed=(exact("films", at=1),)), "Which film is it?")


def test_a_code_of_the_question_is_used() -> None:
    """An identifier that is sent nowhere was meant for something; one that the program compares with is used."""
    finished = run("Dusk", call(response=FILMS), printed=(exact("films", 0, "title"),))
    question = "What is the film tt-4412ab8 called?"

    assert "OtherEntity" in kinds('print(GET_films()["films"][0]["title"])', finished, question)
    compared = 'print([film["title"] for film in GET_films()["films"] if film["filmId"] == "tt-4412ab8"][0])'
    assert "OtherEntity" not in kinds(compared, finished, question)


def test_a_question_that_only_asks_changes_nothing() -> None:
    """A write for it is told, whatever was printed."""
    finished = wrote(("POST_films_filmId_reviews", {"text": "Fine"}))

    assert "UnaskedWrite" in kinds("print('done')", finished, "What do people say about it?")
    assert "UnaskedWrite" not in kinds("print('done')", finished, "Write a review of it: Fine")


def test_a_change_without_a_value_that_the_question_says() -> None:
    """The date of a payment, a quoted text or a number has to go somewhere."""
    question = "Write a review of film 12 dated 28 May 2024."
    dated = wrote(("POST_films_filmId_reviews", {"filmId": 12, "date": "2024-05-28"}))
    undated = wrote(("POST_films_filmId_reviews", {"filmId": 12}))

    assert "OtherEntity" not in kinds("print('done')", dated, question)
    assert "OtherEntity" in kinds("print('done')", undated, question)
    assert "OtherEntity" in kinds(
        "print('done')", wrote(("POST_films_filmId_reviews", {"date": "2024-05-28"})), question
    )


def test_another_entry_has_what_the_question_says() -> None:
    """The first file is that of another bundle; a field of both tells them apart."""
    films = {
        "films": [
            {"title": "Dusk", "studio": "north-lights", "year": 1},
            {"title": "Dune", "studio": "east-gate", "year": 2},
        ]
    }
    finished = run("Dusk", call(response=films), printed=(exact("films", 0, "title"),))
    program = 'print(GET_films()["films"][0]["title"])'

    assert "OtherEntity" in kinds(program, finished, "Which film has east-gate made?")
    assert "OtherEntity" not in kinds(program, finished, "Which film has north-lights made?")


def test_one_is_not_all() -> None:
    """The program went on from the first film where the question is about every one."""
    films, reviews = call(response=FILMS), call("GET_films_filmId_reviews", {"reviews": [1, 2]}, line=2, filmId="Dusk")
    program = 'film = GET_films()["films"][0]\nprint(len(GET_films_filmId_reviews(filmId=film["title"])["reviews"]))'
    finished = run("2", films, reviews, printed=(exact("reviews", at=1),))
    provenance = Provenance(printed=(exact("reviews", at=1),), arguments={1: {"filmId": (exact("films", 0, "title"),)}})
    traced = replace(finished, provenance=provenance)

    assert "OneOfMany" in kinds(program, traced, "How many reviews do all films have together?")
    assert "OneOfMany" not in kinds(program, traced, "How many reviews has the film?")


def test_a_list_beside_the_one_that_is_asked_for() -> None:
    """Credits are no reviews, where both belong to one film."""
    credits = call("GET_films_filmId_credits", {"crew": [{"name": "Ben", "job": "Editor"}]}, filmId=1)
    finished = run("Ben", credits, printed=(exact("crew", 0, "name"),))
    program = 'print(GET_films_filmId_credits(filmId=1)["crew"][0]["name"])'

    assert "OtherEntity" in kinds(program, finished, "Who wrote the newest review of it?")
    assert "OtherEntity" not in kinds(program, finished, "Who is in the credits of it?")


def test_an_extreme_needs_a_comparison() -> None:
    """A sum of all is not the best; an order or a limit may choose it."""
    finished = run("21.5", call(response=FILMS), printed=(Source(0, ("films",), "made"),))

    assert "TakenByPlace" in kinds(
        'print(sum(f["rating"] for f in GET_films()["films"]))', finished, "What is the best film?"
    )
    assert "TakenByPlace" not in kinds('print(max(GET_films()["films"], key=len))', finished, "What is the best film?")
