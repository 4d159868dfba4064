"""The first prompt: sketches of plans, the functions that are written whole, and those that a model asks to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from atc import Agent
from atc.assist.check import check
from atc.fault import Fault
from atc.profile import LARGE
from atc.prompting.conversation import described
from protocols import load
from protocols.contracts.contract import Contract
from protocols.samples import sample
from tests.scripted import ScriptedModel

TEXT = {"type": "string"}
SONG = {"type": "object", "properties": {"song_id": TEXT, "title": TEXT}}
SHELF = {"type": "object", "properties": {"shelf_id": TEXT, "name": TEXT}}
IDS = {"type": "array", "items": TEXT}
OF_SHELF = [{"name": "shelf_id", "in": "path", "required": True, "schema": TEXT}]
WORDS = [{"name": "q", "in": "query", "required": True, "schema": TEXT}]


def listed(schema: Mapping[str, object]) -> dict[str, object]:
    return {"type": "array", "items": schema}


def operation(
    summary: str,
    schema: object = None,
    parameters: object = (),
    body: Mapping[str, object] | None = None,
    required: bool = True,
) -> dict[str, object]:
    """One that takes the properties of a body, all or none required, and answers with a schema or with nothing."""
    content = {"content": {"application/json": {"schema": schema}}} if schema else {}
    found = {"summary": summary, "parameters": list(parameters), "responses": {"200": {"description": "", **content}}}  # type: ignore[call-overload]
    if body is not None:
        sent = {"type": "object", "properties": dict(body), "required": list(body) if required else []}
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": sent}}}
    return found


PATHS = {
    "/me/songs": {
        "get": operation("The songs that I saved", listed(SONG)),
        "post": operation("Save songs", body={"song_ids": IDS}),
    },
    "/player/current": {"get": operation("The song that is playing", SONG)},
    "/player/play": {"put": operation("Start the player", body={"song_id": TEXT})},
    "/search": {"get": operation("Search for songs", listed(SONG), WORDS)},
    "/shelves": {
        "get": operation("My shelves", listed(SHELF)),
        "post": operation("Make a shelf", SHELF, body={"name": TEXT}),
    },
    "/shelves/{shelf_id}": {"put": operation("Rename a shelf", parameters=OF_SHELF, body={"name": TEXT})},
    "/shelves/{shelf_id}/songs": {
        "get": operation("The songs on a shelf", listed(SONG), OF_SHELF),
        "post": operation("Put songs on a shelf", parameters=OF_SHELF, body={"song_ids": IDS}),
    },
}
AGENT = Agent(
    load({"openapi": "3.0.3", "info": {"title": "Songs", "version": "1"}, "paths": PATHS}),
    "openai:none",
    profile="small",
)


def test_what_only_the_question_can_give_is_a_name_that_is_not_defined() -> None:
    """A placeholder text could be sent as it is; a copied name is refused, for a read as for a write."""
    (sketches,) = AGENT.opening("Make a shelf with some songs").sections
    sketches = sketches.partition("\n")[2]
    diagnostics = check(sketches, Contract(AGENT.protocol))

    assert "shelf = POST_shelves(name=name)" in sketches
    assert "songs = GET_search(q=q)" in sketches
    assert [(diagnostic.rule, diagnostic.key) for diagnostic in diagnostics] == [
        ("unknown-name", "name"),
        ("unknown-name", "q"),
    ]


def test_ones_own_things_come_early_only_where_one_speaks_of_oneself() -> None:
    def place(question: str) -> int:
        return AGENT.opening(question).ranked.index("GET_me_songs")

    assert place("What are my songs?") < place("What are the songs?")


def test_a_large_model_sees_every_function() -> None:
    """Those that are not offered have a line each, where that takes no more than a quarter of the prompt."""
    protocol = load(sample("cinema"))
    names = {tool.name for tool in protocol.tools}
    question = "Who directed The Silent Harbor?"

    def documented(**options: Any) -> set[str]:
        functions = Agent(protocol, "openai:any", max_tools=2, **options).opening(question).functions
        return {name for name in names if f"{name}(" in functions}

    assert documented(profile="large") == names
    assert len(documented(profile="small")) < len(names)
    assert len(documented(profile=replace(LARGE, prompt_tokens=400))) < len(names)
    given = Agent(protocol, "openai:any", profile="large").opening(question, tools=["GET_films"]).functions
    assert "GET_people" not in given


def test_a_long_error_is_cut() -> None:
    """A program can make an error as long as it likes; the model reads its beginning."""
    assert len(described(Fault("run", "ValueError", "x y " * 20_000, 1, "--> 1 " + "z" * 9_000))) < 2000


FEW = replace(LARGE, described=2, stable=False)
QUESTION = "Where is the headquarters of Northlight Pictures?"
PROGRAM = '```python\nprint(GET_films(query="The Silent Harbor")["films"][0]["title"])\n```'


def test_the_others_have_a_line_each() -> None:
    """With their required arguments, and what they do."""
    with Agent(load(sample("cinema")), None, profile=FEW, simulate=True) as agent:
        offer = agent.opening(QUESTION)
    lines = offer.functions.splitlines()

    assert sum(line.startswith("def ") for line in lines) == len(offer.details) < len(offer.tools)
    assert "GET_films_filmId_reviews(filmId)  # What people wrote about a film" in lines


def test_a_model_sees_what_it_asks_for() -> None:
    """One short call, which is counted; then it writes the program. Names that there are not are left out."""
    model = ScriptedModel("SHOW: GET_me_watchlist, GET_nothing", PROGRAM)
    with Agent(load(sample("cinema")), model, profile=FEW, simulate=True) as agent:
        solution = agent.solve(QUESTION)
    first, second = model.asked

    assert "def GET_me_watchlist() -> WatchlistPage:" in second[-1].content
    assert second[: len(first)] == first  # what was read is not read again
    assert (second[-2].content, len(second)) == ("SHOW: GET_me_watchlist", len(first) + 2)
    assert (solution.answer, len(solution.attempts), solution.usage.model_calls) == ("The Silent Harbor", 1, 2)


@pytest.mark.parametrize("requests", [["SHOW: GET_me_watchlist", "SHOW: GET_me"], ["SHOW: GET_nothing"]])
def test_a_model_that_asks_for_no_more_than_there_is(requests: list[str]) -> None:
    """A second request, or one for a function that there is not, is no program, and is told so."""
    model = ScriptedModel(*requests, PROGRAM)
    with Agent(load(sample("cinema")), model, profile=FEW, simulate=True) as agent:
        solution = agent.solve(QUESTION)

    assert [attempt.fault.type if attempt.fault else "" for attempt in solution.attempts] == ["NoProgram", ""]
    assert "no more to show" in model.asked[-1][-1].content


def test_a_small_api_is_the_same_text_for_every_question() -> None:
    """Nothing of the question is in it, so that an engine reads it once."""
    with Agent(load(sample("cinema")), None, profile="large", simulate=True) as agent:
        first, second = (agent.opening(text).messages() for text in (QUESTION, "Which films are dramas?"))

    common = [a == b for a, b in zip(first, second, strict=True)]
    assert common == [True] * (len(first) - 1) + [False]
    assert first[-1].content.removesuffix(f"Question: {QUESTION}") in second[-1].content
