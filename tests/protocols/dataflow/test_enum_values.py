"""Which fixed words of an API a question speaks of."""

from __future__ import annotations

import json
from pathlib import Path

from atc.assist.language.question import Question
from protocols import load
from protocols.dataflow.enum_values import enum_values, mentioned_values
from protocols.samples import sample
from protocols.text.words import stem


def test_words_of_one_family_meet() -> None:
    assert stem("director") == stem("directed") == stem("directing") == stem("directors")
    assert stem("movies") == stem("movie")
    assert stem("actor") != stem("action")


def test_a_question_names_a_value_and_the_field_is_found() -> None:
    """Nobody said that a director is a job; the document's own examples do."""
    values = enum_values(load(sample("cinema")))

    assert mentioned_values(Question("Who directed The Silent Harbor?").stems, values).get("job") == "Director"
    assert mentioned_values(Question("Show me thrillers").stems, values).get("genre") == "thriller"
    assert "job" not in mentioned_values(Question("When was Ana Bell born?").stems, values)


def test_names_and_titles_are_no_vocabulary(data: Path) -> None:
    """Values that hardly repeat are free text, however often a document shows them."""
    values = enum_values(load(data / "restbench" / "tmdb_oas.json"))

    assert "Director" in values["job"]
    assert not {"name", "title", "overview", "character"} & set(values)
    tasks = json.loads((data / "restbench" / "tmdb.dev.json").read_text())
    directing = [task["query"] for task in tasks if "direct" in task["query"]]
    assert directing
    assert all(mentioned_values(Question(query).stems, values).get("job") == "Director" for query in directing)
