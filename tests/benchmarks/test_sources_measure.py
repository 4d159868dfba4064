"""The measurement of told sources runs on the documents that are there, and names those that are not."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from benchmarks.micro.sources import main


def test_told_sources_are_judged_by_labels(data: Path) -> None:
    """Of documents that were read while the rules were written, nearly all sources are true."""
    result = CliRunner().invoke(main, [str(data / "restbench"), "--json"])
    read = json.loads(result.stdout)["read"]

    assert read["true"] >= 0.97 * read["told"] > 40
    assert "figma.yaml is left out" in result.stderr


def test_a_folder_without_documents_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [str(tmp_path)])

    assert result.exit_code == 1
    assert "has none of" in result.stderr
