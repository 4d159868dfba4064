"""What another package registers works like ours, and no file of ours is changed for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from protocols.samples import sample

PACKAGE = """
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
        title = "Hints were read." if "Begin with the films." in asked else "No hint was read."
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
"""
ENTRIES = """
[atc.engines]
parrot = toy_doors:parrot
[atc.help]
hints = toy_doors:Hints
[atc.modes]
counting = toy_doors:counting
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with an installed package that registers an engine, a help and a mode."""
    (tmp_path / "toy_doors.py").write_text(PACKAGE)
    metadata = tmp_path / "toy_doors-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-doors\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(ENTRIES)
    (tmp_path / "hinted.yaml").write_text("base: large\nhelp: hints\n")
    return tmp_path


def answer_of(package: Path, *options: str) -> str:
    """What `atc solve` answers over the simulated cinema with the package on the path."""
    command = ["solve", "How many?", "--api", str(sample("cinema")), "--simulate", "--model", "parrot:polly", "--json"]
    finished = subprocess.run(
        [sys.executable, "-c", "from atc.apps.cli import main; main()", *command, *options],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(package), *sys.path])},
    )
    assert finished.stdout, finished.stderr
    return str(json.loads(finished.stdout)["answer"])


def test_an_engine_of_another_package_answers(package: Path) -> None:
    """Its name is a prefix of `--model`; by itself its model has no help."""
    assert answer_of(package) == "No hint was read."


def test_a_help_of_another_package_is_named_by_a_profile(package: Path) -> None:
    """What it says stands in the prompt."""
    assert answer_of(package, "--profile", str(package / "hinted.yaml")) == "Hints were read."


def test_a_mode_of_another_package_answers(package: Path) -> None:
    """It is a function of the query, the offer and the session."""
    assert answer_of(package, "--mode", "counting").startswith("How many? ")
