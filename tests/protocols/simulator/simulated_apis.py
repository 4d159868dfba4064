"""Simulated APIs: a client of them, arguments for their tools, what is wrong with their replies, small documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import requests
from jsonschema import Draft202012Validator

from protocols import Tool
from protocols.calls.credentials import ANY_REQUEST
from protocols.simulator import Simulator

Arguments = Mapping[str, object]


class Client:
    """Talks to a simulator over real HTTP, with or without its credential."""

    def __init__(self, simulator: Simulator, signed_in: bool = True) -> None:
        self.simulator = simulator
        self.signed_in = signed_in
        self.session = requests.Session()

    def send(
        self, method: str, path: str, body: object = None, /, *extra_headers: Mapping[str, str], **query: object
    ) -> requests.Response:
        headers = {name: value for entries in extra_headers for name, value in entries.items()}
        pairs: list[tuple[str, str]] = []
        cookies: dict[str, str] = {}
        for credential in self.simulator.credentials if self.signed_in else ():
            headers |= credential.sign(ANY_REQUEST)
            pairs += credential.query().items()
            cookies |= credential.cookies()
        pairs += [(name, str(value)) for name, value in query.items()]
        url = self.simulator.url + path
        return self.session.request(method, url, params=pairs, json=body, headers=headers, cookies=cookies, timeout=20)

    def get(self, path: str, **query: object) -> dict:  # type: ignore[type-arg]
        reply = self.send("GET", path, **query)
        assert reply.status_code == 200, (path, reply.text[:300])
        return reply.json()  # type: ignore[no-any-return]

    def call(self, tool: Tool, arguments: Arguments, body: object = None) -> requests.Response:
        path = tool.path
        query = dict(arguments)
        headers: dict[str, str] = {}
        for parameter in tool.parameters:
            if parameter.location == "path":
                path = path.replace(f"{{{parameter.name}}}", str(query.pop(parameter.name)))
            elif parameter.location == "header" and parameter.name in query:
                headers[parameter.name] = str(query.pop(parameter.name))
        return self.send(tool.method, path, body, headers, **query)


def faults_of(client: Client, tool: Tool, reply: requests.Response) -> list[str]:
    """What is wrong with a reply, measured by the document alone."""
    protocol = client.simulator.protocol
    success = tool.success
    if reply.status_code // 100 != 2:
        return [f"{tool.name}: {reply.status_code} {reply.text[:200]}"]
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


TMDB_SOURCES = {
    "movie_id": ("/search/movie", "Glass Meridian", ("results", 0, "id")),
    "tv_id": ("/search/tv", "Harbor Lights", ("results", 0, "id")),
    "person_id": ("/search/person", "Orla Quist", ("results", 0, "id")),
    "company_id": ("/search/company", "Quist Pictures", ("results", 0, "id")),
    "collection_id": ("/search/collection", "Meridian Collection", ("results", 0, "id")),
}


def dig(body: object, path: tuple[str | int, ...]) -> object:
    for step in path:
        body = body[step]  # type: ignore[index]
    return body


def movie_arguments(client: Client) -> dict[str, object]:
    arguments: dict[str, object] = {"query": "Orla Quist", "media_type": "movie", "time_window": "week"}
    for name, (path, text, place) in TMDB_SOURCES.items():
        arguments[name] = dig(client.get(path, query=text), place)
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


def operation(path: str, *, body: object = None, answer: object = None, status: int = 200, **query: object) -> dict:  # type: ignore[type-arg]
    """One operation of a document; parameters in the path are strings, those of the query as their schemas say."""
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", path)
    ]
    parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in query.items()]
    content = {"application/json": {"schema": answer}} if answer is not None else None
    reply = {"description": "Done.", **({"content": content} if content else {})}
    described_operation: dict[str, object] = {"parameters": parameters, "responses": {str(status): reply}}
    if body is not None:
        described_operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return described_operation


def described(paths: Mapping[str, object], **components: object) -> dict[str, object]:
    """A document of version 3.0."""
    return {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths, "components": components}
