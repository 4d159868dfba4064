"""The measure of the choice of tools, on the tasks that come with the project."""

from __future__ import annotations

import json

from click.testing import CliRunner

from benchmarks.selection_bench import main


def test_recall_grows_with_what_is_chosen_and_producers_add_to_it() -> None:
    """All tools have all gold ones; a small choice has most of them once producers come with it, in fewer tokens."""
    chosen = json.loads(CliRunner().invoke(main, ["tiny", "--json"]).stdout)["chosen"]

    assert chosen["all"]["recall"] == chosen["all"]["closed"] == 100
    assert chosen["3"]["recall"] <= chosen["5"]["recall"] <= chosen["10"]["recall"]
    assert chosen["3"]["recall"] < chosen["3"]["closed"]
    assert chosen["5"]["tokens"] < chosen["all"]["tokens"]
    assert CliRunner().invoke(main, ["tiny"]).stdout.count("%") == 15
