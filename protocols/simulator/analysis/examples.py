"""Read from the examples of a document: the fields of its entity types, and single entities."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from protocols.simulator.analysis.entity_types import EntityTypes, id_field_of
from protocols.simulator.analysis.response_shape import ResponseShape
from protocols.simulator.analysis.world_schema import NAMES, EntityType, FieldInfo, ResponsePlan
from protocols.text.words import words

__all__ = ["read_fields"]

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}(T.*)?)?)?")


def read_fields(entity_types: EntityTypes) -> dict[str, FieldInfo]:
    """Note with each kind what is shown of it, and return what is shown of every field, whosever it is."""
    everything: dict[str, FieldInfo] = {}
    merged: dict[str, dict[str, dict[str, object]]] = defaultdict(dict)
    pure: dict[str, bool] = defaultdict(bool)
    for plan, shape, around, item in entity_types.nodes():
        for part in shape.properties.values():
            _record_values(everything, part)
        if not shape.kind:
            continue
        kind = entity_types.by_name[shape.kind]
        alone = _stands_alone(plan, shape, around, item)
        pure[shape.kind] |= alone
        for part in shape.properties.values():
            _record_values(kind.all_fields, part)
            if alone:
                _record_values(kind.fields, part)
        if alone and not (plan.detail and not shape.path):
            kind.summary = kind.summary or shape.properties
    beside = _membership_fields(entity_types)
    for kind in entity_types.by_name.values():
        if not pure[kind.name]:
            kind.fields = kind.all_fields
        for name, info in kind.all_fields.items():
            if name not in beside:
                kind.fields.setdefault(name, info)
        kind.summary = kind.summary or (kind.detail.shape.properties if kind.detail and kind.detail.shape else {})
        kind.summary = kind.summary or next(
            (s.properties for _, s, _, _ in entity_types.nodes() if s.kind == kind.name), {}
        )
        kind.id_field = id_field_of(kind.all_fields, kind.aliases) or kind.id_field
        kind.title = _title_field(kind)
    for _, shape, _, _ in entity_types.nodes():
        if not shape.kind:
            continue
        kind = entity_types.by_name[shape.kind]
        for value in shape.examples:
            if isinstance(value, dict) and value.get(kind.id_field) is not None:
                record = merged[kind.name].setdefault(str(value[kind.id_field]), {})
                for name, entry in value.items():
                    if name in kind.fields and not isinstance(entry, (dict, list)) and entry not in (None, ""):
                        record.setdefault(name, entry)
    for kind in entity_types.by_name.values():
        kind.example_fields = _example_fields(entity_types, kind)
        titled = [r for r in merged[kind.name].values() if not kind.title or r.get(kind.title)]
        kind.records = titled
        kind.date = _date_field(kind)
        id_info = kind.all_fields.get(kind.id_field)
        kind.ids = [value for value in id_info.examples if value is not None] if id_info else []
    for plan in entity_types.plans:
        for step in plan.steps:
            if step.role == "entity":
                parameter = next((p for p in plan.tool.parameters if p.name == step.name), None)
                schema = parameter.schema if parameter else {}
                several = schema.get("examples")
                parameter_examples = [
                    schema.get("example"),
                    schema.get("default"),
                    *(several if isinstance(several, list) else []),
                ]
                kind = entity_types.by_name[step.kind]
                for value in parameter_examples:
                    if value is not None and not isinstance(value, (dict, list)) and not kind.local:
                        kind.ids.append(value)
                        recorded = {str(record.get(kind.id_field)) for record in kind.records}
                        if str(value) not in recorded:
                            kind.records.append({kind.id_field: value})
    infos = [
        *everything.values(),
        *(i for k in entity_types.by_name.values() for i in (*k.all_fields.values(), *k.fields.values())),
    ]
    for info in infos:
        info.thin_examples()
    return everything


def _membership_fields(entity_types: EntityTypes) -> set[str]:
    """Fields of a membership, not of the member: only lists below another entity's path show them."""
    pure: dict[str, set[str]] = defaultdict(set)
    beside: dict[str, set[str]] = defaultdict(set)
    for plan, shape, around, item in entity_types.nodes():
        if shape.kind and _stands_alone(plan, shape, around, item):
            pure[shape.kind].update(shape.properties)
        elif shape.kind and item and plan.subject and plan.tail and around is None and shape.kind != plan.subject:
            beside[shape.kind].update(shape.properties)
    return {name for kind, names in beside.items() if pure[kind] for name in names - pure[kind]}


def _example_fields(entity_types: EntityTypes, kind: EntityType) -> frozenset[str]:
    """The fields in whole examples of a type; empty if there are too few examples to tell."""
    names: set[str] = set()
    total = 0
    for _, shape, _, _ in entity_types.nodes():
        bodies = [value for value in shape.examples if isinstance(value, dict)] if shape.kind == kind.name else []
        counts = Counter(name for body in bodies for name in body)
        names.update(name for name, count in counts.items() if 2 * count >= len(bodies))
        total += len(bodies)
    if total < 5:
        return frozenset()
    for name in [name for name in kind.fields if name not in names]:
        del kind.fields[name]
    return frozenset(names)


def _title_field(kind: EntityType) -> str:
    named = [name for name in NAMES if name in kind.fields]
    if not named:
        named = [
            n for n in kind.fields if words(n) and words(n)[0] in kind.aliases and words(n)[-1] in {"name", "title"}
        ]
    return max(named, key=lambda name: (len(kind.fields[name].shapes), -named.index(name)), default="")


def _stands_alone(plan: ResponsePlan, shape: ResponseShape, around: ResponseShape | None, item: bool) -> bool:
    """True if an entity stands here for itself, not as a member with fields about its membership."""
    if not shape.path and not item:
        return plan.detail or bool(plan.root) or not plan.subject
    if around is not None:
        return False
    return not plan.subject


def _date_field(kind: EntityType) -> str:
    dated = []
    for name, info in kind.fields.items():
        texts = [value for value in info.examples if isinstance(value, str)]
        formats = {check.get("format") for shape in info.shapes for check in shape.checks}
        if (texts and all(_DATE.fullmatch(value) for value in texts)) or formats & {"date", "date-time"}:
            dated.append(name)
    in_summary = [name for name in dated if name in kind.summary]
    return (in_summary or [""])[0] if not kind.local else (dated or [""])[0]


def _record_values(fields: dict[str, FieldInfo], part: ResponseShape) -> None:
    info = fields.setdefault(part.name, FieldInfo(part.name))
    info.shapes.append(part)
    for value in part.examples:
        if not isinstance(value, (dict, list)):
            info.examples.append(value)
