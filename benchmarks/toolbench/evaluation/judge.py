"""A judge: the questions that a model is asked, and its verdicts, stored as they come: no question is paid for twice.

A question has a template, and the words that it may be answered with. A reply counts only with exactly one line
`Verdict: WORD`. Under `--compat` completeness is read as the published code reads it: by the words that occur anywhere
in the reply.

`verdicts.jsonl` has a line for each verdict. It is found again by question, query, answers in the order shown, hashes
of the template and of the filled template, judge and repetition: nothing of another judge or text is ever used.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from atc.files import append_line, read_lines
from atc.models import Message, Model
from atc.models.base import ModelRequest, answer
from benchmarks.methods.observations import truncate
from benchmarks.toolbench.evaluation.judged import AnswerCall, JudgedAnswer
from protocols.errors import ModelError, PromptRefused, UsageError

__all__ = [
    "AGAIN",
    "ANSWER_STATUS",
    "COMPLETENESS",
    "PREFERENCE",
    "SOLVABILITY",
    "STEPS_STATUS",
    "Judge",
    "Verdict",
    "answer_values",
    "pair_values",
    "prompts_hash",
    "task_values",
]

UNSURE = "Unsure"
"""The verdict where the judge's reply cannot be read."""

AGAIN = "again"
"""The template that asks for the missing last line."""

_ANSWER, _RESPONSE, _CALLS, _TOOLS = 500, 120, 20, 40
"""Tokens of a final answer and of a response that the judge is shown; calls, the last ones; functions."""

_VERDICT = re.compile(r"^[\s*_`#>-]*verdict[*_`]*\s*:[\s*_`]*([a-z]+)[\s*_`.]*$", re.IGNORECASE | re.MULTILINE)
_STATUS = ("Solved", "Unsure", "Unsolved")
VERDICTS = "verdicts.jsonl"
_REPLY_TOKENS, _AGAIN_TOKENS, _REASON = 300, 40, 500
"""Tokens of a reply and of its last line alone; characters of the reply that are stored."""
_KEY = ("question", "query_id", "answers", "prompt_sha256", "request", "judge", "repetition", "reading")
"""The fields of a line by which its verdict is found again."""
_Key = tuple[str, ...]


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """One word of a judge, and its reply; `parsed` is false where no reply could be read, and the word is Unsure."""

    word: str
    reason: str
    parsed: bool = True


class Judge:
    """Asks a model, and stores its verdicts in a folder.

    The first repetition of a question takes the model's likeliest reply. Further ones are sampled, each with its own
    seed. Several threads may ask.

    Args:
        folder: Where `verdicts.jsonl` is read and written.
        published: Whether completeness is read as the published code reads it.
    Raises: UsageError: A line of the file is no verdict.
    """

    def __init__(self, model: Model, folder: Path, published: bool = False) -> None:
        self.name = model.name
        self.asked = 0
        self._model = model
        self._file = folder / VERDICTS
        self._published = published
        self._lock = threading.Lock()
        self._stopped = False
        self._verdicts = _read(self._file)

    def ask(
        self, question: JudgeQuestion, values: Mapping[str, str], query_id: str, answers: Sequence[str], repetition: int
    ) -> Verdict:
        """The verdict on one question; the model is asked only if it is not stored.

        Args:
            values: The places of the template.
            answers: The hashes of the answers, in the order in which the judge sees them.
        Raises: ModelError: The judge cannot be had; UsageError: The verdict cannot be stored.
        """
        way = "published" if self._published and question.read_published("") is not None else "strict"
        prompt = render(question.name, values)
        request = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        entry: dict[str, object] = {
            "question": question.name,
            "query_id": query_id,
            "answers": list(answers),
            "prompt_sha256": question.sha256,
            "request": request,
            "judge": self.name,
            "repetition": repetition,
            "reading": way,
        }
        key = _key(entry)
        with self._lock:
            stored = self._verdicts.get(key)
        if stored is not None:
            return stored
        if self._stopped:
            raise ModelError(f"the judgement by {self.name} was stopped; repeat the command to go on")
        verdict = self._decide(question, prompt, repetition or None)
        entry |= {"verdict": verdict.word, "parsed": verdict.parsed, "reason": verdict.reason}
        append_line(self._file, json.dumps(entry, ensure_ascii=False))
        with self._lock:
            self._verdicts[key] = verdict
            self.asked += 1
        return verdict

    def stop(self) -> None:
        """Ask nothing more: nobody waits for the verdicts."""
        self._stopped = True

    def _decide(self, question: JudgeQuestion, prompt: str, seed: int | None) -> Verdict:
        """Ask, and once more for the missing line. A judge that refuses the conversation has no verdict on it."""
        read = question.read_published if self._published else question.read
        conversation = [Message("user", prompt)]
        try:
            reply = answer(self._model, ModelRequest(conversation, (), _REPLY_TOKENS, seed)).text
            word = read(reply)
            if word is None:
                again = render(AGAIN, {"form": question.form})
                conversation += [Message("assistant", reply or "…"), Message("user", again)]
                word = read(answer(self._model, ModelRequest(conversation, (), _AGAIN_TOKENS, seed)).text)
        except PromptRefused as error:
            return Verdict(UNSURE, f"refused: {error}"[:_REASON], parsed=False)
        return Verdict(word or UNSURE, reply.strip()[:_REASON], parsed=word is not None)


def _read(file: Path) -> dict[_Key, Verdict]:
    """The verdicts in a file; of a key that is there twice the first counts."""
    verdicts: dict[_Key, Verdict] = {}
    for where, data in read_lines(file):
        try:
            verdicts.setdefault(_key(data), Verdict(data["verdict"], data["reason"], data["parsed"]))
        except (KeyError, TypeError):
            raise UsageError(f"{where}: this is no verdict; delete the line") from None
    return verdicts


def _key(entry: Mapping[str, object]) -> _Key:
    return tuple(json.dumps(entry[name]) for name in _KEY)
