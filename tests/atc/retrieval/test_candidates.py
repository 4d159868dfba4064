"""Which tools the model gets to see for a question."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from atc.assist.language.question import Question
from atc.profile import SMALL, without
from atc.prompting.prompt import opening
from atc.retrieval.candidates import Candidates
from atc.retrieval.demonstrations import Demonstration, Demonstrations
from benchmarks.tasks.datasets import open_dataset
from protocols import load
from protocols.dataflow.enum_values import enum_values
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample


def test_a_small_protocol_is_shown_whole() -> None:
    graph = ProtocolGraph(load(sample("cinema")))

    assert Candidates(graph).choose(Question("Who is Ana Bell?"), 20) == tuple(
        tool.name for tool in graph.protocol.tools
    )


def test_words_of_the_question_choose_and_their_producers_come_along() -> None:
    """The studio's page wins on words; the film that names the studio, and the list of films, come with it."""
    graph = ProtocolGraph(load(sample("cinema")))

    candidates = Candidates(graph)
    question = Question("Where is the company that made the film?")
    chosen = candidates.choose(question, 1)

    assert chosen[0] == candidates.rank(question)[0] == "GET_studios_studioId"
    assert {"GET_films_filmId", "GET_films"} <= set(chosen)


def test_most_gold_tools_of_real_questions_are_among_the_candidates(data: Path) -> None:
    """Of 54 tools, the 20 best on words and their producers hold most tools that the development questions need."""
    graph = ProtocolGraph(load(data / "restbench" / "tmdb_oas.json"))
    tasks = json.loads((data / "toolflow" / "tmdb.candidates.dev.json").read_text())

    candidates = Candidates(graph)
    gold = [(name, candidates.choose(Question(task["query"]), 20)) for task in tasks for name in task["solution"]]
    recalled = sum(name in chosen for name, chosen in gold)

    assert recalled / len(gold) >= 0.8


def test_a_given_name_counts_as_well_as_the_path() -> None:
    """A tool file may call a tool by what it does, where the path says nothing."""
    tools = [
        {"name": name, "description": "", "url": f"https://api.test/v1/{path}", "method": "GET"}
        for name, path in (("weather_forecast", "q/a"), ("stock_price", "q/b"))
    ]
    api = load({"servers": [{"url": "https://api.test/v1"}], "endpoints": tools})

    assert Candidates(ProtocolGraph(api)).choose(Question("What is the stock price?"), 1) == ("stock_price",)


def test_a_field_may_have_a_word_of_the_question_cut_short() -> None:
    """Beside tools that are alike in all else."""
    tools = [
        {"name": name, "description": "About a dish", "url": f"https://api.test/v1/{name}", "method": "GET", **response}
        for name, field in (("one", "spices"), ("two", "carbs"), ("three", "steps"))
        for response in [{"responses": {"200": {"content": {"application/json": {"schema": _object(field)}}}}}]
    ]
    api = load({"servers": [{"url": "https://api.test/v1"}], "endpoints": tools})

    ranked = Candidates(ProtocolGraph(api), meaning=False).rank(Question("How much carbohydrate has a dish?"))
    assert ranked[0] == "two"


def _object(field: str) -> dict[str, object]:
    return {"type": "object", "properties": {field: {"type": "string"}}}


def test_a_small_api_is_written_down_the_same_for_every_question() -> None:
    """So that what was read of it need not be read again; what is about one question stands behind it."""
    graph = ProtocolGraph(load(sample("cinema")))
    candidates, enums = Candidates(graph), enum_values(graph.protocol)
    queries = ("Who directed Dune?", "Which films are on my watchlist?")

    stable = [opening(Question(query), candidates, enums, "2024-06-01").messages()[-1].content for query in queries]
    ranked = [
        opening(Question(query), candidates, enums, "2024-06-01", profile=without(SMALL, ["stable"]))
        .messages()[-1]
        .content
        for query in queries
    ]

    def shared(texts: list[str]) -> int:
        """How many characters they begin with alike."""
        return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False))))

    assert shared(stable) > 0.8 * min(map(len, stable))
    assert shared(ranked) < 0.2 * min(map(len, ranked))
    assert stable[0].index('"job" may be "Director"') > shared(stable)


def test_what_is_meant_counts_beside_words(tmp_path: Path) -> None:
    """Neither question shares a word with what it means."""
    described = {"a": "Pictures of an animal", "b": "What money is worth in another country", "c": "Bus departures"}
    tools = [
        {"name": name, "description": text, "url": f"https://api.test/{name}", "method": "GET"}
        for name, text in described.items()
    ]
    graph = ProtocolGraph(load({"servers": [{"url": "https://api.test"}], "endpoints": tools}))
    query = "Convert 20 dollars into Norwegian kroner"

    assert Candidates(graph, meaning=False).choose(Question(query), 1) == ("a",)
    assert Candidates(graph).choose(Question(query), 1) == ("b",)

    solved = Demonstrations(tmp_path, graph.protocol)
    solved.add(Demonstration("Which photographs of dogs are there?", "print(a())", ("a",)))
    assert solved.like(Question("Show pictures of puppies"), ("a",), meaning=False) == []
    assert [demonstration.program for demonstration in solved.like(Question("Show pictures of puppies"), ("a",))] == [
        "print(a())"
    ]
    assert solved.like(Question("How much is a ticket?"), ("a",)) == []


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

    assert candidates.rank(Question(f"{word} the artwork Dusk from my favourites"))[0] == "DELETE_me_favourites"
    assert candidates.rank(Question("Which artworks are among my favourites?"))[0] != "DELETE_me_favourites"


def test_a_word_counts_for_one_that_is_akin_to_it() -> None:
    """As a whole the question is as near to guests as to prices."""
    described = {"a": "Guests of a restaurant", "b": "Prices in a restaurant", "c": "Photos of a restaurant"}
    tools = [
        {"name": name, "description": text, "url": f"https://api.test/{name}", "method": "GET"}
        for name, text in described.items()
    ]
    candidates = Candidates(ProtocolGraph(load({"servers": [{"url": "https://api.test"}], "endpoints": tools})))

    assert candidates.choose(Question("Do they have fish, and is it cheap?"), 1) == ("b",)
