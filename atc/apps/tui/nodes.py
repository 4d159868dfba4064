"""The words of a search tree: what each message did and how it ended, and which messages follow one another.

The drawing in a terminal, the lines of a log and the page of a report are made of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from atc.apps.tui.text import value_text
from atc.search_tree import NodeOutcome, SearchNode, SearchStep
from protocols.quoting import one_line

__all__ = ["end_text", "node_line", "step_signature", "stretches", "trials"]

OUTCOMES: Mapping[NodeOutcome, tuple[str, str]] = {
    "open": ("", ""),
    "answer": ("✓", "answer"),
    "give_up": ("↩", "gave up"),
    "depth": ("⇥", "too deep"),
    "limit": ("■", "limit"),
    "error": ("✗", "error"),
    "abandoned": ("⊘", "abandoned"),
}
"""A sign and a word for each outcome, so that no colour is needed to tell them apart."""

TEXT_WIDTH = 300
"""Longest thought, call or reason shown, in characters."""

OBSERVATION_WIDTH = 160
"""Longest beginning of an observation shown, in characters."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages that follow one another, and what goes on below the last of them where the search forked.

    Args:
        nodes: Oldest first. Below the deepest level that was asked for they are all messages of that part of the tree,
            in their order, so that one need not be the child of the one before it.
    """

    nodes: tuple[SearchNode, ...]
    forks: tuple[Stretch, ...] = ()


def trials(nodes: Iterable[SearchNode]) -> dict[int, list[SearchNode]]:
    """The nodes of each try, by its number."""
    by_trial: dict[int, list[SearchNode]] = {}
    for node in nodes:
        by_trial.setdefault(node.trial, []).append(node)
    return by_trial


def stretches(nodes: Sequence[SearchNode], levels: int) -> list[Stretch]:
    """The tree of some nodes, with at most so many levels of forks; a node without a parent among them is at the top.

    A chain of messages is one stretch. So the depth of the result is that of the forks, not that of the paths.
    """
    nodes = list({node.id: node for node in nodes}.values())
    ids = {node.id for node in nodes}
    children: dict[int, list[SearchNode]] = {}
    for node in nodes:
        is_top = node.parent not in ids or node.parent >= node.id  # a record may be malformed
        children.setdefault(0 if is_top else node.parent, []).append(node)

    def below(node: SearchNode, level: int) -> Stretch:
        chain = [node]
        while len(following := children.get(chain[-1].id, [])) == 1:
            chain.append(following[0])
        if level < levels:
            return Stretch(tuple(chain), tuple(below(child, level + 1) for child in following))
        pending = following[::-1]
        while pending:
            chain.append(pending.pop())
            pending += children.get(chain[-1].id, [])[::-1]
        return Stretch(tuple(chain))

    return [below(node, 1) for node in children.get(0, [])]


def step_signature(step: SearchStep) -> str:
    """The call as the model made it; the text that it wrote where no arguments could be read."""
    if step.code in (3, 4):
        return one_line(step.name, TEXT_WIDTH)
    arguments = ", ".join(f"{name}={value_text(value)}" for name, value in step.arguments.items())
    return one_line(f"{step.name}({arguments or ('' if step.text in ('', '{}') else step.text)})", TEXT_WIDTH)


def end_text(node: SearchNode) -> str:
    """How a node ended: sign, word, and the answer or the reason; empty while it is open."""
    sign, word = OUTCOMES[node.outcome]
    if not sign:
        return ""
    reason = node.why
    if node.outcome == "answer":
        arguments = node.steps[-1].arguments if node.steps else {}
        reason = str(arguments.get("answer") or arguments.get("final_answer") or "")
    reason = one_line(reason, TEXT_WIDTH)
    return f"{sign} {word}: {reason}" if reason else f"{sign} {word}"


def node_line(node: SearchNode) -> str:
    """A message in one line: its thought, its calls with the start of what came back, how it ended."""
    calls = [step_signature(step) + _observed(step) for step in node.steps if step.code not in (3, 4)]
    correction = f"✗ {one_line(node.correction, TEXT_WIDTH)}" if node.correction else ""
    return " · ".join(filter(None, [one_line(node.thought, TEXT_WIDTH), *calls, correction, end_text(node)]))


def _observed(step: SearchStep) -> str:
    """The start of an observation behind a sign for a good call or a failed one; empty without one."""
    text = one_line(step.observation, OBSERVATION_WIDTH)
    return f" {'→' if step.code == 0 else '✗'} {text}" if text else ""
