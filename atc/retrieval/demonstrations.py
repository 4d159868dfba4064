"""Solved questions with their programs; those most like a new question are shown with it.

They lie in the store beside the contracts, a file of JSON lines for each API, and go nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path

from atc.files import read_lines, write_text
from atc.retrieval.embeddings import likeness
from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.private_files import folder_locked, make_private_folder
from protocols.text.words import stem, words

__all__ = ["Demonstration", "Demonstrations"]

_MIN_SIMILARITY = 0.3
"""Least similarity of two questions, from 0 to 1, of which one is a demonstration for the other."""
_MOST = 1000
"""Demonstrations of an API that are kept, the newest; comparing a question with them by their words takes 20 ms."""
_MOST_BYTES = 4 * 1024 * 1024
"""Bytes of them, four times what 1,000 programs of the benchmarks have."""
_MOST_READ = 16 * 1024 * 1024
_NAMES = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|(?<=\w )[A-Z]\S*|\S*\d\S*")
"""What is quoted, has a digit, or begins with a capital within a text."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A question, the program that answered it, and the tools that the program called."""

    query: str
    program: str
    tools: tuple[str, ...]


class Demonstrations:
    """The demonstrations of one API, in a folder that is made with the first one."""

    def __init__(self, folder: Path, protocol: Protocol) -> None:
        self.file = folder / f"{protocol.digest[:16] or 'unnamed'}.solved.jsonl"

    def all(self) -> list[Demonstration]:
        """Every demonstration, the oldest first. Raises: UsageError: The file is unreadable or invalid."""
        if self.file.exists() and self.file.stat().st_size > _MOST_READ:
            raise UsageError(f"{self.file} has more than {_MOST_READ:,} bytes, and atc writes none so large; delete it")
        demonstrations = []
        for place, data in read_lines(self.file):
            try:
                demonstrations.append(Demonstration(str(data["query"]), str(data["program"]), tuple(data["tools"])))
            except (KeyError, TypeError):
                raise UsageError(f"{place}: this is no question with its program; delete the line") from None
        return demonstrations

    def add(self, solved: Demonstration) -> int:
        """Store a demonstration unless it is stored already, and no more than the newest ones.

        Returns: The number of those that were too many. Raises: UsageError: It cannot be written.
        """
        try:
            make_private_folder(self.file.parent)
            with folder_locked(self.file.parent):
                stored = self.all()
                if solved in stored:
                    return 0
                lines = [f"{json.dumps(asdict(demonstration))}\n" for demonstration in [*stored, solved]]
                sizes = accumulate(len(line) for line in reversed(lines))
                count = min(_MOST, max(1, sum(size <= _MOST_BYTES for size in sizes)))
                write_text(self.file, "".join(lines[-count:]), private=True)
                return len(lines) - count
        except OSError as error:
            raise UsageError(f"{self.file} cannot be written: {error.strerror or error}") from error

    def like(self, query: str, tools: Collection[str], *, meaning: bool = True) -> Sequence[Demonstration]:
        """The two demonstrations most like a question, the best first, that call only these tools.

        Similarity is that of the shared words and, with `meaning`, of the meaning in equal parts; names do not count.
        """
        goal = _NAMES.sub(" ", query)
        possible = [solved for solved in self.all() if solved.tools and set(solved.tools) <= set(tools)]
        goals = [_NAMES.sub(" ", solved.query) for solved in possible]
        scores = [_overlap(goal, past_goal) for past_goal in goals]
        if meaning:
            similarities = likeness(goal, goals)
            scores = [(words + meaning) / 2 for words, meaning in zip(scores, similarities, strict=True)]
        best = sorted(zip(scores, possible, strict=True), key=lambda rated: -rated[0])
        return [solved for score, solved in best if score >= _MIN_SIMILARITY][:2]


def _overlap(goal: str, past_goal: str) -> float:
    """The share of word stems that two questions have in common."""
    first, second = (set(map(stem, words(text))) for text in (goal, past_goal))
    return len(first & second) / max(len(first | second), 1)
