"""`atc toolbench filter` and `compress`: which APIs are worth serving, and which keys of their replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from benchmarks.toolbench.server.address import APIAddress
from benchmarks.toolbench.server.compression import ResponseSchemas, keep_keys, schema_problem, shortened
from benchmarks.toolbench.server.filtering import read_verdicts
from protocols.render import estimate
from tests.local_api import Answer, LocalAPI

FORECAST: dict[str, Any] = {
    "city": "Oslo",
    "hours": [{"at": f"{hour}:00", "icon": "https://x.invalid/i.png"} for hour in range(200)],
}
REPLIES: dict[str, object] = {
    "forecast": FORECAST,
    "stations": "[{'name': 'Blindern'}]",
    "gone": {"message": "Endpoint '/gone' does not exist"},
    "page": "<!DOCTYPE html><html>",
    "nothing": [],
}


@pytest.fixture
def server() -> Iterator[LocalAPI]:
    with LocalAPI() as server:

        def reply(got: Any) -> Answer:
            name = got.json()["api_name"]
            error = "Unauthorized error...\n" if name == "secret" else ""
            return Answer(200, {"error": error, "response": REPLIES.get(name, "")})

        server.respond("POST", "/virtual", reply)
        yield server


@pytest.fixture
def data(tmp_path: Path) -> Path:
    shared = {"category_name": "Weather", "tool_name": "Sky", "method": "GET", "optional_parameters": []}
    parameters = [{"name": "City", "type": "STRING", "description": "", "default": "Oslo"}]
    names = [*REPLIES, "secret"]
    listed = [{**shared, "api_name": name, "required_parameters": parameters} for name in names]
    file = tmp_path / "queries.json"
    file.write_text(json.dumps([{"query": "?", "query_id": 1, "api_list": listed}]), "utf-8")
    return file


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["toolbench", *map(str, arguments)])


def test_apis_without_data_are_dropped_with_the_reason(server: LocalAPI, data: Path, tmp_path: Path) -> None:
    """A call with the documented examples; a second run calls none again."""
    out = tmp_path / "verdicts.jsonl"
    result = run("filter", "--data", data, "--server", server.url, "--out", out, "--json")
    again = run("filter", "--data", data, "--server", server.url, "--out", out, "--json")

    assert result.exit_code == 0, result.output
    assert {verdict.api: verdict.reason for verdict in read_verdicts(out)} == {
        "forecast": "",
        "stations": "",
        "gone": "error message",
        "page": "HTML",
        "nothing": "empty",
        "secret": "unauthorized",
    }
    assert json.loads(result.stdout) == json.loads(again.stdout)
    assert len(server.requests) == 6
    assert server.requests[0].json()["tool_input"] == {"city": "Oslo"}  # type: ignore[index]


def test_a_server_that_dies_keeps_what_was_called(server: LocalAPI, data: Path, tmp_path: Path) -> None:
    """Exit code 6, and the same command goes on."""
    out = tmp_path / "verdicts.jsonl"
    with LocalAPI() as gone:
        url = gone.url
    result = run("filter", "--data", data, "--server", url, "--out", out)

    assert (result.exit_code, read_verdicts(out)) == (6, [])
    assert "repeat the command" in result.stderr
    assert run("filter", "--data", data, "--server", server.url, "--out", out).exit_code == 0


# --- compression


def test_a_schema_of_a_model_keeps_its_keys(
    server: LocalAPI, data: Path, tmp_path: Path, endpoint: Callable[..., None]
) -> None:
    """Only long replies need one; a key that the reply lacks is refused once, and said to the model."""
    endpoint('{"town": "str"}', 'Keys: {"city": "str", "hours": [{"at": "str"}]}')
    out = tmp_path / "schemas"
    arguments = ["--data", data, "--server", server.url, "--model", "openai:scripted", "--out", out, "--json"]
    result = run("compress", *arguments)
    again = run("compress", *arguments)

    assert json.loads(result.stdout) == {"written": 1, "short enough": 3, "no data": 2}
    assert json.loads(again.stdout)["there already"] == 1
    schema = ResponseSchemas(out).get(APIAddress("Weather", "sky", "forecast"))
    assert schema == {"city": "str", "hours": [{"at": "str"}]}
    assert json.loads((out / "Weather" / "sky.json").read_text())["api_list"][0]["name"] == "forecast"


def test_a_long_reply_is_shortened_and_says_its_length() -> None:
    """Keys of the schema stay; a list that is still too long ends with how many items are left out."""
    schema = {"city": "str", "hours": [{"at": "str"}]}
    kept = shortened(FORECAST, schema)
    cut = shortened(FORECAST, schema, 100)

    assert isinstance(kept, dict)
    assert keep_keys(FORECAST, schema)["hours"][0] == {"at": "0:00"}  # type: ignore[index]
    assert shortened({"city": "Oslo"}, schema) == {"city": "Oslo"}
    assert isinstance(cut, dict)
    assert estimate(json.dumps(cut)) <= 110
    assert str(cut["hours"][-1]).endswith("more")


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"city": "str"}, ""),
        ({"town": "str"}, "the reply has no town"),
        ({"hours": [{"rain": "float"}]}, "hours[0] has no rain"),
        ([{"city": "str"}], "the reply is no list"),
    ],
)
def test_a_schema_is_checked_against_the_reply(schema: object, problem: str) -> None:
    """The message names the place."""
    assert schema_problem(schema, FORECAST) == problem
