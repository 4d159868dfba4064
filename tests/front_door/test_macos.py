"""On macOS atc works with the layers that exist there, names the others, and refuses where all are asked for.

No Mac was there: a Python that looks like one stands in for it (`mac/sitecustomize.py`), down to the workers.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.atc_command import QUESTION, RIGHT

ROOT = Path(__file__).resolve().parents[2]
MAC = Path(__file__).with_name("mac")
FILMS = str(ROOT / "tests" / "films.yaml")
MISSING = ("no_new_privs", "user namespace", "network namespace", "capabilities", "parent", "landlock", "seccomp")
WRAPPER = """#!{python} -S
import os, sys
words = sys.argv[1:]
if "-c" in words:
    words.insert(words.index("-c") + 1, "exec(open({mac!r}).read()); import sys; exec(sys.argv.pop(1))")
os.execv({python!r}, [{python!r}, *words])
"""
PROGRAM = "print(sum(range(7)))"


@pytest.fixture
def mac(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python with arguments, in a process that has only what macOS has; so have those that it starts."""
    wrapper = tmp_path / "python"
    python = getattr(sys, "_base_executable", sys.executable)
    wrapper.write_text(WRAPPER.format(python=python, mac=str(MAC / "sitecustomize.py")), "utf-8")
    wrapper.chmod(0o755)
    paths = os.pathsep.join([str(MAC), str(ROOT)])
    environment = {"PYTHONPATH": paths, "MAC_PYTHON": str(wrapper), "HOME": str(tmp_path), "PATH": os.environ["PATH"]}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        endpoint = {name: value for name, value in os.environ.items() if name.startswith("OPENAI_")}
        command = [sys.executable, *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment | endpoint, capture_output=True, text=True, timeout=120
        )

    return run


def test_every_module_imports(mac: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """No module needs at its import what only Linux has."""
    names = sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for package in ("protocols", "sandbox", "atc", "probing")
        for file in (ROOT / package).rglob("*.py")
        if file.stem not in ("__main__", "__init__")
    )
    process = mac("-c", f"import importlib, atc\nfor name in {names!r}: importlib.import_module(name)")

    assert process.stderr == ""


def test_doctor_names_what_is_missing(mac: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """The language, the process, the folder and most limits are there; each other layer has its reason."""
    layers = json.loads(mac("-m", "atc", "doctor", "--json").stdout)["layers"]

    assert [layer["name"] for layer in layers if layer["active"]] == ["policy", "process", "folder"]
    reasons = {layer["name"]: layer["reason"] for layer in layers if not layer["active"]}
    assert reasons == dict.fromkeys(MISSING, "only Linux has it") | {
        "rlimits": "only Linux limits memory; here it is looked at now and then, and the other limits are set"
    }


def test_a_run_works_and_names_what_is_missing(
    mac: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """`atc run` prints the answer, and on stderr each missing layer; CPU time and memory have limits all the same."""
    (tmp_path / "program.py").write_text(PROGRAM)
    process = mac("-m", "atc", "run", "program.py", "--api", FILMS, "--simulate")
    assert (process.returncode, process.stdout) == (0, "21\n")
    assert [name for name in MISSING if f"{name} is not active: only Linux has it" not in process.stderr] == []

    (tmp_path / "program.py").write_text("while True: pass")
    endless = mac("-m", "atc", "run", "program.py", "--api", FILMS, "--simulate", "--cpu", "1")
    assert endless.returncode == 4, endless.stderr

    (tmp_path / "program.py").write_text("texts = []\nwhile True: texts.append('x' * 1000 + str(len(texts)))")
    hungry = mac("-m", "atc", "run", "program.py", "--api", FILMS, "--simulate", "--memory", "200")
    assert hungry.returncode == 4 and "memory" in hungry.stderr, hungry.stderr


def test_strict_sandbox_refuses(mac: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    """Whoever asks for all layers gets no run without them."""
    (tmp_path / "program.py").write_text(PROGRAM)
    process = mac("-m", "atc", "run", "program.py", "--api", FILMS, "--simulate", "--strict-sandbox")

    assert process.returncode == 2
    assert "the sandbox is not whole on this machine" in process.stderr
    assert "seccomp (only Linux has it)" in process.stderr


def test_the_command_names_what_is_missing(
    mac: Callable[..., subprocess.CompletedProcess[str]], endpoint: Callable[..., None]
) -> None:
    """`atc solve` answers by calls of a simulated service, and says on stderr which layers are not there."""
    endpoint(RIGHT)
    process = mac("-m", "atc", "solve", QUESTION, "--api", FILMS, "--simulate", "--model", "openai:scripted")

    assert process.returncode == 0, process.stderr
    assert "200 " in process.stderr and "GET_film_film_id_credits(" in process.stderr
    assert [name for name in (*MISSING, "rlimits") if f"{name} is not active" not in process.stderr] == []


def test_documents_are_read_and_explained(mac: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    """`atc check` finds an error in a program, and `atc explain` prints the prompt."""
    (tmp_path / "program.py").write_text("print(get_film(1))")
    checked = mac("-m", "atc", "check", "program.py", "--api", FILMS)
    explained = mac("-m", "atc", "explain", "Who directed it?", "--api", FILMS, "--profile", "large")

    assert (checked.returncode, explained.returncode, explained.stderr) == (1, 0, "")
    assert 'unknown-name: "get_film" is not defined' in checked.stdout
    assert "def GET_film_film_id_credits(" in explained.stdout


def test_both_sides_of_mcp(mac: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    """`atc mcp serve` offers the document's tools, and a program calls one of them, both on such a machine."""
    serve = f"import sys; sys.path[:0] = {[str(ROOT), *sys.path]!r}; from atc.apps.cli import main; main()"
    words = [str(tmp_path / "python"), "-c", serve, "mcp", "serve", "--api", FILMS, "--simulate"]
    (tmp_path / "program.py").write_text("print('film' in str(search_tools(query='the credits of a film')))")
    process = mac("-m", "atc", "run", "program.py", "--api", f"mcp:stdio:{shlex.join(words)}", "--writes", "allow")

    assert (process.returncode, process.stdout) == (0, "True\n"), process.stderr


def test_cores_are_counted(mac: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """A local model gets as many threads as there are processors."""
    process = mac("-c", "from atc.engines.local import default_threads\nprint(default_threads())")

    assert process.stdout.strip() == str(cores if (cores := os.cpu_count() or 1) < 8 else cores - 1), process.stderr


def test_windows_is_told_where_atc_runs() -> None:
    """One message instead of a missing module: WSL, or the image."""
    absent = "for name in ('fcntl', 'resource', 'termios', 'pwd'): sys.modules[name] = None"
    code = f"import sys\n{absent}\nsys.platform = 'win32'\nimport atc"
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert process.stderr.splitlines()[-1].startswith("ImportError: atc does not run on Windows itself")
    assert "`wsl --install`" in process.stderr and "`docker build -t atc .`" in process.stderr
