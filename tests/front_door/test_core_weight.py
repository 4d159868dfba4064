"""`pip install .` stays small, and nothing that it brings is under a licence of the GPL's family.

The packages are read from the environment of the tests: from what `pyproject.toml` requires on to what those require.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("atc", "benchmarks", "probing", "protocols", "sandbox")
MOST_PACKAGES, MOST_BYTES = 45, 85_000_000
"""The files as they are installed; those that pip compiles make 97 MB of 69, and so 120 of 85."""
LATE = frozenset({"bm25s", "networkx", "numpy", "openai", "tokenizers", "wordllama"})
"""They come with what asks a model."""


def required(extras: str) -> dict[str, Distribution]:
    """The installed distributions that `pip install .[extras]` would bring, by their canonical names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = project["optional-dependencies"]
    waiting = [Requirement(line) for line in project["dependencies"]]
    waiting += [Requirement(line) for extra in extras.split(",") for line in groups.get(extra, ())]
    brought: dict[str, Distribution] = {}
    looked_up: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in looked_up:
            continue
        looked_up.add(str(requirement))
        if requirement.name == project["name"]:
            waiting += [Requirement(line) for extra in requirement.extras for line in groups[extra]]
            continue
        package = distribution(requirement.name)
        brought[canonicalize_name(requirement.name)] = package
        for line in package.requires or ():
            further = Requirement(line)
            extras_of = ("", *requirement.extras)
            if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in extras_of):
                waiting.append(further)
    return brought


def licence(package: Distribution) -> str:
    """Everything that a package's metadata says about its licence."""
    metadata = package.metadata
    classifiers = [line for line in metadata.get_all("Classifier") or () if line.startswith("License")]
    named = [str(text) for key in ("License-Expression", "License") for text in metadata.get_all(key) or ()]
    return "; ".join((*(text.partition("\n")[0] for text in named), *classifiers))


def size(files: list[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc")


def test_the_core_is_small() -> None:
    """At most 45 packages and 120 MB, our own among them, and no library that only a model needs."""
    brought = required("")
    files = {name: [Path(str(file.locate())) for file in package.files or ()] for name, package in brought.items()}
    own = [file for package in PACKAGES for file in (ROOT / package).rglob("*")]
    sizes = {name: size(listed) for name, listed in files.items()} | {"atc-toolchain": size(own)}

    assert len(sizes) <= MOST_PACKAGES, sorted(sizes)
    assert sum(sizes.values()) <= MOST_BYTES, sorted(sizes.items(), key=lambda item: -item[1])
    assert not LATE & sizes.keys()


@pytest.mark.parametrize("extras", ["", "openai", "auth,mcp,serve,trace,tui"])
def test_no_package_is_under_the_gpl(extras: str) -> None:
    """Every package says a licence, and none is the GPL, the LGPL or the AGPL."""
    licences = {name: licence(package) for name, package in required(extras).items()}

    assert [name for name, text in licences.items() if not text] == []
    assert {name: text for name, text in licences.items() if "GPL" in text or "General Public" in text} == {}


@pytest.mark.parametrize("engine", ["openai", "local", "openvino", "hf", "providers"])
def test_every_engine_comes_with_the_same_choice_of_tools(engine: str) -> None:
    """Whatever asks a model brings `retrieval`, or the same question would be asked with other tools."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]

    assert "atc-toolchain[retrieval]" in groups[engine]
