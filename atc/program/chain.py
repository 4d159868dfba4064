"""The calls that lead to a call: where the data flow knows a provider of an argument, its response gives the value.

`Chain` knows how such calls are joined. Which arguments are given, and what a value is that nothing provides, its
subclasses say: the planner of a question, and the prober of an API.
"""

from __future__ import annotations

import abc
import keyword

from atc.program.plan import PLACEHOLDER, Call, Collected, Expression, Items, Literal, Object, Ref, Step, literal, reads
from protocols.dataflow.graph import ProtocolGraph, ProvidedField, selector_arguments
from protocols.model import Parameter, Tool
from protocols.schema_fields import type_of
from protocols.text.words import stem, words

__all__ = ["MAX_DEPTH", "Chain", "identifier", "is_content", "placeholder", "stems_of"]

MAX_DEPTH = 3
"""Calls in a row that one value may take."""


class Chain(abc.ABC):
    """The calls before one call, in `steps`."""

    def __init__(self, graph: ProtocolGraph) -> None:
        self.graph = graph
        self.steps: list[Step] = []
        self.sought: list[str] = []
        """The entity types that are being looked for: what leads back to one of them leads nowhere."""

    @abc.abstractmethod
    def chosen_arguments(self, tool: Tool, depth: int) -> list[Parameter]:
        """The arguments that a call is given."""

    @abc.abstractmethod
    def value(self, tool: Tool, parameter: Parameter, depth: int) -> Expression | None:
        """The value of an argument; None where its providers cannot be called."""

    def is_single(self, call: Call, noun: str) -> bool:
        """True if a call is known to find one item where several are taken."""
        return False

    def count_of(self, noun: str) -> int | None:
        """How many items are taken of a list; None for all."""
        return None

    def pick(self, call: Call, provider: ProvidedField, noun: str) -> Expression | None:
        """The item that is taken of a list; None for the first."""
        return None

    def call(self, tool: Tool, depth: int) -> Call | None:
        """The call of a tool, its values found before; None where one of them cannot be found."""
        arguments = []
        for parameter in self.chosen_arguments(tool, depth):
            value = self.value(tool, parameter, depth)
            if value is None:
                return None
            arguments.append((parameter.argument, value))
        return Call(tool.name, tuple(arguments))

    def provided(
        self, provider: ProvidedField, noun: str, tool: Tool, parameter: Parameter, depth: int
    ) -> Expression | None:
        """The provided value for an argument of a tool, after the steps that call its provider."""
        if depth >= MAX_DEPTH or noun in self.sought:
            return None
        before = list(self.steps)
        source = self.graph.protocol.tool(provider.tool)
        self.sought.append(noun)
        call = self.call(source, depth + 1)
        self.sought.pop()
        if call is None:
            self.steps = before
            return None
        for argument, selected in selector_arguments(source, provider).items():
            if (default := call.argument(argument)) is not None and not reads(default):
                call = call.with_argument(argument, literal(selected))
        key = self.graph.item_key(tool.name, parameter.argument)
        array = type_of(parameter.schema) == "array"
        several = array or parameter.argument.endswith("s")
        ends = [place for place, step in enumerate(provider.path) if step == 0]
        if several and ends and not self.is_single(call, noun):
            name = self.variable(call.at(provider.path[: ends[-1]]), f"{noun}s")
            item = identifier(noun)
            value = _under(key, Ref(item, provider.path[ends[-1] + 1 :]))
            return Collected(value, item, Ref(name), self.count_of(noun))
        name = self.variable(self.pick(call, provider, noun) or call.at(provider.path[:-1]), noun)
        value = _under(key, Ref(name, provider.path[-1:]))
        return Items((value,)) if array or (several and bool(ends)) else value

    def variable(self, value: Expression, noun: str) -> str:
        """The variable that holds a value, set in a step of its own at its first use."""
        for step in self.steps:
            if step.value == value:
                return step.variable
        name = identifier(noun)
        if name in {step.variable for step in self.steps}:
            name = f"{name}{len(self.steps) + 1}"
        self.steps.append(Step(name, value))
        return name


def _under(key: str, value: Expression) -> Expression:
    """A value in an object under the key that an item of an array argument has, if it is an object."""
    return Object(((Literal(key), value),)) if key else value


def identifier(noun: str) -> str:
    """A noun as the name of a variable."""
    return noun if noun.isidentifier() and not keyword.iskeyword(noun) else "found"


def stems_of(text: str) -> set[str]:
    """The stems of the words of a name."""
    return set(map(stem, words(text)))


def is_content(parameter: Parameter) -> bool:
    """True if an argument holds the content of a write, and no option of it."""
    text = type_of(parameter.schema) == "string" and placeholder(parameter) == PLACEHOLDER
    return text and parameter.location == "body" and parameter.argument != "body"


def placeholder(parameter: Parameter) -> Expression:
    """A placeholder for a value, else the first value that may be chosen."""
    values = parameter.schema.get("enum")
    if isinstance(values, list) and values:
        return literal(values[0])
    plain: dict[str, object] = {"array": ["…"], "integer": 1, "number": 1, "boolean": True}
    return literal(plain.get(type_of(parameter.schema), "…"))
