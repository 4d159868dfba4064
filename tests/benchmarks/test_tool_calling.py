"""`python -m benchmarks.micro.tool_calling`: the questions about services, with the tools that fastmcp makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.models.openai_compatible import Endpoint
from benchmarks.micro.tool_calling import main, solve
from benchmarks.services.services_run import read_services, service_names
from tests.chat_endpoint import serve, tool_call

RECORDED = Path(__file__).resolve().parents[2] / "benchmarks" / "data" / "recorded"

pytest.importorskip("fastmcp")


@pytest.mark.parametrize(("record", "options"), [("services-tools", ()), ("services-code", ("--code",))])
def test_recorded_answers_give_the_same_figures(record: str, options: tuple[str, ...]) -> None:
    """The published row comes out of the record, without the model."""
    model = f"replay:{RECORDED / record}.jsonl.gz"
    result = CliRunner().invoke(main, ["--model", model, "--limit", "4", "--json", *options])
    figures = json.loads(result.stdout)

    assert (figures["right"], figures["tasks"]) == (4, 4)
    assert figures["prompt_tokens"] > 1_000


def test_errors_are_what_the_model_reads() -> None:
    """Arguments that are no JSON, a function that is not there and an error of the service are results like others."""
    services, tasks = read_services(service_names())
    calls = [
        tool_call("1", "getVessel", '{"imo": 9476754}'),
        tool_call("2", "getVessel", '{"imo": 1}'),
        tool_call("3", "getVessel", "{"),
        tool_call("4", "none", "{}"),
    ]
    with serve() as endpoint:
        endpoint.reply(None, tool_calls=calls)
        endpoint.reply("IMO 9476754, Malta")
        answer = solve(tasks[0], services[tasks[0].service], Endpoint("m", base_url=endpoint.url, api_key="none"))

    assert (answer.faults, answer.model_calls) == ([], 2)
    results = [message["content"] for message in endpoint.requests[1]["messages"] if message["role"] == "tool"]
    assert '"name":"Kestrel Pioneer"' in results[0]
    assert ["404" in results[1], "no JSON" in results[2], "Unknown tool" in results[3]] == [True] * 3
    # The schemas are sent, and counted, twice.
    sent = [json.dumps(request["tools"]) for request in endpoint.requests]
    assert sent[0] == sent[1]
    assert 0.8 * len(sent[0]) / 2 < answer.prompt_tokens < 1.2 * len(sent[0])
