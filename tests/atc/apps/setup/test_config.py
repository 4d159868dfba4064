"""`atc.toml`: what it sets, what comes before it, what is wrong in it, and what it may not do unasked."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from atc.apps.cli import COMMANDS, main
from atc.apps.cli.config import SHARED
from tests.atc_command import ATC, atc
from tests.terminal_command import TerminalCommand

PROGRAM = "print(GET_film_latest() is not None)"
TOOLS = """
from pathlib import Path

Path("ran").touch()


def double(number: int) -> int:
    '''Twice.'''
    return 2 * number
"""
RISKY = {"api", "apis", "auth", "allow", "writes", "reads", "host", "key_file"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, films: Path) -> Path:
    """A working folder with an API document and a program, and a home of its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(films, folder / "films.yaml")
    (folder / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("ATC_CONFIG")
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    return folder


ASK = ("solve", "Which film is the latest?", "--simulate")
CHECK = ("check", "program.py")
EXPLAIN = ("explain", "Which film is the latest?", "--json")
FILMS = 'api = "films.yaml"\n'


@pytest.mark.parametrize(
    ("settings", "environment", "command", "code", "text"),
    [
        (FILMS, {}, CHECK, 0, ""),
        (FILMS + 'simulate = true\nwrites = "deny"', {}, ("run", "program.py"), 0, "True\n"),
        (FILMS + 'simulate = true\nwrites = "deny"', {}, EXPLAIN, 0, '"messages": ['),
        (FILMS + 'model = "openai:whatever"', {}, EXPLAIN, 0, '"estimated": true'),
        (FILMS + 'model = "replay:file.jsonl"', {}, ASK, 5, "file.jsonl"),
        (FILMS + 'model = "replay:file.jsonl"', {"ATC_MODEL": "replay:other.jsonl"}, ASK, 5, "other.jsonl"),
        (FILMS, {"ATC_MODEL": "replay:other.jsonl"}, (*ASK, "--model", "replay:flag.jsonl"), 5, "flag.jsonl"),
        (FILMS, {"ATC_CHECK_API": "missing.yaml"}, CHECK, 2, "missing.yaml"),
        (FILMS, {"ATC_CHECK_API": "missing.yaml"}, (*CHECK, "--api", "films.yaml"), 0, ""),
        (FILMS + '[check]\napi = "missing.yaml"', {}, CHECK, 2, "missing.yaml"),
        (FILMS + '[check]\napi = "missing.yaml"', {}, ("run", "program.py", "--simulate"), 0, "True\n"),
        # Keys above the tables would change what is measured; a table for `bench` says so on purpose.
        (
            FILMS + 'profile = "large"\n[bench]\nlimit = "three"',
            {},
            ("bench", "tiny", "--out", "runs"),
            2,
            "[bench] limit must be a whole number, not a string",
        ),
        ("broken", {"ATC_CONFIG": "other.toml"}, CHECK, 0, ""),
        ("broken", {"ATC_CONFIG": os.devnull}, CHECK, 2, "Missing option '--api'"),
        ("broken", {"ATC_CONFIG": "nowhere.toml"}, CHECK, 2, "ATC_CONFIG names nowhere.toml, which is no file"),
    ],
)
def test_where_an_option_comes_from(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: str,
    environment: dict[str, str],
    command: tuple[str, ...],
    code: int,
    text: str,
) -> None:
    """The command line comes first, then the environment, then the file: the table of the command, then the keys above
    all tables, of each command that has the option. ATC_CONFIG names another file, or none."""
    (project / "atc.toml").write_text(settings)
    (project / "other.toml").write_text(FILMS)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    result = atc(*command)

    assert (result.exit_code, text in result.output) == (code, True), result.output


@pytest.mark.parametrize(("home", "text"), [("", 'api = "films.yaml"'), ("user", "broken")])
def test_the_file_above_is_found(project: Path, monkeypatch: pytest.MonkeyPatch, home: str, text: str) -> None:
    """From a folder below, the same file is used, and its paths start there; none above the user's home is read."""
    (project / "atc.toml").write_text(text)
    (project / "user" / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(project / home))
    monkeypatch.chdir(project / "user" / "work")

    assert atc("check", "../../program.py", *(("--api", "../../films.yaml") if home else ())).exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("api = ", "atc.toml is no TOML: Invalid value (at end of document); correct it, or go without it"),
        ("apo = 'x'", "unknown key apo (did you mean api?); above the tables stand allow, api, auth, base-url"),
        ("[slove]\napi = 'x'", "[slove]: there is no command of that name (did you mean solve?)"),
        (
            "[check]\nmodle = 'x'",
            "[check] modle: unknown key; the keys there are api, auth, json, only, query, store, without",
        ),
        ("[contract]\nshwo = {}", "[contract] shwo: unknown key (did you mean show?); the keys there are show"),
        ("seed = 'x'", "atc.toml: seed must be a whole number, not a string"),
        ("[run]\ncpu = -1", "[run] cpu: -1.0 is not in the range x>0"),
        ("writes = 'sometimes'", "atc.toml: writes: 'sometimes' is not one of 'ask', 'allow', 'deny'"),
        ("auth = 'hunter2hunter2'", "atc.toml: auth takes KIND:SOURCE such as bearer:env:MY_TOKEN"),
        ("auth = ['bearer:env:hunter2hunter2']", "auth takes KIND:SOURCE"),
        ("base-url = 'https://me:hunter2@api.example'", "base-url holds a user name or password"),
    ],
)
def test_mistakes_are_named(project: Path, text: str, message: str) -> None:
    """What is wrong, where, and what there is instead; exit code 2, and no secret is repeated."""
    (project / "atc.toml").write_text(text)
    commands = [("check", "program.py"), ("run", "program.py", "--api", "films.yaml"), ("contract", "show")]
    results = [atc(*command) for command in commands]

    assert any(message in result.stderr for result in results), [result.stderr for result in results]
    assert {result.exit_code for result in results if message in result.stderr} == {2}
    assert not any("hunter2" in result.output for result in results)


def test_help_and_a_new_file_do_not_need_a_good_one(project: Path) -> None:
    """A broken file stops neither the list of commands, nor `atc init`, nor `atc doctor`, which tells of it."""
    (project / "atc.toml").write_text("broken")

    assert atc("--help").exit_code == 0
    result = atc("doctor", "--json")
    check = next(check for check in json.loads(result.stdout)["checks"] if check["name"] == "atc.toml")
    assert (result.exit_code, check["state"]) == (1, "broken")
    assert "is no TOML" in check["detail"]
    assert atc("init", "films.yaml", "--force").exit_code == 0
    assert atc("check", "program.py").exit_code == 0


def test_options_that_speak_against_the_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --simulate no address and no credential of the file is used; another API has none of them either."""
    settings = 'api = "films.yaml"\nbase-url = "http://127.0.0.1:9"\nauth = ["bearer:env:FILMS_TOKEN"]\n'
    (project / "atc.toml").write_text(settings)
    monkeypatch.setenv("FILMS_TOKEN", "a-secret-of-films")
    monkeypatch.setenv("ATC_CONFIG", "atc.toml")
    shutil.copy("films.yaml", "others.yaml")

    assert atc("run", "program.py", "--simulate").stdout == "True\n"
    result = atc("run", "program.py")
    assert "signs in with bearer:env:FILMS_TOKEN at http://127.0.0.1:9" in result.stderr
    assert "signs in" not in atc("run", "program.py", "--api", "others.yaml").stderr
    (project / "atc.toml").write_text(settings + "[run]\nsimulate = true\n")
    assert atc("run", "program.py").stdout == "True\n"


# --- what a file may not do unasked


@pytest.fixture
def stranger(project: Path) -> Iterator[Path]:
    """A folder whose file wants to run code when anything is asked."""
    (project / "tools.py").write_text(TOOLS)
    (project / "atc.toml").write_text('api = "functions:tools.py"\n')
    (project / "program.py").write_text("print(double(number=4))")
    yield project


@pytest.mark.parametrize(
    ("text", "announced"),
    [
        ('api = "functions:tools.py"', "runs functions:"),
        ('api = "mcp:stdio:sh -c true"', "runs mcp:stdio:sh -c true"),
        ('api = "films.yaml"\nauth = "bearer:env:GITHUB_TOKEN"', "signs in with bearer:env:GITHUB_TOKEN at "),
        ('api = "films.yaml"\nwrites = "allow"', "sends writes without asking"),
        ('api = "films.yaml"\nallow = ["https://evil.example"]', "lets programs reach https://evil.example"),
        # A journal names a service, credentials and the writes policy.
        ('[solve]\nresume = "program.py"', "goes on with"),
    ],
)
def test_a_file_is_not_trusted_with_what_could_do_harm(
    stranger: Path, text: str, announced: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody can be asked it is refused before anything ran; the message says how to agree."""
    monkeypatch.setenv("GITHUB_TOKEN", "a-secret-of-mine")
    (stranger / "atc.toml").write_text(text)
    result = atc(*(("solve",) if "[solve]" in text else ("run", "program.py")))

    assert result.exit_code == 2
    assert announced in result.stderr
    assert "has not been trusted with that" in result.stderr
    assert "ATC_CONFIG=atc.toml" in result.stderr
    assert not Path("ran").exists()
    assert "a-secret-of-mine" not in result.output


@pytest.mark.parametrize(
    ("text", "options", "destination"),
    [
        ('api = "films.yaml"', (), "https://films.test"),
        ('base-url = "https://evil.example"', ("--api", "films.yaml"), "https://evil.example"),
        ('api = "films.yaml"\nbase-url = "https://evil.example"', ("--api", "films.yaml"), "https://evil.example"),
    ],
)
def test_a_file_does_not_choose_where_credentials_of_the_command_line_go(
    stranger: Path, text: str, options: tuple[str, ...], destination: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the address, and not the document that names one; with --simulate nothing leaves this machine."""
    monkeypatch.setenv("GITHUB_TOKEN", "a-secret-of-mine")
    (stranger / "atc.toml").write_text(text)
    result = atc("run", "program.py", *options, "--auth", "bearer:env:GITHUB_TOKEN")

    assert result.exit_code == 2
    assert "sends your credentials to " in result.stderr and destination in result.stderr
    assert "has not been trusted with that" in result.stderr


def test_agreement_at_the_terminal_is_remembered(stranger: Path) -> None:
    """A y is asked once; the file is announced each time; another value is asked about again; a no runs nothing."""
    refused = on_terminal("n")
    assert "Does" in refused and "8" not in refused.splitlines()[-1]
    assert not Path("ran").exists()
    assert "[y/N]" in on_terminal("y")
    result = atc("run", "program.py")
    assert (result.exit_code, result.stdout) == (0, "8\n")
    assert f"atc.toml: runs functions:{stranger / 'tools.py'}" in result.stderr

    (stranger / "atc.toml").write_text('api = "functions:tools.py"\nwrites = "allow"\n')
    assert atc("run", "program.py").exit_code == 2


def on_terminal(answer: str) -> str:
    """`atc run program.py` on a real terminal, with an answer to its question; all that is shown."""
    child = TerminalCommand([ATC, "run", "program.py"], columns=200)
    child.expect(r"\[y/N\]")
    shown = child.before + child.after
    child.sendline(answer)
    child.finish()
    return str(shown + child.before)


def test_every_command_with_such_options_asks() -> None:
    """Each one takes its options by `takes`, which announces; and the keys above the tables are options."""
    names: set[str] = set()
    for path, command in commands(main, click.Context(main)):
        options = {str(option.name) for option in command.params if isinstance(option, click.Option)}
        assert not options & RISKY or hasattr(command.callback, "announces"), path
        if path[0] in COMMANDS:
            names |= {flag.removeprefix("--") for option in command.params for flag in option.opts}

    assert set(SHARED) <= names


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands with their names, those of groups too."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (((name, *path), member) for path, member in commands(command, click.Context(command)))
        elif command is not None:
            yield (name,), command


def test_the_same_document_on_the_command_line_is_the_api_of_the_file(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`--api` with the file's own document, by any path, needs no further word, and another document still does."""
    monkeypatch.setenv("FILMS_TOKEN", "a-token-of-mine")
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    where = ("--base-url", "http://127.0.0.1:9")
    assert atc("init", "films.yaml", "--force", *where, "--auth", "bearer:env:FILMS_TOKEN").exit_code == 0
    (project / "program.py").write_text("print(1)")
    (project / "copy.yaml").write_bytes((project / "films.yaml").read_bytes())

    for api in ("films.yaml", str(project / "films.yaml"), "./films.yaml"):
        result = atc("run", "program.py", "--api", api)
        assert (result.exit_code, result.stdout) == (0, "1\n"), result.stderr
        assert "FILMS_TOKEN at http://127.0.0.1:9\n" in result.stderr
    assert "signs in" not in atc("run", "program.py", "--api", "copy.yaml").stderr


def test_a_policy_that_a_server_lacks_leaves_it_its_own(project: Path) -> None:
    """What `atc init` writes for a terminal stops no server; one that the server's own table names is refused."""
    settings = 'api = "films.yaml"\nbase-url = "http://127.0.0.1:9"\nwrites = "ask"\n'
    (project / "atc.toml").write_text(settings)
    for command in (("serve", "--port", "0"), ("serve", "--ui", "--port", "0"), ("mcp", "serve")):
        result = atc(*command)
        assert 'atc.toml: writes = "ask"' in result.stderr, result.stderr
        assert "nobody answers at" in result.stderr
    (project / "atc.toml").write_text(f'{settings}[serve]\nwrites = "ask"\n')
    assert "'ask' is not one of" in atc("serve").stderr
