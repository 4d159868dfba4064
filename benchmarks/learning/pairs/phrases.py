"""Lists of an API in words: `the top rated movies`, `the reviews of the movie X`, `my saved tracks`."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from benchmarks.learning.pairs.views import APIViews, ListView
from benchmarks.learning.pairs.wording import (
    NounPhrase,
    is_person,
    is_short,
    plural,
    possessive,
    preposition,
    stands_behind,
)
from protocols.dataflow.identifiers import literals_of
from protocols.dataflow.operations import is_own
from protocols.model import Tool
from protocols.text.word_lists import NAMES
from protocols.text.words import noun_of, singular, words

__all__ = ["list_phrase"]

_LISTING = re.compile(
    r"^(?:get|list|lists|retrieve|retrieves|returns?|fetch|show|find)\s+(?:(?:a|an|the)\s+)?(?:(?:full|complete)\s+)?"
    r"(?:list\s+of\s+)?(?:all\s+)?(?:the\s+)?",
    re.IGNORECASE,
)
_USERS = re.compile(r"\b(?:the\s+)?(?:current\s+)?users?(?:'s?|s')?\s+", re.IGNORECASE)
_CLAUSE = re.compile(r"\s+(?:that|which|by|in|on|for|of|from|with)\s.*$")
_MAX_WORDS = 4
_VERBS = NAMES["search verbs"] | NAMES["query words"] - {"latest"} | {"discover", "browse", "me"}


def list_phrase(views: APIViews, view: ListView, owner: str, rng: Random) -> NounPhrase:
    """A list, or the object that a tool returns, in words.

    Args:
        owner: The object that the list belongs to, empty without one.
    """
    tool = views.protocol.tool(view.tool)
    noun = view.noun.replace("_", " ")
    outer = views.lists.get((view.tool, view.path[:-1]))
    if not owner and view.path and outer is not None and outer.single:
        owner = list_phrase(views, outer, "", rng).item("")
    phrase = _owned(views, view, tool, noun, owner, rng) if owner else _whole(views, view, tool, noun, rng)
    return replace(phrase, article="my") if is_own(tool) and not owner else phrase


def _whole(views: APIViews, view: ListView, tool: Tool, noun: str, rng: Random) -> NounPhrase:
    """A list that belongs to nothing: adjectives from the path or the summary before its noun."""
    options = [_from_path(tool, view, noun)]
    if literals_of(tool.path)[-1:] == ["me"]:
        return options[0]
    texts = (tool.summary, tool.description.partition(".")[0])
    options += [phrase for text in texts if (phrase := _from_text(text, noun)) is not None]
    return rng.choice(options)


def _from_path(tool: Tool, view: ListView, noun: str) -> NounPhrase:
    literals = literals_of(tool.path)
    if literals[-1:] == ["me"]:
        return NounPhrase("profile", "profiles")
    last = list(words(literals[-1])) if literals else []
    own = {*words(noun), view.noun, *words(view.key)}
    last = list(words(view.key)) if view.single and view.key else last
    modifier = [word for word in last if singular(word) not in own and singular(word) not in _VERBS]
    text = " ".join(modifier)
    nouns = plural(noun)
    if modifier and singular(modifier[-1]) != modifier[-1] and not is_own(tool):
        return NounPhrase(" ".join([*modifier[:-1], singular(modifier[-1])]), text)
    if stands_behind(modifier):
        return NounPhrase(noun, nouns, behind=text)
    return NounPhrase(noun, nouns, before=text)


def _from_text(text: str, noun: str) -> NounPhrase | None:
    """The phrase in a summary, as `the current popular movies`; None where it does not name the noun plainly."""
    clean = _LISTING.sub("", _USERS.sub("", text.replace("\u2019", "'"))).strip()
    clean = _CLAUSE.sub("", clean)
    last = plural(noun)
    plain = clean.lower().endswith(f" {last.lower()}") and clean.replace(" ", "").isalpha()
    before = clean[: -len(last)].strip().lower()
    plain = plain and _VERBS.isdisjoint(map(singular, before.split()))
    return NounPhrase(noun, last, before=before) if plain and 0 < len(before.split()) <= _MAX_WORDS else None


def _owned(views: APIViews, view: ListView, tool: Tool, noun: str, owner: str, rng: Random) -> NounPhrase:
    """A list that belongs to an object."""
    literals = literals_of(tool.path)
    last = list(words(literals[-1])) if literals and not tool.path.rstrip("/").endswith("}") else []
    if view.key:
        return _keyed(views, view, noun, owner, last, rng)
    named = bool(last) and singular(last[-1]) != last[-1]
    if not last or (not named and len(last) == 1 and last[0] in owner):
        return NounPhrase(noun, plural(noun), behind=f"of {owner}")
    if named:
        nouns = " ".join(last)
        item = " ".join([*last[:-1], singular(last[-1])])
        phrase = NounPhrase(item, nouns, behind=f"{preposition(last[-1])} {owner}")
        own = NounPhrase(item, nouns, article=possessive(owner))
        return own if is_short(owner) and rng.random() < 0.3 else phrase
    text = " ".join(word for word in last if singular(word) != view.noun)
    joined = f"{preposition(last[0])} {owner}"
    if rng.random() < 0.5 and preposition(last[0]) == "to":
        return NounPhrase(noun, plural(noun), behind=f"{text} {joined}")
    return NounPhrase(noun, plural(noun), before=text, behind=joined)


def _keyed(views: APIViews, view: ListView, noun: str, owner: str, last: list[str], rng: Random) -> NounPhrase:
    """A list under a key of its own: the cast of an object, or the objects in whose cast somebody is."""
    key = " ".join(words(view.key))
    about = [word for word in last if singular(word) == view.entity]
    if view.entity and noun_of(view.key) != view.entity and (about or (is_person(key) and not is_person(view.noun))):
        options = [
            NounPhrase(noun, plural(noun), behind=f"with {owner} in the {key}"),
            NounPhrase(noun, plural(noun), behind=f"that {owner} is in the {key} of"),
        ]
        return rng.choice(options)
    if view.single:
        return NounPhrase(key, key, behind=f"of {owner}")
    item = singular(key) if singular(key) != key else f"{key} member" if is_person(view.noun) or view.title else key
    if is_short(owner) and rng.random() < 0.3:
        return NounPhrase(item, key, article=possessive(owner))
    return NounPhrase(item, key, behind=f"of {owner}")
