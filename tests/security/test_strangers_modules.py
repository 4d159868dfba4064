"""What lies in the working folder is no module of Python, of a library or of ours, for `atc` and what it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.atc_command import ATC

LIBRARIES = {"atc", "click", "openai", "pip", "protocols", "pydantic", "requests", "sandbox", "sitecustomize", "yaml"}
COMMANDS = {
    "a download by pip": ("model", "pull", "qwen2.5-coder-1.5b"),
    "the solver processes of a server": ("serve", "--api", "films.yaml", "--simulate", "--model", "openai:x"),
    "the sandbox of a program": ("run", "program.py", "--api", "films.yaml", "--simulate"),
    "the type checker": ("check", "program.py", "--api", "films.yaml"),
    "an MCP server": ("check", "program.py", "--api", f"mcp:stdio:{sys.executable} -I -c pass"),
    "a command of a package in the folder": ("stranger",),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_no_module_of_the_folder_runs(command: tuple[str, ...], films: Path, tmp_path: Path) -> None:
    """Each name of the standard library and of libraries that we use lies there, and an entry point for commands."""
    folder, mark = tmp_path / "folder", tmp_path / "ran"
    (folder / "stranger-1.dist-info").mkdir(parents=True)
    (folder / "stranger-1.dist-info" / "METADATA").write_text("Name: stranger\nVersion: 1\n")
    (folder / "stranger-1.dist-info" / "entry_points.txt").write_text("[atc.commands]\nstranger = json:main\n")
    for name in LIBRARIES | sys.stdlib_module_names - {*sys.builtin_module_names}:
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').write({name!r})\nraise SystemExit(9)\n")
    (folder / "films.yaml").write_bytes(films.read_bytes())
    (folder / "program.py").write_text("print(GET_search_film(query='x'))\n")
    nowhere = {"OPENAI_BASE_URL": "http://127.0.0.1:9", "PIP_INDEX_URL": "http://127.0.0.1:9", "PIP_RETRIES": "0"}
    environment = {**os.environ, **nowhere, "ATC_HOME": str(tmp_path / "home")}
    process = subprocess.Popen([ATC, *command], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    said = next((line for line in process.stderr if "serving on" in line), "") if command[0] == "serve" else ""
    process.terminate() if said else process.stderr.read()
    process.stderr.close()
    process.wait(60)

    assert not mark.exists(), mark.read_text()
    assert said or command[0] != "serve"
