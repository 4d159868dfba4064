"""The face of `requests`: programs print what they print with the real library."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sandbox import Sandbox
from tests.local_api import Answer, LocalAPI, Received
from tests.programs import programs
from tests.sandbox.runs import OSLO, run_with

REQUESTS = programs("requests")
TASKS = programs("tasks")


@pytest.fixture
def echoing(api: LocalAPI) -> LocalAPI:
    """An API that answers a write with what it got."""

    def echo(request: Received) -> Answer:
        echoed = {"x-trace", "x-more", "content-type", "content-length", "cookie", "authorization"}
        headers = {name: value for name, value in sorted(request.headers.items()) if name in echoed}
        body = request.body.decode("latin-1")
        return Answer(200, {"body": body, "query": request.query, "headers": headers})

    api.respond("POST", "/alerts", echo)
    api.respond("GET", "/cities", lambda request: Answer(200, {"query": request.query}))
    api.answer("DELETE", "/cities/oslo", None, 204)
    api.answer("HEAD", "/cities/oslo", None)
    api.answer("GET", "/cities/plain", "Öl & co")
    api.answer("GET", "/cities/latin", "Öl".encode("latin-1"), headers={"Content-Type": "text/html"})
    api.answer("GET", "/cities/empty", None)
    api.answer("GET", "/cities/list", [1, "ø"])
    api.answer("GET", "/cities/broken", {"message": "boom"}, 503)
    api.answer("GET", "/cities/cookie", {}, headers={"Set-Cookie": "seen=yes; Path=/"})
    api.answer("GET", "/cities/old", None, 302, headers={"Location": "/v1/cities/oslo"})
    api.answer("GET", "/cities/moved", None, 308, headers={"Location": "/v1/cities/oslo"})
    api.answer("GET", "/cities/loop", None, 302, headers={"Location": "/v1/cities/loop"})
    login = {"Location": "/v1/cities/whoami", "Set-Cookie": "sid=1; Path=/; HttpOnly"}
    api.answer("GET", "/cities/login", None, 302, headers=login)
    api.respond(
        "GET", "/cities/whoami", lambda request: Answer(200, sorted(request.headers.get("cookie", "").split("; ")))
    )
    api.answer("GET", "/cities/lines", "a;b\r\nöl;\nc")
    api.answer(
        "GET", "/cities/paged", [], headers={"Link": '<https://x.y/?page=2>; rel="next", </last>; rel=last; a=b, </o>'}
    )
    api.answer("GET", "/cities/ended", [], headers={"Link": '<https://x.y/?cursor=0:2:0>; Rel="next"; results="false"'})
    return api


@pytest.fixture
def world(echoing: LocalAPI) -> LocalAPI:
    """An API with cities on two pages and their weather, one that is busy at first, and some that are not there."""
    cities = [
        {"id": "oslo", "name": "Oslo", "population": 700_000, "tags": ["cold", "Coast"]},
        {"id": "rome", "name": "Roma", "population": 2_800_000, "tags": ["hot"]},
        {"id": "quito", "name": "Quito", "population": 1_800_000, "tags": []},
    ]

    def page(request: Received) -> Answer:
        query = dict(request.query)
        matches = [city for city in cities if query["query"] in str(city["name"])]
        first = 2 * int(query.get("page", 1)) - 2
        return Answer(200, {"results": matches[first : first + 2], "total_pages": max(1, -(-len(matches) // 2))})

    echoing.respond("GET", "/cities", page)
    for hour, city in enumerate(cities):
        weather = {"temperature": 4.25 * hour, "wind": 10 - hour, "observed": f"2024-06-01T{hour:02}:30:00Z"}
        echoing.answer("GET", f"/cities/{city['id']}", city)
        echoing.answer("GET", f"/cities/{city['id']}/weather", weather)
    echoing.answer("GET", "/cities/busy", {"message": "later"}, 503)
    echoing.answer("GET", "/cities/gone", {"message": "moved away"}, 410)
    return echoing


@pytest.mark.parametrize("name", TASKS)
def test_tasks_over_http_print_what_they_print_in_cpython(world: LocalAPI, name: str) -> None:
    """Programs as models write them run unchanged."""
    _same_as_cpython(world, TASKS[name])


@pytest.mark.parametrize("name", REQUESTS)
def test_requests_prints_what_the_real_library_prints(echoing: LocalAPI, name: str) -> None:
    """A program written for `requests` can't tell the broker from the library."""
    _same_as_cpython(echoing, REQUESTS[name])


def _same_as_cpython(api: LocalAPI, body: str) -> None:
    program = f"BASE = {api.url!r}\n" + body
    python = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)

    result = run_with(api.protocol, program)

    assert result.stdout == python.stdout.decode(), python.stderr.decode()
    assert (result.outcome, python.returncode) == ("ok", 0), result.error


def test_cookies_of_a_session_stay_with_the_service_that_set_them(api: LocalAPI) -> None:
    """The program's own go everywhere, as with the library."""
    with LocalAPI() as other:
        for service in (api, other):
            service.answer("GET", "/cities/oslo", OSLO, headers={"Set-Cookie": f"from={service.url[-7:-3]}"})
        urls = [api.url, other.url]
        text = (
            f"import requests\nsession = requests.Session()\nsession.cookies.set('mine', '1')\n"
            f"for url in {urls * 2}: session.get(url + '/cities/oslo')\nprint(len(session.cookies))"
        )

        result = Sandbox(None, allow=[url.removesuffix("/v1") for url in urls]).run(text)

        assert result.stdout == "3\n", result.error
        for service in (api, other):
            sent = [request.headers["cookie"] for request in service.requests]
            assert sent == ["mine=1", f"mine=1; from={service.url[-7:-3]}"]


def test_the_record_of_a_call_tells_of_a_next_page(echoing: LocalAPI) -> None:
    """By the Link header of RFC 8288, unless it says itself that the page is empty, as Sentry's does."""
    program = f"import requests\nfor name in ('paged', 'list', 'ended'): requests.get('{echoing.url}/cities/' + name)"

    assert [call.more for call in run_with(echoing.protocol, program).calls] == [True, False, False]
