"""Ask a model for programs of tools (LLMProb in the ATC paper, Algorithm 1), and for producers of arguments (LLMSample)
that the data flow does not know."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from atc.models import Message, Model
from atc.program.source import extract
from atc.prompting import fill
from probing.prober.observations import Observations
from probing.prober.programs import unprovided_arguments
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import LimitReached
from protocols.model import Tool
from protocols.quoting import visible
from protocols.render import render, sentence

__all__ = ["LLMProber"]

_FOLDER = Path(__file__).parent / "templates"
_QUESTION = re.compile(r"Question:\s*(.+)")
_CHARS_PER_TOKEN = 2
"""Lower bound of characters per token, so that a budget is not exceeded."""
_MAX_ANSWER_TOKENS = 400
"""Token limit of an answer."""
_MAX_CANDIDATES = 12
"""Tools offered to the model as producers."""
_MAX_HELPERS = 6
"""Other tools that a program may call."""
_MAX_ERROR = 300


class LLMProber:
    """Asks a model about tools, and counts the cost in their findings.

    Args:
        tokens: The most tokens to read and write in all; None for no limit.
    """

    def __init__(self, model: Model, observations: Observations, tokens: int | None = None) -> None:
        self._model = model
        self._observations = observations
        self._budget = tokens
        self._proposed: dict[tuple[str, str], tuple[str, ...]] = {}

    def probe(self, tool: Tool, graph: ProtocolGraph, tried: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """A question for a tool, and a program that answers it; both are empty if the model wrote neither.

        Args:
            tried: Failed programs, each with its problem.
        Raises: LimitReached: The tokens are used up. ModelError.
        """
        among = self._observations.complete
        tools = [tool, *map(graph.protocol.tool, self._helpers(tool, graph, among))]
        task = _fill(
            "probe_task",
            name=tool.name,
            functions=render(tools, graph),
            values=self._values(tool, graph),
            tried="".join(
                f"This did not do:\n```python\n{code}\n```\n{error[:_MAX_ERROR]}\n\n" for code, error in tried
            ),
        )
        text = self._ask(tool, [Message("system", _fill("probe")), Message("user", task)])
        self._observations.findings[tool.name].samples += 1
        match = _QUESTION.search(text)
        return match[1].strip() if match else "", extract(text[match.end() :] if match else text)

    def _helpers(self, tool: Tool, graph: ProtocolGraph, among: Collection[str]) -> tuple[str, ...]:
        """The tools that a tool may need, with those before them."""
        first = list(graph.closure([tool.name], among))[1:]
        for argument in unprovided_arguments(tool, graph, among):
            first += self._producers(tool, argument, graph, among)
        return tuple(dict.fromkeys(name for name in first if name in among))[:_MAX_HELPERS]

    def _producers(self, tool: Tool, argument: str, graph: ProtocolGraph, among: Collection[str]) -> tuple[str, ...]:
        """The producers of an argument by the model, asked once, out of tools that answer."""
        reads = [read for read in graph.protocol.tools if read.name in among and not read.writes][:_MAX_CANDIDATES]
        if (tool.name, argument) not in self._proposed and reads:
            functions = "\n".join(f"{read.name}: {sentence(read.summary or read.description, 80)}" for read in reads)
            prompt = _fill("producers", name=tool.name, argument=argument, functions=functions)
            text = self._ask(tool, [Message("user", prompt)])
            named = tuple(read.name for read in reads if re.search(rf"\b{re.escape(read.name)}\b", text))
            self._proposed[tool.name, argument] = named[:2]
        return self._proposed.get((tool.name, argument), ())

    def _values(self, tool: Tool, graph: ProtocolGraph) -> str:
        """The observed values of a tool's arguments, and names of entities."""
        lines = []
        for param in tool.arguments:
            reference = graph.reference(tool.name, param.argument)
            if not param.required or reference is None:
                continue
            groups = islice(self._observations.identifiers([reference]), 2)
            if values := [json.dumps(group[reference]) for group in groups]:
                lines.append(f"{param.argument}: {', '.join(values)}")
        if names := [self._observations.redact(name) for name in list(self._observations.names)[:4]]:
            lines.append(f"names of things: {', '.join(names)}")
        return "Values that were seen:\n" + "\n".join(lines) + "\n\n" if lines else ""

    def _ask(self, tool: Tool, messages: list[Message]) -> str:
        length = sum(len(message.content) for message in messages) // _CHARS_PER_TOKEN
        if self._budget is not None and self._observations.tokens + length + _MAX_ANSWER_TOKENS > self._budget:
            raise LimitReached(f"the budget of {self._budget} tokens is used up")
        answer = self._model.complete(
            [replace(m, content=visible(m.content)) for m in messages], max_tokens=_MAX_ANSWER_TOKENS
        )
        self._observations.add_usage(tool.name, answer.usage.prompt_tokens, answer.usage.completion_tokens)
        return answer.text


def _fill(name: str, /, **values: str) -> str:
    return fill(name, _FOLDER, **values).strip()
