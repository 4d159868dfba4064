"""How one call of a plan sketch is written: its arguments, and before it the calls that provide them."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from atc.language.question import Question
from atc.planning.providers import MAX_DEPTH, ProviderRanking, path_nouns
from protocols.dataflow.graph import ProtocolGraph, ProvidedField, selector_arguments
from protocols.json_path import Step, subscripts
from protocols.model import Parameter, Tool
from protocols.schema_fields import ResponseField, fields, type_of
from protocols.text.words import SEARCHES, noun_of, singular, stem, words

__all__ = ["StepWriter", "placeholder", "quoted"]

_LITERAL = re.compile(r'\["[^"]*"\]|"[^"]*"')
COORDINATE_WORDS = frozenset({("lat",), ("latitude",), ("lon",), ("lng",), ("long",), ("longitude",)})
"""Last words of the names of arguments that take a latitude or a longitude."""
_TITLES = (("name",), ("title",), ("label",))


@dataclass
class StepWriter:
    """The lines of a plan sketch, as they are written."""

    ranking: ProviderRanking
    lines: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Variables by the expression that they hold."""
    sought: list[str] = field(default_factory=list)
    """The entity types that are being looked for: what leads back to one of them leads nowhere."""

    @property
    def question(self) -> Question:
        """The question of which the ranking is."""
        return self.ranking.question

    @property
    def graph(self) -> ProtocolGraph:
        """The data flow of which the ranking is."""
        return self.ranking.graph

    def call(self, tool: Tool, depth: int) -> str | None:
        """The call of a tool, its values found before; None where one of them cannot be found."""
        arguments = []
        for parameter in self._chosen_arguments(tool, depth):
            value = self._value(tool, parameter, depth)
            if value is None:
                return None
            arguments.append(f"{parameter.argument}={value}")
        return f"{tool.name}({', '.join(arguments)})"

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
        argument_stems = set(map(stem, words(parameter.argument)))
        return bool(argument_stems) and argument_stems <= set(self.question.stems)

    def _is_content(self, parameter: Parameter) -> bool:
        """True if an argument holds the content of a write, and no option of it."""
        text = type_of(parameter.schema) == "string" and placeholder(parameter) == '"…"'
        return text and parameter.location == "body" and parameter.argument != "body"

    def _filters(self, tool: Tool) -> list[Parameter]:
        """The optional arguments that narrow a call to the question: coordinates, limits, a search, a word of the
        question.
        """
        limits = [p for p in tool.arguments if self.ranking.limit(p) is not None]
        if self.question.coordinates and not any(self.ranking.providers(tool, p) for p in tool.arguments):
            here = [p for p in tool.arguments if words(p.argument)[-1:] in COORDINATE_WORDS]
            if len(here) == 2:
                return here
        searches = [p for p in tool.arguments if p.argument.lower() in SEARCHES]
        free = [
            p for p in tool.arguments if placeholder(p) == '"…"' and self.graph.reference(tool.name, p.argument) is None
        ]
        about = {*self.question.stems, *map(stem, words(tool.path))}
        if limits:
            return [*searches[:1], *limits]
        return (searches or [p for p in free if set(map(stem, words(p.argument))) <= about])[:1]

    def _value(self, tool: Tool, parameter: Parameter, depth: int) -> str | None:
        """The text of an argument; None where its providers cannot be called."""
        reference = self.ranking.reference(tool, parameter)
        number = self.question.ordinals.get(stem(reference.noun)) if reference is not None else None
        if number is not None and words(parameter.argument)[-1:] == ("number",):
            return str(number)
        code = self.question.code_of(reference.noun) if reference is not None else None
        if code and type_of(parameter.schema) == "string":
            return json.dumps(code)
        providers = self.ranking.providers(tool, parameter)
        if reference is None or (not providers and not parameter.required):
            return self._literal(tool, parameter)
        entry = self.graph.item_key(tool.name, parameter.argument)
        for provider in providers:
            expression = self._produced(provider, reference.noun, parameter, depth, entry)
            if expression is not None:
                return expression
        return self._literal(tool, parameter) if not providers else None

    def _literal(self, tool: Tool, parameter: Parameter) -> str:
        """The value that the question gives for an argument, else a placeholder."""
        if (limit := self.ranking.limit(parameter)) is not None:
            return limit
        about = self.sought[-1] if self.sought else (path_nouns(tool) or [""])[-1]
        text = placeholder(parameter)
        last = words(parameter.argument)[-1:]
        if self.question.coordinates and last in COORDINATE_WORDS:
            coordinate = self.question.coordinates["lon" in last[0] or "lng" in last[0]]
            return json.dumps(coordinate) if text == '"…"' else coordinate
        if text != '"…"':
            stems = set(self.question.stems)
            mentioned = [value for value in _enum_values(parameter) if set(map(stem, words(value))) <= stems]
            return quoted(mentioned[0]) if len(mentioned) == 1 else text
        name = None
        if parameter.argument.lower() in SEARCHES:
            new = self.question.new_name if tool.writes else None
            name = new or next(iter(self.question.qualifiers(about)), None) or self.question.name_of(about)
        elif last in (("date",), ("day",)):
            name = self.question.day
        return quoted(name) if name is not None else text

    def _produced(self, provider: ProvidedField, noun: str, parameter: Parameter, depth: int, entry: str) -> str | None:
        """The text of a provided value, after the lines that call its provider.

        Args:
            entry: The key of the value in each object of an array argument; empty where the value stands by itself.
        """
        if depth >= MAX_DEPTH or noun in self.sought:
            return None
        before = list(self.lines), dict(self.names)
        provider_tool = self.graph.protocol.tool(provider.tool)
        self.sought.append(noun)
        call = self.call(provider_tool, depth + 1)
        self.sought.pop()
        if call is None:
            self.lines, self.names = before
            return None
        call = _with_choices(call, provider_tool, provider)
        several = type_of(parameter.schema) == "array" or parameter.argument.endswith("s")
        ends = [place for place, step in enumerate(provider.path) if step == 0]
        if several and ends and not self._is_single(call, noun):
            items, rest = provider.path[: ends[-1]], provider.path[ends[-1] + 1 :]
            name = self._variable(f"{call}{subscripts(items)}", f"{noun}s")
            item = _identifier(noun)
            count = self.question.count_of(noun)
            value = _entry(entry, f"{item}{subscripts(rest)}")
            return f"[{value} for {item} in {name}{f'[:{count}]' if count > 1 else ''}]"
        holder, rest = provider.path[:-1], provider.path[-1:]
        name = self._variable(self._pick(call, provider, noun) or f"{call}{subscripts(holder)}", noun)
        listed = type_of(parameter.schema) == "array" or (several and bool(ends))
        value = _entry(entry, f"{name}{subscripts(rest)}")
        return f"[{value}]" if listed else value

    def _is_single(self, call: str, noun: str) -> bool:
        """True if a call looks for the only item that the question names, or for the first one."""
        if self._is_plural(noun):
            return False
        first = [kind for kind, number in self.question.ordinals.items() if number == 1]
        called_so = stem(noun) in first or (bool(first) and stem(noun) not in self.question.stems)
        return called_so or any(quoted(name.text) in call for name in self.question.names)

    def _is_plural(self, noun: str) -> bool:
        """True if the question has a noun in the plural."""
        return noun in {singular(word) for word in words(self.question.text) if singular(word) != word}

    def _pick(self, call: str, provider: ProvidedField, noun: str) -> str | None:
        """The item of a list that the question means, by an order as in `the latest` or by its name."""
        items = provider.path[:-1]
        if items[-1:] != (0,):
            return None
        name = self.ranking.name_of(noun)
        fields_of_item = self._fields(provider.tool, items)
        title = _title_field([entry.name for entry in fields_of_item if type_of(entry.schema) == "string"])
        if name is not None and title is not None and not self._is_plural(noun):
            call = _unfiltered(call, self.graph.protocol.tool(provider.tool), name)
        if name is not None and title is not None and quoted(name) not in call:
            item = _identifier(noun)
            return f'next({item} for {item} in {call}{subscripts(items[:-1])} if {item}["{title}"] == {quoted(name)})'
        listed = noun_of(str(items[-2])) if len(items) > 1 else path_nouns(self.graph.protocol.tool(provider.tool))[-1]
        order, by = self.question.superlative(noun) or self.question.superlative(listed) or ("", frozenset())
        texts = "date" in by
        sort_fields = [
            entry
            for entry in fields_of_item
            if not by.isdisjoint(words(entry.name)) and (texts or type_of(entry.schema) in ("integer", "number"))
        ]
        if not sort_fields:
            return None
        item = _identifier(noun)
        value = f'{item}["{sort_fields[0].name}"]'
        key = f'str({value} or "")' if texts else f"{value} or 0"
        return f"{order}({call}{subscripts(items[:-1])}, key=lambda {item}: {key})"

    def _fields(self, tool: str, items: tuple[Step, ...]) -> list[ResponseField]:
        """The fields of the items of a list in a tool's response."""
        protocol = self.graph.protocol
        success = protocol.tool(tool).success
        all_fields = fields(success.schema, protocol, 3) if success is not None and success.schema is not None else ()
        return [item_field for item_field in all_fields if item_field.path[:-1] == items]

    def _variable(self, expression: str, noun: str) -> str:
        """The variable that holds an expression, set on a line of its own at its first use."""
        if expression not in self.names:
            taken = set(self.names.values())
            name = _identifier(noun)
            self.names[expression] = name if name not in taken else f"{name}{len(taken) + 1}"
            self.lines.append(f"{self.names[expression]} = {expression}")
        return self.names[expression]


def _entry(key: str, value: str) -> str:
    """A value in an object under a key, if there is one."""
    return f'{{"{key}": {value}}}' if key else value


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _identifier(noun: str) -> str:
    """A noun as the name of a variable."""
    return noun if noun.isidentifier() and not keyword.iskeyword(noun) else "found"


def _with_choices(call: str, tool: Tool, provider: ProvidedField) -> str:
    """A call with the arguments that select the entity type."""
    for argument, text in selector_arguments(tool, provider).items():
        before, sign, after = call.partition(f"{argument}=")
        if literal := _LITERAL.match(after):
            call = before + sign + text + after[literal.end() :]
    return call


def _unfiltered(call: str, tool: Tool, name: str) -> str:
    """A call without the optional argument that searches for a name, as a service may match names loosely."""
    for parameter in tool.arguments:
        if not parameter.required and parameter.argument.lower() in SEARCHES:
            call = re.sub(rf"(?:, )?\b{parameter.argument}={re.escape(quoted(name))}", "", call).replace("(, ", "(")
    return call


def _title_field(names: Sequence[str]) -> str | None:
    """The field with the name of an item: `name`, `title` or `label`, else one that ends so (`displayName`)."""
    last = [name for name in names if words(name)[-1:] in _TITLES]
    return min(last, key=lambda name: (len(words(name)), _TITLES.index(words(name)[-1:])), default=None)


def _enum_values(parameter: Parameter) -> list[str]:
    """The strings that an argument may take."""
    return [value for value in cast("list[object]", parameter.schema.get("enum") or []) if isinstance(value, str)]


def placeholder(parameter: Parameter) -> str:
    """`"…"` for a value of the question, else the first value that may be chosen."""
    values = parameter.schema.get("enum")
    if isinstance(values, list) and values:
        return repr(values[0]).replace("'", '"')
    return {"array": '["…"]', "integer": "1", "number": "1", "boolean": "True"}.get(type_of(parameter.schema), '"…"')
