"""What another package registers works like ours, and no file of ours is changed for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from protocols.samples import sample

PACKAGE = """
from atc.evidence import Finding
from atc.help import Help
from atc.models import Completion, Usage
from atc.models.base import ModelBase
from atc.modes import Mode


class Parrot(ModelBase):
    def __init__(self, name):
        self.name = name
        self.profile = "large"

    def answer(self, request):
        asked = request.messages[-1].content
        title = "Hints were read!" if "Begin with the films." in asked else "No hint was read."
        return Completion(f"```python\\nGET_films()\\nprint({title!r})\\n```", Usage(1, 1, 0, 1, 0.0), "stop")

    def close(self):
        pass


def parrot(name, settings):
    return Parrot(f"parrot:{name}")


class Hints(Help):
    def sections(self, query, offer):
        return ["Begin with the films."]


def count_tools(query, offer, session):
    return f"{query.text} {len(offer.tools)} tools"


counting = Mode(count_tools)


def shouted(traced):
    return Finding("Shouted", "the answer is loud") if "!" in traced.run.stdout else None
"""
ENTRIES = """
[atc.engines]
parrot = toy_doors:parrot
[atc.help]
hints = toy_doors:Hints
[atc.modes]
counting = toy_doors:counting
[atc.facts]
shouted = toy_doors:shouted
"""


SOLVES = """
import json, sys
from click.testing import CliRunner
from atc.apps.cli import main

for options in json.loads(sys.argv[1]):
    command = ["solve", "How many?", "--api", sys.argv[2], "--simulate", "--model", "parrot:polly", "--json", *options]
    solution = json.loads(CliRunner().invoke(main, command).stdout)
    print(json.dumps([solution["answer"], [finding["kind"] for finding in solution["findings"]]]))
"""


def test_what_another_package_registers_is_used(tmp_path: Path) -> None:
    """An engine by a prefix of `--model`, a help by a profile, a mode by its name, a fact beside ours."""
    (tmp_path / "toy_doors.py").write_text(PACKAGE)
    metadata = tmp_path / "toy_doors-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-doors\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "hinted.yaml").write_text("base: large\nhelp: hints\n")
    options = [[], ["--profile", str(tmp_path / "hinted.yaml")], ["--mode", "counting"]]
    finished = subprocess.run(
        [sys.executable, "-c", SOLVES, json.dumps(options), str(sample("cinema"))],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    )
    assert finished.returncode == 0, finished.stderr
    plain, hinted, counted = map(json.loads, finished.stdout.splitlines())

    assert plain[0] == "No hint was read.", "by itself its model has no help"
    assert hinted[0] == "Hints were read!"
    assert counted[0].startswith("How many? ")
    assert ("Shouted" in plain[1], "Shouted" in hinted[1]) == (False, True)
