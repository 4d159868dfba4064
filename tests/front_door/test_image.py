"""The image and the development container: linted everywhere, built and run where a Docker engine is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "Dockerfile"


def test_the_dockerfile_is_clean() -> None:
    """hadolint, with shellcheck in it, has nothing to say."""
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, "--no-color", DOCKERFILE], capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_has_what_the_wheel_is_built_from() -> None:
    """What .dockerignore lets in are the packages and what pyproject.toml names; the extras are ours."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    names = [line[1:] for line in lines if line.startswith("!")]
    packages = [pattern.rstrip("*") for pattern in project["tool"]["setuptools"]["packages"]["find"]["include"]]
    needed = {*packages, project["project"]["readme"], *project["project"]["license-files"], "constraints.txt"}

    assert lines[1] == "*"
    assert {*names} == needed | {"pyproject.toml"}
    assert [name for name in names if not (ROOT / name).exists()] == []
    extras = re.findall(r"^ARG EXTRAS=(.+)$", DOCKERFILE.read_text("utf-8"), re.MULTILINE)[0].split(",")
    assert {*extras} <= project["project"]["optional-dependencies"].keys()


def test_the_development_container_prepares_itself() -> None:
    """It is plain JSON, makes the environment by the Makefile, and lets the sandbox put up its namespaces."""
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))

    assert re.search(r"^env:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert container["postCreateCommand"].endswith("make env")
    assert container["runArgs"] == ["--security-opt", "seccomp=unconfined"]
    assert fnmatch(container["image"], "mcr.microsoft.com/devcontainers/python:3.1?")


@pytest.mark.docker
@pytest.mark.timeout(900)
def test_the_image_runs_a_program(tmp_path: Path) -> None:
    """Built and started as its first lines say, with a document of the folder that is mounted."""
    shutil.copy(ROOT / "tests" / "films.yaml", tmp_path / "openapi.yaml")
    (tmp_path / "program.py").write_text("print(GET_film_latest()['title'] != '')")
    tmp_path.chmod(0o755)
    subprocess.run(["docker", "build", "--quiet", "--tag", "atc-test", "."], cwd=ROOT, check=True)
    words = ["run", "program.py", "--api", "openapi.yaml", "--simulate"]
    done = subprocess.run(
        ["docker", "run", "--rm", "--volume", f"{tmp_path}:/work", "atc-test", *words], capture_output=True, text=True
    )

    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
