"""The measure of the choice of tools, on the tasks that come with the project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.micro.selection import main, own_questions


def test_recall_grows_with_what_is_chosen_and_producers_add_to_it() -> None:
    """All tools have all gold ones; a small choice has most of them once producers come with it, in fewer tokens."""
    chosen = json.loads(CliRunner().invoke(main, ["tiny", "--json"]).stdout)["chosen"]

    assert chosen["all"]["recall"] == chosen["all"]["closed"] == 100
    assert chosen["3"]["recall"] <= chosen["5"]["recall"] <= chosen["10"]["recall"]
    assert chosen["3"]["recall"] < chosen["3"]["closed"]
    assert chosen["5"]["tokens"] < chosen["all"]["tokens"]
    assert CliRunner().invoke(main, ["tiny"]).stdout.count("%") == 20


@pytest.mark.parametrize(("name", "count"), [("questions", 256), ("unseen", 90)])
def test_our_own_questions_need_tools_that_there_are(
    name: str, count: int, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATC_DATA", str(data))
    protocols, tasks = own_questions(name)
    names = {domain: {tool.name for tool in protocol.tools} for domain, protocol in protocols.items()}

    assert len(tasks) == count
    assert [task.id for task in tasks if not task.gold.calls or not set(task.gold.calls) <= names[task.domain]] == []
