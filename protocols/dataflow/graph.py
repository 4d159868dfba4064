"""The data flow of an API: the response fields that provide the value of each argument.

A small model does not find it in documents; a one-line hint helps it more than a page of schema. The graph is inferred
from names, types, path segments and object properties alone, so it works for any API.

An identifier is a noun and an attribute: `film_uuid`, `filmUuid`, and `uuid` in `/films/{uuid}` all refer to the uuid
of a film. A response field provides the same kind of pair. The noun of an object follows from the key around it, its
discriminator, the words of the path, and its similarity to objects of a known noun.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

from protocols.dataflow.identifiers import (
    IdentifierReference,
    identifier_reference,
    list_reference,
    literals_of,
    looks_like_read,
    path_score,
)
from protocols.json_path import Step, subscripts
from protocols.model import Protocol, Schema, Tool
from protocols.quoting import json_text
from protocols.schema_fields import (
    ResponseField,
    fields,
    is_expandable,
    items_of,
    properties_of,
    scalar_types,
    type_of,
    wrapper_of,
)
from protocols.text.words import (
    PAGING,
    SEARCHES,
    SIZES,
    WRAPPERS,
    attribute_of,
    is_identifier,
    noun_of,
    noun_of_identifier,
    singular,
    words,
)

__all__ = ["USER_NOUNS", "ProtocolGraph", "ProvidedField", "selector_arguments"]

_LINK_WORDS = frozenset({"href", "url", "link", "self"})
USER_NOUNS = frozenset({"user", "account", "profile", "member", "customer"})
"""Nouns of the object at `/me`."""
_RELATIVE_WORDS = frozenset({"following", "next", "original", "parent", "preceding", "previous", "root"})
"""Words of keys that refer to another object of the same noun."""
_MANY_FILTERS = 3
"""A tool with more optional arguments returns arbitrary items when called without them."""
_EXPANSION_COST = 2.0
"""The penalty of a field in a relation that the service may not expand."""
_MIN_SCORE = 1.0
"""The lowest score of a provided field."""


@dataclass(frozen=True, slots=True)
class ProvidedField:
    """A response field that can provide an argument.

    `path` starts at the root of the response body, 0 standing for any item. With `header` the value is in that header
    instead. With `link` it is the last segment of the URL at `path`. `noun` is the noun to request from a tool that
    returns several: `tracks` of `/top/{type}`.
    """

    tool: str
    path: tuple[Step, ...]
    score: float
    header: str | None = None
    link: bool = False
    noun: str = ""

    def accessor(self) -> str:
        """The program text that reads the field from the response."""
        return subscripts(self.path) + ('.split("/")[-1]' if self.link else "")


@dataclass(frozen=True, slots=True)
class _CandidateField:
    """A response field that may hold an identifier.

    `kind` is the JSON type of the value, `listed` means one of a list, `is_link` that a key says that it is a URL.
    `owner_properties` are those of the object around it, empty for an expandable relation.
    """

    field: ResponseField
    path: tuple[Step, ...]
    kind: str
    listed: bool
    is_expandable_relation: bool
    is_link: bool
    owner_properties: Mapping[str, Schema]


class ProtocolGraph:
    """The ranked data flow between the tools of a protocol.

    `nouns` are those of the identifiers that arguments refer to.
    """

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self._tools = {tool.name: tool for tool in protocol.tools}
        self._references: dict[tuple[str, str], IdentifierReference] = {}
        self._item_keys: dict[tuple[str, str], str] = {}
        path_nouns = {noun_of(literal) for tool in protocol.tools for literal in literals_of(tool.path)}
        for tool in protocol.tools:
            for parameter in tool.arguments:
                place = tool.name, parameter.argument
                if (item_reference := list_reference(parameter, path_nouns, protocol)) is not None:
                    self._references[place], self._item_keys[place] = item_reference
                elif (reference := identifier_reference(tool, parameter, path_nouns, protocol)) is not None:
                    self._references[place] = reference
        self.nouns = frozenset(reference.noun for reference in self._references.values() if reference.noun)
        self._response_fields: dict[str, Mapping[str, tuple[tuple[Step, ...], ...]]] = {}
        self._ranked_fields: dict[tuple[IdentifierReference, str], tuple[ProvidedField, ...]] = {}
        self._observed: dict[tuple[str, str], dict[ProvidedField, None]] = {}
        self._wrapper_nouns: dict[str, frozenset[str]] = {}
        self._likenesses: dict[frozenset[str], dict[str, float]] = {}

    # References and providers ------------------------------------------------------------------------------------

    def reference(self, tool: str, argument: str) -> IdentifierReference | None:
        """The identifier that an argument refers to; None if it is none."""
        return self._references.get((tool, argument))

    def item_key(self, tool: str, argument: str) -> str:
        """The identifier's key in the items of a list argument: `uri` for `[{"uri": …}]`; empty for other arguments."""
        return self._item_keys.get((tool, argument), "")

    def providers(
        self, tool: str, argument: str, among: Collection[str] | None = None, noun: str | None = None
    ) -> tuple[ProvidedField, ...]:
        """The fields that provide an argument, best first; empty if its value comes from the question alone.

        Args:
            tool: Name of the tool that takes the argument.
            argument: The argument's name in a program.
            among: Names of the tools that count as providers; all by default.
            noun: Replaces the noun of `reference`.
        """
        observed = tuple(s for s in self._observed.get((tool, argument), {}) if among is None or s.tool in among)
        reference = self._references.get((tool, argument))
        if reference is None:
            return observed
        reference = replace(reference, noun=noun) if noun is not None else reference
        parameter = self._tools[tool].argument(argument)
        key = (reference, type_of(parameter.schema) if parameter else "")
        if key not in self._ranked_fields:
            self._ranked_fields[key] = tuple(self._rank(*key))
        observed_places = {(s.tool, s.path) for s in observed}
        inferred = (s for s in self._ranked_fields[key] if s.tool != tool and (s.tool, s.path) not in observed_places)
        return (*observed, *(s for s in inferred if among is None or s.tool in among))

    def observe(self, tool: str, argument: str, source: str, path: tuple[Step, ...]) -> None:
        """Record that an argument of a successful call came from a field, which now ranks first."""
        general = tuple(0 if isinstance(step, int) else step for step in path)
        self._observed.setdefault((tool, argument), {})[ProvidedField(source, general, 1.0)] = None

    @property
    def observations(self) -> int:
        """The number of observed provided fields."""
        return sum(map(len, self._observed.values()))

    def needs(self, tool: str) -> tuple[str, ...]:
        """The required arguments of a tool that other tools provide, in signature order."""
        arguments = self._tools[tool].arguments
        return tuple(p.argument for p in arguments if p.required and self.providers(tool, p.argument))

    def closure(self, names: Iterable[str], among: Collection[str] | None = None) -> tuple[str, ...]:
        """The tools, followed by the best provider of each required identifier, transitively.

        With `among`, only tools of these names are added.
        """
        chosen = dict.fromkeys(names)
        queue = list(chosen)
        while queue:
            tool = queue.pop(0)
            for argument in self.needs(tool):
                best = self.providers(tool, argument, among)[:1]
                queue.extend(source.tool for source in best if source.tool not in chosen)
                chosen.update(dict.fromkeys(source.tool for source in best))
        return tuple(chosen)

    def response_fields(self, tool: str) -> Mapping[str, tuple[tuple[Step, ...], ...]]:
        """The documented response fields, at most two objects deep: the paths of each, outermost first."""
        if tool not in self._response_fields:
            schema = self._tools[tool].response_schema
            paths: dict[str, list[tuple[Step, ...]]] = {}
            for field in fields(schema, self.protocol, 2) if schema is not None else ():
                paths.setdefault(field.name, []).append(field.path)
            self._response_fields[tool] = {name: tuple(field_paths) for name, field_paths in paths.items()}
        return self._response_fields[tool]

    def lists(self, tool: str) -> list[tuple[Step, ...]]:
        """The paths of the lists that a tool's path names; `()` for the response itself.

        Also the only list beside paging fields, and a list in an object of such a name: `["daily"]["data"]`.
        """
        schema = self._tools[tool].response_schema
        wrappers = self._wrappers(self._tools[tool])
        about = {"", *map(noun_of, literals_of(self._tools[tool].path)[-1:]), *map(singular, words(tool)), *wrappers}
        outer = list(self._object_lists(schema)) if schema is not None else []
        paths: list[tuple[Step, ...]] = [(key,) if key else () for key, _ in outer if noun_of(key) in about]
        if len(outer) == 1 and not paths and schema is not None:
            rest = properties_of(schema, self.protocol).keys() - {outer[0][0]}
            return [(outer[0][0],)] if all(PAGING.issuperset(words(key)) for key in rest - {"id"}) else []
        if schema is None or outer:
            return paths
        inner = [
            (name, key)
            for name, part in properties_of(schema, self.protocol).items()
            for key, _ in self._object_lists(part)
            if key and noun_of(key) in about
        ]
        return list(inner) if len(inner) == 1 and noun_of(inner[0][0]) in about else []

    def expression(self, source: ProvidedField) -> str:
        """The expression that reads a provided field: a call with its required arguments, and the path."""
        tool = self._tools[source.tool]
        selectors = {name: json_text(value) for name, value in selector_arguments(tool, source).items()}
        required = [f"{p.argument}={selectors.get(p.argument, '…')}" for p in tool.arguments if p.required]
        call = f"{source.tool}({', '.join(required)})"
        if source.header:
            return f'{call}.headers["{source.header}"]'
        return call + source.accessor()

    def object_noun(self, tool: str, path: tuple[Step, ...], properties: Mapping[str, Schema]) -> str:
        """The noun of an object in a response: the key around it, or the noun it resembles; "item" if unknown."""
        keys = [step for step in path if isinstance(step, str)]
        if keys and noun_of(keys[-1]) not in self._wrappers(self._tools[tool]):
            return noun_of(keys[-1])
        probe = ResponseField((*path, "id"), {}, {"properties": properties})
        sure = {noun: self._noun_certainty(self._tools[tool], probe, noun, properties) for noun in sorted(self.nouns)}
        best = max(sure, key=lambda noun: sure[noun], default="")
        literals = literals_of(self._tools[tool].path)
        return best if best and sure[best] > 0 else noun_of(literals[-1]) if literals else "item"

    # Nouns of objects ------------------------------------------------------------------------------------

    @cached_property
    def _signatures(self) -> dict[str, set[str]]:
        """The properties of each noun's objects: of a detail response, else of list items."""
        detailed: dict[str, set[str]] = {}
        listed: dict[str, set[str]] = {}
        for tool in self.protocol.tools:
            schema = tool.response_schema
            if schema is None or tool.method != "GET":
                continue
            literals = literals_of(tool.path)
            last = tool.path.rstrip("/").rpartition("/")[2]
            if last.startswith("{"):
                references = [
                    self._references.get((tool.name, p.argument)) for p in tool.parameters if f"{{{p.name}}}" == last
                ]
                for reference in references:
                    if reference is not None:
                        detailed.setdefault(reference.noun, set()).update(self._unwrapped(schema))
            elif literals and (noun := noun_of(literals[-1])) in self.nouns:
                for key, item in self._object_lists(schema):
                    if noun_of(key) in {"", noun, *self._wrappers(tool)}:
                        listed.setdefault(noun, set()).update(properties_of(item, self.protocol))
        detailed = {**listed, **detailed}
        return {noun: names for noun, names in detailed.items() if names}

    @cached_property
    def _name_weights(self) -> dict[str, float]:
        """The weight of a property name: rare names identify an object better than `id` or `name`."""
        counts: Counter[str] = Counter()
        for names in self._signatures.values():
            counts.update(names)
        total = len(self._signatures) + 1
        return {name: math.log(1 + total / count) for name, count in counts.items()}

    def _wrappers(self, tool: Tool) -> frozenset[str]:
        """Nouns of keys that only wrap the content of a tool's response."""
        if tool.name not in self._wrapper_nouns:
            schema = tool.response_schema
            noun = noun_of(wrapper_of(schema, self.protocol)) if schema is not None else ""
            self._wrapper_nouns[tool.name] = WRAPPERS | {noun} if noun and noun not in self.nouns else WRAPPERS
        return self._wrapper_nouns[tool.name]

    def _unwrapped(self, schema: Schema) -> Mapping[str, Schema]:
        """The properties of a response without its wrapper."""
        properties = properties_of(schema, self.protocol)
        key = wrapper_of(schema, self.protocol)
        return properties_of(properties[key], self.protocol) if key else properties

    def _object_lists(self, schema: Schema) -> Iterator[tuple[str, Schema]]:
        """The response's outermost lists of objects, as key of the list (empty for the body itself) and item schema."""
        items = items_of(schema, self.protocol)
        if items is not None:
            yield "", items
            return
        for name, part in properties_of(schema, self.protocol).items():
            items = items_of(part, self.protocol)
            if items is not None and properties_of(items, self.protocol):
                yield name, items

    def _resemblance(self, names: Collection[str], noun: str) -> float:
        """The similarity of properties to those of a noun, 0 to 1, weighted by rarity."""
        signature = self._signatures.get(noun)
        if not signature or not names:
            return 0.0
        weight = self._name_weights
        shared = sum(weight[name] for name in signature.intersection(names))
        norm = sum(weight[name] for name in signature) * sum(weight.get(name, 1.0) for name in names)
        return shared / math.sqrt(norm) if norm else 0.0

    def _noun_certainty(self, tool: Tool, field: ResponseField, noun: str, names: Mapping[str, Schema]) -> float:
        """The certainty (0 to about 6) that the object around a field is one of the noun."""
        attribute = attribute_of(field.name)
        other_keys = (name for name in names if attribute_of(name) == attribute and noun_of_identifier(name) == noun)
        if not all(_RELATIVE_WORDS & {*words(name)} for name in other_keys):
            return 0.0  # it refers to the noun by another key
        keys = [key for key in field.container if noun_of(key) not in self._wrappers(tool)]
        if selectable_nouns := self._selectable_nouns(tool):
            return 4.0 if noun in selectable_nouns and not keys else 0.0
        score = 0.0
        discriminated = _discriminator(names)
        if discriminated:
            score += 3.0 if noun in discriminated else -3.0 if self.nouns & discriminated else 0.0
        if not keys and noun in USER_NOUNS and literals_of(tool.path)[-1:] in (["me"], ["self"]):
            return score + 4.0
        if keys and noun_of(keys[-1]) in self.nouns:
            return score + (3.5 if noun_of(keys[-1]) == noun else -2.0)
        last = noun_of((literals_of(tool.path) or [""])[-1])
        if not keys and last != noun and last in self.nouns:
            return 0.0  # a list at the root holds what the path ends in
        if not keys and last == noun and not tool.path.rstrip("/").endswith("}"):
            score += 1.5
        if (key := frozenset(names)) not in self._likenesses:  # of one object by many fields and references
            self._likenesses[key] = {candidate: self._resemblance(names, candidate) for candidate in self.nouns}
        likeness = self._likenesses[key]
        best = max(likeness.values(), default=0.0)
        if likeness.get(noun, 0.0) >= 0.5:
            score += 3.0 * likeness[noun] - (0.0 if likeness[noun] >= best - 0.15 else 1.5)
        elif self._signatures.get(noun) and best >= 0.6:
            score -= 1.5
        score += path_score(tool.path, noun) * (0.7 if keys else 1.0)
        return score

    def _selectable_nouns(self, tool: Tool) -> frozenset[str]:
        """The nouns among which the last path parameter selects: `/top/{type}`."""
        last = tool.path.rstrip("/").rpartition("/")[2]
        for parameter in tool.parameters:
            if last == f"{{{parameter.name}}}":
                values = cast("list[object]", parameter.schema.get("enum") or [])
                return self.nouns.intersection(noun_of(str(value)) for value in values)
        return frozenset()

    # Ranking -------------------------------------------------------------------------------------------------------

    def _rank(self, reference: IdentifierReference, kind: str) -> list[ProvidedField]:
        """The best field of each tool that provides a reference as a value of the JSON type `kind`."""
        order = {name: index for index, name in enumerate(self._tools)}
        candidates = [source for tool in self.protocol.tools for source in self._provided_fields(tool, reference, kind)]
        writes = {tool.name for tool in self.protocol.tools if tool.writes and not looks_like_read(tool)}
        candidates.sort(
            key=lambda source: (source.tool in writes, -round(source.score, 3), len(source.path), order[source.tool])
        )
        best: dict[str, ProvidedField] = {}
        for source in candidates:
            best.setdefault(source.tool, source)
        return list(best.values())

    @cached_property
    def _candidate_fields(self) -> dict[str, list[_CandidateField]]:
        """The response fields of each tool with an identifier, a link, or an expandable relation."""
        of_schemas: dict[int, list[_CandidateField]] = {}  # many tools share a large response
        candidates = {}
        for tool in self.protocol.tools:
            schema = tool.response_schema
            if schema is not None and id(schema) not in of_schemas:
                all_fields = map(self._candidate_field, fields(schema, self.protocol))
                of_schemas[id(schema)] = [candidate for candidate in all_fields if candidate is not None]
            candidates[tool.name] = of_schemas[id(schema)] if schema is not None else []
        return candidates

    def _candidate_field(self, field: ResponseField) -> _CandidateField | None:
        """A field as a candidate; None if it holds no identifier."""
        is_named, is_link = is_identifier(field.name), _is_link(field)
        if not is_named and not is_link and noun_of(field.name) not in self.nouns:
            return None
        items = items_of(field.schema, self.protocol)
        path = (*field.path, 0) if items is not None else field.path
        schema = items if items is not None else field.schema
        if noun_of(field.name) in self.nouns and is_expandable(schema, self.protocol):
            kind = scalar_types(schema, self.protocol)[0]
            return _CandidateField(field, path, kind, items is not None, True, is_link, {})
        kind = type_of(schema)
        if not is_named and not is_link:
            return None
        if kind in ("object", "array") or (not kind and properties_of(schema, self.protocol)):
            return None
        owner_properties = properties_of(field.owner, self.protocol)
        return _CandidateField(field, path, kind, items is not None, False, is_link, owner_properties)

    def _provided_fields(self, tool: Tool, reference: IdentifierReference, kind: str) -> Iterator[ProvidedField]:
        response = tool.success
        if response is None or reference in [
            self._references.get((tool.name, p.argument)) for p in tool.arguments if p.required
        ]:
            return  # it needs the identifier itself
        for name in response.headers:
            if attribute_of(name) == reference.attribute and noun_of_identifier(name) == reference.noun:
                yield ProvidedField(tool.name, (), 3.0 + self._reachability(tool, reference, False), header=name)
        for candidate in self._candidate_fields[tool.name]:
            field, field_type = candidate.field, candidate.kind
            certainty = self._certainty(tool, candidate, reference)
            is_link = certainty <= 0 and field_type in {"string", ""} and self._links_to(candidate, reference)
            certainty = 2.0 if is_link else certainty
            if certainty <= 0:
                continue
            score = certainty + self._reachability(tool, reference, bool(field.container))
            wrappers = self._wrappers(tool) | {reference.noun}
            score -= sum(0.15 if noun_of(key) in wrappers else 1.0 for key in field.container)
            if field.expanded:
                score -= _EXPANSION_COST
            if kind and field_type and kind != field_type and {kind, field_type} != {"integer", "number"}:
                score -= 0.5
            if candidate.listed:
                score -= 0.5
            if score >= _MIN_SCORE - 3.0 and certainty >= _MIN_SCORE:
                noun = reference.noun if reference.noun in self._selectable_nouns(tool) else ""
                yield ProvidedField(tool.name, candidate.path, score, link=is_link, noun=noun)

    def _certainty(self, tool: Tool, candidate: _CandidateField, reference: IdentifierReference) -> float:
        """The certainty that a field holds the identifier, by its own name, then by the noun of its object."""
        field, name = candidate.field, candidate.field.name
        if candidate.is_expandable_relation:
            return 2.0 if noun_of(name) == reference.noun else 0.0
        attribute = attribute_of(name)
        if attribute is None:
            return 0.0
        owner_noun = noun_of_identifier(name)
        if owner_noun:
            if owner_noun != reference.noun or attribute != reference.attribute:
                return 0.0
            if not _RELATIVE_WORDS.isdisjoint(words(name)):
                return _MIN_SCORE  # most have none
            return 5.0 if field.container and noun_of(field.container[-1]) == reference.noun else 4.0
        if attribute != reference.attribute:
            return 0.0
        return max(self._noun_certainty(tool, field, reference.noun, candidate.owner_properties), 0.0)

    def _links_to(self, candidate: _CandidateField, reference: IdentifierReference) -> bool:
        """True if a link is the URL of the referenced object: `links.film`, or `href` in an object called film."""
        if not candidate.is_link or reference.noun not in self._last_nouns:
            return False
        return reference.noun in [noun_of(key) for key in (*candidate.field.container, candidate.field.name)]

    @cached_property
    def _last_nouns(self) -> frozenset[str]:
        """The nouns of the identifiers that paths end with, so that a link's last segment is one."""
        return frozenset(
            reference.noun
            for tool in self.protocol.tools
            for p in tool.parameters
            if (reference := self._references.get((tool.name, p.argument))) is not None
            and tool.path.rstrip("/").endswith(f"{{{p.name}}}")
        )

    @cached_property
    def _collection_paths(self) -> frozenset[str]:
        """The paths right below which single items have theirs: `/films` of `/films/{id}`."""
        paths = [tool.path.rstrip("/") for tool in self.protocol.tools]
        return frozenset(path.rpartition("/")[0] for path in paths if path.endswith("}"))

    def _returns_list(self, tool: Tool) -> bool:
        """True if a tool returns a list of objects."""
        schema = tool.response_schema
        collection_nouns = {"", *map(noun_of, literals_of(tool.path)), *self._wrappers(tool)}
        return schema is not None and any(noun_of(key) in collection_nouns for key, _ in self._object_lists(schema))

    def _reachability(self, tool: Tool, reference: IdentifierReference, inner: bool) -> float:
        """How easily a tool is called: from the question alone is best, through other identifiers worse.

        `inner`: the field lies inside another object of the response.
        """
        required = [p for p in tool.arguments if p.required]
        required_references = [self._references.get((tool.name, p.argument)) for p in required]
        literals = literals_of(tool.path)
        last = noun_of(literals[-1]) if literals else ""
        score = 0.0
        score -= 1.5 * sum(required_reference is not None for required_reference in required_references)
        if tool.writes:
            score -= 2.0
        if not required and not self._returns_list(tool):
            score -= 2.5 * bool(inner)  # a nested field of a single object is arbitrary
        elif not required:
            name_words = words(tool.path) + words(tool.name)
            searches = any(p.argument.lower() in SEARCHES for p in tool.arguments)
            filters = [p for p in tool.arguments if SIZES.isdisjoint(words(p.argument))]
            score += 0.5 + (1.0 if last == reference.noun else 0.0) - 3.0 * ("random" in name_words)
            anything = (
                not searches
                and len(filters) > _MANY_FILTERS
                and not (last == reference.noun and tool.path.rstrip("/") in self._collection_paths)
            )
            score += 1.25 * searches - 3.5 * anything
        elif all(required_reference is None for required_reference in required_references):
            ends = last == reference.noun or reference.noun in self._selectable_nouns(tool)
            score += 2.0 if ends or "search" in words(tool.path) else 0.0
        return score


def selector_arguments(tool: Tool, source: ProvidedField) -> dict[str, str | list[str]]:
    """The required arguments that select a noun: `type=["artist"]` for a field in `artists`."""
    nouns = {noun_of(step) for step in source.path if isinstance(step, str)} - WRAPPERS | {source.noun}
    selectors: dict[str, str | list[str]] = {}
    for parameter in tool.arguments:
        items = parameter.schema.get("items")
        listed = isinstance(items, Mapping)
        values = cast("Schema", items).get("enum") if listed else parameter.schema.get("enum")
        if parameter.required and isinstance(values, list):
            named = [value for value in values if isinstance(value, str) and noun_of(value) in nouns]
            if len(named) == 1:
                selectors[parameter.argument] = named if listed else named[0]
    return selectors


def _is_link(field: ResponseField) -> bool:
    return bool(_LINK_WORDS.intersection(words(field.name)) or _LINK_WORDS.intersection(map(noun_of, field.container)))


def _discriminator(names: Mapping[str, Schema]) -> set[str]:
    """The values of an object's `type`-like property as nouns; empty without one of at most three values."""
    for name, schema in names.items():
        if not words(name) or words(name)[-1] not in {"type", "kind", "object"}:
            continue
        values = [*cast("list[object]", schema.get("enum") or []), schema.get("const")]
        value_nouns = {noun_of(value) for value in values if isinstance(value, str)}
        if 0 < len(value_nouns) <= 3:
            return value_nouns
    return set()
