"""Printed words that are no answer are doubted; titles that only sound so are not."""

from __future__ import annotations

from typing import Any

import pytest

from atc.assist.language.question import Question
from atc.assist.rules import inspect
from atc.evidence import judge
from tests.atc.assist.rules.runs import call, exact, kinds, printed, run


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "None",
        "{}",
        "No movies found.",
        "Nothing",
        "The director could not be found",
        "Cast: []",
        "Director: None",
    ],
)
def test_nothing_is_doubted(text: str) -> None:
    """Who says that there is nothing is asked whether that is so."""
    assert kinds("", printed(text + "\n", 200), "Who made it?") == ["NothingFound"]


@pytest.mark.parametrize(
    "text",
    ["Fail Safe (1964)", "No Country for Old Men was directed by Joel Coen", "7", "0", "['a']", "No one: 3\nHim: 2"],
)
def test_answers_are_taken(text: str) -> None:
    """Titles and names may hold words that also say that there is nothing."""
    assert kinds("", printed(text + "\n", 200), "Who made it?") == []


@pytest.mark.parametrize(
    ("query", "text", "doubted"),
    [
        ("shows that are similar to House of Cards", "House of Cards", True),
        ("shows that are similar to House of Cards", "House of Cards\nBillions", False),
        ("Which is older, Dune or Solaris?", "Solaris", False),
        ("Which of Oslo and Bergen is warmer?", "Oslo", False),
        ("Does it rain in Oslo?", "rain", False),
        ("How often do 2 Lost Sailors appear?", "2", False),
    ],
)
def test_the_words_of_the_question_are_no_answer(query: str, text: str, doubted: bool) -> None:
    """Unless it asks to choose among them."""
    findings = [finding.kind for finding in inspect("", printed(text + "\n", 200), Question(query))]

    assert ("NothingNew" in findings) is doubted


@pytest.mark.parametrize(
    ("query", "arguments", "doubted"),
    [
        ("What is on today?", {"page": 1}, False),
        ("Who made today?", {"query": "today"}, True),
        ("Who made the film Today?", {"page": 1}, True),
    ],
)
def test_a_thing_may_be_called_like_a_word_of_the_question(
    query: str, arguments: dict[str, Any], doubted: bool
) -> None:
    """Where it was not looked for by that word, and the question does not name it."""
    finished = run(
        "Today\n", call(response={"films": [{"title": "Today"}]}, **arguments), printed=(exact("films", 0, "title"),)
    )

    assert ("NothingNew" in kinds("", finished, query)) is doubted


@pytest.mark.parametrize(
    ("query", "text", "doubted"),
    [
        ("How many films are there?", "Dune, Solaris", True),
        ("How many films are there?", "There are seven.", False),
        ("When was it made?", "In France", True),
        ("When was it made?", "1972-03-20", False),
        ("On which day of the week is it shown?", "Monday", False),
    ],
)
def test_a_number_or_a_date_is_wanted(query: str, text: str, doubted: bool) -> None:
    """A question for one is not answered with something else."""
    assert ("WrongKind" in kinds("", printed(text, 200), query)) is doubted


def test_an_identifier_is_no_name() -> None:
    """What identifies a thing answers only who asked for that."""
    record = call(response={"films": [{"filmId": 41, "title": "The Silent Harbor"}]})
    finished = run("41", record, printed=(exact("films", 0, "filmId"),))

    assert kinds("print(41)", finished, "Which film is the best one?") == ["WrongKind"]
    assert kinds("print(41)", finished, "Which id has the best film?") == []
    coded = run("W2", call(response={"room_code": "W2", "title": "Dune"}), printed=(exact("room_code"),))
    assert kinds("print('W2')", coded, "What is the room called?") == ["WrongKind"]
    assert kinds("print('W2')", coded, "Which room is it?") == []


@pytest.mark.parametrize(
    ("text", "doubted"),
    [
        ("Ana: 1,200 g\nBen: 800 g", True),
        ("Ana: 1,200 g\nBen: 800 g\nTogether: 2,000 g", False),
        ("1200\n800", True),
        ("2000", False),
        ("Parcels of Ana and Ben:\n2000", False),
    ],
)
def test_one_number_is_wanted_of_all(text: str, doubted: bool) -> None:
    query = "How many grams do the parcels of Ana and Ben weigh together?"

    assert ("WrongKind" in kinds("", printed(text, 200), query)) is doubted
    assert "WrongKind" in kinds("", printed("3.5\n4", 200), "What are the fees of both in all?")


def test_which_one_it_is_no_number_tells() -> None:
    """Neither does the most of something tell of what it is the most; who asks how many is content with it."""
    works = [{"work_id": 3, "title": "Dusk", "insured_for": 90_000}]
    dear = run("For 90000 euros", call(response={"works": works}), printed=(exact("works", 0, "insured_for"),))
    named = run(
        "Dusk, for 90000 euros",
        call(response={"works": works}),
        printed=(exact("works", 0, "title"), exact("works", 0, "insured_for")),
    )
    query = "Of the first three works, which one is insured for the most, and for how many euros?"

    assert kinds("print(90000)", dear, query) == ["WrongKind"]
    assert kinds("print(90000)", named, query) == []
    assert kinds("print(90000)", dear, "For how many euros is the work which hangs in W2 insured?") == []


@pytest.mark.parametrize("title", ["Unknown", "Nothing Else Matters", "Failure to Launch", "Sorry", "No tears left"])
def test_a_title_may_sound_like_a_failure(title: str) -> None:
    """What stands in a reply is no mere word of the program; a message of the service is no title."""
    called = run(title, call(response={"films": [{"title": title}]}), printed=(exact("films", 0, "title"),))
    message = run("Not found", call(response={"message": "Not found"}), printed=(exact("message"),))

    assert kinds("", called, "What is the best one called?") == []
    assert "NothingFound" in kinds("", message, "What is the best one called?")


@pytest.mark.parametrize("value", [[], {}])
def test_what_is_printed_and_is_no_text_may_be_empty(value: object) -> None:
    finished = run("No films found", call(response={"films": value}), printed=(exact("films"),))
    assert kinds("", finished, "Which films are there?") == ["NothingFound"]


def test_none_in_a_sentence() -> None:
    """A value that is null is not what was asked for; null among the data of an object may be."""
    record = call(response={"name": "Ana Bell", "died": None})
    program = 'person = GET_films()\nprint("She died on", person["died"])'
    in_words = run("She died on None", record, printed=(exact("died"),))
    in_data = run("{'name': 'Ana Bell', 'died': None}", record, printed=(exact(),))

    assert "NothingFound" in kinds(program, in_words, "Where did she live?")
    assert kinds("print(GET_films())", in_data, "Where did she live?") == []


def test_silence_is_no_answer() -> None:
    fault = judge("x = 1", printed("  \n", 200))

    assert fault is not None
    assert (fault.stage, fault.type) == ("answer", "NoOutput")


def test_a_print_that_was_never_reached_is_named() -> None:
    fault = judge("for one in []:\n    print(one)", printed("", 200))

    assert fault is not None
    assert "the print() on line 2 was never reached" in fault.message
