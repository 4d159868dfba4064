"""`--help` as somebody meets it: commands by what they are for, the options that people use, and a narrow terminal."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from atc.apps.cli import COMMANDS, main

MODULES = {address.partition(":")[0] for address in COMMANDS.values()}
BRIEF = ("solve", "chat", "run", "serve", "mcp serve", "probe", "bench")


def page(*words: str, columns: int = 80) -> str:
    """What a command prints on a terminal that wide."""
    result = CliRunner(env={"COLUMNS": str(columns)}).invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.stdout


def options_of(text: str) -> set[str]:
    """The long options that a page lists."""
    lines = [line.strip().replace(",", " ").split() for line in text.splitlines() if line.startswith("  -")]
    return {word for line in lines for word in line[:3] if word.startswith("--")}


def commands(group: click.Group = main, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command, those of groups as well."""
    context = click.Context(group)
    for name in group.list_commands(context):
        yield (*path, name)
        if isinstance(command := group.get_command(context, name), click.Group):
            yield from commands(command, (*path, name))


def test_commands_are_listed_by_what_they_are_for() -> None:
    """Six groups and the completion, each command in one of them."""
    sections: dict[str, list[str]] = {}
    for line in page("--help").splitlines():
        if line.endswith(":") and not line.startswith(" "):
            sections[line] = []
        elif row := re.match(r"  (\w+)  ", line):
            sections[list(sections)[-1]].append(row[1])

    assert sections["Ask:"] == ["solve", "chat", "tui", "trace", "save", "run"]
    assert sections["Your API:"] == ["init", "explain", "check", "simulate", "probe", "contract", "doctor"]
    assert sections["Serve:"] == ["serve", "mcp"]
    assert sections["Models:"] == ["model"]
    assert {"bench", "report", "eval", "retrieve", "train", "data", "complexity"} < set(sections["Research:"])
    every = main.list_commands(click.Context(main))
    assert sorted(name for names in sections.values() for name in names if not name.isdigit()) == sorted(every)


def test_a_command_of_another_distribution_is_more(tmp_path: Path) -> None:
    """What others add stands in a section of its own."""
    (tmp_path / "weather_command.py").write_text(
        'import click\n\n@click.command()\ndef weather():\n    """Tell the weather."""\n'
    )
    metadata = tmp_path / "weather_command-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-command\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[atc.commands]\nweather = weather_command:weather\n")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); from atc.apps.cli import main; main(['--help'])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "More:\n  weather  Tell the weather.\n" in printed


@pytest.mark.parametrize("command", BRIEF)
def test_help_lists_what_people_use(command: str) -> None:
    """At most fourteen options; --help-all has each one that the command takes, and completion offers them all."""
    brief, complete = (options_of(page(*command.split(), flag)) for flag in ("--help", "--help-all"))
    context, current = click.Context(main), main.get_command(click.Context(main), command.split()[0])
    if isinstance(current, click.Group):
        current = current.get_command(context, command.split()[1])
    assert current is not None
    taken = {flag for parameter in current.params for flag in parameter.opts if flag.startswith("--")}

    assert len(brief) <= 14
    assert brief < complete
    assert taken <= complete
    assert {"--help", "--help-all"} <= brief


def test_every_command_has_its_help_in_forty_columns() -> None:
    """No line is wider unless it is one name, and a narrow page has every word of a wide one."""
    for path in commands():
        every = ("--help-all",) if " ".join(path) in BRIEF else ("--help",)
        narrow, wide = page(*path, *every, columns=40), page(*path, *every, columns=100)
        too_wide = [line for line in narrow.splitlines() if len(line) > 40 and len(line.split()) > 1]
        assert too_wide == [], path
        assert "".join(narrow.split()) == "".join(wide.split()), path
    assert max(map(len, page("--help", columns=40).splitlines())) <= 40


@pytest.mark.parametrize(
    ("words", "same_as"),
    [(("help",), ("--help",)), ((), ("--help",)), (("help", "solve"), ("solve", "--help")), (("-V",), ("--version",))],
)
def test_ways_to_the_same_page(words: tuple[str, ...], same_as: tuple[str, ...]) -> None:
    """`atc` alone, `atc help`, `atc help COMMAND` and `atc -V`."""
    assert page(*words) == page(*same_as)


def test_a_mistyped_command_is_corrected() -> None:
    """The nearest commands are named, those of a group as well; exit code 2."""
    top, inner = (CliRunner().invoke(main, words) for words in (["slove"], ["model", "pul"]))

    assert (top.exit_code, inner.exit_code) == (2, 2)
    assert "No such command 'slove'." in top.stderr and "solve" in top.stderr.partition("Did you mean")[2]
    assert "Did you mean 'pull'?" in inner.stderr


def test_the_package_runs_as_the_command() -> None:
    """`python -m atc` is `atc`, and its messages name what was typed."""
    run = subprocess.run([sys.executable, "-m", "atc", "solve"], capture_output=True, text=True)

    assert run.returncode == 2
    assert "python -m atc solve --help" in run.stderr.replace("-h'", "--help'")


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import atc", ("click", "numpy", "requests", "pydantic", "rich", "jsonschema", "openai", "asyncio")),
        (
            "from atc.apps.cli import main; main(['--help'], standalone_mode=False)",
            (
                "numpy",
                "requests",
                "pydantic",
                "rich",
                "jsonschema",
                "openai",
                "asyncio",
                "benchmarks",
                "atc.agent",
                *MODULES,
            ),
        ),
    ],
)
def test_nothing_heavy_is_loaded(code: str, absent: tuple[str, ...]) -> None:
    """`import atc` and `atc --help` load none of the libraries that take most of a second."""
    code += (
        f"; import sys; print({absent}.__class__(name for name in {absent} if name in sys.modules), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stderr.strip() == "()"
