"""What is surely meant is put right, and the rest is told."""

from __future__ import annotations

import pytest

from atc.assist.check import apply_edits, check, fix_syntax
from protocols import load
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from tests.atc.assist.check.programs import checked, protocols


def test_what_was_looked_up_and_never_used_was_meant() -> None:
    """A person's credits have jobs, and no names; the film's have both."""
    looked = "credits = GET_people_personId_credits(personId=1)\nfilm_credits = GET_films_filmId_credits(filmId=2)\n"
    wrong = f'{looked}print([one for one in credits["crew"] if one["job"] == "Director"][0]["name"])'

    assert apply_edits(wrong, checked(wrong, "cinema")) == wrong.replace("in credits[", "in film_credits[")


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("print(datetime.now().year)", "from datetime import datetime"),
        ("print(datetime.datetime.now().year)", "import datetime"),
        ("print(timedelta(days=1))", "from datetime import timedelta"),
        ('print(json.dumps({"a": 1}))', "import json"),
        ('print(Counter("abca"))', "from collections import Counter"),
    ],
)
def test_what_was_not_imported_is(program: str, line: str) -> None:
    """Names of the standard library that everybody knows."""
    diagnostics = checked(program, "cinema")

    assert [(diagnostic.rule, diagnostic.edit is not None) for diagnostic in diagnostics] == [("unknown-name", True)]
    assert apply_edits(program, diagnostics) == f"{line}\n{program}"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ('["cast"] if one["job"] == "Director"', '["crew"] if one["job"] == "Director"'),
        ('["crew"] if one["title"]', '["crew"] if one["name"]'),
        ('["crew"] if one["title"] and one["title"] != "X"', '["crew"] if one["name"] and one["name"] != "X"'),
        ('["crew"] if one[0]["name"]', '["crew"] if one["name"]'),
    ],
)
def test_a_key_of_the_object_beside_is_meant(wrong: str, right: str) -> None:
    """Who has the key, of two lists in one response; what a thing is called, under its other name, wherever it is on a
    line; and a key of what is one thing already."""
    program = 'print([one for one in GET_films_filmId_credits(filmId=GET_films()["films"][0]["filmId"]){}])'
    graph = ProtocolGraph(protocols()["cinema"])
    contract = Contract(graph.protocol)

    assert apply_edits(
        program.format(wrong), check(program.format(wrong), contract, None, None, graph)
    ) == program.format(right)


def test_a_key_is_taken_from_what_the_program_calls_the_entry() -> None:
    """Of several things in an entry that have it."""
    text = {"type": "object", "properties": {"uri": {"type": "string"}}}
    entry = {"type": "object", "properties": {"owner": text, "song": text}}
    schema = {"type": "array", "items": entry}
    answer = {"description": "", "content": {"application/json": {"schema": schema}}}
    paths = {"/entries": {"get": {"responses": {"200": answer}}}}
    contract = Contract(load({"openapi": "3.0.3", "info": {"title": "It", "version": "1"}, "paths": paths}))
    program = 'print([song["uri"] for song in GET_entries()])'

    diagnostics = check(program, contract, None, None, ProtocolGraph(contract.protocol))

    assert apply_edits(program, diagnostics) == 'print([song["song"]["uri"] for song in GET_entries()])'


def test_a_key_of_the_whole_is_not_sought_in_a_part() -> None:
    """It is said where it is, and taken from there."""
    program = 'film = GET_films(query="Dune")["films"][0]\nprint(film["totalPages"])'
    (diagnostic,) = checked(program, "cinema")

    assert diagnostic.message.endswith('; "totalPages" is in GET_films(…)["totalPages"]')
    better = apply_edits(program, [diagnostic])
    assert better is not None
    assert better.endswith("print(GET_films(query='Dune')[\"totalPages\"])")
    assert checked(better, "cinema") == []
    (nested,) = checked('print([film["totalPages"] for film in GET_films(query="Dune")["films"]])', "cinema")
    assert (nested.suggestion, nested.edit) == ('["totalPages"]', None)


def test_the_list_that_is_meant_is_gone_through() -> None:
    """The one whose items have the keys that are asked for; where there are several, they are named."""
    contract = Contract(protocols()["cinema"])
    start = 'credits = GET_films_filmId_credits(filmId=GET_films()["films"][0]["filmId"])\n'
    filtered = f'{start}print([who["name"] for who in credits if who["job"] == "Director"])'
    any_of = f'{start}for who in credits:\n    print(who["name"])'

    assert apply_edits(filtered, check(filtered, contract)) == filtered.replace(
        "in credits if", 'in credits["crew"] if'
    )
    (diagnostic,) = check(any_of, contract)
    assert (diagnostic.edit, diagnostic.tool) == (None, "GET_films_filmId_credits")
    least = f'{start}print(min(credits, key=lambda who: who["job"])["name"])'
    assert apply_edits(least, check(least, contract)[:1]) == least.replace("(credits,", '(credits["crew"],')
    assert diagnostic.message.endswith("the lists of GET_films_filmId_credits(…) are cast, crew")


def test_each_loop_over_a_dict_is_put_right() -> None:
    """Two loops may have a variable of the same name."""
    contract = Contract(protocols()["cinema"])
    start = 'credits = GET_films_filmId_credits(filmId=GET_films()["films"][0]["filmId"])\n'
    twice = 'one = [who["name"] for who in credits if who["job"]]\ntwo = [who["name"] for who in credits if who["job"]]'
    program = f"{start}{twice}"

    assert apply_edits(program, check(program, contract)) == program.replace("in credits if", 'in credits["crew"] if')


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ('print(f"It is {film["title"]}, {x}", "a")', 'print(f"It is {film[\'title\']}, {x}", "a")'),
        ("print(GET_films(", None),
        ('print(f"{film}")', None),
    ],
)
def test_slips_of_small_models_are_put_right(wrong: str, right: str | None) -> None:
    """Only where they are all that keeps it from being Python."""
    assert fix_syntax(wrong) == right


def test_what_another_call_returns_of_a_thing_is_no_key_of_like_spelling() -> None:
    """`book["notes"]` is what `/books/{book_id}/notes` returns, not `book["note"]`."""
    text = {"type": "string"}

    def answer(*names: str) -> dict[str, object]:
        items = {"type": "object", "properties": dict.fromkeys(names, text)}
        listed = {"application/json": {"schema": {"type": "array", "items": items}}}
        return {"responses": {"200": {"description": "", "content": listed}}}

    number = [{"in": "path", "name": "book_id", "required": True, "schema": text}]
    paths = {
        "/books": {"get": answer("book_id", "note")},
        "/books/{book_id}/notes": {"get": {"parameters": number, **answer("note_id", "text")}},
    }
    protocol = load({"openapi": "3.0.3", "info": {"title": "Books", "version": "1"}, "paths": paths})
    graph = ProtocolGraph(protocol)
    program = 'book = GET_books()[0]\nprint(book["notes"][0]["text"])\n'

    diagnostics = check(program, Contract(protocol), None, None, graph)

    assert [(diagnostic.rule, diagnostic.edit, diagnostic.suggestion) for diagnostic in diagnostics] == [
        ("unknown-key", None, None)
    ]


def test_a_response_that_nothing_is_done_with_is_the_one_that_is_meant() -> None:
    """Where it has the key at the same place; one that is read somewhere is not."""

    def answer(*names: str) -> dict[str, object]:
        items = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        listed = {"application/json": {"schema": {"type": "object", "properties": {"crew": {"items": items}}}}}
        return {"get": {"responses": {"200": {"description": "", "content": listed}}}}

    paths = {"/boats": answer("job", "title"), "/trips": answer("job", "name")}
    protocol = load({"openapi": "3.0.3", "info": {"title": "Coast", "version": "1"}, "paths": paths})
    begun = "boats = GET_boats()\ntrips = GET_trips()\n"

    def fixed(line: str) -> str | None:
        return apply_edits(begun + line, check(begun + line, Contract(protocol), None, None, ProtocolGraph(protocol)))

    wrong = 'print([one["name"] for one in boats["crew"]])'
    assert fixed(wrong) == begun + wrong.replace("boats", "trips")
    assert fixed(f"print(trips)\n{wrong}") == begun + "print(trips)\n" + wrong.replace("name", "title")
