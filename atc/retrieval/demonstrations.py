"""Questions that were answered before, with their programs: the ones most like a new question are shown with it.

They lie in the store beside the contracts, a file of JSON lines for each API, and go nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from atc.files import read_lines, write_text
from atc.language.question import Question
from atc.retrieval.embeddings import likeness
from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["Demonstration", "Demonstrations"]

_LIKE = 0.3
"""How alike two questions are at least, from 0 to 1, or one is no example for the other."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A question, the program that answered it, and the tools that this called."""

    query: str
    program: str
    tools: tuple[str, ...]


class Demonstrations:
    """Those of one API in a folder, which is made when the first one is kept."""

    def __init__(self, folder: Path, protocol: Protocol) -> None:
        self.file = folder / f"{protocol.digest[:16] or 'unnamed'}.solved.jsonl"

    def all(self) -> list[Demonstration]:
        """Every one, the oldest first. Raises: UsageError: The file cannot be read, or holds something else."""
        demonstrations = []
        for place, data in read_lines(self.file):
            try:
                demonstrations.append(Demonstration(str(data["query"]), str(data["program"]), tuple(data["tools"])))
            except (KeyError, TypeError):
                raise UsageError(f"{place}: this is no question with its program; delete the line") from None
        return demonstrations

    def add(self, solved: Demonstration) -> None:
        """Keep one, unless it is there. Raises: UsageError: It cannot be written."""
        stored = self.all()
        if solved in stored:
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{self.file} cannot be written: {error.strerror or error}") from error
        write_text(
            self.file,
            "".join(
                f"{json.dumps(asdict(demonstration), ensure_ascii=False)}\n" for demonstration in [*stored, solved]
            ),
        )

    def like(
        self, query: str, tools: Collection[str], most: int = 2, *, meaning: bool = True
    ) -> Sequence[Demonstration]:
        """The ones most like a question, the best first, that call nothing but these tools.

        Alike are questions by the words that they share, with `meaning` as much by what they mean; names aside: what
        is asked is what counts, not of whom.
        """
        goal = _goal(query)
        possible = [solved for solved in self.all() if solved.tools and set(solved.tools) <= set(tools)]
        goals = [_goal(solved.query) for solved in possible]
        scores = [_shared(goal, past_goal) for past_goal in goals]
        if meaning:
            meant = likeness(goal, goals)
            scores = [(words + meaning) / 2 for words, meaning in zip(scores, meant, strict=True)]
        best = sorted(zip(scores, possible, strict=True), key=lambda rated: -rated[0])
        return [solved for score, solved in best if score >= _LIKE][:most]


def _goal(query: str) -> str:
    """The words of a question that are written small: not the names in it."""
    return " ".join(word for word in query.split() if not word[:1].isupper() or word == query.split()[0])


def _shared(goal: str, past_goal: str) -> float:
    """Of the words of two questions, without their endings, the share that both have."""
    first, second = set(Question(goal).stems), set(Question(past_goal).stems)
    return len(first & second) / max(len(first | second), 1)
