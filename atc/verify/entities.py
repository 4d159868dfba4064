"""Whether a program looked at what the question names, and not at something else.

A name in the question has to lead somewhere: into a search, a comparison, or an item that bears it. Of several things
that a search found, the one that is called so is meant; and an identifier comes from a reply or from the question.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeGuard

from atc.diagnosis.provenance import lookup
from atc.verify.findings import Finding, Inspection, failed, folded, leaves, lists_in
from protocols.text.words import SEARCHES, words
from sandbox.journal.call_fingerprint import SAFE
from sandbox.records import CallRecord

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
"""How much alike a word of the question and a text are that is a slip of it."""


def unused_name(inspection: Inspection) -> Finding | None:
    """The question names something that the program uses nowhere and that nothing it took from a reply is called."""
    names = _required_names(inspection)
    used = [text for text in _used_texts(inspection) if text]
    for name in names:
        if " " not in name.strip() and not _is_evident(name, inspection):
            continue
        if any(_matches_name(text, name) for text in used):
            continue
        if any(
            _matches_name(folded(name), folded(longer)) and longer != name and _is_used(longer, used)
            for longer in names
        ):
            continue  # a part of a longer name
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
    """A text that is sent is nearly a name of several words in the question."""
    for call, _, value in foreign_texts(inspection):
        meant = misspelling_of(str(value), inspection.query)
        if meant is None or " " not in meant or meant == inspection.query[: len(meant)]:
            continue
        if any(word[:1].isupper() for word in meant.split() if word.casefold() not in _STOP_WORDS):  # not `The protein`
            message = f"the program asks for {value!r}, and the question is about {meant!r}; write {meant!r} there"
            return Finding("OtherEntity", message, call.line, call.index)
    return None


def merged_names(inspection: Inspection) -> Finding | None:
    """A search for two things of the question at once, as one name."""
    for call, key, value, sources in inspection.all_arguments:
        if sources or not isinstance(value, str) or " and " not in value or not words(key):
            continue
        first, second = (part.strip() for part in value.split(" and ", 1))
        if (
            words(key)[-1] in SEARCHES
            and _is_a_name(first, inspection)
            and _is_a_name(second, inspection)
            and value not in inspection.entity_names
        ):
            message = f"the program asks for {value!r} as one name; ask for {first!r} and for {second!r}, each alone"
            return Finding("OtherEntity", message, call.line, call.index)
    return None


def unused_search(inspection: Inspection) -> Finding | None:
    """Calls were made for names of the question, and neither the answer nor a write has to do with any of them."""
    if inspection.run.provenance is None:
        return None
    name_calls = [
        (call, value)
        for call, _, value, sources in inspection.all_arguments
        if not sources and not failed(call) and _is_a_name(value, inspection)
    ]
    contributing = _contributing_calls(inspection)
    if not name_calls or any(
        call.index in contributing or _is_printed(value, inspection) for call, value in name_calls
    ):
        return None
    call, value = name_calls[0]
    message = f"the answer has nothing to do with what {call.tool or call.url} returned for {value!r}; go on from that"
    return Finding("OtherEntity", message, call.line, call.index)


def _contributing_calls(inspection: Inspection) -> set[int]:
    """The calls that the answer, or a write, comes from or depends on, however far back."""
    feeds: dict[int, set[int]] = {}
    for call, _, _, sources in inspection.all_arguments:
        feeds.setdefault(call.index, set()).update(source.call for source in sources)
    pending = [source.call for source in inspection.printed_sources] + [
        call.index for call in inspection.good_calls if call.method not in SAFE
    ]
    reached: set[int] = set()
    while pending:
        index = pending.pop()
        if index not in reached:
            reached.add(index)
            pending += feeds.get(index, ())
    return reached


def _required_names(inspection: Inspection) -> list[str]:
    """Names that have to lead somewhere: not the service's own, nor a fixed word of its fields, nor the name of an
    argument in words (`the Order Number "A7"`)."""
    known_words: set[str] = set()
    if inspection.graph is not None:
        protocol = inspection.graph.protocol
        known_words = {folded(protocol.title), *folded(protocol.title).split(), *inspection.enum_values}
        known_words |= {word for tool in protocol.tools for word in words(tool.name)}
        arguments = [words(parameter.name) for tool in protocol.tools for parameter in tool.arguments]
        known_words |= {" ".join(parts) for parts in arguments if len(parts) > 1}
    folded_names = {name: folded(name) for name in inspection.entity_names}
    # Of one letter is what a sentence's end leaves: `12 E. Can you …`.
    return [
        name
        for name, text in folded_names.items()
        if text not in known_words and all(len(word) > 1 or word in _STOP_WORDS for word in text.split())
    ]


def _is_evident(name: str, inspection: Inspection) -> bool:
    """Whether a name of one word is more than a word with a capital: a reply says it, or the program says another."""
    if any(True for _ in foreign_texts(inspection)):
        return True
    return any(isinstance(value, str) and folded(value) == folded(name) for _, _, value in inspection.values)


def _used_texts(inspection: Inspection) -> list[str]:
    """The texts that a program used, folded: those that it holds, not only to say them, and those that it sent."""
    sent = (value for _, _, value, _ in inspection.all_arguments)
    flat = (part for value in sent for part in (value if isinstance(value, list) else [value]))
    return [folded(str(text)) for text in (*(inspection.texts - inspection.printed_texts), *flat)]


def _is_printed(name: str, inspection: Inspection) -> bool:
    """Whether a name is in the answer, and not because the program says it of its own."""
    own = any(name_in(folded(text), name) for text in inspection.printed_texts)
    return not own and name_in(folded(inspection.run.stdout), name)


def _is_used(name: str, used: Sequence[str]) -> bool:
    return any(_matches_name(text, name) for text in used)


def _matches_name(text: str, name: str) -> bool:
    """Whether a folded text holds a name, or is a good part of it."""
    text_words, name_words = set(text.split()) - _STOP_WORDS, set(folded(name).split()) - _STOP_WORDS
    if not text_words or not name_words:
        return text == folded(name)
    return name_words <= text_words or text_words <= name_words


def name_in(text: str, name: str) -> bool:
    """Whether a folded text holds all the words of a name, one after the other."""
    return re.search(rf"\b{re.escape(folded(name))}\b", text) is not None


def _is_abbreviated(name: str, inspection: Inspection) -> bool:
    """Whether a name may stand in the program as a code: of one word as `FR`, `en-GB` or a genre's number, of several
    by the letters that they begin with."""
    parts = folded(name).split()
    if len(parts) > 1:
        return "".join(part[0] for part in parts if part not in _STOP_WORDS) in {
            folded(text) for text in inspection.texts
        }
    own = [str(value) for _, _, value, sources in inspection.all_arguments if not sources]
    return any(re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z]{2})?|\d{2,5}", value) for value in own)


def _is_selected(inspection: Inspection, name: str) -> bool:
    """Whether something that the program took from a reply is called so: an item of a list, or the whole object."""
    everything = [
        *inspection.printed_sources,
        *(source for _, _, _, sources in inspection.all_arguments for source in sources),
    ]
    for source in everything:
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
    """Texts that the program sends of its own and that the question does not hold: call, argument, value."""
    for call, name, value, sources in inspection.all_arguments:
        if sources or not isinstance(value, str) or not re.search(r"[^\W\d_]{3}", value):
            continue
        value_words = set(folded(value).split())
        if value_words and not value_words <= inspection.query_words and folded(value) not in inspection.enum_values:
            yield call, name, value


def misspelling_of(value: str, query: str) -> str | None:
    """The words of a question that a text is a slip of; None when it is like none of them."""
    size = len(value.split())
    query_words = query.split()
    runs = [" ".join(query_words[at : at + size]).strip(" ?.,:;!\"'") for at in range(len(query_words) - size + 1)]
    closest = max(runs, key=lambda run: _similarity(value, run), default="")
    return closest if closest and _MIN_SIMILARITY <= _similarity(value, closest) < 1 else None


def _similarity(first: str, second: str) -> float:
    return SequenceMatcher(None, first.casefold(), second.casefold()).ratio()


def wrong_item(inspection: Inspection) -> Finding | None:
    """A search found several, one of them is called what was searched for, and another one was taken."""
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
                bearing = [place for place, item in enumerate(items) if _is_called(item, name)]
                if bearing and not taken & set(bearing):
                    place = f"{''.join(f'[{step!r}]' for step in path)}[{bearing[0]}]"
                    message = (
                        f"the program took item {min(taken)} of what {call.tool or call.url} returned, and the one "
                        f"that is called {name!r} is item {bearing[0]}; take {place}, found by its name"
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
    """Whether a text is one that the question calls something by, as a name or in its own spelling."""
    if not isinstance(value, str) or not folded(value):
        return False
    own = value[:1].isupper() and re.search(rf"\b{re.escape(value)}\b", inspection.query) is not None
    return own or any(folded(value) == folded(name) for name in inspection.entity_names)


def _target_names(inspection: Inspection) -> list[str]:
    """The names of the question, of more than one word, that no write was given: those say how something is to be."""
    written = {
        folded(str(value))
        for call, _, value, sources in inspection.all_arguments
        if call.method not in SAFE and not sources
    }
    return [name for name in inspection.entity_names if " " in name and folded(name) not in written]


def _taken_items(inspection: Inspection, call: CallRecord, path: tuple[str, ...]) -> set[int]:
    """Which items of a list were taken."""
    everything = [
        *inspection.printed_sources,
        *(source for _, _, _, sources in inspection.all_arguments for source in sources),
    ]
    positions = set()
    for source in everything:
        step = source.path[len(path)] if len(source.path) > len(path) else None
        is_from_list = source.call == call.index and source.path[: len(path)] == path and source.how != "decided"
        if is_from_list and isinstance(step, int):
            positions.add(step)
    return positions


def _is_picked_from_list(inspection: Inspection, call: CallRecord, path: tuple[str, ...]) -> bool:
    """Whether one item of a list that nothing was searched for gave an argument: then one was looked for by eye."""
    argument_sources = [
        source for _, _, _, sources in inspection.all_arguments for source in sources if source.call == call.index
    ]
    return len({source.path[: len(path) + 1] for source in argument_sources if source.how != "decided"}) == 1


def _is_called(item: object, name: str) -> bool:
    """Whether one of an object's own texts is a name."""
    values = item.values() if isinstance(item, dict) else [item]
    return any(isinstance(value, str) and folded(value) == folded(name) for value in values)


def _is_search(call: CallRecord, name: str, inspection: Inspection) -> bool:
    """Whether a call looks for things that are called so; what is in a place, say, is called otherwise."""
    return any(
        value == name and words(key)[-1] in SEARCHES for key, value, _ in inspection.arguments(call) if words(key)
    )


def _shares_word(item: object, name: str) -> bool:
    """Whether an item says a word of a name anywhere, or has no name of its own."""
    texts = [folded(value) for _, value in leaves(item) if isinstance(value, str)]
    name_words = set(folded(name).split()) - _STOP_WORDS
    named = isinstance(item, dict) and any(words(key)[-1:] in (("name",), ("title",), ("label",)) for key in item)
    return not name_words or not named or any(name_words & set(text.split()) for text in texts)


def hallucinated_identifier(inspection: Inspection) -> Finding | None:
    """An identifier that stands neither in the question nor in a reply."""
    if inspection.graph is None or inspection.run.provenance is None:
        return None
    for call, name, value, sources in inspection.all_arguments:
        if sources or failed(call) or call.tool is None or isinstance(value, (bool, dict, list)) or value is None:
            continue
        if not re.search(r"\d.*\d.*\d|[A-Za-z].*\d", str(value)) or not inspection.is_own(value):
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
