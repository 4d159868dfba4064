"""The blocks of a page of the guide, and what a reader gets who runs them in order in one folder.

A `console` block has commands behind `$ `, each with what it writes to stdout; `# exit code 3` ends a command that is
to end so. A `python` block is a script, and the `text` block behind it is what it prints. `…` stands for any text, and
on a line of its own for any lines. A comment before a block is for the tests: `<!-- not run: WHY -->`, or
`<!-- local model -->` for one that the page shows with the local model.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from atc.models import Message
from atc.models.base import Model, ModelRequest, answer
from atc.models.openai_compatible import Endpoint
from atc.models.replay import CachingModel, ReplayModel
from protocols.errors import ModelError
from tests.chat_endpoint import completion
from tests.json_server import JSONHandler, listening

__all__ = ["Block", "blocks", "differences", "recorded_endpoint"]

ROOT = Path(__file__).resolve().parent.parent.parent
ANSWERS = ROOT / "docs" / "examples" / "answers.jsonl"
"""What a strong model answered on 2026-11-28; a prompt that is not in it is asked, and added, where `ATC_ASK` is set:
`OPENAI_BASE_URL=… ATC_ASK=frontier pytest tests/front_door/test_pages.py`."""
_FENCE = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```\n(?:\n?```text\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
_CHANGING = ((re.compile(r"Today is (?!2024)\d{4}-\d\d-\d\d"), "Today is 2026-04-02"), (re.compile(r":\d{5}/"), "/"))
"""Parts of a prompt that differ from run to run: the date (other than that of a simulated API), and a server's port."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page; `output` is what the page shows for a script, `note` the comment before it."""

    page: Path
    line: int
    kind: str
    text: str
    output: str
    note: str

    @property
    def why_not_run(self) -> str:
        """The reason why it is not run; empty for one that is."""
        return self.note.removeprefix("not run: ") if self.note.startswith("not run: ") else ""

    @property
    def is_local(self) -> bool:
        """Whether the page shows the local model."""
        return self.note == "local model"


def blocks(page: Path) -> tuple[Block, ...]:
    """The blocks of a page in order."""
    text = page.read_text("utf-8")
    return tuple(
        Block(
            page,
            text.count("\n", 0, match.start()) + 1,
            match["kind"],
            match["text"],
            match["output"] or "",
            match["note"] or "",
        )
        for match in _FENCE.finditer(text)
    )


def differences(block: Block, folder: Path, env: Mapping[str, str]) -> Iterator[str]:
    """Run a block in a folder; each command or script that does not do what the page shows, with what it did."""
    if block.kind == "python":
        yield from _difference(block, ["python", "-c", block.text], block.output, 0, folder, env)
        return
    exports = ""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = re.sub(r"\\\n\s*", "", part).partition("\n")
        code = re.search(r"# exit code (\d+)$", command)
        yield from _difference(
            block, ["bash", "-c", f"{exports}{command}"], output, int(code[1]) if code else 0, folder, env
        )
        if command.startswith("export "):
            exports += f"{command}\n"


def _difference(
    block: Block, command: list[str], output: str, code: int, folder: Path, env: Mapping[str, str]
) -> Iterator[str]:
    process = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    lines = (".*" if line == "…" else re.escape(line.rstrip()).replace("…", "[^\n]*") for line in output.splitlines())
    printed = "\n".join(line.rstrip() for line in process.stdout.rstrip().splitlines())
    if process.returncode != code or not re.fullmatch("\n".join(lines).rstrip(), printed, re.DOTALL):
        label = f"{block.page.name}:{block.line}: {command[-1]}"
        yield f"{label}\nexit code {process.returncode}\n{process.stdout}\n{process.stderr}"


@contextmanager
def recorded_endpoint(pause: float = 0.0) -> Iterator[str]:
    """An endpoint on this machine that answers with the recorded strong model after a pause in seconds; its URL."""
    name = os.environ.get("ATC_ASK", "")
    model: Model = CachingModel(Endpoint(name), ANSWERS) if name else ReplayModel(ANSWERS)

    class Handler(JSONHandler):
        def do_POST(self) -> None:
            request = self.read_json()
            messages = [Message(message["role"], _steady(message["content"])) for message in request["messages"]]
            time.sleep(pause)
            try:
                reply = answer(model, ModelRequest(messages, request.get("stop", ()), request["max_tokens"]))
                tokens = {
                    "prompt_tokens": reply.usage.prompt_tokens,
                    "completion_tokens": reply.usage.completion_tokens,
                }
                status, value = 200, completion(reply.text) | {"usage": tokens | {"total_tokens": sum(tokens.values())}}
            except ModelError as error:  # a prompt that nobody has answered
                status, value = 400, {"error": {"message": str(error)}}
            self.reply(value, status)

    with listening(Handler) as url:
        yield f"{url}/v1"


def _steady(text: str) -> str:
    for pattern, replacement in _CHANGING:
        text = pattern.sub(replacement, text)
    return text
