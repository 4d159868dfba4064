"""`atc train data --from-task`: several goals of a tool with their actions in one conversation."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from benchmarks.manipulation.generator import alignment_data
from tests.benchmarks.manipulation.tiny_environment import TinyEnvironment


def test_a_conversation_is_a_prompt_of_the_action_generator_with_its_answer() -> None:
    """Functions, three examples whose actions are marked, the goal; the answer begins with `Action:`."""
    with closing(TinyEnvironment()) as environment:
        conversations = alignment_data(environment, 10, 4, 0)

    question, answer = conversations[0]["messages"]
    marked = [question["content"][first:end] for first, end in question["learn"]]
    assert len(marked) == 3
    assert all(action.startswith("POST_place(") and action.endswith("POST_search()") for action in marked)
    assert question["content"].count("Action:\n") == 3
    assert answer["content"].startswith("Action:\nPOST_place(")
    assert [len(conversation["names"]) for conversation in conversations] == [4, 4, 2]


def test_the_command_writes_the_same_file_again(tmp_path: Path) -> None:
    """One seed, one file; `--json` has the number of conversations, and another seed another order."""
    texts = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        arguments = ["--from-task", "home", "--count", "12", "--seed", seed, "--out", str(tmp_path / name), "--json"]
        done = CliRunner().invoke(main, ["train", "data", *arguments])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["written"] == 3
        texts.append((tmp_path / name).read_text())

    assert texts[0] == texts[1] != texts[2]
    assert all(json.loads(line)["task"] == "home" for line in texts[0].splitlines())


def test_samples_do_not_replace_something_else(tmp_path: Path) -> None:
    """A file with other lines stays as it is."""
    out = tmp_path / "notes.jsonl"
    out.write_text('{"question": "Which films?"}\n')
    refused = CliRunner().invoke(main, ["train", "data", "--from-task", "home", "--count", "4", "--out", str(out)])

    assert refused.exit_code == 2
    assert "line 1: this is no sample of `atc train data --from-task`" in " ".join(refused.stderr.split())
    assert out.read_text() == '{"question": "Which films?"}\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option '--from-task'"),
        (["--from-task", "other"], "there is no task 'other'"),
        (["--from-task", "home", "--count", "1801"], "home has 1800 samples: ask for no more of them"),
    ],
)
def test_bad_input_is_named(arguments: list[str], message: str, tmp_path: Path) -> None:
    """What is missing or unknown is said."""
    done = CliRunner().invoke(main, ["train", "data", *arguments, "--out", str(tmp_path / "out.jsonl")])

    assert done.exit_code != 0
    assert message in done.output
