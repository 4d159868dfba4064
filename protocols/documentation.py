"""The documentation of tools as Python: what a strong model reads.

It holds what the API document says: types with all their values, defaults, limits, the text of every argument and
field. Nothing of a question is in it, so it is the same for all of them. A budget takes away in steps, and says what it
took; no sentence and no list of values is cut without a word.
"""

from __future__ import annotations

import itertools
import json
import keyword
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

from protocols.dataflow.graph import ProtocolGraph, ProvidedField
from protocols.dataflow.sources import source_of
from protocols.json_path import Step
from protocols.model import Parameter, Schema, Tool
from protocols.naming import argument_name
from protocols.quoting import estimate, first_sentence, json_text, plain, sentences, unfenced
from protocols.schema_fields import (
    declared_types,
    is_expandable,
    items_of,
    json_types,
    properties_of,
    resolve,
    scalar_types,
    variants,
    wrapper_of,
)
from protocols.text.words import SEARCHES, TEXTS, singular, stem, words

__all__ = ["TYPE_NAMES", "documentation", "example_value", "wire_name"]

TYPE_NAMES = {
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "string": "str",
    "array": "list",
    "object": "dict",
}
_RESULTS = {"bytes": "bytes", "xml": "str"}
_MOST_VALUES = 600
"""Characters of an enumeration that is written whole in a signature; a longer one is told with its first values."""
_FIRST_VALUES = 12
_MOST_TEXT = 500
"""Characters of a description that are written, in whole sentences; the rest is told by its length."""
_MOST_FIELD_TEXT = 200
"""Characters of a field's first sentence; longer ones are left out whole."""
_MOST_LINE = 120
"""Characters of the sentence beside a tool in one line."""
_CUT_KEYS = 12
"""Keys that are named of an object whose fields are left out."""
_EXAMPLE = 60
_FEW_MEMBERS = 3
"""Members of a class that says little without its noun."""
_MOST_CLASSES = 150
"""Classes of one text; further objects are told by their keys."""
_RESERVED = frozenset({"Any", "False", "Literal", "None", "NotRequired", "T", "True", "TypedDict"})
_LEAST_DESCRIBED = 3
"""Tools that are described whatever the budget is: of what is not seen nothing can be written."""
_LONG_LITERAL = 80
"""Characters of an enumeration that gets a name where it occurs twice."""
_LONG_DEFAULT = 30
"""Characters of a default that is shown; longer texts are descriptions in the wrong place."""
_LITERAL = re.compile(r"Literal\[(?:\"(?:[^\"\\]|\\.)*\"|[^\]\"])*\]")
_ARGUMENT = re.compile(r"(\w+): ([^:]*Literal\[.*?\])")
_LISTED = re.compile(r"list\[(\w+)\]")
_NUMBERED = re.compile(r"(.+)_\d+")
_EMPTY_WORDS = TEXTS["articles"] | TEXTS["small words"] | TEXTS["stop words"]


@dataclass(frozen=True, slots=True)
class _Detail:
    """What is written: examples, descriptions of fields, objects so deep, descriptions of optional arguments."""

    examples: bool = True
    fields: bool = True
    depth: int = 5
    optional: bool = True


_TAKEN = ("examples", "descriptions of fields", "fields of inner objects", "descriptions of optional arguments")
_STEPS = (
    (_Detail(), 0),
    (_Detail(False), 1),
    (_Detail(False, False), 2),
    (_Detail(False, False, 2), 3),
    (_Detail(False, False, 1), 3),
    (_Detail(False, False, 1, False), 4),
    (_Detail(False, False, 0, False), 4),
)
"""What is written, from all to least, each with how much of `_TAKEN` is left out by then."""


def documentation(
    tools: Iterable[Tool],
    graph: ProtocolGraph,
    *,
    details: Collection[str] | None = None,
    sources: Collection[str] | None = None,
    budget: int | None = None,
    count: Callable[[str], int] = estimate,
) -> str:
    """Tools as Python: the classes of their objects, then each tool with a docstring, or in a line.

    Args:
        tools: The tools, in this order.
        graph: The data flow of the whole protocol.
        details: Names of the tools with a docstring, all by default; of the others the required arguments are shown.
        sources: Names of the tools that may be named where an identifier comes from, all of `tools` by default; none
            where no source is to be told.
        budget: Maximum of tokens. What is beyond it goes in this order: examples, descriptions of fields, fields of
            inner objects, descriptions of optional arguments, then the docstrings of the last tools. A comment says
            what went. Signatures stay, even over the budget.
        count: Counts the tokens of a text.
    """
    listed = list(tools)
    described = [tool for tool in listed if details is None or tool.name in details]
    among = sources if sources is not None else [tool.name for tool in listed]
    for detail, steps in _STEPS:
        taken = _TAKEN[:steps]
        text = _text(listed, described, graph, detail, among, taken)
        if budget is None or count(text) <= budget:
            return text
    while len(described) > _LEAST_DESCRIBED:
        described = described[: max(_LEAST_DESCRIBED, len(described) * 3 // 4)]
        text = _text(listed, described, graph, detail, among, (*taken, "what the last functions do and return"))
        if count(text) <= cast("int", budget):
            break
    return text


def _text(
    listed: Sequence[Tool],
    described: Sequence[Tool],
    graph: ProtocolGraph,
    detail: _Detail,
    among: Collection[str],
    taken: Sequence[str],
) -> str:
    objects = _Objects(graph, detail)
    whole = {tool.name for tool in described}
    texts = {tool.name: _argument_texts(tool, objects, among) for tool in listed if tool.name in whole}
    uses = Counter(item for arguments in texts.values() for item in arguments.items())
    texts_of = Counter(name for name, _ in uses)
    shared = {(name, text) for (name, text), count in uses.items() if count > 1 and texts_of[name] == 1}
    functions = [
        _function(tool, objects, dict(texts[tool.name].items() - shared)) for tool in listed if tool.name in whole
    ]
    parts = [f"# Left out for length: {', '.join(taken)}."] if taken else []
    if shared:
        common = [f"# {name}: {text}" for name, text in uses if (name, text) in shared]
        parts.append("\n".join(["# Arguments of several functions:", *common]))
    parts += objects.text(functions)
    lines = [_line(tool) for tool in listed if tool.name not in whole]
    return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])])


@dataclass(frozen=True, slots=True)
class _Member:
    """A key of an object, its type, what is said of it, and whether an argument may go without it."""

    key: str
    type: str
    note: str
    optional: bool = False


@dataclass
class _Objects:
    """The classes of the objects that tools take and return; equal objects share one."""

    graph: ProtocolGraph
    detail: _Detail
    classes: dict[str, tuple[_Member, ...]] = field(default_factory=dict)
    """By name, the members of each class."""
    _names: dict[tuple[frozenset[tuple[str, str]], str], str] = field(default_factory=dict)
    """By its keys and types, and by its noun where they are few: a genre with id and name is not called a person."""
    _typed: dict[tuple[int, int, bool], tuple[str, str]] = field(default_factory=dict)
    """By the identity of a schema, how deep it is and whether it is taken: its type, and what that leaves unsaid."""
    _typing: set[int] = field(default_factory=set)
    _open: dict[int, str] = field(default_factory=dict)
    """By the identity of its schema, the name of an object that is being written."""

    @cached_property
    def _component_names(self) -> dict[int, str]:
        """The names that the document has for schemas, by the identity of the schema; of several, the innermost."""
        parts = ((schema, words(name)) for name, schema in reversed([*self.graph.protocol.components.items()]))
        names = ((schema, "".join(map(str.capitalize, part))) for schema, part in parts)
        return {id(schema): name for schema, name in names if name.isidentifier()}

    def result(self, tool: Tool) -> str:
        """The type of what a tool returns."""
        kind = tool.success.kind if tool.success is not None else ""
        schema = tool.response_schema
        if kind in _RESULTS:
            return _RESULTS[kind]
        if schema is None:
            return "None" if tool.success is not None and tool.success.media_type is None else "Any"
        return self.type(schema, tool, (), 0)[0]

    def type(
        self, schema: Schema, tool: Tool, path: tuple[Step, ...], depth: int, taken: bool = False
    ) -> tuple[str, str]:
        """The Python type of a schema, and what it leaves unsaid. `taken`: it is of an argument."""
        schema = resolve(schema, self.graph.protocol)
        if name := self._open.get(id(schema)):
            return name, ""
        use = (id(schema), depth, taken)
        if use not in self._typed:
            if id(schema) in self._typing:
                return "Any", ""  # a list or a map of itself
            self._typing.add(id(schema))
            self._typed[use] = self._type(schema, tool, path, depth, taken)
            self._typing.discard(id(schema))
        return self._typed[use]

    def _type(self, schema: Schema, tool: Tool, path: tuple[Step, ...], depth: int, taken: bool) -> tuple[str, str]:
        nullable = " | None" if "null" in declared_types(schema) else ""
        if literal := _literal(schema):
            return literal if literal.endswith("None]") else literal + nullable, ""
        items = items_of(schema, self.graph.protocol)
        if items is not None:
            inner, unsaid = self.type(items, tool, (*path, 0), depth, taken)
            return f"list[{inner}]{nullable}", unsaid
        parts = [resolve(part, self.graph.protocol) for part in cast("list[Schema]", schema.get("anyOf") or [])]
        alternatives = [part for part in parts if properties_of(part, self.graph.protocol)]
        if len(alternatives) > 1 and "properties" not in schema and "allOf" not in schema:
            present = (part for part in parts if "null" not in declared_types(part))
            types = dict.fromkeys(self.type(part, tool, (*path, "…"), depth, taken)[0] for part in present)
            return " | ".join(types) + nullable, ""
        properties = properties_of(schema, self.graph.protocol)
        if not properties:
            kinds = json_types(schema) or scalar_types(schema, self.graph.protocol)
            values = schema.get("additionalProperties")
            if kinds == ("object",) and isinstance(values, Mapping) and values:
                inner, unsaid = self.type(values, tool, (*path, "…"), depth + 1, taken)
                return f"dict[str, {inner}]{nullable}", unsaid
            return (" | ".join(TYPE_NAMES[kind] for kind in kinds) or "Any") + nullable, ""
        scalars = [TYPE_NAMES[kind] for kind in scalar_types(schema, self.graph.protocol)]
        expandable = [*scalars] if is_expandable(schema, self.graph.protocol) else []
        name, unsaid = self._object(schema, properties, tool, path, depth, taken)
        return " | ".join([*expandable, name]) + nullable, unsaid

    def _object(
        self,
        schema: Schema,
        properties: Mapping[str, Schema],
        tool: Tool,
        path: tuple[Step, ...],
        depth: int,
        taken: bool,
    ) -> tuple[str, str]:
        if depth > self.detail.depth or len(self.classes) >= _MOST_CLASSES:
            keys = list(properties)
            more = f" and {len(keys) - _CUT_KEYS} more" if len(keys) > _CUT_KEYS else ""
            return "dict", f"keys: {', '.join(map(plain, keys[:_CUT_KEYS]))}{more}"
        noun = self._noun(schema, properties, tool, path, taken)
        name = self._open[id(schema)] = self._free(noun)
        self.classes[name] = ()  # its name is taken
        required = {
            str(key)
            for part in variants(schema, self.graph.protocol)
            for key in cast("list[object]", part.get("required") or [])
        }
        members = []
        for key, part in properties.items():
            kind, unsaid = self.type(part, tool, (*path, key), depth + 1, taken)
            limits = [_limits(part)] if taken else []
            notes = [_field_text(key, part) if self.detail.fields else "", *limits, _long_enumeration(part), unsaid]
            members.append(_Member(key, kind, "; ".join(filter(None, notes)), taken and key not in required))
        del self._open[id(schema)], self.classes[name]
        same = (frozenset((m.key, m.type) for m in members), noun if len(members) <= _FEW_MEMBERS else "")
        if equal := self._names.get(same):
            # What is taken and returned is one class, with all that is said of either.
            others = {member.key: member for member in members}
            self.classes[equal] = tuple(
                replace(max(m, others[m.key], key=lambda m: len(m.note)), optional=m.optional or others[m.key].optional)
                for m in self.classes[equal]
            )
            return equal, ""
        self._names[same] = name
        self.classes[name] = tuple(members)
        return name, ""

    def text(self, functions: Sequence[tuple[str, str]]) -> list[str]:
        """The classes, and functions (head, docstring); pages that differ in their items alone are a generic class."""
        pages: dict[frozenset[_Member], dict[str, str]] = {}
        first: dict[frozenset[_Member], tuple[_Member, ...]] = {}
        for name, members in self.classes.items():
            lists = [(place, match[1]) for place, m in enumerate(members) if (match := _LISTED.fullmatch(m.type))]
            inner = [item for _, item in lists if item in self.classes]
            if len(lists) == len(inner) == 1 and len(members) > 1 and not self._has_classes(members, lists[0][0]):
                place = lists[0][0]
                of_any = (*members[:place], replace(members[place], type="list[T]"), *members[place + 1 :])
                pages.setdefault(frozenset(of_any), {})[name] = inner[0]
                first.setdefault(frozenset(of_any), of_any)
        classes = dict(self.classes)
        named: dict[str, str] = {}
        for page_members, uses in (item for item in pages.items() if len(item[1]) > 1):
            page = self._free("Page", classes)
            for name, item in uses.items():
                del classes[name]
                named[name] = f"{page}[{item}]"
            classes = {f"{page}[T]": first[page_members], page: (), **classes}
        classes = {name: members for name, members in classes.items() if f"{name}[T]" not in classes}
        pattern = re.compile(rf"{_LITERAL.pattern}|\b(?P<name>{'|'.join(named)})\b")
        arguments = [(match[1], match[2]) for head, _ in functions for match in _ARGUMENT.finditer(head)]
        members_of = [(m.key, m.type) for members in classes.values() for m in members]
        literals = self._named_literals([*arguments, *members_of], classes)

        def written(text: str) -> str:
            for literal, name in literals.items():
                text = text.replace(literal, name)
            if not named:
                return text
            return pattern.sub(lambda match: named[match["name"]] if match["name"] else match[0], text)

        typed = {name: [replace(m, type=written(m.type)) for m in members] for name, members in classes.items()}
        return [
            *(f"{name} = {literal}" for literal, name in literals.items()),
            *(_class(name, members) for name, members in typed.items()),
            *(f"{written(head)}{rest}" for head, rest in functions),
        ]

    @staticmethod
    def _named_literals(types: Sequence[tuple[str, str]], taken: Collection[str]) -> dict[str, str]:
        """Long enumerations that occur more than once, each with a name after the first key that has it."""
        counts = Counter(literal for _, text in types for literal in _LITERAL.findall(text))
        names: dict[str, str] = {}
        for key, text in types:
            for literal in _LITERAL.findall(text):
                if counts[literal] > 1 and len(literal) > _LONG_LITERAL and literal not in names:
                    free = (f"{_camel(key)}{number or ''}" for number in itertools.count())
                    used = {*names.values(), *(name.partition("[")[0] for name in taken), *_RESERVED}
                    names[literal] = next(name for name in free if name not in used)
        return names

    def _has_classes(self, members: Sequence[_Member], but: int) -> bool:
        """True if a member other than one of them has a class as its type."""
        others = (m.type for place, m in enumerate(members) if place != but)
        return any(word in self.classes for text in others for word in re.findall(r"\w+", text))

    def _noun(
        self,
        schema: Schema,
        properties: Mapping[str, Schema],
        tool: Tool,
        path: tuple[Step, ...],
        taken: bool,
    ) -> str:
        """What an object is called: as the document names it, by the key around it, or by what the tool is about."""
        if name := self._component_names.get(id(schema)):
            return name
        keys = [step for step in path if isinstance(step, str) and words(step)]
        if taken:
            return _camel(keys[-1]) if keys else "Body"
        noun = _camel(self.graph.object_noun(tool.name, path, properties) or "item")
        return f"{noun}Page" if wrapper_of(schema, self.graph.protocol) else noun

    def _free(self, name: str, others: Collection[str] = ()) -> str:
        return next(
            candidate
            for number in itertools.count(1)
            if (candidate := f"{name}{number}" if number > 1 else name) not in {*self.classes, *others, *_RESERVED}
        )


def _camel(name: str) -> str:
    parts = words(name)
    camel = "".join(part.capitalize() for part in (*parts[:-1], singular(parts[-1]))) if parts else "Item"
    return camel if camel.isidentifier() else f"Item{camel}"


def _class(name: str, members: Sequence[_Member]) -> str:
    """A class, in the form with a dict where a key is no name in Python."""
    total = ", total=False" if members and all(m.optional for m in members) else ""
    if not total:
        members = [replace(m, type=f"NotRequired[{m.type}]") if m.optional else m for m in members]
    if all(m.key.isidentifier() and not keyword.iskeyword(m.key) for m in members):
        lines = [f"    {m.key}: {m.type}{f'  # {m.note}' if m.note else ''}" for m in members]
        return "\n".join([f"class {name}(TypedDict{total}):", *lines])
    lines = [f"    {json_text(m.key)}: {m.type},{f'  # {m.note}' if m.note else ''}" for m in members]
    return "\n".join([f'{name} = TypedDict("{name}", {{', *lines, f"}}{total})"])


def _literal(schema: Schema) -> str:
    """`Literal[…]` for an enumeration that is written whole; else empty."""
    values = schema.get("enum") if "const" not in schema else [schema["const"]]
    if not isinstance(values, list) or not values or any(isinstance(value, list | dict) for value in values):
        return ""
    text = ", ".join(json_text(value) if isinstance(value, str) else repr(value) for value in values)
    return f"Literal[{text}]" if len(text) <= _MOST_VALUES else ""


def _long_enumeration(schema: Schema) -> str:
    """What is said of an enumeration that is too long for a signature."""
    values = schema.get("enum")
    if not isinstance(values, list) or not values or _literal(schema):
        return ""
    first = [json_text(value) for value in values[:_FIRST_VALUES]]
    while len(first) > 1 and len(", ".join(first)) > _MOST_VALUES // 2:
        first.pop()
    return f"One of {len(values):,} values: {', '.join(first)[:_MOST_VALUES]} and {len(values) - len(first):,} others"


def _field_text(name: str, schema: Schema) -> str:
    """What a field's description says beyond its name: a whole sentence, or nothing."""
    first = first_sentence(plain(str(schema.get("description") or "")), _MOST_FIELD_TEXT).rstrip(".")
    own = {stem(word) for word in words(name)} | _EMPTY_WORDS
    new = {stem(word) for word in words(first)} - own
    return first if len(new) > 1 else ""


def _function(tool: Tool, objects: _Objects, arguments: Mapping[str, str]) -> tuple[str, str]:
    """A tool: its head, and its docstring."""
    if tool.function is not None:
        result = f" -> {objects.result(tool)}" if tool.function.remote and tool.response_schema is not None else ""
        head = f"{tool.function.typed_usage}{result}"
    else:
        head = f"def {tool.name}({_signature(tool, objects)}) -> {objects.result(tool)}:"
    about = _whole(_purpose(tool))
    lines = [f"{p.argument}: {arguments[p.argument]}" for p in tool.arguments if p.argument in arguments]
    if kind := tool.success.kind if tool.success is not None else "":
        lines += ["Returns XML as text; xml.etree.ElementTree reads it."] if kind == "xml" else []
    lines += [
        f"result.headers[{name!r}]: {plain(str(header.get('description') or header.get('type') or ''))}"
        for name, header in tool.result_headers.items()
    ]
    text = "\n\n    ".join(filter(None, [about, "\n    ".join(lines)])).replace('"""', "'''")
    quotes = 'r"""' if "\\" in text else '"""'
    end = "\n    " if lines or text.endswith(('"', "\\")) else ""
    if not text:
        return head, "" if tool.function is not None else " ..."
    return head, f'\n    {quotes}{text}{end}"""'


def _purpose(tool: Tool) -> str:
    """What a tool does: its description, behind its summary where that says something else."""
    summary, description = plain(tool.summary), plain(tool.description)
    if not description or {*map(stem, words(summary))} <= {*map(stem, words(description))}:
        return description or summary
    return f"{summary.rstrip('.')}. {description}" if summary else description


def _whole(text: str) -> str:
    """A description, its end replaced by its length where it is very long."""
    if len(text) <= _MOST_TEXT:
        return text
    beginning = sentences(text, _MOST_TEXT) or f"{text[:_MOST_TEXT].rpartition(' ')[0]} …"
    return f"{beginning} [{len(text) - len(beginning):,} more characters]"


def _signature(tool: Tool, objects: _Objects) -> str:
    """The arguments of a tool; only path arguments may go without a name."""
    parts: list[str] = []
    for parameter in tool.arguments:
        if parameter.location != "path" and "*" not in parts:
            parts.append("*")
        kind, _ = objects.type(parameter.schema, tool, (parameter.argument,), 1, True)
        default = "" if parameter.required else f" = {_default(parameter)}"
        parts.append(f"{parameter.argument}: {kind}{default}")
    return ", ".join(parts)


def _default(parameter: Parameter) -> str:
    value = parameter.schema.get("default", ...)
    is_scalar = isinstance(value, str | int | float | bool) and len(str(value)) <= _LONG_DEFAULT
    return repr(value) if isinstance(value, bool | int | float) else json_text(value) if is_scalar else "..."


def _argument_texts(tool: Tool, objects: _Objects, among: Collection[str]) -> dict[str, str]:
    """What is said of the arguments of a tool beyond their types."""
    texts = {p.argument: _argument_text(tool, p, objects, among) for p in tool.arguments}
    return {argument: text for argument, text in texts.items() if text}


def _argument_text(tool: Tool, parameter: Parameter, objects: _Objects, among: Collection[str]) -> str:
    """What is said of an argument beyond its type; empty if that is nothing."""
    schema, detail = parameter.schema, objects.detail
    description = plain(parameter.description or str(schema.get("description") or ""))
    texts = [_whole(description).rstrip(".") if parameter.required or detail.optional else "", _limits(schema)]
    items = schema.get("items")
    texts += [
        _long_enumeration(schema),
        _long_enumeration(items) if isinstance(items, Mapping) else "",
        wire_name(parameter),
    ]
    texts.append(objects.type(schema, tool, (parameter.argument,), 1, True)[1])
    if detail.examples and parameter.required and "enum" not in schema:
        example = example_value(parameter, _EXAMPLE)
        texts.append(f"For example {example}" if example else "")
    description = ". ".join(filter(None, (text.rstrip(".") for text in texts)))
    source = source_of(objects.graph, tool, parameter, among) if among else None
    return " — ".join(filter(None, (description, f"from {_expression(objects.graph, source)}" if source else "")))


def _expression(graph: ProtocolGraph, source: ProvidedField) -> str:
    """The call that gives an identifier, with the text of a search, which it may take without needing it."""
    text = graph.expression(source)
    arguments = [p.argument for p in graph.protocol.tool(source.tool).arguments if p.argument.lower() in SEARCHES]
    empty = f"{source.tool}()"
    return text.replace(empty, f"{source.tool}({arguments[0]}=…)") if arguments and text.startswith(empty) else text


def _limits(schema: Schema) -> str:
    """`1 to 100`, `at most 50 items`, `matches ^[a-z]+$`: what a value must be beside its type."""
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    texts = []
    if lowest is not None and highest is not None:
        texts.append(f"{lowest} to {highest}")
    elif lowest is not None or highest is not None:
        texts.append(f"at least {lowest}" if highest is None else f"at most {highest}")
    for word, unit in (("maxLength", "characters"), ("maxItems", "items")):
        texts += [f"at most {schema[word]} {unit}"] if word in schema else []
    texts += [f"matches {unfenced(json.dumps(schema['pattern']))}"] if "pattern" in schema else []
    if schema.get("format") in ("date", "date-time", "time", "uuid", "email"):
        texts.append(f"format {schema['format']}")
    return ", ".join(texts).capitalize() if texts and not texts[0].startswith("matches") else ", ".join(texts)


def example_value(parameter: Parameter, most: int) -> str:
    """The document's example of a value, as JSON in at most so many characters; empty without one."""
    examples = parameter.schema.get("examples")
    value = examples[0] if isinstance(examples, list) and examples else None
    text = json_text(value) if isinstance(value, str | int | float) and value != "" else ""
    return text if len(text) <= most else ""


def wire_name(parameter: Parameter) -> str:
    """The name on the wire of an argument that has a number to tell it from another one; else empty."""
    numbered = _NUMBERED.fullmatch(parameter.argument)
    is_own = not parameter.name or numbered is None or numbered[1] != argument_name(parameter.name).rstrip("_")
    return "" if is_own else f"{json_text(parameter.name)} in the {parameter.location}"


def _line(tool: Tool) -> str:
    """A tool in a line: its required arguments by name, and what it does if that is one short sentence."""
    text = sentences(plain(tool.summary or tool.description), _MOST_LINE)
    required = [p.argument for p in tool.arguments if p.required]
    required += ["…"] if len(required) < len(tool.arguments) else []
    usage = tool.function.typed_usage if tool.function is not None else f"{tool.name}({', '.join(required)})"
    return f"{usage}  # {text}" if text else usage
