"""An operation with a server of its own, and documents whose servers or paths are written in unusual ways."""

from __future__ import annotations

import re
from typing import Any

import pytest

from atc import Agent
from protocols import combine, load
from protocols.errors import UsageError
from protocols.simulator import Simulator
from sandbox import Sandbox
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service
from tests.scripted import ScriptedModel

OK = {"responses": {"200": {"description": "Good."}}}
HARBOUR = {"url": "https://harbour.example/v1"}


def own(*servers: str, at: str = "https://harbour.example/v1", path: str = "/log") -> dict[str, Any]:
    """A document with a server, and a path item with others."""
    item = {"servers": [{"url": url} for url in servers], "post": OK}
    return {"servers": [{"url": at}], "paths": {"/boats": {"get": OK}, path: item}}


@pytest.mark.parametrize(
    ("written", "sent"),
    [("/files", "/files/log"), ("files", "/files/log"), ("./files/", "/files/log"), ("../files", "/files/log")],
)
def test_a_relative_server_lies_beside_that_of_the_document(
    run: Run, service: Service, written: str, sent: str
) -> None:
    """As a link in it would (RFC 3986): with and without a base URL, by name and by URL."""
    server = f"{service.url}/v1"
    program = f'import requests\nPOST_log()\nprint(requests.post("{service.url}{sent}").status_code)'

    result = run(own(written, at=server), program)
    assert (result.exit_code, result.stdout) == (0, "200\n"), result.stderr
    assert service.lines == [f"POST {sent}"] * 2
    service.arrived.clear()
    paths = own(written)["paths"]
    result = run({"servers": [HARBOUR], "paths": paths}, program + "\nGET_boats()")
    assert (result.exit_code, result.stdout) == (0, "200\n"), result.stderr
    assert service.lines == [f"POST {sent}"] * 2 + ["GET /v1/boats"]


def test_a_server_that_ends_with_a_slash_is_a_folder(run: Run, service: Service) -> None:
    """What is relative to it lies in it."""
    run(own("files", at="https://harbour.example/v1/"), "POST_log()")

    assert service.lines == ["POST /v1/files/log"]


@pytest.mark.parametrize("base", ["", "/", "/mine"])
def test_a_server_at_the_same_origin_keeps_its_path(run: Run, service: Service, base: str) -> None:
    """Whatever the path of the base URL is; the same server as the document's is no other one."""
    document = own("https://harbour.example/v2/files")
    document["paths"]["/docks"] = {"get": {**OK, "servers": [HARBOUR]}}
    result = run(document, "POST_log()\nGET_docks()", "--base-url", f"{service.url}{base}")

    assert result.exit_code == 0, result.stderr
    docks = {"": "/v1/docks", "/": "/docks", "/mine": "/mine/docks"}[base]
    assert service.lines == ["POST /v2/files/log", f"GET {docks}"]


def test_a_server_at_another_origin_is_not_the_base_url(run: Run, service: Service) -> None:
    """A call is refused by the name of its server; `--allow` sends it there, with the credentials of the API."""
    with Service() as storage:
        document = {
            **own(f"{storage.url}/in"),
            "security": [{"key": []}],
            "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
        }
        for program in ("POST_log()", f'import requests\nrequests.post("{storage.url}/in/log")'):
            result = run(document, program, "--header", "X-Key: mine")
            assert result.exit_code == 1
            text = f"POST_log has a server of its own, {storage.url}, for which the base URL does not stand"
            assert f"{text}; to send it there, give --allow {storage.url}" in result.stderr
        assert service.lines == storage.lines == []

        result = run(document, "POST_log()\nGET_boats()", "--header", "X-Key: mine", "--allow", storage.url)
        assert result.exit_code == 0, result.stderr
        assert (storage.lines, service.lines) == (["POST /in/log"], ["GET /v1/boats"])
        assert storage.arrived[0].headers["x-key"] == "mine"


def test_a_server_at_another_origin_is_used_where_no_base_url_is_given(service: Service) -> None:
    """The document names both."""
    with Service() as storage:
        protocol = load({"openapi": "3.0.3", "info": {}, **own(f"{storage.url}/in", at=service.url)})
        with Sandbox(protocol, allow=[service.url, storage.url], writes="allow") as sandbox:
            assert sandbox.run("POST_log()\nGET_boats()").error is None
        assert (storage.lines, service.lines) == (["POST /in/log"], ["GET /boats"])


def test_one_of_several_apis_has_such_a_server(service: Service) -> None:
    """Its base URL is joined with the path of the API's server, not with that of the operation's."""
    document = {"openapi": "3.0.3", "info": {}, **own("/files")}
    document["paths"] = dict(reversed(document["paths"].items()))
    both = combine({"a": load(document), "b": load({**document, "servers": [{"url": "/b"}]})})
    with Sandbox(both, base_url={"a": service.url, "b": service.url}, writes="allow") as sandbox:
        result = sandbox.run("a__POST_log()\na__GET_boats()\nb__POST_log()\nb__GET_boats()")

    assert result.error is None
    assert service.lines == ["POST /files/log", "GET /v1/boats", "POST /files/log", "GET /b/boats"]


def test_a_simulated_api_has_all_operations() -> None:
    """Nothing leaves the machine, wherever the document has an operation."""
    protocol = load({"openapi": "3.0.3", "info": {}, **own("https://uploads.example/in")})
    program = 'import requests\nPOST_log()\nprint(requests.post("https://uploads.example/in/log").status_code)'

    with Agent(protocol, ScriptedModel(program), simulate=True) as agent:
        assert agent.solve("Log it").answer == "200"
    with Simulator(protocol) as simulator, Sandbox(protocol, base_url=simulator.url, writes="allow") as sandbox:
        assert sandbox.run(program).stdout == "200\n"


def test_an_operation_without_an_address_is_not_sent_to_another_ones_server(service: Service) -> None:
    """Only one operation has a host; the others have none at all."""
    protocol = load({"openapi": "3.0.3", "info": {}, **own(f"{service.url}/in", at="/v1")})
    with Sandbox(protocol, allow=[service.url], writes="allow") as sandbox:
        result = sandbox.run("GET_boats()")

    assert "GET_boats: the document names no server with a host; give the base URL" in str(result.error)
    assert service.lines == []


# --- The base URL: without a path it gets that of the document's server


BOATS = {"/boats": {"get": OK}}


@pytest.mark.parametrize(
    ("document", "end", "sent"),
    [
        ({"servers": [{"url": "/harbour"}]}, "", "/harbour/boats"),
        ({"servers": [{"url": "harbour/v1/"}]}, "", "/harbour/v1/boats"),
        ({"servers": [{"url": "https://boats.example/v2"}, {"url": "/other"}]}, "", "/v2/boats"),
        ({"servers": [{"url": "https://boats.example"}]}, "", "/boats"),
        ({"swagger": "2.0", "basePath": "/api/v1"}, "", "/api/v1/boats"),
        ({"swagger": "2.0", "host": "boats.example", "basePath": "/api"}, "", "/api/boats"),
        ({"servers": [{"url": "/harbour"}]}, "/", "/boats"),
        ({"servers": [{"url": "/harbour"}]}, "/mine", "/mine/boats"),
        ({"servers": [{"url": "/harbour"}]}, "/harbour/", "/harbour/boats"),
        ({}, "", "/boats"),
    ],
)
def test_the_path_of_the_server(run: Run, service: Service, document: dict[str, Any], end: str, sent: str) -> None:
    """An origin alone gets it; a slash at the end says that there is none."""
    result = run({**document, "paths": BOATS}, "GET_boats()", "--base-url", f"{service.url}{end}", "-v")

    assert result.exit_code == 0, result.stderr
    assert service.lines == [f"GET {sent}"]
    assert ("gets the path of the document's server" in result.stderr) == (not end and sent != "/boats")


def test_requests_reach_it_under_the_same_url(run: Run, service: Service) -> None:
    """A program that writes the URL itself writes the whole."""
    document = {"servers": [{"url": "/harbour"}], "paths": BOATS}
    program = f'import requests\nprint(requests.get("{service.url}/harbour/boats").status_code)'

    assert run(document, program).stdout == "200\n"
    assert "is no operation of this API" in run(document, program.replace("/harbour/boats", "/boats")).stderr


def test_a_key_without_its_prefix_is_told_at_a_401(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The description of the key says how it begins; the value itself is not shown."""
    monkeypatch.setenv("BOAT_KEY", "s3cret-value")
    scheme = {"type": "apiKey", "in": "header", "name": "Authorization", "description": 'Required prefix "Token"'}
    document = {
        "paths": {"/boats": {"get": {**OK, "security": [{"key": []}]}}},
        "components": {"securitySchemes": {"key": scheme}},
    }
    service.handle = lambda request: (401, {}, {"detail": "Invalid token header."})
    options = ("--auth", "key:env:BOAT_KEY")

    result = run(document, "GET_boats()", *options)
    assert 'the document says that the value begins with "Token "' in result.stderr
    assert "s3cret" not in result.output
    monkeypatch.setenv("BOAT_KEY", "Token s3cret-value")
    assert "begins with" not in run(document, "GET_boats()", *options).stderr


# --- Variables of servers


@pytest.mark.parametrize(
    ("url", "variables"),
    [
        ("https://{tenant}.example.com/api", {"tenant": {"default": ""}}),
        ("https://{tenant}.example.com/api", {"tenant": {}}),
        ("https://{tenant}/api", {"tenant": {"default": ""}}),
        ("https://example.com:{tenant}/api", {}),
        ("https://example.com/{tenant}", {"other": {"default": "x"}}),
    ],
)
def test_a_variable_without_a_value_is_named(url: str, variables: dict[str, Any]) -> None:
    """With its server and the option that helps."""
    server = {"url": url, "variables": variables}
    protocol = load({"openapi": "3.0.3", "info": {}, "servers": [server], "paths": {"/boats": {"get": OK}}})
    problem = f"the server {url} of the document has no value for {{tenant}}; give the base URL"

    with pytest.raises(UsageError, match=re.escape(f"{problem} of the service (--base-url)")):
        Sandbox(protocol)


def test_a_server_with_a_value_is_taken_before_one_without(service: Service) -> None:
    """The base URL of a run is the first that can be used; with a base URL only the path counts."""
    servers = [{"url": "https://{tenant}.example.com/v9"}, {"url": f"{service.url}/v2"}]
    protocol = load({"openapi": "3.0.3", "info": {}, "servers": servers, "paths": {"/b": {"get": OK}}})
    with Sandbox(protocol, allow=[service.url]) as sandbox:
        assert sandbox.run("GET_b()").error is None
    assert service.lines == ["GET /v2/b"]


# --- Paths


def parameter(name: str, place: str, **schema: Any) -> dict[str, Any]:
    """A parameter of an operation."""
    return {"name": name, "in": place, "required": place == "path", "schema": {"type": "string", **schema}}


@pytest.mark.parametrize(
    ("path", "call", "sent"),
    [
        ("/boats/{id}{?page,size}", "GET_boats_id('x', page=2, size='3')", "/boats/x?page=2&size=3"),
        ("/boats/{id}{?page,size}", "GET_boats_id('x')", "/boats/x"),
        ("/boats/{id}{?page}{&q*,size:3}", "GET_boats_id(id='x', q='a b', size='3')", "/boats/x?q=a%20b&size=3"),
        ("/boats/{id}?kind=sail{&page}", "GET_boats_id_kind_sail('x', page=1)", "/boats/x?kind=sail&page=1"),
    ],
)
def test_the_query_of_a_template_is_no_part_of_the_path(
    run: Run, service: Service, path: str, call: str, sent: str
) -> None:
    """Declared parameters are as they are declared; others are optional texts."""
    listed = [parameter("id", "path"), parameter("page", "query", type="integer")]
    result = run({path: {"get": {**OK, "parameters": listed}}}, call)

    assert result.exit_code == 0, result.stderr
    assert sorted(service.lines[0].partition("?")[2].split("&")) == sorted(sent.partition("?")[2].split("&"))
    assert service.lines[0].partition("?")[0] == f"GET {sent.partition('?')[0]}"


def test_a_path_of_two_slashes_is_left_out_with_the_reason(run: Run, service: Service) -> None:
    """An HTTP library would send another path than the document has."""
    result = run({"//boats": {"get": OK}, "/docks": {"get": OK}}, "GET_boats()")

    assert result.exit_code == 1
    assert "its path begins with two slashes" in result.stderr
    assert service.lines == []
