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

__all__ = ["foreign", "invented", "misspelt", "other_item", "two_in_one", "unused_name", "unused_search"]

_SMALL = frozenset("the a an of and or in on at to for by with from".split())
_LEAST = 0.75
"""How much alike a word of the question and a text are that is a slip of it."""


def unused_name(seen: Inspection) -> Finding | None:
    """The question names something that the program uses nowhere and that nothing it took from a reply is called."""
    names = _wanted(seen)
    used = [text for text in _used(seen) if text]
    for name in names:
        if " " not in name.strip() and not _is_known(name, seen):
            continue
        if any(_means(text, name) for text in used):
            continue
        if any(_means(folded(name), folded(other)) and other != name and _is_used(other, used) for other in names):
            continue  # a part of a longer name
        if _is_coded(name, seen) or _is_printed(name, seen) or _is_taken(seen, name):
            continue
        instead = next(((call, value) for call, _, value in foreign(seen)), None)
        if instead is None:
            told = f"the question is about {name!r}, and the program uses it nowhere; look for {name!r}"
            return Finding("OtherEntity", told)
        call, value = instead
        told = f"the program asks for {value!r}, and the question is about {name!r}; write {name!r} there"
        return Finding("OtherEntity", told, call.line, call.index)
    return None


def misspelt(seen: Inspection) -> Finding | None:
    """A text that is sent is nearly a name of several words in the question."""
    for call, _, value in foreign(seen):
        meant = slip_of(str(value), seen.query)
        if meant is None or " " not in meant or meant == seen.query[: len(meant)]:
            continue
        if any(word[:1].isupper() for word in meant.split() if word.casefold() not in _SMALL):  # not `The protein`
            told = f"the program asks for {value!r}, and the question is about {meant!r}; write {meant!r} there"
            return Finding("OtherEntity", told, call.line, call.index)
    return None


def two_in_one(seen: Inspection) -> Finding | None:
    """A search for two things of the question at once, as one name."""
    for call, key, value, sources in seen.given:
        if sources or not isinstance(value, str) or " and " not in value or not words(key):
            continue
        one, other = (part.strip() for part in value.split(" and ", 1))
        if words(key)[-1] in SEARCHES and _is_a_name(one, seen) and _is_a_name(other, seen) and value not in seen.names:
            told = f"the program asks for {value!r} as one name; ask for {one!r} and for {other!r}, each alone"
            return Finding("OtherEntity", told, call.line, call.index)
    return None


def unused_search(seen: Inspection) -> Finding | None:
    """Calls were made for names of the question, and neither the answer nor a write has to do with any of them."""
    if seen.run.provenance is None:
        return None
    made = [
        (call, value)
        for call, _, value, sources in seen.given
        if not sources and not failed(call) and _is_a_name(value, seen)
    ]
    used = _behind(seen)
    if not made or any(call.index in used or _is_printed(value, seen) for call, value in made):
        return None
    call, value = made[0]
    told = f"the answer has nothing to do with what {call.tool or call.url} returned for {value!r}; go on from that"
    return Finding("OtherEntity", told, call.line, call.index)


def _behind(seen: Inspection) -> set[int]:
    """The calls that the answer, or a write, comes from or depends on, however far back."""
    feeds: dict[int, set[int]] = {}
    for call, _, _, sources in seen.given:
        feeds.setdefault(call.index, set()).update(source.call for source in sources)
    left = [source.call for source in seen.printed] + [call.index for call in seen.answered if call.method not in SAFE]
    found: set[int] = set()
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += feeds.get(one, ())
    return found


def _wanted(seen: Inspection) -> list[str]:
    """Names that have to lead somewhere: not the service's own, nor a fixed word of its fields, nor the name of an
    argument in words (`the Order Number "A7"`)."""
    own: set[str] = set()
    if seen.graph is not None:
        protocol = seen.graph.protocol
        own = {folded(protocol.title), *folded(protocol.title).split(), *seen.fixed}
        own |= {word for tool in protocol.tools for word in words(tool.name)}
        arguments = [words(parameter.name) for tool in protocol.tools for parameter in tool.arguments]
        own |= {" ".join(parts) for parts in arguments if len(parts) > 1}
    plain = {name: folded(name) for name in seen.names}
    # Of one letter is what a sentence's end leaves: `12 E. Can you …`.
    return [
        name
        for name, text in plain.items()
        if text not in own and all(len(word) > 1 or word in _SMALL for word in text.split())
    ]


def _is_known(name: str, seen: Inspection) -> bool:
    """Whether a name of one word is more than a word with a capital: a reply says it, or the program says another."""
    if any(True for _ in foreign(seen)):
        return True
    return any(isinstance(value, str) and folded(value) == folded(name) for _, _, value in seen.values)


def _used(seen: Inspection) -> list[str]:
    """The texts that a program used, folded: those that it holds, not only to say them, and those that it sent."""
    sent = (value for _, _, value, _ in seen.given)
    flat = (part for value in sent for part in (value if isinstance(value, list) else [value]))
    return [folded(str(text)) for text in (*(seen.texts - seen.spoken), *flat)]


def _is_printed(name: str, seen: Inspection) -> bool:
    """Whether a name is in the answer, and not because the program says it of its own."""
    own = any(name_in(folded(text), name) for text in seen.spoken)
    return not own and name_in(folded(seen.run.stdout), name)


def _is_used(name: str, used: Sequence[str]) -> bool:
    return any(_means(text, name) for text in used)


def _means(text: str, name: str) -> bool:
    """Whether a folded text holds a name, or is a good part of it."""
    have, want = set(text.split()) - _SMALL, set(folded(name).split()) - _SMALL
    if not have or not want:
        return text == folded(name)
    return want <= have or have <= want


def name_in(text: str, name: str) -> bool:
    """Whether a folded text holds all the words of a name, one after the other."""
    return re.search(rf"\b{re.escape(folded(name))}\b", text) is not None


def _is_coded(name: str, seen: Inspection) -> bool:
    """Whether a name may stand in the program as a code: of one word as `FR`, `en-GB` or a genre's number, of several
    by the letters that they begin with."""
    parts = folded(name).split()
    if len(parts) > 1:
        return "".join(part[0] for part in parts if part not in _SMALL) in {folded(text) for text in seen.texts}
    own = [str(value) for _, _, value, sources in seen.given if not sources]
    return any(re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z]{2})?|\d{2,5}", value) for value in own)


def _is_taken(seen: Inspection, name: str) -> bool:
    """Whether something that the program took from a reply is called so: an item of a list, or the whole object."""
    everything = [*seen.printed, *(source for _, _, _, sources in seen.given for source in sources)]
    for source in everything:
        call = seen.run.calls[source.call]
        if source.how == "decided" or failed(call):
            continue
        ends = [at + 1 for at, step in enumerate(source.path) if isinstance(step, int)]
        value = lookup(call.response, source.path)
        if not ends and not isinstance(value, (dict, list)):
            ends = [len(source.path) - 1]
        if any(_is_called(lookup(call.response, source.path[:end]), name) for end in ends):
            return True
    return False


def foreign(seen: Inspection) -> Iterator[tuple[CallRecord, str, object]]:
    """Texts that the program sends of its own and that the question does not hold: call, argument, value."""
    for call, name, value, sources in seen.given:
        if sources or not isinstance(value, str) or not re.search(r"[^\W\d_]{3}", value):
            continue
        said = set(folded(value).split())
        if said and not said <= seen.asked and folded(value) not in seen.fixed:
            yield call, name, value


def slip_of(value: str, query: str) -> str | None:
    """The words of a question that a text is a slip of; None when it is like none of them."""
    size = len(value.split())
    asked = query.split()
    runs = [" ".join(asked[at : at + size]).strip(" ?.,:;!\"'") for at in range(len(asked) - size + 1)]
    likest = max(runs, key=lambda run: _likeness(value, run), default="")
    return likest if likest and _LEAST <= _likeness(value, likest) < 1 else None


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold()).ratio()


def other_item(seen: Inspection) -> Finding | None:
    """A search found several, one of them is called what was searched for, and another one was taken."""
    for call in seen.answered:
        asked = [value for _, value, sources in seen.arguments(call) if not sources and _is_a_name(value, seen)]
        for path, items, _ in lists_in(seen.response(call)):
            taken = _positions(seen, call, path)
            if not taken or max(taken) >= len(items):
                continue
            for name in asked or (_looked_for(seen) if _of_list(seen, call, path) else ()):
                bearing = [place for place, item in enumerate(items) if _is_called(item, name)]
                if bearing and not taken & set(bearing):
                    place = f"{''.join(f'[{step!r}]' for step in path)}[{bearing[0]}]"
                    told = (
                        f"the program took item {min(taken)} of what {call.tool or call.url} returned, and the one "
                        f"that is called {name!r} is item {bearing[0]}; take {place}, found by its name"
                    )
                    return Finding("OtherEntity", told, call.line, call.index, (*path, min(taken)))
                strange = _is_search(call, name, seen) and not any(_shares(items[one], name) for one in taken)
                if strange and not bearing:
                    told = (
                        f"nothing that the program took from {call.tool or call.url} is called {name!r}; "
                        f"look for {name!r} in another way"
                    )
                    return Finding("OtherEntity", told, call.line, call.index, (*path, min(taken)))
    return None


def _is_a_name(value: object, seen: Inspection) -> TypeGuard[str]:
    """Whether a text is one that the question calls something by, as a name or in its own spelling."""
    if not isinstance(value, str) or not folded(value):
        return False
    own = value[:1].isupper() and re.search(rf"\b{re.escape(value)}\b", seen.query) is not None
    return own or any(folded(value) == folded(name) for name in seen.names)


def _looked_for(seen: Inspection) -> list[str]:
    """The names of the question, of more than one word, that no write was given: those say how something is to be."""
    written = {folded(str(value)) for call, _, value, sources in seen.given if call.method not in SAFE and not sources}
    return [name for name in seen.names if " " in name and folded(name) not in written]


def _positions(seen: Inspection, call: CallRecord, path: tuple[str, ...]) -> set[int]:
    """Which items of a list were taken."""
    everything = [*seen.printed, *(source for _, _, _, sources in seen.given for source in sources)]
    found = set()
    for source in everything:
        at = source.path[len(path)] if len(source.path) > len(path) else None
        here = source.call == call.index and source.path[: len(path)] == path and source.how != "decided"
        if here and isinstance(at, int):
            found.add(at)
    return found


def _of_list(seen: Inspection, call: CallRecord, path: tuple[str, ...]) -> bool:
    """Whether one item of a list that nothing was searched for gave an argument: then one was looked for by eye."""
    given = [source for _, _, _, sources in seen.given for source in sources if source.call == call.index]
    return len({source.path[: len(path) + 1] for source in given if source.how != "decided"}) == 1


def _is_called(item: object, name: str) -> bool:
    """Whether one of an object's own texts is a name."""
    values = item.values() if isinstance(item, dict) else [item]
    return any(isinstance(value, str) and folded(value) == folded(name) for value in values)


def _is_search(call: CallRecord, name: str, seen: Inspection) -> bool:
    """Whether a call looks for things that are called so; what is in a place, say, is called otherwise."""
    return any(value == name and words(key)[-1] in SEARCHES for key, value, _ in seen.arguments(call) if words(key))


def _shares(item: object, name: str) -> bool:
    """Whether an item says a word of a name anywhere, or has no name of its own."""
    texts = [folded(value) for _, value in leaves(item) if isinstance(value, str)]
    wanted = set(folded(name).split()) - _SMALL
    named = isinstance(item, dict) and any(words(key)[-1:] in (("name",), ("title",), ("label",)) for key in item)
    return not wanted or not named or any(wanted & set(text.split()) for text in texts)


def invented(seen: Inspection) -> Finding | None:
    """An identifier that stands neither in the question nor in a reply."""
    if seen.graph is None or seen.run.provenance is None:
        return None
    for call, name, value, sources in seen.given:
        if sources or failed(call) or call.tool is None or isinstance(value, (bool, dict, list)) or value is None:
            continue
        if not re.search(r"\d.*\d.*\d|[A-Za-z].*\d", str(value)) or not seen.is_own(value):
            continue  # small numbers are counted: the second season
        if str(value).casefold() in seen.query.casefold() or seen.graph.reference(call.tool, name) is None:
            continue
        if not seen.graph.providers(call.tool, name):
            continue
        if any(str(leaf) == str(value) for one, _, leaf in seen.values if one.index < call.index):
            continue
        hint = seen.graph.expression(seen.graph.providers(call.tool, name)[0])
        told = f"{name}={value!r} stands neither in the question nor in a reply; take {name} from {hint}"
        return Finding("OtherEntity", told, call.line, call.index)
    return None
