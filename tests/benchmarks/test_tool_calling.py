"""`python -m benchmarks.micro.tool_calling`: the questions about services, with the tools that fastmcp makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.micro.tool_calling import main

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
