"""What is sent to a simulated API, and how: parameters, credentials, bodies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from protocols import load
from protocols.calls.binding import bind
from protocols.calls.credentials import ANY_REQUEST
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import Client, described, faults_of, operation


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 200), ("?tags=a&tags=b", 200), ("?limit=3", 200), ("?limit=null", 200), ("?limit=x", 400), ("?tree=a", 400)],
)
def test_parameters_that_may_be_null_are_read_by_their_other_type(query: str, status: int) -> None:
    tree = {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}
    tags = {"type": "array", "nullable": True, "items": {"type": "string"}}
    item_list = {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}
    whole = {"type": "integer", "nullable": True}
    listed = operation("/l", answer=item_list, tags=tags, limit=whole, tree={"$ref": "#/components/schemas/Tree"})

    simulator = Simulator(load(described({"/l": {"get": listed}}, schemas={"Tree": tree})))
    assert simulator.handle("GET", "/l" + query, {}, b"")[0] == status


def pets_document() -> dict[str, object]:
    """Operations that ask for one scheme, for another, for either, for both, and for none."""
    security: dict[str, list[dict[str, list[str]]]] = {
        "/pets": [{"petstore_auth": []}],
        "/store/inventory": [{"api_key": []}],
        "/either": [{"petstore_auth": []}, {"api_key": []}],
        "/both": [{"petstore_auth": [], "api_key": []}],
        "/optional": [{"petstore_auth": []}, {}],
        "/open": [],
    }
    answer = {"type": "object", "properties": {"count": {"type": "integer"}}}
    paths = {path: {"get": {**operation(path, answer=answer), "security": ways}} for path, ways in security.items()}
    flow = {"authorizationUrl": "https://pets.example.com/login", "scopes": {}}
    schemes = {
        "petstore_auth": {"type": "oauth2", "flows": {"implicit": flow}},
        "api_key": {"type": "apiKey", "in": "header", "name": "api_key"},
        "unused": {"type": "http", "scheme": "basic"},
    }
    return described(paths, securitySchemes=schemes)


def test_each_operation_takes_the_credentials_that_it_asks_for() -> None:
    """There is one for each scheme in use; any alternative that is wholly there will do."""
    simulator = Simulator(load(pets_document()))
    by_scheme = {credential.scheme: credential for credential in simulator.credentials}
    assert list(by_scheme) == ["petstore_auth", "api_key"]

    def accepted(*schemes: str) -> list[str]:
        headers: dict[str, str] = {}
        for scheme in schemes:
            headers |= by_scheme[scheme].sign(ANY_REQUEST)
        paths = [tool.path for tool in simulator.protocol.tools]
        return [path for path in paths if simulator.handle("GET", path, headers, b"")[0] == 200]

    assert accepted() == ["/optional", "/open"]
    assert accepted("petstore_auth") == ["/pets", "/either", "/optional", "/open"]
    assert accepted("api_key") == ["/store/inventory", "/either", "/optional", "/open"]
    assert accepted("petstore_auth", "api_key") == [tool.path for tool in simulator.protocol.tools]


def test_the_command_tells_every_credential(tmp_path: Path) -> None:
    (tmp_path / "pets.json").write_text(json.dumps(pets_document()))
    command = [str(Path(sys.executable).with_name("atc")), "simulate", str(tmp_path / "pets.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        _, first, second = (process.stdout.readline() for _ in range(3))
        process.terminate()

    assert first.startswith("credential: header Authorization: Bearer simulated-")
    assert second.startswith("credential: header api_key: simulated-")


def goods_document(media_type: str) -> dict[str, object]:
    """Goods are made from a body; the server alone gives them their id."""
    properties = {
        "id": {"type": "integer", "readOnly": True},
        "name": {"type": "string"},
        "price": {"type": "number", "minimum": 0},
        "sizes": {"type": "array", "items": {"type": "integer"}},
    }
    good = {"type": "object", "required": ["id", "name", "price"], "properties": properties}
    create = operation("/goods", answer=good, status=201)
    create["responses"]["422"] = {"description": "Wrong."}
    create["requestBody"] = {"required": True, "content": {media_type: {"schema": good}}}
    return described({"/goods": {"post": create}})


@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"])
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"name": "Lamp", "price": 12.5, "sizes": [1, 2]}, 201),
        ({}, 422),
        ({"name": "Lamp"}, 422),
        ({"name": "Lamp", "price": "abc"}, 422),
        ({"name": "Lamp", "price": -1}, 422),
        ({"name": "Lamp", "price": 1, "sizes": [1, "big"]}, 422),
    ],
)
def test_a_body_is_checked_whatever_its_media_type(media_type: str, sent: dict[str, object], status: int) -> None:
    """What it must hold, and of which type; the refusal is the documented one."""
    with Simulator(load(goods_document(media_type))) as simulator:
        pairs = [(n, str(v)) for n, value in sent.items() for v in (value if isinstance(value, list) else [value])]
        if media_type == "application/json":
            reply = requests.post(simulator.url + "/goods", json=sent, timeout=10)
        elif media_type == "multipart/form-data":
            files = [(name, (None, text)) for name, text in pairs] or [("other", (None, "x"))]
            reply = requests.post(simulator.url + "/goods", files=files, timeout=10)
        else:
            reply = requests.post(simulator.url + "/goods", data=pairs or {"other": "x"}, timeout=10)

    assert reply.status_code == status
    if status == 201:
        assert {name: reply.json()[name] for name in sent} == sent


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 400),
        ({"Cookie": "visit=soon; X=1", "X_Tenant": "a"}, 400),
        ({"Cookie": "visit=7"}, 400),
        ({"cookie": "X=1; visit=7", "x_tenant": "a"}, 200),
    ],
)
def test_cookies_and_headers_are_parameters_too(headers: dict[str, str], status: int) -> None:
    """A right request before does not help a wrong one."""
    get = operation("/l", answer={"type": "object", "properties": {"count": {"type": "integer"}}})
    visit = {"name": "visit", "in": "cookie", "required": True, "schema": {"type": "integer"}}
    get["parameters"] = [visit, {"name": "X-Tenant", "in": "header", "required": True, "schema": {"type": "string"}}]
    simulator = Simulator(load(described({"/l": {"get": get}})))
    assert simulator.handle("GET", "/l", {"Cookie": "visit=7", "X-Tenant": "a"}, b"")[0] == 200

    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    assert simulator.handle("GET", "/l", sent, b"")[0] == status


@pytest.mark.parametrize(
    ("style", "explode"),
    [("deepObject", True), ("form", True), ("form", False), ("pipeDelimited", False), ("json", False)],
)
def test_an_object_in_the_query_is_read_as_it_is_called(style: str, explode: bool) -> None:
    """However a required object is laid out, the call gets through and filters; without it or with a wrong one not."""
    colour = {"type": "string", "enum": ["red", "green"]}
    fields = {"color": colour, "most": {"type": "integer"}, "near": {"type": "array", "items": {"type": "number"}}}
    schema = {"type": "object", "required": ["color"], "properties": fields, "additionalProperties": False}
    if style in {"form", "pipeDelimited"} and not explode:
        del fields["near"]  # a list within a list of texts is not told apart
    item = {"type": "object", "required": ["id", "color"], "properties": {"id": {"type": "integer"}, "color": colour}}
    laid = {"content": {"application/json": {"schema": schema}}} if style == "json" else {"schema": schema}
    named = {} if style == "json" else {"style": style, "explode": explode}
    page = {"name": "page", "in": "query", "schema": {"type": "integer"}}
    listed = operation("/things", answer={"type": "array", "items": item})
    listed["parameters"] = [{"name": "filter", "in": "query", "required": True, **laid, **named}, page]
    protocol = load(described({"/things": {"get": listed}}))
    filter_value = {"color": "red", "most": 3} | ({"near": [1.5, 2]} if "near" in fields else {})
    query = bind(protocol.tools[0], [], {"filter": filter_value, "page": 1}).query

    with Simulator(protocol) as simulator:
        matching = requests.get(simulator.url + "/things", params=query, timeout=10)
        wrong = [(name, text.replace("red", "blue")) for name, text in query]
        refused = [requests.get(simulator.url + "/things", params=p, timeout=10) for p in (wrong, [("page", "1")])]

    assert matching.status_code == 200, matching.text
    assert {entry["color"] for entry in matching.json()} == {"red"}
    assert [reply.status_code for reply in refused] == [400, 400]


def test_what_was_sent_is_shown_as_the_answer_documents_it() -> None:
    """Fields that an answer must have are filled in, what does not fit is left out, and the rest is as it was sent."""
    text = {"type": "string"}
    address = {"type": "object", "required": ["street", "city"], "properties": {"street": text, "city": text}}
    tag = {"type": "object", "required": ["label"], "properties": {"label": text, "weight": {"type": "integer"}}}
    properties = {"userId": {"type": "integer"}, "address": address, "tags": {"type": "array", "items": tag}}
    user = {"type": "object", "required": ["userId", "address", "tags"], "properties": properties}
    paths = {
        "/users": {"post": operation("/users", body={"type": "object"}, answer=user, status=201)},
        "/users/{userId}": {"get": operation("/users/{userId}", answer=user)},
    }
    with Simulator(load(described(paths))) as simulator:
        client = Client(simulator)
        sent = {"address": {"street": "y", "city": 1}, "tags": [{"label": "new", "weight": "heavy"}, 5]}
        created = client.send("POST", "/users", sent)
        fetched = client.send("GET", f"/users/{created.json()['userId']}")

    assert faults_of(client, simulator.protocol.tool("POST_users"), created) == []
    assert fetched.json() == created.json()
    assert created.json()["address"]["street"] == "y"
    assert created.json()["tags"] == [{"label": "new"}]
