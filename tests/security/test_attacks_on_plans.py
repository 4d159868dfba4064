"""A yes is for what was shown: another value, place, order or service, or an answer that is no yes, sends nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from atc import Agent
from atc.apps.server.requests import BadRequestError, PlanDecision
from atc.apps.tui.plan import unhidden
from atc.program_run import ProgramResult, run_under
from protocols import Protocol, load
from sandbox import Broker, CallRecord, Limits, Sandbox
from tests.atc.exact.planned_orders import Approval
from tests.local_api import PREFIX, Answer, LocalAPI, document
from tests.scripted import ScriptedModel

JSON = {"Content-Type": "application/json"}
PART = b'--A\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--B\r\n\r\n2\r\n--B--\r\n--A--\r\n'
BACKUP, DELETE = 'POST_alerts(text="backup")', 'DELETE_cities_city_id(city_id="oslo")'
THREAD = "from concurrent.futures import ThreadPoolExecutor; ThreadPoolExecutor(1)"


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    """A service whose first reply is nothing that a simulated one would be."""
    with LocalAPI() as api:
        api.answer("POST", "/alerts", {"text": "real", "level": 4711})
        api.answer("GET", "/alerts", [])
        api.answer("DELETE", "/cities/oslo", {})
        yield api


def keyed(api: LocalAPI) -> Protocol:
    """The protocol, whose alerts take an idempotency key and a tenant."""
    data = document(api.url)
    places = {"Idempotency-Key": "header", "tenant": "cookie", "X-Account": "header", "force": "query"}
    parameters = [{"name": name, "in": place, "schema": {"type": "string"}} for name, place in places.items()]
    data["paths"]["/alerts"]["post"]["parameters"] = parameters  # type: ignore[index]
    return load(data)


def planned(api: LocalAPI, program: str, approval: Callable[..., object] | None = None) -> ProgramResult:
    """A program whose writes are planned and, by default, approved."""
    protocol = keyed(api)
    open_sandbox = partial(Sandbox, protocol, limits=Limits(wall=20))
    return run_under("plan", program, protocol, open_sandbox, confirm_plan=approval or Approval())  # type: ignore[arg-type]


def writes(api: LocalAPI) -> list[str]:
    """What arrived and may have changed something."""
    sent = [f"{request.method} {request.path.removeprefix(PREFIX)}" for request in api.requests]
    return [text for text in sent if not text.startswith("GET")]


def send(**options: object) -> str:
    """An expression that sends an alert; `path` follows the URL."""
    path, arguments = options.pop("path", ""), ", ".join(f"{name}={value!r}" for name, value in options.items())
    return f"requests.post(URL + {'/alerts' + str(path)!r}, {arguments})"


def body(text: str | bytes, path: str = "", **headers: str) -> str:
    return send(data=text, path=path, headers={**JSON, **{name.replace("_", "-"): v for name, v in headers.items()}})


def expression(text: str | bytes) -> str:
    """A call as it is; anything else is the body of one."""
    return text if isinstance(text, str) and "(" in text else body(text)


OPEN: Mapping[str, Sequence[str | bytes]] = {
    "digits that a double does not hold": ('{"level": 9007199254740992.0}', '{"level": 9007199254740993.0}'),
    "UTF-16": ('{"a": 1}', '{"a": 1}'.encode("utf-16-le")),
    "a byte order mark": ('{"a": 1}', b"\xef\xbb\xbf" + b'{"a": 1}'),
    "nothing for an empty object": ("{}", ""),
    "a version": (body("{}", Accept="application/x.v1+json"), body("{}", Accept="application/x.v2+json")),
    "a user agent": (body("{}", User_Agent="a"), body("{}", User_Agent="b")),
    "a boundary": [send(data=PART, headers={"Content-Type": f"multipart/form-data; boundary={b}"}) for b in "AB"],
    "a profile": [send(data="{}", headers={"Content-Type": f"application/json; profile={p}"}) for p in "aA"],
    "a flag": (body("{}", "?force"), body("{}", "?force=")),
    "a key": [f'POST_alerts(text="a", Idempotency_Key="{key}")' for key in "ab"],
    "another order": (f"{BACKUP}; {DELETE}", f"{DELETE}; {BACKUP}"),
    "the second without the first": (f"{BACKUP}; {DELETE}", DELETE),
    "the second from a thread": (f"{BACKUP}; {DELETE}", f"{THREAD}.submit(lambda: {DELETE}).result()"),
}
"""Pairs of a planned and another request, which differ in what is named. Those here were sent once."""

CONTAINED: Mapping[str, Sequence[str | bytes]] = {
    "a truth for a number": ('{"a": 1}', '{"a": true}'),
    "a fraction for a whole number": ('{"a": 1}', '{"a": 1.0}'),
    "a text for null": ('{"a": null}', '{"a": "null"}'),
    "an object for a list": ('{"a": ["x"]}', '{"a": {"0": "x"}}'),
    "an accent of its own": ('{"a": "\u00e9"}', '{"a": "e\u0301"}'),
    "a look-alike in a name": ('{"admin": 1}', '{"\u0430dmin": 1}'),
    "a joiner": ('{"a": "ad"}', '{"a": "a\u200dd"}'),
    "a name twice in another order": ('{"a": 1, "a": 2}', '{"a": 2, "a": 1}'),
    "a number of 5,000 digits": ('{"a": 1%s1}' % ("0" * 5000), '{"a": 1%s2}' % ("0" * 5000)),
    "a charset": (body("{}"), send(data="{}", headers={"Content-Type": "application/json; charset=utf-7"})),
    "a header": (body("{}"), body("{}", X_Account="eve")),
    "a cookie": [send(json={}, cookies={"tenant": tenant}) for tenant in "ab"],
    "a sign-in": (send(json={}), send(json={}, auth=("eve", "pw"))),
    "a query": (body("{}"), body("{}", "?force=1")),
    "a query twice": (body("{}", "?force=0"), body("{}", "?force=0&force=1")),
    "an encoded separator": (body("{}", "?force=0%26x=1"), body("{}", "?force=0&x=1")),
    "a method": (send(json={}), DELETE),
    "a form": (send(data=b"a=1"), send(data={"a": "1"})),
    "a large body": [f'requests.post(URL + "/alerts", data=b"x" * 400_000 + b"{end}")' for end in "ab"],
    "a write after a stop": (BACKUP, f"try:\n        {DELETE}\n    except ToolError: pass\n    {BACKUP}"),
}


@pytest.mark.parametrize("case", [*OPEN, *CONTAINED])
def test_a_request_that_differs_is_stopped(api: LocalAPI, case: str) -> None:
    """After an approved write the program sees that it is no longer planned, and sends something else."""
    plan, other = map(expression, {**OPEN, **CONTAINED}[case])
    program = f"""import requests
URL = {api.url!r}
if POST_alerts(text="a")["level"] == 4711:
    {other}
else:
    {plan}
"""
    result = planned(api, program)

    assert result.plan is not None and result.plan.stopped is not None, result.run.error
    assert writes(api) == ["POST /alerts"]


@pytest.mark.parametrize(
    "second", [f"{DELETE}\nprint(1)", f"{DELETE}\n{BACKUP}\nprint(1)"], ids=["left out", "in another order"]
)
def test_a_later_program_asks_again_for_what_was_to_come_after(api: LocalAPI, second: str) -> None:
    """A backup and then a removal were approved; a repaired program that removes first needs another yes."""
    api.script("GET", "/alerts", Answer(body=[1]), Answer(body=[]))
    first = f'POST_alerts(text="a")\nGET_alerts()[0]\n{BACKUP}\n{DELETE}\nprint(1)'
    approval = Approval()

    def confirm(plan: object) -> bool:
        return approval(plan) and len(approval.plans) == 1  # type: ignore[arg-type]

    model = ScriptedModel(first, f'POST_alerts(text="a")\n{second}')
    options = {"writes": "plan", "confirm_plan": confirm, "mode": "naive", "ablate": ["check"]}
    with Agent(keyed(api), model, **options) as agent:  # type: ignore[arg-type]
        agent.solve("Remove oslo")

    assert "DELETE_cities_city_id" in approval.asked[-1] and len(approval.asked) == 2
    assert writes(api) == ["POST /alerts"]


async def _later(asked: object) -> bool:
    return True


NO_YES: list[Callable[[object], object]] = [lambda _: "not today", lambda _: {"send": False}, lambda _: 1, _later]


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("answer", NO_YES, ids=["a reason", "an object", "a number", "a coroutine"])
def test_only_true_is_a_yes(api: LocalAPI, answer: Callable[..., object]) -> None:
    """What a function gives in its place sends nothing, for a plan and for one write."""
    planned(api, BACKUP, answer)
    with Sandbox(api.protocol, writes=answer) as sandbox:  # type: ignore[arg-type]
        sandbox.run(BACKUP)

    assert writes(api) == []


@pytest.mark.parametrize("location", ["/v1/cities/bergen", "/v1/cities/oslo?force=true"])
@pytest.mark.parametrize("policy", ["plan", "ask"])
def test_a_redirect_makes_no_other_write_of_it(api: LocalAPI, location: str, policy: str) -> None:
    """Another object, or a query, is not what somebody agreed to, although the operation is the same."""
    moved = Answer(307, {}, headers={"Location": location})
    api.script("DELETE", "/cities/oslo", moved, Answer(200, {}))
    api.answer("DELETE", "/cities/bergen", {})
    if policy == "plan":
        planned(api, DELETE)
    else:
        Broker(api.protocol, writes=lambda call: True).fetch("DELETE_cities_city_id", (), {"city_id": "oslo"})

    assert writes(api) == ["DELETE /cities/oslo"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"path": "/cities/oslo", "json_body": b'{"body city_id": "hidden", "city_id": "seen"}'}, "hidden"),
        ({"json_body": b'{"header X-Account": "hidden"}', "headers": {"X-Account": "seen"}}, "hidden"),
        ({"json_body": b'{"cookie tenant": "hidden"}', "cookies": {"tenant": "seen"}}, "hidden"),
        ({"params": [("body x", "hidden"), ("x", "q")], "json_body": b'{"x": "b"}'}, "hidden"),
        ({"data": b"null", "headers": JSON}, "None"),
        ({"data": b"{}", "headers": JSON}, "'body': {}"),
        ({"data": b'{"a": "+AGE-"}', "headers": {"Content-Type": "application/json; charset=utf-7"}}, "utf-7"),
        ({"data": b"a=%2BAGE-", "headers": {"Content-Type": "application/x-www-form-urlencoded; charset=x"}}, "x"),
        ({"json_body": b"{}", "headers": {"Accept": "application/x.v2+json"}}, "x.v2"),
        ({"json_body": b"{}", "headers": {"User-Agent": "admin-tool"}}, "admin-tool"),
        ({"data": b'{"a": 9007199254740993.0}', "headers": JSON}, "9007199254740993"),
        ({"data": b'{"a": 1e999}', "headers": JSON}, "1e999"),
        ({"data": b'{"a": 1e-99999999999999999999}', "headers": JSON}, "1e-99999999999999999999"),
        ({"data": '{"a": 1}'.encode("utf-16-le"), "headers": JSON}, "\\x00"),
        ({"data": b'{"a": 1}{"b": 2}', "headers": JSON}, '"b": 2'),
        ({"json_body": b"{}", "headers": {"Cookie": "tenant=eve"}}, "eve"),
    ],
)
def test_the_question_has_all_of_a_request(api: LocalAPI, options: dict[str, Any], expected: str) -> None:
    """Names that look like places, empty bodies, encodings, versions, numbers as they are written."""
    asked: list[CallRecord] = []
    path = options.pop("path", "/alerts")

    def confirm(call: CallRecord) -> bool:
        asked.append(call)
        return False

    broker = Broker(api.protocol, writes=confirm)
    broker.request("DELETE" if path != "/alerts" else "POST", f"{api.url}{path}", **options)

    assert expected in str(asked[0].arguments) and writes(api) == []


@pytest.mark.parametrize(
    "text", ["\uff41dmin", "\U0001d41admin", "a\u0336dmin", "a\u20dddmin", "\u212aey", "\u210eost", "pa\u1d2ey"]
)
def test_what_only_looks_like_another_text_is_spelled_out(text: str) -> None:
    """Letters in full width, of mathematics, units or sounds among others, and lines drawn over them."""
    assert "<U+" in unhidden(f'to: "{text}"')


def test_an_answer_with_a_name_twice_is_none() -> None:
    """A proxy may have read the first one, which declines."""
    with pytest.raises(BadRequestError, match="a name is given twice"):
        PlanDecision.read(b'{"plan": "1-a", "approve": false, "approve": true}')


def test_digits_and_boundaries_make_two_calls_in_later_attempts(api: LocalAPI) -> None:
    """The second write is none that was made already."""
    pairs = [OPEN["digits that a double does not hold"], OPEN["a boundary"], CONTAINED["a name twice in another order"]]
    for pair in pairs:
        first, second = map(expression, pair)
        api.requests.clear()
        head = f"import requests\nURL = {api.url!r}\n"
        model = ScriptedModel(f"{head}{first}\nraise ValueError('again')", f"{head}{second}\nprint('done')")
        with Agent(api.protocol, model, writes="allow", profile="large") as agent:
            agent.solve("Note it")

        assert len(writes(api)) == 2, json.dumps([str(text) for text in pair])
