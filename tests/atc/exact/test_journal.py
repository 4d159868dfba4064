"""What the journal promises: no write twice, whatever failed in between; the same replies in the same places."""

from __future__ import annotations

import json
import random

import pytest

from atc import Agent
from sandbox import Journal, Limits, Sandbox
from tests.atc.exact.journal_runs import STORM, Orders, more, runs, sent
from tests.local_api import PREFIX, Answer, LocalAPI
from tests.scripted import ScriptedModel

# --- Across attempts


@pytest.mark.parametrize(
    "call",
    [
        "requests.get(base + '/cities?query=%{byte}')",
        "requests.get(base + '/cities/%{byte}')",
        "requests.post(base + '/alerts', data=b'text=%{byte}', headers={{'Content-Type': "
        "'application/x-www-form-urlencoded'}})",
    ],
)
def test_bytes_that_are_no_text_tell_calls_apart(api: LocalAPI, call: str) -> None:
    program = f"import requests\nbase = {api.url!r}\nprint({call}.status_code)"
    first, other = (program.format(byte=byte) for byte in ("FF", "FE"))
    for byte in ("FF", "FE"):
        api.answer("GET", f"/cities/%{byte}", {"id": byte})
    with Journal() as journal:
        runs(api.protocol, journal, first, other, first)

    assert len(api.requests) == 2


def test_a_repaired_program_repeats_no_write(api: LocalAPI) -> None:
    """The second program begins with the write of the first one, on another line; the service sees it once."""
    orders = Orders(api)
    model = ScriptedModel(f'alert = {STORM}\nprint(alert["lvl"])', f'\n\nalert = {STORM}\nprint(alert["level"])')

    agent = Agent(api.protocol, model=model, writes="allow", ablate=["check"])
    solution = agent.solve("Warn of a storm. Which level does it have?")

    assert (solution.answer, len(orders.made)) == ("1", 1)
    first, second = (attempt.calls[0] for attempt in solution.attempts)
    assert (first.replayed, second.replayed, second.attempts, second.response) == (False, True, 0, first.response)
    assert solution.abandoned == ()


def test_both_styles_make_the_same_call(api: LocalAPI) -> None:
    """A function's call and a request to the same operation are one call, whatever the order of names."""
    orders = Orders(api)
    by_request = (
        "import requests\n"
        f"reply = requests.post({api.url!r} + '/alerts', json={{'level': 3, 'text': 'Storm'}})\n"
        "print(reply.json()['level'], reply.status_code)"
    )
    by_text = by_request.replace("json={", "data='{").replace(
        "'level': 3, 'text': 'Storm'}", '"text":"Storm","level":3}\''
    )
    outputs = runs(api.protocol, Journal(), 'print(POST_alerts(text="Storm", level=3)["level"])', by_request, by_text)

    assert outputs == ["1", "1 200", "1 200"]
    assert len(orders.made) == 1


def test_other_arguments_are_another_call(api: LocalAPI) -> None:
    """Only what asks for the same is the same; and writes that are not repeated are listed."""
    journal = Journal()
    orders = Orders(api)
    runs(api.protocol, journal, STORM, 'POST_alerts(text="Rain")')

    assert len(orders.made) == 2
    assert [(call.tool, call.arguments, call.status) for call in journal.abandoned] == [
        ("POST_alerts", {"text": "Storm"}, 200)
    ]


def test_equal_writes_of_one_program_are_all_sent(api: LocalAPI) -> None:
    """Who writes the same three times means it; a repaired program gets the three replies in their order."""
    orders = Orders(api)
    programs = [f"print([POST_alerts(text='Storm')['level'] for _ in range({count})])" for count in (3, 4, 2)]

    assert runs(api.protocol, Journal(), *programs) == ["[1, 2, 3]", "[1, 2, 3, 4]", "[1, 2]"]
    assert len(orders.made) == 4


def test_whole_programs_in_any_schedule(api: LocalAPI) -> None:
    """The same with real programs, threads and delays; the repaired one has its pool elsewhere."""
    draw = random.Random(2)
    orders = Orders(api, wait=lambda: draw.random() / 100)
    program = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def warn(n):\n"
        "    return POST_alerts(text='Storm')['level']\n"
        "with ThreadPoolExecutor(6) as pool:\n"
        "    print(list(pool.map(warn, range(6))))\n"
    )
    nested = program.replace("POST_alerts(text='Storm')['level']", "ThreadPoolExecutor(1).submit(once).result()")
    nested = "def once(): return POST_alerts(text='Storm')['level']\n" + nested
    renamed = program.replace("warn", "alarm")
    loop = "print([POST_alerts(text='Storm')['level'] for _ in range(6)])"
    pairs = ((program, program), (nested, nested), (program, renamed), (program, nested), (loop, renamed))
    for text, repaired in pairs:
        count = len(orders.made)
        first, *repeats = runs(api.protocol, Journal(), text, *[BEFORE + repaired.replace("(6) as", "(4) as")] * 3)
        assert len(orders.made) == count + 6
        assert set(repeats) == {first}
        assert len(json.loads(first)) == 6


BEFORE = "print(end='')\nGET_cities(query='Oslo')\n"


# --- Reads


def test_reads_are_replayed_until_something_is_written(api: LocalAPI) -> None:
    """A read is replayed where the same writes came before it, and sent where others did."""
    read = "GET_alerts()\n"
    runs(api.protocol, Journal(), read, read, read + STORM, f"{read}{STORM}\n{read}", f"{STORM}\n{read}")

    assert sent(api) == ["GET /alerts", "POST /alerts", "GET /alerts"]


def test_a_failed_read_is_sent_again(api: LocalAPI) -> None:
    """Only a success is replayed."""
    api.script("GET", "/alerts", Answer(404, {"message": "not yet"}), Answer(body=[]))

    assert runs(api.protocol, Journal(), "GET_alerts()", "print(GET_alerts())")[1] == "[]"


def test_refresh_sends_all_reads_and_no_write(api: LocalAPI) -> None:
    """With refresh, what is read is up to date; writes stay as they are."""
    orders = Orders(api)
    runs(api.protocol, Journal(refresh=True), *[f"GET_cities(query='Oslo')\n{STORM}"] * 3)

    assert (len(sent(api, "GET")), len(orders.made)) == (3, 1)


def test_large_and_odd_replies_are_replayed_as_they_were(api: LocalAPI) -> None:
    """Text, empty bodies, headers, redirect histories and bodies over 256 KiB come back the same."""
    big = {"name": "x" * 400_000}
    api.answer("GET", "/cities/big", big)
    api.answer("GET", "/cities/text", "plain", headers={"X-Kind": "odd"})
    api.answer("GET", "/cities/old", status=302, headers={"Location": f"{PREFIX}/cities/oslo"})
    api.answer("DELETE", "/cities/oslo", status=204)
    program = (
        "import requests\n"
        f"base = {api.url!r}\n"
        "print(len(GET_cities_city_id(city_id='big')['name']))\n"
        "r = requests.get(base + '/cities/text')\n"
        "print(r.text, r.headers['x-kind'], r.status_code, r.url)\n"
        "r = requests.get(base + '/cities/old')\n"
        "print(r.json(), r.url, [h.status_code for h in r.history])\n"
        "print(DELETE_cities_city_id(city_id='oslo'))\n"
    )
    first, second = runs(api.protocol, Journal(), program, program)

    assert first == second
    assert len(sent(api)) == 5


# --- Writes whose outcome is not known


def test_a_write_without_a_reply_is_not_sent_again(api: LocalAPI) -> None:
    """The connection breaks after the request left: the program, the next one and the solution are told so."""
    api.script("POST", "/alerts", Answer(cut=True), Answer(body={"level": 1}))
    read = "GET_cities(query='Oslo')\n"
    model = ScriptedModel(f"{read}try:\n    {STORM}\nexcept ToolError:\n    {STORM}", f"{read}{STORM}", "print(1)")

    with Agent(api.protocol, model=model, mode="naive", writes="allow", max_reflections=1) as agent:
        solution = agent.solve("Warn of a storm")

    assert sent(api, "POST") == ["POST /alerts"]
    why = "POST_alerts: a call like this was sent before and its outcome is unknown; it was not sent again"
    assert [str(attempt.fault and attempt.fault.message) for attempt in solution.attempts] == [why, why]
    assert any("not known whether this write was done" in line and "Storm" in line for line in solution.warnings)


@pytest.mark.parametrize(("status", "times"), [(500, 1), (503, 1), (302, 1), (400, 2), (404, 2), (409, 2)])
def test_what_a_status_says_about_a_write(api: LocalAPI, status: int, times: int) -> None:
    """A 4xx means that nothing was done; a 5xx leaves it open."""
    api.answer("POST", "/alerts", {"message": "no"}, status=status)
    runs(api.protocol, Journal(), STORM, STORM)

    assert len(sent(api)) == times


def test_whether_a_write_left_is_known(api: LocalAPI) -> None:
    """Nobody listened the first time: it is sent later. The service took too long, and may do it all the same."""
    pauses = [0.0]
    orders = Orders(api, wait=lambda: pauses[-1])
    journal = Journal()
    with Sandbox(api.documented, base_url="http://127.0.0.1:9/v1", journal=journal) as sandbox:
        assert "connection refused" in str(sandbox.run(STORM).error)
    with Sandbox(api.documented, base_url=api.url, journal=journal) as sandbox:
        sandbox.run(STORM)
    assert (len(orders.made), journal.unknown) == (1, ())

    pauses.append(1.0)
    journal = Journal()
    with Sandbox(api.protocol, journal=journal, limits=Limits(request_timeout=0.2)) as sandbox:
        sandbox.run(STORM)
        sandbox.run(STORM)
    assert (len(sent(api)), len(journal.unknown)) == (2, 1)


@pytest.mark.parametrize(
    ("status", "item", "requests"),
    [
        (404, {}, ["DELETE /cities/oslo", "GET /cities/oslo"]),
        (410, {}, ["DELETE /cities/oslo", "GET /cities/oslo"]),
        (200, {"id": "oslo"}, ["DELETE /cities/oslo", "GET /cities/oslo", "DELETE /cities/oslo"]),
        (500, {}, ["DELETE /cities/oslo", "GET /cities/oslo"]),
    ],
)
def test_a_delete_is_settled_by_a_read(api: LocalAPI, status: int, item: object, requests: list[str]) -> None:
    """The city is gone: it was done. The city is there: it was not. Otherwise nobody knows."""
    api.script("DELETE", "/cities/oslo", Answer(cut=True), Answer(204))
    api.answer("GET", "/cities/oslo", item, status=status)
    journal = Journal()
    program = "print(DELETE_cities_city_id(city_id='oslo'))"
    outputs = runs(api.protocol, journal, program, program)

    assert sent(api) == requests
    assert (outputs[1] == "None", len(journal.unknown)) == ((True, 0) if status != 500 else (False, 1))


@pytest.mark.parametrize(
    ("method", "item", "times"),
    [
        ("PUT", {"id": 1, "name": "Oslo", "population": 7}, 1),
        ("PATCH", {"city": {"name": "Oslo", "population": "7"}}, 1),
        ("PUT", {"name": "Oslo", "population": 6}, 2),
        ("PATCH", {"name": "Oslo"}, 1),
    ],
)
def test_a_put_is_settled_by_a_read(api: LocalAPI, method: str, item: object, times: int) -> None:
    """All that was sent is there: it was done. Something differs: it was not. Something is missing: nobody knows."""
    api.script(method, "/cities/oslo", Answer(cut=True), Answer(body={"name": "sent"}))
    api.answer("GET", "/cities/oslo", item)
    journal = Journal()
    program = f"print({method}_cities_city_id(city_id='oslo', name='Oslo', population=7))"
    outputs = runs(more(api), journal, program, program, program)

    assert len(sent(api, method)) == times
    assert len(journal.unknown) == (item == {"name": "Oslo"})
    if not journal.unknown:
        assert outputs[1] == outputs[2] == str(item if times == 1 else {"name": "sent"})


def test_an_idempotency_key_lets_a_write_be_sent_again(api: LocalAPI) -> None:
    """Where the operation documents one, the broker fills it in, and an open write goes again with the same key."""
    api.script("POST", "/payments", Answer(cut=True), Answer(body={"paid": 1}), Answer(body={"paid": 2}))
    outputs = runs(
        more(api),
        Journal(),
        "POST_payments(name='x')",
        "print(POST_payments(name='x'))\nprint(POST_payments(name='x'))",
        "print(POST_payments(name='x'))\nprint(POST_payments(name='x'))",
    )
    keys = [request.headers["idempotency-key"] for request in api.requests]

    assert outputs[1:] == ["{'paid': 1}\n{'paid': 2}"] * 2
    assert keys[0] == keys[1] != keys[2]
    assert len(keys) == 3


def test_a_program_may_bring_its_own_idempotency_key(api: LocalAPI) -> None:
    """The first one counts: a repaired program that draws another key means the same payment."""
    api.script("POST", "/payments", Answer(500, {}), Answer(body={"paid": 1}))
    pay = "print(POST_payments(name='x', Idempotency_Key='{}'))"
    first_key, second_key = "6f2b6b4e-8d1c-4f0e-9d43-0a4f0e1b8a11", "00000000-0000-4000-8000-000000000001"
    outputs = runs(more(api), Journal(), pay.format(first_key), pay.format(second_key), pay.format(second_key))

    assert outputs[1:] == ["{'paid': 1}"] * 2
    assert [request.headers["idempotency-key"] for request in api.requests] == [first_key, first_key]
