"""The templates of pages: text is escaped, a page loads nothing and runs no script.

A policy in the head of each page forbids both. Questions, programs, answers and replies are other people's text: every
string passes the escaping, and signs take the place of characters that act.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pydantic import TypeAdapter

from atc.apps.tui.nodes import end_text, step_signature, stretches, trials
from atc.costs import dollars
from atc.program.source import line_diff
from atc.search_tree import SearchNode
from atc.solution import Solution
from protocols.json_path import readable_path
from protocols.quoting import shorten, visible

__all__ = ["BASE_STYLE", "page_environment", "trace_page"]

FORK_LEVELS = 12
"""Most levels of forks of a search that are indented."""

MAX_CHARACTERS = 1200
"""Characters that are shown of arguments, responses and output, unless a page shows them whole."""

WHOLE_CHARACTERS = 20_000
"""The same on the page of one solution, which has room for them."""

_HERE = Path(__file__).parent

BASE_STYLE = (_HERE / "page.css").read_text("utf-8")
"""What stands in the style element of each page, between two line ends."""


def page_environment(*folders: Path, max_characters: int = MAX_CHARACTERS) -> Environment:
    """The environment of templates in `folders` and of the shared ones: `solution.html` and the styles `page.css`."""

    def short(text: object) -> str:
        """A text from outside, shortened."""
        whole = str(text)
        if len(whole) <= max_characters:
            return whole
        return f"{shorten(whole, max_characters)} ({len(whole):,} characters)"

    environment = Environment(
        loader=FileSystemLoader([*folders, _HERE]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Signs take the place of characters that act (direction marks, control characters), before a text is escaped.
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    environment.filters |= {
        "short": short,
        "json": lambda value: short(json.dumps(value, ensure_ascii=False, default=str)),
        "pretty": lambda value: short(json.dumps(value, ensure_ascii=False, default=str, indent=2)),
        "readable": readable_path,
        "dollars": dollars,
        "ending": end_text,
        "signature": step_signature,
    }
    environment.globals |= {
        "base_style": Markup(BASE_STYLE),
        "program_lines": _program_lines,
        "line_diff": line_diff,
        "tree": lambda solution: trials(TypeAdapter(list[SearchNode]).validate_python(solution.get("tree", ()))),
        "stretches": lambda nodes: stretches(nodes, FORK_LEVELS),
    }
    return environment


def trace_page(solution: Solution) -> str:
    """The page of one solution as text: one file that loads nothing and runs no script."""
    template = page_environment(max_characters=WHOLE_CHARACTERS).get_template("trace.html")
    calls = sum(len(attempt.calls) for attempt in solution.attempts)
    return template.render(solution=solution.to_json(), calls=calls)


def _program_lines(attempt: Mapping[str, Any]) -> list[dict[str, object]]:
    """The lines of an attempt's program: the text, the indices of its calls, and whether the program failed there."""
    failed = (attempt.get("fault") or {}).get("line")
    calls: dict[object, list[int]] = {}  # of a stranger's file there may be as many as lines
    for index, call in enumerate(attempt["calls"]):
        calls.setdefault(call.get("line"), []).append(index)
    return [
        {"text": text, "calls": calls.get(number, []), "failed": number == failed}
        for number, text in enumerate(str(attempt["program"]).rstrip("\n").split("\n"), 1)
    ]
