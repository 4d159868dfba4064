"""Read from the examples of a document: the fields of its entity types, and single entities."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from protocols.simulator.analysis.entity_types import EntityTypes, id_field_of
from protocols.simulator.analysis.response_shape import ResponseShape
from protocols.simulator.analysis.world_schema import NAMES, EntityType, FieldInfo, ResponsePlan, singular_name
from protocols.text.words import words

__all__ = ["read_fields"]

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
        kind.summary = (
            _listed_properties(kind)
            or kind.summary
            or (kind.detail.shape.properties if kind.detail and kind.detail.shape else {})
        )
        kind.summary = kind.summary or next((s.properties for _, s, _, _ in nodes if s.kind == kind.name), {})
        kind.id_field = id_field_of(kind.all_fields, kind.aliases) or kind.id_field
        kind.title = _title_field(kind)


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


def _title_field(kind: EntityType) -> str:
    own = [n for n in kind.fields if kind.aliases.intersection(words(n)[:1]) and words(n)[-1] in {"name", "title"}]
    named = [name for name in NAMES if name in kind.fields] or own
    named = named or [name for usual in NAMES for name in kind.fields if name.lower() == usual.lower()]
    return max(named, key=lambda name: (len(kind.fields[name].shapes), -named.index(name)), default="")


def _stands_alone(plan: ResponsePlan, shape: ResponseShape, around: ResponseShape | None, item: bool) -> bool:
    """True if an entity stands here for itself, not as a member with fields about its membership."""
    if not shape.path and not item:
        return plan.detail or bool(plan.root) or not plan.subject
    return around is None and not plan.subject


def _date_field(kind: EntityType) -> str:
    dated = []
    for name, info in kind.fields.items():
        texts = [value for value in info.examples if isinstance(value, str)]
        formats = {check.get("format") for shape in info.shapes for check in shape.checks}
        if (texts and all(_DATE.fullmatch(value) for value in texts)) or formats & {"date", "date-time"}:
            dated.append(name)
    return next((name for name in dated if kind.local or name in kind.summary), "")


def _record_values(fields: dict[str, FieldInfo], part: ResponseShape) -> None:
    name = part.name
    info = fields.get(name)
    if info is None:
        info = fields[name] = FieldInfo(name)
    info.shapes.append(part)
    if part.examples:
        info.examples += [value for value in part.examples if not isinstance(value, (dict, list))]
