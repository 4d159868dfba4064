"""Compare a world file with the world schema of its protocol."""

from __future__ import annotations

from protocols.model import Tool
from protocols.simulator.analysis.world_file import WriteEffect, operation_of, suggest
from protocols.simulator.analysis.world_schema import WorldSchema

__all__ = ["check_world_file"]


def check_world_file(schema: WorldSchema) -> None:
    """Check that everything in the world file of a schema exists. Raises: UsageError: It names something unknown."""
    _check_entities(schema)
    _check_relations(schema)
    tools = {tool.name: tool for tool in schema.protocol.tools}
    for name, effects in schema.world_file.effects.items():
        for effect in effects:
            _check_effect(schema, tools[name], effect)
    for name in schema.world_file.queries:
        _check_queries(schema, tools[name])


def _check_entities(schema: WorldSchema) -> None:
    for name, spec in schema.world_file.entities.items():
        place = ("entities", name)
        if name not in schema.entity_types:
            hint = suggest(name, schema.entity_types)
            raise schema.world_file.fault(place, f"there is no such kind{hint}")
        fields = schema.entity_types[name].all_fields
        for path in (*spec.fields, *(path for values in spec.pinned for path in values)):
            if path and path.partition(".")[0] not in fields and (name, path) not in schema.places:
                part = "fields" if path in spec.fields else "pinned"
                raise schema.world_file.fault((*place, part, path), f"{name} has no such field{suggest(path, fields)}")


def _check_relations(schema: WorldSchema) -> None:
    for owner, label in schema.world_file.relations:
        place = ("relations", f"{owner}.{label}")
        if owner not in schema.entity_types:
            raise schema.world_file.fault(place, f"there is no kind {owner!r}{suggest(owner, schema.entity_types)}")
        labels = {relation.label for relation in schema.relations.values() if relation.owner == owner}
        if label not in labels:
            raise schema.world_file.fault(place, f"no answer shows {label!r} of {owner}{suggest(label, labels)}")


def _check_effect(schema: WorldSchema, tool: Tool, effect: WriteEffect) -> None:
    place, owner, label = ("effects", operation_of(tool)), effect.owner, effect.label
    if owner.startswith("/"):
        plan = schema.states.get(owner)
        fields = plan.shape.properties if plan and plan.shape else {}
        if label not in fields:
            raise schema.world_file.fault(place, f"GET {owner} shows no {label!r}{suggest(label, fields)}")
        return
    labels = {relation.label for relation in schema.relations.values() if relation.owner == owner and relation.many}
    if label not in labels:
        raise schema.world_file.fault(place, f"{owner} has no collection {label!r}{suggest(label, labels)}")


def _check_queries(schema: WorldSchema, tool: Tool) -> None:
    shapes = [plan.shape for plan in schema.plans if plan.tool.name == tool.name and plan.shape]
    listed = {name for shape in shapes for part in (shape, *shape.properties.values()) for name in part.item_types}
    fields = {field for name in listed for field in schema.entity_types[name].all_fields}
    for parameter, binding in schema.world_file.queries[tool.name].items():
        if binding.field and binding.field not in fields:
            place = ("queries", operation_of(tool), parameter)
            hint = suggest(binding.field, fields)
            raise schema.world_file.fault(place, f"nothing listed there has {binding.field!r}{hint}")
