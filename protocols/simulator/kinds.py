"""Read from a protocol which kinds of things its API knows, and how they hang together.

Paths, parameter names, keys, discriminators and the likeness of objects all tell something; none tells enough alone.
So they are asked in that order, and what no name explains is compared with what the names have explained. Nothing
here knows any API.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import log
from typing import Literal, cast

from protocols.model import Parameter, Protocol, Tool
from protocols.shapes import type_of
from protocols.simulator.shape import Shape, build
from protocols.simulator.worldfile import NO_WORLD, WorldFile
from protocols.words import ID_WORDS, singular, words

__all__ = ["Blueprint", "FieldInfo", "Kind", "Pair", "Plan", "Relation", "Step", "label_of", "survey"]

_GENERIC = frozenset(
    "item items result results data datum entry list object value content record row hit node element response body "
    "payload collection_of all total page meta".split()
)
_MOST_VALUES = 150
_IDENTITIES = ("id", "uuid", "guid", "_id", "uid")
_NAMES = ("name", "title", "display_name", "displayName", "full_name", "fullName", "label", "username", "headline")
_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}(T.*)?)?)?")
_SEARCH_WORDS = frozenset("q query search text term keyword s find phrase searchtext searchterm lookup".split())


def label_of(name: str) -> str:
    """A name as the label of a relation: `top-tracks` and `topTracks` are both top_tracks."""
    return "_".join(words(name))


def stem_of(name: str) -> tuple[str, ...]:
    """What an identifier's name identifies: `film_ids` -> (film,); empty for plain `id` and for other names."""
    parts = words(name)
    end = len(parts)
    while end and (singular(parts[end - 1]) in ID_WORDS or parts[end - 1] == "ids"):
        end -= 1
    return (*parts[: end - 1], singular(parts[end - 1])) if 0 < end < len(parts) else ()


@dataclass(slots=True)
class FieldInfo:
    """What the document shows of one field of one kind: its shapes, and a fair choice of its values.

    `filled` tells whether any value is more than null or an empty text.
    """

    name: str
    shapes: list[Shape] = field(default_factory=list)
    examples: list[object] = field(default_factory=list)
    filled: bool = False

    def settle(self) -> None:
        """Thin the values out, once all are there: different ones for texts and numbers, a sample of truth values."""
        if all(isinstance(value, bool) for value in self.examples):
            self.examples = self.examples[:: max(len(self.examples) // 40, 1)]
        else:
            self.examples = list(dict.fromkeys(self.examples))[:_MOST_VALUES]
        self.filled = any(value not in (None, "") for value in self.examples)


@dataclass(slots=True, eq=False)
class Kind:
    """A kind of entity. `parent` and `ordinal` are set where it is known by its number within another entity.

    `fields` are its own fields, seen where it stands for itself; `shown` those that examples have, if there are
    enough of them to tell; `records` are entities that the document shows, joined by identifier. `by_name` says that
    the API calls it by its name.
    """

    name: str
    aliases: set[str] = field(default_factory=set)
    identity: str = "id"
    parent: str = ""
    ordinal: str = ""
    by_name: bool = False
    detail: Plan | None = None
    addressed: bool = False
    global_lists: list[Plan] = field(default_factory=list)
    fields: dict[str, FieldInfo] = field(default_factory=dict)
    all_fields: dict[str, FieldInfo] = field(default_factory=dict)
    summary: dict[str, Shape] = field(default_factory=dict)
    records: list[dict[str, object]] = field(default_factory=list)
    ids: list[object] = field(default_factory=list)
    shown: frozenset[str] = frozenset()
    title: str = ""
    date: str = ""

    @property
    def searchable(self) -> bool:
        """Whether a search of the API finds its entities by name."""
        return any(plan.search for plan in self.global_lists)

    @property
    def local(self) -> bool:
        """Whether its entities exist only within their parent."""
        return bool(self.parent)


@dataclass(frozen=True, slots=True)
class Step:
    """One part of a path: a literal, a choice among enumerated words, or the identifier of an entity."""

    what: Literal["literal", "choice", "entity", "text"]
    name: str
    kind: str = ""


@dataclass(slots=True, eq=False)
class Plan:
    """How to answer one tool.

    `subject` is the kind that the path addresses ("" for none), `root` the path of a singleton such as `/me`, and
    `tail` the literals after it. `listed` are the kinds that the answer lists, `label` the relation of the subject.
    """

    tool: Tool
    steps: tuple[Step, ...]
    status: int
    shape: Shape | None = None
    media_type: str | None = None
    subject: str = ""
    subject_parameter: str = ""
    root: str = ""
    tail: tuple[str, ...] = ()
    detail: bool = False
    search: str = ""

    @property
    def label(self) -> str:
        """The relation that the path names: the last literal of its tail."""
        return label_of(self.tail[-1]) if self.tail else ""


@dataclass(frozen=True, slots=True)
class Relation:
    """Entities of kind `owner` have `many` (or one) of kind `target` under `label`.

    `own_path` tells that a path of its own lists it, `count` how many members an example has. `nullable` is for single
    ones.
    """

    owner: str
    label: str
    target: str
    many: bool
    own_path: bool = False
    nullable: bool = False
    count: int = 0

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others."""
        return self.owner, self.label, self.target


@dataclass(frozen=True, slots=True)
class Pair:
    """A relation seen from both ends. `work` has makers under `forth`; a maker has works under `back`.

    `family` means that each work has one maker at most (a track and its album). `through` is the family by which a
    work takes over the makers of its own parent (a track's artists are its album's).
    """

    work: str
    forth: str
    maker: str
    back: str
    family: bool = False
    nullable: bool = False
    through: str = ""
    summary: bool = False


@dataclass(slots=True, eq=False)
class Blueprint:
    """All that is known of an API before a world of it is made; shared by all worlds of one protocol."""

    protocol: Protocol
    plans: list[Plan]
    kinds: dict[str, Kind]
    relations: dict[tuple[str, str, str], Relation]
    pairs: list[Pair]
    edges: dict[str, list[dict[str, object]]]
    roles: dict[str, list[dict[str, object]]]
    edge_kinds: dict[str, str]
    fields: dict[str, FieldInfo]
    singletons: dict[str, str]
    states: dict[str, Plan]
    templates: dict[str, list[tuple[str, str, str]]]
    places: dict[tuple[str, str], Shape]
    world: WorldFile

    def kind_named(self, word: str) -> Kind | None:
        """The kind that a key, a path segment or a discriminator names, if any."""
        return _named(word, self.kinds)

    def pair_for(self, owner: str, label: str, target: str) -> tuple[Pair, bool] | None:
        """The pair that a relation is one end of, and whether the owner is the work."""
        for pair in self.pairs:
            if (pair.work, pair.forth, pair.maker) == (owner, label, target):
                return pair, True
            if (pair.maker, pair.back, pair.work) == (owner, label, target):
                return pair, False
        return None


def _named(text: str, kinds: dict[str, Kind], loose: bool = False) -> Kind | None:
    parts = list(words(text))
    if not parts:
        return None
    whole = "_".join([*parts[:-1], singular(parts[-1])])
    for kind in kinds.values():
        if whole in kind.aliases:
            return kind
    ordered = [parts[-1]] if not loose else list(reversed(parts))
    for part in ordered:
        one = singular(part)
        if one in _GENERIC:
            continue
        for kind in kinds.values():
            if one in kind.aliases:
                return kind
    return None


def _enumerated(parameter: Parameter | None) -> bool:
    schema = parameter.schema if parameter else {}
    if "enum" in schema:
        return True
    items = schema.get("items")
    return isinstance(items, dict) and "enum" in items


class _Survey:
    """The survey of one protocol; its methods run once, in the order of `run`."""

    def __init__(self, protocol: Protocol, world: WorldFile) -> None:
        self.protocol = protocol
        self.world = world
        self.kinds: dict[str, Kind] = {}
        self.plans: list[Plan] = []
        self.relations: dict[tuple[str, str, str], Relation] = {}
        self.singletons: dict[str, str] = {}
        self.referenced: set[str] = set()

    # -- kinds from paths ------------------------------------------------------------------------------------------

    def kind(self, name: str, *aliases: str) -> Kind:
        for known in self.kinds.values():
            if name in known.aliases:
                known.aliases.update(aliases)
                return known
        kind = self.kinds[name] = Kind(name, {name, *aliases})
        return kind

    def paths(self) -> None:
        split = [(tool, [part for part in tool.path.split("/") if part]) for tool in self.protocol.tools]
        # Names of identifiers first: `{person_id}` says what it is, `{id}` needs the literal before it.
        for tool, parts in split:
            steps: list[Step] = []
            before = ""
            holder = ""
            for part in parts:
                names = re.findall(r"\{([^}]+)\}", part)
                if not names:
                    steps.append(Step("literal", part))
                    before = part
                    continue
                for name in names:
                    parameter = next((p for p in tool.parameters if p.name == name and p.location == "path"), None)
                    step = self._step(name, parameter, before, holder)
                    steps.append(step)
                    if step.what == "entity":
                        holder = step.kind
                before = ""
            success = tool.success
            status = int(success.status) if success and success.status.isdigit() else 200
            plan = Plan(tool, tuple(steps), status)
            last = max((i for i, step in enumerate(steps) if step.what == "entity"), default=-1)
            if last >= 0:
                plan.subject, plan.subject_parameter = steps[last].kind, steps[last].name
            plan.tail = tuple(step.name for step in steps[last + 1 :] if step.what == "literal")
            plan.detail = last >= 0 and last == len(steps) - 1
            self.plans.append(plan)
        for tool in self.protocol.tools:
            for parameter in tool.arguments:
                stem = stem_of(parameter.name)
                if stem and not _enumerated(parameter):
                    self.referenced.add("_".join(stem))

    def _step(self, name: str, parameter: Parameter | None, before: str, holder: str) -> Step:
        if _enumerated(parameter):
            return Step("choice", name)
        parts, stem = words(name), stem_of(name)
        is_id = bool(stem) or (bool(parts) and singular(parts[-1]) in ID_WORDS)
        stem = stem if is_id else parts
        segment = words(before)
        thing = "_".join([*segment[:-1], singular(segment[-1])]) if segment else ""
        if not is_id and stem and thing and singular(stem[-1]) != thing.rpartition("_")[2]:
            kind = self.kind("_".join(stem))
            kind.by_name = kind.addressed = True
            return Step("entity", name, kind.name)
        wanted = "_".join(stem)
        if not wanted:
            wanted = thing or (holder or "thing")
        if thing and (thing.endswith("_" + wanted) or wanted.endswith("_" + thing)):
            wanted = thing
        kind = self.kind(
            wanted, *([thing] if thing and thing not in _GENERIC and not self._taken(thing, wanted) else [])
        )
        kind.aliases.add(wanted.rpartition("_")[2]) if wanted.rpartition("_")[2] not in _GENERIC else None
        kind.addressed = True
        if holder and parts and parts[-1] in {"number", "index", "position", "no", "num"} and holder != kind.name:
            kind.parent, kind.ordinal = holder, name
        return Step("entity", name, kind.name)

    def _taken(self, alias: str, wanted: str) -> bool:
        return any(alias in kind.aliases and kind.name != wanted for kind in self.kinds.values())

    # -- shapes and what stands in them ----------------------------------------------------------------------------

    def shapes(self) -> None:
        for plan in self.plans:
            response = plan.tool.success
            if response is None or response.schema is None:
                continue
            plan.media_type = response.media_type
            plan.shape = build(self.protocol, response.schema, response.examples)
        for plan in self.plans:
            if plan.detail and plan.tool.method == "GET" and plan.shape and not plan.shape.is_array:
                kind = self.kinds[plan.subject]
                if kind.detail is None:
                    kind.detail = plan
        for plan in self.plans:
            if plan.subject or plan.tool.method != "GET" or plan.shape is None:
                continue
            if any(step.what != "literal" for step in plan.steps) or not plan.shape.properties:
                continue
            if _identity(plan.shape.properties) and not any(_named(step.name, self.kinds) for step in plan.steps):
                self.singletons["/" + "/".join(step.name for step in plan.steps)] = ""
        for plan in self.plans:
            path = plan.tool.path
            roots = [root for root in self.singletons if path == root or path.startswith(root + "/")]
            if roots and not plan.subject:
                plan.root = max(roots, key=len)
                literals = [step.name for step in plan.steps if step.what == "literal"]
                plan.tail = tuple(literals[len(plan.root.strip("/").split("/")) :])

    def nodes(self) -> Iterator[tuple[Plan, Shape, Shape | None, bool]]:
        """Every object in every response with the entity around it, outer ones first; last: is it an item."""
        for plan in self.plans:
            if plan.shape is not None:
                for shape in plan.shape.variants():
                    yield from _descend(plan, shape, None, False)

    def typing(self) -> None:
        for plan, shape, _, item in self.nodes():
            if shape.kind or not shape.properties:
                continue
            root = not shape.path and not item
            if own := self._called(plan, shape, item):
                self._set(shape, own)
            elif root and plan.detail and self._stands_for(shape, plan.subject):
                self._set(shape, plan.subject)
            elif (
                (kind := self._discriminated(shape))
                or (kind := self._by_key(plan, shape, item))
                or (item and (kind := self._by_identity(shape)))
            ):
                self._set(shape, kind)
        self._likeness(final=False)
        for plan, shape, around, item in self.nodes():
            if not shape.kind and (not shape.path and not item) and "/" + plan.tool.path.strip("/") in self.singletons:
                stem = stem_of(_identity(shape.properties))
                kind = (
                    self._alike(shape, self._looks())
                    or self.kind("_".join(stem) or singular(words(plan.tool.path)[-1])).name
                )
                self._set(shape, kind)
            elif not shape.kind and (shape.path or item) and _identity(shape.properties):
                mine = set(shape.properties)
                if (
                    around is not None
                    and around.kind
                    and not item
                    and len(mine) >= 3
                    and mine <= set(around.properties)
                ):
                    self._set(shape, around.kind)
        self._likeness(final=True)
        for path in self.singletons:
            plan = next(plan for plan in self.plans if plan.tool.path == path and plan.tool.method == "GET")
            self.singletons[path] = plan.shape.kind if plan.shape else ""
        for plan in self.plans:
            if plan.root and not plan.subject:
                plan.subject = self.singletons[plan.root]
        self._stubs()
        self._wrappers()

    def _stubs(self) -> None:
        """An object of which only the key is known, and that key names a kind, holds one of that kind."""
        looks: dict[str, dict[str, Shape]] = {}
        for _, shape, _, _ in self.nodes():
            if shape.kind and len(shape.properties) > len(looks.get(shape.kind, ())):
                looks[shape.kind] = shape.properties
        used = set(looks)
        items: dict[tuple[str, str], Shape] = {}
        for _, shape, _, _ in self.nodes():
            for part in shape.properties.values():
                if part.item is not None and not _bare(part.item):
                    items.setdefault((shape.kind, part.name), part.item)
                    items.setdefault(("", part.name), part.item)
        for _, shape, _, _ in list(self.nodes()):
            for part in shape.properties.values():
                if part.is_array and (_bare(part.item) if part.item else not any("items" in c for c in part.checks)):
                    known = items.get((shape.kind, part.name)) or items.get(("", part.name))
                    part.item = _plain_copy(known) if known else part.item
                if (
                    shape.kind
                    and "object" in part.types
                    and not part.properties
                    and not part.closed
                    and not part.options
                ):
                    kind = _named(part.name, self.kinds, loose=True)
                    if kind and kind.name in looks and kind.name != shape.kind:
                        scalars = {n: p for n, p in looks[kind.name].items() if not (p.is_array or p.is_object)}
                        part.properties = scalars
                        part.kind = kind.name
        for name in [name for name, kind in self.kinds.items() if name not in used and not kind.addressed]:
            del self.kinds[name]

    def _set(self, shape: Shape, kind: str) -> None:
        shape.kind = kind

    def _called(self, plan: Plan, shape: Shape, item: bool) -> str:
        """The kind of an object that has no plain `id` but one with the name of its list: reviewId in reviews."""
        if set(_IDENTITIES) & set(shape.properties):
            return ""
        key = (
            shape.name
            if shape.name and singular(label_of(shape.name)) not in _GENERIC
            else ""
            if shape.path
            else plan.label
        )
        if not key and item:
            key = plan.label or next((s.name for s in reversed(plan.steps) if s.what == "literal"), "")
        noun = singular(words(key)[-1]) if words(key) else ""
        for name in shape.properties:
            stem = stem_of(name)
            if noun and stem and stem[-1] == noun and (item or not plan.detail):
                named = _named("_".join(stem), self.kinds)
                return named.name if named else self.kind("_".join(stem), noun).name
        return ""

    def _by_identity(self, shape: Shape) -> str:
        """The kind that the only identifier of an object names: `{place_id, name, country}` is a place."""
        stems = [stem for name in shape.properties if (stem := stem_of(name))]
        if set(_IDENTITIES) & set(shape.properties) or len(stems) != 1 or len(shape.properties) < 2:
            return ""
        kind = _named("_".join(stems[0]), self.kinds)
        return kind.name if kind and next(iter(shape.properties)) and "_".join(stems[0]) in kind.aliases else ""

    def _stands_for(self, shape: Shape, kind: str) -> bool:
        """Whether the root of a detail path is the entity itself, not an envelope around it."""
        if _identity(shape.properties) or self.kinds[kind].ordinal in shape.properties:
            return True
        inner = [p for p in shape.properties.values() if p.properties and _identity(p.properties)]
        return not (len(shape.properties) <= 3 and inner)

    def _discriminated(self, shape: Shape) -> str:
        for name in ("type", "media_type", "object", "kind", "object_type", "entity_type"):
            part = shape.properties.get(name)
            if part is None or not _identity(shape.properties):
                continue
            values = {str(v) for check in part.checks for v in cast("list[object]", check.get("enum") or [])}
            values |= {str(check["const"]) for check in part.checks if "const" in check}
            values = values or {str(value) for value in part.examples}
            if len(values) == 1:
                value = values.pop()
                if kind := _named(value, self.kinds):
                    return kind.name
                if part.checks and any({"enum", "const"} & set(check) for check in part.checks) and value.isalpha():
                    return "" if value.lower() in _GENERIC else self.kind(value.lower()).name
        for name in ("uri", "urn"):
            part = shape.properties.get(name)
            for text in part.examples if part else ():
                pieces = str(text).split(":")
                if len(pieces) >= 3 and (kind := _named(pieces[-2], self.kinds)):
                    return kind.name
        return ""

    def _by_key(self, plan: Plan, shape: Shape, item: bool) -> str:
        key = shape.name
        if key and label_of(key) not in _GENERIC and singular(label_of(key)) not in _GENERIC:
            kind = _named(key, self.kinds)
            if kind is None and _identity(shape.properties) and not item:
                kind = _named(key, self.kinds, loose=True)
            if kind and self._plausible(shape, kind):
                return kind.name
            if kind:
                return ""
        if not shape.path and not item and (not plan.subject or plan.tool.writes):
            for segment in reversed(plan.tail):
                kind = _named(segment, self.kinds)
                if kind and _identity(shape.properties, kind.aliases):
                    return kind.name
        if self._principal(shape, item):
            for segment in reversed(plan.tail):
                kind = _named(segment, self.kinds)
                if kind and self._plausible(shape, kind):
                    return kind.name
            if plan.tail and plan.subject and len(plan.tail) == 1:
                return ""
        return ""

    def _principal(self, shape: Shape, item: bool) -> bool:
        keys = [key for key in shape.path if singular(label_of(key)) not in _GENERIC]
        return not keys and item

    def _plausible(self, shape: Shape, kind: Kind) -> bool:
        if _identity(shape.properties, kind.aliases):
            return True
        if kind.ordinal and kind.ordinal in shape.properties:
            return True
        names = {name for name in shape.properties if name in _NAMES}
        lists = any(part.is_array for part in shape.properties.values())
        return bool(names) and not lists and kind.addressed is False

    def _likeness(self, final: bool) -> None:
        known = self._looks()
        for _, shape, _, item in self.nodes():
            if shape.kind or not shape.properties or not (shape.path or item) or not _identity(shape.properties):
                continue
            if kind := self._alike(shape, known):
                self._set(shape, kind)
                known[kind].update(shape.properties)
            elif final:
                key = next((k for k in reversed(shape.path) if singular(label_of(k)) not in _GENERIC), "")
                name = "_".join([*words(key)[:-1], singular(words(key)[-1])]) if words(key) else ""
                plan = next((p for p, s, _, _ in self.nodes() if s is shape), None)
                if not name and plan:
                    tail = plan.tail or tuple(step.name for step in plan.steps if step.what == "literal")
                    name = "_".join([*words(tail[-1])[:-1], singular(words(tail[-1])[-1])]) if tail else "thing"
                self._set(shape, self.kind(name or "thing", (name or "thing").rpartition("_")[2]).name)
                known[shape.kind].update(shape.properties)

    def _looks(self) -> dict[str, set[str]]:
        """The fields seen so far of each kind."""
        known: dict[str, set[str]] = defaultdict(set)
        for _, shape, _, _ in self.nodes():
            if shape.kind:
                known[shape.kind].update(shape.properties)
        return known

    def _alike(self, shape: Shape, known: dict[str, set[str]]) -> str:
        """The kind with which an object shares its rare fields; empty when none stands out."""
        spread = Counter(name for names in known.values() for name in names)
        total = max(len(known), 1)
        own = set(shape.properties)
        best, score = "", 0.0
        for kind, names in known.items():
            common = own & names
            weight = sum(log(1 + total / spread[name]) for name in common if spread[name] < total)
            rare = [n for n in common if spread[n] <= max(1, total // 4) and n not in (*_IDENTITIES, "name", "title")]
            if rare and weight > score:
                best, score = kind, weight
        if not best:
            alike = [(len(own & names) / len(own | names), kind) for kind, names in known.items()]
            closeness, nearest = max(alike, default=(0.0, ""))
            best = nearest if closeness > 0.7 and len(own) > 3 else ""
        return best

    def _wrappers(self) -> None:
        """Items without an identifier around one entity: `{added_at, album: {…}}` is about the album."""
        for plan, shape, _, item in self.nodes():
            if shape.kind or not item:
                continue
            links = [name for name, part in shape.properties.items() if any(v.kind for v in part.variants())]
            if not links:
                continue
            wanted = (
                set(words(plan.label))
                | {singular(w) for w in words(plan.label)}
                | {singular(w) for w in words(shape.name)}
            )
            links.sort(key=lambda name: (not set(words(name)) & wanted, -_size(shape.properties[name])))
            shape.main = links[0]

    # -- relations -------------------------------------------------------------------------------------------------

    def relate(self) -> None:
        counts: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for plan in self.plans:
            if plan.shape is None or plan.tool.method != "GET":
                continue
            for shape in plan.shape.variants():
                self._relate(plan, shape, "" if shape.kind else plan.subject, shape.kind or "", "", counts, top=True)
        for key, lengths in counts.items():
            relation = self.relations[key]
            positive = sorted(length for length in lengths if length)
            if positive:
                self.relations[key] = _with_count(relation, positive[len(positive) // 2])

    def _relate(
        self,
        plan: Plan,
        shape: Shape,
        owner: str,
        inside: str,
        key: str,
        counts: dict[tuple[str, str, str], list[int]],
        top: bool = False,
    ) -> None:
        holder = inside or owner
        lists = [part for part in shape.properties.values() if part.is_array and part.item] if shape.properties else []
        if shape.is_array and shape.item and not shape.properties:
            self._list(plan, shape, holder, key, counts, bool(inside), alone=True)
            return
        for name, part in shape.properties.items():
            label = label_of(name) if singular(label_of(name)) not in _GENERIC else key
            if part.is_array and part.item:
                self._list(plan, part, holder, label, counts, bool(inside), alone=len(lists) == 1)
                continue
            for option in part.variants():
                if option.kind:
                    if holder:
                        self._add(Relation(holder, label_of(name), option.kind, False, nullable=part.nullable))
                    self._relate(plan, option, "", option.kind, "", counts)
                elif option.properties:
                    self._relate(plan, option, owner, inside, label, counts)

    def _list(
        self,
        plan: Plan,
        part: Shape,
        holder: str,
        label: str,
        counts: dict[tuple[str, str, str], list[int]],
        inside: bool,
        alone: bool,
    ) -> None:
        if part.item is None:
            return
        for option in part.item.variants():
            core = option
            if option.main:
                core = option.properties[option.main]
            own_path = bool(plan.tail) and not inside and bool(plan.subject)
            for target in core.variants():
                if not target.kind:
                    if target.properties:
                        self._relate(plan, target, "" if inside else holder, holder if inside else "", label, counts)
                    continue
                if holder:
                    named = plan.label if own_path and (alone or not label) else label or plan.label
                    relation = Relation(holder, named, target.kind, True, own_path=own_path)
                    self._add(relation)
                    counts[relation.key].extend(part.lengths)
                elif plan not in self.kinds[target.kind].global_lists and not inside:
                    self.kinds[target.kind].global_lists.append(plan)
                self._relate(plan, target, "", target.kind, "", counts)
            if option.main:
                for name, other in option.properties.items():
                    if name != option.main:
                        for inner in other.variants():
                            if inner.properties:
                                self._relate(plan, inner, "", inner.kind, "", counts)

    def _add(self, relation: Relation) -> None:
        known = self.relations.get(relation.key)
        if known is None:
            self.relations[relation.key] = relation
        elif (relation.own_path and not known.own_path) or (relation.nullable and not known.nullable):
            self.relations[relation.key] = Relation(
                *relation.key,
                known.many or relation.many,
                known.own_path or relation.own_path,
                known.nullable or relation.nullable,
                known.count,
            )

    # -- fields and records ----------------------------------------------------------------------------------------

    def fields(self) -> dict[str, FieldInfo]:
        everything: dict[str, FieldInfo] = {}
        merged: dict[str, dict[str, dict[str, object]]] = defaultdict(dict)
        pure: dict[str, bool] = defaultdict(bool)
        for plan, shape, around, item in self.nodes():
            for part in shape.properties.values():
                _note(everything, part)
            if not shape.kind:
                continue
            kind = self.kinds[shape.kind]
            alone = self._pure(plan, shape, around, item)
            pure[shape.kind] |= alone
            for part in shape.properties.values():
                _note(kind.all_fields, part)
                if alone:
                    _note(kind.fields, part)
            if alone and not (plan.detail and not shape.path):
                kind.summary = kind.summary or shape.properties
        beside = self._beside()
        for kind in self.kinds.values():
            if not pure[kind.name]:
                kind.fields = kind.all_fields
            for name, info in kind.all_fields.items():
                if name not in beside:
                    kind.fields.setdefault(name, info)
            kind.summary = kind.summary or (kind.detail.shape.properties if kind.detail and kind.detail.shape else {})
            kind.summary = kind.summary or next(
                (s.properties for _, s, _, _ in self.nodes() if s.kind == kind.name), {}
            )
            kind.identity = _identity(kind.all_fields, kind.aliases) or kind.identity
            kind.title = self._title(kind)
        for _, shape, _, _ in self.nodes():
            if not shape.kind:
                continue
            kind = self.kinds[shape.kind]
            for value in shape.examples:
                if isinstance(value, dict) and value.get(kind.identity) is not None:
                    record = merged[kind.name].setdefault(str(value[kind.identity]), {})
                    for name, entry in value.items():
                        if name in kind.fields and not isinstance(entry, (dict, list)) and entry not in (None, ""):
                            record.setdefault(name, entry)
        for kind in self.kinds.values():
            kind.shown = self._shown(kind)
            titled = [r for r in merged[kind.name].values() if not kind.title or r.get(kind.title)]
            kind.records = titled
            kind.date = self._main_date(kind)
            known = kind.all_fields.get(kind.identity)
            kind.ids = [value for value in known.examples if value is not None] if known else []
        for plan in self.plans:
            for step in plan.steps:
                if step.what == "entity":
                    parameter = next((p for p in plan.tool.parameters if p.name == step.name), None)
                    schema = parameter.schema if parameter else {}
                    several = schema.get("examples")
                    shown = [
                        schema.get("example"),
                        schema.get("default"),
                        *(several if isinstance(several, list) else []),
                    ]
                    kind = self.kinds[step.kind]
                    for value in shown:
                        if value is not None and not isinstance(value, (dict, list)) and not kind.local:
                            kind.ids.append(value)
                            recorded = {str(record.get(kind.identity)) for record in kind.records}
                            if str(value) not in recorded:
                                kind.records.append({kind.identity: value})
        infos = [
            *everything.values(),
            *(i for k in self.kinds.values() for i in (*k.all_fields.values(), *k.fields.values())),
        ]
        for info in infos:
            info.settle()
        return everything

    def _beside(self) -> set[str]:
        """Fields that tell of membership, not of the member: those that only lists of another kind's path show."""
        pure: dict[str, set[str]] = defaultdict(set)
        beside: dict[str, set[str]] = defaultdict(set)
        for plan, shape, around, item in self.nodes():
            if shape.kind and self._pure(plan, shape, around, item):
                pure[shape.kind].update(shape.properties)
            elif shape.kind and item and plan.subject and plan.tail and around is None and shape.kind != plan.subject:
                beside[shape.kind].update(shape.properties)
        return {name for kind, names in beside.items() if pure[kind] for name in names - pure[kind]}

    def _shown(self, kind: Kind) -> frozenset[str]:
        """The fields that whole examples of a kind have; empty where there are too few examples to tell."""
        names: set[str] = set()
        total = 0
        for _, shape, _, _ in self.nodes():
            bodies = [value for value in shape.examples if isinstance(value, dict)] if shape.kind == kind.name else []
            counts = Counter(name for body in bodies for name in body)
            names.update(name for name, count in counts.items() if 2 * count >= len(bodies))
            total += len(bodies)
        if total < 5:
            return frozenset()
        for name in [name for name in kind.fields if name not in names]:
            del kind.fields[name]
        return frozenset(names)

    def _title(self, kind: Kind) -> str:
        named = [name for name in _NAMES if name in kind.fields]
        if not named:
            named = [
                n for n in kind.fields if words(n) and words(n)[0] in kind.aliases and words(n)[-1] in {"name", "title"}
            ]
        return max(named, key=lambda name: (len(kind.fields[name].shapes), -named.index(name)), default="")

    def _pure(self, plan: Plan, shape: Shape, around: Shape | None, item: bool) -> bool:
        """Whether an entity stands here for itself, not as a member of something with fields about that."""
        if not shape.path and not item:
            return plan.detail or bool(plan.root) or not plan.subject
        if around is not None:
            return False
        return not plan.subject

    def _main_date(self, kind: Kind) -> str:
        dated = []
        for name, info in kind.fields.items():
            shown = [value for value in info.examples if isinstance(value, str)]
            formats = {check.get("format") for shape in info.shapes for check in shape.checks}
            if (shown and all(_DATE.fullmatch(value) for value in shown)) or formats & {"date", "date-time"}:
                dated.append(name)
        in_summary = [name for name in dated if name in kind.summary]
        return (in_summary or [""])[0] if not kind.local else (dated or [""])[0]

    def references(self) -> None:
        """Fields such as `customerUuid` link to an entity, though only its identifier is shown."""
        for kind in self.kinds.values():
            for name, info in kind.fields.items():
                stem = stem_of(name)
                target = _named("_".join(stem), self.kinds) if stem and words(name)[-1] != "ids" else None
                if target is None or target is kind or target.local or kind.local or name == kind.identity:
                    continue
                linked = any(
                    r.owner == kind.name and r.target == target.name and not r.many for r in self.relations.values()
                )
                if not linked and "_".join(stem) in target.aliases:
                    nullable = any(shape.nullable for shape in info.shapes)
                    self._add(Relation(kind.name, "_".join(stem), target.name, False, nullable=nullable))

    # -- pairs -----------------------------------------------------------------------------------------------------

    def pair(self) -> list[Pair]:
        pairs: list[Pair] = []
        names = list(self.kinds)
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                pairs.extend(self._pair(first, second))
        return [self._inherited(pair, pairs) for pair in pairs]

    def _pair(self, first: str, second: str) -> list[Pair]:
        if self.kinds[first].local or self.kinds[second].local:
            return []
        forth = [r for r in self.relations.values() if (r.owner, r.target) == (first, second)]
        back = [r for r in self.relations.values() if (r.owner, r.target) == (second, first)]
        if not forth or not back:
            return []
        found: list[Pair] = []
        both = [(a, b) for a in forth for b in back if a.label == b.label and a.many and b.many]
        for a, b in both:
            found.append(self._equal(a, b))
        if found:
            return found
        for many, single, parent, child in ((forth, back, first, second), (back, forth, second, first)):
            lists = sorted((r for r in many if r.many), key=lambda r: _oddness(r, child))
            links = sorted((r for r in single if not r.many), key=lambda r: _oddness(r, parent))
            if lists and links and not [r for r in single if r.many and _oddness(r, parent) == 0]:
                a, b = lists[0], links[0]
                return [Pair(child, b.label, parent, a.label, family=True, nullable=b.nullable)]
        a_s = sorted((r for r in forth if r.many), key=lambda r: _oddness(r, second))
        b_s = sorted((r for r in back if r.many), key=lambda r: _oddness(r, first))
        return [self._equal(a_s[0], b_s[0])] if a_s and b_s else []

    def _equal(self, a: Relation, b: Relation) -> Pair:
        """`a` is owned by one kind, `b` by the other; the one with dates and more fields is the work."""
        first, second = self.kinds[a.owner], self.kinds[b.owner]
        weight_first = (bool(first.date and first.date in first.summary), len(first.summary))
        weight_second = (bool(second.date and second.date in second.summary), len(second.summary))
        if weight_first < weight_second:
            a, b = b, a
        summary = a.label in {label_of(name) for name in self.kinds[a.owner].summary}
        return Pair(a.owner, a.label, b.owner, b.label, summary=summary)

    def _inherited(self, pair: Pair, pairs: list[Pair]) -> Pair:
        if pair.family:
            return pair
        for family in pairs:
            if family.family and family.work == pair.work and family.maker != pair.maker:
                for other in pairs:
                    if (other.work, other.maker, other.forth) == (family.maker, pair.maker, pair.forth):
                        return Pair(
                            pair.work,
                            pair.forth,
                            pair.maker,
                            pair.back,
                            through=family.forth,
                            summary=pair.summary,
                        )
        return pair

    def run(self) -> Blueprint:
        self.paths()
        self.shapes()
        for name in sorted(self.referenced):
            fields = {key for plan in self.plans if plan.shape for s in plan.shape.walk() for key in s.properties}
            if not _named(name, self.kinds) and {f for f in fields if stem_of(f) == tuple(name.split("_"))}:
                self.kind(name)
        self._listed()
        self.typing()
        self._rewire()
        self.relate()
        everything = self.fields()
        self.references()
        for plan in self.plans:
            plan.search = self._search(plan)
        pairs = self.pair()
        edges, roles, edge_kinds = self._edges()
        states = {
            plan.tool.path: plan
            for plan in self.plans
            if plan.tool.method == "GET" and plan.shape and plan.shape.properties and not plan.shape.kind
        }
        return Blueprint(
            self.protocol,
            self.plans,
            self.kinds,
            self.relations,
            pairs,
            edges,
            roles,
            edge_kinds,
            everything,
            self.singletons,
            states,
            _templates(self),
            _places(self, edge_kinds),
            self.world,
        )

    # -- what a world file says ------------------------------------------------------------------------------------

    def _listed(self) -> None:
        """Type what operations list where the world file tells."""
        for name, spec in self.world.entities.items():
            for plan in self.plans:
                if f"{plan.tool.method} {plan.tool.path}" in spec.listed and plan.shape is not None:
                    parts = [plan.shape, *plan.shape.properties.values()]
                    item = next((part.item for part in parts if part.item and part.item.properties), None)
                    if item is not None:
                        self._set(item, self.kind(name).name)

    def _rewire(self) -> None:
        """Let relations lead to the kinds that the world file names."""
        for (owner, label), (target, _) in self.world.relations.items():
            self.world.check_target(owner, label, {name for kind in self.kinds.values() for name in kind.aliases})
            for plan, shape, around, item in list(self.nodes()):
                holder = shape.kind or (around.kind if around else "") or (plan.subject if not item else "")
                for name, part in shape.properties.items() if holder == owner else ():
                    own = singular(label_of(name)) not in _GENERIC
                    if label != (label_of(name) if own or shape.path else plan.label):
                        continue
                    for core in part.item.variants() if part.item else part.variants():
                        if core.properties:
                            self._set(core.properties[core.main] if core.main else core, self.kind(target).name)
            for plan in self.plans:
                listed = plan.shape.item if plan.shape and (plan.subject, plan.label) == (owner, label) else None
                if listed is not None and listed.properties:
                    self._set(listed, self.kind(target).name)

    def _search(self, plan: Plan) -> str:
        if plan.tool.method != "GET" or plan.subject:
            return ""
        texts = [
            p
            for p in plan.tool.parameters
            if p.location == "query" and not _enumerated(p) and type_of(p.schema) in {"string", ""}
        ]
        for parameter in texts:
            if label_of(parameter.name).replace("_", "") in _SEARCH_WORDS:
                return parameter.name
        return next((p.name for p in texts if p.name in _NAMES), "")

    def _edges(self) -> tuple[dict[str, list[dict[str, object]]], dict[str, list[dict[str, object]]], dict[str, str]]:
        """What stands in a list beside the fields of its members, by label: all of it, and the roles among it."""
        donors: dict[str, list[dict[str, object]]] = defaultdict(list)
        listed: dict[str, list[dict[str, object]]] = {}
        lists: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        edge_kinds: dict[str, str] = {}
        for plan in self.plans:
            if plan.shape is None:
                continue
            for body in plan.tool.success.examples if plan.tool.success else ():
                _count_lists(body, plan.label, lists)
            for shape in plan.shape.walk():
                if shape.item is None or not shape.item.kind:
                    continue
                own = set(self.kinds[shape.item.kind].fields)
                label = label_of(shape.name) or plan.label
                extra = [name for name in shape.item.properties if name not in own]
                for name in extra:
                    stem = stem_of(name)
                    if stem and (kind := _named("_".join(stem), self.kinds)):
                        edge_kinds[label] = kind.name
                if not extra:
                    continue
                for name in extra:
                    enumerated = [
                        v for c in shape.item.properties[name].checks for v in cast("list[object]", c.get("enum") or [])
                    ]
                    if len(enumerated) > 1 and all(isinstance(value, str) for value in enumerated):
                        listed.setdefault(label, [{name: value} for value in enumerated])
                for value in shape.item.examples:
                    if isinstance(value, dict):
                        entry = {n: value[n] for n in extra if n in value and not isinstance(value[n], (dict, list))}
                        if entry and entry not in donors[label]:
                            donors[label].append(entry)
        roles = {label: _roles(entries, lists[label]) for label, entries in donors.items()}
        return dict(donors), {**roles, **listed}, edge_kinds


def _count_lists(value: object, label: str, lists: dict[str, Counter[tuple[str, str]]]) -> None:
    """Count in how many lists each text of each field occurs; one that most lists have is a role worth filling."""
    if isinstance(value, dict):
        for name, part in value.items():
            _count_lists(part, label_of(name), lists)
    elif isinstance(value, list):
        entries = [part for part in value if isinstance(part, dict)]
        lists[label].update({(name, text) for part in entries for name, text in part.items() if isinstance(text, str)})
        for part in entries:
            _count_lists(part, label, lists)


def _roles(donors: list[dict[str, object]], seen: Counter[tuple[str, str]]) -> list[dict[str, object]]:
    """The roles that members play, the most widespread first; empty when their fields don't repeat."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for donor in donors:
        for name, value in donor.items():
            if isinstance(value, str) and value:
                values[name][value] += 1
    repeating = [name for name, c in values.items() if sum(c.values()) >= 6 and len(c) <= 0.6 * sum(c.values())]
    if not repeating:
        return []
    main = max(repeating, key=lambda name: len(values[name]))
    order = sorted(values[main], key=lambda value: (-seen[(main, value)], -values[main][value], value))
    found = []
    for value in order:
        donor = next(d for d in donors if d.get(main) == value)
        found.append({name: donor[name] for name in repeating if name in donor})
    return found


def _with_count(relation: Relation, count: int) -> Relation:
    return Relation(*relation.key, relation.many, relation.own_path, relation.nullable, count)


def _oddness(relation: Relation, noun: str) -> int:
    """How far the label is from just naming its target: `tracks` 0, `top_tracks` 1, `parts` 2."""
    parts = relation.label.split("_")
    if singular(relation.label) == noun or "_".join([*parts[:-1], singular(parts[-1])]) == noun:
        return 0
    return 1 if singular(parts[-1]) == noun.rpartition("_")[2] else 2


def _size(shape: Shape) -> int:
    return max(len(variant.properties) for variant in shape.variants())


def _identity(properties: Iterable[str], aliases: Iterable[str] = ()) -> str:
    names = list(properties)
    for identity in _IDENTITIES:
        if identity in names:
            return identity
    own = {tuple(alias.split("_")) for alias in aliases}
    for name in names:
        stem = stem_of(name)
        if own and stem in own:
            return name
    if not own:
        for position, name in enumerate(names[:2]):
            parts = words(name)
            if parts and parts[-1] in {"id", "uuid", "guid"} and len(parts) > 1 and position < 2:
                return name
    return next((name for name in ("ref", "slug", "key") if name in names and own), "")


def _note(fields: dict[str, FieldInfo], part: Shape) -> None:
    info = fields.setdefault(part.name, FieldInfo(part.name))
    info.shapes.append(part)
    for value in part.examples:
        if not isinstance(value, (dict, list)):
            info.examples.append(value)


def _descend(
    plan: Plan, shape: Shape, around: Shape | None, item: bool
) -> Iterator[tuple[Plan, Shape, Shape | None, bool]]:
    if shape.item is not None:
        for variant in shape.item.variants():
            yield from _descend(plan, variant, around, True)
        return
    if shape.properties:
        yield plan, shape, around, item
        inner = shape if shape.kind or (_identity(shape.properties) and (shape.path or item)) else around
        for part in shape.properties.values():
            for variant in part.variants():
                yield from _descend(plan, variant, inner, False)


def _bare(shape: Shape) -> bool:
    """Whether nothing is known but perhaps that an object stands here."""
    return (
        not shape.properties
        and not shape.options
        and shape.item is None
        and shape.types <= {"object"}
        and not shape.closed
    )


def _plain_copy(shape: Shape) -> Shape:
    """The same object without what lies deeper, so that shapes that borrow from each other stay finite."""
    plain = {name: part for name, part in shape.properties.items() if not (part.is_array or part.is_object)}
    return Shape(shape.path, types=shape.types, checks=shape.checks, properties=plain, kind=shape.kind)


def _inside(key: str, text: str) -> bool:
    before = r"(?<![A-Za-z0-9])" if len(key) > 2 else r"(?<=[/:])"
    return len(key) > 1 and key != text and bool(re.search(rf"{before}{re.escape(key)}(?![A-Za-z0-9])", text))


def _templates(survey: _Survey) -> dict[str, list[tuple[str, str, str]]]:
    """Texts that hold the identifier of their own entity, by field: (kind, text before it, text after it)."""
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for _, shape, _, _ in survey.nodes():
        if not shape.kind:
            continue
        identity = survey.kinds[shape.kind].identity
        bodies = [value for value in shape.examples if isinstance(value, dict)][:5]
        shown = [(str(body.get(identity)), list(body.items())) for body in bodies]
        own = shape.properties.get(identity)
        if own is not None and len(own.examples) <= 3:
            texts = [(name, text) for name, part in shape.properties.items() for text in part.examples[:3]]
            shown += [(str(key), texts) for key in own.examples]
        for key, entries in shown:
            for name, text in entries:
                if name == identity or not isinstance(text, str) or key not in text or not _inside(key, text):
                    continue
                before, _, after = text.partition(key)
                if (shape.kind, before, after) not in found[name]:
                    found[name].append((shape.kind, before, after))
    return dict(found)


def _places(survey: _Survey, edge_kinds: dict[str, str]) -> dict[tuple[str, str], Shape]:
    """Where each field stands first of all, by what it belongs to (a kind, `~label`, `~state /path`) and its path.

    Several views may show a field, each with a schema of its own; its value is made for this one.
    """
    found: dict[tuple[str, str], Shape] = {}
    for kind in survey.kinds.values():
        _note_places(found, kind.name, "", kind.summary)
    for plan, shape, _, item in survey.nodes():
        if shape.kind:
            _note_places(found, shape.kind, "", shape.properties)
        if item:
            for label in (label_of(shape.name), plan.label):
                _note_places(found, edge_kinds.get(label, f"~{label}"), "", shape.properties)
    for plan in survey.plans:
        if plan.shape is None or plan.tool.method != "GET":
            continue
        for shape in plan.shape.variants():
            owners = [f"~state {plan.tool.path}", *([plan.subject] if plan.subject else [])]
            for owner in owners if not shape.kind else ():
                _note_places(found, owner, "", {"": shape} if shape.is_array else shape.properties)
    return found


def _note_places(
    found: dict[tuple[str, str], Shape], owner: str, around: str, parts: Mapping[str, Shape], depth: int = 0
) -> None:
    for name, part in parts.items():
        path = f"{around}.{name}" if around else name
        plain = part.options[0] if part.options else part
        if plain.kind or depth > 6:
            continue
        if path:
            found.setdefault((owner, path), plain)
        _note_places(found, owner, path, plain.properties, depth + 1)
        inner = plain.item
        while inner is not None and not inner.kind and not inner.main:
            path += "[]"
            found.setdefault((owner, path), inner)
            _note_places(found, owner, path, inner.properties, depth + 1)
            inner = inner.item


def survey(protocol: Protocol, world: WorldFile = NO_WORLD) -> Blueprint:
    """Read a protocol once, with its world file; takes about as long as loading it, so keep what it returns.

    Raises: UsageError: The world file names something that is not there.
    """
    found = _Survey(protocol, world).run()
    world.check(found)
    return found
