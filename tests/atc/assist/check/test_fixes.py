"""What is surely meant is put right, and the rest is told."""

from __future__ import annotations

import pytest

from atc.assist.check import apply_edits, check, fix_syntax
from protocols import load
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from protocols.samples import sample
from protocols.simulator import Simulator
from sandbox import Sandbox
from tests.atc.assist.check.programs import checked, protocols


def body(**properties: str) -> dict[str, object]:
    """A good response with these keys and types."""
    schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}}
    return {"200": {"description": "Good", "content": {"application/json": {"schema": schema}}}}


def test_the_best_of_several_may_be_none_at_first() -> None:
    """Whoever looks for it begins with nothing; where that line is missing it is put in."""
    search = """for film in GET_films(query="Dune")["films"]:
    if not best or film["title"] > best["title"]:
        best = film
print(best["title"])"""

    assert checked(f"best = None\n{search}", "cinema") == []
    assert apply_edits(search, checked(search, "cinema")) == f"best = None\n{search}"
    assert checked('best = None\nprint(best["title"])', "cinema")


@pytest.mark.parametrize("first", ["", "least = None\n"])
def test_the_least_of_several_begins_with_more_than_any(first: str) -> None:
    """A number cannot be compared with None; nor is what counts without a beginning begun with it."""
    search = """for film in GET_films(query="Dune")["films"]:
    if film["rating"] < least:
        least = film["rating"]
print(least)"""
    diagnostics = checked(first + search, "cinema")

    assert apply_edits(first + search, diagnostics) == f'least = float("inf")\n{search}'
    most = search.replace("<", ">")
    assert apply_edits(first + most, checked(first + most, "cinema")) == f'least = float("-inf")\n{most}'
    tested = "least = None\n" + search.replace("if ", "if least is None or ")
    assert checked(tested, "cinema") == []
    count = 'for film in GET_films(query="Dune")["films"]:\n    count += 1\nprint(count)'
    assert apply_edits(count, checked(count, "cinema")) == f"count = 0\n{count}"


@pytest.mark.parametrize(("method", "empty"), [("append", "[]"), ("add", "set()")])
def test_what_is_filled_is_empty_at_first(method: str, empty: str) -> None:
    """A list or a set that nobody begins; what is only read is told."""
    filled = f"""for film in GET_films(query="Dune")["films"]:
    titles.{method}(film["title"])
print(sorted(titles))"""

    assert apply_edits(filled, checked(filled, "cinema")) == f"titles = {empty}\n{filled}"
    read = filled.replace(f"titles.{method}", "print")
    assert apply_edits(read, checked(read, "cinema")) is None


def test_what_was_looked_up_and_never_used_was_meant() -> None:
    """A person's credits have jobs, and no names; the film's have both."""
    looked = "credits = GET_people_personId_credits(personId=1)\nfilm_credits = GET_films_filmId_credits(filmId=2)\n"
    wrong = looked + 'print([one for one in credits if one["job"] == "Director"][0]["name"])'

    better = apply_edits(wrong, checked(wrong, "cinema"))
    assert better is not None
    assert better.endswith('print([one for one in film_credits["crew"] if one["job"] == "Director"][0]["name"])')

    used = wrong + '\nprint(film_credits["filmId"])'
    assert "go through film_credits" not in str(checked(used, "cinema")[0].message)


def test_a_text_is_compared_as_the_number_in_it() -> None:
    """As of "45 g" or of a day its year; what joins texts takes a number as one."""
    films = 'film = GET_films(query="Dune")["films"][0]\n'
    wrong = 'print("é", 1990 <= film["releaseDate"] <= 2000, "Rated " + film["rating"])'
    number = 'float(re.search("[0-9]+[.]?[0-9]*", film["releaseDate"])[0])'

    better = apply_edits(films + wrong, checked(films + wrong, "cinema"))
    assert better == f'{films}print("é", 1990 <= {number} <= 2000, "Rated " + str(film["rating"]))'
    best = apply_edits(better, checked(better, "cinema"))
    assert best == f"import re\n{better}"
    assert checked(best, "cinema") == []
    years = films + 'print(film["releaseDate"] - film["releaseDate"])'
    while diagnostics := checked(years, "cinema"):
        years = str(apply_edits(years, diagnostics))
    assert years == f"import re\n{films}print({number} - {number})"
    spoken = f"{films}print(f\"é {{film['releaseDate'] - 1990:.0f}} years\")"
    assert apply_edits(spoken, checked(spoken, "cinema")) == spoken.replace(
        "film['releaseDate']", "float(re.search('[0-9]+[.]?[0-9]*', film['releaseDate'])[0])"
    )
    unclear = films + 'print(film["title"] + 1)'
    assert [diagnostic.edit for diagnostic in checked(unclear, "cinema")] == [None]
    cinema = protocols()["cinema"]
    with Simulator(cinema, auth=False) as service, Sandbox(cinema, base_url=service.url) as box:
        assert box.run(str(best).replace('query="Dune"', "")).stdout.startswith("é ")


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
    of_module = "import datetime\nprint(datetime.now().year)"
    assert (
        apply_edits(of_module, checked(of_module, "cinema"))
        == "from datetime import datetime\nprint(datetime.now().year)"
    )


def test_what_is_surely_meant_is_put_right() -> None:
    """A function by its arguments and not its name alone, what one call yields, the list in a page."""
    user = {"name": "user_id", "in": "path", "required": True, "schema": {"type": "string"}}
    wish = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}
    spec = {
        "openapi": "3.1.0",
        "info": {"title": "Wishes", "version": "1"},
        "servers": [{"url": "https://wishes.example"}],
        "paths": {
            "/me": {"get": {"responses": body(id="string", name="string")}},
            "/users/{user_id}": {"get": {"parameters": [user], "responses": body(id="string", name="string")}},
            "/users/{user_id}/wishes": {
                "post": {
                    "parameters": [user],
                    "requestBody": {"required": True, "content": {"application/json": {"schema": wish}}},
                    "responses": body(id="string"),
                }
            },
        },
    }
    protocol = load(spec)
    graph, contract = ProtocolGraph(protocol), Contract(protocol)
    program = 'wish = POST_me_wishes(title="Ball")\nprint(wish["id"])'
    for _ in range(2):
        program = apply_edits(program, check(program, contract, None, None, graph)) or "not mended"

    assert program == 'wish = POST_users_user_id_wishes(user_id=GET_me()["id"], title="Ball")\nprint(wish["id"])'
    assert check(program, contract, None, None, graph) == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ('GET_people("Ana Bell")["people"]', 'GET_people(query="Ana Bell")["people"]'),
        ('GET_films_top_rated(2)["films"]', 'GET_films_top_rated(page=2)["films"]'),
        ('GET_films("Dune")["films"]', None),
    ],
)
def test_a_value_without_a_name_gets_the_only_one(wrong: str, right: str | None) -> None:
    """That of the only required argument, or of the only argument."""
    contract = Contract(load(sample("cinema")))
    edited = apply_edits(f"print({wrong})", check(f"print({wrong})", contract))

    assert edited == (f"print({right})" if right is not None else None)


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


def test_a_list_that_is_not_wrapped_is_taken_as_it_is() -> None:
    contract = Contract(protocols()["cinema"])
    program = 'for one in GET_films()["films"]["items"][:2]:\n    print(one["title"])'

    assert apply_edits(program, check(program, contract)) == program.replace('["items"]', "")


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
        ("the film = GET_films()\nprint(the film)", "the_film = GET_films()\nprint(the_film)"),
        ('print(f"It is {film["title"]}, {x}", "a")', 'print(f"It is {film[\'title\']}, {x}", "a")'),
        ("print(GET_films(", None),
        ('print(f"{film}")', None),
    ],
)
def test_slips_of_small_models_are_put_right(wrong: str, right: str | None) -> None:
    """Only where they are all that keeps it from being Python."""
    assert fix_syntax(wrong) == right


def test_the_tool_that_takes_what_is_given_is_called() -> None:
    """Where it is the only one of a like name, and nothing of it is missing; what it does not return is left out."""
    place = {"in": "query", "name": "place", "required": True, "schema": {"type": "string"}}
    day = {**place, "name": "date"}
    days: dict[str, object] = {"type": "object", "properties": {"data": {"type": "array", "items": {"type": "object"}}}}
    pages: dict[str, object] = {"type": "object", "properties": {"daily": days}}

    def answers(schema: dict[str, object]) -> dict[str, object]:
        return {"200": {"description": "Good", "content": {"application/json": {"schema": schema}}}}

    spec = {
        "openapi": "3.1.0",
        "info": {"title": "Tides", "version": "1"},
        "servers": [{"url": "https://tides.example"}],
        "paths": {
            "/daily_tides": {"get": {"parameters": [place], "responses": answers(pages)}},
            "/past_tides": {"get": {"parameters": [place, day], "responses": answers(days)}},
            "/winds": {"get": {"parameters": [place, day], "responses": answers(days)}},
        },
    }
    contract = Contract(load(spec))
    wrong = 'print(GET_daily_tides(place="Oslo", date="2024-05-01")["daily"]["data"])'
    diagnostics = check(wrong, contract)

    assert [diagnostic.message for diagnostic in diagnostics] == [
        'GET_daily_tides(): no parameter named "date"; it takes place; '
        "GET_past_tides and GET_winds take it; write GET_past_tides"
    ]
    better = apply_edits(wrong, diagnostics)
    assert better is not None
    assert (
        apply_edits(better, check(better, contract)) == 'print(GET_past_tides(place="Oslo", date="2024-05-01")["data"])'
    )
    (unclear,) = check('print(GET_daily_tides(place="Oslo", day="2024-05-01"))', contract)
    assert unclear.edit is None


def test_identifiers_become_objects_where_these_are_listed() -> None:
    """`[{"uri": …}]` for what takes such objects and is given what they hold, or another identifier of the same thing;
    what is computed elsewhere is told, and objects are right."""
    text = {"type": "string"}
    song = {"type": "object", "properties": {"id": text, "uri": text, "title": text}}
    answer = {"content": {"application/json": {"schema": {"type": "array", "items": song}}}, "description": ""}
    held = {"type": "array", "items": {"type": "object", "properties": {"uri": text}}}
    schema = {"type": "object", "properties": {"songs": held}, "required": ["songs"]}
    takes = {"required": True, "content": {"application/json": {"schema": schema}}}
    paths = {
        "/songs": {"get": {"responses": {"200": answer}}},
        "/shelf": {"post": {"requestBody": takes, "responses": {"204": {"description": ""}}}},
    }
    protocol = load({"openapi": "3.0.3", "info": {"title": "Songs", "version": "1"}, "paths": paths})

    def fixed(argument: str) -> str:
        begin = 'songs = GET_songs()\nuris = [song["uri"] for song in songs]\n'
        diagnostics = check(
            f"{begin}POST_shelf(songs={argument})\n", Contract(protocol), None, None, ProtocolGraph(protocol)
        )
        assert [(diagnostic.line, diagnostic.rule) for diagnostic in diagnostics] in ([], [(3, "wrong-type")])
        if not diagnostics:
            return "right"
        assert 'takes objects: [{"uri": …}, …]' in diagnostics[0].message
        return diagnostics[0].edit.text if diagnostics[0].edit else "told"

    assert fixed('[song["id"] for song in songs]') == '{"uri": song["uri"]}'
    assert fixed('[songs[0]["uri"]]') == '{"uri": songs[0]["uri"]}'
    assert fixed('songs[0]["uri"]') == '[{"uri": songs[0]["uri"]}]'
    assert fixed("uris") == "told"
    assert fixed('[{"uri": song["uri"]} for song in songs]') == fixed("songs") == "right"


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


def test_a_key_is_taken_from_the_entry_of_the_same_day() -> None:
    """Where the program holds another list whose entries have it; a list that says no day has nothing in common."""

    def answer(*names: str) -> dict[str, object]:
        items = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        listed = {"application/json": {"schema": {"type": "object", "properties": {"days": {"items": items}}}}}
        return {"get": {"responses": {"200": {"description": "", "content": listed}}}}

    paths = {
        "/tides": answer("day", "high", "low"),
        "/moon": answer("day", "phase"),
        "/boats": answer("name", "length"),
    }
    protocol = load({"openapi": "3.0.3", "info": {"title": "Coast", "version": "1"}, "paths": paths})
    begun = 'tides = GET_tides()["days"]\nmoons = GET_moon()["days"]\nboats = GET_boats()["days"]\n'

    def fixed(line: str) -> str | None:
        return apply_edits(begun + line, check(begun + line, Contract(protocol), None, None, ProtocolGraph(protocol)))

    right = (
        'print([(tide["high"], next(one for one in moons if one["day"] == tide["day"])["phase"]) for tide in tides])'
    )
    assert fixed('print([(tide["high"], tide["phase"]) for tide in tides])') == begun + right
    assert fixed('print([tide["length"] for tide in tides])') is None


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


GATHERS = """films = []
for name in ["Dune", "Tenet"]:
    film = GET_films(query=name)["films"][0]
    credits = GET_films_filmId_credits(filmId=film["filmId"])
    films.append({"film": film, "credits": credits})
"""


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ('print([one["credits"]["title"] for one in films])', 'print([one["film"]["title"] for one in films])'),
        (
            'best = max(films, key=lambda one: one["film"]["title"])\nprint(best["credits"]["title"])',
            'best = max(films, key=lambda one: one["film"]["title"])\nprint(best["film"]["title"])',
        ),
        (
            'print([one["film"]["title"] > 3 for one in sorted(films, key=lambda one: one["film"]["title"])[:2]])',
            'print([float(re.search("[0-9]+[.]?[0-9]*", one["film"]["title"])[0]) > 3 for one in '
            'sorted(films, key=lambda one: one["film"]["title"])[:2]])',
        ),
    ],
)
def test_entries_of_a_list_of_the_program_are_known(wrong: str, right: str) -> None:
    """What is in them comes from the calls that set their variables."""
    assert apply_edits(GATHERS + wrong, checked(GATHERS + wrong, "cinema")) == GATHERS + right


@pytest.mark.parametrize(
    "use",
    [
        'print([one["film"]["title"] for one in films], films[0]["credits"]["cast"][0]["name"])',
        'some = [one for one in films if one["film"]["title"] > "D"]\nprint(min(some, key=lambda x: len(x["film"])))',
        'for one in films:\n    one["seen"] = True\nprint([one["seen"] for one in films])',
        'films.extend([{"seen": 1}])\nprint([one["seen"] for one in films])',
        'for film in GET_films()["films"]:\n    print(film["title"])',
    ],
)
def test_of_other_lists_nothing_is_said(use: str) -> None:
    assert checked(GATHERS + use, "cinema") == []


def test_what_entries_lack_is_told() -> None:
    (diagnostic,) = checked(f'{GATHERS}print([one["cast"] for one in films])', "cinema")
    assert (diagnostic.rule, diagnostic.line, diagnostic.key) == ("unknown-key", 6, "cast")
    assert diagnostic.message == 'the entries of films have no "cast", only film, credits: append it, too'
