"""The questions that a judge is asked: a template each, the words that it may answer with, and how it is read.

A reply counts only with exactly one line `Verdict: WORD`. Under `--compat` completeness is read as the published code
reads it: by the words that occur anywhere in the reply.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

from benchmarks.methods.observations import truncate
from benchmarks.toolbench.evaluation.judged import AnswerCall, JudgedAnswer

__all__ = [
    "AGAIN",
    "ANSWER_STATUS",
    "COMPLETENESS",
    "PREFERENCE",
    "SOLVABILITY",
    "STEPS_STATUS",
    "UNSURE",
    "JudgeQuestion",
    "answer_values",
    "pair_values",
    "prompts_hash",
    "render",
    "task_values",
]

UNSURE = "Unsure"
"""The verdict where the judge's reply cannot be read."""

AGAIN = "again"
"""The template that asks for the missing last line."""

_ANSWER, _RESPONSE, _CALLS, _TOOLS = 500, 120, 20, 40
"""Tokens of a final answer and of a response that the judge is shown; calls, the last ones; functions."""


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """A question: its template `prompts/NAME.txt`, and the words of its verdicts."""

    name: str
    words: tuple[str, ...]

    @property
    def form(self) -> str:
        """The line that the judge has to write."""
        return f"Verdict: {'|'.join(self.words)}"

    @property
    def sha256(self) -> str:
        """The hash of its template."""
        return hashlib.sha256(_template(self.name).encode()).hexdigest()

    def read(self, reply: str) -> str | None:
        """The verdict of a reply, None where it has none or contradicts itself."""
        by_lower = {word.lower(): word for word in self.words}
        verdicts = {match.lower() for match in _VERDICT.findall(reply)}
        return by_lower.get(verdicts.pop()) if len(verdicts) == 1 else None

    def read_published(self, reply: str) -> str | None:
        """The verdict as the published code reads completeness: never None there."""
        if self.name != COMPLETENESS.name:
            return self.read(reply)
        lower = reply.lower()
        return "Solved" if "solved" in lower and "unsolved" not in lower else "Unsolved"


_VERDICT = re.compile(r"^[\s*_`#>-]*verdict[*_`]*\s*:[\s*_`]*([a-z]+)[\s*_`.]*$", re.IGNORECASE | re.MULTILINE)

_STATUS = ("Solved", "Unsure", "Unsolved")
ANSWER_STATUS = JudgeQuestion("answer_status", _STATUS)
STEPS_STATUS = JudgeQuestion("steps_status", _STATUS)
SOLVABILITY = JudgeQuestion("solvability", ("Solvable", "Unsure", "Unsolvable"))
PREFERENCE = JudgeQuestion("preference", ("First", "Second", "Tie"))
COMPLETENESS = JudgeQuestion("completeness", ("Solved", "Unsolved"))


@cache
def _template(name: str) -> str:
    return files(__package__).joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()


def render(name: str, values: Mapping[str, str]) -> str:
    """Fill a template. Raises: KeyError: A place in it has no value."""
    return Template(_template(name)).substitute(values)


def prompts_hash(names: Sequence[str]) -> str:
    """The SHA-256 of some templates together; empty of none."""
    hashes = (hashlib.sha256(_template(name).encode()).hexdigest() for name in names)
    return hashlib.sha256("".join(hashes).encode()).hexdigest() if names else ""


def answer_values(answer: JudgedAnswer, raw: bool = False) -> dict[str, str]:
    """The places of the templates about one answer; `raw`: the arguments of Finish as they are, as published."""
    return {"query": answer.query, "answer": _answer_text(answer, raw), "steps": _steps_text(answer.calls)}


def task_values(answer: JudgedAnswer) -> dict[str, str]:
    """The places of the template about a task."""
    lines = answer.tool_lines()
    more = [f"… {len(lines) - _TOOLS} more"] if len(lines) > _TOOLS else []
    return {"query": answer.query, "tools": "\n".join([*lines[:_TOOLS], *more]) or "none"}


def pair_values(first: JudgedAnswer, second: JudgedAnswer, raw: bool = False) -> dict[str, str]:
    """The places of the templates about two answers, in the order in which the judge sees them."""
    return {
        "query": first.query,
        "first_steps": _steps_text(first.calls),
        "first_answer": _answer_text(first, raw),
        "second_steps": _steps_text(second.calls),
        "second_answer": _answer_text(second, raw),
    }


def _answer_text(answer: JudgedAnswer, raw: bool) -> str:
    return truncate(answer.final_answer if raw else answer.text, _ANSWER) or "none"


def _steps_text(calls: Sequence[AnswerCall]) -> str:
    """The last calls, a line each; what is too long is cut inside the response."""
    lines = [f"… {len(calls) - _CALLS} earlier calls"] if len(calls) > _CALLS else []
    for call in calls[-_CALLS:]:
        arguments = " ".join(truncate(call.arguments, _RESPONSE).split())
        response = json.dumps(truncate(call.response, _RESPONSE), ensure_ascii=False)
        lines.append(f"{call.name}({arguments}) -> {response}")
    return "\n".join(lines) or "none"
