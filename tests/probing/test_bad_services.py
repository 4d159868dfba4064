"""Services that a probe cannot learn much from: each tool's outcome and reason are told, and the document is valid."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from tests.local_api import Answer, LocalAPI, Received
from tests.probing.small_services import probe_by_command

HENS = {
    "/hens": {"get": {}},
    "/hens/{hen_id}": {
        "get": {"parameters": [{"name": "hen_id", "in": "path", "required": True, "schema": {"type": "integer"}}]}
    },
}
LARGE = {"hens": [{"hen_id": number, "name": f"Hen {number} " + "x" * 300} for number in range(2_000)]}


class Bad(LocalAPI):
    """Answers each request as it is told to."""

    def __init__(self, replies: Callable[[Received], Answer]) -> None:
        super().__init__()
        self.replies = replies

    def next(self, received: Received) -> Answer:
        self.requests.append(received)
        return self.replies(received)


def probed(folder: Path, paths: Mapping[str, Any], url: str) -> tuple[int, dict[str, tuple[str, str]], dict[str, Any]]:
    """Exit code, outcome and reason by tool, and the document, which is a valid one."""
    head = {"openapi": "3.1.0", "info": {"title": "Hens", "version": "1"}}
    result, tools, document = probe_by_command(folder, {**head, "paths": paths}, url)
    validate(document)
    return result.exit_code, {name: (tool["outcome"], tool["reason"]) for name, tool in tools.items()}, document


@pytest.mark.parametrize(
    ("answer", "outcome", "reason"),
    [
        (Answer(401, {"detail": "no key"}), "only_errors", "401: no key"),
        (Answer(500, {"detail": "out of order"}), "only_errors", "500: out of order"),
        (Answer(200, b"<html>maintenance</html>"), "only_errors", "a web page"),
        (Answer(200, {"error": {"message": "no such plan"}}), "only_errors", "no such plan"),
        (Answer(cut=True), "only_errors", ""),
    ],
)
def test_a_service_that_never_answers_well(tmp_path: Path, answer: Answer, outcome: str, reason: str) -> None:
    with Bad(lambda _: answer) as service:
        code, findings, document = probed(tmp_path, HENS, service.url)

    assert code == 1
    assert findings["GET_hens"][0] == outcome and reason in findings["GET_hens"][1] and findings["GET_hens"][1]
    assert findings["GET_hens_hen_id"] == ("unreachable_argument", "no answer held a value for hen_id")
    assert "content" not in document["paths"]["/hens"]["get"]["responses"].get("200", {})


def test_a_service_that_is_down(tmp_path: Path) -> None:
    with Bad(lambda _: Answer(200, {})) as service:
        url = service.url
    code, findings, _ = probed(tmp_path, HENS, url)

    assert code == 6
    assert "cannot be reached" in findings["GET_hens"][1]
    assert findings["GET_hens_hen_id"][0] == "unreachable_service"


def test_a_body_too_large_for_a_record(tmp_path: Path) -> None:
    """It is learned from, and what is written of it is short."""

    def replies(received: Received) -> Answer:
        return Answer(200, LARGE["hens"][0] if received.path[-1].isdigit() else LARGE)

    with Bad(replies) as service:
        code, findings, document = probed(tmp_path, HENS, service.url)

    assert (code, {outcome for outcome, _ in findings.values()}) == (0, {"documented"})
    assert len(json.dumps(document)) < 20_000


def test_paging_without_an_end(tmp_path: Path) -> None:
    """Every page leads to another one: a few are enough."""
    paths = {"/hens": {"get": {"parameters": [{"name": "page", "in": "query", "schema": {"type": "integer"}}]}}}

    def replies(received: Received) -> Answer:
        page = int(dict(received.query).get("page", 1))
        return Answer(200, {"hens": [{"hen_id": page}], "page": page, "next": f"/hens?page={page + 1}"})

    with Bad(replies) as service:
        code, findings, _ = probed(tmp_path, paths, service.url)

    assert (code, findings["GET_hens"]) == (0, ("documented", ""))
    assert len(service.requests) <= 12
