"""A program that ran is run again for other values, whoever wrote it and however it is laid out."""

from __future__ import annotations

import pytest

from probing.prober.variants import argument_variants, item_variants, kept_creation
from protocols import load
from protocols.model import Tool

KINDS = {"type": "string", "enum": ["bands", "songs"]}


def tool(*parameters: tuple[str, object, bool]) -> Tool:
    listed = [{"name": name, "in": "query", "required": need, "schema": schema} for name, schema, need in parameters]
    operation = {"parameters": listed, "responses": {"200": {"description": "ok"}}}
    info = {"title": "t", "version": "1"}
    return load({"openapi": "3.1.0", "info": info, "paths": {"/found": {"get": operation}}}).tool("GET_found")


@pytest.mark.parametrize(
    "call", ["GET_found(kind='bands')", 'GET_found(kind="bands")', "GET_found(\n    kind='bands',\n)"]
)
def test_an_argument_is_exchanged_where_it_stands(call: str) -> None:
    """In any quotes, and also where the last line is not the call."""
    program = f"found = {call}\nprint(found)"

    [variant] = argument_variants(program, tool(("kind", KINDS, True)))

    assert variant == "found = GET_found(kind='songs')\nprint(found)"


def test_each_of_several_choices_is_asked_for_alone_and_pages_of_one() -> None:
    """What comes with all kinds together is not always there, and the last page says of no next one."""
    several = tool(("kind", {"type": "array", "items": KINDS}, True), ("limit", {"type": "integer"}, False))

    assert list(argument_variants("print(GET_found(kind=['bands', 'songs']))", several)) == [
        "print(GET_found(kind=['bands']))",
        "print(GET_found(kind=['songs']))",
        "print(GET_found(kind=['bands', 'songs'], limit=1))",
    ]


def test_a_page_is_asked_for_in_the_call_of_the_tool() -> None:
    """And in no other one."""
    paged = tool(("page", {"type": "integer"}, False))

    assert list(item_variants("print(GET_found(), GET_other(page=1))", paged, "", [])) == [
        "print(GET_found(page=2), GET_other(page=1))",
        "print(GET_found(page=3), GET_other(page=1))",
    ]
    assert list(item_variants("print(GET_found(page=1))", paged, "", [])) == []


def test_what_is_done_with_the_first_item_is_done_with_the_next_ones() -> None:
    program = 'film = GET_films(query="Dune")["films"][0]\nprint(GET_found(id=film["id"]))'
    searched = [
        "for film in GET_films(query='Dune')['films'][1:8]:\n    print(GET_found(id=film['id']))",
        "film = GET_films(query='Dusk')['films'][0]\nprint(GET_found(id=film['id']))",
    ]

    assert list(item_variants(program, tool(), "Dune", ["Dune", "Dusk"])) == searched
    assert list(item_variants("film = GET_films()\nprint(GET_found())", tool(), "", [])) == []


def test_what_a_program_creates_is_kept_under_another_name() -> None:
    """Whatever looks like a name outside of strings stays; a program that prints nothing creates nothing to keep."""
    program = "probe_3 = GET_found()\nprint(POST_rooms(name='probe 3', key=f'{probe_3}'))"

    assert (
        kept_creation(program, "made", 8)
        == "probe_3 = GET_found()\nmade = POST_rooms(name='probe 8', key=f'{probe_3}')"
    )
    assert kept_creation("POST_rooms(name='probe 3')", "made", 8) is None
    assert kept_creation("", "made", 8) is None
