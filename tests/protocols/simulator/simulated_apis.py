"""Simulated APIs: a client of them, arguments for their tools, what is wrong with their replies, small documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jsonschema import Draft202012Validator

from protocols import Tool, load
from protocols.calls.credentials import ANY_REQUEST
from protocols.simulator import Session, Simulator

TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


@dataclass(frozen=True)
class Reply:
    """What a simulator replies to a request."""

    status: int
    content: bytes
    headers: Mapping[str, str]

    def json(self) -> Any:
        return json.loads(self.content)


class Client:
    """Sends requests to a simulator, or to a session of it, as its HTTP server does; with its credential or without."""

    def __init__(self, simulator: Simulator, session: Session | None = None, *, signed_in: bool = True) -> None:
        self.simulator = simulator
        self.base = f"/__session__/{session.id}" if session is not None else ""
        self.signed_in = signed_in

    def send(
        self, method: str, path: str, body: object = None, /, *extra_headers: Mapping[str, str], **query: object
    ) -> Reply:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        pairs = list(query.items())
        for credential in self.simulator.credentials if self.signed_in else ():
            headers |= credential.sign(ANY_REQUEST)
            pairs += credential.query().items()
        for entries in extra_headers:
            headers |= entries
        joined = urlencode(pairs, doseq=True)
        target = self.base + path + (("&" if "?" in path else "?") + joined if joined else "")
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        status, reply, _, reply_headers = self.simulator.handle(method, target, headers, content)
        return Reply(status, reply, reply_headers)

    def get(self, path: str, **query: object) -> Any:
        reply = self.send("GET", path, **query)
        assert reply.status == 200, (path, query, reply.content[:300])
        return reply.json()

    def call(self, tool: Tool, arguments: Mapping[str, object], body: object = None) -> Reply:
        path = tool.path
        query = dict(arguments)
        for parameter in tool.parameters:
            if parameter.location == "path":
                path = path.replace(f"{{{parameter.name}}}", str(query.pop(parameter.name)))
        return self.send(tool.method, path, body, **query)


def client_of(document: Mapping[str, object], question: str = "", world: Path | None = None) -> Client:
    """A client of a document's simulated API, in a world with what the question names."""
    simulator = Simulator(load(document), auth=False, world=world)
    return Client(simulator, simulator.session(question) if question else None)


def faults_of(client: Client, tool: Tool, reply: Reply) -> list[str]:
    """What is wrong with a reply, measured by the document alone."""
    protocol = client.simulator.protocol
    success = tool.success
    if reply.status // 100 != 2:
        return [f"{tool.name}: {reply.status} {reply.content[:200]!r}"]
    if success is None or success.schema is None:
        return [] if not reply.content else [f"{tool.name}: a body where none is documented"]
    body = reply.json()
    validator = Draft202012Validator(
        protocol.standalone(success.schema), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    faults = [f"{tool.name}: {list(e.absolute_path)} {e.message[:150]}" for e in validator.iter_errors(body)]
    faults += [f"{tool.name}: {place} is missing" for ex in success.examples for place in missing(ex, body)]
    if any(key == "" for key in keys_of(body)):
        faults.append(f"{tool.name}: an empty key")
    return faults


def missing(example: object, body: object, place: str = "") -> Iterator[str]:
    """Keys that the document's example has and a body has not; a list item must be like some item of the example."""
    if isinstance(example, dict) and isinstance(body, dict):
        for key, value in example.items():
            if key and key not in body:
                yield f"{place}.{key}"
            elif key:
                yield from missing(value, body[key], f"{place}.{key}")
    elif isinstance(example, list) and isinstance(body, list) and example:
        for item in body[:5]:
            lacks = [list(missing(example_item, item, f"{place}[]")) for example_item in example[:30]]
            yield from min(lacks, key=len)


def keys_of(body: object) -> Iterator[str]:
    if isinstance(body, dict):
        yield from body
        for value in body.values():
            yield from keys_of(value)
    elif isinstance(body, list):
        for value in body:
            yield from keys_of(value)


def objects_of(body: object, key: str = "") -> Iterator[tuple[str, dict[str, object]]]:
    """Every object in a body with the key that holds it."""
    if isinstance(body, dict):
        yield key, body
        for name, value in body.items():
            yield from objects_of(value, name)
    elif isinstance(body, list):
        for value in body:
            yield from objects_of(value, key)


def movie_arguments(client: Client) -> dict[str, object]:
    names = {"movie": "Glass Meridian", "tv": "Harbor Lights", "person": "Orla Quist", "company": "Quist Pictures"}
    arguments: dict[str, object] = {"query": "Orla Quist", "media_type": "movie", "time_window": "week"}
    for kind, name in (names | {"collection": "Meridian Collection"}).items():
        arguments[f"{kind}_id"] = client.get(f"/search/{kind}", query=name)["results"][0]["id"]
    arguments["network_id"] = client.get(f"/tv/{arguments['tv_id']}")["networks"][0]["id"]
    arguments["review_id"] = client.get(f"/movie/{arguments['movie_id']}/reviews")["results"][0]["id"]
    arguments["credit_id"] = client.get(f"/tv/{arguments['tv_id']}/credits")["crew"][0]["credit_id"]
    return {**arguments, "season_number": 2, "episode_number": 3}


def music_arguments(client: Client) -> dict[str, object]:
    results = client.get("/search", q="Glass Meridian", type="album,artist,track,playlist")
    ids: dict[str, object] = {kind: results[kind + "s"]["items"][0]["id"] for kind in ("album", "artist", "track")}
    ids["uri"] = results["tracks"]["items"][0]["uri"]
    ids["playlist_id"] = client.get("/me/playlists")["items"][0]["id"]
    ids["user_id"] = client.get("/me")["id"]
    return ids


def music_values(tool: Tool, ids: dict[str, object]) -> dict[str, object]:
    """The required arguments of a tool of the music protocol."""
    kind = next((kind for kind in ("album", "artist", "track") if f"/{kind}s/{{id}}" in tool.path), "")
    kind = kind or next((kind for kind in ("album", "artist", "track") if f"/{kind}s" in tool.path), "artist")
    values = {
        **ids, "id": ids[kind], "ids": ids[kind], "q": "Orla Quist", "type": "track", "uris": ids["uri"],
        "seed_artists": ids["artist"], "seed_tracks": ids["track"], "seed_genres": "rock",
        "state": "track", "volume_percent": 30, "position_ms": 1000, "device_id": "x",
    }  # fmt: skip
    if tool.path == "/me/following":
        values["type"] = "artist"
    if tool.path == "/me/top/{type}":
        values["type"] = "tracks"
    return {p.name: values[p.name] for p in tool.parameters if p.required}


def operation(
    answer: object = None,
    query: Mapping[str, object] | None = None,
    *,
    body: object = None,
    status: int = 200,
    description: str = "",
) -> dict[str, Any]:
    """One operation of a document: the schemas of its answer, of its parameters in the query and of its body."""
    content = {"content": {"application/json": {"schema": answer}}} if answer is not None else {}
    described_operation: dict[str, Any] = {
        "description": description,
        "parameters": [{"name": name, "in": "query", "schema": schema} for name, schema in (query or {}).items()],
        "responses": {str(status): {"description": "Done.", **content}},
    }
    if body is not None:
        described_operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return described_operation


def object_of(*required: str, **properties: object) -> dict[str, Any]:
    """The schema of an object."""
    return {"type": "object", "required": list(required), "properties": properties}


def list_of(item: object) -> dict[str, Any]:
    """The schema of a list."""
    return {"type": "array", "items": item}


def described(paths: Mapping[str, object], **components: object) -> dict[str, object]:
    """A document of version 3.0."""
    return {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths, "components": components}
