"""The rules that doubt a right answer, counted over the references of a benchmark."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from atc.verify.findings import Finding
from benchmarks.micro import alarms


def test_no_rule_doubts_the_references_of_tiny() -> None:
    """All 24 tasks have a program, those that change something too."""
    result = CliRunner().invoke(alarms.main, ["tiny", "--json"])

    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {"tiny": {"right": 24, "doubted": 0, "findings": {}}}


def test_findings_are_counted_by_their_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer with two findings is doubted once."""
    doubt = (Finding("FirstPage", "only page 1"), Finding("OtherEntity", "another one"))
    monkeypatch.setattr(alarms, "inspect", lambda program, *_: doubt if "GET_parcels" in program else ())

    figures = json.loads(CliRunner().invoke(alarms.main, ["tiny", "--json"]).stdout)["tiny"]

    assert figures["findings"] == {"FirstPage": figures["doubted"], "OtherEntity": figures["doubted"]}
    assert 0 < figures["doubted"] < figures["right"]
