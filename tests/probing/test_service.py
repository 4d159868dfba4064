"""A service that we did not write is probed: what it sends is in the document, and all is left as it was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from probing.document import openapi_document
from probing.evaluation import field_agreement
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
    """Four of five reads of what is stored are learned, and four of five replies are as it was learned."""
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
    bodies = [(name, body) for name, replies in answers.items() for body in replies]
    fitting = [name for name, body in bodies if _fits(prober, name, body)]
    assert len(fitting) >= 0.8 * len(bodies)
    print(f"{len(complete)} of {len(reads)} reads, {len(fitting)} of {len(bodies)} replies, {report.requests} requests")
    print("not learned:", *(f"{name}: {reason[:80]}" for name, reason in incomplete.items()), sep="\n  ")
    written = [
        tool.name for tool in truth.tools if tool.name not in every_read and prober.findings[tool.name].is_complete
    ]
    assert written
    print(len(written), "writes on objects of its own:", *written)
    validate(openapi_document(hidden, prober.findings))
    print("beside its document:", field_agreement(truth, prober.findings))


def _fits(prober: Prober, tool: str, body: object) -> bool:
    """Whether a reply is as the learned schema says."""
    schema = prober.findings[tool].schema
    return schema is not None and Draft202012Validator(schema).is_valid(body)
