"""The tree of a search: every message of the model, in the modes that make one call at a time.

A `Solution` keeps it whole, branches that were left included; the calls alone are in its attempts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

__all__ = ["NodeOutcome", "SearchNode", "SearchStep", "path_to"]

NodeOutcome = Literal["open", "answer", "give_up", "depth", "limit", "error", "abandoned"]
"""How a node ended: `open` while the search goes on below it, `depth` at the depth limit, `limit` where a budget ended
the search, `error` where the model or the API failed, `abandoned` where no branch below it led to an answer."""


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One function call of a message.

    Args:
        name: The function as the model named it, also where there is none of that name.
        arguments: By name, as sent; empty for a call that could not be read.
        text: The arguments as the model wrote them.
        observation: The result as the model reads it; empty for a `finish`.
        code: The published status code: 0 good, 1 no such function, 2 malformed finish, 3 answer, 4 give up, 5 timeout,
            6 to 12 other failures of the call.
        call: `CallRecord.index` of the call in the solve; None where nothing was sent.
    """

    name: str
    arguments: Mapping[str, Any]
    text: str
    observation: str = ""
    code: int = 0
    call: int | None = None


@dataclass(frozen=True, slots=True)
class SearchNode:
    """One message of the model.

    Args:
        id: From 1, in the order of the messages; 0 is the question, which has no node.
        parent: The `id` of the message before it on the path.
        thought: The text of the message without its calls.
        steps: Its calls, in order; empty for a message without one.
        correction: The answer to a message without a usable call.
        tried: What the model was told of earlier siblings; empty for a first child.
        why: Why the branch was left, in a few words.
        trial: The number of the try, from 1 (`MODE@N`).
    """

    id: int
    parent: int
    thought: str
    steps: tuple[SearchStep, ...] = ()
    correction: str = ""
    tried: str = ""
    outcome: NodeOutcome = "open"
    why: str = ""
    trial: int = 1

    def left(self, outcome: NodeOutcome, why: str = "") -> SearchNode:
        """The node with its outcome."""
        return replace(self, outcome=outcome, why=why)


def path_to(nodes: Sequence[SearchNode], id: int) -> list[SearchNode]:
    """The nodes from the question to a node, that node last."""
    by_id = {node.id: node for node in nodes}
    path = []
    while id:
        path.append(by_id[id])
        id = by_id[id].parent
    return path[::-1]
