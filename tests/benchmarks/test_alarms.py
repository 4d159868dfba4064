"""The rules that doubt a right answer, counted over the references of a benchmark."""

from __future__ import annotations

import json

from click.testing import CliRunner

from benchmarks.micro import alarms


def test_no_rule_doubts_the_references_of_tiny() -> None:
    """All 24 tasks have a program, those that change something too."""
    result = CliRunner().invoke(alarms.main, ["tiny", "--json"])

    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {"tiny": {"right": 24, "doubted": 0, "findings": {}}}


def test_findings_are_counted_by_their_kind() -> None:
    """An answer with two findings is doubted once."""
    answers: list[tuple[str, ...]] = [(), ("FirstPage", "OtherEntity"), ("OtherEntity",)]

    figures = alarms.count_alarms(answers)

    assert figures == {"right": 3, "doubted": 2, "findings": {"FirstPage": 1, "OtherEntity": 2}}
