"""The wheel and the sdist: built, installed and used outside the checkout, with nothing of it left out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Callable
from email import message_from_bytes
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from atc.apps.cli import main
from tests.atc_command import QUESTION, RIGHT
from tests.pythons import interpreter

ROOT = Path(__file__).resolve().parents[4]
PACKAGES = ("atc", "sandbox", "protocols", "probing", "benchmarks")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
_PYTHON = "Programming Language :: Python :: "
PYTHONS = [line.removeprefix(_PYTHON) for line in PROJECT["classifiers"] if line.startswith(_PYTHON)]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with the sdist and the wheel that is made of it, and the files that they were built from."""
    source, dist = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    names = checkout_files()
    for name in names:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    # Without a network where the environment has what builds it.
    isolation = ["--no-isolation"] if int(version("setuptools").partition(".")[0]) >= 77 else []
    build = [sys.executable, "-m", "build", *isolation, "--outdir", str(dist), str(source)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return dist, names


def checkout_files() -> list[str]:
    """The files of the checkout that git knows, or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_nothing_is_left_out(release: tuple[Path, list[str]]) -> None:
    """The wheel has every file of the packages, data too; the sdist has them, and what a packager looks for."""
    dist, sources = release
    expected = {name for name in sources if name.startswith(tuple(f"{package}/" for package in PACKAGES))}
    expected -= {"benchmarks/README.md"}
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    assert sorted(expected - names) == []
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == set(PACKAGES)
    with tarfile.open(next(dist.glob("*.tar.gz"))) as sdist:
        members = {name.partition("/")[2] for name in sdist.getnames()}
    assert sorted((expected | {"LICENSE", "README.md", "pyproject.toml"}) - members) == []


def test_the_wheel_answers_a_question(
    release: tuple[Path, list[str]], films: Path, endpoint: Callable[..., None], tmp_path: Path
) -> None:
    """Installed elsewhere: `atc init openapi.yaml`, then a question, with no file edited."""
    atc = install(next(release[0].glob("*.whl")), tmp_path / "environment")
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(films, project / "openapi.yaml")
    endpoint(RIGHT)  # the model's answer, recorded with the checkout
    arguments = ["--api", str(films), "--simulate", "--model", "openai:scripted", "--profile", "small"]
    recorded = CliRunner().invoke(main, ["solve", QUESTION, *arguments, "--record", str(project / "answers.jsonl")])
    assert recorded.exit_code == 0, recorded.stderr

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("ATC_", "PYTHON"))}
        environment |= {"ATC_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
        return subprocess.run([atc, *words], cwd=project, env=environment, capture_output=True, text=True)

    assert run("--version").stdout == f"atc, version {version('atc-toolchain')}\n"
    assert run("init", "openapi.yaml").returncode == 0
    solved = run("solve", QUESTION, "--simulate", "--model", "replay:answers.jsonl", "--profile", "small")
    assert (solved.returncode, solved.stdout) == (0, recorded.stdout), solved.stderr
    assert "bench" in run("--help").stdout


@pytest.mark.parametrize("python", [pytest.param(version, marks=pytest.mark.python(version)) for version in PYTHONS])
def test_the_wheel_works_with_each_python(
    release: tuple[Path, list[str]], films: Path, tmp_path: Path, python: str
) -> None:
    """Of each version that the classifiers name: a program is checked, and run in the sandbox."""
    (tmp_path / "program.py").write_text('print(GET_search_film(query="The Long Tide")["results"][0]["title"])\n')
    command = [sys.executable, "-m", "uv", "run", "--no-project", "--isolated", "--python", str(interpreter(python))]
    code = "import sys; from atc.apps.cli import main\n" + "".join(
        f"assert not main.main([{words}, *sys.argv[1:]], standalone_mode=False)\n"
        for words in ("'check'", "'run', '--simulate'")
    )
    command += ["--with", str(next(release[0].glob("*.whl"))), "python", "-c", code, "program.py", "--api", str(films)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    if "Failed to fetch" in done.stderr:
        pytest.skip(f"the packages for Python {python} cannot be had: {done.stderr[-300:]}")
    assert (done.returncode, done.stdout) == (0, "The Long Tide\n"), done.stderr


def test_what_an_index_would_show(release: tuple[Path, list[str]]) -> None:
    """The description has no picture and no link that leads nowhere outside the checkout."""
    wheel = next(release[0].glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(name))
    links = re.findall(r"\]\(([^)\s]*)\)", str(metadata.get_payload()))

    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert len(links) >= 1 and str(metadata.get_payload()).startswith("# atc")
    assert metadata["Description-Content-Type"] == "text/markdown"


def install(wheel: Path, folder: Path) -> Path:
    """A new environment with the wheel in it, whose dependencies are those of this one; its command `atc`."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([*pip, str(wheel)], check=True, env={**environment, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    # A path in it adds a folder, and does not read the .pth files there, which lead to the checkout.
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = subprocess.run(
        [python, "-c", "import atc; print(atc.__file__)"], capture_output=True, text=True, cwd=folder, env=environment
    )
    assert where.stdout.startswith(str(folder)), where.stdout + where.stderr
    return folder / "bin" / "atc"


def test_the_citation_is_of_this_version() -> None:
    """CITATION.cff names the version of pyproject.toml, and the issue forms are YAML with a body."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])
    assert citation["authors"] == [{"name": "The atc developers"}]
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        assert yaml.safe_load(form.read_text("utf-8"))["body"]
