"""A program in its process: calls over real HTTP, errors with their place, limits, and nothing left behind."""

from __future__ import annotations

from datetime import datetime

import pytest

from protocols.calls.credentials import BearerToken
from sandbox import CallRecord, Sandbox
from tests.local_api import DOCUMENTED, Answer, LocalAPI
from tests.sandbox.runs import NOON, OSLO, run

# Calls


def test_tools_are_functions(api: LocalAPI) -> None:
    """A program calls tools by name and gets parsed JSON; each call is on record with its line."""
    result = run(
        api,
        """\
        found = GET_cities(query="Oslo")["results"][0]
        city = GET_cities_city_id(found["id"])
        print(f"{city['name']}: {city['population']:,}")
        """,
    )

    assert (result.outcome, result.stdout, result.warnings) == ("ok", "Oslo: 700,000\n", ()), result.error
    assert [(call.tool, call.line, call.status, call.style) for call in result.calls] == [
        ("GET_cities", 1, 200, "function"),
        ("GET_cities_city_id", 2, 200, "function"),
    ]
    assert (result.calls[1].arguments, result.calls[1].response) == ({"city_id": "oslo"}, OSLO)


def test_a_4xx_is_a_tool_error_at_the_line_of_the_call(api: LocalAPI) -> None:
    """The error names tool, status and what the service says; line, snippet and call are with it."""
    result = run(
        api,
        """\
        def describe(city):
            return GET_cities_city_id(city)["name"]

        names = [describe(city) for city in ["oslo", "atlantis"]]
        print(names)
        """,
    )

    error = result.error
    assert error is not None
    assert (result.outcome, error.type, error.line, error.trace[0], error.call) == ("error", "ToolError", 2, 4, 1)
    assert error.message == (
        'GET_cities_city_id: 404 Not Found — the service said "The resource could not be found" (GET /cities/atlantis)'
    )
    assert error.tool == "GET_cities_city_id"
    assert '--> 2     return GET_cities_city_id(city)["name"]' in error.snippet


def test_a_program_can_handle_a_tool_error(api: LocalAPI) -> None:
    """ToolError is a name that every program has."""
    result = run(
        api,
        """\
        for call in (lambda: GET_cities_city_id("atlantis"), lambda: GET_cities(page=1)):
            try:
                call()
            except ToolError as error:
                print(error.status, error.tool, error.body["message"] if error.status else error)
        """,
    )

    assert result.stdout.splitlines() == [
        "404 GET_cities_city_id The resource could not be found",
        "None GET_cities GET_cities() missing 1 required argument: 'query'. It is called as GET_cities(query, page=None"
        "); if the document is wrong, make the same call again",
    ]


def test_values_of_python_become_arguments(api: LocalAPI) -> None:
    """Dates, enumerations, numbers as text; views, ranges and their like as lists, bytes as the text they are."""
    result = run(
        api,
        """\
        from collections import deque
        from datetime import date
        import enum
        class Level(enum.Enum):
            HIGH = 3
        GET_cities(query=date(2024, 1, 2), page="4")
        POST_alerts(text=str(1), level=Level.HIGH)
        ages = {"a": 1, "b": 2}
        for value in (ages.keys(), ages.values(), ages.items(), range(3), deque("ab"), map(str, (1, 2))):
            POST_alerts(body={"text": "t", "more": value})
        GET_cities(query=b"Troms\\xc3\\xb8")
        for value in (b"\\xff", object()):
            try:
                GET_cities(query=value)
            except (TypeError, ToolError) as error:
                print(error)
        """,
    )

    assert result.outcome == "ok", result.error
    reads = [dict(request.query) for request in api.requests if request.method == "GET"]
    assert reads == [{"query": "2024-01-02", "page": "4"}, {"query": "Tromsø"}]
    first, *bodies = [request.json() for request in api.requests if request.method == "POST"]
    assert first == {"text": "1", "level": 3}
    assert [body["more"] for body in bodies] == [  # type: ignore[index]
        *(["a", "b"], [1, 2], [["a", 1], ["b", 2]], [0, 1, 2], ["a", "b"], ["1", "2"])
    ]
    assert result.stdout.splitlines() == [
        "GET_cities(): argument 'query' takes a text, and holds bytes that are no UTF-8; decode them with their "
        "encoding, or pass base64.b64encode(…).decode()",
        "an argument of type object can't be sent; pass text, numbers, lists or dicts",
    ]


def test_an_unknown_tool_is_a_name_error_with_the_nearest_name(api: LocalAPI) -> None:
    """Also when its words come in another order; `tools` narrows the functions that a program has."""
    unknown = run(api, "GET_city_id_cities('oslo')").error
    narrowed = Sandbox(api.protocol, tools=["GET_cities"]).run("GET_cities(query='x')\nGET_cities_city_id('oslo')")

    assert unknown is not None
    assert unknown.message == "name 'GET_city_id_cities' is not defined; did you mean GET_cities_city_id?"
    assert narrowed.error is not None
    assert unknown.type == narrowed.error.type == "NameError"
    assert [call.tool for call in narrowed.calls] == ["GET_cities"]


def test_errors_of_requests_are_its_own(api: LocalAPI) -> None:
    """Programs catch what they would catch outside: unknown hosts, time-outs, broken connections, no JSON."""
    api.script("GET", "/cities/cut", Answer(cut=True))
    api.answer("GET", "/cities/text", "not json")
    result = run(
        api,
        f"""\
        import requests
        from requests.exceptions import RequestException, Timeout, ConnectionError, JSONDecodeError
        for url, options in [
            ("https://evil.example/", {{}}),
            ("{DOCUMENTED}/cities/hang", {{"timeout": 0.2}}),
            ("{DOCUMENTED}/cities/cut", {{}}),
            ("cities", {{}}),
        ]:
            try:
                requests.get(url, **options)
            except Timeout as error:
                print("timeout:", error)
            except ConnectionError as error:
                print("connection:", error)
            except RequestException as error:
                print(type(error).__name__ + ":", error)
        try:
            requests.get("{DOCUMENTED}/cities/text").json()
        except JSONDecodeError as error:
            print(error)
        r = requests.get("{DOCUMENTED}/cities/nope")

        r.raise_for_status()  # far from the call, it still leads back to it
        """,
    )

    assert result.stdout.splitlines() == [
        f"InvalidURL: https://evil.example can't be reached: this program may reach only {DOCUMENTED}",
        "timeout: no whole reply within 0.2 s",
        "connection: the server closed the connection without a reply",
        "MissingSchema: Invalid URL 'cities': No scheme supplied. Perhaps you meant https://cities?",
        "Expecting value: line 1 column 1 (char 0)",
    ]
    error = result.error
    assert error is not None
    assert (error.type, error.line, error.call, error.tool) == ("HTTPError", 23, 5, "GET_cities_city_id")


def test_the_program_never_sees_the_credential(api: LocalAPI) -> None:
    """It is sent, and it is nowhere in the child: not in what it can print, not in its environment."""
    api.answer("GET", "/cities/oslo", {"echo": "Bearer s3cr3t-4711"})
    sandbox = Sandbox(api.documented, base_url=api.url, credentials=[BearerToken("s3cr3t-4711")])

    result = sandbox.run(
        f"import requests\nr = requests.get('{DOCUMENTED}/cities/oslo', headers={{'Authorization': 'Bearer KEY'}})\n"
        "print(r.text, r.headers, r.request.headers, GET_cities_city_id('oslo'))"
    )

    assert api.requests[0].headers["authorization"] == "Bearer s3cr3t-4711"
    assert "s3cr3t" not in repr(result)
    assert "[secret]" in result.stdout
    assert result.warnings == ("the program's own header Authorization was replaced by the configured credential",)


def test_output_and_calls_are_told_as_they_come(api: LocalAPI) -> None:
    """A terminal can show what happens while it happens."""
    events: list[str] = []
    sandbox = Sandbox(
        api.protocol,
        on_call=lambda call: events.append(f"call {call.status}"),
        on_begin=lambda index, tool, line: events.append(f"call {index} of {tool} in line {line}"),
        on_output=lambda stream, text: events.append(f"{stream} {text!r}"),
    )
    sandbox.run("import sys\nprint('one')\nGET_cities_city_id('oslo')\nprint('two', file=sys.stderr)\nprint(3, end='')")

    begun = "call 0 of GET_cities_city_id in line 3"
    assert events == ["stdout 'one\\n'", begun, "call 200", "stderr 'two\\n'", "stdout '3'"]


def test_a_mistake_of_who_is_told_is_not_hidden(api: LocalAPI) -> None:
    """What `on_call` raises comes out of `run`; the program does not hang meanwhile."""

    def fail(call: CallRecord) -> None:
        raise RuntimeError("no room on the screen")

    with pytest.raises(RuntimeError, match="no room on the screen"):
        Sandbox(api.protocol, on_call=fail).run("GET_cities_city_id('oslo')")


# How it ends


def test_an_error_carries_its_place() -> None:
    """Type, text as Python says it, the nearest line with its surroundings, all lines outermost first."""
    result = run(
        None,
        """\
        rows = [{"name": "Oslo"}]
        def departments(rows):
            return [row["department"] for row in rows]

        print("start")
        departments(rows)
        """,
    )

    assert (result.outcome, result.stdout, result.exit_status) == ("error", "start\n", 1)
    error = result.error
    assert error is not None
    assert (error.type, error.message, error.line, error.call) == ("KeyError", "'department'", 3, None)
    assert error.trace in {(6, 3, 3), (6, 3)}  # a comprehension is a frame of its own up to Python 3.11
    assert error.snippet.splitlines()[2] == '--> 3     return [row["department"] for row in rows]'


@pytest.mark.parametrize(
    ("end", "outcome", "status", "stderr"),
    [
        ("sys.exit(0)", "ok", 0, ""),
        ("sys.exit(3)", "error", 3, ""),
        ("sys.exit('no city')", "error", 1, "no city\n"),
        ("exit(2)", "error", 2, ""),
        ("raise SystemExit", "ok", 0, ""),
    ],
)
def test_exit_status(end: str, outcome: str, status: int, stderr: str) -> None:
    """As with the interpreter: a text goes to stderr and means 1."""
    result = run(None, f"import sys\nprint('out')\n{end}\nprint('never')")

    assert (result.outcome, result.exit_status, result.stderr, result.stdout) == (outcome, status, stderr, "out\n")


# One clock


CHANCE = """\
import datetime, time, random, uuid
from datetime import date
print(datetime.datetime.now(), datetime.datetime.utcnow(), date.today(), datetime.datetime.today())
print(repr(datetime.datetime.now(datetime.timezone.utc)), time.time(), time.strftime("%H:%M"), time.localtime().tm_hour)
time.sleep(0.01)
print(time.time(), time.gmtime().tm_year, datetime.datetime.fromtimestamp(0))
print(random.random(), random.Random().random(), uuid.uuid4(), random.sample(range(100), 3))
print({"a", "b", "c", "d"}, type(datetime.datetime.now()) is datetime.datetime)
"""


def test_a_given_clock_and_seed_determine_the_run() -> None:
    """Time, chance and the order of sets are the same in every run; another seed gives other chance."""
    first, again, reseeded = (Sandbox(None, now=NOON, seed=seed).run(CHANCE).stdout for seed in (1, 1, 2))

    assert first == again
    lines = first.splitlines()
    assert lines[0] == "2024-06-01 12:00:00 2024-06-01 12:00:00 2024-06-01 2024-06-01 12:00:00"
    assert lines[1] == ("datetime.datetime(2024, 6, 1, 12, 0, tzinfo=datetime.timezone.utc) 1717243200.0 12:00 12")
    assert lines[2] == "1717243200.01 2024 1970-01-01 00:00:00"
    assert lines[3] != reseeded.splitlines()[3]
    assert lines[4] == reseeded.splitlines()[4]


def test_without_a_clock_time_and_chance_are_real() -> None:
    """As in any Python."""
    first, second = run(None, CHANCE), run(None, CHANCE)

    assert first.outcome == "ok", first.error
    assert first.stdout.startswith(str(datetime.now().year))
    assert first.stdout.splitlines()[3] != second.stdout.splitlines()[3]
