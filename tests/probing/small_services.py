"""Three small services of different style, to be probed: each keeps its things, and knows what it had at first.

- Cms: a store of items in SQLite with `{"data": …}` around all, relations that are a number or an object, and system
  collections. It answers 200 to what is made, 204 to a few, and 500 after the row is stored to one.
- Books: pages of `results`, and errors by field.
- Registry: kinds and settings that are keys of an object, and a POST that answers nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import yaml
from click.testing import CliRunner, Result

from atc.apps.cli import main
from protocols import load
from protocols.model import Protocol
from tests.local_api import PREFIX, Answer, LocalAPI, Received

__all__ = ["Books", "Cms", "CommandRun", "Registry", "Small", "probe_by_command"]

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def _parameter(name: str, where: str = "query", schema: Mapping[str, Any] = TEXT) -> dict[str, Any]:
    return {"name": name, "in": where, "schema": schema, "required": where == "path"}


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


class Small(LocalAPI):
    """A service with a document of its own."""

    paths: Mapping[str, Any]
    components: Mapping[str, Any] = {}

    @property
    def document(self) -> dict[str, Any]:
        """Its document, in OpenAPI 3.1."""
        head = {"openapi": "3.1.0", "info": {"title": type(self).__name__, "version": "1"}}
        servers = [{"url": "https://documented.example"}]
        return {**head, "servers": servers, "paths": self.paths, "components": {"schemas": self.components}}

    @property
    def protocol(self) -> Protocol:
        return load(self.document)

    def next(self, received: Received) -> Answer:
        self.requests.append(received)
        parts = [unquote(part) for part in received.path.removeprefix(PREFIX).strip("/").split("/")]
        return self.reply(received, parts, dict(received.query))

    def reply(self, received: Received, parts: list[str], query: dict[str, str]) -> Answer:
        """What a request is answered."""
        raise NotImplementedError


class CommandRun(NamedTuple):
    """What `atc probe` said and wrote: the report by tool, and the document."""

    result: Result
    tools: dict[str, dict[str, Any]]
    document: dict[str, Any]


def probe_by_command(folder: Path, document: object, url: str, *more: str) -> CommandRun:
    """The command, without a model, for a service at an address; `learned.yaml` and `report.json` are in the folder."""
    spec, out, report = folder / "spec.json", folder / "learned.yaml", folder / "report.json"
    spec.write_text(json.dumps(document))
    command = ["probe", str(spec), "--base-url", url, "--model", "none", "-o", str(out), "--report", str(report)]
    result = CliRunner().invoke(main, [*command, *more])
    assert "Traceback" not in result.output
    tools = {tool["tool"]: tool for tool in json.loads(report.read_text())["tools"]}
    return CommandRun(result, tools, yaml.safe_load(out.read_text()))


_KINDS = ("suppliers", "products", "users", "notes", "folders", "links")


class Cms(Small):
    """Items of several kinds in SQLite."""

    components = {  # noqa: RUF012
        "Supplier": {"type": "object", "properties": {"id": NUMBER, "name": TEXT, "country": TEXT}},
        "Product": {
            "type": "object",
            "properties": {
                "id": NUMBER,
                "name": TEXT,
                "supplier": {"oneOf": [NUMBER, {"$ref": "#/components/schemas/Supplier"}, {"type": "null"}]},
            },
        },
    }

    def __init__(self) -> None:
        super().__init__()
        self._rows = sqlite3.connect(":memory:", check_same_thread=False)
        self._rows.execute("create table things (id integer primary key, kind text, body text)")
        self.deleted = 0
        for kind, body in (
            ("suppliers", {"name": "North Mill", "country": "NO"}),
            ("suppliers", {"name": "Harbour", "country": "PT"}),
            ("products", {"name": "Rye flour", "supplier": 1}),
            ("users", {"first_name": "Ada", "role": "editor"}),
            ("notes", {"text": "Order flour"}),
            ("links", {"weight": 3}),
        ):
            self._insert(kind, body)
        self.paths = {path: item for kind in _KINDS for path, item in self._of(kind)}
        self.paths |= {
            "/permissions": {"get": {"parameters": [_parameter("collection")], "responses": {}}},
            "/ping": {"get": {"responses": {}}},
            "/revisions": {"get": {"parameters": [_parameter("search")], "responses": {}}},
        }

    def _of(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        place = f"/items/{kind}" if kind in ("suppliers", "products") else f"/{kind}"
        queries = ["search", "fields", "filter", "sort"]
        parameters = [*map(_parameter, queries), _parameter("limit", schema=NUMBER)]
        name = {"suppliers": "Supplier", "products": "Product"}.get(kind)
        simple = {"type": "object", "properties": {"weight": NUMBER} if kind == "links" else {"text": TEXT}}
        schema = {"$ref": f"#/components/schemas/{name}"} if name else simple
        identifier = {"parameters": [_parameter("id", "path", NUMBER)]}
        body = {"requestBody": {"required": True, **_json(schema)}, "responses": {}}
        return [
            (place, {"get": {"parameters": parameters, "responses": {}}, "post": body}),
            (f"{place}/{{id}}", {**identifier, "get": {"responses": {}}, "patch": body, "delete": {"responses": {}}}),
        ]

    def _insert(self, kind: str, body: Mapping[str, Any]) -> int:
        row_id = self._rows.execute("insert into things (kind, body) values (?, ?)", (kind, json.dumps(body))).lastrowid
        return int(row_id or 0)

    def stored(self) -> list[tuple[int, str, str]]:
        """All rows."""
        return self._rows.execute("select id, kind, body from things order by id").fetchall()

    def _things(self, kind: str) -> list[dict[str, Any]]:
        return [{"id": number, **json.loads(body)} for number, own, body in self.stored() if own == kind]

    def reply(self, received: Received, parts: list[str], query: dict[str, str]) -> Answer:
        parts = parts[1:] if parts[0] == "items" else parts
        if parts == ["ping"]:
            return Answer(200, "pong")
        if parts == ["revisions"]:
            return Answer(200, {"data": []})
        if parts == ["permissions"]:
            if "collection" not in query:
                return Answer(400, {"errors": [{"message": 'Invalid query. "collection" is required.'}]})
            return Answer(200, {"data": {"collection": query["collection"], "read": True}})
        items = self._things(parts[0])
        if received.method == "POST":
            return self._make(parts[0], dict(received.json()))  # type: ignore[call-overload]
        if len(parts) == 1:
            word = query.get("search")
            held = [item for item in items if word is None or word in item.values()]
            return Answer(200, {"data": held[: int(query.get("limit", 100))]})
        matches = [item for item in items if str(item["id"]) == parts[1]]
        if not matches:
            return Answer(403, {"errors": [{"message": "You don't have permission to access this."}]})
        if received.method == "DELETE":
            self._rows.execute("delete from things where id = ?", (matches[0]["id"],))
            return Answer(204)
        if received.method == "PATCH":
            changed = {**matches[0], **dict(received.json())}  # type: ignore[call-overload]
            del changed["id"]
            self._rows.execute("update things set body = ? where id = ?", (json.dumps(changed), matches[0]["id"]))
        return Answer(200, {"data": matches[0]})

    def _make(self, kind: str, body: dict[str, Any]) -> Answer:
        if isinstance(body.get("supplier"), dict):  # a row of its own, which nobody asked for
            body["supplier"] = self._insert("suppliers", body["supplier"])
        number = self._insert(kind, body)
        if kind == "notes":
            return Answer(204)
        if kind == "folders":
            return Answer(500, {"errors": [{"message": "The index is out of date"}]}, {"Retry-After": "0"})
        return Answer(200, {"data": {"id": number, **body}})


class Books(Small):
    """Books and their authors, in pages."""

    paths = {  # noqa: RUF012
        "/authors/": {
            "get": {"parameters": [_parameter("page", schema=NUMBER), _parameter("search")], "responses": {}}
        },
        "/authors/{id}/": {"get": {"parameters": [_parameter("id", "path", NUMBER)], "responses": {}}},
        "/books/": {"get": {"parameters": [_parameter("author"), _parameter("search")], "responses": {}}},
        "/books/{id}/": {"get": {"parameters": [_parameter("id", "path", NUMBER)], "responses": {}}},
        "/loans/": {"get": {"parameters": [_parameter("search")], "responses": {}}},
        "/loans/{id}/": {"get": {"parameters": [_parameter("id", "path", NUMBER)], "responses": {}}},
        "/shelf/": {"get": {"parameters": [_parameter("isbn"), _parameter("page", schema=NUMBER)], "responses": {}}},
        "/stock/": {"get": {"parameters": [_parameter("isbn"), _parameter("year", schema=NUMBER)], "responses": {}}},
    }

    def reply(self, received: Received, parts: list[str], query: dict[str, str]) -> Answer:
        authors = [{"id": 11, "full_name": "Ida Holm"}, {"id": 12, "full_name": "Per Lund"}]
        books = [{"id": 31, "title": "Tides", "isbn": "978-1", "year": 1999, "author": 11}]
        shelves = {"authors": authors, "books": books, "loans": []}
        match parts:
            case ["shelf"] if query.get("isbn") != "978-1":
                return Answer(400, {"isbn": ["This field is required."]})
            case ["shelf"]:
                return Answer(200, {"room": "B", "row": 4})
            case ["stock"] if query.get("isbn") != "978-1" or query.get("year") != "1999":
                missing = [name for name in ("isbn", "year") if name not in query]
                details = [{"loc": ["query", name], "msg": "Field required", "type": "missing"} for name in missing]
                return Answer(422, {"detail": details})
            case ["stock"]:
                return Answer(200, {"left": 3})
            case [kind]:
                held = [item for item in shelves[kind] if query.get("search", "") in ("", *map(str, item.values()))]
                held = held if query.get("author", "11") == "11" else []
                return Answer(200, {"count": len(held), "next": None, "previous": None, "results": held})
            case [kind, number]:
                matches = [item for item in shelves[kind] if str(item["id"]) == number]
                return Answer(200, matches[0]) if matches else Answer(404, {"detail": "Not found."})
        return Answer(404, {"detail": "Not found."})


def _get(*parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"get": {"parameters": list(parameters), "responses": {}}}


_UNTOLD = {"type": "array", "items": {"type": "object", "properties": {}, "additionalProperties": False}}


class Registry(Small):
    """People, places and the packages in a few rooms."""

    paths = {  # noqa: RUF012
        "/rooms": {
            **_get(),
            "post": {
                "requestBody": {
                    "required": True,
                    **_json({"type": "object", "required": ["name"], "properties": {"name": TEXT}}),
                },
                "responses": {"201": {"description": "made"}},
            },
        },
        "/rooms/{room_name}": {"delete": {"parameters": [_parameter("room_name", "path")], "responses": {}}},
        "/types": _get(),
        "/types/{type}": _get(_parameter("type", "path")),
        "/settings": _get(),
        "/settings/{key}": _get(_parameter("key", "path")),
        "/places": _get(),
        "/people": {"get": {"responses": {"200": {"description": "OK", **_json(_UNTOLD)}}}},
        "/places/search": {"get": {"parameters": [{**_parameter("q"), "required": True}], "responses": {}}},
    }

    def __init__(self) -> None:
        super().__init__()
        self.rooms = ["maps", "old maps"]

    def reply(self, received: Received, parts: list[str], query: dict[str, str]) -> Answer:
        people = [{"handle": f"i{number}", "name": name} for number, name in enumerate(("Ida", "Per", "Ola", "Eva"))]
        places = [{"handle": f"p{number}", "name": name} for number, name in enumerate(("Hamar", "Moss", "Voss"))]
        types = {"birth": ["early", "late"], "move": ["inland", "abroad"], "visit": []}
        settings = {"MAIL_HOST": "mail.example"}
        match received.method, parts:
            case "POST", ["rooms"]:
                self.rooms.append(received.json()["name"])  # type: ignore[index]
                return Answer(201, None)
            case "DELETE", ["rooms", room] if room in self.rooms:
                self.rooms.remove(room)
                return Answer(204)
            case "GET", ["rooms"]:
                return Answer(200, [{"name": room, "public": True} for room in self.rooms])
            case "GET", ["types"]:
                return Answer(200, types)
            case "GET", ["types", name] if types.get(name):
                return Answer(200, types[name])
            case "GET", ["settings"]:
                return Answer(200, settings)
            case "GET", ["settings", name] if name in settings:
                return Answer(200, {"value": settings[name]})
            case "GET", ["places", "search"]:
                return Answer(200, [place for place in places if place["name"] == query["q"]])
            case "GET", ["people" | "places" as kind]:
                return Answer(200, people if kind == "people" else places)
        return Answer(404, {"detail": "Not found."})
