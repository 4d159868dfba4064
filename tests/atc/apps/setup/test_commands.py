"""The group of commands: its help without importing them, the shell's completion, and what `atc doctor` finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from atc.apps.cli import main

BIN = Path(sys.executable).parent


def test_help_says_what_the_commands_say() -> None:
    """The sentence beside each command is that of its own help."""
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        assert main.summary(context, name).get_short_help_str(60) == command.get_short_help_str(60), name
    text = CliRunner().invoke(main, ["--help"]).output
    assert "solve  Answer QUERY with the API" in text
    assert "ATC_SOLVE_API" in text and "atc.toml" in text


def test_the_version() -> None:
    """`atc --version` is that of the package, whatever is in the environment."""
    result = CliRunner().invoke(main, ["--version"], env={"ATC_VERSION": "1"})

    assert result.output == f"atc, version {version('atc-toolchain')}\n"
    assert (
        CliRunner().invoke(main, ["completion", "bash"], env={"ATC_VERSION": "1"}).output.startswith("_atc_completion")
    )


def test_bash_completes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands, options and the words of an option, in a real bash; a broken atc.toml does not get in its way."""
    (tmp_path / "atc.toml").write_text("broken")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ATC_CONFIG")
    script = 'eval "$(atc completion bash)"\n'
    for line in ("atc so", "atc solve --base", "atc solve --writes ''", "atc model p"):
        script += f"COMPREPLY=(); COMP_WORDS=({line}); COMP_CWORD={len(line.split()) - 1}\n"
        script += '_atc_completion atc; echo "${COMPREPLY[@]}"\n'
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment, check=True)

    assert done.stderr == ""
    command, option, policies, subcommands = done.stdout.splitlines()
    assert (command, option, subcommands) == ("solve", "--base-url", "path pull")
    assert {"ask", "deny"} <= set(policies.split())


def test_doctor_names_remedies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing comes with a command; a missing model is no defect, and no secret is shown."""
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ATC_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret-of-mine")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    result = CliRunner().invoke(main, ["doctor", "--json"])
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}

    assert result.exit_code == 0
    assert checks["local:smollm2-135m"]["remedy"] == "atc model pull local:smollm2-135m"
    assert checks["OPENAI_API_KEY"]["state"] == "ok"
    assert checks["OPENAI_BASE_URL"]["remedy"] == "export OPENAI_BASE_URL=…"
    assert checks["cache"]["detail"] == f"{tmp_path / 'home'}, made when it is needed"
    extras = [check for check in checks.values() if check["part"] == "extra"]
    assert {"local", "openvino", "hf", "train"} <= {check["name"] for check in extras}
    assert all(bool(check["remedy"]) == (check["state"] == "missing") for check in extras)
    assert "a-secret-of-mine" not in result.output


@pytest.mark.parametrize(("url", "state"), [("", "missing"), ("http://127.0.0.1:9/v1", "ok")])
def test_doctor_knows_that_an_endpoint_of_ones_own_needs_no_key(
    monkeypatch: pytest.MonkeyPatch, url: str, state: str
) -> None:
    monkeypatch.setenv("ATC_MODEL", "openai:m")
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = CliRunner().invoke(main, ["doctor", "--json"])

    assert [check["state"] for check in json.loads(result.stdout)["checks"] if check["name"] == "openai:m"] == [state]


def test_doctor_finds_what_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cut-off model file and a cache folder that is a file: exit code 1, each with what to do."""
    models = tmp_path / "home" / "models"
    models.mkdir(parents=True)
    (models / "SmolLM2-135M-Instruct.Q4_1.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    result = CliRunner().invoke(main, ["doctor", "--json"])
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert result.exit_code == 1
    assert checks["local:smollm2-135m"]["state"] == "broken"
    assert "then atc model pull local:smollm2-135m" in checks["local:smollm2-135m"]["remedy"]

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "file"))
    result = CliRunner().invoke(main, ["doctor"], env={"COLUMNS": "200"})
    assert result.exit_code == 1
    assert "broken" in result.output and "export" in result.output
