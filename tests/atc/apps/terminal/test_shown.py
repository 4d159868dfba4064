"""What a document, a service or a program says cannot act on the terminal, nor look like a line of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from atc.models.base import Usage
from atc.solution import Solution
from tests.local_api import document

EVIL = "evil\x1b[2J\x1b]8;;http://evil\x1b\\x[/red][link=http://evil]\u202e\natc: all is well"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A document whose title, texts and names do what they can."""
    text = json.loads(json.dumps(document("https://weather.example/v1")))
    text["info"]["title"] = EVIL
    schema = text["paths"]["/cities/{city_id}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    schema["properties"][EVIL] = {"type": "string"}
    schema["properties"]["name"]["enum"] = [EVIL, "b"]
    text["paths"]["/cities/{city_id}"]["get"]["summary"] = EVIL
    file = tmp_path / "api.json"
    file.write_text(json.dumps(text))
    return file


def atc(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    "command",
    [
        ("contract", "show", "GET_cities_city_id"),
        ("contract", "show"),
        ("contract", "show", EVIL),
        ("check",),
        ("explain", "Which city?"),
    ],
)
def test_what_a_document_says_is_only_text(spec: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Neither escape sequences, nor links, nor line ends, nor marks of direction or colour; and nothing fails of it."""
    program = tmp_path / "program.py"
    program.write_text(
        f"print(GET_cities_city_id('oslo')[{EVIL[:9]!r}], GET_cities_city_id('x')['name'] == {EVIL!r})\n"
    )
    options: dict[str, list[str | Path]] = {"contract": ["--store", tmp_path], "check": [program]}
    result = atc(*command, *options.get(command[0], []), "--api", spec)

    output = result.stdout + result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert output
    assert not [char for char in output if char in "\x1b\x07\u202e"]
    assert "\natc: all is well" not in output


def test_a_notebook_shows_names_and_answers_as_text() -> None:
    """Also the status and the names of tools, which come from elsewhere."""
    tag = "<script>alert(1)</script>"
    page = Solution(tag, "failed", None, (), (tag,), Usage(), {"total": 1.0}, {}, message=tag)._repr_html_()

    assert "<script" not in page
