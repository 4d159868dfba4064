"""Find the entity types of an API, and the type of each object in its responses.

Paths, parameter names, keys, discriminators and similarity all give hints, but none is enough alone. They are tried in
that order; an object without a telling name is compared with the objects that have one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import fsum, log

from protocols.model import Parameter, Protocol, Tool
from protocols.schema_fields import items_of
from protocols.simulator.analysis.response_shape import ResponseShape, build, copied
from protocols.simulator.analysis.world_file import WorldFile
from protocols.simulator.analysis.world_schema import (
    GENERIC,
    NAMES,
    EntityType,
    PathStep,
    ResponsePlan,
    find_entity_type,
    label_of,
    singular_name,
)
from protocols.text.words import identifier_stem, is_identifier, singular, words

__all__ = ["EntityTypes", "id_field_of", "is_enumerated"]

_Node = tuple[ResponsePlan, ResponseShape, ResponseShape | None, bool]
_ID_WORDS = frozenset({"id", "gid", "uuid", "guid", "sid"})
_SHARED = 3
"""Types from which an identifier that is named after none of them is that of any type."""
_ERRORS = frozenset({"error", "errors"})
_ID_FIELDS = ("id", "gid", "uuid", "guid", "_id", "uid", "sid")


class EntityTypes:
    """The entity types of one protocol, and the plans of its operations with typed shapes.

    `singletons` maps paths of a single entity, such as `/me`, to its type.
    """

    def __init__(self, protocol: Protocol, world: WorldFile) -> None:
        self.protocol = protocol
        self.world = world
        self.by_name: dict[str, EntityType] = {}
        self.plans: list[ResponsePlan] = []
        self.singletons: dict[str, str] = {}
        self._final_nodes: list[_Node] | None = None
        self._shared = _shared_identifiers(protocol)
        self._usual = (*_ID_FIELDS, *(name for name in self._shared if identifier_stem(name)[-1] not in GENERIC))
        self._read_paths()
        self._read_shapes()
        arguments = (a.name for tool in protocol.tools for a in tool.arguments if not is_enumerated(a))
        fields = {key for plan in self.plans if plan.shape for s in plan.shape.walk() for key in s.properties}
        stems = {"_".join(identifier_stem(key)) for key in fields} - {""}
        for name in sorted(stems & {"_".join(identifier_stem(argument)) for argument in arguments}):
            if not find_entity_type(name, self.by_name):
                self.get_or_add(name)
        self._apply_world_lists()
        self._type_objects()
        self._apply_world_relations()
        self._final_nodes = list(self.nodes())

    def nodes(self) -> Iterator[_Node]:
        """Every object in every response, outer ones first: plan, shape, surrounding entity, whether it is an item."""
        if self._final_nodes is not None:
            yield from self._final_nodes
            return
        for plan in self.plans:
            if plan.shape is not None:
                for shape in plan.shape.variants():
                    yield from _descend(plan, shape, None, False)

    def get_or_add(self, name: str, *aliases: str) -> EntityType:
        """The entity type of a name, created if it is new, with further aliases."""
        for existing in self.by_name.values():
            if name in existing.aliases:
                existing.aliases.update(aliases)
                return existing
        entity_type = self.by_name[name] = EntityType(name, {name, *aliases})
        return entity_type

    def id_field_of(self, properties: Iterable[str], aliases: Iterable[str] = ()) -> str:
        """The identifying field among these; empty if there is none."""
        return id_field_of(properties, aliases, self._usual)

    # -- kinds from paths ------------------------------------------------------------------------------------------

    def _read_paths(self) -> None:
        for tool in self.protocol.tools:
            steps: list[PathStep] = []
            before = outer = ""
            holder = ""
            for part in filter(None, tool.path.split("/")):
                names = re.findall(r"\{([^}]+)\}", part)
                if not names:
                    steps.append(PathStep("literal", part))
                    outer, before = before, part
                    continue
                for name in names:
                    parameter = next((p for p in tool.parameters if p.name == name and p.location == "path"), None)
                    looked_up = label_of(before).removeprefix("by_") == label_of(name) and not is_enumerated(parameter)
                    if looked_up and singular(outer) != outer and not _answers_list(tool, self.protocol):
                        kind = self.get_or_add(singular_name(words(outer)))
                        kind.keys.append(name)
                        step = PathStep("entity", name, kind.name)
                    else:
                        step = self._step(name, parameter, before, holder)
                    steps.append(step)
                    if step.role == "entity":
                        holder = step.kind
                before = outer = ""
            success = tool.success
            status = int(success.status) if success and success.status.isdigit() else 200
            last = max((i for i, step in enumerate(steps) if step.role == "entity"), default=-1)
            tail = tuple(step.name for step in steps[last + 1 :] if step.role == "literal")
            plan = ResponsePlan(tool, tuple(steps), status, tail=tail, detail=0 <= last == len(steps) - 1)
            plan.subject = steps[last].kind if last >= 0 else ""
            self.plans.append(plan)

    def _step(self, name: str, parameter: Parameter | None, before: str, holder: str) -> PathStep:
        if is_enumerated(parameter):
            return PathStep("choice", name)
        parts, is_id = words(name), is_identifier(name)
        spelled = words(re.sub(r"(?<=[a-z]{3})name$", "_name", name))  # `username`
        stem = () if name in self._shared else identifier_stem(name) if is_id else parts
        segment_noun = singular_name(words(before))
        if either := _either(parts):  # `project_name_or_id`
            stem, is_id = tuple(part for part in parts if part not in either), True
        elif len(spelled) > 1 and spelled[-1] == "name" and segment_noun in {"", singular_name(spelled[:-1])}:
            stem, is_id, either = spelled[:-1], True, frozenset({"name"})
        if not is_id and stem and segment_noun and singular(stem[-1]) != segment_noun.rpartition("_")[2]:
            kind = self.get_or_add("_".join(stem))
            kind.addressed_by_name = True
            kind.keys.append(name)
            return PathStep("entity", name, kind.name)
        type_name = "_".join(stem) or segment_noun or holder or "thing"
        if segment_noun and (segment_noun.endswith("_" + type_name) or type_name.endswith("_" + segment_noun)):
            type_name = segment_noun
        own_alias = segment_noun not in GENERIC and not self._is_alias_of_another(segment_noun, type_name)
        kind = self.get_or_add(type_name, *([segment_noun] if segment_noun and own_alias else []))
        kind.addressed_by_name = kind.addressed_by_name or bool(either)
        if (last := type_name.rpartition("_")[2]) not in GENERIC:
            kind.aliases.add(last)
        kind.keys.append(name)
        if holder and parts and parts[-1] in {"number", "index", "position", "no", "num"} and holder != kind.name:
            kind.parent, kind.ordinal = holder, name
        return PathStep("entity", name, kind.name)

    def _is_alias_of_another(self, alias: str, type_name: str) -> bool:
        return any(alias in kind.aliases and kind.name != type_name for kind in self.by_name.values())

    # -- shapes and what stands in them ----------------------------------------------------------------------------

    def _read_shapes(self) -> None:
        trees: dict[int, ResponseShape] = {}  # by the identity of schemas: many operations of a resource answer alike
        for plan in self.plans:
            response = plan.tool.success
            if response is None or response.schema is None:
                continue
            plan.media_type = response.media_type
            built_before = trees.get(id(response.schema)) if not response.examples else None
            plan.shape = (
                copied(built_before) if built_before else build(self.protocol, response.schema, response.examples)
            )
            if plan.shape:
                _leave_out_errors(plan.shape, plan.tool.path)
            if plan.shape and not response.examples:
                trees[id(response.schema)] = plan.shape
        for plan in self.plans:
            if plan.detail and plan.tool.method == "GET" and plan.shape and not plan.shape.is_array:
                kind = self.by_name[plan.subject]
                kind.detail = kind.detail or plan
        for plan in self.plans:
            if plan.subject or plan.tool.method != "GET" or plan.shape is None:
                continue
            if any(step.role != "literal" for step in plan.steps) or not plan.shape.properties:
                continue
            if self.id_field_of(plan.shape.properties) and not any(
                find_entity_type(step.name, self.by_name) for step in plan.steps
            ):
                self.singletons["/" + "/".join(step.name for step in plan.steps)] = ""
        for plan in self.plans:
            path = plan.tool.path
            roots = [root for root in self.singletons if path == root or path.startswith(root + "/")]
            if roots and not plan.subject:
                plan.root = max(roots, key=len)
                literals = [step.name for step in plan.steps if step.role == "literal"]
                plan.tail = tuple(literals[len(plan.root.strip("/").split("/")) :])

    def _type_objects(self) -> None:
        for plan, shape, around, item in self.nodes():
            if shape.kind or not shape.properties or self._is_part(shape, around, item):
                continue
            enveloped = len(shape.path) == 1 and singular(label_of(shape.name)) in GENERIC
            is_detail = plan.detail and not item and (not shape.path or enveloped)
            shape.kind = (
                self._by_own_identifier(plan, shape, item)
                or (plan.subject if is_detail and self._stands_for(shape, plan.subject, enveloped) else "")
                or self._discriminated(shape)
                or self._by_key(plan, shape, item, within=around is not None and bool(around.kind))
                or (self._by_identity(shape) if item else "")
            )
        self._type_by_similarity(final=False)
        for plan, shape, _, item in self.nodes():
            if not shape.kind and (not shape.path and not item) and "/" + plan.tool.path.strip("/") in self.singletons:
                stem = identifier_stem(self.id_field_of(shape.properties))
                fields = _FieldIndex()
                for _, other, _, _ in self.nodes():
                    if other.kind:
                        fields.add(other.kind, other.properties)
                shape.kind = fields.most_similar(shape.properties)
                if not shape.kind:
                    shape.kind = self.get_or_add("_".join(stem) or singular(words(plan.tool.path)[-1])).name
        self._type_by_similarity(final=True)
        for path in self.singletons:
            steps = path[1:].split("/")
            plan = next(p for p in self.plans if [s.name for s in p.steps] == steps and p.tool.method == "GET")
            self.singletons[path] = plan.shape.kind if plan.shape else ""
        for plan in self.plans:
            if plan.root and not plan.subject:
                plan.subject = self.singletons[plan.root]
        self._fill_stubs()
        self._wrappers()

    def _fill_stubs(self) -> None:
        """Give undescribed objects and lists the fields of the entity type that their key names."""
        looks: dict[str, dict[str, ResponseShape]] = {}
        for _, shape, _, _ in self.nodes():
            if shape.kind and len(shape.properties) > len(looks.get(shape.kind, ())):
                looks[shape.kind] = shape.properties
        used = set(looks)
        items: dict[tuple[str, str], ResponseShape] = {}
        for _, shape, _, _ in self.nodes():
            for part in shape.properties.values():
                if part.item is not None and not _bare(part.item):
                    items.setdefault((shape.kind, part.name), part.item)
                    items.setdefault(("", part.name), part.item)
        for _, shape, _, _ in list(self.nodes()):
            for part in shape.properties.values():
                if part.is_array and (_bare(part.item) if part.item else not any("items" in c for c in part.checks)):
                    item = items.get((shape.kind, part.name)) or items.get(("", part.name))
                    part.item = _plain_copy(item) if item else part.item
                undescribed = not (part.properties or part.closed or part.options)
                if shape.kind and "object" in part.types and undescribed:
                    kind = find_entity_type(part.name, self.by_name, loose=True)
                    if kind and kind.name in looks and kind.name != shape.kind:
                        part.properties = _scalars(looks[kind.name])
                        part.kind = kind.name
        for name in [name for name, kind in self.by_name.items() if name not in used and not kind.addressed]:
            del self.by_name[name]

    def _is_part(self, shape: ResponseShape, around: ResponseShape | None, item: bool) -> bool:
        """True for an item of a list within an entity that no key names: a line in the `items` of an invoice."""
        if around is None or not item or singular(label_of(shape.name)) not in GENERIC:
            return False
        return not any(find_entity_type(key, self.by_name) for key in shape.path[len(around.path) :])

    def _by_own_identifier(self, plan: ResponsePlan, shape: ResponseShape, item: bool) -> str:
        """The type of an object whose identifier is named after its list: `reviewId` in `reviews`."""
        if set(self._usual) & set(shape.properties):
            return ""
        telling = bool(shape.name) and singular(label_of(shape.name)) not in GENERIC
        key = shape.name if telling else "" if shape.path else plan.label
        if not key and item:
            key = plan.label or next((s.name for s in reversed(plan.steps) if s.role == "literal"), "")
        noun = singular(words(key)[-1]) if words(key) else ""
        for name in shape.properties:
            stem = identifier_stem(name)
            if noun and stem and stem[-1] == noun and (item or not plan.detail):
                entity_type = find_entity_type("_".join(stem), self.by_name)
                return entity_type.name if entity_type else self.get_or_add("_".join(stem), noun).name
        return ""

    def _by_identity(self, shape: ResponseShape) -> str:
        """The type named by the only identifier of an object: `{place_id, name, country}` is a place."""
        stems = [stem for name in shape.properties if (stem := identifier_stem(name))]
        if set(self._usual) & set(shape.properties) or len(stems) != 1 or len(shape.properties) < 2:
            return ""
        kind = find_entity_type("_".join(stems[0]), self.by_name)
        return kind.name if kind and "_".join(stems[0]) in kind.aliases else ""

    def _stands_for(self, shape: ResponseShape, kind: str, enveloped: bool) -> bool:
        """True if the root of a detail path is the entity itself, not an envelope around it; or what that holds."""
        if enveloped:
            return bool(self.id_field_of(shape.properties, self.by_name[kind].aliases))
        aliases = self.by_name[kind].aliases
        own_lists = [
            part.item for name, part in shape.properties.items() if part.item and singular_name(words(name)) in aliases
        ]
        if any(item.properties and self.id_field_of(item.properties, aliases) for item in own_lists):
            return bool(self.id_field_of(shape.properties, aliases))
        if self.id_field_of(shape.properties) or self.by_name[kind].ordinal in shape.properties:
            return True
        inner = [p for p in shape.properties.values() if p.properties and self.id_field_of(p.properties)]
        return not (len(shape.properties) <= 3 and inner)

    def _discriminated(self, shape: ResponseShape) -> str:
        for name in ("type", "media_type", "object", "kind", "object_type", "entity_type"):
            part = shape.properties.get(name)
            if part is None or not self.id_field_of(shape.properties):
                continue
            values = set(map(str, part.enumerated))
            values |= {str(check["const"]) for check in part.checks if "const" in check}
            values = values or {str(value) for value in part.examples}
            if len(values) == 1:
                value = values.pop()
                if kind := find_entity_type(value, self.by_name):
                    return kind.name
                if part.checks and any({"enum", "const"} & set(check) for check in part.checks) and value.isalpha():
                    return "" if value.lower() in GENERIC else self.get_or_add(value.lower()).name
        return ""

    def _by_key(self, plan: ResponsePlan, shape: ResponseShape, item: bool, within: bool) -> str:
        key = shape.name
        if key and label_of(key) not in GENERIC and singular(label_of(key)) not in GENERIC:
            kind = find_entity_type(key, self.by_name)
            if kind is None and self.id_field_of(shape.properties) and not item:
                kind = find_entity_type(key, self.by_name, loose=True)
            if kind:
                return kind.name if self._plausible(shape, kind) else ""
        segments = [kind for segment in reversed(plan.tail) if (kind := find_entity_type(segment, self.by_name))]
        enveloped = len(shape.path) == 1 and singular(label_of(shape.name)) in GENERIC
        if (not shape.path or enveloped) and not item and (not plan.subject or plan.tool.writes):
            literals = [step.name for step in plan.steps[-1:] if step.role == "literal"] if enveloped else []
            segments += [kind for name in literals if (kind := find_entity_type(name, self.by_name))]
            scalars = _scalars(shape.properties)  # `device_codes` is a list, and no identifier
            return next((kind.name for kind in segments if self.id_field_of(scalars, kind.aliases)), "")
        if item and not within and all(singular(label_of(key)) in GENERIC for key in shape.path):
            return next((kind.name for kind in segments if self._plausible(shape, kind)), "")
        return ""

    def _plausible(self, shape: ResponseShape, kind: EntityType) -> bool:
        if self.id_field_of(shape.properties, kind.aliases) or (kind.ordinal and kind.ordinal in shape.properties):
            return True
        lists = any(part.is_array for part in shape.properties.values())
        return not shape.properties.keys().isdisjoint(NAMES) and not lists and not kind.addressed

    def _type_by_similarity(self, final: bool) -> None:
        fields = _FieldIndex()
        for _, shape, _, _ in self.nodes():
            if shape.kind:
                fields.add(shape.kind, shape.properties)
        for plan, shape, around, item in self.nodes():
            if shape.kind or not shape.properties or not (shape.path or item) or not self.id_field_of(shape.properties):
                continue
            if self._is_part(shape, around, item):
                continue
            if kind := fields.most_similar(shape.properties):
                shape.kind = kind
                fields.add(kind, shape.properties)
            elif final:
                key = next((k for k in reversed(shape.path) if singular(label_of(k)) not in GENERIC), "")
                name = singular_name(words(key))
                if not name:
                    tail = plan.tail or tuple(step.name for step in plan.steps if step.role == "literal")
                    name = singular_name(words(tail[-1])) if tail else "thing"
                shape.kind = self.get_or_add(name or "thing", (name or "thing").rpartition("_")[2]).name
                fields.add(shape.kind, shape.properties)

    def _wrappers(self) -> None:
        """Mark the entity within items that have no identifier: `{added_at, album: {…}}` wraps the album."""
        for plan, shape, _, item in self.nodes():
            if shape.kind or not item:
                continue
            links = [name for name, part in shape.properties.items() if part.shows_entity]
            if not links:
                continue
            label_words = {*words(plan.label), *map(singular, (*words(plan.label), *words(shape.name)))}
            sizes = {name: max(len(v.properties) for v in shape.properties[name].variants()) for name in links}
            shape.main = min(links, key=lambda name: (not label_words.intersection(words(name)), -sizes[name]))

    # -- what a world file says ------------------------------------------------------------------------------------

    def _apply_world_lists(self) -> None:
        """Type the lists of operations as the world file says."""
        for name, spec in self.world.entities.items():
            for plan in self.plans:
                if f"{plan.tool.method} {plan.tool.path}" in spec.listed and plan.shape is not None:
                    parts = [plan.shape, *plan.shape.properties.values()]
                    item = next((part.item for part in parts if part.item and part.item.properties), None)
                    if item is not None:
                        item.kind = self.get_or_add(name).name

    def _apply_world_relations(self) -> None:
        """Point relations at the types that the world file names."""
        for (owner, label), (target, _) in self.world.relations.items():
            self.world.check_target(owner, label, {name for kind in self.by_name.values() for name in kind.aliases})
            for plan, shape, around, item in list(self.nodes()):
                holder = shape.kind or (around.kind if around else "") or (plan.subject if not item else "")
                for name, part in shape.properties.items() if holder == owner else ():
                    own = singular(label_of(name)) not in GENERIC
                    if label != (label_of(name) if own or shape.path else plan.label):
                        continue
                    for option in part.item.variants() if part.item else part.variants():
                        if option.properties:
                            option.core.kind = self.get_or_add(target).name


class _FieldIndex:
    """The known fields of each type, and for each field the types that have it."""

    def __init__(self) -> None:
        self._fields: dict[str, set[str]] = {}
        self._types: dict[str, dict[str, None]] = defaultdict(dict)
        self._answers: dict[frozenset[str], str] = {}

    def add(self, kind: str, names: Iterable[str]) -> None:
        """Note fields of a type."""
        fields = self._fields.get(kind)
        new = set(names) if fields is None else set(names) - fields
        if fields is None:
            self._fields[kind] = fields = set()
            self._answers.clear()
        if new:
            self._answers.clear()
            fields |= new
            for name in new:
                self._types[name][kind] = None

    def most_similar(self, names: Iterable[str]) -> str:
        """The type that shares the rare fields of an object; empty if none stands out."""
        own = frozenset(names)
        if own not in self._answers:
            self._answers[own] = self._by_rare_fields(own)
        return self._answers[own]

    def _by_rare_fields(self, own: frozenset[str]) -> str:
        total = max(len(self._fields), 1)
        spread = {name: len(self._types[name]) for name in own if name in self._types}
        rare = [n for n in spread if spread[n] <= max(1, total // 4) and n not in (*_ID_FIELDS, "name", "title")]
        sharing = {kind for name in rare for kind in self._types[name]}
        weights = {name: log(1 + total / count) for name, count in spread.items() if count < total}
        best, score = "", 0.0
        for kind in self._fields if sharing else ():
            if kind in sharing:
                weight = fsum(weights[name] for name in self._fields[kind] & weights.keys())
                if weight > score:
                    best, score = kind, weight
        return best


def id_field_of(properties: Iterable[str], aliases: Iterable[str] = (), usual: Sequence[str] = _ID_FIELDS) -> str:
    """The identifying field among these, first of all one that is usual for any type; empty if there is none."""
    names = list(properties)
    for name in usual:
        if name in names:
            return name
    own = {tuple(alias.split("_")) for alias in aliases}
    named_after = [name for name in names if identifier_stem(name) in own] if own else []
    for name in (*(n for n in named_after if words(n)[-1] in _ID_WORDS), *named_after):
        return name
    if not own:
        for position, name in enumerate(names[:2]):
            parts = words(name)
            if parts and parts[-1] in _ID_WORDS and len(parts) > 1 and position < 2:
                return name
    return next((name for name in ("ref", "slug", "key") if name in names and own), "")


def _shared_identifiers(protocol: Protocol) -> Sequence[str]:
    """The parameters that identify things of several types and are named after none: `{zoo_id}` of pets and pens."""
    before: dict[str, set[str]] = defaultdict(set)
    for path in sorted({tool.path for tool in protocol.tools}):
        parts = path.split("/")
        for noun, part in pairwise(parts):
            if part.startswith("{") and noun and not noun.startswith("{"):
                before[part.strip("{}")].add(singular_name(words(noun)))
    nouns = set().union(*before.values())
    return [
        name
        for name, types in before.items()
        if len(types) >= _SHARED
        and is_identifier(name)
        and identifier_stem(name)
        and ("_".join(identifier_stem(name)) not in nouns or identifier_stem(name)[-1] in GENERIC)
    ]


def _answers_list(tool: Tool, protocol: Protocol) -> bool:
    """True if a tool answers with a list, as `/shops/city/{city}` does, and `/shops/email/{email}` does not."""
    schema = tool.response_schema
    return schema is not None and items_of(schema, protocol) is not None


def _either(parts: tuple[str, ...]) -> frozenset[str]:
    """The words that say that a name stands in a path, or an identifier: `name_or_id`."""
    either = frozenset(parts) & (_ID_WORDS | {"name", "slug"})
    return either | {"or"} if "or" in parts and len(either) > 1 else frozenset()


def is_enumerated(parameter: Parameter | None) -> bool:
    """True if a parameter, or each item of a list parameter, has enumerated values."""
    schema = parameter.schema if parameter else {}
    items = schema.get("items")
    return "enum" in schema or (isinstance(items, dict) and "enum" in items)


def _descend(plan: ResponsePlan, shape: ResponseShape, around: ResponseShape | None, item: bool) -> Iterator[_Node]:
    if shape.item is not None:
        for variant in shape.item.variants():
            yield from _descend(plan, variant, around, True)
        return
    if shape.properties:
        yield plan, shape, around, item
        inner = shape if shape.kind or (id_field_of(shape.properties) and (shape.path or item)) else around
        for part in shape.properties.values():
            if part.properties or part.options or part.item is not None:
                for variant in part.variants():
                    yield from _descend(plan, variant, inner, False)


def _leave_out_errors(shape: ResponseShape, path: str) -> None:
    """Take the errors out of a reply that is a success and has other content; a list that must be there is empty."""
    for variant in shape.variants() if not _ERRORS & set(words(path)) else ():
        errors = [name for name in variant.properties if label_of(name) in _ERRORS]
        for name in errors if len(errors) < len(variant.properties) else ():
            if name not in variant.required | variant.expected:
                del variant.properties[name]
            elif variant.properties[name].is_array:
                variant.properties[name].item = None


def _bare(shape: ResponseShape) -> bool:
    """True if a shape says nothing, or only that an object stands here."""
    contents = shape.properties or shape.options or shape.item or shape.closed
    return not contents and shape.types <= {"object"}


def _plain_copy(shape: ResponseShape) -> ResponseShape:
    """The same object without nested objects, so that shapes that borrow from each other stay finite."""
    properties = _scalars(shape.properties)
    return ResponseShape(shape.path, types=shape.types, checks=shape.checks, properties=properties, kind=shape.kind)


def _scalars(properties: dict[str, ResponseShape]) -> dict[str, ResponseShape]:
    return {name: part for name, part in properties.items() if not (part.is_array or part.is_object)}
