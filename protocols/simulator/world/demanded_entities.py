"""Entities with the values that a program demands, beside those of a world that has none of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, cast

from protocols.simulator.analysis.response_shape import ResponseShape, fits
from protocols.simulator.analysis.world_schema import EntityType, slug
from protocols.simulator.demand import Demand, DemandKind
from protocols.simulator.world.demanded import DemandedFields, Wish, read_demands
from protocols.simulator.world.entity import Entity, RelationEdge, WorldContext
from protocols.simulator.world.invented_words import nouns
from protocols.simulator.world.plausible_values import is_date, make_value, number, restyled

__all__ = ["DemandedEntities"]

_ALIKE = 3
"""Entities that meet all demands where nothing says which one is meant: enough for a count, a sum and an order."""
_SPAN_DAYS = 28
"""Days between a limit without an end and the values that meet it."""
_MILLISECONDS = 10**11
"""The least number that is a moment in milliseconds, not in seconds."""
_MOMENT = re.compile(r"\d{4}-\d\d(-\d\d)?([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d:?\d\d)?")
_OPPOSITES: dict[DemandKind, DemandKind] = {"true": "false", "false": "true", "above": "below", "below": "above"}
_TOLD = 8
"""Documented values that are listed in place of one that is none of them."""
_NONE = object()


class DemandedEntities:
    """The demands on one world, and the entities made for them. A later program adds its own; none are taken back."""

    def __init__(self, world: WorldContext) -> None:
        self._world = world
        self._schema = world.schema
        self._holders: dict[str, DemandedFields] = {}
        self._relations: dict[tuple[str, str, str], int] = {}
        self._lengths: dict[tuple[str, str], int] = {}
        self._numbers: set[tuple[str, str]] = set()
        self._unmet: dict[tuple[str, str], str] = {}
        self._met: set[tuple[str, str]] = set()
        self._batch = 0
        self._members: dict[tuple[object, ...], list[Entity]] = {}
        self.entities: dict[str, list[Entity]] = defaultdict(list)
        """By type, those that meet the demands and can be listed by themselves, the latest program's first."""
        self.others: dict[str, list[Entity]] = defaultdict(list)
        """By type, those that make a list longer than a page."""

    def satisfy(self, demands: Sequence[Demand]) -> None:
        """Add what a program demands; `unmet` says what no place can hold."""
        self._unmet.clear()
        self._met.clear()
        self._holders, relations, lengths, numbers = read_demands(self._schema, demands)
        self._numbers |= numbers
        self._relations.update(relations)
        self._lengths.update(lengths)
        self._batch += 1
        for name in [name for name in self._holders if name in self._schema.entity_types]:
            kind = self._schema.entity_types[name]
            if name not in self._world.dependent_types or self._holders[name].is_asked(kind):
                self._populate(kind, self._holders[name])
            for place, entity in enumerate(self._world.question_entities(name)):
                if "demanded" not in entity.memo:
                    self._equip(entity, self._holders[name], place, unique=False)

    def _populate(self, kind: EntityType, wanted: DemandedFields) -> None:
        count = self._count(kind, wanted)
        self.entities[kind.name][:0] = [self._entity(kind, wanted, place) for place in range(count)]
        unique = wanted.is_asked(kind)
        base = len(self._world.base(kind.name))
        missing = wanted.size - (count if wanted.filtered else base)
        for place in range(count, count + missing) if not (unique and wanted.filtered) else ():
            entity = self._new(kind, ("demanded", f"{self._batch}", f"{place}"))
            self._equip(entity, wanted, place, unique=False, arguments_only=True)
            self.others[kind.name].append(entity)

    def _count(self, kind: EntityType, wanted: DemandedFields) -> int:
        """How many entities meet all demands."""
        if unique := wanted.unique_count(kind):
            return unique
        alternatives = max((len(wanted.values(path)) for path in wanted.fields if "[" not in path), default=1)
        return _ALIKE * max(alternatives, 1) if wanted.fields or wanted.filtered else 0

    def _entity(self, kind: EntityType, wanted: DemandedFields, place: int) -> Entity:
        """The entity at a place among those demanded; that of the question, if it is the one demanded by its name."""
        names = [str(value) for value in wanted.values(kind.title)] if kind.title else []
        name = names[place] if place < len(names) else ""
        entity = self._world.named_already(kind.name, name) if name else None
        own = str(entity.values.get(kind.title, name)) if entity is not None else ""
        folded = any(wish.folded for wish in wanted.fields.get(kind.title, ()))
        if entity is None or (own.casefold() != name.casefold() if folded else own != name):
            entity = self._new(kind, ("demanded", f"{self._batch}", f"{place}"))
        self._equip(entity, wanted, place)
        if kind.title and isinstance(title := entity.values.get(kind.title), str):
            self._world.give_name(entity, title)
        return entity

    def _new(self, kind: EntityType, key: tuple[str, ...], parent: Entity | None = None) -> Entity:
        entity = Entity(kind.name, key, root=self._world.anchor, parent=parent)
        return self._world.register(entity)

    # -- members of relations --------------------------------------------------------------------------------------

    def members(self, owner: Entity, label: str, target: str, edges: list[RelationEdge]) -> list[Entity]:
        """The demanded entities that a relation has besides its own members."""
        size = self._relations.get((owner.kind, label, target))
        wanted = self._holders.get(target)
        if size is None or owner.key[0] == "created":
            return []
        key = (owner, label, target, self._batch)
        if key not in self._members:
            kind = self._schema.entity_types[target]
            wanted = wanted or DemandedFields()
            count = self._count(kind, wanted)
            missing = max(size - (count if wanted.filtered else len(edges) + count), 0)
            owned = target in self._world.dependent_types or self._schema.family(target, owner.kind) is not None
            shared = [] if owned else self.entities[target][:count]
            self._members[key] = [
                *shared,
                *(
                    self._member(owner, kind, wanted, place, count, owner if owned else None)
                    for place in range(0 if owned else count, count + missing)
                ),
            ]
        return self._members[key]

    def _member(
        self,
        owner: Entity,
        kind: EntityType,
        wanted: DemandedFields,
        place: int,
        count: int,
        parent: Entity | None,
    ) -> Entity:
        entity = self._new(kind, ("demanded", f"{self._batch}", owner.kind, *owner.key, f"{place}"), parent)
        entity.position = place + 1
        self._equip(entity, wanted, place, unique=place < count, arguments_only=place >= count)
        return entity

    def link(self, entity: Entity, target: str) -> Entity | None:
        """The demanded entity of another type that a demanded one is linked to."""
        rank = entity.memo.get("demanded")
        candidates = self.entities.get(target) or []
        if not isinstance(rank, int) or not candidates or entity.kind == target:
            return None
        return candidates[rank % len(candidates)]

    @property
    def unmet(self) -> tuple[str, ...]:
        """In words, the values that no place can hold: a list of several types has them in one of these."""
        return tuple(message for key, message in self._unmet.items() if key not in self._met)

    @property
    def active(self) -> bool:
        """True if programs are rehearsed in this world."""
        return self._batch > 0

    def is_elsewhere(self, text: str) -> bool:
        """True if the program looks for a text of the question in a field that identifies nothing."""
        wanted = [(self._schema.entity_types.get(name), fields) for name, fields in self._holders.items()]
        paths = [(kind, path) for kind, fields in wanted for path in fields.fields if text in fields.values(path)]
        return bool(paths) and not any(kind is not None and path == kind.id_field for kind, path in paths)

    def length(self, entity: Entity, name: str) -> int:
        """The least number of items in a list that is no list of entities, so that it is longer than a page."""
        holder = entity.owner
        numbers = re.findall(rf"^{re.escape(name)}\[(\d+)\]", "\n".join(entity.values), re.MULTILINE)
        return max(self._lengths.get((holder, name), 0), *(int(number) + 2 for number in numbers), 0)

    def is_number(self, entity: Entity, name: str) -> bool:
        """True if a program reads the texts of a field as numbers."""
        return (entity.owner, re.sub(r"\[\d+\]", "[]", name)) in self._numbers

    # -- values ----------------------------------------------------------------------------------------------------

    def state_values(self, path: str) -> dict[str, object]:
        """The demanded values of a response without entities."""
        state = Entity("~state", ("state", path))
        if (wanted := self._holders.get(f"~state {path}")) is not None:
            self._equip(state, wanted, 0)
        return state.values

    def _equip(
        self,
        entity: Entity,
        wanted: DemandedFields,
        place: int,
        *,
        unique: bool = True,
        arguments_only: bool = False,
    ) -> None:
        """Give an entity the demanded values that it has none of yet."""
        entity.memo.setdefault("demanded", place)
        kind = self._schema.entity_types.get(entity.kind)
        for path, wishes in wanted.fields.items():
            chosen = [wish for wish in wishes if wish.argument] if arguments_only else wishes
            identifies = wanted.is_unique(path, kind)
            if arguments_only and not chosen:
                chosen = [replace(wish, kind=_OPPOSITES[wish.kind]) for wish in wishes if wish.kind in _OPPOSITES]
            if not chosen or (identifies and not unique) or path in entity.values or path in entity.computed:
                continue
            if identifies and (place >= len(wanted.values(path)) or self._invents(kind, path, chosen)):
                continue
            self._set(entity, kind, path, chosen, place)

    def _invents(self, kind: EntityType | None, path: str, wishes: list[Wish]) -> bool:
        """True if a program passes an identifier that the question does not have."""
        if kind is None or path != kind.id_field:
            return False
        question_slug = slug(self._world.named_entities.text)
        return all(slug(str(wish.value)) not in question_slug for wish in wishes if wish.kind == "is")

    def _set(self, entity: Entity, kind: EntityType | None, path: str, wishes: list[Wish], place: int) -> None:
        shape = self._shape(entity, kind, path)
        if shape is not None and shape.is_array and "[]" not in path and shape.item is not None:
            inner = next((name for name in ("name", "id", "value") if name in shape.item.properties), "")
            path, shape = f"{path}[].{inner}" if inner else f"{path}[]", shape.item.properties.get(inner, shape.item)
        alternatives = max(len({wish.value for wish in wishes if wish.kind in {"is", "contains"}}), 1)
        if path.endswith("[]"):
            values = [self._value(entity, path, shape, wishes, index) for index in range(alternatives)]
            if fitting := [value for value in values if value is not _NONE]:
                entity.values[path[:-2]] = fitting
        elif "[]" in path:
            for index in range(alternatives):
                value = self._value(entity, path, shape, wishes, index)
                if value is not _NONE:
                    entity.values[path.replace("[]", f"[{index}]", 1).replace("[]", "[0]")] = value
        elif (value := self._value(entity, path, shape, wishes, place)) is not _NONE:
            entity.values[path] = value

    def _shape(self, entity: Entity, kind: EntityType | None, path: str) -> ResponseShape | None:
        shape = self._schema.places.get((entity.owner, path))
        info = kind.all_fields.get(path) if kind is not None else None
        return shape or (next(iter(info.shapes), None) if info is not None else None)

    def _value(self, entity: Entity, path: str, shape: ResponseShape | None, wishes: list[Wish], place: int) -> object:
        """A value that meets the wishes for a field; `_NONE` if the field can have none."""
        last = re.sub(r"\[\d*\]", "", path).rpartition(".")[2]
        exact = list(dict.fromkeys((wish.value, wish.folded) for wish in wishes if wish.kind == "is"))
        if exact:
            value, folded = exact[place % len(exact)]
            held = self._exact(value, folded, shape)
            documented = _enumerated(shape)
            if held is _NONE and isinstance(value, str) and (documented or self._misspells(value, folded, shape)):
                rest = (
                    f"which is one of {', '.join(map(str, documented[:_TOLD]))}" if documented else "spelled otherwise"
                )
                self._unmet[last, value] = f"the program looks for {value!r} in {last!r}, {rest}"
            elif held is not _NONE:
                self._met.add((last, str(value)))
            return held
        parts = [(wish.kind, str(wish.value)) for wish in wishes if wish.kind in {"starts", "contains"}]
        if parts:
            how, text = parts[place % len(parts)]
            return self._with_part(entity, path, text, how == "starts", shape)
        limits = [wish for wish in wishes if wish.kind in {"above", "below"}]
        if limits:
            return self._within(limits, shape, place)
        flags = {wish.kind for wish in wishes}
        if flags == {"false"} and shape is not None and shape.kind:
            return None
        if shape is not None and "boolean" in shape.types and flags & {"true", "false"}:
            return "true" in flags
        if flags == {"false"} and shape is not None and shape.nullable:
            return None
        avoided = {wish.value for wish in wishes if wish.kind == "is not"}
        if (avoided or flags & {"true"}) and shape is not None and not (shape.properties or shape.is_array):
            for attempt in range(12):
                rng = self._world.rng(entity, "avoiding", path, attempt)
                value = make_value(last, shape, shape.filled_examples, rng, self._world.now)
                if value not in avoided and value not in (None, ""):
                    return value
        return _NONE

    def _exact(self, value: object, folded: bool, shape: ResponseShape | None) -> object:
        """The value as the field has it: an identifier as number or text, a text in the spelling of the document."""
        if isinstance(value, (int, float)) and number(value) is None:  # no JSON has it
            return _NONE
        if isinstance(value, str) and self._misspells(value, folded, shape):
            return _NONE
        if isinstance(value, str) and folded:
            value = self._spelled(value, shape)
        if shape is None:
            return value
        candidates: list[object] = [value]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            candidates += [str(value), int(value), float(value)]
        elif isinstance(value, str):
            plain = number(value)
            candidates += [int(plain), plain] if plain is not None else []
            candidates += [value == "true"] if value in {"true", "false"} else []
            moment = _moment(value)
            candidates += _forms(moment, shape) if moment is not None else []
        return next((candidate for candidate in candidates if fits(candidate, shape)), _NONE)

    def _misspells(self, value: str, folded: bool, shape: ResponseShape | None) -> bool:
        """True if the question has a name or address in another case: the world holds it as the question says."""
        if folded or value in _enumerated(shape):
            return False
        texts = self._world.told_texts
        return value not in texts.values() and texts.get(value.casefold(), value) != value

    def _spelled(self, value: str, shape: ResponseShape | None) -> str:
        """A text that is compared in any case, as the question or the document spells it."""
        documented = [*_enumerated(shape), *(shape.examples if shape else ())]
        for text in (self._world.told_texts.get(value.casefold()), *documented):
            if isinstance(text, str) and text.casefold() == value.casefold():
                return text
        return value if documented or not value.islower() else value.title() if " " in value else value

    def _with_part(self, entity: Entity, path: str, text: str, starts: bool, shape: ResponseShape | None) -> object:
        """A text that starts with another one, or contains it; a date where that is the start of one."""
        if starts and re.fullmatch(r"\d{4}(-\d\d?(-\d\d)?)?([T ].*)?", text):
            whole = "2000-01-14T10:30:00Z"
            whole = text + whole[len(text) :] if len(text) >= 4 else whole
            if (moment := _moment(whole)) is not None:
                forms = _forms(moment, shape)
                return next((form for form in forms if shape is None or fits(form, shape)), _NONE)
        text = self._spelled(text, shape) if text.islower() else text
        noun = nouns(self._world.rng(entity, path, "part"), 1)[0]
        free = [f"{text} {noun}", f"{text}{noun.lower()}", f"{text}{noun.lower()}@example.com", text]
        if not starts:
            free[1:1] = [f"{noun.lower()}{text}", f"https://example.com/{text}"]
            if text.startswith("@"):
                free.insert(0, f"{noun.lower()}{text}")
        return next((form for form in free if shape is None or fits(form, shape)), _NONE)

    def _within(self, limits: list[Wish], shape: ResponseShape | None, place: int) -> object:
        """A number or a moment within limits, another one at each place."""
        lows = [wish.value for wish in limits if wish.kind == "above"]
        highs = [wish.value for wish in limits if wish.kind == "below"]
        moments = [_moment(value) for value in (*lows, *highs)]
        if all(moment is not None for moment in moments):
            low = max((m for v in lows if (m := _moment(v)) is not None), default=None)
            high = min((m for v in highs if (m := _moment(v)) is not None), default=None)
            return self._moment_within(low, high, shape, place)
        low_number = max((n for v in lows if (n := number(v)) is not None), default=None)
        high_number = min((n for v in highs if (n := number(v)) is not None), default=None)
        if low_number is None and high_number is None:
            return _NONE
        if low_number is None:
            low_number = min(0.0, cast("float", high_number) * 2)
        if high_number is None:
            high_number = low_number + max(abs(low_number) * 0.6, 10.0)
        value = low_number + (high_number - low_number) * (0.25 + 0.5 * ((place * 0.381966) % 1))
        forms = [round(value), round(value, 2), f"{value:.2f}", str(round(value))]
        inner = [form for form in forms if low_number < float(cast("float", form)) < high_number] or [value]
        return next((form for form in inner if shape is None or fits(form, shape)), _NONE)

    def _moment_within(
        self, low: datetime | None, high: datetime | None, shape: ResponseShape | None, place: int
    ) -> object:
        span = timedelta(days=_SPAN_DAYS)
        now = self._world.now
        try:
            if low is None:
                low = cast("datetime", high) - span
            if high is None:
                high = min(low + span, now) if low < now else low + span
        except OverflowError:  # beyond the first or the last day that there is, where a search for the least begins
            return _NONE
        moment = low + (high - low) * (0.25 + 0.5 * ((place * 0.381966) % 1))
        forms = _forms(moment.replace(microsecond=0), shape)
        return next((form for form in forms if shape is None or fits(form, shape)), _NONE)


def _enumerated(shape: ResponseShape | None) -> Sequence[object]:
    return shape.enumerated if shape is not None else ()


def _moment(value: object) -> datetime | None:
    """The moment that a value is: a date, or a number of seconds or milliseconds."""
    plain = number(value) if not isinstance(value, bool) else None
    if plain is not None and plain > 10**8:
        with suppress(OverflowError, ValueError, OSError):
            return datetime.fromtimestamp(plain / 1000 if plain >= _MILLISECONDS else plain, UTC)
        return None
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        return None
    with suppress(ValueError):
        moment = datetime.fromisoformat(value if len(value) > 7 else f"{value}-01")
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def _forms(moment: datetime, shape: ResponseShape | None) -> list[Any]:
    """A moment in the forms that a field may have it in, the likeliest first."""
    examples = [text for text in (shape.examples if shape else ()) if is_date(text)]
    seconds = int(moment.timestamp())
    numbers = [value for value in (shape.examples if shape else ()) if isinstance(value, int)]
    in_milliseconds = bool(numbers) and min(numbers) >= _MILLISECONDS
    whole = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    styled = [restyled(str(examples[0]), moment)] if examples else []
    if any(str(check.get("format")).endswith("rfc-2822") for check in (shape.checks if shape else ())):
        styled.insert(0, format_datetime(moment))
    return [*styled, whole, moment.strftime("%Y-%m-%d"), seconds * 1000 if in_milliseconds else seconds, str(seconds)]
