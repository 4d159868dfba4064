"""World files: the little that a document cannot say about the things behind it, and what is told of wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest
import requests

from protocols import UsageError, load
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import (
    Client,
    described,
    faults_of,
    operation,
)

WORLDS = Path(__file__).resolve().parents[3] / "benchmarks" / "worlds"
TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def library() -> dict[str, object]:
    """Books with tools and shelves; nothing about its parameters tells what they do."""
    tool = {"type": "object", "properties": {"id": WHOLE, "name": TEXT}}
    book = {
        "type": "object",
        "required": ["id", "title"],
        "properties": {"id": WHOLE, "title": TEXT, "mood": TEXT, "pages": WHOLE, "weight": TEXT, "printed": tool},
    }
    books, ids = {"type": "array", "items": book}, {"type": "array", "items": WHOLE}
    state = {"type": "object", "properties": {"reading": book, "lamp": {"type": "boolean"}, "level": WHOLE}}
    me = {"type": "object", "properties": {"id": TEXT, "login": TEXT}}
    paths = {
        "/books": {
            "get": operation(
                "/books", answer=books, alpha=TEXT, beta=TEXT, gamma=TEXT, low=WHOLE, high=WHOLE, n=WHOLE, leaf=WHOLE
            )
        },
        "/books/{book_id}": {"get": operation("/books/{book_id}", answer=book)},
        "/me": {"get": operation("/me", answer=me)},
        "/me/shelf": {
            "get": operation("/me/shelf", answer=books),
            "put": operation("/me/shelf", status=204, these=ids),
            "post": operation("/me/shelf", status=204, these=ids),
            "patch": operation("/me/shelf", status=204, these=ids),
            "delete": operation("/me/shelf", status=204, these=ids),
        },
        "/me/desk": {"get": operation("/me/desk", answer=state)},
        "/me/desk/dim": {"put": operation("/me/desk/dim", status=204, by=WHOLE)},
        "/me/desk/night": {"put": operation("/me/desk/night", status=204)},
        "/me/desk/take": {"put": operation("/me/desk/take", status=204, what=WHOLE)},
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


@contextmanager
def world_client(folder: Path, text: str = WORLD_TEXT) -> Iterator[Client]:
    """A simulated library with a world file."""
    file = folder / "world.yaml"
    file.write_text(dedent(text))
    with Simulator(load(library()), world=file) as simulator:
        yield Client(simulator)


def list_books(client: Client, path: str = "/books", **query: object) -> list[dict[str, object]]:
    """What an operation lists."""
    reply = client.send("GET", path, **query)
    assert reply.status_code == 200, reply.text
    return reply.json()  # type: ignore[no-any-return]


def test_entities_are_as_many_and_called_as_told(tmp_path: Path) -> None:
    """Sizes, pinned ones with their values, names, vocabularies and ranges; the same in every view."""
    with world_client(tmp_path) as client:
        books = list_books(client, n=1000)
        emma = next(book for book in books if book["title"] == "Emma")

        assert len(books) == 70
        assert [book["title"] for book in books[:2]] == ["Moby Dick", "Emma"]
        assert (emma["mood"], emma["pages"]) == ("witty", 474)
        assert {"The Lamp", "The Lantern", "A Lamp at Sea", "Tides", "Old Tides"} <= {book["title"] for book in books}
        assert {book["mood"] for book in books} == {"witty", "merry", "grim"}
        assert all(100 <= book["pages"] <= 300 for book in books if book is not emma)  # type: ignore[operator]
        assert {book["weight"] for book in books} == {"200g", "350g", "500g"}
        assert {book["printed"]["name"] for book in books} == {"Offset", "Letterpress"}  # type: ignore[index]
        assert client.get(f"/books/{emma['id']}") == emma


def test_parameters_mean_what_is_told(tmp_path: Path) -> None:
    """exact, prefix, contains, range (of numbers, and of texts that begin with one), limit and page."""
    with world_client(tmp_path) as client:
        everything = list_books(client, n=1000)

        assert [book["title"] for book in list_books(client, alpha="tides")] == ["Tides"]
        begun = {str(book["title"]) for book in list_books(client, beta="the la")}
        assert begun >= {"The Lamp", "The Lantern"}
        assert all(title.startswith("The La") for title in begun)
        assert {"The Lamp", "A Lamp at Sea"} <= {book["title"] for book in list_books(client, gamma="lamp")}
        assert all(book["pages"] >= 200 for book in list_books(client, low=200, n=1000))  # type: ignore[operator]
        assert {book["weight"] for book in list_books(client, high=350, n=1000)} == {"200g", "350g"}
        assert list_books(client, n=7) == everything[:7]
        assert list_books(client, n=7, leaf=3) == everything[14:21]
        assert (
            list_books(client, low=200, high=350, n=3)
            == [
                book
                for book in everything
                if book["pages"] >= 200 and book["weight"] != "500g"  # type: ignore[operator]
            ][:3]
        )


def test_writes_do_what_is_told(tmp_path: Path) -> None:
    """set replaces, append puts at the end even twice, add only what is not there, remove takes out."""
    with world_client(tmp_path) as client:
        first, second, third = (book["id"] for book in list_books(client)[:3])

        def write(method: str, *ids: object) -> list[object]:
            reply = client.send(method, "/me/shelf?" + "&".join(f"these={id}" for id in ids))
            assert reply.status_code == 204
            return [book["id"] for book in list_books(client, "/me/shelf")]

        assert write("PUT", second, first) == [second, first]
        assert write("POST", second, third) == [second, first, second, third]
        assert write("PATCH", first, third) == [second, first, second, third]
        assert write("DELETE", second) == [first, third]
        assert write("PATCH", second) == [first, third, second]
        assert client.send("PUT", "/me/shelf?these=999999999").status_code == 404
        assert [book["id"] for book in list_books(client, "/me/shelf")] == [first, third, second]

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
    with Simulator(
        load(data / "toolflow" / f"{name}.tools.json"), auth=False, world=WORLDS / f"{name}.yaml"
    ) as simulator:
        client = Client(simulator)
        fixed = {
            p.name: str(p.schema.get("const"))
            for t in simulator.protocol.tools
            for p in t.parameters
            if "const" in p.schema
        }

        def get_reply(path: str, **query: object) -> requests.Response:
            return client.send("GET", path, None, fixed, **query)

        for tool in simulator.protocol.tools:
            needed = {p.name: "2024-05-01" for p in tool.parameters if p.required and "const" not in p.schema}
            if not any(word in tool.path for word in "{"):
                assert faults_of(client, tool, get_reply(tool.path, **needed)) == []
        if name == "weather":
            assert [place["country"] for place in get_reply("/find_places", text="lond").json()] == ["United Kingdom"]
            assert {place["name"] for place in get_reply("/find_places_prefix", text="Be").json()} == {"Berlin"}
        else:
            sauces = get_reply("/food/products/search", query="sauce", number=3).json()["products"]
            assert len(sauces) == 3
            assert all("sauce" in product["title"].lower() for product in sauces)
            recipe = get_reply("/recipes/complexSearch", query="pasta").json()["results"][0]
            assert "pasta" in recipe["title"].lower()
            assert get_reply(f"/recipes/{recipe['id']}/equipmentWidget.json").json()["equipment"]
