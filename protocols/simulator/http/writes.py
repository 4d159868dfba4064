"""Apply writes to the world: a method changes the entity, collection or state of its path.

The method, the path and the names of the sent fields decide; there is no rule for any one API.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from protocols.simulator.analysis.response_shape import ResponseShape
from protocols.simulator.analysis.world_file import WriteEffect
from protocols.simulator.analysis.world_schema import ResponsePlan, label_of
from protocols.simulator.http.messages import RequestError
from protocols.simulator.world.entity import Entity, RelationEdge
from protocols.simulator.world.world import World
from protocols.text.words import identifier_stem, singular, words

__all__ = ["WriteHandler"]

_OPPOSITES = {
    "pause": "play", "stop": "play", "unmute": "mute", "disable": "enable", "close": "open", "unlock": "lock",
    "deactivate": "activate", "unpublish": "publish", "archive": "restore", "unstar": "star", "unlike": "like",
}  # fmt: skip


class WriteHandler:
    """Applies writes to one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._fields = world.fields
        self._relations = world.relations
        self.schema = world.schema

    def write(
        self, plan: ResponsePlan, subject: Entity | None, values: Mapping[str, object], body: Mapping[str, object]
    ) -> Entity | None:
        """Apply a write.

        Returns: The subject of the response if it is not the entity in the path: a created one.
        """
        path_names = {step.name for step in plan.steps if step.role != "literal"}
        sent = {name: value for name, value in {**values, **body}.items() if name not in path_names and name}
        self.world.version += 1
        if sent.get("dry_run") is True:
            return subject
        if effects := self.schema.world_file.effects.get(plan.tool.name):
            return self._apply_effects(plan, subject, {**values, **body}, effects)
        if subject is not None and plan.detail:
            return self._on_entity(plan, subject, sent)
        if subject is None:
            return self._on_collection(plan, sent)
        targets = self._targets(plan, subject, sent)
        references = list(self._references(sent, targets))
        described = self.world.demanded.active and plan.tool.method == "POST" and self._describes(targets, sent)
        if targets and references and not described:
            self._on_members(plan, subject, targets, references, sent)
            self._bump_revision(plan, subject)
            return subject
        if targets and plan.tool.method == "POST" and not self._is_state(plan):
            return self._create(targets[0], sent, subject, plan)
        self._on_state(plan, subject, sent, references)
        return None

    def _describes(self, targets: Sequence[str], sent: Mapping[str, object]) -> bool:
        """True if something new is sent, and not only what identifies a member: a reply to a comment."""
        fields = {name for target in targets[:1] for name in self.schema.entity_types[target].all_fields}
        return any(name in fields and isinstance(sent[name], str) and " " in str(sent[name]) for name in sent)

    # -- what a world file says ------------------------------------------------------------------------------------

    def _apply_effects(
        self, plan: ResponsePlan, subject: Entity | None, sent: Mapping[str, object], effects: Sequence[WriteEffect]
    ) -> Entity | None:
        """Apply the effects of a write in the world file.

        Raises: RequestError: A new member does not exist.
        """
        created: Entity | None = None
        for effect in effects:
            value = effect.value if effect.source is None else sent.get(effect.source)
            if effect.owner.startswith("/"):
                self._set_state(effect, value)
                continue
            user = self.world.keyed_entity(effect.owner, "singleton", "")
            owner = subject if subject is not None and subject.kind == effect.owner else user
            targets = [relation.target for relation in self.schema.relations_of(owner.kind, label=effect.label)]
            if effect.source == "body":
                path_names = {step.name for step in plan.steps if step.role != "literal"}
                created = self.world.create(targets[0], plan.tool.name, json.dumps(sent, sort_keys=True, default=str))
                self._assign(created, {name: value for name, value in sent.items() if name not in path_names and name})
                if self.schema.family(created.kind, owner.kind):
                    created.parent = owner
                members = [] if created.parent is owner else [created]
                self._relations.recount(owner)
            else:
                members = [self._find_member(kind, identifier) for kind, identifier in self._named_in(value, targets)]
            for kind in dict.fromkeys(member.kind for member in members) or (targets if effect.action == "set" else []):
                same_kind = [member for member in members if member.kind == kind]
                self._change_relation(effect.action, owner, effect.label, kind, same_kind)
            self._bump_revision(plan, owner)
        return created or subject

    def _change_relation(
        self, action: str, owner: Entity, label: str, kind: str, members: list[Entity], position: object = None
    ) -> None:
        """Set, add (what is missing), append or remove members; new ones stand at `position`, or at the end."""
        current = self._relations.related(owner, label, kind)
        if action == "remove":
            edges = [edge for edge in current if edge.target not in members]
        else:
            remaining = [] if action == "set" else current
            present = {edge.target for edge in remaining} if action == "add" else set()
            new = [self._dated_member(owner, label, member) for member in members if member not in present]
            at = position if isinstance(position, int) else len(remaining)
            edges = [*remaining[:at], *new, *remaining[at:]]
        self._relations.rewrite(owner, label, kind, edges)

    def _set_state(self, effect: WriteEffect, value: object) -> None:
        state = self.world.keyed_entity("~state", "state", effect.owner)
        part = self.schema.states[effect.owner].shape.properties[effect.label]  # type: ignore[union-attr]
        kinds = [variant.kind for variant in part.variants() if variant.kind]
        if not kinds:
            state.receive(effect.label, value)
            return
        for kind, identifier in list(self._named_in(value, kinds))[:1]:
            self._relations.relink(state, label_of(effect.label), self._find_member(kind, identifier))

    def _named_in(self, value: object, targets: list[str]) -> Iterator[tuple[str, str]]:
        """(type, identifier) of all entities in a value, under whatever name it was sent."""
        entries = value if isinstance(value, list) else [value]
        if any(isinstance(entry, dict) for entry in entries):
            yield from self._references({"": entries}, targets)
        elif value is not None:
            for text in _listed(value):
                yield from self._reference("", text, targets)

    def _find_member(self, kind: str, identifier: str) -> Entity:
        entity = self.world.find(kind, identifier)
        if entity is None:
            raise RequestError(404, f"there is no {kind} {identifier!r}")
        return entity

    # -- entities --------------------------------------------------------------------------------------------------

    def _on_entity(self, plan: ResponsePlan, subject: Entity, sent: Mapping[str, object]) -> Entity:
        if plan.tool.method == "DELETE":
            subject.deleted = True
            self.world.mark_changed()
            if subject.parent is not None:
                self._relations.recount(subject.parent)
            return subject
        self._assign(subject, sent)
        return subject

    def _on_collection(self, plan: ResponsePlan, sent: Mapping[str, object]) -> Entity | None:
        shape = plan.shape
        kind = shape.kind if shape and shape.kind else ""
        if not kind:
            named = next((k for segment in reversed(plan.tail) if (k := self.schema.entity_type_named(segment))), None)
            kind = named.name if named else ""
        if plan.tool.method == "POST" and kind:
            return self._create(kind, sent, None, plan)
        entity = self.world.keyed_entity("~state", "state", self.state_path(plan) or plan.tool.path, "")
        self._assign(entity, sent)
        return None

    def _create(self, kind: str, sent: Mapping[str, object], owner: Entity | None, plan: ResponsePlan) -> Entity:
        entity = self.world.create(kind, plan.tool.name, json.dumps(sent, sort_keys=True, default=str))
        self._assign(entity, sent)
        if owner is None:
            return entity
        dependent = kind in self.world.dependent_types and self.schema.relations_of(owner.kind, kind)
        if dependent or self.schema.family(kind, owner.kind):
            entity.parent = owner
            self._relations.recount(owner)
        else:
            edges = self._relations.related(owner, plan.label, kind)
            member = self._relations.member(owner, plan.label, entity)
            self._relations.rewrite(owner, plan.label, kind, [*edges, member])
        return entity

    def _assign(self, entity: Entity, sent: Mapping[str, object]) -> None:
        """Set fields; identifiers of other entities become links, and lists of them relations."""
        self.world.mark_changed()
        fields = self.world.entity_type(entity).all_fields
        for sent_name, value in sent.items():
            name = sent_name
            if name not in fields and words(name)[:1] == ("new",):  # `new_state` sets the state
                name = next((field for field in fields if words(field) == words(name)[1:]), name)
            kind = self.schema.referenced_type(name)
            linked = self.world.find(kind.name, _last(value)) if kind and isinstance(value, (str, int)) else None
            if linked is not None and kind is not None:
                self._relations.relink(entity, "_".join(identifier_stem(name)), linked)
                if self.schema.family(entity.kind, linked.kind):
                    entity.parent = linked
            elif kind and isinstance(value, list):
                members = [e for text in _listed(value) if (e := self.world.find(kind.name, text))]
                for relation in self.schema.relations_of(entity.kind, kind.name, many=True)[:1]:
                    edges = [self._relations.member(entity, relation.label, member) for member in members]
                    self._relations.rewrite(entity, relation.label, kind.name, edges)
            entity.receive(name, value)

    def _act_on(self, entity: Entity, action: tuple[str, ...]) -> None:
        """Apply the verb of a path to the state of an entity: after `/cancel`, its status is `cancelled`."""
        verb = action[0] if action else ""
        for name, info in self.world.entity_type(entity).all_fields.items():
            choices = [str(value) for shape in info.shapes for value in shape.enumerated]
            if len(verb) > 2 and set(words(name)) & {"status", "state"} and choices:
                fitting = [choice for choice in choices if choice.lower().startswith(verb.removesuffix("e")[:6])]
                fitting.sort(key=lambda choice: not choice.lower().endswith(("ed", "t", "n")))
                if fitting:
                    entity.receive(name, fitting[0])
            if len(verb) > 2 and any("boolean" in shape.types for shape in info.shapes):
                self._set_flag(entity, name, verb)

    def _set_flag(self, entity: Entity, name: str, verb: str) -> None:
        """Set a truth value by a verb: `pause` makes `is_paused` true and `playing` false."""
        positive = _OPPOSITES.get(verb, verb)
        for word, flag in ((positive, verb == positive), (verb, True)):
            stem = word.removesuffix("e")
            if {stem, stem + "e", stem + "ed", stem + "ing"}.intersection(words(name)):
                entity.receive(name, flag)

    def _bump_revision(self, plan: ResponsePlan, subject: Entity) -> None:
        """Give the entity a new revision, if the response shows one: a changed snapshot or version."""
        if plan.shape is None:
            return
        for name, part in plan.shape.properties.items():
            if set(words(name)) & {"snapshot", "revision", "version", "etag"} and "string" in part.types:
                number = cast("int", subject.memo.get("touched", 0)) + 1
                subject.memo["touched"] = number
                rng = self.world.rng(subject, name, number)
                self.world.mark_changed()
                subject.values[name] = "".join(rng.choose("0123456789abcdef") for _ in range(32))

    # -- members ---------------------------------------------------------------------------------------------------

    def _targets(self, plan: ResponsePlan, subject: Entity, sent: Mapping[str, object]) -> list[str]:
        related = [relation.target for relation in self.schema.relations_of(subject.kind, label=plan.label, many=True)]
        named = [
            self.schema.entity_type_named(str(value)) for name, value in sent.items() if words(name)[-1:] == ("type",)
        ]
        requested = [kind.name for kind in named if kind]
        first = [kind for kind in requested if kind in related or not related]
        return first + [kind for kind in related if kind not in requested]

    def _references(self, sent: Mapping[str, object], targets: list[str]) -> Iterator[tuple[str, str]]:
        """(type, identifier) of every entity in the sent fields, in order."""
        for name, value in sent.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                for entry in value:
                    for inner, text in entry.items() if isinstance(entry, dict) else ():
                        if _refers(inner):
                            yield from self._reference(inner, text, targets)
                            break
            elif _refers(name):
                for text in _listed(value):
                    yield from self._reference(name, text, targets)

    def _reference(self, name: str, text: object, targets: list[str]) -> Iterator[tuple[str, str]]:
        pieces = re.split(r"[:/]", str(text))
        named = self.schema.entity_type_named(pieces[-2]) if len(pieces) > 1 else self.schema.referenced_type(name)
        if named is not None and (not targets or named.name in targets or len(pieces) > 1):
            yield named.name, pieces[-1]
        elif named is None:
            for target in targets:
                if self.world.find(target, pieces[-1]):
                    yield target, pieces[-1]
                    return
            if targets:
                yield targets[0], pieces[-1]

    def _on_members(
        self,
        plan: ResponsePlan,
        subject: Entity,
        targets: list[str],
        references: list[tuple[str, str]],
        sent: Mapping[str, object],
    ) -> None:
        entities = [self._find_member(kind, identifier) for kind, identifier in references]
        replaces = plan.tool.method == "PUT" and self._has_method(plan.tool.path, "POST")
        for kind in dict.fromkeys(entity.kind for entity in entities):
            members = [entity for entity in entities if entity.kind == kind]
            action = {"DELETE": "remove", "PUT": "set" if replaces else "add"}.get(plan.tool.method, "append")
            self._change_relation(action, subject, plan.label, kind, members, sent.get("position"))

    def _dated_member(self, owner: Entity, label: str, target: Entity) -> RelationEdge:
        """A new member of a relation, added now."""
        edge = self._relations.member(owner, label, target)
        for name in ("added_at", "created_at", "saved_at", "followed_at", "addedAt", "createdAt"):
            edge.own.values[name] = self.world.now.strftime("%Y-%m-%dT%H:%M:%SZ")
        return edge

    # -- states ----------------------------------------------------------------------------------------------------

    def state_path(self, plan: ResponsePlan) -> str:
        """The path that shows the state behind a path below a singleton; empty if there is none."""
        path = plan.tool.path
        nearest = ""
        while path.count("/") > plan.root.count("/") and path:
            state = self.schema.states.get(path)
            if state is not None and state.shape is not None and not _is_list(state.shape):
                nearest = path
            path = path.rpartition("/")[0]
        return nearest

    def _is_state(self, plan: ResponsePlan) -> bool:
        return bool(plan.root and self.state_path(plan)) and not self._has_method(plan.tool.path, "GET")

    def _has_method(self, path: str, method: str) -> bool:
        return any((plan.tool.path, plan.tool.method) == (path, method) for plan in self.schema.plans)

    def state_link(self, state: Entity, label: str, kind: str, owner: Entity | None) -> Entity | None:
        """The linked entity of a state: the device of a player. A field named like a path below means its link."""
        linked = state.memo.get(("link", label))
        if isinstance(linked, Entity):
            return linked
        for path, plan in self.schema.states.items():
            if plan.shape and label_of(path.rpartition("/")[2]) == label and path.startswith(state.key[1]):
                inner = plan.shape.property_showing(kind)
                if inner is not None and label_of(inner) != label:
                    return self.state_link(state, label_of(inner), kind, owner)
        options: list[RelationEdge] = []
        if owner is not None:
            relations = self.schema.relations_of(owner.kind, kind, many=True)
            relations.sort(key=lambda relation: singular(relation.label) != kind)
            options = self._relations.initial_edges(owner, relations[0].label, kind) if relations else []
        chosen = self.world.current_entity(kind) or (
            options[0].target if options else self._relations.linked(state, label, kind)
        )
        if chosen is not None:
            state.memo[("link", label)] = chosen
        return chosen

    def _on_state(
        self, plan: ResponsePlan, subject: Entity, sent: Mapping[str, object], references: list[tuple[str, str]]
    ) -> None:
        path = self.state_path(plan)
        state_plan = self.schema.states.get(path)
        if not plan.root or not path or state_plan is None or state_plan.shape is None:
            shapes = [shape for shape in (plan.shape, state_plan and state_plan.shape) if shape]
            field_names = {name for shape in shapes for name in shape.properties}
            settable = self.world.entity_type(subject).all_fields.keys() | field_names
            self._assign(subject, {name: value for name, value in sent.items() if name in settable})
            if plan.tail and plan.tool.method != "DELETE":
                self._act_on(subject, words(plan.tail[-1]))
            return
        state = self.world.keyed_entity("~state", "state", path)
        action = words(plan.tail[-1]) if plan.tail else ()
        for name, value in sent.items():
            self._set_field(state, state_plan.shape, name, action, value, subject)
        self._apply_action(state, state_plan.shape, action, subject)
        named = list(references) or list(self._references(sent, []))
        for index, (kind, identifier) in enumerate(named):
            entity = self.world.find(kind, identifier)
            if entity is None:
                continue
            link = state_plan.shape.property_showing(kind)
            if link is not None and index == 0:
                self._relations.relink(state, label_of(link), entity)
            elif link is None and index == 0:
                self._relations.relink(state, "context", entity)
            for relation in self.schema.relations_of(subject.kind, kind) if index else ():
                if "queue" in relation.label:
                    edges = [] if index == 1 else self._relations.related(subject, relation.label, kind)
                    member = self._relations.member(subject, relation.label, entity)
                    self._relations.rewrite(subject, relation.label, kind, [*edges, member])

    def _set_field(
        self, state: Entity, shape: ResponseShape, name: str, action: tuple[str, ...], value: object, subject: Entity
    ) -> None:
        labels = {label_of(name), "_".join([*action, *words(name)])}
        for field_name, part in shape.properties.items():
            if label_of(field_name) in labels and not part.kind:
                state.receive(field_name, value)
            elif part.kind and name in part.properties:
                linked = self.state_link(state, label_of(field_name), part.kind, subject)
                if linked is not None:
                    linked.receive(name, value)
                    self.world.mark_changed()

    def _apply_action(self, state: Entity, shape: ResponseShape, action: tuple[str, ...], subject: Entity) -> None:
        verb = action[-1] if action else ""
        for name, part in shape.properties.items():
            if "boolean" in part.types and verb:
                self._set_flag(state, name, verb)
        if verb in {"next", "skip"}:
            for relation in self.schema.relations_of(subject.kind, many=True):
                if "queue" in relation.label:
                    edges = self._relations.related(subject, relation.label, relation.target)
                    link = shape.property_showing(relation.target)
                    if edges and link is not None:
                        self._relations.relink(state, label_of(link), edges[0].target)
                        self._relations.rewrite(subject, relation.label, relation.target, edges[1:])
                        return


def _is_list(shape: ResponseShape) -> bool:
    items = [part.item for part in shape.properties.values() if part.is_array and part.item]
    return any(variant.kind or variant.main for item in items for variant in item.variants())


def _refers(name: str) -> bool:
    parts = words(name)
    return bool(parts) and (
        singular(parts[-1]) in {"id", "gid", "uri", "uuid", "guid", "ref", "urn"} or parts[-1] == "ids"
    )


def _listed(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(part) for part in cast("list[object]", value) if isinstance(part, (str, int))]
    return [part.strip() for part in str(value).split(",") if part.strip()]


def _last(value: object) -> str:
    return re.split(r"[:/]", str(value))[-1]
