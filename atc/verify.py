"""Decide whether a run is an answer.

A program that ends well may still have answered nothing: it printed no word, no reply of the API stands behind what it
printed, it found an empty list where the question names something that exists, or it said the question's own words
again. The paper's loop takes all of these for success (its section A.4 names it as a limitation).
"""

from __future__ import annotations

import ast
import re

from atc.faults import Fault, Stage
from atc.programs import parsed
from protocols.words import words
from sandbox.identity import SAFE
from sandbox.records import Run

__all__ = ["done_silently", "doubt", "judge", "rests_on_nothing"]

_NOTHING = re.compile(
    r"^(\W*|none|null|n/?a|nan|nothing( \w+)*"
    r"|(sorry|unfortunately)\b.*"
    r"|(there (is|are|was|were) )?no (?-i:[a-z])[\w ]*"
    r"|.*\b(not (be )?(found|available)|couldn't find|unknown)"
    r"|.*[:=]\s*(none|null|\[\]|\{\}|''|\"\")?)\W*$",
    re.IGNORECASE,
)
"""A line that says that there is nothing: "[]", "No movies found.", "Director: None"; but not a title, "No Time"."""

_LONG = 500
"""Characters of a line that are looked at."""

_ASKS = frozenset(words("give how list name show tell what when where which who whose why"))
"""How a question begins that wants to be told something."""

_YES_OR_NO = frozenset(words("is are was were do does did has have had can could will would should"))
"""How a question begins whose answer may well be one of its own words."""


def judge(program: str, run: Run | None) -> Fault | None:
    """Why a run is no answer; None when it is one."""
    if run is None or not program:
        return Fault("write", "NoProgram", "the answer held no Python program; write one in a code block")
    if run.outcome == "ok":
        if run.stdout.strip():
            return None
        return Fault("answer", "NoOutput", _unprinted(program))
    error = run.error
    kind = error.type if error else "Limit"
    message = error.message if error else f"stopped at the limit of {run.limit}"
    stage: Stage = "policy" if run.outcome == "refused" else "run"
    return Fault(stage, kind, message, error.line if error else None, error.snippet if error else "")


def _unprinted(program: str) -> str:
    """Why a program printed nothing."""
    nodes = ast.walk(parsed(program) or ast.Module([], []))
    prints = [node.lineno for node in nodes if isinstance(node, ast.Name) and node.id == "print"]
    if not prints:
        return "the program ended without printing an answer; print() it"
    lines = f"line{'s' * (len(prints) > 1)} {', '.join(map(str, prints))}"
    return f"the print() on {lines} was never reached: what is looked for was not found; print an answer then, too"


def done_silently(run: Run, query: str) -> str | None:
    """What a program did that was asked to do something, did it, and said nothing; None for any other."""
    asks = query.rstrip().endswith("?") or bool(_ASKS.intersection(words(query)[:1]))
    if run.outcome != "ok" or run.stdout.strip() or asks or not _changed(run):
        return None
    done = [call.tool or f"{call.method} {call.url}" for call in run.calls if call.method not in SAFE]
    return f"Done: {', '.join(dict.fromkeys(done))}"


def rests_on_nothing(run: Run) -> bool:
    """Whether nothing that a program printed comes from the API, as far as that is known, and nothing was changed."""
    if run.provenance is None or run.provenance.printed:
        return not _answered(run)
    return not _changed(run)


def _answered(run: Run) -> bool:
    return any(call.status is not None and call.status < 300 for call in run.calls)


def _changed(run: Run) -> bool:
    """Whether the service took a write; who is asked to do something has then done it, whatever is printed."""
    return any(call.status is not None and call.status < 300 and call.method not in SAFE for call in run.calls)


def doubt(run: Run, query: str) -> Fault | None:
    """Why a printed answer to a question deserves a second look; None when it does not.

    The answer may be right nevertheless: who asks twice and gets the same has to take it.
    """
    if not _answered(run):
        return Fault(
            "answer", "NoEvidence", "the program printed an answer without any reply of the API; call the functions"
        )
    if rests_on_nothing(run):
        return Fault("answer", "NoEvidence", "what the program printed comes from no reply of the API; print the data")
    if _changed(run):
        return None
    lines = [line.strip() for line in run.stdout.strip().splitlines() if line.strip()]
    if all(_NOTHING.match(line[:_LONG]) for line in lines):
        shown = lines[0][:80]
        return Fault("answer", "NothingFound", f"the program printed {shown!r}, but what is asked for exists")
    said, asked = words(run.stdout), words(query)
    chooses = "or" in asked or bool(_YES_OR_NO.intersection(asked[:1]))
    if not chooses and set(said) <= set(asked) and any(word.isalpha() for word in said):
        shown = lines[0][:80]
        return Fault("answer", "NothingNew", f"the program printed {shown!r}, which the question says already")
    return None
