"""How a question gets to an object: by name, as one of a list, or through other objects; with calls and words."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random

from atc.agent import SIMULATED_NOW
from benchmarks.learning.pairs.code import constant, expression, part, request
from benchmarks.learning.pairs.draft import Draft, NoQuestion
from benchmarks.learning.pairs.phrases import list_phrase
from benchmarks.learning.pairs.views import APIViews, FieldView, ListView, is_search
from benchmarks.learning.pairs.wording import NounPhrase, is_person, plural, superlative
from protocols.dataflow.graph import ProvidedField, selector_arguments
from protocols.dataflow.operations import is_own
from protocols.json_path import Step
from protocols.model import Parameter, Tool
from protocols.schema_fields import type_of
from protocols.simulator.world.invented_words import invent_name
from protocols.simulator.world.seeded_rng import SeededRNG
from protocols.text.words import PAGING, SEARCHES, words

__all__ = ["ItemList", "Pools", "Reach", "ReachedObject", "Reply", "extreme"]

Pools = Mapping[tuple[str, tuple[Step, ...]], Mapping[str, tuple[object, ...]]]
"""By tool and path of a list or object, the values that its fields have in the simulated service."""

_MAX_DEPTH = 3
_MANY_FILTERS = 4
_PAGES = PAGING | {"language", "timezone", "market"}
_COMMON = 0.5
"""Part of the items that a field with fixed values has different ones in."""
_MOST = 20
"""The highest number for an argument whose document names none."""
_CODES = 4
"""Values of a number that is only a code."""
_FIRST = (5, 5, 8, 10, 10, 15)
_ORDINALS = ("first", "second", "third", "fourth")
_TODAY = SIMULATED_NOW.date()


@dataclass(frozen=True, slots=True)
class Reply:
    """A call with its values, and the words for what its arguments mean."""

    tool: Tool
    call: ast.expr
    owner: str = ""
    named: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True)
class ReachedObject:
    """An object in a variable of the program, and in words."""

    variable: str
    phrase: str
    view: ListView


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list of a reply, as an expression and in words. `whole` is the reply that holds it."""

    node: ast.expr
    phrase: NounPhrase
    view: ListView
    whole: Reply


class Reach:
    """Gets to the objects and lists of an API.

    Args:
        pools: Values seen in the simulated service; without them nothing is chosen by a value.
    """

    def __init__(self, views: APIViews, pools: Pools) -> None:
        self.views = views
        self.graph = views.graph
        self.protocol = views.protocol
        self.pools = pools

    def seen(self, view: ListView, name: str) -> tuple[object, ...]:
        """The values that a field was seen with."""
        return self.pools.get((view.tool, view.path), {}).get(name, ())

    def filled(self, view: ListView, name: str) -> bool:
        """True if a field was seen with a value, or nothing was seen of its list at all."""
        return not self.pools or any(value not in (None, "", 0, 0.0) for value in self.seen(view, name))

    # Calls ----------------------------------------------------------------------------------------------------------

    def reply(self, draft: Draft, tool: Tool, depth: int = 0, view: ListView | None = None, name: str = "") -> Reply:
        """A call of a tool, after the calls that it needs.

        Args:
            view: The list that is wanted, where an argument selects among several.
            name: What a search looks for; invented by default.
        Raises: NoQuestion: An argument cannot be filled.
        """
        arguments: dict[str, ast.expr] = {}
        owner, extra, is_owned = "", [], False
        selectors: Mapping[str, object] = {}
        if view is not None:
            source = ProvidedField(view.tool, (*view.path, 0, view.id_key or "id"), 0.0, noun=view.entity or view.noun)
            selectors = selector_arguments(tool, source)
        required = [p for p in tool.arguments if p.required]
        for parameter in [*required, *self._filter(draft, tool)]:
            argument = parameter.argument
            reference = self.graph.reference(tool.name, argument)
            if argument in selectors:
                arguments[argument] = constant(selectors[argument])
            elif reference is not None and reference.attribute == "number" and type_of(parameter.schema) == "integer":
                number = draft.rng.randint(1, 3)
                arguments[argument] = constant(number)
                spoken = [f"{reference.noun} {number}", f"the {_ORDINALS[number - 1]} {reference.noun}"]
                owner = f"{draft.rng.choice(spoken)} of {owner}" if owner else draft.rng.choice(spoken)
            elif reference is not None and is_owned:
                raise NoQuestion  # of two objects, which no phrase here can say
            elif reference is not None:
                is_owned = True
                subject = self.subject(draft, reference.noun, depth, tool.name)
                arguments[argument] = part(subject.variable, [subject.view.key_for(reference.attribute)])
                owner = subject.phrase
            elif argument.lower() in SEARCHES:
                noun = view.noun if view is not None else "title"
                name = draft.value(name or self.invented(noun, draft.rng))
                arguments[argument] = constant(name)
            else:
                value, spoken_value = self.plain(draft, parameter)
                arguments[argument] = constant(value)
                extra.append(spoken_value)
        draft.tools.append(tool.name)
        return Reply(tool, request(tool.name, arguments), owner, name, " ".join(extra))

    def _filter(self, draft: Draft, tool: Tool) -> list[Parameter]:
        """An optional argument for a tool that requires none and is made to be filtered."""
        optional = [p for p in tool.arguments if not p.required and p.location == "query"]
        if len(optional) == len(tool.arguments) and len(optional) > _MANY_FILTERS:
            plain = [p for p in optional if _PAGES.isdisjoint(words(p.argument)) and _is_chosen(p)]
            return [draft.rng.choice(plain)] if plain else []
        return []

    def invented(self, noun: str, rng: Random) -> str:
        """A name for an object of a noun."""
        names = (invent_name(noun, SeededRNG("name", rng.getrandbits(40))) for _ in range(50))
        return next(name for name in names if " and " not in name)  # it may be taken for two names

    def plain(self, draft: Draft, parameter: Parameter) -> tuple[object, str]:
        """A value for an argument that no call provides, and its words."""
        schema, spoken = parameter.schema, " ".join(words(parameter.argument)).removeprefix("with ")
        items = schema.get("items")
        inner = items if isinstance(items, Mapping) else schema
        enum = inner.get("enum")
        value: object
        if isinstance(enum, list) and enum:
            value = draft.choose([option for option in enum if option not in (None, "")])
        elif words(parameter.argument)[-1:] in (("date",), ("day",)) or inner.get("format") == "date":
            value = str(_TODAY - timedelta(days=draft.rng.randint(1, 60)))
        elif texts := [example for example in _examples(inner) if isinstance(example, (str, float))]:
            value = draft.choose(texts)
        elif type_of(inner) == "integer":
            low, high = _range(parameter, inner)
            value = draft.rng.randint(low, max(low, high))
        elif {"city", "location", "place"}.intersection(words(parameter.argument)):
            value = self.invented("city", draft.rng)
        else:
            raise NoQuestion
        phrase = f"with {spoken} {draft.value(value)}"
        return ([value] if items is not None else value), phrase

    # Lists ----------------------------------------------------------------------------------------------------------

    def items(self, draft: Draft, view: ListView, depth: int = 0, bound: bool = True, whole: bool = False) -> ItemList:
        """A list, in a variable if `bound`.

        Args:
            whole: All of its items matter. Of a list with more pages, the question then means the first few.
        Raises: NoQuestion.
        """
        reply = self.reply(draft, self.protocol.tool(view.tool), depth, view)
        phrase = list_phrase(self.views, view, reply.owner, draft.rng)
        if reply.named and is_search(reply.tool):
            phrase = NounPhrase(phrase.noun, phrase.nouns, behind=f"called {_quoted(reply.named, draft.rng)}")
        if reply.extra:
            phrase = phrase.narrowed(reply.extra)
        node = part(reply.call, view.path)
        if whole and view.paged:
            count = draft.choose(_FIRST)
            node = expression("ITEMS[:COUNT]", ITEMS=node, COUNT=constant(count))
            phrase = replace(phrase, first=count)
        if bound:
            node = ast.Name(draft.let(_list_name(view), node))
        return ItemList(node, phrase, view, reply)

    # Objects --------------------------------------------------------------------------------------------------------

    def subject(self, draft: Draft, noun: str, depth: int, user: str = "") -> ReachedObject:
        """An object with the identifier of a noun, in a variable.

        Args:
            depth: Calls between it and the question's own; the deeper, the plainer it is found.
            user: The tool that takes its identifier, which does not provide it.
        Raises: NoQuestion: There is no way to it.
        """
        ways: list[ListView] = []
        for view in self.views.sources.get(noun, ()):
            tool = self.protocol.tool(view.tool)
            if view.tool == user or tool.writes:
                continue
            needs = bool(self.graph.needs(view.tool))
            if is_search(tool) and not needs:
                ways += [view] * (3 + 2 * depth)
            elif needs and depth >= _MAX_DEPTH:
                continue
            else:
                ways += [view] * (1 if view.single else 3 if needs else 2)
        view = draft.choose(ways)
        tool = self.protocol.tool(view.tool)
        if view.single:
            return self.only(draft, view, depth)
        if is_search(tool):
            return self._named(draft, view, depth)
        return self._chosen(draft, view, depth)

    def only(self, draft: Draft, view: ListView, depth: int = 0) -> ReachedObject:
        """The object that a tool returns, or that stands in its response."""
        reply = self.reply(draft, self.protocol.tool(view.tool), depth + 1, view)
        if reply.owner and not view.path:
            raise NoQuestion  # the owner itself
        variable = draft.let(view.noun, part(reply.call, view.path))
        phrase = list_phrase(self.views, view, reply.owner, draft.rng)
        words_of = f"{view.key.replace('_', ' ')} of {reply.owner}" if reply.owner else ""
        return ReachedObject(variable, f"the {words_of}" if words_of else phrase.item(""), view)

    def _named(self, draft: Draft, view: ListView, depth: int) -> ReachedObject:
        """An object that a search finds."""
        name = self.invented(view.noun, draft.rng)
        reply = self.reply(draft, self.protocol.tool(view.tool), depth + 1, view, name)
        variable = draft.let(view.noun, part(reply.call, (*view.path, 0)))
        return ReachedObject(variable, self.called(view.noun, name, draft.rng), view)

    def called(self, noun: str, name: str, rng: Random) -> str:
        """An object of a noun by its name, in words."""
        spoken = noun.replace("_", " ")
        quoted = _quoted(name, rng)
        options = [f"the {spoken} {quoted}", f"{spoken} {quoted}", f"the {spoken} called {quoted}", quoted, quoted]
        if is_person(noun):
            options = [name, name, name, f"the {spoken} {name}"]
        return rng.choice(options)

    def _chosen(self, draft: Draft, view: ListView, depth: int) -> ReachedObject:
        """An object out of a list: the first, the newest, or one with a name."""
        compared = [f for f in self.comparable(view) if superlative(f.name, "highest", draft.rng)]
        is_extreme = bool(compared) and draft.chance(0.4)
        items = self.items(draft, view, depth + 1, bound=False, whole=is_extreme)
        if is_own(items.whole.tool) and view.title and not is_extreme and draft.chance(0.6):
            name = draft.value(self.invented(view.noun, draft.rng))
            listed = draft.let(_list_name(view), items.node)
            item = expression(
                "next(ITEM for ITEM in ITEMS if ITEM[TITLE] == VALUE)",
                ITEM=view.item, ITEMS=listed, TITLE=constant(view.title), VALUE=constant(name),
            )  # fmt: skip
            phrase = f"{items.phrase.article} {items.phrase.before} {items.phrase.noun} {_quoted(name, draft.rng)}"
            return ReachedObject(draft.let(view.noun, item), " ".join(phrase.split()), view)
        if is_extreme:
            compared_field, order = draft.choose(compared), draft.choose(["highest", "highest", "lowest"])
            most = superlative(compared_field.name, order, draft.rng)
            if most and most.split()[-1] in items.phrase.text():
                raise NoQuestion
            listed = draft.let(_list_name(view), items.node)
            item = extreme(listed, view.item, compared_field, order)
            variable = draft.let(f"{most or order} {view.noun}", item)
            return ReachedObject(variable, items.phrase.item(most or order), view)
        position = draft.choose([0, 0, 0, 1, 2] if view.paged else [0, 0, 0, 0, 0, 1])
        variable = draft.let(view.noun, ast.Subscript(items.node, ast.Constant(position)))
        number = _ORDINALS[position]
        options = [items.phrase.item(number), f"the {number} of {items.phrase.text()}"]
        if not position:
            options += [items.phrase.item("top"), items.phrase.item("top-1"), items.phrase.item("number one")]
        return ReachedObject(variable, draft.rng.choice(options), view)

    def comparable(self, view: ListView) -> list[FieldView]:
        """The fields by which the items of a list can be compared."""
        fields = [*view.of_kind("integer", "number"), *view.dates]
        return [f for f in fields if self.filled(view, f.name) and self.varied(view, f.name)]

    def varied(self, view: ListView, name: str) -> bool:
        """True if a field has more values than a code has; or if nothing was seen of it."""
        return not self.pools or len(set(map(str, self.seen(view, name)))) > _CODES

    def repeated(self, view: ListView, name: str) -> bool:
        """True if a field has few values, each in several items, and names nothing."""
        seen = [value for value in self.seen(view, name) if value not in (None, "")]
        naming = {word for title in (view.title, "name", "title") for word in words(title)}
        return naming.isdisjoint(words(name)) and len(set(map(str, seen))) <= max(2, _COMMON * len(seen))


def extreme(items: ast.expr | str, item: str, by: FieldView, order: str) -> ast.expr:
    """The item of a list with the highest or lowest value of a field, which some items may lack."""
    key = "str(ITEM[KEY] or '')" if by.kind == "string" else "ITEM[KEY] or 0"
    pick = "max" if order == "highest" else "min"
    pattern = f"{pick}(ITEMS, key=lambda ITEM: {key})"
    return expression(pattern, ITEMS=items, ITEM=item, KEY=constant(by.name))


def _range(parameter: Parameter, schema: Mapping[str, object]) -> tuple[int, int]:
    """The least and the highest number that an argument is given."""
    if words(parameter.argument)[-1:] == ("year",):
        return 1990, _TODAY.year
    most = max([_MOST, *(2 * int(example) for example in _examples(schema) if isinstance(example, (int, float)))])
    return int(float(str(schema.get("minimum", 1)))), int(float(str(schema.get("maximum", most))))


def _examples(schema: Mapping[str, object]) -> list[object]:
    examples = schema.get("examples")
    return list(examples) if isinstance(examples, list) else []


def _is_chosen(parameter: Parameter) -> bool:
    """True if an argument takes one of some values, or a year."""
    enum = parameter.schema.get("enum")
    return (isinstance(enum, list) and len(enum) > 1) or words(parameter.argument)[-1:] == ("year",)


def _list_name(view: ListView) -> str:
    return view.key or plural("_".join(words(view.noun)) or "item")


def _quoted(name: str, rng: Random) -> str:
    return rng.choice([name, name, f'"{name}"', f"'{name}'"])
