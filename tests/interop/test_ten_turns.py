"""`atc chat` over ten turns, piped in as a user would, in two commands that share a journal."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from atc.apps.cli import main
from tests.chat_endpoint import completion
from tests.local_api import Answer, LocalAPI

FILMS = Path(__file__).parents[1] / "films.yaml"
PROGRAM = '```python\nfilm = GET_search_film(query="The Long Tide")["results"][0]\nprint(film["title"], "turn")\n```'


def test_ten_turns_in_two_commands(tmp_path: Path) -> None:
    """Each question gets one answer; the read is made once in all ten turns, and the journal has the chat."""
    journal = tmp_path / "chat.journal"
    with LocalAPI() as api:
        api.respond("POST", "/chat/completions", lambda _: Answer(200, completion(PROGRAM)))
        runner = CliRunner(env={"OPENAI_BASE_URL": api.url, "OPENAI_API_KEY": "k"})
        options = ["chat", "--model", "openai:scripted", "--journal", str(journal), "--json"]
        opened = [*options, "--api", str(FILMS), "--simulate"]
        questions = [f'What is the title of "The Long Tide", asked {number}?' for number in range(10)]
        first = runner.invoke(main, opened, input="\n".join(questions[:6]))
        second = runner.invoke(main, options, input="\n".join(questions[6:]))

    assert (first.exit_code, second.exit_code) == (0, 0), first.stderr + second.stderr
    solutions = [json.loads(line) for line in (first.stdout + second.stdout).splitlines()]
    assert [solution["query"] for solution in solutions] == questions
    assert {solution["answer"] for solution in solutions} == {"The Long Tide turn"}
    assert sum(not call["replayed"] for solution in solutions for call in solution["calls"]) == 1
