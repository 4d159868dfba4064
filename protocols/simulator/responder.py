"""Answer requests from a world: find the tool, check what was sent, build the body that its response documents.

Every answer is a walk over the response's shape with the entities that the request is about in hand.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, cast
from urllib.parse import unquote, urlencode

from protocols.calling import match
from protocols.model import Protocol, Response, Schema, Tool
from protocols.simulator.blueprint import Blueprint, Plan, label_of, stem_of
from protocols.simulator.entity import Edge, Entity
from protocols.simulator.fields import coming
from protocols.simulator.messages import Reply, Request, RequestError
from protocols.simulator.reading import Reader
from protocols.simulator.shape import Shape, build, fits
from protocols.simulator.values import is_date
from protocols.simulator.world import World
from protocols.simulator.worldfile import Binding
from protocols.simulator.writing import Writer
from protocols.words import singular, words

__all__ = ["Responder"]

_LIMITS = frozenset(
    "limit per_page page_size pagesize perpage count number size max_results max take first top".split()
)
_OFFSETS = frozenset("offset skip start start_index from".split())
_PAGES = frozenset({"page", "page_number", "page_no", "p"})
_REMEMBERED = 8192
_RATED = ("vote_average", "rating", "average", "score", "stars", "rate")
_POPULAR = ("popularity", "popular", "views", "plays", "likes", "followers", "votes", "vote_count")


@dataclass(slots=True)
class _Frame:
    """What one answer is about: its plan, the entity that the path names, arguments, and the list being paged."""

    plan: Plan
    subject: Entity | None
    values: dict[str, object]
    url: str
    choice: str = ""
    edges: list[Edge] = field(default_factory=list)
    total: int = 0
    offset: int = 0
    limit: int = 0
    page: int = 1


class Responder:
    """Turns requests into replies for one world; the caller holds the lock."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._fields = world.fields
        self._relations = world.relations
        self.blueprint: Blueprint = world.blueprint
        self.protocol: Protocol = world.blueprint.protocol
        self._plans = {plan.tool.name: plan for plan in self.blueprint.plans}
        self._reader = Reader(self.protocol)
        self._writer = Writer(world)
        self._found: dict[tuple[str, str], tuple[Tool, dict[str, str]] | None] = {}
        self._bodies: dict[tuple[object, ...], object] = {}
        self._kinds_shown: dict[tuple[int, str], frozenset[str]] = {}

    # -- from request to reply -------------------------------------------------------------------------------------

    def answer(self, request: Request) -> Reply:
        """The reply to a request whose credentials were accepted."""
        method = "GET" if request.method == "HEAD" else request.method
        found = self._match(method, request.path)
        if found is None:
            allowed = sorted({t.method for t in self.protocol.tools if match(self.protocol, t.method, request.path)})
            if allowed:
                reply = self.problem(None, RequestError(405, f"{request.method} is not allowed here"))
                return Reply(reply.status, reply.body, reply.media_type, {"Allow": ", ".join(allowed)})
            return self.problem(None, RequestError(404, f"there is nothing at {request.path}"))
        tool, path_values = found
        try:
            return self._answer(request, self._plans[tool.name], path_values)
        except RequestError as problem:
            return self.problem(tool, problem)

    def tool_for(self, request: Request) -> Tool | None:
        """The tool that a request addresses."""
        found = self._match("GET" if request.method == "HEAD" else request.method, request.path)
        return found[0] if found else None

    def _match(self, method: str, path: str) -> tuple[Tool, dict[str, str]] | None:
        key = (method, path)
        if key not in self._found:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            self._found[key] = match(self.protocol, method, path)
        return self._found[key]

    def _answer(self, request: Request, plan: Plan, path_values: Mapping[str, str]) -> Reply:
        body = self._reader.body(request, plan.tool)
        values = self._reader.parameters(request, plan.tool, path_values, body)
        root = self.protocol.servers[0].url if self.protocol.servers else ""
        frame = _Frame(
            plan, None, values, root + request.path + ("?" + urlencode(request.query) if request.query else "")
        )
        frame.subject = self._subject(plan, path_values)
        frame.choice = next(
            (str(path_values[self._argument(plan, s.name)]) for s in plan.steps if s.what == "choice"), ""
        )
        if plan.tool.method not in {"GET", "HEAD"}:
            made = self._writer.write(plan, frame.subject, values, body)
            if made is not None:
                frame.subject = made
        shape = plan.shape
        if shape is None:
            return Reply(plan.status)
        media_type = plan.media_type or "application/json"
        created = plan.tool.method not in {"GET", "HEAD"}
        return Reply(plan.status, self._root(shape, frame, created), media_type)

    def _argument(self, plan: Plan, name: str) -> str:
        return next((p.argument for p in plan.tool.parameters if p.name == name and p.location == "path"), name)

    def _subject(self, plan: Plan, path_values: Mapping[str, str]) -> Entity | None:
        current: Entity | None = None
        for step in plan.steps:
            if step.what != "entity":
                continue
            value = path_values[self._argument(plan, step.name)]
            kind = self.blueprint.kinds[step.kind]
            if kind.local and current is not None:
                found = self.world.within(current, step.kind, value)
            else:
                found = self.world.find(step.kind, value)
            if found is None:
                raise RequestError(404, f"{step.name}: there is no {kind.name.replace('_', ' ')} {value!r}")
            current = found
        if current is None and plan.root:
            current = self.world.thing(plan.subject, "singleton", plan.root)
        return current

    # -- errors ----------------------------------------------------------------------------------------------------

    def problem(self, tool: Tool | None, problem: RequestError) -> Reply:
        """An error in the shape that the document gives errors of that status, else of any, else in a plain one."""
        message = str(problem)
        found = self._error_shape(tool, problem.status)
        if found is None:
            return Reply(problem.status, {"message": message, "status": problem.status}, "application/json")
        response, shape, exact = found
        if shape is None or response.media_type is None or "json" not in response.media_type:
            return Reply(problem.status, {"message": message, "status": problem.status}, "application/json")
        thing = self.world.thing("~error", "error", tool.name if tool else "", str(problem.status))
        example = next((e for e in response.examples if isinstance(e, dict)), {}) if exact else {}
        return Reply(problem.status, self._error(shape, thing, problem.status, message, example), response.media_type)

    def _error_shape(self, tool: Tool | None, status: int) -> tuple[Response, Shape | None, bool] | None:
        own = list(tool.responses) if tool else []
        wanted = (str(status), f"{status // 100}XX", "default")
        exact = [r for name in wanted for r in own if r.status.upper() == name and r.schema is not None]
        others = [r for r in own if r.status[:1] == "4" and r.schema is not None]
        others += [
            r for t in self.protocol.tools for r in t.responses if r.status == str(status) and r.schema is not None
        ]
        others += [r for t in self.protocol.tools for r in t.responses if r.status[:1] == "4" and r.schema is not None]
        for response in (*exact[:1], *others[:1]):
            return response, build(self.protocol, cast("Schema", response.schema), response.examples), bool(exact)
        return None

    def _error(self, shape: Shape, thing: Entity, status: int, message: str, example: Mapping[str, object]) -> object:
        body: dict[str, object] = {}
        told = False
        for name, part in shape.properties.items():
            last = words(name)[-1:] or ("",)
            if part.properties:
                inner = example.get(name)
                body[name] = self._error(part, thing, status, message, inner if isinstance(inner, dict) else {})
            elif (
                "string" in part.types
                and last[0] in {"message", "detail", "error", "title", "description", "reason"}
                and fits(message, part)
            ):
                body[name] = message
                told = True
            elif name.lower() in {"status", "code", "http_status", "statuscode"} and fits(status, part):
                body[name] = example.get(name, status)
            elif part.is_array:
                body[name] = [message] if part.item and "string" in part.item.types else []
            else:
                body[name] = example[name] if name in example else self._fields.value(thing, name, part)
        if (
            not told
            and not shape.closed
            and "message" not in body
            and not any(p.properties for p in shape.properties.values())
        ):
            body["message"] = message
        return body

    # -- bodies ----------------------------------------------------------------------------------------------------

    def _root(self, shape: Shape, frame: _Frame, created: bool) -> object:
        if shape.options:
            shape = shape.options[0]
        subject = frame.subject
        if shape.is_array:
            if shape.item is not None and "boolean" in shape.item.types and subject is not None:
                return self._writer.contains(frame.plan, subject, frame.values)
            edges = self._members(shape, subject, frame.plan.label, frame, top=True)
            if edges is not None:
                self._paginate(frame, edges)
                return [self._item(cast("Shape", shape.item), edge, frame) for edge in frame.edges]
            return self._plain_list(shape, self._thing(frame), "", frame)
        if not shape.properties:
            if shape.is_object:
                return {}
            return self._fields.value(self._thing(frame), frame.plan.label or "value", shape)
        if shape.kind:
            if subject is None or subject.kind != shape.kind:
                if subject is not None and subject.ends:
                    return self._entity(shape, subject, None, frame)
                chosen = self._global(shape.kind, frame)
                if not chosen:
                    raise RequestError(404, f"there is no such {shape.kind}")
                return self._entity(shape, chosen[0], None, frame)
            return self._entity(shape, subject, None, frame)
        if created and subject is not None and frame.plan.detail:
            return self._entity(shape, subject, None, frame)
        return self._container(shape, subject, "", frame, top=True)

    def _thing(self, frame: _Frame) -> Entity:
        """What the plain fields of an answer belong to: the entity that the path names, or what the query asks for."""
        plan = frame.plan
        if frame.subject is not None:
            return frame.subject
        if (about := self._about(frame)) is not None:
            return about
        steady = any(other.tool.writes and other.tool.path.startswith(plan.tool.path) for other in self.blueprint.plans)
        asked = "" if steady else json.dumps({k: v for k, v in frame.values.items() if not _paging(k)}, sort_keys=True)
        return self.world.thing("~state", "state", plan.tool.path, asked)

    def _about(self, frame: _Frame) -> Entity | None:
        """The entity that the query names by its identifier: the place of `/current?place_id=london`."""
        for name, value in frame.values.items():
            stem = stem_of(name)
            kind = self.blueprint.kind_named("_".join(stem)) if stem else None
            if kind is None or kind.local or words(name)[-1] not in {"id", "uuid", "guid", "ref", "slug"}:
                continue
            found = self.world.find(kind.name, str(value))
            if found is None:
                raise RequestError(404, f"{name}: there is no {kind.name.replace('_', ' ')} {value!r}")
            return found
        return None

    def _state(self, frame: _Frame) -> Entity | None:
        """The state that an answer below a singleton shows: that of the nearest path around it that has one."""
        plan = frame.plan
        if not plan.root or not plan.tail:
            return None
        path = self._writer.state_path(plan)
        return self.world.thing("~state", "state", path) if path else None

    def _container(self, shape: Shape, owner: Entity | None, label: str, frame: _Frame, top: bool = False) -> object:
        body: dict[str, object] = {}
        rest: list[str] = []
        asked = self._asked_kinds(frame)
        state = self._state(frame) if top else None
        for name, part in shape.properties.items():
            inner_label = label_of(name) if singular(label_of(name)) not in _GENERIC_KEYS else label
            kinds = _kinds_in(part)
            if top and asked and kinds and not kinds & asked and name not in shape.required | shape.expected:
                continue
            if part.is_array and part.item is not None and _entity_item(part):
                relation_label = self._label(owner, part, inner_label, frame, top)
                edges = self._members(part, owner, relation_label, frame, top=top or not owner)
                self._paginate(frame, edges or [])
                body[name] = [self._item(part.item, edge, frame) for edge in frame.edges]
            elif part.properties and not part.kind and _lists(part):
                body[name] = self._container(part, owner, inner_label, frame)
            elif part.kind or any(option.kind for option in part.options):
                body[name] = self._linked(part, owner if state is None else state, name, frame)
            elif state is not None and part.properties and {"uri", "href"} <= set(part.properties):
                body[name] = self._surroundings(part, state, name, shape, frame)
            else:
                rest.append(name)
        for name in rest:
            part = shape.properties[name]
            found, value = self._paging_value(name, part, frame)
            if found:
                if value is not None or part.nullable:
                    body[name] = value
                elif name in shape.required | shape.expected:
                    body[name] = "" if "string" in part.types else self._fields.value(self._thing(frame), name, part)
                continue
            if state is not None and words(name)[-1:] == ("type",) and (kind := self._linked_kind(state, shape, part)):
                body[name] = kind
                continue
            body[name] = self._plain(state or owner or self._thing(frame), name, part, frame)
        return {name: body[name] for name in shape.properties if name in body}

    def _linked_kind(self, state: Entity, shape: Shape, part: Shape) -> str:
        """The kind of what a state shows under several possible kinds: the type of the currently playing item."""
        for name, inner in shape.properties.items():
            kinds = [option.kind for option in inner.variants() if option.kind]
            linked = state.memo.get(("link", label_of(name)))
            if len(kinds) > 1 and fits(kinds[0], part):
                return linked.kind if isinstance(linked, Entity) else kinds[0]
        return ""

    def _label(self, owner: Entity | None, part: Shape, label: str, frame: _Frame, top: bool) -> str:
        if owner is None:
            return label
        targets = _targets(part.item) if part.item else []
        known = self.blueprint.relations
        for candidate in (
            label if not top else "",
            frame.plan.label if top or not label else "",
            label,
            frame.plan.label,
        ):
            if candidate and any((owner.kind, candidate, target) in known for target in targets):
                return candidate
        return label or frame.plan.label

    def _asked_kinds(self, frame: _Frame) -> set[str]:
        """The kinds that an enumerated word of the query names: `type=album,track`."""
        asked: set[str] = set()
        for parameter in frame.plan.tool.parameters:
            if parameter.location == "query" and words(parameter.name)[-1:] in {("type",), ("types",), ("kind",)}:
                value = frame.values.get(parameter.name)
                for word in value if isinstance(value, list) else str(value or "").split(","):
                    if word and (kind := self.blueprint.kind_named(str(word))):
                        asked.add(kind.name)
        return asked

    # -- members of lists ------------------------------------------------------------------------------------------

    def _members(self, part: Shape, owner: Entity | None, label: str, frame: _Frame, top: bool) -> list[Edge] | None:
        """What a list holds, sorted and filtered; None when it holds no entities."""
        targets = _targets(part.item) if part.item else []
        if not targets:
            return None
        kind = self.blueprint.kind_named(frame.choice) if frame.choice else None
        if kind is not None and (len(targets) == 1 or kind.name in targets):
            targets = [kind.name]
        asked = self._asked_kinds(frame)
        if len(targets) > 1 and asked & set(targets):
            targets = [target for target in targets if target in asked]
        if owner is None:
            entities = [entity for target in targets[:1] for entity in self._global(target, frame)]
            return [Edge(Entity("~list", ("list",)), entity) for entity in entities]
        edges: list[Edge] = []
        for target in targets:
            if (owner.kind, label, target) in self.blueprint.relations or len(targets) == 1:
                edges.extend(self._relations.related(owner, label, target))
                if len(targets) > 1 and edges and not frame.choice:
                    break
        if top:
            edges = self._sorted(edges, frame)
            kept = self._filtered([edge.target for edge in edges], frame)
            allowed = {id(entity) for entity in kept}
            edges = [edge for edge in edges if id(edge.target) in allowed]
        return edges

    def _global(self, kind: str, frame: _Frame) -> list[Entity]:
        if frame.choice and (named := self.blueprint.kind_named(frame.choice)):
            kind = named.name
        plan = frame.plan
        text = frame.values.get(plan.search) if plan.search else None
        if isinstance(text, str) and text.strip():
            return self._search(kind, text.strip(), frame)
        entities = self._filtered(self.world.everything(kind), frame)
        return [edge.target for edge in self._sorted([Edge(entity, entity) for entity in entities], frame)]

    def _search(self, kind: str, text: str, frame: _Frame) -> list[Entity]:
        text = text.strip("\"' ")
        filters, free = _field_filters(text)
        name = free
        makers: list[Entity] = []
        for word, wanted in filters.items():
            named = self.blueprint.kind_named(word)
            if named is None:
                continue
            if named.name == kind:
                name = wanted
            elif any(pair.work == kind and pair.maker == named.name for pair in self.blueprint.pairs):
                makers.append(self.world.named(named.name, wanted))
        binding = self._binding(frame.plan, frame.plan.search)
        if binding is not None and binding.field:
            entities = dict.fromkeys([*self.world.planted(kind), *self.world.everything(kind)])
            bound = [entity for entity in entities if not entity.deleted and self._bound(entity, binding, text)]
            return self._filtered(bound, frame) or self._filtered([self.world.named(kind, text)], frame)
        fixed = self._fixed(kind, frame)
        if not name and makers:
            return self._by(makers, kind)
        name = name or text
        if self.world.premises.names and not makers and not self.world.knows(kind, name):
            recalled = self._filtered(self.world.recalled(kind, name), frame)
            if recalled:
                return recalled
        first = self.world.named(kind, name, makers, fixed)
        found = [first]
        if len(_kinds_in(frame.plan.shape)) > 1 and not makers:
            for pair in self.blueprint.pairs:
                if pair.work == kind and not pair.family and pair.maker in _kinds_in(frame.plan.shape):
                    found += self._by([self.world.named(pair.maker, name)], kind)
        elif makers:
            found += self._by(makers, kind)
        found += self._filtered(self.world.matching(kind, name), frame)
        return list({id(entity): entity for entity in found}.values())

    def _by(self, makers: Sequence[Entity], kind: str) -> list[Entity]:
        found: list[Entity] = []
        for maker in makers:
            for pair in self.blueprint.pairs:
                if pair.work == kind and pair.maker == maker.kind:
                    edges = self._relations.children(maker, kind) if pair.family else self._relations.works(maker, pair)
                    found += [edge.target for edge in edges]
        return found

    def _fixed(self, kind: str, frame: _Frame) -> dict[str, object]:
        """Values that the query's filters demand of what it searches for, such as the year."""
        known = self.blueprint.kinds[kind]
        for name, value in frame.values.items():
            parts = words(name)
            if known.date and parts[-1:] == ("year",) and re.fullmatch(r"\d{4}", str(value)):
                examples = [str(v) for v in known.fields[known.date].examples if v]
                size = len(examples[0]) if examples else 10
                return {known.date: f"{value}-06-15T00:00:00Z"[: size if size in {4, 7, 10} else 20]}
        return {}

    def _sorted(self, edges: list[Edge], frame: _Frame) -> list[Edge]:
        if not edges:
            return edges
        kind = self.blueprint.kinds.get(edges[0].target.kind)
        if kind is None:
            return edges
        order = next(
            (
                str(v)
                for k, v in frame.values.items()
                if label_of(k) in {"sort", "sort_by", "order_by", "sortby", "orderby"}
            ),
            "",
        )
        plan_words = {w for step in frame.plan.steps if step.what == "literal" for w in words(step.name)}
        if order:
            name = re.split(r"[.:\s]|_(?:asc|desc)$", order.lstrip("+-"))[0]
            way = next(
                (
                    str(v)
                    for k, v in frame.values.items()
                    if label_of(k) in {"order", "sort_order", "direction", "sort_direction"}
                ),
                "",
            )
            descending = order.startswith("-") or "desc" in order.lower() or way.lower().startswith("desc")
            named = next((f for f in kind.fields if label_of(f) == label_of(name)), None)
            named = named or next((f for f in kind.fields if set(words(name)) <= set(words(f))), None)
            return self._by_field(edges, named, descending) if named else edges
        if frame.plan.search:
            return edges
        today = self.world.now.strftime("%Y-%m-%d")
        if plan_words & {"rated", "best", "rating"}:
            return self._by_field(edges, self._field(kind.fields, _RATED), True)
        if plan_words & {"popular", "trending", "hot", "top", "featured"} and "top" not in kind.fields:
            return self._by_field(edges, self._field(kind.fields, _POPULAR), True)
        if coming(kind.date):
            return self._by_field(edges, kind.date, False)
        if not kind.date or (frame.subject is not None and not plan_words & {"latest", "recent", "newest"}):
            return edges
        if plan_words & {"upcoming", "scheduled", "soon"}:
            ahead = [e for e in edges if str(self._fields.value(e.target, kind.date)) > today]
            return self._by_field(ahead or edges, kind.date, False)
        if plan_words & {
            "latest",
            "newest",
            "new",
            "recent",
            "now",
            "current",
            "airing",
            "today",
            "air",
            "playing",
            "releases",
        }:
            past = [e for e in edges if str(self._fields.value(e.target, kind.date)) <= today]
            return self._by_field(past or edges, kind.date, True)
        return edges

    def _field(self, fields: Mapping[str, object], wanted: Sequence[str]) -> str | None:
        for name in wanted:
            if name in fields:
                return name
        return next((f for name in wanted for f in fields if name in words(f) and "count" not in words(f)), None)

    def _by_field(self, edges: list[Edge], name: str | None, descending: bool) -> list[Edge]:
        if name is None:
            return edges
        keyed = [(self._fields.value(edge.target, name), edge) for edge in edges]
        numbers = all(isinstance(value, (int, float)) for value, _ in keyed)
        keyed.sort(key=lambda pair: cast("float", pair[0]) if numbers else str(pair[0]), reverse=descending)
        return [edge for _, edge in keyed]

    def _filtered(self, entities: list[Entity], frame: _Frame) -> list[Entity]:
        """The entities that meet every query parameter which names a field or a relation of theirs."""
        for parameter in frame.plan.tool.parameters:
            value = frame.values.get(parameter.name)
            if parameter.location != "query" or value in (None, "", []) or not entities:
                continue
            if parameter.name == frame.plan.search:
                continue
            if (binding := self._binding(frame.plan, parameter.name)) is not None:
                entities = [entity for entity in entities if self._bound(entity, binding, value)]
                continue
            if _paging(parameter.name):
                continue
            kind = self.blueprint.kinds[entities[0].kind]
            for name, wanted in value.items() if isinstance(value, dict) else [(parameter.name, value)]:
                entities = [entity for entity in entities if self._meets(entity, kind.name, name, wanted)]
        return entities

    def _binding(self, plan: Plan, parameter: str) -> Binding | None:
        """What the world file says that a parameter means."""
        return self.blueprint.world.queries.get(plan.tool.name, {}).get(parameter)

    def _bound(self, entity: Entity, binding: Binding, wanted: object) -> bool:
        """Whether an entity is among those that a parameter asks for by the world file."""
        if not binding.field or binding.field not in self.blueprint.kinds[entity.kind].all_fields:
            return True
        have = self._fields.value(entity, binding.field)
        if binding.how == "range":
            own, limit = _leading_number(have), _leading_number(wanted)
            if is_date(have) or own is None or limit is None:
                own_text, limit_text = str(have), str(wanted)
                return own_text >= limit_text if binding.end == "from" else own_text <= limit_text
            return own >= limit if binding.end == "from" else own <= limit
        texts = [str(one).casefold().strip() for one in (wanted if isinstance(wanted, list) else [wanted])]
        mine = str(have).casefold()
        if binding.how == "exact":
            return mine in texts
        return any(mine.startswith(text) if binding.how == "prefix" else text in mine for text in texts)

    def _meets(self, entity: Entity, kind_name: str, name: str, value: object) -> bool:
        kind = self.blueprint.kinds[kind_name]
        parts = words(name)
        least = parts[-1] in {"gte", "gt", "min", "from", "after", "since"} or parts[0] in {"min", "from", "since"}
        most = parts[-1] in {"lte", "lt", "max", "to", "before", "until"} or parts[0] in {"max", "until"}
        without = parts[0] in {"without", "exclude", "not"}
        core = [p for p in parts if p not in _AFFIXES]
        if not core:
            return True
        joined = "_".join(core)
        asks_members = parts[0] in {"with", "without"} or parts[-1] in {"id", "ids"}
        for relation in self.blueprint.relations.values():
            if relation.owner != kind.name or not relation.many or least or most:
                continue
            names = {relation.label, relation.target, singular(relation.label)}
            if {joined, singular(joined)} & names and (asks_members or relation.label == joined):
                return self._holds(entity, relation.label, relation.target, str(value)) != without
        if (
            core[-1] == "year"
            and kind.date
            and (len(core) == 1 or set(core[:-1]) & set(words(kind.date)) or core[0] in {"primary", "release"})
        ):
            return str(self._fields.value(entity, kind.date))[:4] == str(value)
        field_name = next((f for f in kind.fields if list(words(f)) == core), None)
        field_name = field_name or next(
            (f for f in kind.fields if core[0] == "primary" and list(words(f)) == core[1:]), None
        )
        if field_name is None:
            return True
        if name == field_name and field_name not in kind.summary and not (least or most):
            return True
        have = self._fields.value(entity, field_name)
        if isinstance(have, bool):
            return have == value
        if least or most:
            number = _number(value)
            if isinstance(have, (int, float)) and number is not None:
                return have >= number if least else have <= number
            return str(have) >= str(value) if least else str(have) <= str(value)
        if have is None or is_date(have) or isinstance(have, (list, dict)):
            return True
        listed = value if isinstance(value, list) else re.split(r"[,|]", str(value))
        wanted = {str(text).strip().casefold() for text in listed}
        return str(have).casefold() in wanted

    def _holds(self, entity: Entity, label: str, target: str, value: str) -> bool:
        """Whether a relation holds entities by identifier or name: all of `1,2`, any of `1|2`."""
        edges = self._relations.related(entity, label, target)
        have = {str(self._fields.identity(e.target)) for e in edges} | {
            self._fields.title(e.target).casefold() for e in edges
        }
        wanted = [text.strip() for text in re.split(r"[,|]", value) if text.strip()]
        hits = [text in have or text.casefold() in have for text in wanted]
        return any(hits) if "|" in value else all(hits)

    def _paginate(self, frame: _Frame, edges: list[Edge]) -> None:
        limit = offset = page = None
        default = 20
        for parameter in frame.plan.tool.parameters:
            if parameter.location != "query":
                continue
            label = label_of(parameter.name)
            if (binding := self._binding(frame.plan, parameter.name)) is not None:
                label = binding.how  # "limit", "offset" and "page" are such labels; the others are none of paging
            value = frame.values.get(parameter.name, parameter.schema.get("default"))
            number = _number(value)
            if label in _LIMITS:
                limit = int(number) if number is not None else default
            elif label in _OFFSETS and number is not None:
                offset = int(number)
            elif label in _PAGES:
                page = int(number) if number is not None else 1
            elif label in {"after", "cursor", "starting_after", "page_token", "next_token"} and frame.values.get(
                parameter.name
            ):
                wanted = str(frame.values[parameter.name])
                ids = [str(self._fields.identity(edge.target)) for edge in edges]
                offset = ids.index(wanted) + 1 if wanted in ids else 0
        pages = limit is not None or offset is not None or page is not None
        detail = frame.plan.detail
        size = (
            50
            if detail
            else limit
            if limit is not None
            else default
            if pages or frame.subject is None
            else max(len(edges), 1)
        )
        start = 0 if detail else offset if offset is not None else (max(page or 1, 1) - 1) * size
        frame.total, frame.limit, frame.offset, frame.page = (
            len(edges),
            size,
            start,
            max(page or (start // max(size, 1)) + 1, 1),
        )
        frame.edges = edges[start : start + size]

    def _paging_value(self, name: str, part: Shape, frame: _Frame) -> tuple[bool, object]:
        parts = words(name)
        joined = "_".join(parts)
        pages = max(-(-frame.total // max(frame.limit, 1)), 1)
        number: int | None = None
        if joined in _PAGES or joined == "current_page":
            number = frame.page
        elif joined in {"total_pages", "pages", "page_count", "last_page", "num_pages"}:
            number = pages
        elif joined in {
            "total_results",
            "total",
            "total_count",
            "count",
            "total_items",
            "num_results",
            "total_hits",
            "total_elements",
        } or (parts[0] == "total" and len(parts) > 1 and self._names_list(parts[-1], frame)):
            number = frame.total
        elif joined in _LIMITS:
            number = frame.limit
        elif joined in _OFFSETS:
            number = frame.offset
        if number is not None:
            return (
                (True, number)
                if fits(number, part)
                else (True, str(number))
                if fits(str(number), part)
                else (False, None)
            )
        if (
            joined in {"next_cursor", "cursor", "end_cursor", "next_token", "next_page_token"}
            and "string" in part.types
        ):
            last = frame.edges[-1].target if frame.edges and frame.offset + frame.limit < frame.total else None
            return True, str(self._fields.identity(last)) if last else None
        if joined in {"has_more", "has_next", "has_next_page", "more"} and "boolean" in part.types:
            return True, frame.page < pages
        if joined in {"next", "next_page", "next_url", "previous", "prev", "previous_page", "prev_page"}:
            ahead = parts[0] == "next"
            exists = frame.offset + frame.limit < frame.total if ahead else frame.offset > 0
            if not exists:
                return True, None
            if part.types & {"integer", "number"}:
                return True, frame.page + (1 if ahead else -1)
            return True, self._link(frame, ahead)
        if joined in {"href", "self", "self_link"} and "string" in part.types:
            return True, frame.url
        if joined == "cursors" and part.properties:
            return True, self._cursors(part, frame)
        if joined == "dates" and {"maximum", "minimum"} & set(part.properties):
            return True, self._dates(part, frame)
        return False, None

    def _names_list(self, word: str, frame: _Frame) -> bool:
        """Whether a word stands for what a list holds: total_films beside films, total_found."""
        noun = singular(word)
        held = {
            noun.rpartition("_")[2]
            for edge in frame.edges[:1]
            for noun in (edge.target.kind, label_of(edge.target.kind))
        }
        return noun in held | {"found", "match", "matches", "entries", "record"} and bool(frame.edges)

    def _cursors(self, part: Shape, frame: _Frame) -> object:
        ids = [str(self._fields.identity(edge.target)) for edge in frame.edges] or [""]
        return {
            name: ids[-1] if "after" in words(name) or "next" in words(name) else ids[0] for name in part.properties
        }

    def _dates(self, part: Shape, frame: _Frame) -> object:
        days = []
        for edge in frame.edges:
            kind = self.blueprint.kinds[edge.target.kind]
            if kind.date:
                days.append(str(self._fields.value(edge.target, kind.date)))
        days = sorted(days) or [self.world.now.strftime("%Y-%m-%d")]
        return {name: days[-1] if name.startswith("max") else days[0] for name in part.properties}

    def _link(self, frame: _Frame, ahead: bool) -> str:
        base, _, query = frame.url.partition("?")
        pairs = [tuple(part.split("=", 1)) for part in query.split("&") if "=" in part]
        kept = [(n, unquote(v.replace("+", " "))) for n, v in pairs if label_of(n) not in _OFFSETS | _PAGES | {"limit"}]
        names = {label_of(p.name): p.name for p in frame.plan.tool.parameters if p.location == "query"}
        page_name = next((names[name] for name in names if name in _PAGES), None)
        if page_name:
            kept.append((page_name, str(frame.page + (1 if ahead else -1))))
        else:
            step = frame.limit if ahead else -frame.limit
            kept += [("offset", str(max(frame.offset + step, 0))), ("limit", str(frame.limit))]
        return f"{base}?{urlencode(kept)}"

    # -- entities --------------------------------------------------------------------------------------------------

    def _item(self, shape: Shape, edge: Edge, frame: _Frame) -> object:
        shape = self._variant(shape, edge.target)
        if shape.main:
            body: dict[str, object] = {}
            for name, part in shape.properties.items():
                if name == shape.main:
                    body[name] = self._entity(self._variant(part, edge.target), edge.target, edge.own, frame)
                elif part.kind or any(option.kind for option in part.options):
                    body[name] = self._linked(part, edge.own, name, frame, beside=edge.target)
                elif part.properties and {"type", "href", "uri"} & set(part.properties):
                    body[name] = self._context(part, edge, frame)
                else:
                    body[name] = self._plain(edge.own, name, part, frame)
            return body
        if not shape.kind and not shape.properties:
            return self._fields.title(edge.target) if "string" in shape.types else self._fields.identity(edge.target)
        return self._entity(shape, edge.target, edge.own, frame)

    def _context(self, part: Shape, edge: Edge, frame: _Frame) -> object:
        """What something was played or seen in: the parent of the target where it has one."""
        around = edge.target
        for pair in self.blueprint.pairs:
            if pair.family and pair.work == edge.target.kind:
                around = self._relations.parent(edge.target, pair) or around
        return {name: self._property(around, None, name, inner, frame) for name, inner in part.properties.items()}

    def _surroundings(self, part: Shape, state: Entity, name: str, shape: Shape, frame: _Frame) -> object:
        """What a state is within: what a write named, else the parent of what it links to (an album for a track)."""
        around = state.memo.get(("link", label_of(name)))
        if not isinstance(around, Entity):
            linked = [
                found
                for key, inner in shape.properties.items()
                for option in inner.variants()
                if option.kind and (found := self._writer.state_link(state, label_of(key), option.kind, frame.subject))
            ]
            families = [(f, p) for f in linked for p in self.blueprint.pairs if p.family and p.work == f.kind]
            around = next(
                (e for f, p in families if (e := self._relations.parent(f, p))), linked[0] if linked else state
            )
        return {key: self._property(around, None, key, inner, frame) for key, inner in part.properties.items()}

    def _variant(self, shape: Shape, entity: Entity) -> Shape:
        if not shape.options:
            return shape
        fitting = [option for option in shape.options if option.kind == entity.kind]
        return (fitting or list(shape.options))[0]

    def _entity(self, shape: Shape, entity: Entity, own: Entity | None, frame: _Frame) -> object:
        """An entity as it stands at a place; made once for as long as no write changes what it shows."""
        if len(self._bodies) >= _REMEMBERED:
            self._bodies.clear()
        asked = next((value for name, value in frame.values.items() if words(name)[-1:] == ("date",)), None)
        beside = None if own is not None and own.kind == "~list" else own  # each list has a blank one
        now = sum(self.world.changes[kind] for kind in self._shown_in(shape, entity.kind))
        key = (id(shape), id(frame.plan), entity, beside, frame.subject, str(asked), now)
        if key not in self._bodies:
            self._bodies[key] = self._made(self._variant(shape, entity), entity, own, frame)
        return self._bodies[key]

    def _shown_in(self, shape: Shape, kind: str) -> frozenset[str]:
        """The kinds on which the body of an entity depends: its own, and those that stand within it."""
        key = (id(shape), kind)
        if key not in self._kinds_shown:
            self._kinds_shown[key] = frozenset({kind, *(part.kind for part in shape.walk() if part.kind)})
        return self._kinds_shown[key]

    def _made(self, shape: Shape, entity: Entity, own: Entity | None, frame: _Frame) -> object:
        body: dict[str, object] = {}
        known = self.blueprint.kinds.get(entity.kind)
        shown = known.shown if known else frozenset()
        for name, part in shape.properties.items():
            if shown and name not in shown and name not in shape.required | shape.expected:
                continue
            body[name] = self._property(entity, own, name, part, frame)
        if (
            entity.kind in self.blueprint.kinds
            and shape.kind
            and shape.kind != entity.kind
            and not shape.closed
            and not entity.ends
        ):
            for name, part in self.blueprint.kinds[entity.kind].summary.items():
                if name not in body and not part.is_object and not _entity_item(part):
                    body[name] = self._property(entity, own, name, part, frame)
        return body

    def _property(self, entity: Entity, own: Entity | None, name: str, part: Shape, frame: _Frame) -> object:
        kind = self.blueprint.kinds.get(entity.kind)
        fields = kind.fields if kind else {}
        if part.is_array and part.item is not None and _entity_item(part):
            label = label_of(name)
            edges: list[Edge] = []
            for target in _targets(part.item):
                if (entity.kind, label, target) in self.blueprint.relations or entity.kind not in self.blueprint.kinds:
                    edges = (
                        self._relations.related(entity, label, target)
                        if kind
                        else self._relations.about(entity, target)
                    )
                    if edges and len(_targets(part.item)) > 1 and self.world.dice(entity, label).below(4):
                        break
            edges = self._capped(edges, part)
            return [self._item(part.item, edge, frame) for edge in edges]
        if part.kind or any(option.kind for option in part.options):
            return self._linked(part, entity, name, frame)
        if part.properties and _lists(part):
            inner = _Frame(frame.plan, entity, {}, self._fields.link(entity) + "/" + name if kind else frame.url)
            return self._container(part, entity, label_of(name), inner)
        holder = entity if own is None or name in fields or name in entity.values else own
        if holder is not entity and (count := self._fields.count(entity, name)) is not None and fits(count, part):
            return count
        return self._plain(holder, name, part, frame)

    def _capped(self, edges: list[Edge], part: Shape) -> list[Edge]:
        return edges[: part.max_items] if part.max_items is not None else edges

    def _linked(
        self, part: Shape, entity: Entity | None, name: str, frame: _Frame, beside: Entity | None = None
    ) -> object:
        label = label_of(name)
        for option in part.variants():
            if not option.kind:
                continue
            if entity is None:
                found: Entity | None = next(iter(self.world.everything(option.kind)), None)
            elif entity.kind == "~state":
                found = self._writer.state_link(entity, label, option.kind, frame.subject)
            elif entity.kind.startswith("~") and frame.subject is not None and option.kind not in entity.ends:
                found = self._around(frame.subject, option.kind) or self._relations.one(entity, label, option.kind)
            else:
                found = self._relations.one(entity, label, option.kind)
            if found is not None:
                return self._entity(option, found, None, frame)
            if part.nullable:
                return None
        fallback = part.variants()[0]
        others = self.world.base(fallback.kind) if fallback.kind else []
        return self._entity(fallback, others[0], None, frame) if others else (None if part.nullable else {})

    def _around(self, subject: Entity, kind: str) -> Entity | None:
        """The entity of a kind that the subject is linked with: who added to a playlist is who owns it."""
        if subject.kind == kind:
            return subject
        for relation in self.blueprint.relations.values():
            if relation.owner == subject.kind and relation.target == kind and not relation.many:
                return self._relations.one(subject, relation.label, kind)
        return None

    # -- plain values ----------------------------------------------------------------------------------------------

    def _plain(self, entity: Entity, name: str, part: Shape, frame: _Frame) -> object:
        """A value that is no entity: a scalar, a list of scalars, or an object of those."""
        last = name.rpartition(".")[2]
        kept = entity.values.get(name)
        if name in entity.sent and (kept is None or isinstance(kept, (dict, list))):
            kept = self._fitted(kept, part, entity, name, frame)
            if kept is not _UNFIT:
                return kept
        if part.options:
            part = part.options[0]
        if part.is_array:
            if isinstance(kept, list):
                return kept
            if stem_of(last) and part.item is not None:
                kind = self.blueprint.kind_named("_".join(stem_of(last)))
                if kind is not None:
                    ids = [self._fields.identity(edge.target) for edge in self._relations.about(entity, kind.name)]
                    return [value if fits(value, part.item) else str(value) for value in ids]
            return self._plain_list(part, entity, name, frame)
        if part.properties:
            return kept if isinstance(kept, dict) else self._plain_object(part, entity, name, frame)
        if part.is_object:
            return kept if isinstance(kept, dict) else None if part.nullable else {}
        if (
            name not in entity.values
            and last in frame.values
            and entity.kind == "~state"
            and fits(frame.values[last], part)
        ):
            return frame.values[last]
        return self._fields.value(entity, name, part)

    def _fitted(self, sent: object, part: Shape, entity: Entity, name: str, frame: _Frame) -> Any:
        """What a write sent as it may stand here, or `_UNFIT`.

        Missing fields are made, and so are wrong ones that must be there; other wrong fields and items are left out.
        """
        if part.options:
            fitted = [self._fitted(sent, option, entity, name, frame) for option in part.options]
            fitted = sorted((value for value in fitted if value is not _UNFIT), key=lambda value: value != sent)
            return next((value for value in fitted if self._allowed(value, part)), _UNFIT)
        if not isinstance(sent, (dict, list)):
            return sent if fits(sent, part) else _UNFIT
        if isinstance(sent, dict) and part.properties:
            known = part.properties
            tried = {k: self._fitted(sent[k], known[k], entity, f"{name}.{k}", frame) for k in known if k in sent}
            others = {k: value for k, value in sent.items() if k not in known and not part.closed}
            sent = {k: value for k, value in tried.items() if value is not _UNFIT} | others
            lacking = [k for k in known if k in part.required | part.expected and k not in sent]
            if lacking:
                made = cast("dict[str, object]", self._plain_object(part, entity, name, frame))
                sent |= {k: made[k] for k in lacking}
        elif isinstance(sent, list) and part.item is not None:
            item = part.item
            entries = [self._fitted(value, item, entity, f"{name}[{i}]", frame) for i, value in enumerate(sent)]
            sent = [value for value in entries if value is not _UNFIT]
        return sent if self._allowed(sent, part) else _UNFIT

    def _allowed(self, value: object, part: Shape) -> bool:
        """Whether an object or list, with all that it holds, may stand at a place."""
        from jsonschema import Draft202012Validator  # here, for it takes a tenth of a second and is seldom needed

        checker = Draft202012Validator.FORMAT_CHECKER
        schemas = [self.protocol.standalone(check) for check in part.checks]
        return not schemas or any(Draft202012Validator(s, format_checker=checker).is_valid(value) for s in schemas)

    def _plain_object(
        self, part: Shape, entity: Entity, name: str, frame: _Frame, donor: Mapping[str, object] | None = None
    ) -> object:
        shown = part.bodies()
        if donor is None and shown:
            donor = cast("Mapping[str, object]", self.world.dice(entity, name, "donor").choose(shown))
        body: dict[str, object] = {}
        kind = self.blueprint.kinds.get(entity.kind)
        taken = donor or {}
        simple = not (kind and kind.date) and not self._fields.telling(entity.kind)
        several = len(shown) >= 4
        for key, inner in part.properties.items():
            given = taken.get(key)
            path = f"{name}.{key}" if name else key
            as_it_is = simple and key in taken and inner.leaf and (several or not isinstance(given, (int, float)))
            if as_it_is and given.__class__ in _SCALARS and path not in entity.values and fits(given, inner):
                body[key] = given  # nearly all there is of a long series
                continue
            if inner.kind or any(option.kind for option in inner.options):
                body[key] = self._linked(inner, entity, key, frame)
            elif kind and kind.date and key == kind.date and is_date(given):
                body[key] = self._near(entity, kind.date, str(given), path, inner)
            elif self._fields.told(entity, path) is not None and not inner.properties and not inner.is_array:
                body[key] = self._plain(entity, path, inner, frame)
            elif path not in entity.values and donor and key in donor and self._worth(given, inner, shown):
                body[key] = given
            else:
                body[key] = (
                    self._plain(entity, path, inner, frame)
                    if not (isinstance(given, (dict, list)) and donor)
                    else (
                        self._plain_object(inner, entity, path, frame, given)
                        if isinstance(given, dict) and inner.properties
                        else self._plain_list(inner, entity, path, frame, given)
                        if isinstance(given, list) and inner.is_array
                        else self._plain(entity, path, inner, frame)
                    )
                )
        return body

    def _worth(self, given: object, inner: Shape, shown: Sequence[object]) -> bool:
        """Whether a value of an example is taken as it is: texts are, numbers only where the document shows several."""
        if isinstance(given, (dict, list)) or inner.properties or inner.is_array or not fits(given, inner):
            return False
        return isinstance(given, (str, bool)) or given is None or len(shown) >= 4

    def _near(self, entity: Entity, date_name: str, given: str, path: str, inner: Shape) -> object:
        """A date that belongs to an entity's main date: the same day or soon after, written as the example is."""
        first = str(self._fields.value(entity, date_name))
        try:
            moment = datetime.strptime(first[:10], "%Y-%m-%d")
        except ValueError:
            return self._fields.value(entity, path, inner)
        dice = self.world.dice(entity, path)
        moment += timedelta(days=dice.below(60) if dice.below(3) else 0)
        return moment.strftime("%Y-%m-%d") + given[10:]

    def _plain_list(
        self, part: Shape, entity: Entity, name: str, frame: _Frame, given: list[object] | None = None
    ) -> list[object]:
        if part.item is None:
            return []
        dice = self.world.dice(entity, name, "list")
        shown = [value for value in (given if given is not None else part.item.examples) if value is not None]
        told = self._fields.told(entity, name)
        if isinstance(told, tuple):
            return list(dice.some([value for value in told if fits(value, part.item)], 1 + dice.below(3)))
        usual = sorted(length for length in part.lengths if length)
        typical = min(usual[len(usual) // 2], 24) if usual else 2
        size = (
            len(given)
            if given is not None
            else typical
            if typical <= 1
            else dice.between(max(typical // 2, 1), typical)
        )
        for query in (frame.values.get(n) for n in frame.values if label_of(n) in _LIMITS):
            if not name and isinstance(query, int):
                size = min(query, max(len(shown), size))
        size = max(size, part.min_items)
        size = min(size, part.max_items) if part.max_items is not None else size
        if part.item.properties:
            donors = [value for value in shown if isinstance(value, dict)]
            if given is None and len(donors) > size:
                begin = dice.below(len(donors) - size + 1)
                donors = donors[begin : begin + size]
            donors = self._to_today(donors, entity, frame)
            items: list[object] = []
            for i in range(max(size, 1) if not usual else size):
                donor = donors[i % len(donors)] if donors else None
                items.append(self._plain_object(part.item, entity, f"{name}[{i}]", frame, donor))
            return items
        scalars = [
            value
            for value in dict.fromkeys(v for v in shown if not isinstance(v, (dict, list)))
            if fits(value, part.item)
        ]
        if scalars:
            return list(dice.some(scalars, size))
        if shown and isinstance(shown[0], list):
            return [self._plain_list(part.item, entity, f"{name}[{i}]", frame) for i in range(size)]
        if part.item.is_object or part.item.is_array:
            return [self._plain(entity, f"{name}[{i}]", part.item, frame) for i in range(size)]
        made = [self._fields.value(entity, f"{name}[{i}]", part.item) for i in range(max(size, part.min_items))]
        return list(dict.fromkeys(made)) if part.min_items == 0 else made

    def _to_today(self, donors: list[dict[str, object]], entity: Entity, frame: _Frame) -> list[dict[str, object]]:
        """Series of dated entries (a forecast) begin today or on the day asked for; dates of what exists stay."""
        if entity is frame.subject or not donors:
            return donors
        names = [name for name, value in donors[0].items() if is_date(value)]
        if not names:
            return donors
        try:
            first = datetime.fromisoformat(str(donors[0][names[0]])[:10])
        except ValueError:
            return donors
        asked = next((str(v) for n, v in frame.values.items() if words(n)[-1:] == ("date",) and is_date(v)), "")
        begin = datetime.fromisoformat(asked[:10]) if asked else self.world.now.replace(tzinfo=None)
        shift = (begin - first).days
        return [{n: _shifted(v, shift) for n, v in donor.items()} for donor in donors]


_UNFIT: Any = object()
_SCALARS = frozenset({str, int, float, type(None)})
_GENERIC_KEYS = frozenset(
    "item result data datum entry list object value content record row hit node element response body payload".split()
)
_AFFIXES = frozenset("with without exclude not gte lte gt lt min max from to after before since until id ids".split())


def _shifted(value: object, days: int) -> object:
    if isinstance(value, dict):
        return {name: _shifted(part, days) for name, part in value.items()}
    return _moved(value, days) if isinstance(value, str) and value[:4].isdecimal() else value


@lru_cache(maxsize=8192)
def _moved(text: str, days: int) -> str:
    if not is_date(text):
        return text
    try:
        moved = datetime.fromisoformat(text[:10]) + timedelta(days=days)
    except ValueError:
        return text
    return moved.strftime("%Y-%m-%d") + text[10:]


def _number(value: object) -> float | None:
    try:
        return float(cast("str", value)) if value is not None else None
    except (TypeError, ValueError, OverflowError):
        return None


def _leading_number(value: object) -> float | None:
    """The number that a value is or begins with: `12g` is 12."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    found = re.match(r"\s*(-?\d+(?:\.\d+)?)", str(value))
    return float(found[1]) if found else None


def _paging(name: str) -> bool:
    return label_of(name) in _LIMITS | _OFFSETS | _PAGES


def _targets(item: Shape) -> list[str]:
    """The kinds that may stand in a list."""
    found: list[str] = []
    for option in item.variants():
        core = option.properties[option.main] if option.main else option
        found.extend(inner.kind for inner in core.variants() if inner.kind and inner.kind not in found)
    return found


def _entity_item(part: Shape) -> bool:
    return part.item is not None and bool(_targets(part.item))


def _lists(part: Shape) -> bool:
    return any(_entity_item(inner) for inner in part.properties.values())


def _kinds_in(part: Shape | None) -> set[str]:
    """The kinds of entities that a part of a response lists or shows first-hand."""
    if part is None:
        return set()
    if part.is_array and part.item is not None:
        return set(_targets(part.item))
    if part.kind:
        return {part.kind}
    return {kind for inner in part.properties.values() for kind in _kinds_in(inner)}


def _field_filters(text: str) -> tuple[dict[str, str], str]:
    """A search text such as `album:Mojito artist:"Jay Chou" live` as its filters and the free rest."""
    pattern = r'\b([A-Za-z_]+):\s*("[^"]*"|\'[^\']*\'|.+?)(?=\s+[A-Za-z_]+:|$)'
    filters = {name.lower(): value.strip("\"' ") for name, value in re.findall(pattern, text)}
    return filters, re.sub(pattern, "", text).strip()
