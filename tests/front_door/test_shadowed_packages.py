"""A user's own `benchmarks/` or `sandbox.py` beside a script: atc works, and so does theirs wherever it can."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THEIRS = "MINE = 'theirs'\n"
SOLVE = f"""
from atc import Agent

def model(messages):
    return "```python\\nprint(6 * 7)\\n```"

with Agent.from_openapi({str(ROOT / "tests" / "films.yaml")!r}, simulate=True, model=model) as agent:
    print(agent.solve("How many?").attempts[0].run.stdout.strip())
"""
"""A question whose program a worker of the sandbox runs."""


def test_a_folder_of_the_same_name_hides_nothing(tmp_path: Path) -> None:
    """`sandbox.py` and `protocols/` beside a script that asks a question: ours are taken, in the worker too."""
    (tmp_path / "sandbox.py").write_text("raise SystemExit('the wrong sandbox')\n")
    (tmp_path / "protocols").mkdir()
    (tmp_path / "protocols" / "__init__.py").write_text("raise SystemExit('the wrong protocols')\n")

    assert run(tmp_path, SOLVE) == "42"


def test_a_package_that_atc_does_not_need_is_theirs(tmp_path: Path) -> None:
    """`import benchmarks` means the user's folder, before `import atc` and after it, solves or not."""
    package(tmp_path / "benchmarks")

    assert run(tmp_path, f"import atc, benchmarks\n{SOLVE}\nprint(benchmarks.MINE)") == "42\ntheirs"
    assert run(tmp_path, "import benchmarks, atc\natc.Agent\nprint(benchmarks.MINE)") == "theirs"


def test_a_mode_of_ours_is_loaded_past_their_folder(tmp_path: Path) -> None:
    """`mode="react"` lives in our `benchmarks`, and answers beside a folder of that name."""
    package(tmp_path / "benchmarks")
    code = "from atc.modes import open_mode\nprint(open_mode('react').single_calls)"

    assert run(tmp_path, code) == "True"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("sandbox", "import sandbox\nimport atc"),
        ("benchmarks", "import benchmarks\nfrom atc.modes import open_mode\nopen_mode('react')"),
    ],
)
def test_a_name_that_is_taken_is_named(tmp_path: Path, name: str, code: str) -> None:
    """Both cannot have one name in a process: the message says which package has it, and what to do."""
    package(tmp_path / name)
    process = script(tmp_path, code)

    assert process.returncode == 1
    assert process.stderr.splitlines()[-1] == (
        f"ImportError: atc needs its own package `{name}` from {ROOT}, but {tmp_path / name} was imported under that "
        "name: rename it, or import it in a process without atc"
    )


def test_what_is_hidden_by_ours_is_told_by_python(tmp_path: Path) -> None:
    """After `import atc`, `from sandbox import MINE` finds our package, and Python says where it is."""
    package(tmp_path / "sandbox")
    process = script(tmp_path, "import atc\nfrom sandbox import MINE")

    assert f"cannot import name 'MINE' from 'sandbox' ({ROOT / 'sandbox' / '__init__.py'})" in process.stderr


def test_a_folder_without_python_is_no_package(tmp_path: Path) -> None:
    """A plain folder `protocols/` with notes in it is not imported in place of ours."""
    (tmp_path / "protocols").mkdir()
    (tmp_path / "protocols" / "notes.txt").write_text("")

    assert run(tmp_path, "import atc\nprint('imported')") == "imported"


def test_the_command_works_in_such_a_folder(tmp_path: Path) -> None:
    """`python -m atc` looks in the working folder first; its commands in `benchmarks` and `probing` are ours."""
    package(tmp_path / "benchmarks")
    package(tmp_path / "probing")
    for command in ("bench", "probe"):
        process = subprocess.run(
            [sys.executable, "-m", "atc", command, "--help"],
            cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        )  # fmt: skip
        assert (process.returncode, process.stderr) == (0, "")


def package(folder: Path) -> None:
    folder.mkdir()
    (folder / "__init__.py").write_text(THEIRS, "utf-8")


def run(folder: Path, code: str) -> str:
    """What a script in a folder prints."""
    process = script(folder, code)
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


def script(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(code, "utf-8")
    environment = {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return subprocess.run([sys.executable, "script.py"], cwd=folder, env=environment, capture_output=True, text=True)
