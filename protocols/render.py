"""Render tools as text for a small model, compactly, or in the papers' style for comparison.

A small model repeats what it reads and loses its way in long texts, so the compact form has only what a program likely
needs: the call, its purpose, the source of its identifiers, and the main fields of its response.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import cast

from protocols.dataflow.graph import ProtocolGraph
from protocols.documentation import TYPE_NAMES, example_value, wire_name
from protocols.json_path import Step
from protocols.model import Parameter, Protocol, Schema, Tool
from protocols.quoting import estimate, first_sentence, json_text, one_line, unfenced, visible
from protocols.schema_fields import is_expandable, items_of, json_types, properties_of, scalar_types, type_of
from protocols.text.words import NAMES, SEARCHES, WRAPPERS, noun_of, stem, words

__all__ = ["PLAIN_NAMES", "hint", "render", "render_full", "sentence"]

_MAX_DEPTH = 3
_MAX_KEYS_IN_LINE = 8
"""Keys of a response in a one-line tool; with more it shows none."""
_FEW_ARGUMENTS, _MORE_ARGUMENTS = 3, 7
"""Optional arguments of a one-line tool, and of a tool with details, where not all are shown."""
_MAX_NAME = 80
"""Characters of a key."""
_MAX_EXAMPLE = 40
"""Characters of an example value."""
_RESULTS = {"bytes": "bytes", "xml": "str (XML: xml.etree.ElementTree)"}
"""Results that are no JSON."""
PLAIN_NAMES = frozenset({"id", "name", "title"})
_MIN_NAMED_TYPE = 60
"""Length of an object that gets a type name when it occurs more than once."""
_MARKUP = re.compile(r"<[^>]+>|[*`#|]+|\[([^\]]*)\]\([^)]*\)")


def render(
    tools: Iterable[Tool],
    graph: ProtocolGraph,
    *,
    details: Collection[str] | None = None,
    speaks_of: Mapping[str, str] | None = None,
    preferred: Collection[str] = (),
    fields: int = 14,
    hints: bool = True,
    budget: int | None = None,
) -> str:
    """The compact text of tools: signature, a line of description, sources of identifiers, fields of the response.

    Args:
        tools: The tools, in this order. Hints name only tools among them.
        graph: The data flow of the whole protocol.
        details: Names of the tools with details, all by default; the others have only a signature.
        speaks_of: Values that the question names, by field; each is shown as one that the field may have.
        preferred: Stems of words; fields and optional arguments with one of them come first.
        fields: Fields of an object that are shown: those that other tools take, names and scalars come first, and `…`
            stands for the rest.
        hints: Show the source of an identifier in a line of its own.
        budget: Maximum of tokens. Deep fields, then optional arguments, then descriptions are dropped; signatures
            always stay, even over the budget.
    """
    writer = partial(_ToolWriter, list(tools), graph, preferred=frozenset(preferred), most=fields, hints=hints)
    for level in _LEVELS:
        text = writer(details, speaks_of or {}, level=level).text()
        if budget is None or estimate(text) <= budget:
            return text
    return writer((), {}, level=_LEVELS[-1]).text()


def hint(graph: ProtocolGraph, tool: str, argument: str, among: Collection[str] | None = None, most: int = 1) -> str:
    """A one-line hint at the providers of an argument; empty without one.

    It names up to `most` providers: the best, then those that need an identifier themselves, for longer chains.

    Example: `person_id: int — from GET_search_person(query=…)["results"][0]["id"]`.
    """
    providers = graph.providers(tool, argument, among)
    sources = [*providers[:1], *(source for source in providers[1:] if graph.needs(source.tool))][:most]
    parameter = graph.protocol.tool(tool).argument(argument)
    if not sources or parameter is None:
        return ""
    kind = {"integer": "int", "number": "float", "boolean": "bool"}.get(type_of(parameter.schema), "str")
    if entry := graph.item_key(tool, argument):
        kind = f'[{{"{entry}": str}}]'
    return f"{argument}: {kind} — from " + " or ".join(graph.expression(source) for source in sources)


@dataclass(frozen=True, slots=True)
class _Level:
    """A level of detail: keys around the fields that are shown, optional arguments, descriptions."""

    depth: int
    optional: bool
    described: bool


_LEVELS = (_Level(_MAX_DEPTH, True, True), _Level(1, True, True), _Level(1, False, True), _Level(0, False, False))
"""From the richest to the barest."""


@dataclass
class _ToolWriter:
    """Renders tools at one level of detail.

    An object that occurs more than once becomes a named type before the tools, because a name is shorter than its
    fields.
    """

    all_tools: Sequence[Tool]
    graph: ProtocolGraph
    details: Collection[str] | None
    speaks_of: Mapping[str, str]
    preferred: frozenset[str]
    most: int
    hints: bool
    level: _Level
    type_names: dict[str, str] = field(default_factory=dict)
    inline_texts: dict[int, str] = field(default_factory=dict)
    written_hints: set[str] = field(default_factory=set)

    @cached_property
    def tools(self) -> list[Tool]:
        """The tools with details."""
        return [tool for tool in self.all_tools if self.details is None or tool.name in self.details]

    @cached_property
    def brief(self) -> list[Tool]:
        """The tools in one line each."""
        return [tool for tool in self.all_tools if self.details is not None and tool.name not in self.details]

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol of the tools."""
        return self.graph.protocol

    @cached_property
    def among(self) -> set[str]:
        """The names of all tools."""
        return {tool.name for tool in self.all_tools}

    @cached_property
    def flow_keys(self) -> frozenset[str]:
        """The keys on the paths to fields that other tools take."""
        return frozenset(
            step
            for tool in (*self.tools, *self.brief)
            for parameter in tool.arguments
            for source in self.graph.providers(tool.name, parameter.argument, self.among)[:3]
            for step in source.path
            if isinstance(step, str)
        )

    def text(self) -> str:
        uses: Counter[str] = Counter()
        first: dict[str, tuple[str, Schema]] = {}
        for tool in self.tools:
            if (schema := tool.response_schema) is not None:
                self._count(tool, schema, (), uses, first)
        repeated = {shape: first_use for shape, first_use in first.items() if uses[shape] > 1}
        for shape, (name, _) in repeated.items():
            taken = set(self.type_names.values())
            number = next(n for n in range(1, len(repeated) + 2) if (f"{name}{n}" if n > 1 else name) not in taken)
            self.type_names[shape] = f"{name}{number}" if number > 1 else name
        types = [f"{self.type_names[shape]} = {self._fields(schema, 0)}" for shape, (_, schema) in repeated.items()]
        return "\n".join([*types, *map(self._tool, self.tools), *map(self._signature, self.brief)])

    def _count(
        self,
        tool: Tool,
        schema: Schema,
        path: tuple[Step, ...],
        uses: Counter[str],
        first: dict[str, tuple[str, Schema]],
    ) -> None:
        """Count the objects of a response by their fields, without those inside an object counted before."""
        if sum(isinstance(step, str) for step in path) > self.level.depth:
            return
        items = self._items(schema)
        if items is not None:
            self._count(tool, items, (*path, 0), uses, first)
            return
        properties = properties_of(schema, self.protocol)
        if not properties:
            return
        shape = self._inline_text(schema)
        if path and len(shape) >= _MIN_NAMED_TYPE and not self._is_page(properties):
            uses[shape] += 1
            first.setdefault(shape, (self.graph.object_noun(tool.name, path, properties).capitalize(), schema))
            if uses[shape] > 1:
                return
        for name, part in self._selected_fields(schema)[0].items():
            self._count(tool, part, (*path, name), uses, first)

    def _signature(self, tool: Tool) -> str:
        """A tool in one line: required arguments, and the keys of its response."""
        if tool.function is not None:
            return _function(tool, self.level.described, 60)
        needed, signature = self._head(tool, _FEW_ARGUMENTS, 60)
        flow = [p for p in needed if p.required or tool.writes] if self.hints else []
        hints = [hint(self.graph, tool.name, p.argument, self.among) for p in flow]
        schema = tool.response_schema
        keys = list(map(_name, self._selected_fields(schema)[0])) if schema is not None else []
        line = f"{signature} -> {{{', '.join(keys)}}}" if 0 < len(keys) <= _MAX_KEYS_IN_LINE else signature
        new_hints = [hint for hint in hints if hint and not any(line.startswith(hint) for line in self.written_hints)]
        self.written_hints.update(new_hints)
        return "\n".join([line, *(f"  {hint}" for hint in new_hints)])

    def _is_page(self, properties: Mapping[str, Schema]) -> bool:
        """True if an object only wraps a list, which is more readable inline."""
        return any(
            noun_of(name) in WRAPPERS
            and (items := items_of(part, self.protocol))
            and properties_of(items, self.protocol)
            for name, part in properties.items()
        )

    def _tool(self, tool: Tool) -> str:
        if tool.function is not None:
            documented = [p for p in tool.arguments if p.description and self.level.described]
            notes = [f"  {p.argument}: {sentence(p.description)}" for p in documented]
            schema = tool.response_schema if tool.function.remote else None
            shown = schema is not None and (properties_of(schema, self.protocol) or items_of(schema, self.protocol))
            shape = [f"  -> {self._shape(schema, 0)}"] if schema is not None and shown else []
            return "\n".join([_function(tool, self.level.described, 110), *notes, *shape])
        arguments, head = self._head(tool, _MORE_ARGUMENTS if self.level.optional else 0, 110)
        lines = [head]
        flow = [p for p in arguments if self.hints and (p.required or tool.writes)]
        hints = [line for p in flow if (line := hint(self.graph, tool.name, p.argument, self.among, most=2))]
        self.written_hints.update(hints)
        lines.extend(f"  {hint}" for hint in hints)
        plain = [p for p in arguments if self.level.described and self._needs_example(tool, p)]
        if examples := [text for p in plain if (text := _example(p))]:
            lines.append(f"  e.g. {', '.join(examples)}")
        if (schema := tool.response_schema) is not None:
            kind = tool.success.kind if tool.success is not None else ""
            lines.append("  -> " + (_RESULTS.get(kind) or self._shape(schema, 0)))
        if self.level.described and (headers := tool.result_headers):
            lines.append(f"  .headers: {', '.join(map(_header, headers.items()))}")
        return "\n".join(lines)

    def _needs_example(self, tool: Tool, parameter: Parameter) -> bool:
        """True if neither a call nor the question says what to write: it is no identifier and no text of a search."""
        return (
            parameter.argument.lower() not in SEARCHES and self.graph.reference(tool.name, parameter.argument) is None
        )

    def _shape(self, schema: Schema, nested: int) -> str:
        items = self._items(schema)
        if items is not None:
            return f"[{self._shape(items, nested)}]"
        if not properties_of(schema, self.protocol):
            return TYPE_NAMES.get(type_of(schema), "any")
        if is_expandable(schema, self.protocol):
            kinds = [TYPE_NAMES[kind] for kind in scalar_types(schema, self.protocol)]
            return "|".join([*kinds, self._object(schema, max(nested, self.level.depth))])
        return self._object(schema, nested)

    def _items(self, schema: Schema) -> Schema | None:
        """The schema of an array's items; any value for a list of lists that holds itself."""
        items = inner = items_of(schema, self.protocol)
        passed: set[int] = set()
        while inner is not None and id(inner) not in passed:
            passed.add(id(inner))
            inner = items_of(inner, self.protocol)
        return items if inner is None else {}

    def _object(self, schema: Schema, nested: int) -> str:
        if self.type_names and (name := self.type_names.get(self._inline_text(schema))):
            return name
        return self._fields(schema, nested) if nested <= self.level.depth else "{…}"

    def _inline_text(self, schema: Schema) -> str:
        """An object by its fields, without type names."""
        if id(schema) not in self.inline_texts:
            names, self.type_names = self.type_names, {}
            self.inline_texts[id(schema)] = self._object(schema, 0)
            self.type_names = names
        return self.inline_texts[id(schema)]

    def _selected_fields(self, schema: Schema) -> tuple[dict[str, Schema], bool]:
        """The fields of an object that are shown, in its order, and whether others are left out."""
        properties = properties_of(schema, self.protocol)
        weights = {name: self._dispensability(name, part) for name, part in properties.items()}
        best = sorted((name for name in properties if weights[name] < 9), key=lambda name: weights[name])[: self.most]
        selected = {name: part for name, part in properties.items() if name in best}
        return (selected, len(selected) < len(properties)) if selected else (properties, False)

    def _dispensability(self, name: str, schema: Schema) -> int:
        """How dispensable a field is: 0 for identifiers and names, 9 for fields that hardly any question needs."""
        if self._is_preferred(name):
            return 0
        if name in self.flow_keys or name in self.speaks_of or (words(name)[-1:] and words(name)[-1] in PLAIN_NAMES):
            return 0
        if NAMES["noise"].intersection(words(name)) or schema.get("format") in ("uri", "url"):
            return 9
        items = items_of(schema, self.protocol)
        inside = properties_of(items if items is not None else schema, self.protocol)
        if not inside:
            return 1
        return 2 if any(not NAMES["noise"].intersection(words(key)) for key in inside) else 9

    def _is_preferred(self, name: str) -> bool:
        """True if a name has a preferred word."""
        return not self.preferred.isdisjoint(stem(word) for word in words(name) if len(word) > 2)

    def _head(self, tool: Tool, optional: int, most: int) -> tuple[list[Parameter], str]:
        """The arguments that are shown, and the call with what it does in at most so many characters.

        `optional` is the number of optional arguments; where it is 0, nothing says that there are more.
        """
        arguments, is_shortened = self._arguments(tool, optional)
        written = [*map(_argument, arguments), *(["…"] if is_shortened and optional else [])]
        text = sentence(tool.description or tool.summary, most) if self.level.described else ""
        return arguments, f"{tool.name}({', '.join(written)})" + (f" — {text}" if text else "")

    def _arguments(self, tool: Tool, most: int) -> tuple[list[Parameter], bool]:
        """The required arguments and the likeliest optional ones, in order, and whether to show an ellipsis."""
        parameters = {p.name for p in tool.parameters}
        # What a body repeats of its parameters is filled in where it must be there.
        shown = [p for p in tool.arguments if p.required or p.location != "body" or p.name not in parameters]
        optional = [p for p in shown if not p.required]
        flow = {p.argument for p in optional if tool.writes and self.graph.reference(tool.name, p.argument) is not None}
        rank = {
            p.argument: (
                not self._is_preferred(p.argument),
                p.argument not in flow,
                p.argument.lower() not in SEARCHES,
            )
            for p in optional
        }
        names = {p.argument for p in sorted(optional, key=lambda p: rank[p.argument])[:most]}
        selected = [p for p in shown if p.required or p.argument in names]
        return selected, len(selected) < len(shown)

    def _fields(self, schema: Schema, nested: int) -> str:
        fields = []
        selected, is_shortened = self._selected_fields(schema)
        for name, part in selected.items():
            shape = self._shape(part, nested + 1)
            if shape == "str":
                spoken = name in self.speaks_of and name not in PLAIN_NAMES
                shape = f"{json_text(self.speaks_of[name])}|…" if spoken else ""
            fields.append(f"{_name(name)}:{shape}" if shape else _name(name))
        return "{" + ", ".join([*fields, "…"] if is_shortened else fields) + "}"


def _header(header: tuple[str, Schema]) -> str:
    """`Location (the address of the job)`"""
    name, schema = header
    text = sentence(str(schema.get("description") or ""), 60)
    return f"{_name(name)} ({text})" if text else _name(name)


def _function(tool: Tool, described: bool, most: int) -> str:
    """A Python function with its hints, and what it does in at most so many characters."""
    usage = tool.function.typed_usage if tool.function is not None else tool.name
    text = sentence(tool.description or tool.summary, most) if described else ""
    return f"{usage} — {text}" if text else usage


def _argument(parameter: Parameter) -> str:
    """`query: str` for a required argument, `page=int` for an optional one, with the values of an enumeration."""
    kind = (
        _enum_text(parameter.schema) or _item_fields(parameter.schema) or TYPE_NAMES.get(type_of(parameter.schema), "")
    )
    kind = kind or "|".join(TYPE_NAMES[kind] for kind in json_types(parameter.schema) if kind != "object") or "any"
    kind += f" ({wire})" if (wire := wire_name(parameter)) else ""
    return f"{parameter.argument}: {kind}" if parameter.required else f"{parameter.argument}={kind}"


def _example(parameter: Parameter) -> str:
    """`query="party"` for a required argument whose document has a short example; else empty."""
    text = example_value(parameter, _MAX_EXAMPLE) if parameter.required and "enum" not in parameter.schema else ""
    return f"{parameter.argument}={text}" if text else ""


def _enum_text(schema: Schema) -> str:
    values = schema.get("enum")
    if not isinstance(values, list) or not values:
        return ""
    listed = [json_text(value) for value in values[:12]]
    return "|".join(listed) + ("|…" if len(values) > 12 else "")


def _name(key: str) -> str:
    """A key as it is written without quotes."""
    return one_line(key, _MAX_NAME)


def _item_fields(schema: Schema) -> str:
    """The fields of objects in a list argument."""
    items = schema.get("items")
    names = list(map(_name, cast("Schema", items.get("properties") or {}))) if isinstance(items, Mapping) else []
    return f"[{{{', '.join(names[:_FEW_ARGUMENTS])}{', …' if len(names) > _FEW_ARGUMENTS else ''}}}]" if names else ""


def sentence(text: str, most: int = 110) -> str:
    """The first sentence of a description, without markup, at most so many characters, cut at a word."""
    clean = one_line(_MARKUP.sub(lambda markup: markup.group(1) or " ", text))
    first = first_sentence(clean, len(clean))
    if len(first) <= most:
        return first
    return first[:most].rsplit(" ", 1)[0].rstrip(",;:") + "…"


def render_full(tools: Iterable[Tool]) -> str:
    """The same tools in the papers' style: every parameter with its description, the response as a JSON schema."""
    parts = []
    for tool in tools:
        url = (tool.servers[0].url if tool.servers else "") + tool.path
        place = (
            f"### API url\n{tool.method} {url}" if tool.function is None else f"### Usage\n{tool.function.typed_usage}"
        )
        lines = [f"API name: {tool.name}", place, "### Description"]
        lines.append(tool.description or tool.summary or "none")
        lines.append("### Parameters")
        lines.extend(
            f"- {p.name}: {p.description or p.schema.get('description', '')} "
            f"(type: {type_of(p.schema) or 'any'}, in: {p.location}{', required' if p.required else ''})"
            for p in tool.arguments
        )
        if (schema := tool.response_schema) is not None:
            lines.append("### Execution result specification")
            lines.append(json.dumps(_without_examples(schema), indent=1, ensure_ascii=False))
        parts.append("\n".join(lines))
    return unfenced(visible("\n\n".join(parts)))


def _without_examples(value: object) -> object:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {key: _without_examples(part) for key, part in items if key not in {"example", "examples"}}
    return [_without_examples(part) for part in value] if isinstance(value, list) else value
