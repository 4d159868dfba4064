"""Training data for the tools of the suite: samples, several of a tool in one prompt.

A line is a conversation as the action generator has it at test time: functions, solved examples, the goal, and then
the action as the answer. `learn` marks the actions of the examples; the answer itself is learned with the word
`Action:` before it. With `loss_on: all` every action is learned (the paper's all-shot loss), with `loss_on: last` the
answer alone.

Source: Xu et al. (arXiv:2305.16504), section 4.1 and appendix C.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.manipulation.complexity import combination
from benchmarks.manipulation.environment import Environment, GoalAction
from benchmarks.manipulation.generator import ACTION, prompt_text
from benchmarks.manipulation.prompt_selection import Selection, shown_example
from protocols.errors import UsageError

__all__ = ["alignment_data"]


def alignment_data(environment: Environment, count: int | None, pairs: int, seed: int) -> list[dict[str, Any]]:
    """The conversations of a tool, each with up to `pairs` of its first `count` samples or of all.

    Where a tool has few values, a sample may come more than once, and two conversations may have the same goal.

    Args:
        seed: Of which samples stand together.
    Raises: UsageError: There are not so many samples.
    """
    if count is not None and count > len(environment.samples):
        raise UsageError(f"{environment.name} has {len(environment.samples)} samples: ask for no more of them")
    samples = list(environment.samples[:count])
    random.Random(f"pairs {seed}").shuffle(samples)
    selection = Selection(environment)
    return [
        _conversation(environment, selection, samples[start : start + pairs]) for start in range(0, len(samples), pairs)
    ]


def _conversation(environment: Environment, selection: Selection, samples: Sequence[GoalAction]) -> dict[str, Any]:
    *solved, last = samples
    functions, examples = prompt_text(selection.functions(last.goal), solved)
    before = f"{functions}{examples}"
    return {
        "task": environment.name,
        "messages": [
            {"role": "user", "content": f"{before}Task: {last.goal}", "learn": list(_actions(before, solved))},
            {"role": "assistant", "content": f"{ACTION}{last.action}"},
        ],
        "names": [list(combination(sample.action, sample.names)) for sample in samples],
    }


def _actions(text: str, solved: Sequence[GoalAction]) -> Iterator[list[int]]:
    """Where the actions of examples stand in a prompt."""
    end = 0
    for sample in solved:
        example = shown_example(sample.goal, sample.action)
        end = text.index(example, end) + len(example)
        yield [end - len(sample.action), end]
