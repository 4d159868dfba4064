"""What is sent to a simulated API, and how: parameters, credentials, bodies."""

from __future__ import annotations

import pytest
import requests

from protocols import load
from protocols.calls.binding import bind
from protocols.calls.credentials import ANY_REQUEST
from protocols.simulator import Simulator
from tests.protocols.simulator.simulated_apis import (
    NUMBER,
    TEXT,
    WHOLE,
    client_of,
    described,
    faults_of,
    list_of,
    object_of,
    operation,
)

COUNT = object_of(count=WHOLE)


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 200), ("?tags=a&tags=b", 200), ("?limit=3", 200), ("?limit=null", 200), ("?limit=x", 400), ("?tree=a", 400)],
)
def test_parameters_that_may_be_null_are_read_by_their_other_type(query: str, status: int) -> None:
    tree = {"$ref": "#/components/schemas/Tree"}
    parameters = {"tags": {**list_of(TEXT), "nullable": True}, "limit": {**WHOLE, "nullable": True}, "tree": tree}
    listed = operation(list_of(object_of(id=WHOLE)), parameters)

    client = client_of(described({"/l": {"get": listed}}, schemas={"Tree": list_of(tree)}))
    assert client.send("GET", "/l" + query).status == status


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
    paths = {path: {"get": {**operation(COUNT), "security": ways}} for path, ways in security.items()}
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


GOOD = object_of("id", "name", "price", id={**WHOLE, "readOnly": True}, name=TEXT, price={**NUMBER, "minimum": 0})
GOOD["properties"]["sizes"] = list_of(WHOLE)


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
    create = operation(GOOD, status=201)
    create["responses"]["422"] = {"description": "Wrong."}
    create["requestBody"] = {"required": True, "content": {media_type: {"schema": GOOD}}}
    pairs = [(n, str(v)) for n, value in sent.items() for v in (value if isinstance(value, list) else [value])]
    encoded: dict[str, object] = {
        "application/json": {"json": sent},
        "application/x-www-form-urlencoded": {"data": pairs or {"other": "x"}},
        "multipart/form-data": {"files": [(name, (None, text)) for name, text in pairs] or [("other", (None, "x"))]},
    }
    request = requests.Request("POST", "http://localhost/goods", **encoded[media_type]).prepare()  # type: ignore[arg-type]
    body = request.body.encode() if isinstance(request.body, str) else request.body

    reply = client_of(described({"/goods": {"post": create}})).send("POST", "/goods", body, request.headers)

    assert reply.status == status
    if status == 201:
        assert {name: reply.json()[name] for name in sent} == sent


@pytest.mark.parametrize(("label", "size", "status"), [("message/rfc822", "7", 201), ("multipart/mixed", "big", 422)])
def test_the_parts_of_a_form_are_read_as_they_are(label: str, size: str, status: int) -> None:
    """Names have any letters, and a file may be a mail, which is not taken apart."""
    form = object_of("größe", "mail", größe=WHOLE, mail={**TEXT, "format": "binary"})
    create = operation(COUNT, status=201)
    create["responses"]["422"] = {"description": "Wrong."}
    create["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": form}}}
    files = {"größe": (None, size), "mail": ("a.eml", b"Subject: a\r\n\r\nb\r\n", label)}
    request = requests.Request("POST", "http://localhost/mails", files=files).prepare()

    reply = client_of(described({"/mails": {"post": create}})).send("POST", "/mails", request.body, request.headers)

    assert reply.status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 400),
        ({"Cookie": "visit=soon; X=1", "X-Tenant": "a"}, 400),
        ({"Cookie": "visit=7"}, 400),
        ({"cookie": "X=1; visit=7", "x-tenant": "a"}, 200),
    ],
)
def test_cookies_and_headers_are_parameters_too(headers: dict[str, str], status: int) -> None:
    """A right request before does not help a wrong one."""
    get = operation(COUNT)
    visit = {"name": "visit", "in": "cookie", "required": True, "schema": WHOLE}
    get["parameters"] = [visit, {"name": "X-Tenant", "in": "header", "required": True, "schema": TEXT}]
    client = client_of(described({"/l": {"get": get}}))
    assert client.send("GET", "/l", None, {"Cookie": "visit=7", "X-Tenant": "a"}).status == 200

    assert client.send("GET", "/l", None, headers).status == status


@pytest.mark.parametrize(
    ("style", "explode"),
    [("deepObject", True), ("form", True), ("form", False), ("pipeDelimited", False), ("json", False)],
)
def test_an_object_in_the_query_is_read_as_it_is_called(style: str, explode: bool) -> None:
    """However a required object is laid out, the call gets through and filters; without it or with a wrong one not."""
    colour = {"type": "string", "enum": ["red", "green"]}
    schema = {**object_of("color", color=colour, most=WHOLE, near=list_of(NUMBER)), "additionalProperties": False}
    if style in {"form", "pipeDelimited"} and not explode:
        del schema["properties"]["near"]  # a list within a list of texts is not told apart
    laid = {"content": {"application/json": {"schema": schema}}} if style == "json" else {"schema": schema}
    named = {} if style == "json" else {"style": style, "explode": explode}
    listed = operation(list_of(object_of("id", "color", id=WHOLE, color=colour)), {"page": WHOLE})
    listed["parameters"].append({"name": "filter", "in": "query", "required": True, **laid, **named})
    client = client_of(described({"/things": {"get": listed}}))
    filter_value = {"color": "red", "most": 3} | ({"near": [1.5, 2]} if "near" in schema["properties"] else {})
    query: dict[str, list[str]] = {}
    for name, text in bind(client.simulator.protocol.tools[0], [], {"filter": filter_value, "page": 1}).query:
        query.setdefault(name, []).append(text)

    matching = client.get("/things", **query)
    wrong = {name: [text.replace("red", "blue") for text in texts] for name, texts in query.items()}

    assert {entry["color"] for entry in matching} == {"red"}
    assert [client.send("GET", "/things", **sent).status for sent in (wrong, {"page": "1"})] == [400, 400]


def test_objects_in_the_query_stand_beside_one_another() -> None:
    """What one names in brackets is no field of another, whose fields are open and stand by themselves."""
    dated = {"type": "object", "additionalProperties": TEXT}
    listed = operation(list_of(object_of("id", "sailed", id=WHOLE, sailed={"type": "string", "format": "date"})))
    either = {**object_of(before=TEXT, after=TEXT), "anyOf": [{"required": ["before"]}, {"required": ["after"]}]}
    listed["parameters"] = [
        {"name": "around", "in": "query", "schema": either},
        {"name": "sailed", "in": "query", "style": "deepObject", "explode": True, "schema": dated},
    ]
    client = client_of(described({"/trips": {"get": listed}}))

    assert client.send("GET", "/trips", **{"sailed[gte]": "2024-03-01", "sailed[lt]": "2024-04-01"}).status == 200


def test_what_was_sent_is_shown_as_the_answer_documents_it() -> None:
    """Fields that an answer must have are filled in, what does not fit is left out, and the rest is as it was sent."""
    address = object_of("street", "city", street=TEXT, city=TEXT)
    tag = object_of("label", label=TEXT, weight=WHOLE)
    user = object_of("userId", "address", "tags", userId=WHOLE, address=address, tags=list_of(tag))
    paths = {
        "/users": {"post": operation(user, body={"type": "object"}, status=201)},
        "/users/{userId}": {"get": operation(user)},
    }
    client = client_of(described(paths))
    sent = {"address": {"street": "y", "city": 1}, "tags": [{"label": "new", "weight": "heavy"}, 5]}
    created = client.send("POST", "/users", sent)

    assert faults_of(client, client.simulator.protocol.tool("POST_users"), created) == []
    assert client.get(f"/users/{created.json()['userId']}") == created.json()
    assert created.json()["address"]["street"] == "y"
    assert created.json()["tags"] == [{"label": "new"}]
