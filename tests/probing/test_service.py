"""A service that we did not write is probed: what it sends is in the document, and all is left as it was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest
from openapi_spec_validator import validate

from probing.document import openapi_document
from probing.evaluation import evaluate, fields_of, has_field
from probing.prober.permission import WritePermission
from probing.prober.prober import Prober
from probing.strip_responses import strip_responses
from protocols import load
from sandbox import CallRecord, Sandbox
from tests.probing.service import Service, service

pytestmark = pytest.mark.service

READS = frozenset({"count", "filter", "history", "lateness", "paginate", "validate"})
"""Last words of the paths that only read, though one asks them with POST."""


@pytest.fixture(scope="module")
def prefect() -> Iterator[Service]:
    with service() as running:
        yield running


def test_a_real_service_is_learned_and_left_as_it_was(prefect: Service) -> None:
    """Four of five reads of what is stored and nine of ten fields; where it and its document disagree is listed."""
    truth = load(prefect.document)
    hidden = strip_responses(truth)
    before = prefect.stored()
    declared = [tool for tool in truth.tools if tool.method == "POST" and tool.path.rpartition("/")[2] in READS]
    permission = WritePermission(hidden, "own", [tool.name for tool in declared])
    answers: dict[str, list[object]] = defaultdict(list)

    def observe_call(call: CallRecord) -> None:
        permission.observe(call)
        if call.tool is not None and call.status is not None and 200 <= call.status < 300:
            answers[call.tool].append(call.response)

    with Sandbox(hidden, base_url=prefect.base_url, track=False, writes=permission, on_call=observe_call) as sandbox:
        prober = Prober(hidden, None, sandbox, permission=permission)
        report = prober.probe()

    assert len(truth.tools) >= 30
    assert prefect.stored() == before
    assert report.left_behind == ()
    every_read = [tool.name for tool in truth.tools if not tool.writes or tool in declared]
    reads = [name for name in every_read if prober.findings[name].outcome != "always_empty"]  # nothing is stored there
    complete = [name for name in reads if prober.findings[name].is_complete]
    incomplete = {name: prober.findings[name].reason for name in reads if name not in complete}
    assert len(complete) >= 0.8 * len(reads), incomplete
    fields = [(name, path) for name, bodies in answers.items() for body in bodies for path in fields_of(body)]
    covered = [(name, path) for name, path in fields if _known(prober, name, path)]
    assert len(covered) >= 0.9 * len(fields)
    print(f"{len(complete)} of {len(reads)} reads, {len(covered)} of {len(fields)} fields, {report.requests} requests")
    print("not learned:", *(f"{name}: {reason[:80]}" for name, reason in incomplete.items()), sep="\n  ")
    written = [
        tool.name for tool in truth.tools if tool.name not in every_read and prober.findings[tool.name].is_complete
    ]
    assert written
    print(len(written), "writes on objects of its own:", *written)
    validate(openapi_document(hidden, prober.findings))
    figures = evaluate(truth, prober.observations, 0, fresh=False)
    print("its document lacks:", *figures["invented"], sep="\n  ")  # type: ignore[misc]


def _known(prober: Prober, tool: str, path: tuple[str | int, ...]) -> bool:
    schema = prober.findings[tool].schema
    return schema is not None and has_field(schema, path, schema)
