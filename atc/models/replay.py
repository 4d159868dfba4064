"""Recorded answers, played back without the model and with the same bytes.

An answer is found by the hash of its request: messages, stop sequences, token limit, and functions where there are any.
The model's name is not part of it, so that a record of one model can be played for another. A request that was recorded
more than once gets its answers in the recorded order, and from then on the last one. Times are not recorded. A request
whose answer is to be shorter, for a limit of the question, is found as it is, else without that limit. A file with
`.gz` at the end of its name is compressed. Messages may be missing: the hash of a request finds its answer.
"""

from __future__ import annotations

import gzip
import json
import os
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from atc.files import append_line, open_to_append
from atc.models.base import (
    Completion,
    Model,
    ModelBase,
    ModelRequest,
    Usage,
    answer,
    read_calls,
    request_hash,
)
from protocols.bounded_files import refuse_pipe
from protocols.errors import ModelError, UsageError

__all__ = ["CachingModel", "Recorder", "ReplayModel", "recorded_model"]

_LONGEST = 16 * 1024 * 1024
"""Bytes of a line: an answer, with a request of up to four million tokens."""

_MOST_KEPT = 256 * 1024 * 1024
"""Characters of the answers of a record, which are kept: the largest record of benchmarks/data has 562,391."""

_MOST_LINES = 1_000_000
_MOST_UNPACKED = 4 * 1024 * 1024 * 1024
"""Lines of a record, and bytes of a packed one: a file of 4 MB may unpack to these."""

_OVERHEAD = 1000
"""Bytes that an answer takes in memory beside its text."""


class ReplayModel(ModelBase):
    """Answers from a recorder's file; any other request is a ModelError.

    Args:
        file: A recorder's file.
        model_name: Use only the answers of this model; without it, use all.
    Raises: ModelError: there is no such file. UsageError: a line in it is no recorded answer.
    """

    def __init__(self, file: Path, model_name: str | None = None) -> None:
        self.name = f"replay:{file}"
        self._file = file
        self._answers = _read(file, model_name)
        self._play_counts: dict[str, int] = defaultdict(int)
        self._lock = threading.Lock()

    @property
    def context(self) -> int | None:
        """The context window of the recorded model."""
        context = _first_entry(self._file).get("context")
        return context if type(context) is int and context > 0 else None

    @property
    def calls_functions(self) -> bool:
        """Whether the recorded model calls functions."""
        return bool(_first_entry(self._file).get("calls_functions"))

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`; usage has the recorded tokens and the seconds of the replay."""
        started = time.monotonic()
        key = _key(request)
        answers = self._answers.get(key)
        if answers is None and request.unlimited is not None:
            key = _key(replace(request, max_tokens=request.unlimited))
            answers = self._answers.get(key)
        if answers is None:
            raise ModelError(
                f"{self._file} has no answer to the request {key}; a real model with --record {self._file} adds it"
            )
        with self._lock:
            answer = answers[min(self._play_counts[key], len(answers) - 1)]
            self._play_counts[key] += 1
        return replace(answer, usage=replace(answer.usage, seconds=time.monotonic() - started))

    def count_answers(self, request: ModelRequest) -> tuple[int, int]:
        """The number of recorded answers to a request, and of those not yet played."""
        key = _key(request)
        recorded = len(self._answers.get(key, ()))
        with self._lock:
            return recorded, max(recorded - self._play_counts[key], 0)

    def close(self) -> None:
        """Nothing to close."""


class CachingModel(ModelBase):
    """A model whose answers are recorded, and taken from the record where it has them.

    A sampled answer is played once, and then sampled anew; the likeliest one stays the same. Usage has the tokens of
    the recorded completion.

    Raises: UsageError: A line of the file is no recorded answer, or the file cannot be written.
    """

    def __init__(self, model: Model, file: Path) -> None:
        self.name = model.name
        self._model = Recorder(model, file)
        self._recorded = ReplayModel(file, model.name)

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`."""
        recorded, unplayed = self._recorded.count_answers(request)
        available = recorded if request.seed is None else unplayed
        return (self._recorded if available else self._model).answer(request)

    def close(self) -> None:
        """Close the model."""
        self._model.close()


def recorded_model(file: Path) -> str:
    """The name of the model whose answers a file holds first; empty where it holds none."""
    return str(_first_entry(file).get("model", ""))


def _key(request: ModelRequest) -> str:
    return request_hash(request.messages, request.stop, request.max_tokens, request.functions, request.layout)


def _first_entry(file: Path) -> dict[str, Any]:
    try:
        entry = json.loads(next(_lines(file), ""))
    except (ModelError, UsageError, ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _lines(file: Path) -> Iterator[str]:
    """The lines of a record, one in memory at a time. Raises: UsageError, ModelError: It cannot be read."""
    is_packed, lines, size = file.suffix == ".gz", 0, 0
    try:
        refuse_pipe(file)
        with gzip.open(file) if is_packed else file.open("rb") as stream:
            while line := stream.readline(_LONGEST + 1):
                lines, size = lines + 1, size + len(line)
                if len(line) > _LONGEST:
                    raise UsageError(f"{file} has a line of more than {_LONGEST:,} bytes, and no recorded answer has")
                if lines > _MOST_LINES or (is_packed and size > _MOST_UNPACKED):
                    raise _too_large(file)
                yield line.decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ModelError(f"cannot read recorded answers from {file}: {error}") from error


def _too_large(file: Path) -> UsageError:
    return UsageError(f"{file} holds more than is read of a record; split it, and replay each part for its questions")


def _read(file: Path, model_name: str | None) -> dict[str, list[Completion]]:
    """The answers by the hash of their request, in a bounded memory. Raises: UsageError, ModelError."""
    size = 0
    answers: dict[str, list[Completion]] = defaultdict(list)
    for number, line in enumerate(_lines(file), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            usage = Usage(**entry["usage"], model_calls=1)
            if not all(isinstance(entry[key], str) for key in ("text", "finish", "model")):
                raise TypeError
            if not all(type(tokens) is int and tokens >= 0 for tokens in entry["usage"].values()):
                raise ValueError
            completion = Completion(entry["text"], usage, entry["finish"], read_calls(entry.get("calls", ())))
            if model_name is None or entry["model"] == model_name:
                answers[entry["hash"]].append(completion)
                size += len(repr((entry["hash"], completion))) + _OVERHEAD
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UsageError(f"{file}, line {number}: not a recorded answer") from error
        if size > _MOST_KEPT:
            raise _too_large(file)
    return dict(answers)


class Recorder(ModelBase):
    """A model whose answers are also appended to a file, one JSON line each."""

    def __init__(self, model: Model, file: Path) -> None:
        self.name = model.name
        self._model = model
        self._file = file
        try:
            os.close(open_to_append(file))
        except OSError as error:
            raise UsageError(f"cannot record answers in {file}: {error}") from error

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`. Raises: UsageError: The answer could not be written to the file."""
        completion = answer(self._model, request)
        entry: dict[str, object] = {
            "hash": _key(request),
            "model": self.name,
            "context": self.context,
            "messages": [message.to_json() for message in request.messages],
            "stop": list(request.stop),
            "max_tokens": request.max_tokens,
            "text": completion.text,
            "finish": completion.finish,
            "usage": {
                "prompt_tokens": completion.usage.prompt_tokens,
                "completion_tokens": completion.usage.completion_tokens,
                "cached_tokens": completion.usage.cached_tokens,
            },
        }
        if self.calls_functions:
            entry["calls_functions"] = True
        if request.functions:
            entry["functions"] = [asdict(function) for function in request.functions]
        if request.layout != "chat":
            entry["layout"] = request.layout
        if completion.calls:
            entry["calls"] = [asdict(call) for call in completion.calls]
        append_line(self._file, json.dumps(entry))
        return completion

    def close(self) -> None:
        """Close the recorded model."""
        self._model.close()
