"""A program that is held to names can call no function that there is not; all else it may say."""

from __future__ import annotations

import re

import pytest

from atc.models.grammar import program_grammar

NAMES = ("GET_search", "GET_search_movie", "PUT_me_albums")


def accepts(text: str) -> bool:
    """Whether the grammar has a text: its rules followed from `root` on, one character or literal at a time."""
    rules: dict[str, list[list[str]]] = {}
    for line in program_grammar(NAMES).splitlines():
        name, _, body = line.partition(" ::= ")
        listed = re.match(r"\((.*?)\) end \| (.*)$", body)
        parts = body.split(" | ")
        if listed:
            parts = [f"{one} end" for one in listed[1].split(" | ")] + listed[2].split(" | ")
        rules[name] = [re.findall(r'"[^"]*"|\[[^\]]*\]|[\w-]+', part) for part in parts]
    states: set[tuple[tuple[str, ...], int]] = {(("root",), 0)}
    seen = set(states)
    while states:
        stack, place = states.pop()
        if not stack:
            if place == len(text):
                return True
            continue
        first, rest = stack[0], stack[1:]
        following: list[tuple[tuple[str, ...], int]] = []
        if first.startswith('"'):
            if text.startswith(first[1:-1], place):
                following.append((rest, place + len(first) - 2))
        elif first.startswith("["):
            if place < len(text) and re.match(first, text[place]):
                following.append((rest, place + 1))
        else:
            following += [((*option, *rest), place) for option in rules[first]]
        for state in following:
            if state not in seen:
                seen.add(state)
                states.add(state)
    return False


@pytest.mark.parametrize(
    "text",
    [
        'found = GET_search(q="x")["tracks"]\n',
        "PUT_me_albums(ids=[GET_search_movie(query=1)])",
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
