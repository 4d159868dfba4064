"""The core installation by itself: what it does, and the sentence for what it cannot do.

It is set up without an install: a folder with links to the packages that `pyproject.toml` requires, and nothing else.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.front_door.test_core_weight import required

ROOT = Path(__file__).resolve().parents[2]
FILMS = str(ROOT / "tests" / "films.yaml")
PROGRAM = 'print(GET_search_film(query="The Long Tide")["results"][0]["title"])\n'


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the packages, with the metadata of the checkout as it is now."""
    folder = tmp_path_factory.mktemp("core")
    command = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    for package in required("").values():
        for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(Path(str(package.locate_file(top))))
    return folder


@pytest.fixture
def core(packages: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command of `atc` where nothing but the core is installed."""
    (tmp_path / "program.py").write_text(PROGRAM)
    paths = f"{packages}:{ROOT}"
    environment = {
        "PYTHONPATH": paths,
        "HOME": str(tmp_path),
        "OPENAI_API_KEY": "k",
        "PATH": str(Path(sys.executable).parent),
    }

    def run(*words: str, python: Sequence[str] = ("-m", "atc")) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", *python, *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return run


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["check", "program.py", "--api", FILMS], ""),
        (["run", "program.py", "--api", FILMS, "--simulate"], "The Long Tide\n"),
        (
            ["explain", "Which is the newest film?", "--api", FILMS, "--profile", "large"],
            "def GET_film_latest() -> Film",
        ),
        (["doctor"], "Layers of the sandbox"),
        (["init", FILMS], ""),
        (["bench", "--help"], "Run the benchmark NAME"),
    ],
)
def test_what_the_core_does(
    core: Callable[..., subprocess.CompletedProcess[str]], words: list[str], printed: str
) -> None:
    """Programs are checked and run, documents explained and simulated, projects begun: with no model."""
    process = core(*words)

    assert process.returncode == 0, process.stderr
    assert printed in process.stdout


@pytest.mark.parametrize(
    ("words", "subject", "extra"),
    [
        (["solve", "Who?", "--api", FILMS, "--simulate", "--model", "openai:x"], "atc: openai:x", "openai"),
        (["solve", "Who?", "--api", FILMS, "--simulate", "--model", "local:x.gguf"], "atc: local:", "local"),
        (["explain", "Who?", "--api", FILMS, "--profile", "small"], "atc: the choice of tools,", "retrieval"),
        (["mcp", "serve", "--api", FILMS], "atc: this command, without mcp,", "mcp"),
        (["serve", "--api", FILMS], "atc: this command, without", "serve"),
        (["retrieve", "build", "x"], "atc: atc retrieve,", "retrieval"),
    ],
)  # fmt: skip
def test_what_it_cannot_do_is_a_sentence(
    core: Callable[..., subprocess.CompletedProcess[str]], words: list[str], subject: str, extra: str
) -> None:
    """What is missing, and the command that installs it; no stack trace."""
    process = core(*words)
    message = process.stderr.strip().splitlines()

    assert len(message) == 1, process.stderr
    assert message[0].startswith(subject)
    assert f" needs the extra `{extra}`: " in message[0]


def test_an_agent_names_the_extra_of_its_model_first(core: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """It brings what else the question needs."""
    code = (
        f"from atc import Agent; Agent({FILMS!r}, simulate=True, model='local:x.gguf', profile='small').solve('Who?')"
    )
    process = core(python=("-c", code))

    assert "ModelError: local:x.gguf needs the extra `local`: " in process.stderr.splitlines()[-1]


def test_doctor_ends_with_a_command_that_installs_the_model(
    core: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    """The extra stands in the last line as in the line of the model, and every extra of a user is listed."""
    lines = core("doctor").stdout.splitlines()

    remedies = [line for line in lines if "not yet ready: pip install" in line]
    assert len(remedies) == 1 and "[local]" in remedies[0]
    assert {"providers", "retrieval"} <= {
        line.split()[1].rstrip(":") for line in lines if line.startswith("  missing ")
    }
