"""The benchmark of the journal counts what it says: a few solves of each fault, with the journal and without."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_no_write_is_made_twice_with_the_journal() -> None:
    """Each fault once: with the journal nothing is written twice or lost, without it much is."""
    command = [sys.executable, "-m", "benchmarks.micro.journal", "--runs", "4", "--json"]
    process = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    figures = json.loads(process.stdout)

    assert process.returncode == 0, process.stderr
    assert [(row["runs"], row["twice"], row["lost"], row["silent"]) for row in figures["journal"]] == [(1, 0, 0, 0)] * 4
    assert all(row["twice"] > 0 for row in figures["no journal"][:3])
