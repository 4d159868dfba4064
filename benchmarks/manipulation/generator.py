"""The action generator of Xu et al.: documents and demonstrations are retrieved, and the model writes calls, once.

There is no plan and no correction. Where the tool answers step by step, what it shows takes the place of the goal in
the next prompt, and the earlier actions are not shown again. Of an answer only what comes after a stop sequence is cut.
For a model that continues a text, the answer begins after `Action:`, as in the published prompts; any other is asked
to answer a message that ends with it.

Training data are conversations as the generator has them: functions, solved examples, the goal, and then the action as
the answer. `learn` marks the actions of the examples; the answer itself is learned with the word `Action:` before it.
With `loss_on: all` every action is learned (the all-shot loss of the paper), with `loss_on: last` the answer alone.

Source: Xu et al. (arXiv:2305.16504), algorithm 1, sections 4.1 to 4.3, figure 5, appendix C.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from atc.models.base import Message, Model, ModelRequest, Usage, answer, cut_at_stop
from benchmarks.manipulation.complexity import combination
from benchmarks.manipulation.environment import (
    ActionResult,
    Environment,
    FunctionDocument,
    GoalAction,
    ManipulationTest,
)
from benchmarks.manipulation.prompt_selection import Selection, shown_example, shown_functions
from protocols.errors import UsageError

__all__ = ["ACTION", "ActionGenerator", "Episode", "alignment_data"]

STOPS = ("------", "Task:")
"""What ends an answer for every tool."""

ACTION = "Action:\n"
"""What the model continues."""


@dataclass(frozen=True, slots=True)
class ActionStep:
    """One answer: what the model wrote, what a stop sequence cut off, what was executed, and what became of it."""

    text: str
    cut: str
    action: str
    result: ActionResult


@dataclass(frozen=True, slots=True)
class Episode:
    """All answers to a test, the first prompt, and the cost."""

    prompt: tuple[Message, ...]
    steps: tuple[ActionStep, ...]
    usage: Usage


@cache
def _template(name: str) -> Template:
    return Template(files(__package__).joinpath("prompts", f"{name}.txt").read_text("utf-8"))


def prompt_text(functions: Sequence[FunctionDocument], demonstrations: Sequence[GoalAction]) -> tuple[str, str]:
    """The parts of a prompt for functions and for demonstrations, each empty without any."""
    examples = "\n\n".join(shown_example(pair.goal, pair.action) for pair in demonstrations)
    return (
        _template("functions").substitute(functions=shown_functions(functions)) if functions else "",
        _template("examples").substitute(examples=examples) if demonstrations else "",
    )


@dataclass(frozen=True, slots=True)
class ActionGenerator:
    """Writes the actions for one environment.

    Args:
        system_prompt: Begin with the system prompt: role, functions, form of the answer, examples.
        prefill: The model continues a text.
        max_steps: Most answers to a test; 0 for as many as the environment has.
    """

    environment: Environment
    selection: Selection
    system_prompt: bool = False
    prefill: bool = True
    max_steps: int = 0

    def messages(self, seen: str, test: ManipulationTest) -> tuple[Message, ...]:
        """The prompt for what is seen: the goal, or what the last action showed."""
        selection = self.selection
        functions, examples = prompt_text(selection.functions(seen), selection.demonstrations(seen, test))
        before = [] if self.system_prompt else [functions, examples]
        request = "".join([*before, f"Task: {seen}"])
        system = _template("system").substitute(functions=functions, examples=examples).strip()
        turns = [Message("system", system)] if self.system_prompt else []
        if self.prefill:
            return (*turns, Message("user", request), Message("assistant", ACTION))
        return (*turns, Message("user", f"{request}\n{ACTION}".strip()))

    def run(self, model: Model, test: ManipulationTest, seed: int) -> Episode:
        """Solve a test; the environment is left for its score. Raises: ModelError, PromptRefused."""
        environment = self.environment
        seen = environment.reset(test, seed)
        prompt = messages = self.messages(seen, test)
        steps: list[ActionStep] = []
        usage = Usage()
        stops = (*STOPS, *environment.stops)
        most = min(self.max_steps or environment.steps, environment.steps)
        while True:
            completion = answer(model, ModelRequest(messages, stops, environment.max_tokens))
            usage += completion.usage
            text, _ = cut_at_stop(completion.text, stops)
            result = environment.act(text.strip())
            steps.append(ActionStep(completion.text, completion.text[len(text) :], text.strip(), result))
            if result.done or len(steps) >= most:
                return Episode(prompt, tuple(steps), usage)
            seen = result.observation
            messages = self.messages(seen, test)


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
