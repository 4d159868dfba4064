"""World files: the little that a document cannot say about the things behind it, and what is told of wrong ones."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from protocols import UsageError, load
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import (
    TEXT,
    WHOLE,
    Client,
    Reply,
    client_of,
    described,
    faults_of,
    list_of,
    object_of,
    operation,
)

WORLDS = Path(__file__).resolve().parents[3] / "benchmarks" / "worlds"


def library() -> dict[str, object]:
    """Books with tools and shelves; nothing about its parameters tells what they do."""
    press = object_of(id=WHOLE, name=TEXT)
    book = object_of("id", "title", id=WHOLE, title=TEXT, mood=TEXT, pages=WHOLE, weight=TEXT, printed=press)
    desk = object_of(reading=book, lamp={"type": "boolean"}, level=WHOLE)
    parameters = dict.fromkeys(("alpha", "beta", "gamma"), TEXT) | dict.fromkeys(("low", "high", "n", "leaf"), WHOLE)
    change = operation(None, {"these": list_of(WHOLE)}, status=204)
    paths = {
        "/books": {"get": operation(list_of(book), parameters)},
        "/books/{book_id}": {"get": operation(book)},
        "/me": {"get": operation(object_of(id=TEXT, login=TEXT))},
        "/me/shelf": {
            "get": operation(list_of(book)),
            **dict.fromkeys(("put", "post", "patch", "delete"), change),
        },
        "/me/desk": {"get": operation(desk)},
        "/me/desk/dim": {"put": operation(None, {"by": WHOLE}, status=204)},
        "/me/desk/night": {"put": operation(status=204)},
        "/me/desk/take": {"put": operation(None, {"what": WHOLE}, status=204)},
    }
    return described(paths)


WORLD_TEXT = """
    vocabularies:
      moods: [merry, grim]
    entities:
      book:
        size: 70
        names: [The Lamp, The Lantern, A Lamp at Sea, Tides, Old Tides]
        pinned: [Moby Dick, {title: Emma, mood: witty, pages: 474}]
        fields:
          mood: moods
          pages: {from: 100, to: 300}
          weight: [200g, 350g, 500g]
      press: {size: 2, names: [Offset, Letterpress]}
    relations:
      book.printed: press
    effects:
      PUT /me/shelf: {set: me.shelf, from: these}
      POST /me/shelf: {append: me.shelf, from: these}
      PATCH /me/shelf: {add: me.shelf, from: these}
      DELETE /me/shelf: {remove: me.shelf, from: these}
      PUT /me/desk/dim: {set: /me/desk.level, from: by}
      PUT /me/desk/night: [{set: /me/desk.lamp, to: false}, {set: /me/desk.level, to: 0}]
      PUT /me/desk/take: {set: /me/desk.reading, from: what}
    queries:
      GET /books:
        alpha: exact title
        beta: prefix title
        gamma: contains title
        low: range pages from
        high: range weight to
        n: limit
        leaf: page
"""


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """A client of a simulated library with a world file."""
    file = tmp_path / "world.yaml"
    file.write_text(dedent(WORLD_TEXT))
    return client_of(library(), world=file)


def titles(client: Client, **query: object) -> list[str]:
    """The titles of the books that a request lists."""
    return [book["title"] for book in client.get("/books", **query)]


def test_entities_are_as_many_and_called_as_told(client: Client) -> None:
    """Sizes, pinned ones with their values, names, vocabularies and ranges; the same in every view."""
    books = client.get("/books", n=1000)
    emma = next(book for book in books if book["title"] == "Emma")

    assert len(books) == 70
    assert [book["title"] for book in books[:2]] == ["Moby Dick", "Emma"]
    assert (emma["mood"], emma["pages"]) == ("witty", 474)
    assert {"The Lamp", "The Lantern", "A Lamp at Sea", "Tides", "Old Tides"} <= {book["title"] for book in books}
    assert {book["mood"] for book in books} == {"witty", "merry", "grim"}
    assert all(100 <= book["pages"] <= 300 for book in books if book is not emma)
    assert {book["weight"] for book in books} == {"200g", "350g", "500g"}
    assert {book["printed"]["name"] for book in books} == {"Offset", "Letterpress"}
    assert client.get(f"/books/{emma['id']}") == emma


def test_parameters_mean_what_is_told(client: Client) -> None:
    """exact, prefix, contains, range (of numbers, and of texts that begin with one), limit and page."""
    everything = client.get("/books", n=1000)

    assert titles(client, alpha="tides") == ["Tides"]
    assert set(titles(client, beta="the la")) >= {"The Lamp", "The Lantern"}
    assert all(title.startswith("The La") for title in titles(client, beta="the la"))
    assert {"The Lamp", "A Lamp at Sea"} <= set(titles(client, gamma="lamp"))
    assert all(book["pages"] >= 200 for book in client.get("/books", low=200, n=1000))
    assert {book["weight"] for book in client.get("/books", high=350, n=1000)} == {"200g", "350g"}
    assert client.get("/books", n=7) == everything[:7]
    assert client.get("/books", n=7, leaf=3) == everything[14:21]
    both = [book for book in everything if book["pages"] >= 200 and book["weight"] != "500g"]
    assert client.get("/books", low=200, high=350, n=3) == both[:3]


def test_writes_do_what_is_told(client: Client) -> None:
    """set replaces, append puts at the end even twice, add only what is not there, remove takes out."""
    first, second, third = (book["id"] for book in client.get("/books")[:3])

    def write(method: str, *ids: int) -> list[int]:
        assert client.send(method, "/me/shelf", these=ids).status == 204
        return [book["id"] for book in client.get("/me/shelf")]

    assert write("PUT", second, first) == [second, first]
    assert write("POST", second, third) == [second, first, second, third]
    assert write("PATCH", first, third) == [second, first, second, third]
    assert write("DELETE", second) == [first, third]
    assert write("PATCH", second) == [first, third, second]
    assert client.send("PUT", "/me/shelf", these=999999999).status == 404
    assert [book["id"] for book in client.get("/me/shelf")] == [first, third, second]

    client.send("PUT", "/me/desk/dim", by=7)
    client.send("PUT", "/me/desk/take", what=second)
    desk = client.get("/me/desk")
    assert (desk["level"], desk["reading"]["id"]) == (7, second)
    client.send("PUT", "/me/desk/night")
    assert (client.get("/me/desk")["lamp"], client.get("/me/desk")["level"]) == (False, 0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("entities:\n  book:\n    sise: 3\n", "line 2: entities → book: sise: not known here"),
        ("entities:\n  boook: {size: 3}\n", "line 2: entities → boook: there is no such kind; is it 'book'?"),
        (
            "entities:\n  book:\n    fields:\n      moood: [a]\n",
            "line 4: entities → book → fields → moood: book has no such field",
        ),
        ("entities:\n  book:\n    names: moods\n", "line 3: entities → book → names: there is no vocabulary 'moods'"),
        ("entities:\n  book: {size: 0}\n", "line 2: entities → book → size: 0 is less than the minimum of 1"),
        ("relations:\n  book.printed: [pres]\n", "line 2: relations → book.printed: there is no kind 'pres'"),
        ("entities:\n  press: {size: 2}\nrelations:\n  book.printed: [press]\n", None),
        ("relations:\n  book.author: book\n", "line 2: relations → book.author: no answer shows 'author' of book"),
        (
            "relations:\n  printed: book\n",
            "line 2: relations → printed: 'printed' is not written as it must be: KIND.LABEL",
        ),
        (
            "effects:\n  PUT /me/shelves: {set: me.shelf, from: these}\n",
            "there is no PUT /me/shelves; is it 'PUT /me/shelf'?",
        ),
        ("effects:\n  PUT /me/shelf: {set: me.shelf, from: those}\n", "there is no parameter 'those'; is it 'these'?"),
        ("effects:\n  PUT /me/desk/dim: {set: /me/desk.brightness, from: by}\n", "GET /me/desk shows no 'brightness'"),
        ("effects:\n  PUT /me/desk/dim: {add: /me/desk.level, from: by}\n", "can only be `set`, not `add`"),
        ("effects:\n  GET /books: {set: me.shelf, from: alpha}\n", "only a write has effects"),
        (
            "queries:\n  GET /books: {alfa: exact title}\n",
            "line 2: queries → GET /books → alfa: no such parameter; is it 'alpha'?",
        ),
        ("queries:\n  GET /books: {alpha: like title}\n", "'like title' is not written as it must be: exact FIELD"),
        ("entities: [\n", "this is no YAML"),
        ("- book\n", "line 1: a world file is an object"),
        ("entities:\n  book: {size: 3}\n  book: {size: 4}\n", "line 3: entities → book: told twice"),
    ],
)
def test_a_wrong_world_file_is_told_with_line_and_key(tmp_path: Path, text: str, problem: str | None) -> None:
    """Also what would lead nowhere: a relation, effect or parameter that the document does not have."""
    file = tmp_path / "world.yaml"
    file.write_text(text)
    if problem is None:  # a kind that only the world file knows is one from then on
        Simulator(load(library()), world=file)
        return
    with pytest.raises(UsageError) as caught:
        Simulator(load(library()), world=file)

    assert str(caught.value).startswith(str(file))
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["food", "weather"])
def test_the_world_files_of_tool_files_fit(data: Path, name: str) -> None:
    """Names that the files tell are found, and every answer is still one that the document allows."""
    protocol = load(data / "toolflow" / f"{name}.tools.json")
    client = Client(Simulator(protocol, auth=False, world=WORLDS / f"{name}.yaml"))
    parameters = [parameter for tool in protocol.tools for parameter in tool.parameters]
    fixed = {p.name: str(p.schema["const"]) for p in parameters if "const" in p.schema}

    def reply_of(path: str, **query: object) -> Reply:
        return client.send("GET", path, None, fixed, **query)

    def body_of(path: str, **query: object) -> Any:
        return reply_of(path, **query).json()

    for tool in protocol.tools:
        needed = {p.name: "2024-05-01" for p in tool.parameters if p.required and "const" not in p.schema}
        if "{" not in tool.path:
            assert faults_of(client, tool, reply_of(tool.path, **needed)) == []
    if name == "weather":
        assert [place["country"] for place in body_of("/find_places", text="lond")] == ["United Kingdom"]
        assert {place["name"] for place in body_of("/find_places_prefix", text="Be")} == {"Berlin"}
    else:
        sauces = body_of("/food/products/search", query="sauce", number=3)["products"]
        assert len(sauces) == 3
        assert all("sauce" in product["title"].lower() for product in sauces)
        recipe = body_of("/recipes/complexSearch", query="pasta")["results"][0]
        assert "pasta" in recipe["title"].lower()
        assert body_of(f"/recipes/{recipe['id']}/equipmentWidget.json")["equipment"]
