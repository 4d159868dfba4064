"""Which tools the model gets to see for a question."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

import pytest

from atc import Agent
from atc.assist.language.question import Question
from atc.assist.leaning import leanings
from atc.profile import SMALL
from atc.retrieval.candidates import Candidates, WordIndex
from atc.retrieval.demonstrations import Demonstration, Demonstrations
from benchmarks.tasks.datasets import open_dataset
from protocols import load
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample
from tests.scripted import ScriptedModel


def listed(texts: Mapping[str, str], **responses: object) -> Candidates:
    """The candidates of an API of operations, by name and description; the address tells nothing of them."""
    tools = [
        {
            "name": name,
            "description": text,
            "url": f"https://api.test/q/{place}",
            "method": "GET",
            "responses": responses.get(name, {}),
        }
        for place, (name, text) in enumerate(texts.items())
    ]
    return Candidates(ProtocolGraph(load({"servers": [{"url": "https://api.test"}], "endpoints": tools})))


def best(candidates: Candidates, query: str, most: int) -> tuple[str, ...]:
    """The best tools for a question, by what it leans to as well."""
    offsets = leanings(Question(query), candidates.graph, choosing=True)
    return candidates.choose(query, most, offsets, closed=False)


def test_a_small_protocol_is_shown_whole() -> None:
    graph = ProtocolGraph(load(sample("cinema")))

    assert Candidates(graph).choose("Who is Ana Bell?", 20) == tuple(tool.name for tool in graph.protocol.tools)


def test_words_of_the_question_choose_and_their_producers_come_along() -> None:
    """The studio's page wins on words; the film that names the studio, and the list of films, come with it."""
    chosen = Candidates(ProtocolGraph(load(sample("cinema")))).choose("Where is the studio that made the film?", 1)

    assert chosen[0] == "GET_studios_studioId"
    assert {"GET_films_filmId", "GET_films"} <= set(chosen)


def test_most_gold_tools_of_real_questions_are_among_the_candidates(data: Path) -> None:
    """Of 54 tools, the 20 best on words and their producers hold most tools that the development questions need."""
    candidates = Candidates(ProtocolGraph(load(data / "restbench" / "tmdb_oas.json")))
    tasks = json.loads((data / "toolflow" / "tmdb.candidates.dev.json").read_text())

    gold = [(name, candidates.choose(task["query"], 20)) for task in tasks for name in task["solution"]]

    assert sum(name in chosen for name, chosen in gold) / len(gold) >= 0.8


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("What is the stock price?", "stock_price"),
        ("How much carbohydrate has it?", "dishes"),
        ("Do they have fish, and is it cheap?", "prices"),
        ("Convert kroner into another currency", "rates"),
    ],
    ids=["a name", "a field cut short", "a related word", "the meaning"],
)
def test_a_tool_is_found_by(query: str, name: str) -> None:
    """Its name where the path says nothing, a field, a word that is akin, and what it means."""
    carbs = {"type": "object", "properties": {"carbs": {"type": "string"}}}
    texts = {
        "weather_forecast": "",
        "stock_price": "",
        "guests": "Guests of a restaurant",
        "prices": "Prices in a restaurant",
        "photos": "Photos of a restaurant",
        "rates": "What the money of another country is worth",
        "dishes": "About soil",
    }
    responses = {"200": {"content": {"application/json": {"schema": carbs}}}}

    assert listed(texts, dishes=responses).choose(query, 1) == (name,)


def test_a_small_api_is_written_down_the_same_for_every_question() -> None:
    """So that what was read of it need not be read again; what is about one question stands behind it."""
    queries = ("Who directed Dune?", "Which films are on my watchlist?")
    with Agent(load(sample("cinema")), ScriptedModel(), profile=SMALL) as agent:
        texts = [agent.opening(query, today="2024-06-01").messages()[-1].content for query in queries]

    shared = list(takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    assert len(shared) > 0.8 * min(map(len, texts))


def test_solved_questions_of_the_same_meaning_are_found(tmp_path: Path) -> None:
    """By words alone they are not; neither is one about something else."""
    solved = Demonstrations(tmp_path, load(sample("cinema")))
    solved.add(Demonstration("Which photographs of dogs are there?", "print(a())", ("a",)))

    assert solved.like("Show pictures of puppies", ("a",), meaning=False) == []
    assert [past.program for past in solved.like("Show pictures of puppies", ("a",))] == ["print(a())"]
    assert solved.like("How much is a ticket?", ("a",)) == []


def test_choosing_by_meaning_leaves_the_log_alone() -> None:
    """In a process of its own, that has not loaded the table of words yet."""
    code = (
        "import logging; from atc.retrieval.embeddings import likeness; likeness('a', ['b']); "
        "print(logging.root.handlers, logging.root.level)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert (process.stdout.split(), process.stderr) == (["[]", str(logging.WARNING)], "")


@pytest.mark.parametrize("word", ["Delete", "Remove"])
def test_what_deletes_comes_early_only_where_something_is_to_go(word: str) -> None:
    candidates = Candidates(ProtocolGraph(open_dataset("tiny", None, ()).protocols["museum"]))

    assert best(candidates, f"{word} the artwork Dusk from my favourites", 1) == ("DELETE_me_favourites",)
    assert "DELETE_me_favourites" not in best(candidates, "Which artworks are among my favourites?", 3)


def test_what_writes_is_left_out_first_where_the_question_only_asks() -> None:
    written = {"summary": "Plants of the nursery"}
    plants = {f"/plants/{place}": {"post": written, "put": written} for place in "abc"}
    others = {f"/{name}": {"get": {"summary": f"{name} of the nursery"}} for name in ("trees", "herbs")}
    document = {"openapi": "3.1.0", "info": {"title": "Nursery", "version": "1"}, "paths": {**plants, **others}}
    candidates = Candidates(ProtocolGraph(load({**document, "servers": [{"url": "https://n.test"}]})))

    assert {"GET_trees", "GET_herbs"} <= set(best(candidates, "Which plants of the nursery are there?", 5))
    assert not {"GET_trees", "GET_herbs"} & set(best(candidates, "Move the plants of the nursery", 5))


def test_values_in_a_question_choose_no_tool() -> None:
    """Neither a title in quotes nor a number."""
    fillers = {name: f"The {name}s" for name in ("roof", "gate", "yard", "shop", "well", "lawn", "room7")}

    chosen = listed({**fillers, "writers": "Find somebody who wrote"}).choose(
        'Who wrote "Roof and lawn" in room7?', 1, closed=False
    )

    assert chosen == ("writers",)


def test_words_are_worth_more_where_they_are_rare() -> None:
    """BM25+, and nothing for a text without the word, for an unknown word, and where no text has any."""
    index = WordIndex([["pot", "clay", "pot"], ["lamp"], [], ["clay", "lamp", "soil", "soil", "bench"]])

    assert index.worth("pot")[0] > index.worth("clay")[0] > index.worth("clay")[3] > index.worth("clay")[1] == 0
    assert index.worth("nothing").tolist() == [0, 0, 0, 0]
    assert WordIndex([[], []]).worth("pot").tolist() == [0, 0]
