"""One page is not a list, and a list may be empty by mistake."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from atc.assist.language.question import Question
from atc.assist.rules import inspect
from sandbox.records import Source
from tests.atc.assist.rules.runs import call, kinds, printed, run

PART = {"page": 1, "totalPages": 5, "totalCount": 96, "films": [{"title": "Dune", "rating": 8.0}] * 20}


@pytest.mark.parametrize(
    ("program", "query", "doubted"),
    [
        ('print(len(GET_films()["films"]))', "How many films are there?", True),
        (
            'films = GET_films()["films"]\nprint(max(films, key=len)["title"])',
            "Which film has the longest title?",
            True,
        ),
        ('for film in GET_films()["films"]:\n    print(film["title"])', "List all films", True),
        ('print(GET_films()["totalCount"])', "How many films are there?", False),
        ('print(GET_films()["films"][0]["title"])', "Which film is the best of all?", False),
        ('for film in GET_films()["films"][:3]:\n    print(film["title"])', "Show all of the first three", False),
        ('for film in GET_films()["films"][:30]:\n    print(film["title"])', "Show the first 30 films", True),
        ('for film in GET_films()["films"]:\n    print(film["title"])', "Show the first 3 films", False),
        ('for film in GET_films()["films"]:\n    print(film["title"])', "Show me some films", False),
    ],
)
def test_a_page_is_not_the_list(program: str, query: str, doubted: bool) -> None:
    """It matters where the program goes through it and the question is about all of it."""
    path = ("totalCount",) if "totalCount" in program else ("films",)
    finished = run("20 Dune", call(response=PART), printed=(Source(0, path, "made"),))

    assert ("FirstPage" in kinds(program, finished, query)) is doubted


@pytest.mark.parametrize(
    ("around", "is_partial"),
    [
        ({"total": 30, "limit": 2}, True),
        ({"total": 2, "limit": 2}, False),
        ({"total": 30}, False),  # what an order costs, perhaps
        ({"hasMore": True}, True),
        ({"hasMore": False}, False),
        ({"next": "https://api.test/films?page=2"}, True),
        ({"next": None}, False),
        ({"page": 1, "pages": 1}, False),
    ],
)
def test_replies_say_in_several_ways_that_there_is_more(around: Mapping[str, object], is_partial: bool) -> None:
    """A total, a number of pages, something that leads on."""
    finished = run("2", call(response={"items": [1, 2], **around}), printed=(Source(0, ("items",), "made"),))

    assert ("FirstPage" in kinds('print(len(GET_films()["items"]))', finished, "How many are there?")) is is_partial


def test_all_pages_together_are_the_list() -> None:
    """Who asks for each page has read all of them."""
    pages = [call(response={"page": n, "totalPages": 3, "films": [n]}, page=n, line=3) for n in (1, 2, 3)]
    program = 'films = []\nfor n in range(1, 4):\n    films += GET_films(page=n)["films"]\nprint(len(films))'
    sources = (Source(0, ("films",), "made"),)

    assert kinds(program, run("3", *pages, printed=sources), "How many films are there?") == []
    assert kinds(program, run("2", *pages[:2], printed=sources), "How many films are there?") == ["FirstPage"]


# No

DEPOTS = {"depots": [{"city": "Bergen", "name": "Harbour"}, {"city": "Lisbon", "name": "East"}]}


@pytest.mark.parametrize(
    ("compared", "text", "doubted"),
    [
        ('depot["city"] == "bergen"', "0", True),
        ('depot["name"] == "Bergen"', "0", True),
        ('depot.get("town") == "Bergen"', "0", True),
        ('depot["city"] == "Oslo"', "0", False),
        ('depot["city"] == "bergen"', "4", False),
    ],
)
def test_a_slip_makes_a_list_empty(compared: str, text: str, doubted: bool) -> None:
    """Nothing passes a filter that is spelt otherwise than the data; whose answer is not empty is not asked."""
    program = f'print(len([depot for depot in GET_depots()["depots"] if {compared}]))'
    record = call("GET_depots", DEPOTS)
    finished = run(text, record, printed=(Source(0, ("depots",), "made"),))
    query = "How many depots are in Oslo?" if "Oslo" in compared else "How many depots are in Bergen?"

    assert kinds(program, finished, query) == (["EmptyForNegative"] if doubted else [])


def test_a_search_with_a_word_that_nobody_said() -> None:
    """What was not found because it is misspelt is named as it is in the question."""
    record = call("GET_people", {"people": []}, query="Anna Bel")
    program = 'found = GET_people(query="Anna Bel")["people"]\nprint("Yes" if found else "No")'
    finished = run("No", record, printed=(Source(0, ("people",), "decided"),))

    assert "OtherEntity" in kinds(program, finished, "Is Ana Bell known?")
    finding = next(
        finding
        for finding in inspect(program, finished, Question("Is Ana Bell known?"))
        if finding.kind == "EmptyForNegative"
    )
    assert finding.message.endswith("ask with 'Ana Bell'")


@pytest.mark.parametrize(("text", "doubted"), [("ana_bell", False), ("Anna Bel", True)])
def test_a_code_made_of_a_name_is_no_misspelling(text: str, doubted: bool) -> None:
    """Services take `ana_bell` for Ana Bell; nobody is told to write the name there."""
    record = call("GET_people", {"people": [{"born": 1970}]}, query=text)
    finished = run("1970", record, printed=(Source(0, ("people", 0, "born"), "made"),))
    program = f'print(GET_people(query="{text}")["people"][0]["born"])'

    assert ("OtherEntity" in kinds(program, finished, "When was Ana Bell born?")) is doubted


def test_a_deep_program_is_no_trouble() -> None:
    """Whatever a program is like, its inspection ends."""
    program = f"print(len({'+'.join(['x'] * 900)}))"

    assert kinds(program, printed("9", 200), "How many are there?") == []
