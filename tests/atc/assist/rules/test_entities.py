"""The program has to use the entities that the question names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from atc.assist.language.question import Question
from atc.assist.rules import readings
from sandbox import Run
from sandbox.records import Provenance
from tests.atc.assist.rules.reading import kinds
from tests.atc.evidence.runs import GRAPH, call, exact, run

FOUND: Mapping[str, object] = {
    "films": [{"filmId": 7, "title": "The Silent Harbor II"}, {"filmId": 41, "title": "The Silent Harbor"}]
}


def taken(position: int) -> Run:
    """A run that searched, took one of two films, and printed something of that."""
    search = call(response=FOUND, query="The Silent Harbor")
    film = FOUND["films"][position]["filmId"]  # type: ignore[index]
    details = call("GET_films_filmId", {"runtimeMinutes": 112}, line=2, filmId=film)
    argument_sources = {1: {"filmId": (exact("films", position, "filmId"),)}}
    provenance = Provenance(arguments=argument_sources, printed=(exact("runtimeMinutes", at=1),))
    return replace(run("112", search, details), provenance=provenance)


def test_another_thing_of_nearly_the_same_name() -> None:
    """Of two films that a search found, the one that is called so is meant."""
    program = 'film = GET_films(query="The Silent Harbor")["films"][0]\nprint(film)'
    findings = readings(program, taken(0), Question("How long is The Silent Harbor?"), GRAPH)

    assert [(finding.kind, finding.call, finding.path) for finding in findings] == [("OtherEntity", 0, ("films", 0))]
    assert 'take ["films"][1]' in findings[0].message
    assert kinds(program, taken(1), "How long is The Silent Harbor?") == []


def test_a_search_that_found_something_else() -> None:
    """What has a name is to share a word with the one that was looked for; what lies in a place need not."""
    films = {"films": [{"filmId": 9, "title": "Engines of Autumn"}]}
    sources = (exact("films", 0, "title"),)
    searched = run("Engines of Autumn", call(response=films, query="Salt Road"), printed=sources)
    filtered = run("Engines of Autumn", call(response=films, city="Salt Road"), printed=sources)

    finding_kinds = kinds('print(GET_films(query="Salt Road")["films"][0])', searched, "How good is Salt Road?")
    assert finding_kinds == ["OtherEntity"]
    assert kinds('GET_films(city="Salt Road")', filtered, "Which film is shown in Salt Road?") == []


def test_two_names_are_not_one() -> None:
    """Unless the question itself takes them for one."""
    record = call(
        "GET_people", {"people": [{"personId": 1, "name": "Ana Bell and Bo Carr"}]}, query="Ana Bell and Bo Carr"
    )
    program = 'print(GET_people(query="Ana Bell and Bo Carr")["people"][0])'
    finished = run("{'personId': 1}", record, printed=(exact("people", 0),))

    assert kinds(program, finished, "How old are Ana Bell and Bo Carr?") == ["OtherEntity"]
    assert kinds(program, finished, "Who is in 'Ana Bell and Bo Carr'?") == []


def test_a_search_that_leads_nowhere() -> None:
    """Of what was searched for, something has to come into the answer, or into what is written."""
    search = call("GET_people", {"people": [{"personId": 1, "name": "Ana Bell"}]}, query="Ana Bell")
    program = 'person = GET_people(query="Ana Bell")["people"][0]\nprint(GET_films_top_rated()["films"][0]["title"])'
    top = call("GET_films_top_rated", {"films": [{"title": "Dune"}]}, line=2)
    finished = run("Dune", search, top, printed=(exact("films", 0, "title", at=1),))

    findings = readings(program, finished, Question("What is the best film of Ana Bell?"), GRAPH)
    assert [(finding.kind, finding.line, finding.call) for finding in findings] == [("OtherEntity", 1, 0)]
    used = replace(finished, provenance=Provenance(printed=(exact("people", 0, "name"),)))
    assert "OtherEntity" not in kinds(program, used, "What is the best film of Ana Bell?")


def test_a_name_that_the_program_uses_nowhere() -> None:
    """It is told what to write instead of what it asked for; a name that the data bear is used."""
    record = call(response={"people": [{"personId": 1, "name": "Bo Carr"}]}, query="Bo Carr")
    finished = run("1950-01-01", record, printed=(exact("people", 0, "name"),))
    findings = readings('GET_people(query="Bo Carr")', finished, Question("When was Ana Bell born?"), GRAPH)

    assert findings[0].kind == "OtherEntity"
    assert findings[0].message == (
        "the program asks for 'Bo Carr', and the question is about 'Ana Bell'; write 'Ana Bell' there"
    )
    program = 'GET_people(query="Bo Carr")\nprint("Ana Bell was born on", 1950)'
    assert kinds(program, replace(finished, stdout="Ana Bell was born on 1950"), "When was Ana Bell born?") == [
        "OtherEntity"
    ]
    assert kinds("GET_me()", finished, "When was Bo Carr born?") == []
    assert kinds('GET_me()\nregion = "US"', finished, "Which film did Bo Carr make in the United States?") == []
