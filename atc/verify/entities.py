"""Check that a program used the entities that the question names.

A name in the question has to lead somewhere: into a search, a comparison, or an item of that name. Of several search
results, the one with that name is meant. An identifier comes from a response or from the question.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import TypeGuard

from atc.diagnosis.provenance import lookup
from atc.verify.findings import Finding, Inspection, failed, fold, leaves, lists_in
from protocols.json_path import subscripts
from protocols.text.words import SEARCHES, words
from sandbox.records import SAFE, CallRecord

__all__ = [
    "foreign_texts",
    "hallucinated_identifier",
    "merged_names",
    "misspelt",
    "unused_name",
    "unused_search",
    "wrong_item",
]

_STOP_WORDS = frozenset("the a an of and or in on at to for by with from".split())
_MIN_SIMILARITY = 0.75
"""Similarity from which a text counts as a misspelling of words in the question."""


def unused_name(inspection: Inspection) -> Finding | None:
    """The question names an entity, and neither the program nor a value that it took has that name."""
    names = _required_names(inspection)
    used = [text for text in _used_texts(inspection) if text]
    for name in names:
        if " " not in name.strip() and not _is_evident(name, inspection):
            continue
        if any(_matches_name(text, name) for text in used):
            continue
        longer = [full for full in names if full != name and _matches_name(fold(name), fold(full))]
        if any(_matches_name(text, whole) for whole in longer for text in used):
            continue
        if _is_abbreviated(name, inspection) or _is_printed(name, inspection) or _is_selected(inspection, name):
            continue
        replacement = next(((call, value) for call, _, value in foreign_texts(inspection)), None)
        if replacement is None:
            message = f"the question is about {name!r}, and the program uses it nowhere; look for {name!r}"
            return Finding("OtherEntity", message)
        call, value = replacement
        message = f"the program asks for {value!r}, and the question is about {name!r}; write {name!r} there"
        return Finding("OtherEntity", message, call.line, call.index)
    return None


def misspelt(inspection: Inspection) -> Finding | None:
    """An argument nearly equals a name of several words in the question."""
    for call, _, value in foreign_texts(inspection):
        intended = misspelling_of(str(value), inspection.query)
        if intended is None or " " not in intended or intended == inspection.query[: len(intended)]:
            continue
        if any(
            word[:1].isupper() for word in intended.split() if word.casefold() not in _STOP_WORDS
        ):  # not `The protein`
            message = (
                f"the program asks for {value!r}, and the question is about {intended!r}; write {intended!r} there"
            )
            return Finding("OtherEntity", message, call.line, call.index)
    return None


def merged_names(inspection: Inspection) -> Finding | None:
    """A search for two entities of the question at once, as one name."""
    for call, key, value in inspection.literal_arguments:
        if not isinstance(value, str) or " and " not in value or not words(key):
            continue
        first, second = (part.strip() for part in value.split(" and ", 1))
        are_names = _is_a_name(first, inspection) and _is_a_name(second, inspection)
        if words(key)[-1] in SEARCHES and are_names and value not in inspection.entity_names:
            message = f"the program asks for {value!r} as one name; ask for {first!r} and for {second!r}, each alone"
            return Finding("OtherEntity", message, call.line, call.index)
    return None


def unused_search(inspection: Inspection) -> Finding | None:
    """The program searched for names of the question, and neither the answer nor a write depends on the results."""
    if inspection.run.provenance is None:
        return None
    name_arguments = ((call, value) for call, _, value in inspection.literal_arguments if not failed(call))
    name_calls = [(call, value) for call, value in name_arguments if _is_a_name(value, inspection)]
    used = _contributing_calls(inspection)
    if not name_calls or any(call.index in used or _is_printed(value, inspection) for call, value in name_calls):
        return None
    call, value = name_calls[0]
    message = f"the answer has nothing to do with what {call.tool or call.url} returned for {value!r}; go on from that"
    return Finding("OtherEntity", message, call.line, call.index)


def _contributing_calls(inspection: Inspection) -> set[int]:
    """The calls that the answer or a write depends on, directly or through other calls."""
    feeds: dict[int, set[int]] = {}
    for call, _, _, sources in inspection.all_arguments:
        feeds.setdefault(call.index, set()).update(source.call for source in sources)
    writes = [call.index for call in inspection.good_calls if call.method not in SAFE]
    pending = [source.call for source in inspection.printed_sources] + writes
    reached: set[int] = set()
    while pending:
        index = pending.pop()
        if index not in reached:
            reached.add(index)
            pending += feeds.get(index, ())
    return reached


def _required_names(inspection: Inspection) -> list[str]:
    """Names of the question that the program has to use.

    Words of the service itself, enum values of its fields, and argument names (`the Order Number "A7"`) are left out.
    """
    known_words: set[str] = set()
    if inspection.graph is not None:
        protocol = inspection.graph.protocol
        known_words = {fold(protocol.title), *fold(protocol.title).split(), *inspection.enum_values}
        known_words |= {word for tool in protocol.tools for word in words(tool.name)}
        arguments = [words(parameter.name) for tool in protocol.tools for parameter in tool.arguments]
        known_words |= {" ".join(parts) for parts in arguments if len(parts) > 1}
    folded_names = {name: fold(name) for name in inspection.entity_names}
    # Of one letter is what a sentence's end leaves: `12 E. Can you …`.
    return [
        name
        for name, text in folded_names.items()
        if text not in known_words and all(len(word) > 1 or word in _STOP_WORDS for word in text.split())
    ]


def _is_evident(name: str, inspection: Inspection) -> bool:
    """True if a name of one word is no mere capital: a response holds it, or the program sends another name."""
    if any(True for _ in foreign_texts(inspection)):
        return True
    return any(isinstance(value, str) and fold(value) == fold(name) for _, _, value in inspection.values)


def _used_texts(inspection: Inspection) -> list[str]:
    """The folded texts that a program holds for more than printing, and those that it sends."""
    sent = (value for _, _, value, _ in inspection.all_arguments)
    flat = (part for value in sent for part in (value if isinstance(value, list) else [value]))
    return [fold(str(text)) for text in (*(inspection.texts - inspection.printed_texts), *flat)]


def _is_printed(name: str, inspection: Inspection) -> bool:
    """True if the output holds a name that is no literal of the program's own prints."""
    own = any(name_in(fold(text), name) for text in inspection.printed_texts)
    return not own and name_in(fold(inspection.run.stdout), name)


def _matches_name(text: str, name: str) -> bool:
    """True if a folded text holds a name, or a part of it."""
    text_words, name_words = set(text.split()) - _STOP_WORDS, set(fold(name).split()) - _STOP_WORDS
    if not text_words or not name_words:
        return text == fold(name)
    return name_words <= text_words or text_words <= name_words


def name_in(text: str, name: str) -> bool:
    """True if a folded text holds the words of a name in sequence."""
    return re.search(rf"\b{re.escape(fold(name))}\b", text) is not None


def _is_abbreviated(name: str, inspection: Inspection) -> bool:
    """True if the program may hold a name as a code.

    For one word that is a code such as `FR`, `en-GB` or a genre's number; for several words it is their initials.
    """
    parts = fold(name).split()
    if len(parts) > 1:
        return "".join(part[0] for part in parts if part not in _STOP_WORDS) in {
            fold(text) for text in inspection.texts
        }
    code = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{2})?|\d{2,5}")
    return any(code.fullmatch(str(value)) for _, _, value in inspection.literal_arguments)


def _is_selected(inspection: Inspection, name: str) -> bool:
    """True if an item or object that the program took from a response has a name."""
    for source in inspection.used_sources:
        call = inspection.run.calls[source.call]
        if source.how == "decided" or failed(call):
            continue
        ends = [at + 1 for at, step in enumerate(source.path) if isinstance(step, int)]
        value = lookup(call.response, source.path)
        if not ends and not isinstance(value, (dict, list)):
            ends = [len(source.path) - 1]
        if any(_is_called(lookup(call.response, source.path[:end]), name) for end in ends):
            return True
    return False


def foreign_texts(inspection: Inspection) -> Iterator[tuple[CallRecord, str, object]]:
    """Texts that the program sends of its own and that are not in the question: call, argument, value."""
    for call, name, value in inspection.literal_arguments:
        if not isinstance(value, str) or not re.search(r"[^\W\d_]{3}", value):
            continue
        value_words = set(fold(value).split())
        if value_words and not value_words <= inspection.query_words and fold(value) not in inspection.enum_values:
            yield call, name, value


def misspelling_of(value: str, query: str) -> str | None:
    """The words of the question that a text is a misspelling of; None without any."""
    size = len(value.split())
    query_words = query.split()
    runs = [" ".join(query_words[at : at + size]).strip(" ?.,:;!\"'") for at in range(len(query_words) - size + 1)]
    closest = max(runs, key=lambda run: _similarity(value, run), default="")
    return closest if closest and _MIN_SIMILARITY <= _similarity(value, closest) < 1 else None


def _similarity(first: str, second: str) -> float:
    return SequenceMatcher(None, first.casefold(), second.casefold()).ratio()


def wrong_item(inspection: Inspection) -> Finding | None:
    """A search returned an item of the name that was searched for, and the program took another item."""
    for call in inspection.good_calls:
        searched_names = [
            value for _, value, sources in inspection.arguments(call) if not sources and _is_a_name(value, inspection)
        ]
        for path, items, _ in lists_in(inspection.response(call)):
            taken = _taken_items(inspection, call, path)
            if not taken or max(taken) >= len(items):
                continue
            for name in searched_names or (
                _target_names(inspection) if _is_picked_from_list(inspection, call, path) else ()
            ):
                bearing = [index for index, item in enumerate(items) if _is_called(item, name)]
                if bearing and not taken & set(bearing):
                    item_path = f"{subscripts(path)}[{bearing[0]}]"
                    message = (
                        f"the program took item {min(taken)} of what {call.tool or call.url} returned, and the one "
                        f"that is called {name!r} is item {bearing[0]}; take {item_path}, found by its name"
                    )
                    return Finding("OtherEntity", message, call.line, call.index, (*path, min(taken)))
                strange = _is_search(call, name, inspection) and not any(
                    _shares_word(items[position], name) for position in taken
                )
                if strange and not bearing:
                    message = (
                        f"nothing that the program took from {call.tool or call.url} is called {name!r}; "
                        f"look for {name!r} in another way"
                    )
                    return Finding("OtherEntity", message, call.line, call.index, (*path, min(taken)))
    return None


def _is_a_name(value: object, inspection: Inspection) -> TypeGuard[str]:
    """True if the question uses a text as a name, or holds it with a capital."""
    if not isinstance(value, str) or not fold(value):
        return False
    own = value[:1].isupper() and re.search(rf"\b{re.escape(value)}\b", inspection.query) is not None
    return own or fold(value) in inspection.folded_names


def _target_names(inspection: Inspection) -> list[str]:
    """Names of several words in the question, without those given to a write: they are new values."""
    written = {
        fold(str(value))
        for call, _, value, sources in inspection.all_arguments
        if call.method not in SAFE and not sources
    }
    return [name for name in inspection.entity_names if " " in name and fold(name) not in written]


def _taken_items(inspection: Inspection, call: CallRecord, path: tuple[str, ...]) -> set[int]:
    """The positions of the items that the program took from a list."""
    positions = set()
    for source in inspection.used_sources:
        step = source.path[len(path)] if len(source.path) > len(path) else None
        is_from_list = source.call == call.index and source.path[: len(path)] == path and source.how != "decided"
        if is_from_list and isinstance(step, int):
            positions.add(step)
    return positions


def _is_picked_from_list(inspection: Inspection, call: CallRecord, path: tuple[str, ...]) -> bool:
    """True if exactly one item of a list supplied arguments: the program picked it out by itself."""
    argument_sources = [
        source for _, _, _, sources in inspection.all_arguments for source in sources if source.call == call.index
    ]
    return len({source.path[: len(path) + 1] for source in argument_sources if source.how != "decided"}) == 1


def _is_called(item: object, name: str) -> bool:
    """True if a name is one of an object's own texts."""
    values = item.values() if isinstance(item, dict) else [item]
    return any(isinstance(value, str) and fold(value) == fold(name) for value in values)


def _is_search(call: CallRecord, name: str, inspection: Inspection) -> bool:
    """True if a call searches by name; other filters, a place for example, return items of other names."""
    return any(
        value == name and words(key)[-1] in SEARCHES for key, value, _ in inspection.arguments(call) if words(key)
    )


def _shares_word(item: object, name: str) -> bool:
    """True if an item holds a word of a name, or has no name of its own."""
    texts = [fold(value) for _, value in leaves(item) if isinstance(value, str)]
    name_words = set(fold(name).split()) - _STOP_WORDS
    named = isinstance(item, dict) and any(words(key)[-1:] in (("name",), ("title",), ("label",)) for key in item)
    return not name_words or not named or any(name_words & set(text.split()) for text in texts)


def hallucinated_identifier(inspection: Inspection) -> Finding | None:
    """An identifier that is neither in the question nor in a response."""
    if inspection.graph is None or inspection.run.provenance is None:
        return None
    for call, name, value in inspection.literal_arguments:
        if failed(call) or call.tool is None or isinstance(value, (bool, dict, list)) or value is None:
            continue
        if not re.search(r"\d.*\d.*\d|[A-Za-z].*\d", str(value)) or not inspection.is_literal(value):
            continue  # small numbers are counted: the second season
        if str(value).casefold() in inspection.query.casefold() or inspection.graph.reference(call.tool, name) is None:
            continue
        if not inspection.graph.providers(call.tool, name):
            continue
        if any(str(leaf) == str(value) for earlier, _, leaf in inspection.values if earlier.index < call.index):
            continue
        hint = inspection.graph.expression(inspection.graph.providers(call.tool, name)[0])
        message = f"{name}={value!r} stands neither in the question nor in a reply; take {name} from {hint}"
        return Finding("OtherEntity", message, call.line, call.index)
    return None
