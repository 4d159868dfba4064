"""Calls as the ToolLLaMA weights were trained to write them, in a conversation without a chat template."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from atc.models import Completion, Message
from atc.models.base import Layout
from atc.search_tree import SearchStep
from benchmarks.methods.actions import Action
from benchmarks.methods.dialogue import Dialogue, Reading, function_names
from benchmarks.methods.formats import toolllama
from benchmarks.methods.method_try import MethodTry, correction
from protocols.errors import UsageError

__all__ = ["ToolLlamaDialogue"]


class ToolLlamaDialogue(Dialogue):
    """`Thought`, `Action` and `Action Input`, with the published finish function.

    Args:
        file: A released file whose sentences the prompt has; without it they are ours.
        compat: With the published names, and schemas with their defects; nothing of ours in the prompt.
    Raises: UsageError: The file has no such prompt, or under `compat` only a part of it.
    """

    stop = toolllama.STOP
    layout: Layout = "roles"

    def __init__(self, trial: MethodTry, file: Path | None, *, compat: bool) -> None:
        self._trial = trial
        self._compat = compat
        self._prompt = toolllama.published_prompt(file) if file else toolllama.own_prompt()
        if compat and not self._prompt.is_whole:
            raise UsageError(
                f"{file} lacks sentences of the prompt: an answer file has none about the form of a call; under "
                "--compat give training data (`conversations`), as ToolBench's preprocessing makes of answer files"
            )

    def begin(self) -> list[Message]:
        """As `Dialogue.begin`."""
        protocol = self._trial.protocol
        names = function_names(self._trial, self._compat)
        schemas = toolllama.function_schemas(protocol, names, self._prompt, compat=self._compat)
        tools = toolllama.tool_descriptions(protocol, names.values())
        return toolllama.begin(self._trial.offer.request, schemas, tools, self._prompt)

    def read(self, completion: Completion) -> Reading:
        """As `Dialogue.read`."""
        message = toolllama.read_message(completion.text)
        turn = Message("assistant", toolllama.write_message(message.thought, message.name, message.text))
        return Reading(message.thought, (Action(message.name, message.arguments),), turn)

    def correct(self, completion: Completion, why: str) -> list[Message]:
        """As `Dialogue.correct`."""
        return correction(completion.text.strip(), "bad_toolllama", why=why)

    def observe(self, reading: Reading, steps: Sequence[SearchStep]) -> list[Message]:
        """As `Dialogue.observe`."""
        return [Message("tool", step.observation, name=step.name) for step in steps]
