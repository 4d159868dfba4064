"""Programs that answered are kept in the store, and shown with a question like theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from atc.retrieval.demonstrations import Demonstration, Demonstrations
from protocols import load
from protocols.errors import UsageError
from protocols.samples import sample
from tests.scripted import ScriptedModel

PROGRAM = 'film = GET_films(query="Dusk")["films"][0]\nprint(film["title"], film["rating"])'
FAILED = 'print(GET_films(query="Dusk")["films"][0]["title"]["en"])'


def test_a_question_like_one_before_is_shown_how_that_was_answered(tmp_path: Path) -> None:
    """Names aside; another question is not, and neither is one in a store of its own."""
    protocol = load(sample("cinema"))
    with Agent(protocol, ScriptedModel(PROGRAM), simulate=True, store=tmp_path / "store") as agent:
        assert agent.opening("What is the rating of Dusk?").solved == ()
        assert agent.solve("What is the rating of Dusk?").warnings == ()
        (demonstration,) = agent.opening("What is the rating of Harbor Lights?").solved
        prompt = agent.opening("What is the rating of Harbor Lights?").messages()[-1].content
        assert agent.opening("Who is the oldest person?").solved == ()

    assert demonstration == Demonstration("What is the rating of Dusk?", PROGRAM, ("GET_films",))
    assert f"Question: What is the rating of Dusk?\n```python\n{PROGRAM}\n```" in prompt
    assert prompt.endswith("Question: What is the rating of Harbor Lights?")
    with Agent(protocol, ScriptedModel(), store=tmp_path / "other") as agent:
        assert agent.opening("What is the rating of Harbor Lights?").solved == ()
    assert [file.name for file in (tmp_path / "store").iterdir()] == ["simulated"]
    with Agent(protocol, ScriptedModel(), store=tmp_path / "store") as agent:  # asks the real service
        assert agent.opening("What is the rating of Harbor Lights?").solved == ()
    where = ["--api", str(sample("cinema")), "--store", str(tmp_path / "store" / "simulated")]
    result = CliRunner().invoke(main, ["explain", "What is the rating of Mars?", *where, "--json"])
    assert json.loads(result.output)["demonstrations"][0]["program"] == PROGRAM


def test_only_what_answered_is_kept(tmp_path: Path) -> None:
    protocol = load(sample("cinema"))
    with Agent(protocol, ScriptedModel(FAILED, FAILED), simulate=True, store=tmp_path) as agent:
        assert agent.solve("What is the rating of Dusk?").answer is None
        assert agent.opening("What is the rating of Dusk?").solved == ()


def test_tools_that_are_not_offered_are_not_shown(tmp_path: Path) -> None:
    store = Demonstrations(tmp_path, load(sample("cinema")))
    demonstration = Demonstration("Who made it?", "print(GET_films())", ("GET_films",))
    store.add(demonstration)
    store.add(demonstration)

    assert store.all() == [demonstration]
    assert store.like("Who made it?", ["GET_people"]) == []
    assert store.like("Who made it?", ["GET_people", "GET_films"]) == [demonstration]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    store = Demonstrations(tmp_path, load(sample("cinema")))
    store.file.write_text('{"query": "Who?"}\n{"query": "cut off')
    with pytest.raises(UsageError, match="line 1: this is no question with its program"):
        store.all()


def test_a_line_that_a_stop_cut_off_is_replaced(tmp_path: Path) -> None:
    store = Demonstrations(tmp_path, load(sample("cinema")))
    demonstration = Demonstration("Who made it?", "print(GET_films())", ("GET_films",))
    store.file.write_text('{"query": "cut off')
    store.add(demonstration)

    assert store.all() == [demonstration]
