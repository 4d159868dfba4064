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
    process = subprocess.run([linter, "--no-color", DOCKERFILE], capture_output=True, text=True)

    assert (process.returncode, process.stdout) == (0, "")


def test_a_wheel_can_be_built_in_the_image(tmp_path: Path) -> None:
    """What .dockerignore lets in is enough for pip, and the extras that it is to install are ours."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for name in (line[1:] for line in lines if line.startswith("!")):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist")]
    process = subprocess.run([*build, str(tmp_path)], capture_output=True, text=True)

    assert (process.returncode, lines[1]) == (0, "*"), process.stderr
    extras = re.findall(r"^ARG EXTRAS=(.+)$", DOCKERFILE.read_text("utf-8"), re.MULTILINE)[0].split(",")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {*extras} <= project["optional-dependencies"].keys()
    assert (tmp_path / "constraints.txt").is_file() and [*(tmp_path / "dist").glob("*.whl")] != []


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
    process = subprocess.run(
        ["docker", "run", "--rm", "--volume", f"{tmp_path}:/work", "atc-test", *words], capture_output=True, text=True
    )

    assert (process.returncode, process.stdout) == (0, "True\n"), process.stderr
