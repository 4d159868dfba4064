"""A program that is held to names can call no function that there is not; all else it may say."""

from __future__ import annotations

import re

import pytest

from atc.models.grammar import first_arguments, program_grammar
from protocols import load
from protocols.samples import sample

FUNCTIONS = {
    "GET_search": ("q", "page", ")"),
    "GET_search_movie": ("query",),
    "PUT_me_albums": ("ids",),
    "GET_me": (")",),
}


def accepts(text: str) -> bool:
    """Whether the grammar has a text: its rules followed from `root` on, one character or literal at a time."""
    rules: dict[str, list[list[str]]] = {}
    for line in program_grammar(FUNCTIONS).splitlines():
        name, _, body = line.partition(" ::= ")
        parts = re.split(r""" \| (?=(?:[^"]*"[^"]*")*[^"]*$)""", body)
        rules[name] = [re.findall(r'"[^"]*"|\[[^\]]*\]|[\w-]+', part) for part in parts]
    states: set[tuple[tuple[str, ...], int]] = {(("root",), 0)}
    visited = set(states)
    while states:
        stack, place = states.pop()
        if not stack:
            if place == len(text):
                return True
            continue
        first, rest = stack[0], stack[1:]
        following: list[tuple[tuple[str, ...], int]] = []
        if first.startswith('"'):
            written = first[1:-1].replace("\\n", "\n")
            if text.startswith(written, place):
                following.append((rest, place + len(written)))
        elif first.startswith("["):
            if place < len(text) and re.match(first, text[place]):
                following.append((rest, place + 1))
        else:
            following += [((*option, *rest), place) for option in rules[first]]
        for state in following:
            if state not in visited:
                visited.add(state)
                states.add(state)
    return False


@pytest.mark.parametrize(
    "text",
    [
        'found = GET_search(q="x")["tracks"]\n',
        "PUT_me_albums(ids=[GET_search_movie(query=1)])",
        "GET_search()",
        "GET_search(\n    page=1, made_up=2)",
        "GET_search_movie( query = 1)",
        "GET_search_movie(**given)",
        "[GET_me() for _ in things]; map(PUT_me_albums, ids)  # GET_me, too",
        "GETTER = 1\nPOSTED = Get_it + G + PU + DELETED\n# PATCH this",
        "x_GET_nothing = 2",
        "",
    ],
)
def test_other_words_are_free(text: str) -> None:
    assert accepts(text)


@pytest.mark.parametrize("text", ["GET_searches(q=1)", "GET_", "x = PUT_me(1)", "DELETE_me()", "(POST_playlists)"])
def test_a_function_that_there_is_not_cannot_be_said(text: str) -> None:
    assert not accepts(text)


@pytest.mark.parametrize(
    "text",
    ['GET_search_movie(title="x")', "GET_search_movie()", "GET_search(1)", "PUT_me_albums([1])", "GET_me(id=1)"],
)
def test_a_call_begins_with_an_argument_that_there_is(text: str) -> None:
    """A required one, if there are any."""
    assert not accepts(text)


def test_how_the_calls_of_a_tool_begin() -> None:
    protocol = load(sample("cinema"))

    assert first_arguments(protocol.tool("GET_films_filmId")) == ("filmId",)
    first = first_arguments(protocol.tool("GET_films"))
    assert (first[0], first[-1]) == ("query", ")")
