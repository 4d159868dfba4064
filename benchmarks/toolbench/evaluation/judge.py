"""A judge: a model whose verdicts are stored as they come, so that no question is paid for twice.

`verdicts.jsonl` has a line for each verdict. It is found again by question, query, answers in the order shown, hashes
of the template and of the filled template, judge and repetition: nothing of another judge or text is ever used.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atc.files import append_line, read_lines
from atc.models import Message, Model
from atc.models.base import ModelRequest, answer
from benchmarks.toolbench.evaluation.questions import AGAIN, UNSURE, JudgeQuestion, render
from protocols.errors import ModelError, PromptRefused, UsageError

__all__ = ["VERDICTS", "Judge", "Verdict"]

VERDICTS = "verdicts.jsonl"

_REPLY_TOKENS, _AGAIN_TOKENS, _REASON = 300, 40, 500
"""Tokens of a reply and of its last line alone; characters of the reply that are stored."""

_KEY = ("question", "query_id", "answers", "prompt_sha256", "request", "judge", "repetition", "reading")
"""The fields of a line by which its verdict is found again."""

_Key = tuple[str, ...]


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
