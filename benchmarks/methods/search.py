"""The search of the modes that make one call at a time: a message of the model, its calls, and the node for both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from atc.models import Completion, Message
from atc.prompting import fill
from atc.search_tree import NodeOutcome, SearchNode, SearchStep, path_to
from atc.session import TryEnded
from benchmarks.methods.actions import FINISH, Action, BadActionError
from benchmarks.methods.call_path import TryPosition
from benchmarks.methods.dialogue import (
    Dialogue,
    FunctionsDialogue,
    Reading,
    TextDialogue,
    ToolLlamaDialogue,
    finish_step,
    function_names,
)
from benchmarks.methods.method_try import MethodTry, TryBudget
from benchmarks.methods.observations import read_reply, shortened_note
from protocols.errors import LimitReached

__all__ = ["Branch", "Search"]

COMPAT_BUDGET = TryBudget(model_calls=200, tokens=10_000_000)
"""Of the published search; the reply to its last completion is lost."""

COMPAT_DEPTH = 12
"""Nodes on a published path."""

HALLUCINATED = "invalid_hallucination_function_name"
"""What the published conversation calls an unknown function."""


_MAX_REPEATS = 2
"""Messages with nothing but repeated calls, after which a path ends."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A place in a search: the conversation, its last node (0 at the question), its depth, the position of the API."""

    messages: tuple[Message, ...]
    node: int
    depth: int
    position: TryPosition


class Search:
    """One try at a question by single calls.

    Args:
        prompt: The template of the instruction.
        depth: The limit of a path in messages, where the settings name none; None without a limit.
    """

    def __init__(
        self,
        trial: MethodTry,
        prompt: str,
        *,
        give_up: bool = False,
        depth: int | None = None,
    ) -> None:
        settings = trial.search
        self.trial = trial
        self.compat = settings.compat
        self.width = settings.width
        self.depth = settings.depth or (COMPAT_DEPTH if self.compat else depth)
        budget = COMPAT_BUDGET if self.compat else trial.budget
        trial.budget = budget.raised(trial.search.max_model_calls)
        trial.messages = min(self.depth or trial.budget.model_calls, trial.budget.model_calls)
        self.names = function_names(trial, self.compat)
        self.dialogue = _dialogue(trial, prompt, give_up)
        self.answer: str | None = None

    def root(self) -> Branch:
        """The question."""
        return Branch(tuple(self.dialogue.begin()), 0, 0, self.trial.api.position())

    def ended(self, branch: Branch) -> bool:
        """True if a path may not grow further."""
        return self.depth is not None and branch.depth >= self.depth

    def grow(self, branch: Branch, tried: str = "") -> tuple[SearchNode, Branch]:
        """Ask for the next message, make its calls, and add its node.

        A message without a usable call is corrected once; the second is a node without calls.

        Args:
            tried: What was tried from here; the message has to differ from it.
        Returns: The node, and the branch that ends with it.
        Raises: TryEnded, ModelError; the node with the calls so far is added first.
        """
        conversation = self.dialogue.with_note(branch.messages, tried) if tried else list(branch.messages)
        is_last = self._is_last(branch)
        if is_last:
            conversation = self.dialogue.with_note(conversation, fill("search_last").strip())
        turns: list[Message] = []
        node = SearchNode(
            len(self.trial.session.state.tree) + 1, branch.node, "", tried=tried, trial=self.trial.session.state.trial
        )
        steps: list[SearchStep] = []
        reading = None
        try:
            reading, why = self._read(conversation, turns, is_last)
            if reading is not None:
                node = replace(node, thought=reading.thought)
                turns.append(reading.message)
            else:
                node = replace(node, thought=_last_text(turns), correction=why)
            for action in reading.actions if reading else ():
                steps.append(self._repeated(action, branch.node) or self._perform(action))
                if steps[-1].code in (3, 4):
                    break
        except BaseException as error:
            limited = isinstance(error, LimitReached) or (isinstance(error, TryEnded) and error.status == "limit")
            outcome: NodeOutcome = "limit" if limited else "error"
            if turns:  # the model said something
                node = replace(node, thought=node.thought or _last_text(turns), steps=tuple(steps))
                self.trial.session.grow(node.left(outcome, str(error)))
            raise
        node = replace(node, steps=tuple(steps))
        if reading is not None:
            turns += self.dialogue.observe(reading, [step for step in steps if step.code not in (3, 4)])
        if steps and steps[-1].code == 3:
            self.answer = str(steps[-1].arguments.get("answer") or steps[-1].arguments.get("final_answer"))
            node = node.left("answer")
        elif steps and steps[-1].code == 4:
            node = node.left("give_up", str(next(iter(steps[-1].arguments.values()), "")))
        self.trial.session.grow(node)
        position = self.trial.api.position()
        return node, Branch((*branch.messages, *turns), node.id, branch.depth + self._weight(node), position)

    def _is_last(self, branch: Branch) -> bool:
        """True if a call in the next message would be of no use; the published search does not say so.

        That is so at the end of a path or of the budget, and where the last two messages repeated calls, or read the
        same part of a reply.
        """
        if self.compat:
            return False
        latest = path_to(self.trial.session.state.tree, branch.node)[-_MAX_REPEATS:]
        names = {step.name for node in latest for step in node.steps}
        is_read_again = names == {self.dialogue.reader} and latest[0].steps == latest[-1].steps
        is_stuck = len(latest) == _MAX_REPEATS and (is_read_again or all(map(self._only_repeats, latest)))
        at_depth = self.depth is not None and branch.depth + 1 >= self.depth
        calls_left = self.trial.budget.model_calls - self.trial.usage.model_calls
        return is_stuck or at_depth or calls_left == 1

    def _only_repeats(self, node: SearchNode) -> bool:
        """True if a message has calls, and none of them was made."""
        is_repeat = (step.call is None and step.code == 0 and step.name != self.dialogue.reader for step in node.steps)
        return bool(node.steps) and all(is_repeat)

    def leave(self, branch: Branch, node: SearchNode, outcome: NodeOutcome, why: str) -> None:
        """Go back to a branch from a node below it, whose calls leave the path."""
        self.trial.leave(branch.position, why)
        if node.outcome == "open":
            self.trial.session.grow(node.left(outcome, why))

    def leave_at_depth(self, branch: Branch) -> None:
        """Note that a path ended at the depth limit."""
        if branch.node:
            node = self.trial.session.state.tree[branch.node - 1]
            self.trial.session.grow(node.left("depth", "the path grew too long"))

    def _read(self, conversation: list[Message], turns: list[Message], is_last: bool) -> tuple[Reading | None, str]:
        """The next message, corrected once; `turns` grows by what is no use, and its answer. The text says why.

        The last message of all is the answer, whatever its form. So is a text that a model gives again in place of a
        call, where calls are no text.
        """
        why = ""
        for _ in range(1 if self.compat else 2):
            completion = self.trial.ask_message(
                [*conversation, *turns],
                stop=self.dialogue.stop,
                functions=self.dialogue.functions,
                layout=self.dialogue.layout,
            )
            is_spent = self.trial.usage.model_calls >= self.trial.budget.model_calls
            if self.compat and is_spent:
                raise TryEnded("limit", "BudgetSpent", "the last completion of the budget is lost, as published")
            try:
                return self.dialogue.read(completion), ""
            except BadActionError as error:
                if self.compat and error.name:
                    return self._hallucinated(completion, error.name), ""
                insists = bool(turns) and self.dialogue.text_answers and not self.compat
                if (is_last or is_spent or insists) and (text := self.dialogue.prose(completion)):
                    return Reading("", (Action(FINISH, {"answer": text}),), Message("assistant", text)), ""
                why = str(error)
                turns += self.dialogue.correct(completion, why)
        return None, why

    def _hallucinated(self, completion: Completion, name: str) -> Reading:
        """The call of an unknown function, which the published conversation keeps under another name."""
        text = completion.text.strip()
        return Reading(text.partition("\n")[0], (Action(name),), Message("assistant", text.replace(name, HALLUCINATED)))

    def _repeated(self, action: Action, parent: int) -> SearchStep | None:
        """The step of a call that the path has already, with no write since: it is not made again. Else None."""
        if self.compat:
            return None
        for node in reversed(path_to(self.trial.session.state.tree, parent)):
            for step in reversed(node.steps):
                if step.name == self.dialogue.reader:
                    continue
                tool = self._tool(step.name)
                if tool is None or self.trial.protocol.tool(tool).writes:
                    return None
                if (step.name, step.arguments) == (action.name, action.arguments) and step.call is not None:
                    text = json.dumps(dict(action.arguments), ensure_ascii=False, default=str)
                    observation = fill("repeated_call").strip()
                    return SearchStep(action.name, action.arguments, text, observation)
        return None

    def _perform(self, action: Action) -> SearchStep:
        """Make the call of an action. Raises: TryEnded."""
        text = json.dumps(dict(action.arguments), ensure_ascii=False, default=str)
        step = finish_step(action, text)
        if step is not None:
            return step
        if self.dialogue.reader and action.name == self.dialogue.reader:
            self.trial.wrote(str(action))
            api, most = self.trial.api, self.trial.search.max_observation
            part = read_reply(action, api.replies, api.latest_reply, most, self.trial.wanted)
            return SearchStep(action.name, action.arguments, text, part)
        tool = self._tool(action.name)
        if tool is None:
            return SearchStep(action.name, action.arguments, text, f"Error: there is no function {action.name}", 1)
        observation = self.trial.call(replace(action, name=tool))
        result = observation.text
        if observation.shortened and self.dialogue.reader and observation.call is not None:
            result = f"{result}\n{shortened_note(self.dialogue.reader, observation.call)}"
        return SearchStep(action.name, action.arguments, text, result, observation.code, observation.call)

    def _tool(self, name: str) -> str | None:
        """The tool of a function name; under `compat` that of the first function whose name ends with it."""
        if not self.compat:
            return self.names.get(name)
        return next((tool for function, tool in self.names.items() if function.endswith(name)), None)

    def _weight(self, node: SearchNode) -> int:
        """What a message adds to the depth of its path."""
        return 1 if not self.compat else bool(node.thought) + 2 * len(node.steps)


def _last_text(turns: Sequence[Message]) -> str:
    """The text of the model's last message."""
    return next(message.content for message in reversed(turns) if message.role == "assistant")


def _dialogue(trial: MethodTry, prompt: str, give_up: bool) -> Dialogue:
    """The form of conversation that the settings name, or that the model takes."""
    settings = trial.search
    form, _, file = settings.format.partition(":")
    if form == "auto":
        form = "functions" if trial.session.settings.calls_functions else "text"
    if form == "toolllama":
        return ToolLlamaDialogue(trial, Path(file) if file else None, compat=settings.compat)
    if form == "functions":
        return FunctionsDialogue(trial, give_up=give_up, compat=settings.compat)
    return TextDialogue(trial, prompt, give_up=give_up, compat=settings.compat)
