"""How one call of a plan sketch is written: its arguments, and before it the calls that provide them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from typing import cast

from atc.assist.language.question import Question
from atc.assist.planning.loops import return_words
from atc.assist.planning.providers import ProviderRanking, path_nouns
from atc.program.chain import Chain, identifier, is_content, placeholder, stems_of
from atc.program.plan import (
    PLACEHOLDER,
    Call,
    Expression,
    Literal,
    Path,
    Pick,
    Ref,
    parts,
)
from protocols.dataflow.graph import ProtocolGraph, ProvidedField
from protocols.model import Parameter, Tool
from protocols.schema_fields import ResponseField, fields, type_of
from protocols.text.words import SEARCHES, noun_of, singular, stem, words

__all__ = ["StepWriter", "name_in"]

COORDINATE_WORDS = frozenset({("lat",), ("latitude",), ("lon",), ("lng",), ("long",), ("longitude",)})
"""Last words of the names of arguments that take a latitude or a longitude."""
_TITLES = (("name",), ("title",), ("label",))


class StepWriter(Chain):
    """Writes the calls of a plan; `steps` are those that provide the arguments of the last one."""

    def __init__(self, graph: ProtocolGraph, callable_tools: Collection[str], question: Question) -> None:
        super().__init__(graph)
        self.question = question
        self.ranking = ProviderRanking(graph, frozenset(callable_tools), question)

    def chosen_arguments(self, tool: Tool, depth: int) -> list[Parameter]:
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
            filter(is_content, optional),
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
        argument_stems = stems_of(parameter.argument)
        return bool(argument_stems) and argument_stems <= set(self.question.stems)

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
        about = {*self.question.stems, *stems_of(tool.path)}
        free = [p for p in tool.arguments if placeholder(p) == PLACEHOLDER and stems_of(p.argument) <= about]
        return (searches or [p for p in free if self.graph.reference(tool.name, p.argument) is None])[:1]

    def value(self, tool: Tool, parameter: Parameter, depth: int) -> Expression | None:
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
        for provider in providers:
            value = self.provided(provider, reference.noun, tool, parameter, depth)
            if value is not None:
                return value
        return self._from_question(tool, parameter) if not providers else None

    def _from_question(self, tool: Tool, parameter: Parameter) -> Expression:
        """The value that the question gives for an argument, else a placeholder."""
        if (limit := self.ranking.limit(parameter)) is not None:
            return Literal(Decimal(limit))
        about = self.sought[-1] if self.sought else (path_nouns(tool) or [""])[-1]
        default = placeholder(parameter)
        last = words(parameter.argument)[-1:]
        if self.question.coordinates and last in COORDINATE_WORDS:
            coordinate = self.question.coordinates["lon" in last[0] or "lng" in last[0]]
            return Literal(coordinate if default == PLACEHOLDER else Decimal(coordinate))
        if default != PLACEHOLDER:
            values = cast("list[object]", parameter.schema.get("enum") or [])
            texts = [value for value in values if isinstance(value, str)]
            mentioned = [text for text in texts if stems_of(text) <= set(self.question.stems)]
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
        return Ref(self.variable(Call(names[0], ()), noun)) if len(names) == 1 else None

    def is_single(self, call: Call, noun: str) -> bool:
        """True if a call looks for the only item that the question names, or for the first one."""
        if self._is_plural(noun):
            return False
        first = [kind for kind, number in self.question.ordinals.items() if number == 1]
        called_so = stem(noun) in first or (bool(first) and stem(noun) not in self.question.stems)
        return called_so or name_in(call, self.question)

    def count_of(self, noun: str) -> int | None:
        """As `Chain.count_of`: the number that the question says."""
        count = self.question.count_of(noun)
        return count if count > 1 else None

    def _is_plural(self, noun: str) -> bool:
        """True if the question has a noun in the plural."""
        return noun in {singular(word) for word in self.question.words if singular(word) != word}

    def pick(self, call: Call, provider: ProvidedField, noun: str) -> Expression | None:
        """The item of a list that the question means, by an order as in `the latest` or by its name."""
        items = provider.path[:-1]
        if items[-1:] != (0,):
            return None
        tool = self.graph.protocol.tool(provider.tool)
        name = self.ranking.name_of(noun)
        fields_of_item = list(self._fields(tool, items))
        title = _title_field([entry.name for entry in fields_of_item if type_of(entry.schema) == "string"])
        item = identifier(noun)
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


def name_in(call: Call, question: Question) -> bool:
    """True if a call has a name of the question."""
    return any(Literal(name.text) in parts(call) for name in question.names)


def _title_field(names: Sequence[str]) -> str | None:
    """The field with the name of an item: `name`, `title` or `label`, else one that ends so (`displayName`)."""
    last = [name for name in names if words(name)[-1:] in _TITLES]
    return min(last, key=lambda name: (len(words(name)), _TITLES.index(words(name)[-1:])), default=None)
