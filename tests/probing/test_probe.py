"""An API without documented responses is learned by calling it: real requests to a server on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from click.testing import CliRunner
from openapi_spec_validator import validate

from atc.apps.cli import main
from atc.retrieval.demonstrations import Demonstrations
from benchmarks.tasks.datasets import open_dataset
from probing.document import openapi_document
from probing.evaluation import field_agreement, strip_responses
from probing.prober.findings import ProbeReport, ToolFinding
from probing.prober.permission import WritePermission
from probing.prober.prober import Prober
from probing.prober.programs import steps_to
from protocols import load
from protocols.contracts.contract import Contract
from protocols.contracts.store import ContractStore
from protocols.dataflow.graph import ProtocolGraph
from protocols.model import Protocol
from protocols.samples import sample
from protocols.simulator import Simulator
from sandbox import CallRecord, Sandbox

TINY = ["museum", "parcels"]


def api(name: str) -> Protocol:
    return load(sample("cinema")) if name == "cinema" else open_dataset("tiny", None, ()).protocols[name]


@dataclass
class Probed:
    """A prober that has been through a simulated service, of which it was told nothing of the responses."""

    prober: Prober
    report: ProbeReport
    calls: list[CallRecord]

    @property
    def findings(self) -> Mapping[str, ToolFinding]:
        return self.prober.findings


def probed(
    truth: Protocol,
    writes: Literal["deny", "own", "all"] = "all",
    **settings: Any,
) -> Probed:
    calls: list[CallRecord] = []
    hidden = strip_responses(truth)
    with Simulator(truth) as world:
        permission = WritePermission(hidden, writes)
        sandbox = Sandbox(
            hidden,
            base_url=world.url,
            credentials=world.credentials,
            track=False,
            writes=permission,
            on_call=lambda call: calls.append(call) if call.attempts else None,
        )
        prober = Prober(hidden, None, sandbox, permission=permission, **settings)
        return Probed(prober, prober.probe(), calls)


@cache
def probed_whole(name: str) -> Probed:
    """After a probe without a limit."""
    return probed(api(name))


def test_the_prober_is_told_nothing_of_responses() -> None:
    truth = api("cinema")
    hidden = strip_responses(truth)

    assert [tool.arguments for tool in hidden.tools] == [tool.arguments for tool in truth.tools]
    assert all(tool.responses == () for tool in hidden.tools)
    assert "synopsis" not in repr(hidden)


@pytest.mark.parametrize("name", ["cinema", *TINY])
def test_every_tool_is_reached_along_the_data_flow(name: str) -> None:
    """Without a model; what is inferred has no field that the truth lacks."""
    truth, probe = api(name), probed_whole(name)

    assert {finding.tool: finding.reason for finding in probe.findings.values() if not finding.is_complete} == {}
    figures = field_agreement(truth, probe.findings)
    assert (figures["precision"], figures["types"], figures["invented"]) == (100.0, 100.0, [])


def test_the_document_is_openapi_and_says_what_the_hidden_one_said() -> None:
    """It can be loaded in the other's place: the same call yields the same identifier."""
    truth = api("cinema")
    document = openapi_document(strip_responses(truth), probed_whole("cinema").findings)
    validate(document)
    learned = load(document)
    names = [tool.name for tool in truth.tools]

    assert [tool.name for tool in learned.tools] == names
    for tool in ("GET_studios_studioId", "GET_films_filmId_credits"):
        steps = [steps_to(ProtocolGraph(protocol), protocol.tool(tool), names) for protocol in (learned, truth)]
        assert steps[0] == steps[1] and len(steps[0]) > 1
    body = Contract(learned).body("GET_films_filmId")
    assert body is not None
    assert "synopsis" in body.keys
    usage = document["paths"]["/studios/{studioId}"]["get"]["x-usage"]
    assert "GET_studios_studioId(" in usage["program"]


def test_what_is_documented_is_kept() -> None:
    """Without hiding anything, a probe adds an example and no other schema."""
    truth, names = api("cinema"), ["GET_films", "GET_films_filmId"]
    with Simulator(truth) as world, Sandbox(truth, base_url=world.url, credentials=world.credentials) as sandbox:
        prober = Prober(truth, None, sandbox, only=names)
        report = prober.probe()
    assert [finding.tool for finding in report.tools] == names
    assert [finding.tool for finding in prober.findings.values() if finding.requests] == names, "what is not asked for"
    program = prober.findings["GET_films_filmId"].program
    assert program.startswith("film = GET_films()"), "a list without filters has more items"
    media = openapi_document(truth, prober.findings)["paths"]["/films"]["get"]["responses"]["200"]["content"][
        "application/json"
    ]
    success = truth.tool("GET_films").success

    assert success is not None
    assert media["schema"] == {"$ref": "#/components/schemas/FilmPage"}
    again = load(openapi_document(truth, prober.findings)).tool("GET_films").success
    assert again is not None
    assert again.schema == success.schema
    assert "films" in media["example"]


def test_a_budget_is_kept_and_what_is_left_undone_is_listed() -> None:
    probe = probed(api("cinema"), budget_calls=3)

    assert len(probe.calls) == probe.report.requests == 3
    assert probe.report.exit_code == 4
    assert any(finding.outcome == "budget" and "3 requests" in finding.reason for finding in probe.findings.values())


def test_an_interrupt_keeps_what_is_known() -> None:
    """What was found out before it is written down."""
    finished: list[str] = []

    def stop_at_third(finding: ToolFinding) -> None:
        finished.append(finding.tool)
        if len(finished) == 3:
            raise KeyboardInterrupt

    report = probed(api("cinema"), on_finding=stop_at_third).report

    assert (report.exit_code, report.ended) == (130, "interrupted")
    assert sum(finding.schema is not None for finding in report.tools) == 3


def test_the_command_writes_document_report_and_store(tmp_path: Path) -> None:
    """Exit code 0 when all that may be called was read, 2 for a slip. Contracts and demonstrations lie where `atc solve
    --store` looks for them."""
    out, report, store = (tmp_path / name for name in ("learned.yaml", "report.json", "store"))
    command = ["probe", str(sample("cinema")), "--simulate", "--model", "none", "-o", str(out)]

    whole = CliRunner().invoke(main, [*command, "--blind", "--report", str(report), "--store", str(store)])
    assert whole.exit_code == 0, whole.output
    assert "precision: 100.0" in whole.output
    validate(yaml.safe_load(out.read_text()))
    written = json.loads(report.read_text())
    assert written["totals"]["done"] == written["totals"]["tools"] == len(written["tools"])
    assert written["agreement"]["precision"] == 100.0
    protocol, simulated = strip_responses(api("cinema")), store / "simulated"
    solved = Demonstrations(simulated, protocol).all()
    assert any("GET_films_filmId_credits" in demonstration.tools for demonstration in solved)
    assert ContractStore(simulated).observed(protocol)["GET_films"].bodies
    part = CliRunner().invoke(main, [*command, "--writes", "deny", "--json", "--only", "*_me_*"])
    assert (part.exit_code, json.loads(part.stdout)["totals"]["outcomes"]["refused_by_policy"]) == (0, 2)
    slip = CliRunner().invoke(main, [*command, "--only", "GET_nothing"])
    assert (slip.exit_code, "--only 'GET_nothing' fits no operation" in slip.output) == (2, True)
