"""The skill for coding agents and llms.txt: every command runs as it is printed, every link leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from atc.apps.cli import EXIT_MEANINGS
from tests.atc_command import ATC
from tests.shop import TOKEN, serving_shop
from tests.warm import warm_commands

DOCS = Path(__file__).resolve().parents[2] / "docs"
SKILL = (DOCS / "skill" / "SKILL.md").read_text("utf-8")
PROGRAM = 'print(GET_customers()["items"][0]["name"])\n'


def test_every_command_of_the_skill_runs(
    tmp_path: Path, endpoint: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of the page, in one folder, against the shop and a scripted model; each one exits with 0."""
    endpoint(f"```python\n{PROGRAM}```")
    commands = [line for block in re.findall(r"```sh\n(.*?)```", SKILL, re.DOTALL) for line in block.splitlines()]
    environment = {name: value for name, value in os.environ.items() if name != "ATC_CONFIG"}
    environment |= {"SHOP_TOKEN": TOKEN, "ATC_MODEL": "openai:scripted", "ATC_HOME": str(tmp_path / "home")}
    environment["PATH"] = f"{warm_commands()}:{Path(ATC).parent}:{environment['PATH']}"
    (tmp_path / "program.py").write_text(PROGRAM)
    results = []
    with serving_shop(tmp_path):
        for command in commands:
            process = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert process.returncode == 0, f"{command}\n{process.stdout}{process.stderr}"
            results.append(process.stdout)

    assert [command.split()[1] for command in commands] == [
        *("init", "explain", "solve", "solve", "check", "run", "save", "run"),
    ]
    assert '"standing": "supported"' in results[3]
    assert (results[5], results[7]) == ("Ada Moreau\n", "Ada Moreau\n")


def test_the_front_matter_and_the_exit_codes() -> None:
    """A name of at most 64 characters, a description of at most 1,024, and all exit codes of the commands."""
    front, _, body = SKILL.removeprefix("---\n").partition("---\n")
    matter = yaml.safe_load(front)
    codes = body.partition("## Exit codes\n")[2].partition("##")[0]

    assert (matter["name"], set(matter)) == ("atc", {"name", "description"})
    assert len(matter["description"]) <= 1024
    assert re.findall(r"(?:^|· )(\d+) ", codes.replace("\n", " ").strip()) == list(EXIT_MEANINGS)


def test_llms_txt_has_the_form_of_its_kind() -> None:
    """A title, a quoted summary, sections of links with a note each; "Optional" is the last one."""
    text = (DOCS / "llms.txt").read_text("utf-8")
    title, rest = text.split("\n\n", 1)
    head, *sections = re.split(r"^## ", rest, flags=re.MULTILINE)
    links = [
        re.fullmatch(r"- \[[^]]+\]\(([^)]+)\.html\): .+", line) for s in sections for line in s.split("\n")[2:] if line
    ]

    assert title == "# atc" and head.startswith("> ")
    assert sections[-1].startswith("Optional\n")
    assert all(links)
