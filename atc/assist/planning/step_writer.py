"""How one call of a plan sketch is written: its arguments, and before it the calls that provide them."""

from __future__ import annotations

import keyword
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import cast

from atc.assist.language.question import Question
from atc.assist.planning.loops import return_words
from atc.assist.planning.providers import MAX_DEPTH, ProviderRanking, path_nouns
from atc.program.plan import (
    PLACEHOLDER,
    Call,
    Collected,
    Expression,
    Items,
    Literal,
    Object,
    Path,
    Pick,
    Ref,
    Step,
    literal,
    parts,
    reads,
)
from protocols.dataflow.graph import ProtocolGraph, ProvidedField, selector_arguments
from protocols.model import Parameter, Tool
from protocols.schema_fields import ResponseField, fields, type_of
from protocols.text.words import SEARCHES, noun_of, singular, stem, words

__all__ = ["StepWriter", "name_in", "placeholder"]

COORDINATE_WORDS = frozenset({("lat",), ("latitude",), ("lon",), ("lng",), ("long",), ("longitude",)})
"""Last words of the names of arguments that take a latitude or a longitude."""
_TITLES = (("name",), ("title",), ("label",))


class StepWriter:
    """Writes the calls of a plan; `steps` are those that provide the arguments of the last one."""

    def __init__(self, graph: ProtocolGraph, callable_tools: Collection[str], question: Question) -> None:
        self.graph, self.question = graph, question
        self.ranking = ProviderRanking(graph, frozenset(callable_tools), question)
        self.steps: list[Step] = []
        self._sought: list[str] = []
        """The entity types that are being looked for: what leads back to one of them leads nowhere."""

    def call(self, tool: Tool, depth: int) -> Call | None:
        """The call of a tool, its values found before; None where one of them cannot be found."""
        arguments = []
        for parameter in self._chosen_arguments(tool, depth):
            value = self._value(tool, parameter, depth)
            if value is None:
                return None
            arguments.append((parameter.argument, value))
        return Call(tool.name, tuple(arguments))

    def _chosen_arguments(self, tool: Tool, depth: int) -> list[Parameter]:
        """The required arguments, and the optional ones without which the call is of no use."""
        flow = [p for p in tool.arguments if p.required]
        if tool.writes and all(p.location == "path" for p in flow):
            flow += self._content(tool)
        elif not flow:
            flow = self._filters(tool)
        if depth == 0 and not any(p.argument.lower() in SEARCHES or self.ranking.providers(tool, p) for p in flow):
            flow += [p for p in tool.arguments if p not in flow and self.ranking.providers(tool, p)][:1]
        return flow

    def _content(self, tool: Tool) -> list[Parameter]:
        """The optional arguments that hold what is written, those that the question mentions first."""
        optional = [p for p in tool.arguments if not p.required]
        written = sorted(
            filter(self._is_content, optional),
            key=lambda p: (not self._is_mentioned(p), p.argument not in ("name", "title")),
        )
        sourced = sorted(
            (p for p in optional if self.ranking.providers(tool, p)),
            key=lambda p: not self._kind_is_mentioned(tool, p),
        )
        mentioned = [p for p in written if self._is_mentioned(p) and p not in sourced]
        provided = [p for p in sourced[:1] if not mentioned or self._kind_is_mentioned(tool, p)]
        return provided or (mentioned or written)[:1]

    def _kind_is_mentioned(self, tool: Tool, parameter: Parameter) -> bool:
        """True if an argument takes entities of a type of which the question speaks."""
        reference = self.ranking.reference(tool, parameter)
        return reference is not None and stem(reference.noun) in self.question.stems

    def _is_mentioned(self, parameter: Parameter) -> bool:
        """True if the question has the words of an argument: `set the due date`."""
        argument_stems = _stems(parameter.argument)
        return bool(argument_stems) and argument_stems <= set(self.question.stems)

    def _is_content(self, parameter: Parameter) -> bool:
        """True if an argument holds the content of a write, and no option of it."""
        text = type_of(parameter.schema) == "string" and placeholder(parameter) == PLACEHOLDER
        return text and parameter.location == "body" and parameter.argument != "body"

    def _filters(self, tool: Tool) -> list[Parameter]:
        """The optional arguments that narrow a call to the question: coordinates, limits, a search, a word of the
        question.
        """
        here = [p for p in tool.arguments if words(p.argument)[-1:] in COORDINATE_WORDS]
        provided = any(self.ranking.providers(tool, p) for p in tool.arguments)
        if self.question.coordinates and len(here) == 2 and not provided:
            return here
        searches = [p for p in tool.arguments if p.argument.lower() in SEARCHES]
        if limits := [p for p in tool.arguments if self.ranking.limit(p) is not None]:
            return [*searches[:1], *limits]
        about = {*self.question.stems, *_stems(tool.path)}
        free = [p for p in tool.arguments if placeholder(p) == PLACEHOLDER and _stems(p.argument) <= about]
        return (searches or [p for p in free if self.graph.reference(tool.name, p.argument) is None])[:1]

    def _value(self, tool: Tool, parameter: Parameter, depth: int) -> Expression | None:
        """The value of an argument; None where its providers cannot be called."""
        reference = self.ranking.reference(tool, parameter)
        number = self.question.ordinals.get(stem(reference.noun)) if reference is not None else None
        if number is not None and words(parameter.argument)[-1:] == ("number",):
            return Literal(number)
        code = self.question.code_of(reference.noun) if reference is not None else None
        if code and type_of(parameter.schema) == "string":
            return Literal(code)
        providers = self.ranking.providers(tool, parameter)
        if reference is None or (not providers and not parameter.required):
            return self._from_question(tool, parameter)
        entry = self.graph.item_key(tool.name, parameter.argument)
        for provider in providers:
            value = self._provided(provider, reference.noun, parameter, depth, entry)
            if value is not None:
                return value
        return self._from_question(tool, parameter) if not providers else None

    def _from_question(self, tool: Tool, parameter: Parameter) -> Expression:
        """The value that the question gives for an argument, else a placeholder."""
        if (limit := self.ranking.limit(parameter)) is not None:
            return Literal(Decimal(limit))
        about = self._sought[-1] if self._sought else (path_nouns(tool) or [""])[-1]
        default = placeholder(parameter)
        last = words(parameter.argument)[-1:]
        if self.question.coordinates and last in COORDINATE_WORDS:
            coordinate = self.question.coordinates["lon" in last[0] or "lng" in last[0]]
            return Literal(coordinate if default == PLACEHOLDER else Decimal(coordinate))
        if default != PLACEHOLDER:
            values = cast("list[object]", parameter.schema.get("enum") or [])
            texts = [value for value in values if isinstance(value, str)]
            mentioned = [text for text in texts if _stems(text) <= set(self.question.stems)]
            return Literal(mentioned[0]) if len(mentioned) == 1 else default
        name = None
        if parameter.argument.lower() in SEARCHES:
            new = self.question.new_name if tool.writes else None
            name = new or next(iter(self.question.qualifiers(about)), None) or self.question.name_of(about)
        elif last in (("date",), ("day",)):
            name = self.question.day
        if name is None and default == PLACEHOLDER and not tool.writes:
            return self._asked_text(about) or default
        return Literal(name) if name is not None else default

    def _asked_text(self, noun: str) -> Expression | None:
        """The text that the only tool returns whose words are all in the question, and which needs no argument."""
        names = [
            tool.name
            for tool in self.graph.protocol.tools
            if tool.name in self.ranking.callable_tools
            and not (tool.writes or any(parameter.required for parameter in tool.arguments))
            and tool.response_schema is not None
            and type_of(tool.response_schema) == "string"
            and set(map(stem, return_words(tool))) <= set(self.question.stems)
        ]
        return Ref(self._variable(Call(names[0], ()), noun)) if len(names) == 1 else None

    def _provided(
        self, provider: ProvidedField, noun: str, parameter: Parameter, depth: int, entry: str
    ) -> Expression | None:
        """A provided value, after the steps that call its provider.

        Args:
            entry: The key of the value in each object of an array argument; empty where the value stands by itself.
        """
        if depth >= MAX_DEPTH or noun in self._sought:
            return None
        before = list(self.steps)
        provider_tool = self.graph.protocol.tool(provider.tool)
        self._sought.append(noun)
        call = self.call(provider_tool, depth + 1)
        self._sought.pop()
        if call is None:
            self.steps = before
            return None
        for argument, selected in selector_arguments(provider_tool, provider).items():
            if (default := call.argument(argument)) is not None and not reads(default):
                call = call.with_argument(argument, literal(selected))
        array = type_of(parameter.schema) == "array"
        several = array or parameter.argument.endswith("s")
        ends = [place for place, step in enumerate(provider.path) if step == 0]
        if several and ends and not self._is_single(call, noun):
            name = self._variable(call.at(provider.path[: ends[-1]]), f"{noun}s")
            item = _identifier(noun)
            value = _entry(entry, Ref(item, provider.path[ends[-1] + 1 :]))
            count = self.question.count_of(noun)
            return Collected(value, item, Ref(name), count if count > 1 else None)
        name = self._variable(self._pick(call, provider, noun) or call.at(provider.path[:-1]), noun)
        value = _entry(entry, Ref(name, provider.path[-1:]))
        return Items((value,)) if array or (several and bool(ends)) else value

    def _is_single(self, call: Call, noun: str) -> bool:
        """True if a call looks for the only item that the question names, or for the first one."""
        if self._is_plural(noun):
            return False
        first = [kind for kind, number in self.question.ordinals.items() if number == 1]
        called_so = stem(noun) in first or (bool(first) and stem(noun) not in self.question.stems)
        return called_so or name_in(call, self.question)

    def _is_plural(self, noun: str) -> bool:
        """True if the question has a noun in the plural."""
        return noun in {singular(word) for word in self.question.words if singular(word) != word}

    def _pick(self, call: Call, provider: ProvidedField, noun: str) -> Expression | None:
        """The item of a list that the question means, by an order as in `the latest` or by its name."""
        items = provider.path[:-1]
        if items[-1:] != (0,):
            return None
        tool = self.graph.protocol.tool(provider.tool)
        name = self.ranking.name_of(noun)
        fields_of_item = list(self._fields(tool, items))
        title = _title_field([entry.name for entry in fields_of_item if type_of(entry.schema) == "string"])
        item = _identifier(noun)
        if name is not None and title is not None:
            if not self._is_plural(noun):  # a service may match names loosely
                searches = {p.argument for p in tool.arguments if not p.required and p.argument.lower() in SEARCHES}
                call = call.where(lambda argument, value: argument not in searches or value != Literal(name))
            if Literal(name) not in parts(call):
                return Pick(name, call.at(items[:-1]), item, (title,), "name")
        listed = noun_of(str(items[-2])) if len(items) > 1 else path_nouns(tool)[-1]
        superlative = self.question.superlative(noun) or self.question.superlative(listed)
        if superlative is None:
            return None
        order, by = superlative
        texts = "date" in by
        for entry in fields_of_item:
            if not by.isdisjoint(words(entry.name)) and (texts or type_of(entry.schema) in ("integer", "number")):
                return Pick(order, call.at(items[:-1]), item, (entry.name,), "text" if texts else "number")
        return None

    def _fields(self, tool: Tool, items: Path) -> Iterator[ResponseField]:
        """The fields of the items of a list in a tool's response."""
        schema = tool.response_schema
        all_fields = fields(schema, self.graph.protocol, 3) if schema is not None else ()
        return (item_field for item_field in all_fields if item_field.path[:-1] == items)

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


def name_in(call: Call, question: Question) -> bool:
    """True if a call has a name of the question."""
    return any(Literal(name.text) in parts(call) for name in question.names)


def _identifier(noun: str) -> str:
    """A noun as the name of a variable."""
    return noun if noun.isidentifier() and not keyword.iskeyword(noun) else "found"


def _title_field(names: Sequence[str]) -> str | None:
    """The field with the name of an item: `name`, `title` or `label`, else one that ends so (`displayName`)."""
    last = [name for name in names if words(name)[-1:] in _TITLES]
    return min(last, key=lambda name: (len(words(name)), _TITLES.index(words(name)[-1:])), default=None)


def _stems(text: str) -> set[str]:
    return set(map(stem, words(text)))


def placeholder(parameter: Parameter) -> Expression:
    """A placeholder for a value of the question, else the first value that may be chosen."""
    values = parameter.schema.get("enum")
    if isinstance(values, list) and values:
        return literal(values[0])
    plain: dict[str, object] = {"array": ["…"], "integer": 1, "number": 1, "boolean": True}
    return literal(plain.get(type_of(parameter.schema), "…"))
