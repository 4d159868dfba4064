"""Check where the values of a run went: dead calls, lost values, entries taken by their place, lists mixed up.

These rules know no API and hardly any English. They compare what the answer rests on with what the run had at hand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from atc.assist.language.api_words import MIN_WORD_LETTERS, SMALL_WORDS, tool_stems
from atc.assist.rules.findings import Inspection
from atc.assist.rules.write_reasons import PLACEHOLDER, intent_mismatch, is_dated, missing_names
from atc.evidence.finding import Finding, failed, name_of
from atc.evidence.traced_run import lists_in, orders
from atc.program.choices import choices, compares
from atc.program.def_use import calling, def_use
from atc.program.tree import nodes_of
from protocols.json_path import Step, leaves, nodes, subscripts
from protocols.text.words import fold, is_identifier, singular, stem, words
from sandbox.records import CallRecord, Source

__all__ = [
    "changed_between",
    "dead_call",
    "few_of_many",
    "foreign_write",
    "missing_value",
    "named_field",
    "no_extreme",
    "one_for_all",
    "one_of_many",
    "other_entry",
    "other_list",
    "overwritten",
    "placeholder",
    "sibling_tool",
    "taken_by_place",
    "unasked_change",
    "unasked_write",
    "unrelated_output",
    "unused_code",
    "weakened",
]

_DATE = re.compile(r"\d{4}-\d\d|/Date\(|\d\d?:\d\d")
_MIN_WRITE_CHAIN = 2
"""Calls of a write that takes a value from a reply: itself and the other one."""
_MIN_FIELDS = 3
"""Fields of an entity, at least."""
_MANY = 3
"""Items of a list of which more than one may be wanted."""


def dead_call(inspection: Inspection) -> Finding | None:
    """Nothing comes of a call, though its tool has a word of the question that no other tool of the answer has."""
    if inspection.run.provenance is None:
        return None
    live = inspection.contributing_calls
    live_words = {word for index in live for word in tool_stems(inspection.run.calls[index].tool)}
    question_words = set(inspection.question.stems)
    for call in inspection.good_calls:
        shared = tool_stems(call.tool) & question_words - live_words
        if call.index in live or call.writes or call.line in inspection.lines_behind_output:
            continue
        if (tool := inspection.tools.get(call.tool or "")) is not None and tool.gives_nothing:
            continue
        if shared:
            message = (
                f"nothing of the answer comes from {name_of(call)}, and the question speaks of it "
                f"({inspection.spoken(shared)}); print what it returned"
            )
            return Finding.of_call("DeadCall", message, call)
    return None


def _list_path(source: Source) -> tuple[Step, ...] | None:
    """The path of the innermost list that a source lies in; the step after it is the item. None outside of lists."""
    ends = [at for at, step in enumerate(source.path) if isinstance(step, int)]
    return source.path[: ends[-1]] if ends else None


def _is_limited(inspection: Inspection) -> bool:
    """True if an item taken by its place, or a part of a list, is behind the output."""
    return any(choice.kind == "limit" for choice in choices(inspection.program))


def _names_superlative(inspection: Inspection) -> bool:
    """True if a tool of the answer is named after the superlative: `top_rated`."""
    stems = {word for call in inspection.live_calls for word in tool_stems(call.tool)}
    return not inspection.superlative_stems.isdisjoint(stems)


def overwritten(inspection: Inspection) -> Finding | None:
    """A reply is replaced by another one before anything reads it."""
    flow = def_use(inspection.program)
    if flow is None:
        return None
    is_source = calling({name for name, tool in inspection.tools.items() if not tool.writes})
    for lost, replacing in flow.overwritten():
        value, other_value = lost.value, replacing.value
        if value is None or other_value is None:
            continue
        if any(map(is_source, nodes_of(value, ast.Call))) and any(map(is_source, nodes_of(other_value, ast.Call))):
            message = (
                f"line {other_value.lineno} puts another reply into {lost.name} before anything reads what line "
                f"{value.lineno} got; keep both"
            )
            return Finding("Overwritten", message, value.lineno)
    return None


def placeholder(inspection: Inspection) -> Finding | None:
    """An argument is an ellipsis or the like, which stands for a value."""
    for call, name, value in inspection.literal_arguments:
        for _, text in leaves(value):
            if isinstance(text, str) and PLACEHOLDER.fullmatch(text) and not inspection.question.says(text):
                message = f"{name}={text!r} of {name_of(call)} stands for a value; write the value of the question"
                return Finding.of_call("Placeholder", message, call)
    return None


def foreign_write(inspection: Inspection) -> Finding | None:
    """A write has a text that neither the question nor a reply holds."""
    replied = {fold(str(value)) for _, _, value in inspection.values}
    for call, _, value in inspection.literal_arguments:
        if not call.writes or failed(call):
            continue
        for _, text in leaves(value):
            if not isinstance(text, str) or fold(text) in replied or fold(text) in inspection.enum_values:
                continue
            long_words = {word for word in fold(text).split() if len(word) >= MIN_WORD_LETTERS and word.isalpha()}
            if " " in text.strip() and long_words and long_words.isdisjoint(inspection.question.folded_words):
                message = f"{name_of(call)} wrote {text[:80]!r}, which neither the question nor a reply says"
                return Finding.of_call("ForeignText", message, call)
    return None


def changed_between(inspection: Inspection) -> Finding | None:
    """The service answered the same read in two ways, and nothing was written in between."""
    replies: dict[str, CallRecord] = {}
    for call in inspection.run.calls:
        if call.writes:
            replies.clear()
        elif not failed(call):
            request = f"{call.tool or call.url} {sorted(call.arguments.items(), key=str)}"
            earlier = replies.setdefault(request, call)
            if call in inspection.live_calls and inspection.response(earlier) != inspection.response(call):
                message = f"{name_of(call)} was answered in two ways; the service changes while the program runs"
                return Finding.of_call("Changed", message, call)
    return None


def unused_code(inspection: Inspection) -> Finding | None:
    """The question has a code, such as an identifier, that the program neither sends nor compares with."""
    if inspection.run.provenance is None:
        return None
    used = [
        *(inspection.texts - inspection.printed_texts),
        *(str(value) for _, _, argument, _ in inspection.all_arguments for _, value in leaves(argument)),
    ]
    for code in inspection.question.codes:
        if not any(code.casefold() in text.casefold() for text in used):
            return Finding("OtherEntity", f"the question is about {code!r}, and the program uses it nowhere; use it")
    return None


def missing_value(inspection: Inspection) -> Finding | None:
    """Something was changed without a value that the question says: a quoted text, a number, an identifier, a date."""
    if not inspection.writes or inspection.question.is_information_request:
        return None
    calls, program = inspection.run.calls, inspection.program
    missing = missing_names(inspection.question, program, calls)
    day = inspection.question.day
    if day is not None and day not in f"{[call.arguments for call in calls]}{program}":
        missing += [day] if not is_dated(day, program, calls) else []
    if not missing:
        return None
    message = f"the question says {missing[0]!r}, and neither the program nor a call uses it"
    return Finding.of_call("OtherEntity", message, inspection.writes[-1])


def unasked_change(inspection: Inspection) -> Finding | None:
    """The question only asks, and the program changed something."""
    if inspection.graph is None or not inspection.question.is_information_request:
        return None
    for call in inspection.good_calls:
        tool = inspection.tools.get(call.tool or "")
        if tool is not None and intent_mismatch(inspection.question, tool, inspection.graph.protocol):
            message = f"the question only asks, and {name_of(call)} changes something; leave it out"
            return Finding.of_call("UnaskedWrite", message, call)
    return None


def unasked_write(inspection: Inspection) -> Finding | None:
    """Of several operations that write, one shares no word with the question."""
    if len({call.tool for call in inspection.writes}) < 2 or not inspection.knows_writes:
        return None
    question_words = set(inspection.question.stems)
    for call in inspection.writes:
        tool = inspection.tools.get(call.tool or "")
        named = {stem(word) for word in words(f"{call.tool} {tool.summary if tool else ''}")} - SMALL_WORDS
        argument_stems = {stem(word) for _, value in leaves(call.arguments) for word in words(str(value))}
        if question_words.isdisjoint(named) and question_words.isdisjoint(argument_stems - SMALL_WORDS):
            message = f"{name_of(call)} changed something that the question does not speak of"
            return Finding.of_call("UnaskedWrite", message, call)
    return None


def unrelated_output(inspection: Inspection) -> Finding | None:
    """The program wrote with what some calls returned, and printed from calls that have nothing to do with them."""
    if inspection.graph is not None and not inspection.knows_writes:
        return None
    printed = {source.call for source in inspection.data_sources}
    written: set[int] = set()
    for call, _, _, sources in inspection.all_arguments:
        if call.writes and not failed(call):
            written |= {call.index, *(source.call for source in sources)}
    if not printed or len(written) < _MIN_WRITE_CHAIN or not inspection.related(printed).isdisjoint(written):
        return None
    looked_up = {
        call.index for call, _, value in inspection.literal_arguments if fold(str(value)) in inspection.folded_names
    }
    if inspection.sources_of(printed).isdisjoint(looked_up):
        return None  # it reads what the write left
    call = inspection.run.calls[min(printed)]
    message = f"what was written does not come from {name_of(call)}, from which the answer was printed; use one of both"
    return Finding.of_call("UnaskedWrite", message, call)


def taken_by_place(inspection: Inspection) -> Finding | None:
    """The question asks for an extreme, and the entry was taken by its place, where no field makes it the extreme."""
    if not inspection.question.asks_for_extreme or compares(inspection.tree):
        return None
    if not _is_limited(inspection) or _names_superlative(inspection):
        return None
    for call, path, items, index in _taken_entries(inspection):
        if any(map(orders, inspection.live_calls)) and (not orders(call) or len(items) < _MANY):
            continue
        if len(items) > 1 and not _is_extreme(items, index):
            message = (
                f"the question asks for an extreme, and the program took item {index} of the list "
                f"{subscripts(path)} of {name_of(call)} by its place; compare the items"
            )
            return Finding.of_call("TakenByPlace", message, call, (*path, index))
    return None


def _taken_entries(inspection: Inspection) -> Iterator[tuple[CallRecord, tuple[Step, ...], list[object], int]]:
    """The entries of lists that printed values and arguments were taken from, where it is one of each list."""
    places: dict[tuple[int, tuple[Step, ...]], set[int]] = {}
    for source in inspection.used_sources:
        if source.how == "decided":
            continue
        for at, step in enumerate(source.path):
            if isinstance(step, int):
                places.setdefault((source.call, source.path[:at]), set()).add(step)
    for (call_index, path), indices in places.items():
        call = inspection.run.calls[call_index]
        items = inspection.value_at(call, path)
        if len(indices) == 1 and isinstance(items, list):
            yield call, path, items, indices.pop()


def _is_extreme(items: list[object], index: int) -> bool:
    """True if an item is the greatest or least of a list by a number or a date in it."""
    fields: dict[tuple[Step, ...], dict[int, object]] = {}
    for place, item in enumerate(items):
        for path, value in leaves(item):
            key = next((step for step in reversed(path) if isinstance(step, str)), "")
            date = isinstance(value, str) and _DATE.match(value) is not None
            number = isinstance(value, int | float) and not isinstance(value, bool) and not is_identifier(key)
            if date or number:
                fields.setdefault(path, {})[place] = value
    return any(_is_extreme_value(values.get(index), list(values.values())) for values in fields.values())


def _is_extreme_value(value: object, values: list[object]) -> bool:
    """True if a value is the greatest or least of several different numbers or texts."""
    comparable = [other for other in values if isinstance(other, str) == isinstance(value, str)]
    if value is None or len(set(map(str, comparable))) == 1:
        return False
    return value in (max(comparable), min(comparable))  # type: ignore[type-var]


def other_entry(inspection: Inspection) -> Finding | None:
    """An entry was taken by its place, and another one of its list has a text of the question in a field of both."""
    if not _is_limited(inspection):
        return None
    question_text = f" {fold(inspection.question.text)} "
    for call, path, items, index in _taken_entries(inspection):
        own = dict(leaves(items[index])) if index < len(items) else {}
        if not own or not isinstance(items[index], dict) or len(own) < _MIN_FIELDS:
            continue  # a cell of a table
        for place, item in enumerate(items):
            for field, value in leaves(item):
                text, own_text = fold(str(value)), fold(str(own.get(field, "")))
                if place == index or not isinstance(value, str) or len(text) < MIN_WORD_LETTERS:
                    continue
                if inspection.question.yes_or_no and text in inspection.enum_values:
                    continue  # whether it is so is what the question asks
                if own_text and f" {text} " in question_text and f" {own_text} " not in question_text:
                    message = (
                        f"the program took item {index} of {subscripts(path)} of {name_of(call)} by its place, where "
                        f"{subscripts(field)} is {own.get(field)!r}; the question says {value!r}, which is item {place}"
                    )
                    return Finding.of_call("OtherEntity", message, call, (*path, index))
    return None


def one_for_all(inspection: Inspection) -> Finding | None:
    """The question is about all of a list, and the program went on from one entry that it took by its place."""
    if not inspection.question.asks_for_all:
        return None
    if not _is_limited(inspection) or any(choice.kind != "limit" for choice in choices(inspection.program)):
        return None
    for call, path, items, index in _taken_entries(inspection):
        if len(items) > 1 and any(
            source.call == call.index for *_, sources in inspection.all_arguments for source in sources
        ):
            message = (
                f"the question is about all, and the program went on from item {index} of the {len(items)} items of "
                f"{subscripts(path)} of {name_of(call)} alone; go through all of them"
            )
            return Finding.of_call("OneOfMany", message, call, path)
    return None


def sibling_tool(inspection: Inspection) -> Finding | None:
    """The answer comes from one list of an entity, and the question names another one that it has."""
    reads = {name: tool for name, tool in inspection.tools.items() if not tool.writes}
    question_words = set(inspection.question.stems)
    asked_nouns = {singular(word) for word in inspection.question.words if len(word) >= MIN_WORD_LETTERS}
    live = [reads[call.tool] for call in inspection.live_calls if call.tool in reads]
    live_words = {word for call in inspection.live_calls for word in tool_stems(call.tool)}
    for tool in live:
        parent, _, last = tool.path.rstrip("/").rpartition("/")
        if "{" not in parent or "{" in last or not question_words.isdisjoint(map(stem, words(last))):
            continue
        for other in reads.values():
            other_parent, _, other_last = other.path.rstrip("/").rpartition("/")
            noun = singular(words(other_last)[-1]) if words(other_last) else ""
            if (
                other_parent == parent
                and "{" not in other_last
                and noun in asked_nouns
                and stem(noun) not in live_words
            ):
                message = f"the answer comes from {tool.name}, and the question asks for {noun}; call {other.name}"
                return Finding("OtherEntity", message)
    return None


def no_extreme(inspection: Inspection) -> Finding | None:
    """The question asks for an extreme, and nothing in the program or its calls chooses one from a list."""
    if not inspection.question.asks_for_extreme or inspection.run.provenance is None:
        return None
    made = choices(inspection.program)
    if compares(inspection.tree) or any(choice.kind != "filter" for choice in made):
        return None
    if any(map(orders, inspection.live_calls)) or _names_superlative(inspection):
        return None
    for call in inspection.live_calls:
        if not call.writes and any(len(items) > 1 for _, items, _ in lists_in(inspection.response(call), 3)):
            superlatives = ", ".join(inspection.question.superlative_words)
            message = f"the question asks for an extreme ({superlatives}), and the program compares nothing; compare"
            return Finding.of_call("TakenByPlace", message, call)
    return None


def one_of_many(inspection: Inspection) -> Finding | None:
    """The question asks for several, and every printed value was taken from one item of a list by its place."""
    if not inspection.question.asks_for_several or len(inspection.lines) > 1:
        return None
    if not _is_limited(inspection) or any(choice.kind == "filter" for choice in choices(inspection.program)):
        return None  # a filter may well leave one
    lists: dict[tuple[int, tuple[Step, ...]], set[Step]] = {}
    for source in inspection.data_sources:
        list_path = _list_path(source)
        if list_path is None:
            return None
        lists.setdefault((source.call, list_path), set()).add(source.path[len(list_path)])
    for (call_index, path), indices in lists.items():
        call = inspection.run.calls[call_index]
        items = inspection.value_at(call, path)
        if len(lists) == 1 and len(indices) == 1 and isinstance(items, list) and len(items) > 1:
            message = (
                f"the question asks for several, and the program printed one of the {len(items)} items of "
                f"{subscripts(path)} of {name_of(call)}; print all that are meant"
            )
            return Finding.of_call("OneOfMany", message, call, path)
    return None


def few_of_many(inspection: Inspection) -> Finding | None:
    """The question asks for a few, and one value of a list was printed."""
    if not inspection.question.asks_for_a_few or len(inspection.lines) != 1:
        return None
    entries = {
        (source.call, source.path[: len(list_path) + 1])
        for source in inspection.data_sources
        if (list_path := _list_path(source)) is not None
    }
    if len(entries) != 1:
        return None
    call_index, path = entries.pop()
    call = inspection.run.calls[call_index]
    items = inspection.value_at(call, path[:-1])
    if not isinstance(items, list) or len(items) < _MANY:
        return None
    message = f"the question asks for several, and the program printed one value of {name_of(call)}; print more"
    return Finding.of_call("OneOfMany", message, call, path)


def named_field(inspection: Inspection) -> Finding | None:
    """A reply has a field that the question names, and the answer comes from another place."""
    question_text = " ".join(inspection.question.words)
    printed_keys = {step for source in inspection.printed_sources for step in source.path}
    for call in inspection.live_calls:
        for path, value in nodes(inspection.response(call)):
            key = path[-1] if path else None
            if not isinstance(key, str) or key in printed_keys or not isinstance(value, list) or not value:
                continue
            phrase = words(key)
            if len(phrase) > 1 and " ".join(phrase) in question_text and printed_keys:
                message = (
                    f"the question says {' '.join(phrase)!r}, and the answer does not come from the field {key!r} of "
                    f"{name_of(call)}; print what it has"
                )
                return Finding.of_call("OtherList", message, call, path)
    return None


def other_list(inspection: Inspection) -> Finding | None:
    """The printed items come from one list of a reply, and a list beside it has items with a word of the question."""
    question_words = {word for word in inspection.question.stems if len(word) >= MIN_WORD_LETTERS}
    for source in inspection.data_sources:
        call, path = inspection.run.calls[source.call], _list_path(source)
        if not path:
            continue
        around = inspection.value_at(call, path[:-1])
        if not isinstance(around, dict):
            continue
        own_words = {*_item_words(around.get(str(path[-1]))), *map(stem, words(str(path[-1])))}
        for key, items in around.items():
            wanted = _item_words(items) & question_words - own_words if key != path[-1] else set()
            if isinstance(items, list) and wanted:
                message = (
                    f"the program printed from the list {subscripts(path)} of {name_of(call)}, and the list {key!r} "
                    f"beside it has what the question asks for ({inspection.spoken(wanted)}); look there"
                )
                return Finding.of_call("OtherList", message, call, path)
    return None


def _item_words(items: object) -> set[str]:
    """The stems of one-word texts in the items of a list: `Director` of `{"job": "Director"}`."""
    texts = [value for _, value in leaves(items) if isinstance(value, str)] if isinstance(items, list) else []
    return {stem(fold(text)) for text in texts if text.isalpha()}


def weakened(inspection: Inspection) -> Finding | None:
    """An earlier program of the solve had conditions, and the last one has none of them."""
    for earlier in inspection.earlier_programs:
        conditions = [choice.text for choice in choices(earlier) if choice.kind == "filter"]
        conditions_now = [choice for choice in choices(inspection.program) if choice.kind in ("filter", "order")]
        if conditions and not conditions_now and not any(orders(call) for call in inspection.live_calls):
            message = f"an earlier program chose by {conditions[0][:80]}, and this one has no condition; choose again"
            return Finding("Weakened", message)
    return None
