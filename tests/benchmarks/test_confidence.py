"""The constants of the retriever's confidence are fitted, and measured on other questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.micro.confidence import SIZES, fitted, main


def test_evidence_that_tells_is_weighted_and_the_rest_is_not() -> None:
    """Scores by words that differ give a high area; the constants give the share of the rows."""
    generator = np.random.default_rng(0)
    labels = np.arange(400) % 2 == 0
    features = np.stack([labels + generator.normal(0, 0.5, 400), generator.normal(0, 1, 400), np.full(400, 3.0)], 1)

    figures = fitted(features, labels, [f"q{number // 4}" for number in range(400)])

    assert figures["words"] > 10 * abs(figures["vectors"])
    assert figures["AUROC, unseen questions"] > 0.9
    assert figures["calibration error, unseen questions"] < 0.1
    assert figures["n"] == 400


def test_an_index_that_has_what_is_needed_is_told_from_others(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the real questions, an index of each size."""
    monkeypatch.setenv("ATC_DATA", str(data))

    def measured(*arguments: str) -> dict[str, Any]:
        figures: dict[str, Any] = json.loads(CliRunner().invoke(main, ["--indexes", "1", "--json", *arguments]).stdout)
        return figures

    figures, held_out = measured(), measured("--fold", "0")
    assert (figures["sizes"], figures["vectors"]) == (list(SIZES), 0)
    assert figures["words"] > 0
    assert 0.7 < figures["AUROC, unseen questions"] < 1
    assert 0 < held_out["n"] < figures["n"]
