"""The entities that the demands of a program call for: some that it looks for, among others that it does not.

A demand names a tool and a place in its reply, or an argument. Both lead to a field of an entity type. Some entities of
that type get values that fit all demands at once; the others stay as they are. Lists that the program pages through are
longer than the pages of the document, and than the page that the program asks for.

The last rules (keys in paths, filters by what a reply gave, texts as numbers, dates, `status` objects) were made with
seven documents in view. Over eight that nobody had read they support 60 of 72 right programs (53 before; five of the
seven more by `Unasked`, which was deleted): `python -m benchmarks.micro.twin --half unread`.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from protocols.json_path import Step
from protocols.simulator.analysis.response_shape import ResponseShape
from protocols.simulator.analysis.world_schema import NAMES as NAME_FIELDS
from protocols.simulator.analysis.world_schema import EntityType, ResponsePlan, WorldSchema, label_of
from protocols.simulator.demand import Demand, DemandKind
from protocols.simulator.world.filters import (
    FURTHER,
    LIMITS,
    PAGES,
    Filter,
    conditions_in,
    filter_of,
    members_of,
)
from protocols.text.words import NAMES, is_identifier, words

__all__ = ["DemandedFields", "Wish", "read_demands"]

_DEFAULT_PAGE = 50
"""Items of a page where no document says it: with 20 a test's world held too few of what its program looks for."""
_FEW = 5
"""Items of a list that has no pages: enough to leave some in and some out."""
_LARGE_PAGE = 100
"""Items of the largest page that a list is made longer than: one of 1,000 is walked in 63 calls of 20."""
_LONGEST = 1_300
"""Items in the longest list that is made for a program; a page is seldom longer than 1,000."""
_UNIQUE = frozenset("id gid uuid guid email mail slug number code key domain username handle".split())
_EXPRESSIONS = frozenset({"where", "filter", "filters", "query", "q"})
_FILTER_KINDS: Mapping[str, DemandKind] = {
    "contains": "contains", "prefix": "starts",
    "exact": "is", "from": "above", "to": "below", "above": "above", "below": "below", "other": "is not",
}  # fmt: skip
_OPERATOR_KINDS: Mapping[str, DemandKind] = {
    "=": "is", "==": "is", "in": "is", "!=": "is not", "nin": "is not", ">": "above", ">=": "above", "<": "below",
    "<=": "below", "~": "contains", "^": "starts", "$": "contains",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wish:
    """What one field should be; `argument` if a filter of a list asks for it."""

    kind: DemandKind
    value: object
    folded: bool = False
    argument: bool = False


@dataclass(slots=True)
class DemandedFields:
    """What a program wants of one holder: an entity type, or `~state PATH` for a response without entities.

    `fields` are the wishes by path within the holder. `size` is how many items lists of the type should have, `listed`
    is set if a tool lists it.
    """

    fields: dict[str, list[Wish]] = field(default_factory=lambda: defaultdict(list))
    size: int = 0
    filtered: bool = False

    def unique_count(self, kind: EntityType | None) -> int:
        """How many entities differ in the value that identifies them; 0 without such a wish."""
        return max((len(self.values(path)) for path in self.fields if self.is_unique(path, kind)), default=0)

    def is_asked(self, kind: EntityType) -> bool:
        """True if an argument names the entity."""
        return any(wish.argument for path in self.fields if self.is_unique(path, kind) for wish in self.fields[path])

    def values(self, path: str) -> list[object]:
        """The alternative values of a field."""
        return list(dict.fromkeys(wish.value for wish in self.fields.get(path, ()) if wish.kind == "is"))

    def is_unique(self, path: str, kind: EntityType | None) -> bool:
        """True if the value of a field identifies an entity, and is wished for as it is."""
        if "[" in path or not self.values(path):
            return False
        if kind is not None and path in {kind.title, kind.id_field}:
            return True
        own_words = kind.own_words if kind else ()
        telling = [word for word in words(path.rpartition(".")[2]) if word not in own_words]
        return telling[-1:] == ["number"] or (len(telling) == 1 and telling[0] in _UNIQUE)


def read_demands(
    schema: WorldSchema, demands: Sequence[Demand]
) -> tuple[
    dict[str, DemandedFields], dict[tuple[str, str, str], int], dict[tuple[str, str], int], set[tuple[str, str]]
]:
    """The demanded fields by holder, the number of items in relations by owner, label and target, that in lists without
    entities by holder and path, and the texts that are read as numbers.
    """
    reader = _DemandReader(schema)
    for demand in demands:
        reader.read_type(demand)
    for demand in demands:
        reader.read(demand)
    for tool in dict.fromkeys(demand.tool for demand in demands):
        reader.read_conditions([demand for demand in demands if demand.tool == tool and demand.kind == "argument"])
    reader.read_sizes(demands)
    return reader.holders, reader.relations, reader.lengths, reader.numbers


class _DemandReader:
    def __init__(self, schema: WorldSchema) -> None:
        self.schema = schema
        self.holders: dict[str, DemandedFields] = defaultdict(DemandedFields)
        self.relations: dict[tuple[str, str, str], int] = {}
        self.lengths: dict[tuple[str, str], int] = {}
        self.numbers: set[tuple[str, str]] = set()
        self._plans = {plan.tool.name: plan for plan in schema.plans}
        self._typed: dict[tuple[str, str], str] = {}

    def read_type(self, demand: Demand) -> None:
        """The type that an argument asks for, in place of the one that the lists of a tool show: `type=project`."""
        if demand.kind == "argument" and words(str(demand.path[-1]))[-1:] in {("type",), ("kind",)}:
            kind = self.schema.entity_type_named(str(demand.value))
            plan = self._plans.get(demand.tool)
            for listed in list(self._listed(plan)) if kind is not None and plan is not None else ():
                if kind is not None and listed.all_fields.keys() <= kind.all_fields.keys():
                    self._typed[demand.tool, listed.name] = kind.name

    def read(self, demand: Demand) -> None:
        plan = self._plans.get(demand.tool)
        if plan is None:
            return
        if demand.kind == "argument":
            self._read_argument(plan, demand)
        elif demand.kind != "call" and plan.shape is not None:
            self._read_place(plan, demand)

    # -- places in replies -----------------------------------------------------------------------------------------

    def _read_place(self, plan: ResponsePlan, demand: Demand) -> None:
        """Follow a path through the response shape to the innermost entity, and note the wish there."""
        wish = Wish(demand.kind, demand.value, demand.folded)
        holder = plan.subject or f"~state {plan.tool.path}"
        path = owner = around = ""
        shapes: Sequence[ResponseShape] = plan.shape.variants() if plan.shape else ()
        for step in demand.path:
            owner, around = holder, path
            shapes, holder, path = self._step(plan, list(shapes), holder, path, step)
            if not shapes:
                return
        if any(shape.kind for shape in shapes) and isinstance(demand.path[-1], str):
            if demand.kind == "false" and not around and owner in self.schema.entity_types:
                self.holders[owner].fields[demand.path[-1]].append(wish)
            return
        if not path:
            return
        if demand.kind == "number":
            self.numbers |= {(holder, path)} if not is_identifier(path.rpartition(".")[2]) else set()
            return
        if shapes[0].item is not None and demand.kind in {"is", "contains"}:
            path += "[]"
        self.holders[holder].fields[path].append(wish)

    def _step(
        self, plan: ResponsePlan, shapes: list[ResponseShape], holder: str, path: str, step: Step
    ) -> tuple[list[ResponseShape], str, str]:
        """One step deeper: the shapes there, their holder and the path within it."""
        entity = next((shape for shape in shapes if shape.kind), None)
        if isinstance(step, int):
            items = [variant for shape in shapes if shape.item for variant in shape.item.variants()]
            kinds = [variant.core.kind for variant in items if variant.core.kind]
            if kinds:
                self._relate(holder, path, kinds, plan)
                inner = next((v.kind for v in items if v.kind), kinds[0])
                return items, self._typed.get((plan.tool.name, inner), inner), ""
            return items, holder, f"{path}[]"
        if entity is not None and not path and (plan.tool.name, entity.kind) not in self._typed:
            holder = entity.kind
        parts = [shape.properties[str(step)] for shape in shapes if str(step) in shape.properties]
        if not parts and not path and holder in self.schema.entity_types:  # a field that the program asks to be shown
            info = self.schema.entity_types[holder].all_fields.get(str(step))
            parts = info.shapes[:1] if info is not None else []
        parts = [variant for part in parts for variant in part.variants()]
        kinds = [part.kind for part in parts if part.kind]
        if kinds:
            if holder in self.schema.entity_types:
                self.holders[holder]  # its entities are linked to demanded ones
            return parts, kinds[0], ""
        if parts and any(inner.item_types for part in parts for inner in part.properties.values()):
            return parts, holder, ""
        return parts, holder, (f"{path}.{step}" if path else str(step)) if parts else ""

    def _relate(self, holder: str, path: str, kinds: list[str], plan: ResponsePlan) -> None:
        """Note the relation that a list within an entity, or below its path, shows."""
        for label in (label_of(path.rpartition(".")[2]), plan.label):
            for kind in kinds:
                if (holder, label, kind) in self.schema.relations:
                    self.relations.setdefault((holder, label, kind), 0)

    # -- arguments -------------------------------------------------------------------------------------------------

    def _read_argument(self, plan: ResponsePlan, demand: Demand) -> None:
        name = str(demand.path[0])
        parameter = next((p for p in plan.tool.arguments if name in {p.argument, p.name}), None)
        step = next((s for s in plan.steps if parameter is not None and s.name == parameter.name), None)
        if step is not None and parameter is not None and parameter.location == "path":
            kind = self.schema.entity_types.get(step.kind)
            if step.role == "entity" and kind is not None and not kind.local and not demand.taken:
                key = kind.key_field(parameter.name)
                by_name = kind.addressed_by_name and kind.title and not str(demand.value).isdecimal()
                path = kind.title if by_name and key == kind.id_field else key
                self.holders[kind.name].fields[path].append(Wish("is", demand.value, argument=True))
            return
        if plan.tool.writes and not self._searches(plan):
            return
        for kind in self._listed(plan):
            self._filter_by(plan, kind, demand)

    def _filter_by(self, plan: ResponsePlan, kind: EntityType, demand: Demand) -> None:
        name = ".".join(str(step) for step in demand.path if isinstance(step, str))
        last = str(demand.path[-1])
        wanted = self.holders[kind.name]
        if demand.taken:
            wanted.filtered = wanted.filtered or bool(filter_of(kind, last, "")) or is_identifier(last)
            return
        if name == plan.search and isinstance(demand.value, str):
            if found_in := _searched_field(kind, demand.value):
                wanted.fields[found_in].append(Wish("is", demand.value, argument=True))
            return
        if label_of(name) in _EXPRESSIONS and isinstance(demand.value, str):
            for condition, how, value in conditions_in(demand.value):
                if condition in kind.all_fields:
                    self._note(kind, Filter(condition, how), value)
        held: object = demand.value
        for step in reversed(demand.path[1:]):
            held = {step: held}
        for inner, argument in members_of(str(demand.path[0]), held):
            parameter_filter = filter_of(kind, inner, argument) or _nested_filter(kind, inner)
            if parameter_filter is not None:
                self._note(kind, parameter_filter, argument)

    def _note(self, kind: EntityType, parameter_filter: Filter, value: object) -> None:
        values: Sequence[object] = list(value) if isinstance(value, tuple) else [value]
        if len(values) == 1 and isinstance(value, str) and "," in value:
            values = value.split(",")
        wanted = self.holders[kind.name]
        wanted.filtered = True
        for part in values:
            wanted.fields[parameter_filter.field].append(Wish(_FILTER_KINDS[parameter_filter.how], part, argument=True))

    def read_conditions(self, demands: Sequence[Demand]) -> None:
        """The conditions `{field, operator, value}` in the arguments of one tool."""
        groups: dict[tuple[Step, ...], dict[str, list[object]]] = defaultdict(lambda: defaultdict(list))
        for demand in demands:
            if demand.path[-1:] and demand.path[-1] in {"field", "operator", "value"}:
                groups[demand.path[:-1]][str(demand.path[-1])].append(demand.value if not demand.taken else None)
        plan = self._plans.get(demands[0].tool) if demands else None
        for group in groups.values():
            for name in group.get("field", ()) if plan is not None else ():
                for kind in self._listed(cast("ResponsePlan", plan)):
                    self._read_condition(kind, str(name), group)

    def _read_condition(self, kind: EntityType, name: str, group: Mapping[str, list[object]]) -> None:
        operator = str(next(iter(group.get("operator", ())), "=")).lower()
        wanted = self.holders[kind.name]
        wanted.filtered = True
        for value in group.get("value", ()):
            for part in value if isinstance(value, tuple) else [value]:
                if part is not None and (name.partition(".")[0] in kind.all_fields):
                    wanted.fields[name].append(Wish(_OPERATOR_KINDS.get(operator, "is"), part, argument=True))

    # -- sizes -----------------------------------------------------------------------------------------------------

    def read_sizes(self, demands: Sequence[Demand]) -> None:
        """Make the lists that a tool pages through longer than its page, and no other one empty."""
        for plan in filter(None, map(self._plans.get, dict.fromkeys(demand.tool for demand in demands))):
            if plan.shape is None:
                continue
            paged = _is_paged(plan)
            size = _length(plan, demands) if paged else _FEW
            holder = plan.subject or f"~state {plan.tool.path}"
            if plan.shape.is_array and not plan.shape.item_types:
                self.lengths[holder, ""] = size
            lists = {name: part for name, part in plan.shape.properties.items() if part.item and part.item.properties}
            if len(lists) == 1 and not any(part.item_types for part in plan.shape.properties.values()):
                self.lengths |= dict.fromkeys(((holder, name) for name in lists), size)
            for kind in self._listed(plan):
                keys = [key for key in self.schema.relations if key[0] == plan.subject and key[2] == kind.name]
                labels = [key for key in keys if key[1] == plan.label] or keys
                if plan.subject and labels:
                    self.relations[labels[0]] = max(self.relations.get(labels[0], 0), size if paged else 0)
                elif paged:
                    self.holders[kind.name].size = max(self.holders[kind.name].size, size)

    def _listed(self, plan: ResponsePlan) -> Iterator[EntityType]:
        """The entity types that a tool lists at the top of its response."""
        names: dict[str, None] = {}
        for shape in plan.shape.variants() if plan.shape else ():
            outer = shape.properties.values() if not shape.kind else ()
            for part in (shape, *outer, *(inner for p in outer if not p.kind for inner in p.properties.values())):
                names |= dict.fromkeys(part.item_types) if not shape.kind else {}
            if shape.kind and not plan.subject and plan.tool.method == "GET":
                names[shape.kind] = None  # one is looked up: `/accounts/lookup?name=…`
        return (self.schema.entity_types[self._typed.get((plan.tool.name, name), name)] for name in names)

    def _searches(self, plan: ResponsePlan) -> bool:
        return plan.tool.reads or any(True for _ in self._listed(plan))


def _nested_filter(kind: EntityType, name: str) -> Filter | None:
    """The filter of a field within a plain object: `invoice_number` of `detail.invoice_number`."""
    return next((Filter(path) for path in kind.nested if path.partition(".")[2] == name), None)


def _is_paged(plan: ResponsePlan) -> bool:
    names = {label_of(parameter.name) for parameter in plan.tool.arguments}
    return bool(names & (FURTHER | NAMES["offsets"] | PAGES | {"pagination"}))


def _length(plan: ResponsePlan, demands: Sequence[Demand]) -> int:
    """The items of a list with pages: more than the largest page of the document has, whatever page is asked for.

    Only a program that would read all of them as one page finds more: it may have to read on in the real service.
    Made with twelve documents in view; over four unread ones it lost no right program and found one more wrong one.
    """
    length = _longer_than(page_size(plan))
    for demand in demands:
        if demand.tool == plan.tool.name and demand.kind == "argument" and label_of(str(demand.path[-1])) in LIMITS:
            asked_size = int(text) if (text := str(demand.value)).isdecimal() else 0
            length = min(_longer_than(asked_size), _LONGEST) if asked_size >= length else length
    return length


def _longer_than(page: int) -> int:
    return page * 5 // 4 + 3


def page_size(plan: ResponsePlan) -> int:
    """The items of the largest page in the document; the page that a program asks for must not change a total."""
    for parameter in plan.tool.arguments:
        if label_of(parameter.name) in LIMITS:
            documented = [parameter.schema.get(name) for name in ("maximum", "default")]
            sizes = [size for size in documented if isinstance(size, int)]
            if sizes:
                return min(max(sizes), _LARGE_PAGE)
    return _DEFAULT_PAGE


def _searched_field(kind: EntityType, text: str) -> str:
    """The field in which a search finds a text: an address in one for addresses, else the name."""
    if re.search(r"@|\.\w", text) and " " not in text:
        last = ("email", "mail") if "@" in text else ("domain", "host", "hostname", "url", "website")
        for name in kind.all_fields:
            if words(name)[-1:] and words(name)[-1] in last:
                return name
    nested = next((path for path in kind.nested if path.rpartition(".")[2] in NAME_FIELDS), "")
    return kind.title or nested or (kind.id_field if " " not in text else "")
