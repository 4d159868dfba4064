"""What a strong model's solve walks through: no help, no measurement, and no library that it does not use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.atc import strong_solve

MOST_FILES, MOST_LINES = 60, 20_000
"""Files that a solve enters, and lines that it loads, of ours: they may only shrink.

A quarter of the lines reads the document and the data flow of its tools (3,800), keeps calls in a journal (600) or says
where the printed values come from (900).
"""
UNUSED = ("bm25s", "networkx", "numpy", "rich", "torch", "transformers", "ty", "wordllama", "xllamacpp")


def test_a_strong_models_solve_enters_no_help() -> None:
    """With `large` a question is answered by the core alone; nothing is loaded that it does not use."""
    script = [sys.executable, str(Path(strong_solve.__file__))]
    done = subprocess.run(script, capture_output=True, text=True, check=True, cwd=strong_solve.ROOT)
    trace = json.loads(done.stdout)
    files = [Path(file) for file in trace["loaded"].values() if file.endswith(".py")]

    assert trace["answer"] == "Dune 2021"
    assert [name for name in trace["loaded"] if name.startswith(("atc.assist", "benchmarks", "probing"))] == []
    assert [name for name in UNUSED if name in trace["modules"]] == []
    assert len(trace["entered"]) <= MOST_FILES
    assert sum(file.read_text("utf-8").count("\n") for file in files) <= MOST_LINES
