"""A login sets a cookie: the later calls of the run are signed in, and nobody else sees the cookie."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import pytest

from protocols import load
from protocols.calls.api_keys import APIKey
from protocols.combined import combine
from sandbox import Journal, Sandbox
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Arrived, Service

OK = {"responses": {"200": {"description": "OK.", "content": {"application/json": {"schema": {"type": "object"}}}}}}
PATHS = {
    "/login": {"post": OK, "get": OK},
    "/me": {"get": OK, "delete": OK},
    "/admin/me": {"get": OK},
    "/download": {"get": OK},
}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "Wire", "version": "1"}, "paths": PATHS}
LOGIN = "sid=s9-of-ada; Path=/; HttpOnly; SameSite=Lax"


@pytest.fixture
def other() -> Iterator[Service]:
    with Service() as other:
        yield other


def sets(*lines: str, path: str = "/login") -> object:
    """Sets cookies at one path; elsewhere a cookie `sid` is asked for."""

    def handle(request: Arrived) -> tuple[int, dict[str, object], object]:
        if request.path == path:
            return 200, {"Set-Cookie": list(lines)}, {"ok": True}
        signed_in = "sid=" in request.headers.get("cookie", "")
        return (200, {}, {"name": "Ada"}) if signed_in else (401, {}, {"message": "sign in first"})

    return handle


def test_later_calls_are_signed_in(run: Run, service: Service) -> None:
    """In both styles, from the login on; the program says nothing of it."""
    program = f"""
        import requests
        try:
            GET_me()
        except ToolError as error:
            print(error.status)
        POST_login()
        print(GET_me()["name"], requests.get("{service.url}/me").json()["name"])
    """
    done = run(PATHS, program, handle=sets(LOGIN, "theme=dark"))

    assert (done.exit_code, done.stdout) == (0, "401\nAda Ada\n")
    assert service.arrived[0].headers.get("cookie") is None
    assert service.arrived[2].headers["cookie"] == "sid=s9-of-ada; theme=dark"


def test_the_next_run_is_not_signed_in(run: Run) -> None:
    """Cookies live for a run."""
    assert run(PATHS, "POST_login(); GET_me()", handle=sets(LOGIN)).exit_code == 0
    assert run(PATHS, "GET_me()").exit_code == 6  # the API refuses the credentials


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        ("sid=1; Path=/admin", ["/admin/me"]),
        ("sid=1; Path=/admin/", ["/admin/me"]),
        ("sid=1", ["/me", "/admin/me"]),
        ("sid=1; Path=/; Max-Age=100", ["/me", "/admin/me"]),
        ("sid=1; Path=/; Max-Age=0", []),
        ("sid=1; Path=/; Expires=Wed, 21 Oct 2015 07:28:00 GMT", []),
        ("sid=1; Path=/; Expires=Thu, 21 Oct 2095 07:28:00 GMT", ["/me", "/admin/me"]),
        ("sid=1; Path=/; Secure", []),
        ("sid=1; Path=/; Domain=127.0.0.1", ["/me", "/admin/me"]),
        ("sid=1; Path=/; Domain=example.com", []),
        (f"sid={'x' * 5000}; Path=/", []),
        ("sid=\x01; Path=/", []),
    ],
)
def test_a_cookie_goes_where_and_as_long_as_its_attributes_say(
    run: Run, service: Service, line: str, sent: list[str]
) -> None:
    """Path, age, domain and Secure, as a browser reads them."""
    service.handle = lambda request: (200, {"Set-Cookie": line} if request.path == "/login" else {}, {})
    done = run(PATHS, "POST_login(); GET_me(); GET_admin_me()")

    assert done.exit_code == 0
    assert [request.path for request in service.arrived if "cookie" in request.headers] == sent


def test_a_later_reply_replaces_and_removes_cookies(run: Run, service: Service) -> None:
    """A session that is renewed, and one that is ended."""
    values = iter(["sid=1; Path=/", "sid=2; Path=/", "sid=; Path=/; Max-Age=0"])
    service.handle = lambda request: (200, {"Set-Cookie": next(values)} if "login" in request.path else {}, {})
    done = run(PATHS, "POST_login(); GET_me(); POST_login(); GET_me(); POST_login(); GET_me()")

    assert done.exit_code == 0
    assert [r.headers.get("cookie") for r in service.arrived if r.path == "/me"] == ["sid=1", "sid=2", None]


def test_a_redirect_on_the_way_sets_cookies_too(run: Run, service: Service) -> None:
    """A login that leads to the first page."""

    def handle(request: Arrived) -> tuple[int, dict[str, str], object]:
        if request.path == "/login":
            return 303, {"Location": "/me", "Set-Cookie": LOGIN}, b""
        return 200, {}, {"cookie": request.headers.get("cookie")}

    done = run(PATHS, "print(POST_login()['cookie'], GET_me()['cookie'])", handle=handle)

    assert done.stdout == "sid=s9-of-ada sid=s9-of-ada\n"


def test_what_is_configured_and_what_the_program_passes_win(service: Service) -> None:
    """A credential in a cookie of the same name, and a cookie of `requests`."""
    service.handle = sets("sid=1; Path=/", "lang=en; Path=/")  # type: ignore[assignment]
    program = f"import requests\nPOST_login(); GET_me(); requests.get('{service.url}/me', cookies={{'lang': 'de'}})"
    credentials = [APIKey("configured-sid", "cookie", "sid")]
    with Sandbox(load(DOCUMENT), base_url=service.url, credentials=credentials, writes="allow") as sandbox:
        sandbox.run(program)

    assert [request.headers["cookie"] for request in service.arrived] == [
        "sid=configured-sid",
        "sid=configured-sid; lang=en",
        "lang=de; sid=configured-sid",
    ]


def test_sessions_of_requests_are_as_ever(run: Run, service: Service) -> None:
    """What was set for a session stays in it: a program may sign in as two people."""
    service.handle = lambda request: (
        200,
        {"Set-Cookie": f"sid={request.query}; Path=/"} if "login" in request.path else {},
        {"cookie": request.headers.get("cookie")},
    )
    program = f"""
        import requests
        ada, bob = requests.Session(), requests.Session()
        for person, name in ((ada, "ada"), (bob, "bob")):
            print(person.get("{service.url}/login?" + name).json()["cookie"])
        print(*[person.get("{service.url}/me").json()["cookie"] for person in (ada, bob, requests)])
    """
    done = run(PATHS, program)

    assert done.stdout == "None\nNone\nsid=ada sid=bob None\n"


def test_nobody_else_gets_a_cookie(run: Run, service: Service, other: Service) -> None:
    """Neither an allowed origin, asked for or redirected to, although it is the same host."""

    def handle(request: Arrived) -> tuple[int, dict[str, str], object]:
        moved = {"Location": f"{other.url}/file"} if request.path == "/download" else {}
        return 302 if moved else 200, {"Set-Cookie": LOGIN, **moved}, {}

    program = f"import requests\nPOST_login(); GET_download(); requests.get('{other.url}/x')"
    done = run(PATHS, program, "--allow", other.url, handle=handle)

    assert done.exit_code == 0
    assert other.lines == ["GET /file", "GET /x"]
    assert not any("cookie" in request.headers for request in other.arrived)


def test_each_of_several_apis_has_its_own(service: Service, other: Service) -> None:
    """Also on one host, where a browser would not tell them apart."""
    service.handle = sets(LOGIN)  # type: ignore[assignment]
    protocol = combine({"mine": load(DOCUMENT), "theirs": load(DOCUMENT)})
    urls = {"mine": service.url, "theirs": other.url}
    with Sandbox(protocol, base_url=urls, writes="allow") as sandbox:
        run = sandbox.run("mine__POST_login(); theirs__GET_me(); mine__GET_me()")

    assert run.error is None
    assert "cookie" not in other.arrived[0].headers
    assert service.arrived[1].headers["cookie"] == "sid=s9-of-ada"


def test_no_record_shows_a_cookie(service: Service) -> None:
    """It is as good as a password while the session lasts."""
    service.handle = sets(LOGIN)  # type: ignore[assignment]
    with Sandbox(load(DOCUMENT), base_url=service.url, writes="allow") as sandbox:
        run = sandbox.run("print(POST_login(), GET_me())")

    assert run.error is None
    assert "s9-of-ada" not in json.dumps(asdict(run), default=str)


def test_a_replayed_login_signs_in_again(service: Service) -> None:
    """A later attempt has the login from the journal, and makes calls that the first did not come to."""
    service.handle = sets(LOGIN)  # type: ignore[assignment]
    with (
        Journal() as journal,
        Sandbox(load(DOCUMENT), base_url=service.url, journal=journal, writes="allow") as sandbox,
    ):
        sandbox.run("POST_login(); 1 / 0")
        run = sandbox.run("POST_login(); print(GET_me()['name'])")

    assert (run.stdout, service.lines) == ("Ada\n", ["POST /login", "GET /me"])


def test_a_service_that_sets_cookies_without_end(run: Run, service: Service) -> None:
    """Fifty are kept, and the program does not notice."""
    service.handle = lambda request: (200, {"Set-Cookie": [f"c{n}=1; Path=/" for n in range(90)]}, {})
    done = run(PATHS, "POST_login(); GET_me()")

    assert done.exit_code == 0
    assert service.arrived[1].headers["cookie"].count("=1") == 50
