"""Check that a program used the entities that the question names.

A name in the question has to lead somewhere: into a search, a comparison, or an item of that name. Of several search
results, the one with that name is meant. An identifier comes from a response or from the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeGuard

from atc.assist.rules.inspection import Inspection
from atc.diagnosis.provenance import failed, lists_in, lookup
from atc.evidence.answers import Finding, name_of
from protocols.json_path import leaves, subscripts
from protocols.text.words import SEARCHES, TEXTS, fold, words
from sandbox.records import CallRecord

__all__ = [
    "merged_names",
    "unused_name",
    "unused_search",
    "wrong_item",
]

_STOP_WORDS = TEXTS["articles"] | TEXTS["small words"]
_CODE = re.compile(r"(?=.*\d)[\w-]{4,}")
"""A code or a long number, which tells one entity from all others."""
_MIN_SIMILARITY = 0.75
"""Similarity from which a text counts as a misspelling of words in the question."""


def unused_name(inspection: Inspection) -> Finding | None:
    """The question names an entity, and neither the program nor a value that it took has that name."""
    names = _required_names(inspection)
    used = list(filter(None, _used_texts(inspection)))
    for name in names:
        if " " not in name.strip() and not _is_evident(name, inspection):
            continue
        wholes = [whole for whole in names if _matches_name(_spaced(name), whole)]
        if any(_matches_name(text, whole) for whole in wholes for text in used):
            continue
        if _is_abbreviated(name, inspection) or _is_printed(name, inspection) or _is_selected(inspection, name):
            continue
        if not inspection.foreign_texts:
            if _has_code(inspection):
                continue
            message = f"the question is about {name!r}, and the program uses it nowhere; look for {name!r}"
            return Finding("OtherEntity", message)
        call, _, value = inspection.foreign_texts[0]
        return _replaced_name(call, value, name)
    return None


def _has_code(inspection: Inspection) -> bool:
    """True if the answer rests on a call with a code or number of the question: what it names need not be sought."""
    return any(
        call.index in inspection.contributing_calls and _CODE.fullmatch(str(value)) and inspection.question.says(value)
        for call, _, argument in inspection.literal_arguments
        for _, value in leaves(argument)
    )


def _replaced_name(call: CallRecord, value: str, name: str) -> Finding:
    message = f"the program asks for {value!r}, and the question is about {name!r}; write {name!r} there"
    return Finding.of_call("OtherEntity", message, call)


def merged_names(inspection: Inspection) -> Finding | None:
    """A search for two entities of the question at once, as one name."""
    for call, key, value in inspection.literal_arguments:
        if not isinstance(value, str) or value in inspection.entity_names or not SEARCHES.intersection(words(key)[-1:]):
            continue
        first, joined, second = (part.strip() for part in value.partition(" and "))
        if joined and _is_a_name(first, inspection) and _is_a_name(second, inspection):
            message = f"the program asks for {value!r} as one name; ask for {first!r} and for {second!r}, each alone"
            return Finding.of_call("OtherEntity", message, call)
    return None


def unused_search(inspection: Inspection) -> Finding | None:
    """The program searched for names of the question, and neither the answer nor a write depends on the results."""
    if inspection.run.provenance is None:
        return None
    searches = [
        (call, value)
        for call, _, value in inspection.literal_arguments
        if not failed(call) and _is_a_name(value, inspection)
    ]
    used = inspection.contributing_calls
    if not searches or any(call.index in used or _is_printed(value, inspection) for call, value in searches):
        return None
    call, value = searches[0]
    message = f"the answer has nothing to do with what {name_of(call)} returned for {value!r}; go on from that"
    return Finding.of_call("OtherEntity", message, call)


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
        known_words |= {word for parts in arguments for word in parts}
    folded_names = {name: fold(name) for name in inspection.entity_names}
    # Of one letter is what a sentence's end leaves: `12 E. Can you …`.
    return [
        name
        for name, text in folded_names.items()
        if text not in known_words and not known_words.issuperset(text.split())
        if known_words.isdisjoint({text.replace(" ", ""), f"{text.replace(' ', '')}s"})
        if all(len(word) > 1 or word in _STOP_WORDS for word in text.split())
    ]


def _is_evident(name: str, inspection: Inspection) -> bool:
    """True if a name of one word is no mere capital: a response holds it, or the program sends another name.

    The first word of a sentence has a capital in any case.
    """
    within = re.search(rf"(?<=[^.?!:]\s){re.escape(name)}\b", inspection.question.text) is not None
    return (bool(inspection.foreign_texts) and within) or any(
        isinstance(value, str) and fold(value) == fold(name) for _, _, value in inspection.values
    )


def _used_texts(inspection: Inspection) -> Iterator[str]:
    """The folded texts that a program holds for more than printing, and those that it sends; `ana_bell` is a name."""
    texts = [*(inspection.texts - inspection.printed_texts)]
    for _, _, value, _ in inspection.all_arguments:
        texts += map(str, value if isinstance(value, list) else [value])
    yield from map(_spaced, texts)


def _spaced(text: str) -> str:
    """A folded text with spaces for underscores."""
    return fold(text.replace("_", " "))


def _is_printed(name: str, inspection: Inspection) -> bool:
    """True if the output holds the words of a name, and no literal of the program's own prints does."""
    pattern = re.compile(rf"\b{re.escape(fold(name))}\b")
    own = any(pattern.search(fold(text)) for text in inspection.printed_texts)
    return not own and pattern.search(fold(inspection.run.stdout)) is not None


def _matches_name(text: str, name: str) -> bool:
    """True if a folded text holds a name, or a part of it. Both have spaces for underscores."""
    folded = _spaced(name)
    text_words, name_words = set(text.split()) - _STOP_WORDS, set(folded.split()) - _STOP_WORDS
    if not text_words or not name_words:
        return text == folded
    return name_words <= text_words or text_words <= name_words


def _is_abbreviated(name: str, inspection: Inspection) -> bool:
    """True if the program may hold a name as a code.

    For one word that is a code such as `FR`, `en-GB` or a genre's number; for several words it is their initials, as a
    text or as a word of a tool that was called.
    """
    parts = fold(name).split()
    if len(parts) > 1:
        initials = "".join(part[0] for part in parts if part not in _STOP_WORDS)
        called = {word for call in inspection.good_calls for word in words(call.tool or "")}
        return initials in called or initials in map(fold, inspection.texts)
    code = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{2})?|\d{2,5}")
    return any(code.fullmatch(str(value)) for _, _, value in inspection.literal_arguments)


def _is_selected(inspection: Inspection, name: str) -> bool:
    """True if an item or object that the program took from a response has a name."""
    for source in inspection.used_sources:
        call = inspection.run.calls[source.call]
        if source.how == "decided" or failed(call):
            continue
        ends = [at + 1 for at, step in enumerate(source.path) if isinstance(step, int)]
        value = inspection.value_of(source)
        if not ends and not isinstance(value, (dict, list)):
            ends = [len(source.path) - 1]
        if any(_is_called(lookup(inspection.response(call), source.path[:end]), name) for end in ends):
            return True
    return False


def wrong_item(inspection: Inspection) -> Finding | None:
    """A search returned an item of the name that was searched for, and the program took another item."""
    for call in inspection.good_calls:
        searched = [
            value for _, value, sources in inspection.arguments(call) if not sources and _is_a_name(value, inspection)
        ]
        for path, items, _ in lists_in(inspection.response(call)):
            taken = _taken_items(inspection, call, path)
            if not taken or max(taken) >= len(items):
                continue
            picked = not searched and _is_picked_from_list(inspection, call, path)
            for name in _target_names(inspection) if picked else searched:
                bearing = [index for index, item in enumerate(items) if _is_called(item, name)]
                if taken.intersection(bearing):
                    continue
                if bearing:
                    item = subscripts((*path, bearing[0]))
                    message = (
                        f"the program took item {min(taken)} of what {name_of(call)} returned, and the one that is "
                        f"called {name!r} is item {bearing[0]}; take {item}, found by its name"
                    )
                elif _is_search(call, name, inspection) and not any(_shares_word(items[at], name) for at in taken):
                    message = (
                        f"nothing that the program took from {name_of(call)} is called {name!r}; "
                        f"look for {name!r} in another way"
                    )
                else:
                    continue
                return Finding.of_call("OtherEntity", message, call, (*path, min(taken)))
    return None


def _is_a_name(value: object, inspection: Inspection) -> TypeGuard[str]:
    """True if the question uses a text as a name, or holds it with a capital."""
    if not isinstance(value, str) or not fold(value):
        return False
    own = value[:1].isupper() and re.search(rf"\b{re.escape(value)}\b", inspection.question.text) is not None
    return own or fold(value) in inspection.folded_names


def _target_names(inspection: Inspection) -> list[str]:
    """Names of several words in the question, without those given to a write: they are new values."""
    written = {fold(str(value)) for call, _, value, sources in inspection.all_arguments if call.writes and not sources}
    return [name for name in inspection.entity_names if " " in name and fold(name) not in written]


def _taken_items(inspection: Inspection, call: CallRecord, path: tuple[str, ...]) -> set[int]:
    """The positions of the items that the program took from a list."""
    return {
        step
        for source in inspection.used_sources
        if source.call == call.index and source.path[: len(path)] == path and source.how != "decided"
        for step in source.path[len(path) : len(path) + 1]
        if isinstance(step, int)
    }


def _is_picked_from_list(inspection: Inspection, call: CallRecord, path: tuple[str, ...]) -> bool:
    """True if exactly one item of a list supplied arguments: the program picked it out by itself."""
    places = {
        source.path[: len(path) + 1]
        for *_, sources in inspection.all_arguments
        for source in sources
        if source.call == call.index and source.how != "decided"
    }
    return len(places) == 1


def _is_called(item: object, name: str) -> bool:
    """True if a name is one of an object's own texts."""
    values = item.values() if isinstance(item, dict) else [item]
    return any(isinstance(value, str) and fold(value) == fold(name) for value in values)


def _is_search(call: CallRecord, name: str, inspection: Inspection) -> bool:
    """True if a call searches by name; other filters, a place for example, return items of other names."""
    return any(value == name and SEARCHES.intersection(words(key)[-1:]) for key, value, _ in inspection.arguments(call))


def _shares_word(item: object, name: str) -> bool:
    """True if an item holds a word of a name, or has no name of its own."""
    texts = [fold(value) for _, value in leaves(item) if isinstance(value, str)]
    name_words = set(fold(name).split()) - _STOP_WORDS
    named = isinstance(item, dict) and any(words(key)[-1:] in (("name",), ("title",), ("label",)) for key in item)
    return not name_words or not named or any(name_words & set(text.split()) for text in texts)
