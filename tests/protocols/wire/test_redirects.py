"""A service sends a call elsewhere: within its API the call goes on, and what cannot go on says where to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from protocols import load
from sandbox import CallRecord, Journal, Sandbox
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Arrived, Handler, Service

ITEM = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
OK = {"responses": {"200": {"description": "OK.", "content": {"application/json": {"schema": ITEM}}}}}
BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": ITEM}}}}
NUMBER = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
PATHS = {
    "/items": {"get": OK, "post": {**BODY, **OK}},
    "/items/{id}": {"parameters": [NUMBER], "get": OK, "put": {**BODY, **OK}, "patch": {**BODY, **OK}, "delete": OK},
    "/things": {"post": {**BODY, **OK}},
    "/download": {"get": OK},
}
SECURED = {
    "paths": PATHS,
    "security": [{"key": []}],
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
}


@pytest.fixture
def storage() -> Iterator[Service]:
    """Another service, which has a file."""
    with Service(lambda request: (200, {"Content-Type": "application/json"}, b'{"name": "the file"}')) as storage:
        yield storage


def to(status: int, location: str, path: str = "/items", answer: object = None) -> Handler:
    """Redirects one path (`{base}` is the service), and answers elsewhere."""

    def handle(request: Arrived) -> tuple[int, dict[str, str], object]:
        if request.path == path:
            return status, {"Location": location.replace("{base}", request.base)}, b""
        return 200, {}, answer or {"id": 5, "name": "x"}

    return handle


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("location", ["{base}/items/", "/items/", "{base}/items/?page=2"])
def test_a_write_goes_on_with_its_method_and_body(run: Run, service: Service, status: int, location: str) -> None:
    """307 and 308 say that nothing was done yet; only a slash and the query are others."""
    done = run(PATHS, "print(POST_items(name='ü')['id'])", handle=to(status, location))

    assert (done.exit_code, done.stdout) == (0, "5\n")
    first, second = service.arrived
    assert second.line == f"POST {location.removeprefix('{base}')}"
    assert (second.body, second.headers["content-type"]) == (first.body, first.headers["content-type"])
    assert json.loads(second.body) == {"name": "ü"}


@pytest.mark.parametrize("writes", ["allow", "ask"])
@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("location", ["/things", "{base}/things/?page=2"])
def test_a_write_does_not_become_another_one(service: Service, status: int, location: str, writes: str) -> None:
    """Whoever agreed to one operation did not agree to another; the message names the call to make."""
    service.handle = to(status, location)
    agreed: list[str] = []
    protocol = load({"openapi": "3.0.3", "info": {"title": "Wire", "version": "1"}, "paths": PATHS})

    def confirm(record: CallRecord) -> bool:
        agreed.append(record.tool or "")
        return True

    policy: Any = confirm if writes == "ask" else "allow"
    with Sandbox(protocol, base_url=service.url, writes=policy) as sandbox:
        result = sandbox.run("POST_items(name='x')")

    assert service.lines == ["POST /items"]
    assert "which nobody agreed to; call POST_things itself" in str(result.error)
    assert agreed == ["POST_items"] * (writes == "ask")


@pytest.mark.parametrize("status", [307, 308])
def test_a_declared_read_is_not_led_to_a_write(run: Run, service: Service, status: int) -> None:
    """Nor to itself under a path that is another operation; a 303 may show what it has."""
    document = {**PATHS, "/find": {"post": {**BODY, **OK, "x-reads": True}}}
    for program in ("POST_find(name='x')", f'import requests\nrequests.post("{service.url}/find", json={{}})'):
        result = run(document, program, "--writes", "deny", handle=to(status, "/items", path="/find"))
        assert "POST /items" not in service.lines
        assert result.exit_code == (1 if program.startswith("POST") else 0)
    assert "call POST_items itself" in run(document, "POST_find(name='x')", "--writes", "deny").stderr


def test_a_credential_in_the_query_is_not_carried_to_an_allowed_origin(
    run: Run, service: Service, storage: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that repeats the request's query in its redirect hands the key on, in whatever encoding."""
    monkeypatch.setenv("WIRE_KEY", "s3cr3t-value")
    scheme = {"type": "apiKey", "in": "query", "name": "key"}
    document = {**SECURED, "components": {"securitySchemes": {"key": scheme}}}
    for written in ("s3cr3t-value", "s3cr3t%2Dvalue"):
        handle = to(302, f"{storage.url}/f?key={written}", path="/download")
        options = ["--auth", "key:env:WIRE_KEY", "--allow", storage.url]
        result = run(document, "GET_download()", *options, handle=handle)
        assert result.exit_code == 1
        assert "with a credential in it, which is not sent there" in result.stderr
        assert "s3cr3t" not in result.output
    assert storage.arrived == []
    assert [request.query for request in service.arrived] == ["key=s3cr3t-value"] * 2


@pytest.mark.parametrize(
    ("program", "statuses", "start", "goal"),
    [
        ("GET_items()", (301, 302, 307, 308), "GET /items", "GET /items/?x=1"),
        ("POST_things(name='x')", (301, 302, 303), "POST /things", "GET /items/5"),
        ("PUT_items_id(5, name='x')", (301,), "PUT /items/5", "PUT /items/5/"),
    ],
)
def test_a_call_goes_on(
    run: Run, service: Service, program: str, statuses: tuple[int, ...], start: str, goal: str
) -> None:
    """A read with the query of the redirect, a write by reading its outcome; a PUT may be sent twice."""
    for status in statuses:
        service.arrived.clear()
        handle = to(status, goal.partition(" ")[2], path=start.partition(" ")[2])
        done = run(PATHS, f"print({program}['id'])", handle=handle)

        assert (done.exit_code, done.stdout, service.lines) == (0, "5\n", [start, goal])
        if goal.startswith("GET"):
            assert service.arrived[1].body == b""
            assert "content-type" not in service.arrived[1].headers


@pytest.mark.parametrize(
    ("program", "status", "location"),
    [
        ("POST_items(name='x')", 301, "/items/"),
        ("POST_items(name='x')", 302, "/items/"),
        ("DELETE_items_id(id=5)", 302, "/items"),
        ("PATCH_items_id(id=5, name='x')", 301, "/items/5/"),
        ("PUT_items_id(id=5, name='x')", 302, "/things"),
    ],
)
def test_a_write_that_may_have_been_done_is_not_repeated(
    run: Run, service: Service, program: str, status: int, location: str
) -> None:
    """Nor does it become a read of something else, which would look as if it had been done."""
    path = "/items" if program.startswith("POST") else "/items/5"
    done = run(PATHS, program, handle=to(status, location, path=path))

    assert done.exit_code == 1
    assert len(service.arrived) == 1
    assert f"it redirects to {service.url}{location}, and a " in done.stderr
    assert f"is not sent again after a {status}" in done.stderr


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_download_goes_on_to_an_allowed_storage_unsigned(
    run: Run, service: Service, storage: Service, status: int
) -> None:
    """Neither credentials nor cookies nor headers of the program go along; the signature in the URL does."""

    def handle(request: Arrived) -> tuple[int, dict[str, str], object]:
        return status, {"Location": f"{storage.url}/bucket/f?X-Signature=abc%2F", "Set-Cookie": "sid=s9; Path=/"}, b""

    program = f"""
        import requests
        print(GET_download()["name"])
        own = {{"Authorization": "Bearer own", "X-Token": "own", "Cookie": "own=1", "Accept": "text/plain"}}
        print(requests.get("{service.url}/download", headers=own).json()["name"])
    """
    options = ["--header", "X-Key: key-of-mine", "--allow", storage.url]
    done = run(SECURED, program, *options, handle=handle)

    assert (done.exit_code, done.stdout) == (0, "the file\nthe file\n")
    assert storage.lines == ["GET /bucket/f?X-Signature=abc%2F"] * 2
    assert [request.headers["x-key"] for request in service.arrived] == ["key-of-mine"] * 2
    for request in storage.arrived:
        assert request.headers.keys() <= {"host", "accept", "accept-encoding", "user-agent", "connection"}
    assert storage.arrived[1].headers["accept"] == "text/plain"


def test_a_write_goes_on_to_an_allowed_origin_unsigned(run: Run, storage: Service) -> None:
    """An upload whose data belongs elsewhere."""
    options = ["--header", "X-Key: key-of-mine", "--allow", storage.url]
    done = run(SECURED, "print(POST_items(name='x')['name'])", *options, handle=to(307, f"{storage.url}/in"))

    (request,) = storage.arrived
    assert (done.stdout, request.line, json.loads(request.body)) == ("the file\n", "POST /in", {"name": "x"})
    assert "x-key" not in request.headers


NO_ADDRESSES = ["http://[", "//", "", "ftp://h/items", "http://h:99999/items", "http://é\x7f/"]
ELSEWHERE = "302 Found — it redirects to {storage}/bucket/f, which is no operation of this API"
ALLOW = "to follow it without credentials, give --allow {storage} (GET /download)"


@pytest.mark.parametrize(
    ("path", "location", "messages", "unsaid"),
    [
        ("/download", "{storage}/bucket/f?sig=s3cr3t", [ELSEWHERE, ALLOW], ["--base-url", "s3cr3t"]),
        ("/items", "{secure}/items", ["it redirects to {secure}/items, which", "--base-url {secure} ("], ["--allow"]),
        *(("/items", location, ["302 Found — it redirects to"], []) for location in NO_ADDRESSES),
    ],
)
def test_what_is_not_followed_says_where_it_leads(
    run: Run, service: Service, storage: Service, path: str, location: str, messages: list[str], unsaid: list[str]
) -> None:
    """Host and path, and the option that helps: the signature of a storage is a secret, and https is another server."""
    places = {"storage": storage.url, "secure": service.url.replace("http:", "https:")}
    handle = to(302, location.format(**places) if "{" in location else location, path=path)
    done = run(PATHS, f"GET{path.replace('/', '_')}()", handle=handle)

    assert done.exit_code == 1
    assert [text for text in messages if text.format(**places) not in done.stderr] == []
    assert [text for text in unsaid if text in done.stderr + done.stdout] == []
    assert storage.arrived == []


@pytest.mark.parametrize("program", ["GET_items()", "POST_items(name='x')"])
def test_an_api_that_has_moved_says_its_new_base_url(run: Run, storage: Service, program: str) -> None:
    """Only the server, or what stands before the path, is another one."""
    done = run(PATHS, program, handle=to(308, f"{storage.url}/api/v2/items/?page=1"))

    assert f"if the API is there, give --base-url {storage.url}/api/v2; " in done.stderr
    again = run(PATHS, program, "--base-url", f"{storage.url}/api/v2")
    assert (again.exit_code, storage.lines[-1].split()[1]) == (0, "/api/v2/items")


def test_a_file_of_the_same_server_is_reached_if_that_is_allowed(run: Run, service: Service) -> None:
    """Unsigned, as anywhere else outside the API; a write does not get there."""
    options = ["--header", "X-Key: key-of-mine"]
    handle = to(302, "/media/f", path="/download", answer={"name": "the file"})
    denied = run(SECURED, "GET_download()", *options, handle=handle)
    done = run(SECURED, "print(GET_download()['name'])", *options, "--allow", service.url)
    write = run(SECURED, "POST_items(name='x')", "--allow", service.url, handle=to(307, "/media/f"))

    assert f"give --allow {service.url} (GET /download)" in denied.stderr
    assert done.stdout == "the file\n"
    assert service.lines == ["GET /download", "GET /download", "GET /media/f", "POST /items"]
    assert [request.headers.get("x-key") for request in service.arrived[:3]] == ["key-of-mine", "key-of-mine", None]
    assert "which is no operation of this API (POST /items)" in write.stderr


def test_redirects_in_a_circle_end(run: Run, service: Service) -> None:
    """A write is sent six times at most, each time without effect."""
    done = run(PATHS, "POST_items(name='x')", handle=lambda request: (307, {"Location": "/items"}, b""))

    assert "it redirects too many times" in done.stderr
    assert len(service.arrived) == 6


def test_a_program_may_follow_redirects_itself(run: Run, service: Service) -> None:
    """`allow_redirects` means what it does in `requests`, for a write too."""
    program = f"""
        import requests
        url, item = "{service.url}/items", {{"name": "x"}}
        reply = requests.post(url, json=item, allow_redirects=False)
        print(reply.status_code, reply.headers["Location"])
        reply = requests.post(url, json=item)
        print(reply.status_code, [hop.status_code for hop in reply.history], reply.url.endswith("/items/"))
    """
    done = run(PATHS, program, handle=to(308, "/items/"))

    assert done.stdout == "308 /items/\n200 [308] True\n"
    assert service.lines == ["POST /items", "POST /items", "POST /items/"]


NOT_AGAIN = "it was not sent again"


@pytest.mark.parametrize(
    ("status", "location", "behind", "first", "second", "lines"),
    [
        (307, "/elsewhere", 200, "307", "307", ["POST /items", "POST /items"]),
        (308, "/items/", 200, "None", "None", ["POST /items", "POST /items/"]),
        (303, "/items/5", 404, "the outcome of the read that the write was redirected to", NOT_AGAIN, ["POST /items"]),
        (303, "/items/5", 500, "the outcome of the read that the write was redirected to", NOT_AGAIN, ["POST /items"]),
        (303, "/page", 200, "303 See Other — the write was done, and it redirects to", NOT_AGAIN, ["POST /items"]),
        (307, "/items/", None, "", NOT_AGAIN, ["POST /items", "POST /items/"]),
    ],
)
def test_a_journal_sends_only_what_had_no_effect_again(
    service: Service, status: int, location: str, behind: int | None, first: str, second: str, lines: list[str]
) -> None:
    """307 and 308 have no effect. What broke off behind them (None), or arrived, or may have, is not sent twice."""

    def handle(request: Arrived) -> tuple[int, dict[str, str], object]:
        if request.line == "POST /items":
            return status, {"Location": location}, b""
        if behind is None:
            raise ConnectionError
        return behind, {}, {"error": "gone"}

    service.handle = handle
    protocol = load({"openapi": "3.0.3", "info": {"title": "Wire", "version": "1"}, "paths": PATHS})
    with Journal() as journal, Sandbox(protocol, base_url=service.url, journal=journal, writes="allow") as sandbox:
        errors = [str(sandbox.run("POST_items(name='x')").error) for _ in range(2)]

    assert first in errors[0]
    assert second in errors[1]
    assert [line for line in service.lines if line.startswith("POST")] == lines
