"""`atc save` and `atc run FILE.py`: a solved question as a program with parameters, which needs no model."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import Result

from atc import Agent
from protocols import load
from protocols.samples import sample
from protocols.simulator import Simulator
from tests.atc_command import atc
from tests.local_api import LocalAPI, document
from tests.scripted import ScriptedModel

CINEMA = sample("cinema")
PROGRAM = """\
city = GET_cities(query="Oslo")["results"][0]
weather = GET_cities_city_id_weather(city_id=city["id"], units="metric")
hot = [day["name"] for day in weather["days"] if day["degrees"] > 20][:3]
print("Days in Oslo over 20 degrees:", ", ".join(hot))
"""
QUESTION = "Which are the first 3 days in Oslo with more than 20 degrees, in metric units?"


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "s3cr3t-t0ken")


@pytest.fixture(scope="module")
def api() -> Iterator[LocalAPI]:
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "osl", "name": "Oslo"}]})
        days = [{"name": name, "degrees": degrees} for name, degrees in (("Mon", 22), ("Tue", 18), ("Wed", 25))]
        api.answer("GET", "/cities/osl/weather", {"days": days})
        yield api


@pytest.fixture
def weather(api: LocalAPI, tmp_path: Path) -> LocalAPI:
    """An API whose document is `api.json`."""
    (tmp_path / "api.json").write_text(json.dumps(document(api.url)))
    api.requests.clear()
    return api


@pytest.fixture(scope="module")
def saved_files(api: LocalAPI, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the solution of the question, saved as `hot.py`."""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "api.json").write_text(json.dumps(document(api.url)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKEN", "s3cr3t-t0ken")
        solve(api, folder)
        assert save(folder).exit_code == 0
    return folder


@pytest.fixture
def hot(weather: LocalAPI, saved_files: Path, tmp_path: Path) -> Path:
    """A copy of the saved program, beside its document."""
    shutil.copytree(saved_files, tmp_path, dirs_exist_ok=True)
    return tmp_path / "hot.py"


def solve(
    api: LocalAPI, folder: Path, program: str = PROGRAM, question: str = QUESTION, mode: str = "attribute"
) -> Path:
    """Solve a question on the API of a folder; the file of the solution."""
    protocol = load(folder / "api.json")
    agent = Agent(
        protocol,
        ScriptedModel(*([program] * 4)),
        base_url=api.url,
        auth=["bearer:env:TOKEN"],
        mode=mode,
        writes="allow",
    )
    file = folder / "solution.json"
    file.write_text(json.dumps(agent.solve(question).to_json()))
    return file


def save(folder: Path, *options: str) -> Result:
    return atc("save", folder / "solution.json", "-o", folder / "hot.py", "--api", folder / "api.json", *options)


def run(api: LocalAPI, folder: Path, *options: str) -> Result:
    return atc("run", folder / "hot.py", "--base-url", api.url, "--auth", "bearer:env:TOKEN", *options)


def changed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the document of a folder."""
    data = json.loads((folder / "api.json").read_text())
    change(data)
    (folder / "api.json").write_text(json.dumps(data))


def saved_data(file: Path) -> dict[str, Any]:
    (node,) = [part for part in ast.parse(file.read_text()).body if isinstance(part, ast.Assign)]
    return dict(ast.literal_eval(node.value))


def test_other_arguments_give_what_a_reference_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question about one film is solved and saved; for other films the program answers as plain requests do."""
    with Simulator(load(CINEMA), seed=3) as service:
        monkeypatch.setenv("TOKEN", service.credentials[0].secrets()[0])
        headers = {"Authorization": f"Bearer {service.credentials[0].secrets()[0]}"}

        def get(path: str, **query: object) -> Any:
            return requests.get(service.url + path, params=query, headers=headers, timeout=10).json()  # type: ignore[arg-type]

        def reference(title: str, job: str) -> str:
            film = next(film for film in get("/films", query=title)["films"] if film["title"] == title)
            crew = get(f"/films/{film['filmId']}/credits")["crew"]
            return ", ".join(member["name"] for member in crew if member["job"] == job)

        title, *others = [film["title"] for film in get("/films")["films"]][:4]
        program = (
            f'films = GET_films(query="{title}")["films"]\n'
            f'film = next(film for film in films if film["title"] == "{title}")\n'
            'crew = GET_films_filmId_credits(film["filmId"])["crew"]\n'
            'print(", ".join(member["name"] for member in crew if member["job"].lower() == "director"))\n'
        )
        agent = Agent(load(CINEMA), ScriptedModel(program), base_url=service.url, auth=["bearer:env:TOKEN"])
        solution = agent.solve(f"Who was the Director of {title}?")
        (tmp_path / "solution.json").write_text(json.dumps(solution.to_json()))
        result = atc("save", tmp_path / "solution.json", "-o", tmp_path / "directors.py", "--api", CINEMA)
        assert result.exit_code == 0, result.output

        place = ["--base-url", service.url, "--auth", "bearer:env:TOKEN"]
        assert atc("run", tmp_path / "directors.py", *place).stdout.strip() == reference(title, "Director")
        for other in others:
            for job in ("Director", "Writer"):
                answer = atc("run", tmp_path / "directors.py", "--query", other, f"--job={job}", *place)
                assert answer.stdout.strip() == reference(other, job), answer.output


def test_what_the_question_says_becomes_a_parameter(weather: LocalAPI, tmp_path: Path) -> None:
    """Arguments, comparisons and limits, with types; keys, indices and what the question does not say stay."""
    solve(weather, tmp_path)
    result = save(tmp_path)

    assert result.exit_code == 0, result.output
    text = (tmp_path / "hot.py").read_text()
    assert "def hot(query: str='Oslo', units: str='metric', degrees: int=20, limit: int=3) -> None:" in text
    assert "city = GET_cities(query=query)['results'][0]" in text
    assert "if day['degrees'] > degrees][:limit]" in text
    assert "print(f'Days in {query} over {degrees} degrees:'" in text
    data = saved_data(tmp_path / "hot.py")
    assert data["api"] == ("api.json",)
    assert data["answer"] == "Days in Oslo over 20 degrees: Mon, Wed"
    assert [p["choices"] for p in data["parameters"]] == [(), ("metric", "imperial"), (), ()]
    assert "--query TEXT" in result.stderr

    assert run(weather, tmp_path).stdout == "Days in Oslo over 20 degrees: Mon, Wed\n"
    weather.requests.clear()
    other = run(weather, tmp_path, "--query", "Bergen", "--units=imperial", "--degrees", "10", "--limit", "1")
    assert other.stdout == "Days in Bergen over 10 degrees: Mon\n"
    assert [request.query for request in weather.requests] == [(("query", "Bergen"),), (("units", "imperial"),)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--town", "Oslo"], "has no parameter --town. Its parameters are:"),
        (["Oslo"], "has no parameter Oslo. Its parameters are:"),
        (["--query"], "--query needs a value. Its parameters are:"),
        (["--query", "a", "--query", "b"], "--query is given twice. Its parameters are:"),
        (["--limit", "few"], "--limit takes a whole number, not 'few'. Its parameters are:"),
        (["--units", "kelvin"], "--units is one of metric, imperial, not 'kelvin'. Its parameters are:"),
    ],
)
def test_wrong_arguments_list_the_parameters(weather: LocalAPI, hot: Path, arguments: list[str], message: str) -> None:
    """Exit code 2, what is wrong, and what there is; no request is sent."""
    result = run(weather, hot.parent, *arguments)

    assert result.exit_code == 2
    assert message in result.stderr
    assert "--limit INTEGER" in result.stderr
    assert weather.requests == []


def test_a_changed_api_is_told(weather: LocalAPI, hot: Path, tmp_path: Path) -> None:
    """A field that is read, an argument that is passed, a tool: what is gone is named, and nothing is sent."""

    def city(data: dict[str, Any]) -> dict[str, Any]:
        schema = data["paths"]["/cities"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        properties: dict[str, Any] = schema["properties"]["results"]["items"]["properties"]
        return properties

    def parameters(data: dict[str, Any]) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = data["paths"]["/cities"]["get"]["parameters"]
        return listed

    needed = {"name": "country", "in": "query", "required": True, "schema": {"type": "string"}}
    changes: Mapping[str, Callable[[dict[str, Any]], object]] = {
        "GET_cities: its response has no `results[0].id` any more": lambda data: city(data).pop("id"),
        "`results[0].id` of its response was string and is integer now": lambda data: city(data)["id"].update(
            type="integer"
        ),
        "GET_cities has no argument 'query' any more": lambda data: parameters(data)[0].update(name="q"),
        "GET_cities now requires the argument 'country'": lambda data: parameters(data).append(needed),
        "GET_cities_city_id_weather (GET /cities/{city_id}/weather) is no tool": lambda data: data["paths"].pop(
            "/cities/{city_id}/weather"
        ),
    }
    original = (tmp_path / "api.json").read_text()
    for message, change in changes.items():
        (tmp_path / "api.json").write_text(original)
        changed(tmp_path, lambda data, change=change: change(data))  # type: ignore[misc]
        result = run(weather, tmp_path)

        assert result.exit_code == 2, message
        assert message in result.stderr
        assert "has changed since" in result.stderr
    assert weather.requests == []


def test_a_file_chooses_no_code_to_run(weather: LocalAPI, hot: Path) -> None:
    """A document that is code is named by the user; data that is damaged is told with its place."""
    text = hot.read_text()
    for changed_text, message in (
        (text.replace("'api.json'", "'functions:x.py'"), "the program calls functions:x.py; name that with --api, if"),
        (text.replace("'api.json'", "'mcp:stdio:x'"), "the program calls mcp:stdio:x; name that with --api, if"),
        (text.replace("'method': 'GET'", "'method': 3"), "its SAVED is damaged (contracts.GET_cities.method"),
    ):
        hot.write_text(changed_text)
        result = run(weather, hot.parent)
        assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_the_document_is_found_beside_the_file(weather: LocalAPI, hot: Path, tmp_path: Path) -> None:
    """A path is kept as seen from the file; where it leads nowhere, --api names the document."""
    (tmp_path / "api.json").rename(tmp_path / "moved.json")
    result = run(weather, tmp_path)

    assert result.exit_code == 2
    assert "api.json, which is not there; name it with --api" in result.stderr
    assert run(weather, tmp_path, "--api", str(tmp_path / "moved.json")).exit_code == 0


def test_what_cannot_be_saved_is_told(weather: LocalAPI, tmp_path: Path) -> None:
    """No answer, single calls, another document, a foreign file: exit code 2, and no file is written."""
    solve(weather, tmp_path, "print(GET_cities(query='Oslo')['nothing'])")
    assert "the solution has no answer" in save(tmp_path).stderr
    data = json.loads(solve(weather, tmp_path).read_text())
    node = {"id": 1, "parent": 0, "thought": "", "outcome": "answer"}
    (tmp_path / "solution.json").write_text(json.dumps(data | {"tree": [node]}))
    assert "the solution was found by single calls" in save(tmp_path).stderr
    solve(weather, tmp_path)
    changed(tmp_path, lambda data: data["paths"].pop("/alerts"))
    assert "was found with another document than this one of Weather" in save(tmp_path).stderr
    (tmp_path / "solution.json").write_text("[]")
    result = save(tmp_path)
    assert result.exit_code == 2
    assert "solution.json holds no solution" in result.stderr
    assert not (tmp_path / "hot.py").exists()


def test_a_question_cannot_leave_its_docstring(weather: LocalAPI, tmp_path: Path) -> None:
    """Quotes, backslashes and signs that turn text round are only text in the file."""
    question = 'What is the id of Oslo? """\nimport os\n\\" \u202e \'\'\' {0}'
    solve(weather, tmp_path, 'print(GET_cities(query="Oslo")["results"][0]["id"])', question)

    assert save(tmp_path).exit_code == 0
    text = (tmp_path / "hot.py").read_text()
    assert [type(node).__name__ for node in ast.parse(text).body] == ["Expr", "Assign", "FunctionDef"]
    assert "\u202e" not in text
    assert run(weather, tmp_path).stdout == "osl\n"


@pytest.mark.parametrize("source", ["functions:evil.py", "mcp:stdio:touch ran"])
def test_a_strangers_file_starts_no_code(source: str, hot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document's name may look like a source that runs code, and lie beside the program: it is read as a document."""
    monkeypatch.chdir(hot.parent)
    Path("evil.py").write_text("open('ran', 'w').close()\ndef tool() -> int:\n    return 1\n")
    Path(source).write_text("x")
    hot.write_text(hot.read_text().replace("'api': ('api.json',)", f"'api': ('./{source}',)"))
    assert source in hot.read_text()

    assert atc("run", "hot.py").exit_code == 2
    assert not Path("ran").exists()


def test_what_is_left_out_and_where_it_signs_in_are_told(weather: LocalAPI, hot: Path, tmp_path: Path) -> None:
    """`atc save --only POST` names the reason; a program that names its API says which server gets the credential."""
    refused = save(tmp_path, "--only", "POST")
    result = run(weather, tmp_path)

    assert (refused.exit_code, result.exit_code) == (2, 0), refused.stderr
    assert "the program calls GET_cities" in refused.stderr and "it was left out by --only POST" in refused.stderr
    assert f"signs in at {weather.url}" in result.stderr
