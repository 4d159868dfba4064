"""The services that are data answer as their documents say, and their tasks are judged by answer and state."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from openapi_core import OpenAPI
from openapi_core.contrib.requests import RequestsOpenAPIRequest, RequestsOpenAPIResponse

from benchmarks.services.services_run import FOLDER, read_services, service_names
from benchmarks.services.truth import answer_faults, state_faults
from benchmarks.tasks.service import DataService, ServiceData, read_service
from tests.atc_command import atc
from tests.chat_endpoint import serve

PROGRAM = """```python
hits = GET_search(q="Nordische Moorglocke")["hits"]
species = GET_species_species_slug(hits[0]["id"])
print(species["names"]["fr"], species["red_list"])
```"""


@pytest.fixture(scope="module")
def data() -> ServiceData:
    return read_service(FOLDER / "seedbank")


@pytest.fixture
def bank(data: ServiceData) -> Iterator[DataService]:
    service = DataService(data)
    yield service
    service.close()


def get(service: DataService, path: str, **query: Any) -> Any:
    """The body of the reply to a GET."""
    return requests.get(service.url + path, params=query, timeout=10).json()


def truth_of(task_id: str) -> dict[str, Any]:
    """The truth of a task that comes with the package."""
    return next(dict(task.truth) for task in read_services(service_names())[1] if task.id == task_id)


@pytest.mark.parametrize("name", service_names())
def test_replies_are_as_documented(name: str) -> None:
    """What the operations without required arguments reply fits their documents, by an independent reader."""
    document = OpenAPI.from_file_path(str(FOLDER / name / "openapi.yaml"))
    service = DataService(read_service(FOLDER / name))
    try:
        for tool in service.data.protocol.tools:
            if tool.method == "GET" and "{" not in tool.path:
                query = {"q": "an"} if tool.path == "/search" else {}
                reply = requests.get(service.url + tool.path, params=query, timeout=10)
                reply.request.url = str(reply.request.url).replace(service.url, tool.servers[0].url)
                document.validate_response(RequestsOpenAPIRequest(reply.request), RequestsOpenAPIResponse(reply))
    finally:
        service.close()


def test_every_page_is_reached_by_number_and_by_cursor(data: ServiceData, bank: DataService) -> None:
    """No page holds all records, and all pages together hold each once."""
    first = get(bank, "/germination-tests", per_page=25)
    numbered = [
        test["id"]
        for page in range(1, first["meta"]["pages"] + 1)
        for test in get(bank, "/germination-tests", per_page=25, page=page)["data"]
    ]
    reply = get(bank, "/accessions", limit=40)
    lots = [lot["id"] for lot in reply["items"]]
    while reply["next_cursor"]:
        reply = get(bank, "/accessions", limit=40, cursor=reply["next_cursor"])
        lots += [lot["id"] for lot in reply["items"]]

    assert sorted(numbered) == sorted(test["id"] for test in data.collections["tests"]["records"])
    assert sorted(lots) == sorted(lot["id"] for lot in data.collections["accessions"]["records"])


def test_filters_hold_together(bank: DataService) -> None:
    """Each filter that is given must hold, those of nested fields and lists included."""
    lots = get(bank, "/accessions", region="LND", collected_from="2023-01-01", collected_to="2023-12-31")["items"]
    species = get(bank, "/species", red_list=["EN", "VU"], native_to="PSN", per_page=25)["data"]

    assert {lot["site"]["region"] for lot in lots} == {"LND"} and len(lots) == 3
    assert len(species) == 4


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/accessions/ACC-1900-001", None, 404),
        ("GET", "/no-such-path", None, 404),
        ("PUT", "/accessions", None, 405),
        ("GET", "/accessions?status=lost", None, 400),
        ("GET", "/accessions?colour=red", None, 400),
        ("GET", "/accessions?collected_from=someday", None, 400),
        ("GET", "/accessions?cursor=x", None, 400),
        ("DELETE", "/seed-requests/REQ-0102", None, 409),
        ("PATCH", "/accessions/ACC-2021-007", {"colour": "red"}, 422),
        ("PATCH", "/accessions/ACC-2021-007", {"chamber": "C9"}, 422),
    ],
)
def test_what_is_wrong_is_refused_with_a_reason(
    bank: DataService, method: str, path: str, body: object, status: int
) -> None:
    """A refusal has its status, a code and a message, and changes nothing."""
    reply = requests.request(method, bank.url + path, json=body, timeout=10)

    assert reply.status_code == status
    assert reply.json()["error"]["status"] == status and reply.json()["error"]["message"]
    assert state_faults(bank.data, bank.records, {}) == []


def test_a_state_is_right_if_the_expected_changes_were_made_and_no_others(bank: DataService) -> None:
    """A change that is missing is a fault, and so is one too many; each server begins anew."""
    truth = truth_of("seedbank-19")
    for lot in ("ACC-2019-002", "ACC-2021-001"):
        assert state_faults(bank.data, bank.records, truth)
        body = {"status": "banked", "chamber": "C2"}
        requests.patch(f"{bank.url}/accessions/{lot}", json=body, timeout=10).raise_for_status()
    assert state_faults(bank.data, bank.records, truth) == []

    pending = get(bank, "/seed-requests", status="pending")["data"][0]["id"]
    requests.delete(f"{bank.url}/seed-requests/{pending}", timeout=10).raise_for_status()

    assert state_faults(bank.data, bank.records, truth) == [
        f"wrongly done: {{'collection': 'requests', 'id': '{pending}', 'deleted': True}}"
    ]
    fresh = DataService(bank.data)
    assert state_faults(fresh.data, fresh.records, {}) == []
    fresh.close()


def test_a_new_record_is_compared_whole_and_moments_by_their_time(bank: DataService) -> None:
    """The same moment in another zone is right; another number is not."""
    truth = truth_of("seedbank-20")
    lot = truth["changes"][0]["fields"]["accession_id"]
    body = {"laboratory": "Glanbrae", "started_at": "2026-06-12T08:00:00Z", "medium": "agar", "temperature_c": 15}
    body |= {"sown": 50, "germinated": 41, "outcome": "pass"}
    requests.post(f"{bank.url}/accessions/{lot}/germination-tests", json=body, timeout=10).raise_for_status()
    assert state_faults(bank.data, bank.records, truth) == []

    body["germinated"] = 40
    requests.post(f"{bank.url}/accessions/{lot}/germination-tests", json=body, timeout=10).raise_for_status()
    assert len(state_faults(bank.data, bank.records, truth)) == 1


@pytest.mark.parametrize(
    ("answer", "truth", "right"),
    [
        ("It is ACC-2022-001, at 2,049m.", {"facts": ["acc-2022-001", 2049]}, True),
        ("56,390.40 EUR, SABLE TANKERS", {"facts": ["Sable Tankers", [56390.4, 5639040]]}, True),
        ("It runs at \u221220 °C.", {"facts": [-20]}, True),
        ("2,048 m", {"facts": [2049]}, False),
        ("K-01 and K-02", {"facts": ["K-01"], "absent": ["K-02"]}, False),
        ("No, there is none.", {"yes": False}, True),
        ("Yes", {"yes": False}, False),
        (None, {"facts": [1]}, False),
        (None, {"changes": []}, True),
    ],
)
def test_an_answer_is_right_if_it_states_every_fact(answer: str | None, truth: dict[str, Any], right: bool) -> None:
    """Numbers are compared as numbers, texts without case."""
    assert (answer_faults(answer, truth) == []) is right


def test_the_command_runs_tasks_and_a_recording_replays_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that were recorded give the same verdicts without the model, whatever the port of the service."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    recorded = tmp_path / "answers.jsonl"
    with serve() as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        endpoint.text = PROGRAM
        options = ("--limit", "1", "--json", "--profile", "large")
        first = atc("bench", "services", "seedbank", "--model", "openai:strong", "--out", tmp_path / "a", "--record",
                    recorded, *options)  # fmt: skip
    second = atc("bench", "services", "seedbank", "--model", f"replay:{recorded}", "--out", tmp_path / "b", *options)
    again = atc("bench", "services", "seedbank", "--model", f"replay:{recorded}", "--out", tmp_path / "b", *options[:2],
                *options[3:])  # fmt: skip
    report = atc("report", tmp_path / "b")

    for result in (first, second):
        assert result.exit_code == 0, result.output
        summary = json.loads(result.stdout)
        assert (summary["right"], summary["right_in_one_call"], summary["n"]) == (1, 1, 1)
        assert summary["prompt_tokens"] == 120
    for result in (again, report):
        assert result.exit_code == 0 and "seedbank" in result.output
    assert atc("bench", "services", "bakery", "--out", tmp_path / "c").exit_code == 2
