"""Analyze a protocol: collect everything that a world of its API is made from.

The entity types and their relations come first; then their fields and single entities are read from the examples.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from protocols.model import Protocol, Tool
from protocols.schema_fields import type_of
from protocols.simulator.analysis.entity_types import EntityTypes, is_enumerated
from protocols.simulator.analysis.relation_types import RelationTypes
from protocols.simulator.analysis.response_shape import ResponseShape
from protocols.simulator.analysis.world_file import NO_WORLD, WorldFile, WriteEffect, operation_of
from protocols.simulator.analysis.world_schema import (
    NAMES,
    EntityType,
    FieldInfo,
    ResponsePlan,
    WorldSchema,
    label_of,
    referenced_type,
    singular_name,
)
from protocols.text.words import words

__all__ = ["analyze_api"]

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}(T.*)?)?)?")


def read_fields(entity_types: EntityTypes) -> dict[str, FieldInfo]:
    """Fill in the fields and examples of each entity type; return the fields of all of them and of other objects."""
    fields = _collect_fields(entity_types)
    _complete_fields(entity_types)
    records = _records(entity_types)
    shapes_by_kind: dict[str, list[ResponseShape]] = defaultdict(list)
    for _, shape, _, _ in entity_types.nodes():
        shapes_by_kind[shape.kind].append(shape)
    for kind in entity_types.by_name.values():
        kind.example_fields = _example_fields(kind, shapes_by_kind[kind.name])
        kind.records = [record for record in records[kind.name] if not kind.title or record.get(kind.title)]
        kind.date = _date_field(kind)
        id_info = kind.all_fields.get(kind.id_field)
        kind.ids = [value for value in id_info.examples if value is not None] if id_info else []
    _add_path_examples(entity_types)
    kinds = entity_types.by_name.values()
    _separate_identifiers(list(kinds))
    for info in (*fields.values(), *(i for k in kinds for i in (*k.all_fields.values(), *k.fields.values()))):
        info.thin_examples()
    return fields


def _collect_fields(entity_types: EntityTypes) -> dict[str, FieldInfo]:
    """Collect the fields of all objects; store those of entities with their type."""
    fields: dict[str, FieldInfo] = {}
    for plan, shape, around, item in entity_types.nodes():
        for part in shape.properties.values():
            _record_values(fields, part)
        if not shape.kind:
            continue
        kind = entity_types.by_name[shape.kind]
        stands_alone = _stands_alone(plan, shape, around, item)
        for part in shape.properties.values():
            _record_values(kind.all_fields, part)
            if stands_alone:
                _record_values(kind.fields, part)
        if stands_alone and not (plan.detail and not shape.path):
            kind.summary = kind.summary or shape.properties
    return fields


def _complete_fields(entity_types: EntityTypes) -> None:
    """Settle the own fields of each type, its summary, and the fields with its identifier and its name."""
    nodes = list(entity_types.nodes())
    alone = {node[1].kind for node in nodes if node[1].kind and _stands_alone(*node)}
    membership_fields = _membership_fields(entity_types)
    for kind in entity_types.by_name.values():
        if kind.name not in alone:
            kind.fields = kind.all_fields
        for name, info in kind.all_fields.items():
            if name not in membership_fields:
                kind.fields.setdefault(name, info)
        detail = kind.detail.shape if kind.detail else None
        kind.summary = _listed_properties(kind) or kind.summary or (detail.properties if detail else {})
        kind.summary = kind.summary or next((s.properties for _, s, _, _ in nodes if s.kind == kind.name), {})
        kind.id_field = entity_types.id_field_of(kind.all_fields, kind.aliases) or kind.id_field
        kind.title = _title_field(kind)
        hidden_key = any(words(key)[-1:] in {("key",), ("slug",)} and not kind.key_fields(key) for key in kind.keys)
        kind.addressed_by_name |= hidden_key and bool(kind.title)


def _listed_properties(kind: EntityType) -> dict[str, ResponseShape]:
    """The properties of a type in the list that is named after it: those of `/files` for files."""
    for plan in kind.global_lists:
        parts = [plan.shape, *plan.shape.properties.values()] if plan.shape and plan.label else []
        if singular_name(plan.label.split("_")) not in kind.aliases:
            continue
        for part in parts:
            if part.item is not None and part.item.kind == kind.name:
                return part.item.properties
    return {}


def _records(entity_types: EntityTypes) -> dict[str, list[dict[str, object]]]:
    """The entities in all examples by type; examples with the same identifier are merged."""
    merged: dict[str, dict[str, dict[str, object]]] = defaultdict(lambda: defaultdict(dict))
    for _, shape, _, _ in entity_types.nodes():
        kind = entity_types.by_name.get(shape.kind)
        for value in shape.examples if kind else ():
            if kind and isinstance(value, dict) and value.get(kind.id_field) is not None:
                record = merged[kind.name][str(value[kind.id_field])]
                for name, entry in value.items():
                    if name in kind.fields and not isinstance(entry, (dict, list)) and entry not in (None, ""):
                        record.setdefault(name, entry)
    return defaultdict(list, {name: list(records.values()) for name, records in merged.items()})


def _add_path_examples(entity_types: EntityTypes) -> None:
    """Add the documented examples of path parameters to the identifiers and records of their types."""
    steps = [(plan.tool, step) for plan in entity_types.plans for step in plan.steps if step.role == "entity"]
    for tool, step in steps:
        kind = entity_types.by_name[step.kind]
        parameter = next((p for p in tool.parameters if p.name == step.name), None)
        schema = parameter.schema if parameter and not kind.local else {}
        examples = schema.get("examples")
        values = [schema.get("example"), schema.get("default"), *(examples if isinstance(examples, list) else [])]
        for value in values:
            if value is not None and not isinstance(value, (dict, list)):
                kind.ids.append(value)
                if str(value) not in {str(record.get(kind.id_field)) for record in kind.records}:
                    kind.records.append({kind.id_field: value})


def _separate_identifiers(kinds: Sequence[EntityType]) -> None:
    """Leave a text that documents use as the identifier of several types to the first one that a path addresses."""
    owners: dict[str, str] = {}
    for kind in sorted(kinds, key=lambda kind: not kind.addressed):
        texts = {str(record.get(kind.id_field)) for record in kind.records}
        foreign = {text for text in texts if owners.setdefault(text, kind.name) != kind.name and not text.isdecimal()}
        kind.records = [record for record in kind.records if str(record.get(kind.id_field)) not in foreign]


def _example_fields(kind: EntityType, shapes: Sequence[ResponseShape]) -> frozenset[str]:
    """The fields in whole examples of a type; empty if there are too few examples to tell."""
    names: set[str] = set()
    total = 0
    for shape in shapes:
        bodies = [value for value in shape.examples if isinstance(value, dict)]
        counts = Counter(name for body in bodies for name in body)
        names.update(name for name, count in counts.items() if 2 * count >= len(bodies))
        total += len(bodies)
    if total < 5:
        return frozenset()
    names |= {name for name, info in kind.fields.items() if name == kind.id_field or _described(info)}
    for name in [name for name in kind.fields if name not in names]:
        del kind.fields[name]
    return frozenset(names)


def _described(info: FieldInfo) -> bool:
    """True if a schema, and not only an example, shows a scalar field."""
    return any(shape.is_scalar and any(check for check in shape.checks) for shape in info.shapes)


def _membership_fields(entity_types: EntityTypes) -> set[str]:
    """Fields of a membership, not of the member: only lists below another entity's path show them."""
    own_fields: dict[str, set[str]] = defaultdict(set)
    list_fields: dict[str, set[str]] = defaultdict(set)
    for plan, shape, around, item in entity_types.nodes():
        if shape.kind and _stands_alone(plan, shape, around, item):
            own_fields[shape.kind].update(shape.properties)
        elif shape.kind and item and plan.subject and plan.tail and around is None and shape.kind != plan.subject:
            list_fields[shape.kind].update(shape.properties)
    return {name for kind, names in list_fields.items() if own_fields[kind] for name in names - own_fields[kind]}


def _title_field(kind: EntityType) -> str:
    own = [n for n in kind.fields if kind.aliases.intersection(words(n)[:1]) and words(n)[-1] in {"name", "title"}]
    named = [name for name in NAMES if name in kind.fields] or own
    named = named or [name for usual in NAMES for name in kind.fields if name.lower() == usual.lower()]
    named = named or [name for name, info in kind.fields.items() if name in kind.aliases and _is_text(info)]
    return max(named, key=lambda name: (len(kind.fields[name].shapes), -named.index(name)), default="")


def _is_text(info: FieldInfo) -> bool:
    return all(shape.types <= {"string", "null"} and shape.types for shape in info.shapes)


def _stands_alone(plan: ResponsePlan, shape: ResponseShape, around: ResponseShape | None, item: bool) -> bool:
    """True if an entity stands here for itself, not as a member with fields about its membership."""
    if not shape.path and not item:
        return plan.detail or bool(plan.root) or not plan.subject
    return around is None and not plan.subject


_DATE_ENDS = (("at",), ("date",), ("timestamp",))


def _date_field(kind: EntityType) -> str:
    dated = []
    for name, info in kind.fields.items():
        texts = [value for value in info.examples if isinstance(value, str)]
        formats = {check.get("format") for shape in info.shapes for check in shape.checks}
        if (texts and all(_DATE.fullmatch(value) for value in texts)) or formats & {"date", "date-time"}:
            dated.append(name)
    dated = dated or [n for n, info in kind.fields.items() if words(n)[-1:] in _DATE_ENDS and _is_text(info)]
    return next((name for name in dated if kind.local or name in kind.summary), "")


def _record_values(fields: dict[str, FieldInfo], part: ResponseShape) -> None:
    name = part.name
    info = fields.get(name)
    if info is None:
        info = fields[name] = FieldInfo(name)
    info.shapes.append(part)
    if part.examples:
        info.examples += [value for value in part.examples if not isinstance(value, (dict, list))]


_SEARCH_WORDS = frozenset("q query search text term keyword s find phrase searchtext searchterm lookup".split())


def analyze_api(protocol: Protocol, world: WorldFile = NO_WORLD) -> WorldSchema:
    """Analyze a protocol with its world file.

    This takes about as long as loading the protocol, so keep the result.

    Raises: UsageError: The world file names something unknown.
    """
    entity_types = EntityTypes(protocol, world)
    links = RelationTypes(entity_types)
    fields = read_fields(entity_types)
    shown_types = {relation.target for relation in links.relations.values()}
    links.references()
    for plan in entity_types.plans:
        plan.search = _search(plan)
    pairs = links.pairs()
    edges, roles, edge_types = _edges(entity_types, shown_types)
    states = {
        plan.tool.path: plan
        for plan in entity_types.plans
        if plan.tool.method == "GET" and plan.shape and plan.shape.properties and not plan.shape.kind
    }
    schema = WorldSchema(
        protocol,
        entity_types.plans,
        entity_types.by_name,
        links.relations,
        pairs,
        edges,
        roles,
        edge_types,
        fields,
        entity_types.singletons,
        states,
        _templates(entity_types),
        _places(entity_types, edge_types),
        world,
    )
    _check_world_file(schema)
    return schema


def _search(plan: ResponsePlan) -> str:
    """The argument that searches by free text: in the query, or in the body of a POST that only searches."""
    if plan.tool.method not in {"GET", "POST"} or plan.detail:
        return ""
    texts = [
        p
        for p in plan.tool.arguments
        if p.location in {"query", "body"} and not is_enumerated(p) and type_of(p.schema) in {"string", ""}
    ]
    if plan.tool.method == "POST":
        return next((p.name for p in texts if plan.searches and not _SEARCH_WORDS.isdisjoint(words(p.name))), "")
    searching = [p.name for p in texts if label_of(p.name).replace("_", "") in _SEARCH_WORDS]
    named = () if plan.subject else (p.name for p in texts if p.name in NAMES)
    return next(iter((*searching, *named)), "")


def _edges(
    entity_types: EntityTypes, shown_types: set[str]
) -> tuple[dict[str, list[dict[str, object]]], dict[str, list[dict[str, object]]], dict[str, str]]:
    """Collect the fields of memberships, by list label: all rows, the roles among them, and the types of edges."""
    rows: dict[str, list[dict[str, object]]] = defaultdict(list)
    listed: dict[str, list[dict[str, object]]] = {}
    lists: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    edge_types: dict[str, str] = {}
    for plan in entity_types.plans:
        if plan.shape is None:
            continue
        for body in plan.tool.success.examples if plan.tool.success else ():
            _count_lists(body, plan.label, lists)
        for shape in plan.shape.walk():
            if shape.item is None or not shape.item.kind:
                continue
            own = set(entity_types.by_name[shape.item.kind].fields)
            label = label_of(shape.name) or plan.label
            extra = [name for name in shape.item.properties if name not in own]
            for name in extra:
                kind = referenced_type(name, entity_types.by_name)
                if kind is not None and kind.name not in shown_types and not kind.global_lists:
                    edge_types[label] = kind.name
            if not extra:
                continue
            for name in extra:
                enumerated = shape.item.properties[name].enumerated
                if len(enumerated) > 1 and all(isinstance(value, str) for value in enumerated):
                    listed.setdefault(label, [{name: value} for value in enumerated])
            for value in shape.item.examples:
                if isinstance(value, dict):
                    entry = {n: value[n] for n in extra if n in value and not isinstance(value[n], (dict, list))}
                    if entry and entry not in rows[label]:
                        rows[label].append(entry)
    roles = {label: _roles(entries, lists[label]) for label, entries in rows.items()}
    return dict(rows), {**roles, **listed}, edge_types


def _count_lists(value: object, label: str, lists: dict[str, Counter[tuple[str, str]]]) -> None:
    """Count, by label, the lists in which each text of each field occurs; a text in most lists is a role."""
    if isinstance(value, dict):
        for name, part in value.items():
            _count_lists(part, label_of(name), lists)
    elif isinstance(value, list):
        entries = [part for part in value if isinstance(part, dict)]
        lists[label].update({(name, text) for part in entries for name, text in part.items() if isinstance(text, str)})
        for part in entries:
            _count_lists(part, label, lists)


def _roles(rows: list[dict[str, object]], list_counts: Counter[tuple[str, str]]) -> list[dict[str, object]]:
    """The roles of list members, the most widespread first; empty when no field repeats."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for name, value in row.items():
            if isinstance(value, str) and value:
                values[name][value] += 1
    repeating = [name for name, c in values.items() if sum(c.values()) >= 6 and len(c) <= 0.6 * sum(c.values())]
    if not repeating:
        return []
    main = max(repeating, key=lambda name: len(values[name]))
    order = sorted(values[main], key=lambda value: (-list_counts[(main, value)], -values[main][value], value))
    roles = []
    for value in order:
        row = next(d for d in rows if d.get(main) == value)
        roles.append({name: row[name] for name in repeating if name in row})
    return roles


def _templates(entity_types: EntityTypes) -> dict[str, list[tuple[str, str, str]]]:
    """Texts that hold the identifier of their own entity, by field: (type, text before it, text after it)."""
    templates: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for _, shape, _, _ in entity_types.nodes():
        if not shape.kind:
            continue
        identity = entity_types.by_name[shape.kind].id_field
        bodies = [value for value in shape.examples if isinstance(value, dict)][:5]
        examples = [(str(body.get(identity)), list(body.items())) for body in bodies]
        own = shape.properties.get(identity)
        if own is not None and len(own.examples) <= 3:
            texts = [(name, text) for name, part in shape.properties.items() for text in part.examples[:3]]
            examples += [(str(key), texts) for key in own.examples]
        for key, entries in examples:
            for name, text in entries:
                if name == identity or not isinstance(text, str) or key not in text or not _inside(key, text):
                    continue
                before, _, after = text.partition(key)
                if (shape.kind, before, after) not in templates[name]:
                    templates[name].append((shape.kind, before, after))
    return dict(templates)


def _inside(key: str, text: str) -> bool:
    before = r"(?<![A-Za-z0-9])" if len(key) > 2 else r"(?<=[/:])"
    return len(key) > 1 and key != text and bool(re.search(rf"{before}{re.escape(key)}(?![A-Za-z0-9])", text))


def _places(entity_types: EntityTypes, edge_types: dict[str, str]) -> dict[tuple[str, str], ResponseShape]:
    """The canonical shape of each field, by owner (a type, `~label`, `~state /path`) and path.

    Several views may show a field with different schemas; its value is made for this one.
    """
    places: dict[tuple[str, str], ResponseShape] = {}
    for kind in entity_types.by_name.values():
        _note_places(places, kind.name, "", kind.summary)
    for plan, shape, _, item in entity_types.nodes():
        if shape.kind:
            _note_places(places, shape.kind, "", shape.properties)
        if item:
            for label in (label_of(shape.name), plan.label):
                _note_places(places, edge_types.get(label, f"~{label}"), "", shape.properties)
    for plan in entity_types.plans:
        if plan.shape is None or plan.tool.method != "GET":
            continue
        for shape in plan.shape.variants():
            owners = [f"~state {plan.tool.path}", *([plan.subject] if plan.subject else [])]
            for owner in owners if not shape.kind else ():
                _note_places(places, owner, "", {"": shape} if shape.is_array else shape.properties)
    return places


def _note_places(
    places: dict[tuple[str, str], ResponseShape],
    owner: str,
    around: str,
    parts: Mapping[str, ResponseShape],
    depth: int = 0,
) -> None:
    for name, part in parts.items():
        path = f"{around}.{name}" if around else name
        plain = part.options[0] if part.options else part
        if plain.kind or depth > 6:
            continue
        if path:
            places.setdefault((owner, path), plain)
        _note_places(places, owner, path, plain.properties, depth + 1)
        inner = plain.item
        while inner is not None and not inner.kind and not inner.main:
            path += "[]"
            places.setdefault((owner, path), inner)
            _note_places(places, owner, path, inner.properties, depth + 1)
            inner = inner.item


# -- what a world file names -------------------------------------------------------------------------------------


def _check_world_file(schema: WorldSchema) -> None:
    """Check that everything in the world file of a schema exists. Raises: UsageError: It names something unknown."""
    world, types = schema.world_file, schema.entity_types
    for name, spec in world.entities.items():
        world.require(("entities", name), name, types, "there is no such kind")
        fields = types[name].all_fields
        for path in (*spec.fields, *(path for values in spec.pinned for path in values)):
            if path and path.partition(".")[0] not in fields and (name, path) not in schema.places:
                part = "fields" if path in spec.fields else "pinned"
                world.require(("entities", name, part, path), path, fields, f"{name} has no such field")
    for owner, label in world.relations:
        place = ("relations", f"{owner}.{label}")
        world.require(place, owner, types, f"there is no kind {owner!r}")
        labels = {relation.label for relation in schema.relations_of(owner)}
        world.require(place, label, labels, f"no answer shows {label!r} of {owner}")
    tools = {tool.name: tool for tool in schema.protocol.tools}
    for name, effects in world.effects.items():
        for effect in effects:
            _check_effect(schema, tools[name], effect)
    for name in world.queries:
        _check_queries(schema, tools[name])


def _check_effect(schema: WorldSchema, tool: Tool, effect: WriteEffect) -> None:
    place, owner, label = ("effects", operation_of(tool)), effect.owner, effect.label
    if owner.startswith("/"):
        plan = schema.states.get(owner)
        fields = plan.shape.properties if plan and plan.shape else {}
        schema.world_file.require(place, label, fields, f"GET {owner} shows no {label!r}")
    else:
        labels = {relation.label for relation in schema.relations_of(owner, many=True)}
        schema.world_file.require(place, label, labels, f"{owner} has no collection {label!r}")


def _check_queries(schema: WorldSchema, tool: Tool) -> None:
    shapes = [plan.shape for plan in schema.plans if plan.tool.name == tool.name and plan.shape]
    listed = {name for shape in shapes for part in (shape, *shape.properties.values()) for name in part.item_types}
    fields = {field for name in listed for field in schema.entity_types[name].all_fields}
    for parameter, binding in schema.world_file.queries[tool.name].items():
        if binding.field:
            place = ("queries", operation_of(tool), parameter)
            schema.world_file.require(place, binding.field, fields, f"nothing listed there has {binding.field!r}")
