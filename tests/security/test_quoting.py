"""What a document, a service or a program says is one line of visible characters, wherever it is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from protocols import load
from protocols.quoting import json_text, one_line, visible, words_of_service
from tests.protocols.wire.service import Arrived, Service
from tests.scripted import ScriptedModel
from tests.security.poisoned import POISON, acts, poisoned_document, poisoned_reply

READ = "note = GET_notes(kind='a')\n"
PROGRAMS = {
    "a message that is raised again": READ + "raise ValueError(note['note'])",
    "a key that is missing": READ + "print(note['nothing'])",
    "a key inside a list": READ + "print([item['nothing'] for item in note['items']])",
    "a list taken for an object": READ + "print(note['items']['name'])",
    "an object taken for a list": READ + "print(note[0])",
    "a loop over keys": READ + "for item in note:\n    print(item['name'])",
    "a value that is no number": READ + "print(int(note['note']))",
    "an exception of its own name": READ + "raise type(note['note'], (Exception,), {})(note['note'])",
    "an error of the service": "GET_notes_note_id('bad')",
    "an answer that is printed": READ + "print(note)\nprint(note['note'])",
    "a tool that is not there": "print(GET_nothing(kind=1))",
    "an argument that is not there": "print(GET_notes(kind='b', color=2))",
}
MODES = ["attribute", "naive", "none", "react", "codeact", "dfsdt", "restgpt", "conagents"]


def reply(request: Arrived) -> tuple[int, dict[str, str], object]:
    """A poisoned reply, or a poisoned error."""
    if request.path.endswith("bad"):
        return 400, {}, {"message": POISON, "errors": [{"loc": [POISON], "msg": POISON}]}
    return 200, {}, poisoned_reply()


def prompts(mode: str, profile: str, *answers: str) -> list[str]:
    """All that a model is told while it writes these answers."""
    model = ScriptedModel(*answers)
    with Service() as service:
        service.handle = reply
        with Agent(load(poisoned_document(service.url)), model, mode, profile=profile, writes="deny") as agent:
            agent.solve("Which notes of kind evil are there?")
            return [message.content for turn in model.asked for message in turn if message.role != "assistant"]


@pytest.mark.parametrize("profile", ["tiny", "small", "large"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_prompt_of_a_revision_has_it_raw(program: str, profile: str) -> None:
    """First prompt, error, facts about replies, documentation of the tool to blame."""
    texts = prompts("attribute", profile, *[f"```python\n{PROGRAMS[program]}\n```"] * 4)

    assert [part for text in texts if (part := acts(text))] == []


@pytest.mark.parametrize("profile", ["small", "large"])
@pytest.mark.parametrize("mode", MODES)
def test_no_prompt_of_a_mode_has_it_raw(mode: str, profile: str) -> None:
    """Observations of single calls, of snippets and of roles."""
    calls = ["GET_notes(kind='a')", "GET_notes_note_id('bad')", "GET_nothing()"]
    roles = ["Next: read the notes", "Function: GET_notes\nTask: read the notes"]
    snippets = [f"```python\n{program}\n```" for name, program in PROGRAMS.items() if "printed" not in name]
    answers = snippets if mode in ("codeact", "attribute", "naive", "none") else []
    answers += [text for call in calls for text in (*roles, f"Thought: try\nAction: {call}")]

    assert [part for text in prompts(mode, profile, *answers) if (part := acts(text))] == []


@pytest.mark.parametrize("text", ["plain", "ü 中 😀", 'a "quoted" text', "`name`", "a\tb"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    """What holds no line end, no fence and nothing that acts is shown byte for byte."""
    assert visible(text) == text
    assert one_line(text) == text.replace("\t", " ")


def test_what_is_quoted_is_one_line_and_cut() -> None:
    """With its length, and a mark whose words these are."""
    assert acts(one_line(POISON)) == acts(json_text(POISON)) == acts(words_of_service(POISON)) == ""
    assert len(one_line(POISON * 1000, 80)) == 80
    assert words_of_service('say "no"\nnow') == "the service said \"say 'no' now\""


COMMANDS: list[tuple[str, ...]] = [
    ("explain", "Which notes of kind evil are there?"),
    ("explain", "--profile", "large", "--json", "Which notes?"),
    ("contract", "show"),
    ("contract", "show", "GET_notes"),
    ("check",),
    ("check", "--json"),
    ("init",),
    ("run",),
    ("run", "--json"),
    ("solve", "--verbose", "--writes", "deny", "Which notes?"),
    ("solve", "--json", "--writes", "deny", "Which notes?"),
]


@pytest.mark.parametrize(
    "program", ["a message that is raised again", "a key that is missing", "an error of the service"]
)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_prints_it_raw(
    command: tuple[str, ...], program: str, tmp_path: Path, endpoint: Callable[..., None]
) -> None:
    """Neither on stdout nor on stderr, as text or as JSON, nor does a command fail of it."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAMS[program])
    endpoint(f"```python\n{PROGRAMS[program]}\n```")
    with Service() as service, chdir(tmp_path):
        service.handle = reply
        document = tmp_path / "api.json"
        document.write_text(json.dumps(poisoned_document(service.url)))
        options = {"check": ["--api", "api.json", "program.py"], "run": ["--api", "api.json", "program.py"]}
        options |= {"init": ["api.json"], "solve": ["--api", "api.json", "--model", "openai:scripted"]}
        outcome = CliRunner().invoke(main, [*command, *options.get(command[0], ["--api", "api.json"])])
    written = (tmp_path / "atc.toml").read_text() if command[0] == "init" else ""

    assert outcome.exception is None or isinstance(outcome.exception, SystemExit)
    assert acts(outcome.stdout + outcome.stderr + written) == ""
