"""The result of analyzing an API: its entity types, their relations, and a response plan for each operation."""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

from protocols.model import Protocol, Tool
from protocols.simulator.analysis.response_shape import ResponseShape
from protocols.simulator.analysis.world_file import QueryBinding, WorldFile
from protocols.text.words import identifier_stem, singular, words

__all__ = [
    "ANY",
    "GENERIC",
    "NAMES",
    "EntityType",
    "FieldInfo",
    "PathStep",
    "Relation",
    "RelationPair",
    "ResponsePlan",
    "WorldSchema",
    "find_entity_type",
    "label_of",
    "referenced_type",
    "singular_name",
    "slug",
]

GENERIC = frozenset(
    "item items result results data datum entry list object value content record row hit node element response body "
    "payload collection_of all total page meta".split()
)
"""Words that name no kind of thing."""
NAMES = ("name", "title", "display_name", "displayName", "full_name", "fullName", "label", "username", "headline")
_NAME_PARTS = (
    (("first", "name"), ("given", "name"), ("forename",)),
    (("last", "name"), ("family", "name"), ("surname",)),
)
_SEARCHES = frozenset({"search", "query", "list", "filter", "find"})
_MOST_VALUES = 150
_NUMBER_WORDS = ("number", "code", "sku", "reference")
ANY = ResponseShape(("value",))
"""A place where any value may stand."""


@lru_cache(maxsize=8192)
def label_of(name: str) -> str:
    """The relation label of a name: `top-tracks` and `topTracks` are both top_tracks."""
    return "_".join(words(name))


def slug(text: str) -> str:
    """The form of a name in a link: `Fishermans Wharf` -> fishermans-wharf."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("'", "")).strip("-")


def singular_name(parts: Sequence[str]) -> str:
    """Words as the name of an entity type: the last one in the singular, joined; empty without words."""
    return "_".join([*parts[:-1], singular(parts[-1])]) if parts else ""


@dataclass
class FieldInfo:
    """The documentation of one field of one entity type: its shapes, and a sample of its values.

    `filled` is set if any value is more than null or an empty text.
    """

    name: str
    shapes: list[ResponseShape] = field(default_factory=list)
    examples: list[object] = field(default_factory=list)
    filled: bool = False

    @cached_property
    def by_folded_text(self) -> dict[str, object]:
        """The texts and enumerated values by their letters in lower case; read it once all are collected."""
        texts = [value for value in self.examples if isinstance(value, str)]
        enumerated = (value for part in self.shapes for value in part.enumerated)
        return {str(value).casefold(): value for value in (*texts, *enumerated)}

    def thin_examples(self) -> None:
        """Reduce the collected values: unique texts and numbers, a sample of truth values."""
        if all(isinstance(value, bool) for value in self.examples):
            self.examples = self.examples[:: max(len(self.examples) // 40, 1)]
        else:
            self.examples = list(dict.fromkeys(self.examples))[:_MOST_VALUES]
        self.filled = any(value not in (None, "") for value in self.examples)


@dataclass(eq=False)
class EntityType:
    """One type of entity.

    `parent` and `ordinal` are set where its entities are numbered within another entity. `fields` are its own fields,
    read where it stands for itself. `example_fields` are those of its examples, if there are enough to tell. `records`
    are entities from the document, joined by identifier. `addressed_by_name` is set where paths hold its name;
    `keys` are the parameters by which paths hold it.
    """

    name: str
    aliases: set[str] = field(default_factory=set)
    id_field: str = "id"
    parent: str = ""
    ordinal: str = ""
    addressed_by_name: bool = False
    detail: ResponsePlan | None = None
    keys: list[str] = field(default_factory=list)
    global_lists: list[ResponsePlan] = field(default_factory=list)
    fields: dict[str, FieldInfo] = field(default_factory=dict)
    all_fields: dict[str, FieldInfo] = field(default_factory=dict)
    summary: dict[str, ResponseShape] = field(default_factory=dict)
    records: list[dict[str, object]] = field(default_factory=list)
    ids: list[object] = field(default_factory=list)
    example_fields: frozenset[str] = frozenset()
    title: str = ""
    date: str = ""

    def named(self, text: str) -> dict[str, object]:
        """The fields of the entity with a name: its title, and the two parts where a name is a person's."""
        first, _, last = text.rpartition(" ")
        parts = zip(self._name_parts, (first, last), strict=False) if first else ()
        return {**dict(parts), **({self.title: text} if self.title else {})}

    @cached_property
    def is_named(self) -> bool:
        """True if its entities have names."""
        return bool(self.title or self._name_parts)

    @cached_property
    def _name_parts(self) -> tuple[str, ...]:
        """The fields with a person's first and last name; empty without both."""
        spelled = {words(field): field for field in self.fields}
        parts = [next((spelled[part] for part in alike if part in spelled), "") for alike in _NAME_PARTS]
        return tuple(parts) if all(parts) else ()

    @property
    def addressed(self) -> bool:
        """True if paths hold its identifier or its name."""
        return bool(self.keys)

    @property
    def searchable(self) -> bool:
        """True if a search of the API finds its entities by name."""
        return any(plan.search for plan in self.global_lists)

    @property
    def local(self) -> bool:
        """True if its entities exist only within their parent."""
        return bool(self.parent)

    @cached_property
    def own_words(self) -> frozenset[str]:
        """The words of its names."""
        return frozenset(word for alias in self.aliases for word in alias.split("_"))

    def key_fields(self, name: str) -> list[str]:
        """The fields by whose value a name may identify: `order_key` and `key` for `order_key`, listed ones first."""
        parts = list(words(name))
        own = [word for word in parts if singular(word) not in self.own_words]
        spelled = [field for form in (parts, own) for field in self.fields if list(words(field)) == form]
        return sorted(spelled, key=lambda field: field not in self.summary)

    def key_field(self, name: str) -> str:
        """The field by whose value a name identifies: `external_id` for `external_order_id`, `id` for `order_id`."""
        key_fields = self.key_fields(name)
        return self.id_field if self.id_field in key_fields or not key_fields else key_fields[0]

    @cached_property
    def nested(self) -> dict[str, ResponseShape]:
        """The fields of the plain objects in its summary, by path: `detail.note`."""
        outer = [part for part in self.summary.values() if part.properties and not part.kind]
        return {f"{part.name}.{name}": inner for part in outer for name, inner in part.properties.items()}

    @cached_property
    def number_fields(self) -> list[str]:
        """The fields with the number by which people know an entity: `InvoiceNumber`, `detail.invoice_number`."""
        paths = [
            path
            for path, part in (self.summary | self.nested).items()
            if (parts := words(part.name))
            and parts[-1] in _NUMBER_WORDS
            and self.own_words | {"reference"} >= set(parts[:-1])
            and path != self.id_field
            and "string" in part.types
        ]
        return sorted(paths, key=lambda path: _NUMBER_WORDS.index(words(path)[-1]))

    @cached_property
    def identifier_form(self) -> tuple[ResponseShape, int, list[str]]:
        """The shape of its identifiers, the highest number (0 for texts), and the texts among the examples."""
        info = self.all_fields.get(self.id_field)
        shape = next((shape for shape in info.shapes if shape.types), ANY) if info else ANY
        examples = shape.fitting_values(self.ids)
        numbers = [value for value in examples if isinstance(value, int)]
        counted = numbers or (not examples and shape.types <= {"integer", "number", "null"} and shape.types)
        highest = max([9_999_999, *(number + 1 for number in numbers)]) if counted else 0
        return shape, highest, [value for value in examples if isinstance(value, str)]

    @cached_property
    def uses_slugs(self) -> bool:
        """True if its identifiers are slugs of its names."""
        names = {slug(str(value)) for value in (self.fields[self.title].examples if self.title else ())}
        return any(value in names for value in self.ids if isinstance(value, str))


@dataclass(frozen=True, slots=True)
class PathStep:
    """One part of a path: a literal, a choice among enumerated words, or the identifier of an entity."""

    role: Literal["literal", "choice", "entity"]
    name: str
    kind: str = ""


@dataclass(slots=True, eq=False)
class ResponsePlan:
    """The plan for answering one tool.

    `subject` is the type of the entity in the path ("" for none), `root` the path of a singleton such as `/me`, and
    `tail` the literals after it. `detail` is set if the path ends with the entity. `search` is the parameter of a text
    search.
    """

    tool: Tool
    steps: tuple[PathStep, ...]
    status: int
    shape: ResponseShape | None = None
    media_type: str | None = None
    subject: str = ""
    root: str = ""
    tail: tuple[str, ...] = ()
    detail: bool = False
    search: str = ""

    @property
    def label(self) -> str:
        """The relation that the path names: the last literal of its tail."""
        return label_of(self.tail[-1]) if self.tail else ""

    @property
    def searches(self) -> bool:
        """True if a tool sends the arguments of a list in its body: `POST /contacts/search`."""
        literals = [step.name for step in self.steps if step.role == "literal"]
        return self.tool.method == "POST" and bool(literals) and bool(_SEARCHES.intersection(words(literals[-1])))


@dataclass(frozen=True, slots=True)
class Relation:
    """Entities of type `owner` have `many` (or one) of type `target` under `label`.

    `own_path` is set if a path lists it, `count` is the number of members in examples. `nullable` is for single links.
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
        """Its unique key."""
        return self.owner, self.label, self.target


@dataclass(frozen=True, slots=True)
class RelationPair:
    """A relation with both ends. `work` has makers under `forth`; a maker has works under `back`.

    With `family`, each work has one maker at most (a track and its album). `through` is the family from which a work
    inherits its makers (a track's artists are its album's).
    """

    work: str
    forth: str
    maker: str
    back: str
    family: bool = False
    nullable: bool = False
    through: str = ""
    summary: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class WorldSchema:
    """The analysis of an API; shared by all worlds of one protocol."""

    protocol: Protocol
    plans: list[ResponsePlan]
    entity_types: dict[str, EntityType]
    relations: dict[tuple[str, str, str], Relation]
    pairs: list[RelationPair]
    edges: dict[str, list[dict[str, object]]]
    roles: dict[str, list[dict[str, object]]]
    edge_types: dict[str, str]
    fields: dict[str, FieldInfo]
    singletons: dict[str, str]
    states: dict[str, ResponsePlan]
    templates: dict[str, list[tuple[str, str, str]]]
    places: dict[tuple[str, str], ResponseShape]
    world_file: WorldFile

    def entity_type_named(self, word: str) -> EntityType | None:
        """The entity type in a key, a path segment or a discriminator, if any."""
        return find_entity_type(word, self.entity_types)

    def named_after(self, name: str) -> EntityType | None:
        """The entity type that a field is named after, by its whole name."""
        whole = singular_name(words(name))
        kinds = (kind for kind in self.entity_types.values() if whole in kind.aliases and whole not in GENERIC)
        return next(kinds, None)

    def referenced_type(self, name: str) -> EntityType | None:
        """The entity type whose identifier a name says to be: film for `film_id`."""
        return referenced_type(name, self.entity_types)

    def binding(self, plan: ResponsePlan, parameter: str) -> QueryBinding | None:
        """The meaning of a parameter by the world file."""
        return self.world_file.queries.get(plan.tool.name, {}).get(parameter)

    def relations_of(
        self, owner: str, target: str | None = None, label: str | None = None, many: bool | None = None
    ) -> list[Relation]:
        """The relations of an entity type; every argument that is given narrows them down."""
        return [
            relation
            for relation in self.relations.values()
            if relation.owner == owner
            and target in {None, relation.target}
            and label in {None, relation.label}
            and many in {None, relation.many}
        ]

    def family(self, work: str, maker: str) -> RelationPair | None:
        """The pair by which each work belongs to one maker, if there is one."""
        return next((pair for pair in self.pairs_between(work, maker) if pair.family), None)

    def pairs_between(self, work: str, maker: str) -> list[RelationPair]:
        """The pairs by which entities of one type make those of another."""
        return [pair for pair in self.pairs if (pair.work, pair.maker) == (work, maker)]

    def pair_for(self, owner: str, label: str, target: str) -> tuple[RelationPair, bool] | None:
        """The pair with this relation as one end, and whether the owner is the work."""
        for pair in self.pairs:
            if (pair.work, pair.forth, pair.maker) == (owner, label, target):
                return pair, True
            if (pair.maker, pair.back, pair.work) == (owner, label, target):
                return pair, False
        return None


def find_entity_type(text: str, entity_types: Mapping[str, EntityType], loose: bool = False) -> EntityType | None:
    """The entity type in a name: by the whole name or its last word, or by any word if `loose`."""
    parts = words(text)
    nouns = [noun for part in reversed(parts if loose else parts[-1:]) if (noun := singular(part)) not in GENERIC]
    named = (kind for noun in (singular_name(parts), *nouns) for kind in entity_types.values() if noun in kind.aliases)
    return next(named, None)


def referenced_type(name: str, entity_types: Mapping[str, EntityType]) -> EntityType | None:
    """The entity type whose identifier a name says to be: film for `film_id`."""
    return find_entity_type("_".join(identifier_stem(name)), entity_types)
