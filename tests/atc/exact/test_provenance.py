"""Every value that comes out of a response leads back to its call and path, and the program never notices."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from atc.diagnosis.provenance import flows
from atc.query import Query
from protocols.dataflow.graph import ProtocolGraph
from sandbox import Limits, Provenance, Run, Sandbox
from sandbox.language.policy import compile_program
from sandbox.provenance.instrument import instrument
from tests.local_api import LocalAPI
from tests.programs import programs

PROGRAMS = {**programs("ordinary"), **programs("everyday")}
CREW = [{"id": 7, "name": "Ada", "job": "Director"}, {"id": 7, "name": "Bo", "job": "Writer"}]


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "oslo", "rank": 1}, {"id": "rome", "rank": 2}], "page": 1})
        api.answer("GET", "/cities/oslo", {"crew": CREW, "ok": True, "code": "x", "none": None})
        api.answer("GET", "/cities/rome", {"crew": [], "ok": True, "code": "x", "none": None})
        api.answer("GET", "/cities/7", {"name": "Seven"})
        yield api


def run(api: LocalAPI, program: str) -> Run:
    return Sandbox(api.protocol, limits=Limits(wall=10)).run(program)


def sources(api: LocalAPI, program: str) -> list[tuple[int, tuple[str | int, ...]]]:
    """What the last printed value rests on: calls and paths."""
    result = run(api, program)
    assert result.error is None, result.error
    assert result.provenance is not None
    return [(source.call, source.path) for source in result.provenance.printed]


class Rewritten(Sandbox):
    """Runs every program as it is rewritten for a tracked run."""

    def _settings(self) -> dict[str, object]:
        return {**super()._settings(), "tracked": True}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in {"deep recursion", "time"}])
def test_a_rewritten_program_prints_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the program does, but for waiting and for recursion near the limit."""
    plain = Sandbox(None).run(PROGRAMS[name])
    monkeypatch.setattr("sandbox.sandbox.compile_program", lambda source: compile_program(source, instrument))

    rewritten = Rewritten(None).run(PROGRAMS[name])

    assert rewritten.stdout == plain.stdout, rewritten.error
    assert (rewritten.outcome, rewritten.exit_status) == (plain.outcome, plain.exit_status)


OSLO = "d = GET_cities_city_id('oslo')\n"
BOTH = "a = GET_cities_city_id('oslo')\nb = GET_cities_city_id('rome')\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (OSLO + "print(d['crew'][0]['name'])", [(0, ("crew", 0, "name"))]),
        (OSLO + "x = d['crew']\ny = x[1]\nprint(y['id'])", [(0, ("crew", 1, "id"))]),
        (OSLO + "print([c['id'] for c in d['crew']][1])", [(0, ("crew", 1, "id"))]),
        (OSLO + "own = {'k': d['ok']}\nprint(own['k'])", [(0, ("ok",))]),
        (OSLO + "def f(x): return x\nprint(f(d['none']))", [(0, ("none",))]),
        (OSLO + "a, b = d['crew']\nprint(b['id'])", [(0, ("crew", 1, "id"))]),
        (OSLO + "for i, c in enumerate(d['crew']):\n    last = c['id']\nprint(last)", [(0, ("crew", 1, "id"))]),
        (OSLO + "print(f\"{d['code']}!\")", [(0, ("code",))]),
        (OSLO + "print(min(d['crew'], key=lambda c: c['name'])['id'])", [(0, ("crew", 0, "id"))]),
        (OSLO + "print(d.get('missing'))", [(0, ("missing",))]),
        (BOTH + "print(b['code'])", [(1, ("code",))]),
        (BOTH + "x = b['ok']\ny = a['ok']\nprint(x)", [(1, ("ok",))]),
        (BOTH + "print(a['none'] or b['code'])", [(1, ("code",)), (0, ("none",))]),
        (BOTH + "if not b['crew']:\n    print('nobody')", [(1, ("crew",))]),
        ("import json\n" + OSLO + "print(json.loads(json.dumps(d['crew']))[0])", [(0, ("crew", 0))]),
        ("class A:\n    def __init__(self, x): self.x = x\n" + OSLO + "print(A(d['ok']).x)", [(0, ("ok",))]),
        (
            "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n    y: int\n"
            + OSLO
            + "print(A(1, d['none']).y)",
            [(0, ("none",))],
        ),
        ("print('nothing')", []),
    ],
)
def test_what_is_printed_leads_back(api: LocalAPI, program: str, expected: list[tuple[int, tuple[Any, ...]]]) -> None:
    """Also what has no identity: None, True, small numbers, single letters, the same in two responses."""
    assert sources(api, "GET_cities(query='x')\n" + program if not expected else program) == expected


def test_arguments_have_an_origin(api: LocalAPI) -> None:
    """The question, the program itself, or a field of a response; as a graph, and as entries."""
    program = "n = GET_cities(query='Oslo')['results'][1]['id']\nGET_cities_city_id(n)\nGET_cities(query='o', page=2)"
    result = run(api, program)
    graph = ProtocolGraph(api.protocol)

    observed = flows(Query("What of Oslo?"), result, graph)

    assert [(flow.call, flow.argument, flow.origin) for flow in observed] == [
        (0, "query", "query"),
        (1, "city_id", "response"),
        (2, "query", "query"),
        (2, "page", "constant"),
    ]
    assert observed[1].path == ("results", 1, "id")
    assert [(flow.source, flow.call, flow.argument) for flow in observed if flow.source is not None] == [
        (0, 1, "city_id")
    ]


def test_what_was_observed_is_evidence_for_the_graph(api: LocalAPI) -> None:
    """It comes before what the names suggest."""
    graph = ProtocolGraph(api.protocol)
    graph.observe("GET_cities_city_id", "city_id", "GET_alerts", (3, "place"))

    first = graph.providers("GET_cities_city_id", "city_id")[0]

    assert (first.tool, first.path) == ("GET_alerts", (0, "place"))


def test_requests_and_threads_are_followed(api: LocalAPI) -> None:
    """The values of a URL, of a dict of parameters, and of what a pool was given."""
    program = f"""
import requests
from concurrent.futures import ThreadPoolExecutor
found = requests.get('{api.url}/cities', params={{'query': 'o'}}).json()['results']
with ThreadPoolExecutor(2) as pool:
    pages = list(pool.map(lambda c: requests.get(f"{api.url}/cities/{{c['id']}}").json(), found))
    more = list(pool.map(GET_cities_city_id, [c["id"] for c in found]))
requests.get('{api.url}/cities', params={{'query': found[0]['id'], 'page': found[1]['rank']}})
"""
    result = run(api, program)
    graph = ProtocolGraph(api.protocol)

    assert result.outcome == "ok", result.error
    by_argument = {
        (result.calls[flow.call].url.removeprefix(api.url), flow.argument): flow
        for flow in flows(Query(""), result, graph)
    }
    assert by_argument["/cities/oslo", "city_id"].path == ("results", 0, "id")
    assert by_argument["/cities/rome", "city_id"].path == ("results", 1, "id")
    assert by_argument["/cities?query=oslo&page=2", "query"].path == ("results", 0, "id")
    assert by_argument["/cities?query=oslo&page=2", "page"].path == ("results", 1, "rank")
    assert sum(flow.path == ("results", 0, "id") for flow in flows(Query(""), result, graph)) == 3


def test_a_tracked_run_sends_nothing(api: LocalAPI) -> None:
    """The replies are those that came."""
    program = OSLO + "import time\ntime.sleep(0)\nt = 0\nfor n in range(1_000):\n    t += n\nprint(t, d['code'])"
    result = run(api, program)

    assert result.outcome == "ok"
    assert len(api.requests) == 1


def test_chance_repeats_in_the_tracked_run(api: LocalAPI) -> None:
    """Or the calls would be others."""
    program = "import random\nname = random.choice(['oslo', 'rome', '7'] * 50)\nprint(GET_cities_city_id(name))"

    assert all(isinstance(run(api, program).provenance, Provenance) for _ in range(10))


def test_a_program_may_end_on_an_empty_reply(api: LocalAPI) -> None:
    """It is gone the moment it has read the head of such a reply; what it said is not lost."""
    api.answer("DELETE", "/cities/oslo", None, 204)
    program = "DELETE_cities_city_id(GET_cities(query='o')['results'][0]['id'])"
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: run(api, program), range(80)))

    assert [result.error for result in results if result.error] == []
    assert all(isinstance(result.provenance, Provenance) for result in results)


def test_what_the_program_makes_itself_is_no_source(api: LocalAPI) -> None:
    """A Response of its own names no call, and neither does an exception, whatever attributes it has."""
    program = (
        "import requests\n"
        f"real = requests.get({api.url!r} + '/cities/oslo')\n"
        "class Forged(Exception):\n"
        "    _call = 0\n"
        "    def __hash__(self): return hash(real)\n"
        "    def __eq__(self, other): return True\n"
        "kind = requests.Response\n"
        "head = {'status': 200, 'reason': 'OK', 'url': 'http://x', 'headers': {}, 'encoding': None, 'cookies': {},\n"
        "        'seconds': 0.0, 'index': 0}\n"
        'made = kind(head, b\'{"name": "Made"}\', None)\n'
        "print(made.json()['name'])\n"
        "raise Forged('not its fault')\n"
    )
    with Sandbox(api.protocol) as sandbox:
        run = sandbox.run(program)

    assert run.error is not None
    assert (run.error.type, run.error.call, run.error.tool) == ("Forged", None, None)
    assert run.provenance is None or not [source for source in run.provenance.printed if source.how != "decided"]
