"""Questions about what an API returns, each with the program that answers it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from random import Random
from typing import cast

from benchmarks.learning.pairs.code import constant, expression, part, request
from benchmarks.learning.pairs.draft import Draft, NoQuestion, QuestionPair
from benchmarks.learning.pairs.phrases import list_phrase
from benchmarks.learning.pairs.reach import ItemList, Reach, extreme
from benchmarks.learning.pairs.views import FieldView, ListView
from benchmarks.learning.pairs.wording import (
    counted,
    field_phrase,
    is_person,
    is_place,
    is_short,
    ordering,
    plural,
    plural_field,
    possessive,
    spoken,
    superlative,
    template,
)
from protocols.model import Tool
from protocols.text.words import singular, words

__all__ = ["ReadQuestions"]

_FEW = (2, 3, 3, 4, 5)


class ReadQuestions:
    """Questions about the responses of the reading tools."""

    def __init__(self, reach: Reach) -> None:
        self.reach = reach
        self.views = reach.views
        self._of_list: tuple[tuple[Callable[[Draft, ListView], QuestionPair], int], ...] = (
            (self.titles, 5),
            (self.count, 2),
            (self.extreme_item, 4),
            (self.filtered, 3),
            (self.each_detail, 3),
            (self.both, 3),
        )
        self._of_object: tuple[tuple[Callable[[Draft, ListView], QuestionPair], int], ...] = (
            (self.detail, 6),
            (self.both, 4),
        )

    def ask(self, tool: Tool, rng: Random) -> QuestionPair:
        """A question that a tool answers in the end. Raises: NoQuestion."""
        draft = Draft(rng)
        lists = self.views.of_tool(tool.name)
        thing = self.views.object_of(tool.name)
        if thing is not None and (not lists or rng.random() < 0.6) and thing.fields:
            return draft_with(draft, self._of_object)(draft, thing)
        return draft_with(draft, self._of_list)(draft, draft.choose(lists))

    # One object -----------------------------------------------------------------------------------------------------

    def detail(self, draft: Draft, view: ListView) -> QuestionPair:
        """A field of an object."""
        phrase, node, field = self._field_of(draft, view)
        draft.add("print(VALUE)", VALUE=part(node, [field.name]))
        return self._finished(draft, self._field_question(draft, field, phrase))

    def both(self, draft: Draft, view: ListView) -> QuestionPair:
        """A field or list of an object, and a list that another tool returns for it."""
        tool = self.reach.protocol.tool(view.tool)
        entity, argument = self._only_need(tool)
        further = [
            (taker, self._only_need(taker)[1], inner)
            for taker in self.views.takers.get(entity, ())
            for inner in self.views.of_tool(taker.name)
            if inner.title and taker.name != tool.name and sum(p.required for p in taker.arguments) == 1
        ]
        other_tool, other_argument, inner = draft.choose(further)
        subject = self.reach.subject(draft, entity, 0, tool.name)
        phrases, printed = [], []
        for used, name, shown in ((tool, argument, view), (other_tool, other_argument, inner)):
            reference = self.views.graph.reference(used.name, name)
            key = subject.view.key_for(reference.attribute if reference is not None else "id")
            call = part(self._call(draft, used, {name: part(subject.variable, [key])}), shown.path)
            phrase, value = self._shown(draft, used, shown, call)
            phrases.append(phrase)
            printed.append(value)
        draft.add("print(FIRST, SECOND)", FIRST=printed[0], SECOND=printed[1])
        texts = {"field": phrases[0], "second": phrases[1]}
        return self._finished(draft, self._text(draft, "fields", texts, subject.phrase))

    def _shown(self, draft: Draft, tool: Tool, view: ListView, node: ast.expr) -> tuple[str, ast.expr]:
        """A field of an object, or the names in a list, in words and as an expression."""
        if (view.single and view.path) or (is_person(view.key) and not is_person(view.noun)):
            raise NoQuestion  # the words would be those of something else
        if view.single:
            field = draft.choose(self._fields(view))
            return field_phrase(field.name, draft.rng), part(node, [field.name])
        words_of = self._listed_words(view, tool)
        count = draft.choose(_FEW) if view.paged or draft.chance(0.3) else 0
        items = expression("ITEMS[:COUNT]", ITEMS=node, COUNT=constant(count)) if count else node
        parts: dict[str, ast.expr | str] = {"ITEM": view.item, "ITEMS": items}
        parts["TITLE"] = constant(draft.choose([view.title] if view.title else []))
        names = expression("[ITEM[TITLE] for ITEM in ITEMS]", **parts)
        return (f"first {count} {words_of}" if count else words_of), names

    # Lists ----------------------------------------------------------------------------------------------------------

    def titles(self, draft: Draft, view: ListView) -> QuestionPair:
        """The names in a list: all, the first few, or the first."""
        items = self._items(draft, view)
        field = self._named_by(draft, view)
        item = view.item
        phrase = items.phrase.text() if field == view.title else f"the {plural_field(field)} of {items.phrase.text()}"
        values: dict[str, str] = {"list": phrase}
        if (view.paged and draft.chance(0.8)) or draft.chance(0.4):
            if draft.chance(0.3):
                draft.add("print(VALUE)", VALUE=part(items.node, [0, field]))
                text = items.phrase.item(draft.choose(["first", "top", "first"]))
                values["list"] = text if field == view.title else f"the {field_phrase(field, draft.rng)} of {text}"
                return self._finished(draft, self._text(draft, "item", values, ""))
            count = draft.choose(_FEW)
            pattern = "print([ITEM[KEY] for ITEM in ITEMS[:COUNT]])"
            draft.add(pattern, ITEM=item, KEY=constant(field), ITEMS=items.node, COUNT=constant(count))
            text = items.phrase.text(count)
            values["list"] = text if field == view.title else f"the {plural_field(field)} of {text}"
            return self._finished(draft, self._text(draft, "list", values, ""))
        draft.add("print([ITEM[KEY] for ITEM in ITEMS])", ITEM=item, KEY=constant(field), ITEMS=items.node)
        name = "some" if view.paged else "who list" if is_person(view.noun) and field == view.title else "list"
        return self._finished(draft, self._text(draft, name, values, ""))

    def count(self, draft: Draft, view: ListView) -> QuestionPair:
        """How many items a list has, by the service's own number where it has more pages."""
        items = self.reach.items(draft, view, bound=False)
        if view.paged:
            total = draft.choose([view.total] if view.total else [])
            draft.add("print(VALUE)", VALUE=part(items.whole.call, [*view.path[:-1], total]))
        else:
            draft.add("print(len(ITEMS))", ITEMS=items.node)
        return self._finished(draft, self._text(draft, "count", {"list": items.phrase.text()}, ""))

    def extreme_item(self, draft: Draft, view: ListView) -> QuestionPair:
        """The newest or highest of a list."""
        field, order, most = self._comparison(draft, view)
        items = self._items(draft, view, whole=True)
        if most and most.split()[-1] in items.phrase.text().split():
            raise NoQuestion
        title = self._named_by(draft, view)
        best = extreme(items.node, view.item, field, order)
        name = most or "best"
        values = {"list": items.phrase.text(), "most": name, "order": ordering(order, field.is_date, draft.rng)}
        values["field"] = field_phrase(field.name, draft.rng)
        if draft.chance(0.5):
            variable = draft.let(f"{name} {view.noun}", best)
            best = ast.Name(variable)
        draft.add("print(VALUE)", VALUE=part(best, [title]))
        form_of = "extreme" if most and draft.chance(0.7) else "extreme field"
        return self._finished(draft, self._text(draft, form_of, values, ""))

    def filtered(self, draft: Draft, view: ListView) -> QuestionPair:
        """The items with a value."""
        field, value = draft.choose(self._common_values(view))
        items = self._items(draft, view, whole=True)
        parts: dict[str, ast.expr | str] = {
            "ITEM": view.item,
            "ITEMS": items.node,
            "KEY": constant(field.name),
            "VALUE": constant(value),
        }
        values = {
            "list": items.phrase.text(),
            "field": field_phrase(field.name, draft.rng),
            "value": draft.value(value),
        }
        title = constant(self._named_by(draft, view))
        draft.add("print([ITEM[TITLE] for ITEM in ITEMS if ITEM[KEY] == VALUE])", TITLE=title, **parts)
        return self._finished(draft, self._text(draft, "where", values, ""))

    # Loops ----------------------------------------------------------------------------------------------------------

    def each_detail(self, draft: Draft, view: ListView) -> QuestionPair:
        """A field of each of the first few items, from a call for each."""
        tool, argument, inner = self._further(draft, view)
        field = draft.choose([f for f in self._fields(inner) if f.name not in view.fields])
        items, phrase, item = self._looped(draft, view)
        with draft.loop(item, items):
            call = self._call(draft, tool, {argument: part(item, [view.id_key])})
            self._print_with(draft, view, item, part(call, [*inner.path, field.name]))
        values = {"list": phrase, "field": field_phrase(field.name, draft.rng)}
        return self._finished(draft, self._text(draft, "each", values, ""))

    # Parts of them --------------------------------------------------------------------------------------------------

    def _finished(self, draft: Draft, question: str) -> QuestionPair:
        return draft.pair(spoken(question, draft.rng))

    def _text(self, draft: Draft, name: str, values: Mapping[str, str], subject: str) -> str:
        subjects = {"subject": subject} if subject else {}
        if subject and is_short(subject):
            subjects["possessive"] = possessive(subject)
        return template(name, draft.rng, {**subjects, **values})

    def _field_question(self, draft: Draft, field: FieldView, phrase: str) -> str:
        number = counted(field.name)
        if number and draft.chance(0.9):
            return self._text(draft, "number", {"field": number}, phrase)
        name = "date" if field.is_date else "place" if is_place(field.name) else "field"
        return self._text(draft, name, {"field": field_phrase(field.name, draft.rng)}, phrase)

    def _field_of(self, draft: Draft, view: ListView) -> tuple[str, ast.expr, FieldView]:
        """An object in words and as an expression, and a field of it."""
        tool = self.reach.protocol.tool(view.tool)
        field = draft.choose(self._fields(view))
        reply = self.reach.reply(draft, tool, 0, view)
        if not reply.owner:
            thing = self.reach.views.object_of(view.tool)
            assert thing is not None
            return list_phrase(self.views, view, "", draft.rng).item(""), part(reply.call, view.path), field
        node = part(reply.call, view.path)
        if draft.chance(0.6):
            node = ast.Name(draft.let("details" if draft.chance(0.6) else f"{view.noun} details", node))
        return reply.owner, node, field

    def _fields(self, view: ListView) -> list[FieldView]:
        """The fields that a question may ask for."""
        plain = [*view.of_kind("string", "integer", "number"), *view.dates]
        return [f for f in plain if self.reach.filled(view, f.name)]

    def _named_by(self, draft: Draft, view: ListView) -> str:
        """The field that names the items of a list, or any that says something of them."""
        if view.title:
            return view.title
        return draft.choose([f for f in view.of_kind("string") if self.reach.filled(view, f.name)]).name

    def _items(self, draft: Draft, view: ListView, whole: bool = False) -> ItemList:
        return self.reach.items(draft, view, bound=draft.chance(0.75), whole=whole)

    def _comparison(self, draft: Draft, view: ListView) -> tuple[FieldView, str, str | None]:
        """A field to compare by, the order, and its superlative."""
        field, order = draft.choose(self.reach.comparable(view)), draft.choose(["highest", "highest", "lowest"])
        return field, order, superlative(field.name, order, draft.rng)

    def _common_values(self, view: ListView) -> list[tuple[FieldView, object]]:
        """Values that several items of a list may have."""
        common: list[tuple[FieldView, object]] = []
        for field in view.of_kind("string"):
            seen = [value for value in self.reach.seen(view, field.name) if value not in (None, "")]
            options = dict.fromkeys(value for value in seen if isinstance(value, str) and len(value) <= 30)
            if len(options) > 1 and self.reach.repeated(view, field.name):
                common += [(field, value) for value in options]
        return common

    def _only_need(self, tool: Tool) -> tuple[str, str]:
        """The noun and the name of the only required argument, an identifier. Raises: NoQuestion."""
        required = [p.argument for p in tool.arguments if p.required]
        reference = self.views.graph.reference(tool.name, required[0]) if len(required) == 1 else None
        if reference is None:
            raise NoQuestion
        return reference.noun, required[0]

    def _call(self, draft: Draft, tool: Tool, arguments: Mapping[str, ast.expr]) -> ast.expr:
        draft.tools.append(tool.name)
        return request(tool.name, arguments)

    def _further(self, draft: Draft, view: ListView) -> tuple[Tool, str, ListView]:
        """A tool that tells more of each item of a list: its object."""
        options = []
        for tool in self.views.takers.get(view.entity, ()):
            try:
                _, argument = self._only_need(tool)
            except NoQuestion:
                continue
            inner = self.views.object_of(tool.name)
            options += [(tool, argument, inner)] if inner is not None and tool.name != view.tool else []
        return draft.choose(options)

    def _looped(self, draft: Draft, view: ListView) -> tuple[ast.expr, str, str]:
        """The first few items of a list, for a loop: as an expression, in words, and the variable of each."""
        items = self._items(draft, view)
        count = draft.choose(_FEW[:4])
        first = expression("ITEMS[:COUNT]", ITEMS=items.node, COUNT=constant(count))
        return first, items.phrase.text(count), draft.variable(view.item)

    def _print_with(self, draft: Draft, view: ListView, item: str, value: ast.expr) -> None:
        """Print a value with the name of its item."""
        if view.title:
            draft.add("print(NAME, VALUE)", NAME=part(item, [view.title]), VALUE=value)
        else:
            draft.add("print(VALUE)", VALUE=value)

    def _listed_words(self, view: ListView, tool: Tool) -> str:
        """What a list holds, as the things that somebody has."""
        if view.key:
            return " ".join(words(view.key))
        last = [segment for segment in tool.path.split("/") if segment and "{" not in segment][-1]
        text = " ".join(words(last))
        is_many = singular(words(last)[-1]) != words(last)[-1]
        noun = view.noun.replace("_", " ")
        return text if is_many else f"{text} {plural(noun)}"


def draft_with(
    draft: Draft, weighted: tuple[tuple[Callable[[Draft, ListView], QuestionPair], int], ...]
) -> Callable[[Draft, ListView], QuestionPair]:
    """One of some kinds of questions, by their weights."""
    kinds, weights = zip(*weighted, strict=True)
    [kind] = draft.rng.choices(kinds, weights)
    return cast("Callable[[Draft, ListView], QuestionPair]", kind)
