"""The parts that are used alone: each program of docs/parts.md prints what the page says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.warm import warm_commands

PAGE = Path(__file__).resolve().parents[2] / "docs" / "parts.md"
PROGRAMS = dict(re.findall(r'--8<-- "(parts/\w+\.py)"\n```\n\n```text\n(.*?)```', PAGE.read_text("utf-8"), re.DOTALL))


def test_the_page_has_each_program() -> None:
    files = {f"parts/{file.name}" for file in (PAGE.parent / "parts").glob("*.py")}
    assert set(PROGRAMS) == files


@pytest.mark.parametrize("file", PROGRAMS)
def test_a_program_prints_what_the_page_says(file: str, tmp_path: Path) -> None:
    """From any folder, without a model or a key."""
    run = subprocess.run([warm_commands() / "python", PAGE.parent / file], cwd=tmp_path, capture_output=True, text=True)

    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == PROGRAMS[file]
