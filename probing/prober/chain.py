"""The calls that lead to a call: where the data flow knows a provider of an argument, its response gives the value."""

from __future__ import annotations

import keyword
from collections.abc import Collection

from atc.program.plan import PLACEHOLDER, Call, Collected, Expression, Items, Literal, Object, Ref, Step, literal, reads
from protocols.dataflow.graph import ProtocolGraph, ProvidedField, selector_arguments
from protocols.model import Parameter, Tool
from protocols.schema_fields import type_of
from protocols.text.words import SEARCHES, stem, words

__all__ = ["steps_to"]

_MAX_DEPTH = 3
"""Calls in a row that one value may take."""


def steps_to(graph: ProtocolGraph, tool: Tool, callable_tools: Collection[str]) -> tuple[Step, ...]:
    """The steps that call a tool, with its arguments from other tools; empty where none provides them.

    A placeholder stands for a value that nothing provides. The last step is the call itself.
    """
    chain = _Chain(graph, frozenset(callable_tools))
    call = chain.call(tool, 0)
    return (*chain.steps, Step("", call)) if call is not None else ()


class _Chain:
    """The calls before one call, in `steps`."""

    def __init__(self, graph: ProtocolGraph, callable_tools: frozenset[str]) -> None:
        self._graph, self._callable = graph, callable_tools
        self.steps: list[Step] = []
        self._sought: list[str] = []
        """The entity types that are being looked for: what leads back to one of them leads nowhere."""

    def call(self, tool: Tool, depth: int) -> Call | None:
        """The call of a tool; None where one of its values cannot be found."""
        call = Call(tool.name)
        for parameter in self._chosen_arguments(tool, depth):
            value = self._value(tool, parameter, depth)
            if value is None:
                return None
            call = call.with_argument(parameter.argument, value)
        return call

    def _providers(self, tool: Tool, parameter: Parameter) -> list[ProvidedField]:
        providers = self._graph.providers(tool.name, parameter.argument, self._callable - {tool.name})
        return [provider for provider in providers if not provider.header and not provider.link]

    def _chosen_arguments(self, tool: Tool, depth: int) -> list[Parameter]:
        """The required arguments, and an optional one without which the call is of no use."""
        chosen = [parameter for parameter in tool.arguments if parameter.required]
        optional = [parameter for parameter in tool.arguments if not parameter.required]
        provided = [parameter for parameter in optional if self._providers(tool, parameter)]
        if tool.writes and all(parameter.location == "path" for parameter in chosen):
            content = sorted(filter(_is_content, optional), key=lambda p: p.argument not in ("name", "title"))
            chosen += (provided or content)[:1]
        elif not chosen:
            searches = [parameter for parameter in optional if parameter.argument.lower() in SEARCHES]
            about = _stems(tool.path)
            free = [p for p in optional if _placeholder(p) == PLACEHOLDER and _stems(p.argument) <= about]
            unlinked = [p for p in free if self._graph.reference(tool.name, p.argument) is None]
            chosen += (searches or unlinked)[:1]
        leads = any(p.argument.lower() in SEARCHES or self._providers(tool, p) for p in chosen)
        if depth == 0 and not leads:
            chosen += [parameter for parameter in provided if parameter not in chosen][:1]
        return chosen

    def _value(self, tool: Tool, parameter: Parameter, depth: int) -> Expression | None:
        """The value of an argument; None where it has providers, and none of them can be called."""
        reference = self._graph.reference(tool.name, parameter.argument)
        providers = self._providers(tool, parameter)
        if reference is None or not providers:
            return _placeholder(parameter)
        entry = self._graph.item_key(tool.name, parameter.argument)
        values = (self._provided(provider, reference.noun, parameter, depth, entry) for provider in providers)
        return next((value for value in values if value is not None), None)

    def _provided(
        self, provider: ProvidedField, noun: str, parameter: Parameter, depth: int, entry: str
    ) -> Expression | None:
        """A provided value, after the steps that call its provider.

        Args:
            entry: The key of the value in each object of an array argument; empty where the value stands by itself.
        """
        if depth >= _MAX_DEPTH or noun in self._sought:
            return None
        before = list(self.steps)
        source = self._graph.protocol.tool(provider.tool)
        self._sought.append(noun)
        call = self.call(source, depth + 1)
        self._sought.pop()
        if call is None:
            self.steps = before
            return None
        for argument, selected in selector_arguments(source, provider).items():
            if (default := call.argument(argument)) is not None and not reads(default):
                call = call.with_argument(argument, literal(selected))
        array = type_of(parameter.schema) == "array"
        lists = [place for place, step in enumerate(provider.path) if step == 0]
        if lists and (array or parameter.argument.endswith("s")):
            items = self._variable(call.at(provider.path[: lists[-1]]), f"{noun}s")
            item = _identifier(noun)
            return Collected(_entry(entry, Ref(item, provider.path[lists[-1] + 1 :])), item, Ref(items))
        name = self._variable(call.at(provider.path[:-1]), noun)
        value = _entry(entry, Ref(name, provider.path[-1:]))
        return Items((value,)) if array else value

    def _variable(self, value: Expression, noun: str) -> str:
        """The variable that holds a value, set in a step of its own at its first use."""
        for step in self.steps:
            if step.value == value:
                return step.variable
        name = _identifier(noun)
        if name in {step.variable for step in self.steps}:
            name = f"{name}{len(self.steps) + 1}"
        self.steps.append(Step(name, value))
        return name


def _entry(key: str, value: Expression) -> Expression:
    """A value in an object under a key, if there is one."""
    return Object(((Literal(key), value),)) if key else value


def _identifier(noun: str) -> str:
    """A noun as the name of a variable."""
    return noun if noun.isidentifier() and not keyword.iskeyword(noun) else "entity"


def _stems(text: str) -> set[str]:
    return set(map(stem, words(text)))


def _is_content(parameter: Parameter) -> bool:
    """True if an argument holds what is written, and no option of it."""
    text = type_of(parameter.schema) == "string" and _placeholder(parameter) == PLACEHOLDER
    return text and parameter.location == "body" and parameter.argument != "body"


def _placeholder(parameter: Parameter) -> Expression:
    """A placeholder, or the first value that may be chosen."""
    values = parameter.schema.get("enum")
    if isinstance(values, list) and values:
        return literal(values[0])
    plain: dict[str, object] = {"array": ["…"], "integer": 1, "number": 1, "boolean": True}
    return literal(plain.get(type_of(parameter.schema), "…"))
