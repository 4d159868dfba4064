"""What an `atc.toml` of a stranger's folder may not do unasked, by whatever option and in whatever form."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pexpect
import pytest

from atc.apps.cli.trust import code_of
from tests.atc_command import ATC, atc
from tests.security.poisoned import acts
from tests.terminal_command import TerminalCommand

MARKS = "from pathlib import Path\nPath('ran').touch()\ndef double(number: int) -> int:\n    return 2 * number\n"
SOLVE = ("solve", "Which film?", "--api", "films.yaml", "--simulate", "--model", "replay:none")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, films: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document, a program, code that leaves a mark, and the user's own work in it and beside it."""
    here = tmp_path / "folder"
    (here / "src").mkdir(parents=True)
    (here / "films.yaml").write_bytes(films.read_bytes())
    (here / "program.py").write_text("print(1)\n")
    for name in ("evil.py", "server.py"):
        (here / name).write_text(MARKS)
    for place in (here / "src" / "main.py", tmp_path / "profile"):
        place.write_text("mine\n")
    (here / "link.json").symlink_to(tmp_path / "profile")
    (here / "up").symlink_to("..")
    monkeypatch.chdir(here)
    monkeypatch.delenv("ATC_CONFIG")
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    return here


def configure(text: str) -> None:
    """Write the file."""
    Path("atc.toml").write_text(text)
    Path("atc.toml").chmod(0o600)


ASKED = {
    "code as the document of a benchmark": (
        '[bench]\napi = ["museum=functions:evil.py"]',
        ("bench", "tiny", "--out", "o"),
    ),
    "code beside simulate": ('api = "functions:evil.py"\nsimulate = true', ("run", "program.py")),
    "writes of a probe": ('[probe]\nwrites = "all"', ("probe", "films.yaml", "--out", "o.yaml")),
    "writes of a probe to its own": ('[probe]\nwrites = "own"', ("probe", "films.yaml", "--out", "o.yaml")),
    "a cluster that gets our objects": ('[bench]\naddress = "evil:10001"', ("bench", "tiny", "--out", "o")),
    "a report outside": ('[report]\nmarkdown = "../profile"', ("report", "run")),
    "a page over a file": ('[report]\nhtml = "src/main.py"', ("report", "run")),
    "a solution over a file": ('[solve]\nout = "src/main.py"', SOLVE),
    "a record that goes on with a file": ('[solve]\nrecord = "src/main.py"', SOLVE),
    "a solution through a link": ('[solve]\nout = "link.json"', SOLVE),
    "a solution through a linked folder": ('[solve]\nout = "up/profile"', SOLVE),
    "a chat with turns of a stranger": ('[chat]\njournal = "src/main.py"', ("chat", "--api", "films.yaml")),
    "a document over a file": ('[probe]\nout = "src/main.py"', ("probe", "films.yaml", "--simulate")),
    "an index outside": ('[retrieve.build]\nout = "../index"', ("retrieve", "build", "films.yaml")),
    "a server for everybody": ('[serve]\nhost = "0.0.0.0"', ("serve", "--api", "films.yaml")),
}


@pytest.mark.parametrize(("text", "command"), ASKED.values(), ids=list(ASKED))
def test_it_is_announced_and_needs_a_word(text: str, command: tuple[str, ...], folder: Path) -> None:
    """Where nobody can be asked, nothing runs and nothing is written."""
    (folder / "run").mkdir()
    Path("../index").mkdir()
    (folder / "../index/notes").touch()
    configure(text if "index" not in text else text.replace("../index", "../new"))
    result = atc(*command)

    assert result.exit_code == 2 and "has not been trusted with that" in result.stderr
    assert [Path(place).read_text() for place in ("src/main.py", "../profile")] == ["mine\n"] * 2
    assert not Path("ran").exists() and not Path("../new").exists()


def test_an_output_that_atc_made_is_written_again() -> None:
    """The first time nothing is there; the second time it is ours."""
    configure('[solve]\nout = "answer.json"\n')

    assert [atc(*SOLVE).exit_code for _ in range(2)] == [5, 5]
    assert "trusted" not in atc(*SOLVE).stderr and Path("answer.json").exists()


def question(answer: str, command: str = "check") -> str:
    """All that is shown up to the end, with an answer to the question of trust if there is one."""
    child = TerminalCommand([ATC, command, "program.py"], lines=24)
    if child.expect([r"\[y/N\]", pexpect.EOF]) == 0:
        child.sendline(answer)
        before = str(child.before)
        child.finish()
        return before + str(child.before)
    return str(child.before)


def test_the_question_shows_all_of_it_or_is_not_asked() -> None:
    """3,000 patterns do not push what runs off the screen."""
    patterns = ", ".join(f'"GET /{number}"' for number in range(3000))
    configure(f'api = "functions:evil.py"\nread = [{patterns}]\n')

    assert "more than can be shown at once" in question("y", "run")
    assert not Path("ran").exists()


def test_a_letter_that_only_looks_latin_is_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the address to which a credential would go."""
    monkeypatch.setenv("TOKEN", "a-secret-of-mine")
    text = Path("films.yaml").read_text().replace("films.test", "\u0430pi.films.test")
    Path("films.yaml").write_text(text, "utf-8")
    configure('api = "films.yaml"\nauth = "bearer:env:TOKEN"\n')

    assert "https://<U+0430>pi.films.test" in question("n")


@pytest.mark.parametrize("change", ["another module", "a folder that runs", "a link out of the folder"])
def test_other_code_of_a_server_needs_a_word_again(change: str, folder: Path) -> None:
    """Also of `python -m server`, and in a place of another kind."""
    configure(f'api = "mcp:stdio:{sys.executable} {"-m server" if change == "another module" else "server.py"}"\n')
    assert "your word" in question("y") and Path("ran").exists()
    Path("ran").unlink()
    Path("../elsewhere.py").write_text(f"{MARKS}# other\n")
    Path("server.py").unlink()
    if change == "a link out of the folder":
        Path("server.py").symlink_to("../elsewhere.py")
    elif change == "a folder that runs":
        Path("server.py").mkdir()
        Path("server.py/__main__.py").write_text(f"{MARKS}# other\n")
    else:
        Path("server.py").write_text(f"{MARKS}# other\n")

    assert "has not been trusted" in atc("check", "program.py").stderr
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("python -m pkg.server", {"pkg/__init__.py", "pkg/server.py"}),
        ("python -mserver", {"server.py"}),
        ('bash -c "exec python ./server.py; true"', {"server.py"}),
        ("node --import=./server.py", {"server.py"}),
        ("python pkg", {"pkg/__main__.py"}),
    ],
)
def test_the_code_that_a_command_names_is_found(command: str, names: set[str], folder: Path) -> None:
    """Modules of packages, with what is loaded before them, and words of a shell."""
    Path("pkg").mkdir()
    for name in ("__init__", "__main__", "server"):
        Path(f"pkg/{name}.py").write_text(MARKS)
    found_names = {str(path.relative_to(folder)) for path in code_of(folder, [f"mcp:stdio:{command}"])}

    assert names <= found_names and "evil.py" not in found_names


CONTAINED = {
    "capitals": 'api = "FUNCTIONS:evil.py"',
    "blanks and a name": 'api = [" functions:evil.py", "x= functions:evil.py"]',
    "a key in another alphabet": '"\u0430pi" = "functions:evil.py"',
    "escapes in a key": '"a\\u001b[2J\\u202e" = 1',
    "escapes in a table": '["a\\u001b[2J\\u202e\\natc: all is well"]\nx = 1',
    "escapes in a model": 'model = "\\u001b[2J\\u202e\\natc: all is well"',
    "escapes in a document": 'api = "\\u001b[2J\\u202e\\natc: all is well"',
    "an engine of the folder": 'model = "evil:x"',
    "a mode of the folder": 'mode = "evil"',
    "a help of the folder": 'profile = "help.yaml"',
    "tags of Python": 'profile = "tags.yaml"',
    "no number": "max-cost = nan",
    "5,000 digits": f"max-calls = {'9' * 5000}",
    "100,000 arrays": f"api = {'[' * 100000}{']' * 100000}",
    "dates": "model = 1979-05-27",
    "a table twice": 'solve.out = "x"\n[solve]\nout = "y"',
}


@pytest.mark.parametrize("text", CONTAINED.values(), ids=list(CONTAINED))
def test_a_trick_ends_in_a_message(text: str) -> None:
    """Nothing of the folder runs, and nothing acts on the terminal."""
    Path("help.yaml").write_text("base: small\nhelp: evil\n")
    Path("tags.yaml").write_text("base: !!python/object/apply:os.system ['touch ran']\n")
    configure(text)
    explain = ("explain", "Which film?", *([] if "api" in text else ["--api", "films.yaml"]))
    command = explain if "api" in text or "profile" in text else SOLVE[:-2]
    result = atc(*command)

    assert isinstance(result.exception, SystemExit) and result.exit_code == 2, result.output
    assert not acts(result.output) and not Path("ran").exists()


def test_a_file_of_variables_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither `.env` nor the settings of tools that we use."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    Path(".env").write_text("OPENAI_API_KEY=k\nOPENAI_BASE_URL=http://127.0.0.1:9\nATC_SOLVE_WRITES=allow\n")
    Path("pyproject.toml").write_text('[tool.atc]\nwrites = "allow"\n[tool.ty.rules]\nall = "error"\n')
    Path("mypy.ini").write_text("[mypy]\nplugins = evil.py\n")

    assert "needs a key" in atc(*SOLVE[:-1], "openai:x").stderr
    assert atc("check", "program.py", "--api", "films.yaml").exit_code == 0
    assert not Path("ran").exists() and "OPENAI_API_KEY" not in os.environ
