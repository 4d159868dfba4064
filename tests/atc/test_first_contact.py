"""What goes wrong before anything is asked is found before the model is, with the exit code that says what it was."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc import Agent
from atc.apps.cli import main
from tests.local_api import LocalAPI
from tests.local_api import document as weather
from tests.scripted import ScriptedModel


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "weather.json"
    file.write_text(json.dumps(weather("http://127.0.0.1:9/v1")))
    return file


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as service:
        yield service


def solve(spec: Path, *more: str) -> Result:
    """With a model that fails when it is asked."""
    arguments = ["solve", "Does it rain?", "--api", str(spec), "--model", "replay:/nowhere", *more]
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("url", ["notaurl", "ftp://127.0.0.1", "http://", "http://127.0.0.1:port", "/v1"])
def test_a_base_url_that_is_none_is_wrong_usage(spec: Path, url: str) -> None:
    told = solve(spec, "--base-url", url)

    assert told.exit_code == 2
    assert "--base-url " in told.stderr
    assert "replay" not in told.stderr


@pytest.mark.parametrize("option", [True, False])
def test_a_service_that_is_not_there_is_found_first(spec: Path, option: bool) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    told = solve(spec, *(["--base-url", f"http://127.0.0.1:{port}"] if option else []))

    assert told.exit_code == 6
    assert "nobody answers at http://127.0.0.1:" in told.stderr
    assert "replay" not in told.stderr


@pytest.mark.parametrize("status", [401, 403])
def test_who_is_refused_is_told_how_to_sign_in(api: LocalAPI, status: int) -> None:
    api.answer("GET", "/cities", {"message": "Who are you?"}, status)
    model = ScriptedModel('```python\nprint(GET_cities(query="Oslo"))\n```')
    with Agent(api.protocol, model=model) as agent:
        solution = agent.solve("Does it rain in Oslo?")

    assert (solution.status, len(model.asked)) == ("api_error", 1)
    assert f"was refused with {status}: give credentials: auth=[" in solution.message


def test_explain_shows_no_control_characters(tmp_path: Path) -> None:
    """A document is a stranger's: what it says cannot act on the terminal."""
    described = weather("http://127.0.0.1:9/v1")
    described["paths"]["/cities"]["get"]["summary"] = "Cities \x1b[2J\u202e of \x07 the world"  # type: ignore[index]
    file = tmp_path / "weather.json"
    file.write_text(json.dumps(described))
    told = CliRunner().invoke(main, ["explain", "Which cities are there?", "--api", str(file)])

    assert told.exit_code == 0, told.output
    assert not {"\x1b", "\x07", "\u202e"} & set(told.output)
