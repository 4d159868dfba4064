"""`atc save --standalone`: a script that needs requests and nothing of ours, and sends what the sandbox sends."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from atc.apps.saved.plain_python import check_plain
from protocols import UsageError, load
from tests.local_api import LocalAPI, Received, document
from tests.scripted import ScriptedModel

SECRET = "s3cr3t-t0ken"
WITHOUT_US = (
    "import runpy, sys; sys.modules.update(atc=None, protocols=None, sandbox=None); "
    "sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"
)
"""Runs a script in a Python where nothing of ours can be imported."""


def api_document(server: str) -> dict[str, Any]:
    """The API of the tests, with parameters of every kind in a search, and a form."""
    data: dict[str, Any] = document(server)
    text, texts = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
    area = {"type": "object", "properties": {"north": {"type": "number"}, "near": text}}
    data["paths"]["/search/{kind}"] = {
        "get": {
            "operationId": "search",
            "security": [{"key": []}],
            "parameters": [
                {"name": "kind", "in": "path", "required": True, "schema": text},
                {"name": "tag", "in": "query", "schema": texts},
                {"name": "sort-by", "in": "query", "schema": texts, "explode": False},
                {"name": "area", "in": "query", "schema": area, "style": "deepObject", "explode": True},
                {"name": "pipe", "in": "query", "schema": texts, "style": "pipeDelimited", "explode": False},
                {"name": "exact", "in": "query", "schema": {"type": "boolean"}},
                {"name": "X-Trace", "in": "header", "schema": text},
            ],
            "responses": data["paths"]["/cities"]["get"]["responses"],
        }
    }
    form = {"type": "object", "properties": {"name": text, "tags": texts, "open": {"type": "boolean"}}}
    data["paths"]["/forms"] = {
        "post": {
            "requestBody": {"content": {"application/x-www-form-urlencoded": {"schema": form}}},
            "responses": {"200": {"description": "ok"}},
        }
    }
    data["components"]["securitySchemes"]["key"] = {"type": "apiKey", "in": "query", "name": "api_key"}
    return data


@pytest.fixture
def weather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalAPI]:
    monkeypatch.setenv("TOKEN", SECRET)
    with LocalAPI() as api:
        api.answer("GET", "/cities", {"results": [{"id": "o/s l", "name": "Oslo"}]})
        api.answer("GET", "/cities/o%2Fs%20l", {"name": "Oslo", "population": 717710})
        api.answer("GET", "/search/big%20city", {"results": [{"id": "osl", "name": "Oslo"}]})
        api.answer("POST", "/alerts", {"text": "Løp", "level": 3}, status=201)
        api.answer("POST", "/forms", None, status=204)
        (tmp_path / "api.json").write_text(json.dumps(api_document(api.url)))
        yield api


def save(api: LocalAPI, folder: Path, program: str, question: str) -> tuple[str, int]:
    """Solve a question and save it as `script.py`; stderr and exit code."""
    auth = ["token:env:TOKEN", "key:env:TOKEN"]
    model = ScriptedModel(*([program] * 4))
    with Agent(load(folder / "api.json"), model, base_url=api.url, auth=auth, writes="allow") as a:
        (folder / "solution.json").write_text(json.dumps(a.solve(question).to_json()))
    place = ["-o", str(folder / "script.py"), "--api", str(folder / "api.json")]
    result = CliRunner().invoke(main, ["save", str(folder / "solution.json"), *place, "--standalone"])
    return result.stderr, result.exit_code


def run(folder: Path, url: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-c", WITHOUT_US, str(folder / "script.py"), *options]
    variables = {"WEATHER_URL": url, "WEATHER_TOKEN": SECRET, "WEATHER_KEY": SECRET, "LANG": "C.UTF-8", **environment}
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)


def content(request: Received) -> tuple[object, ...]:
    """What matters of a request: method, path, query, body, and the headers of the document."""
    body: object = request.json() if request.headers.get("content-type") == "application/json" else request.body
    named = {name: request.headers.get(name) for name in ("authorization", "content-type", "x-trace")}
    return request.method, request.path, sorted(request.query), body, named


@pytest.mark.parametrize(
    ("program", "question"),
    [
        (
            'city = GET_cities(query="Oslo & more", page=2)["results"][0]\n'
            'print(GET_cities_city_id(city["id"])["population"])',
            "How many people live in Oslo & more?",
        ),
        (
            'found = GET_search_kind(kind="big city", tag=["a,b", "c"], sort_by=["x", "y"], area={"north": 1.5, '
            '"near": "sea"}, pipe=["p", "q"], exact=True, X_Trace="t 1")\nprint(found["results"][0]["name"])',
            "Which big city is there with the tag c?",
        ),
        ('print(POST_alerts(text="Løp", level=3)["text"])', 'Post an alert of level 3 that says "Løp".'),
        (
            'print(GET_cities(query="Oslo")["results"][0]["name"])\n'
            'print(POST_forms(name="Oslo", tags=["a", "b"], open=False))',
            "Send the form for Oslo.",
        ),
    ],
)
def test_the_script_sends_what_the_sandbox_sends(
    weather: LocalAPI, tmp_path: Path, program: str, question: str
) -> None:
    """Methods, paths, queries, bodies and credentials are those of the solve, and the answer is the same."""
    message, code = save(weather, tmp_path, program, question)
    assert code == 0, message
    answer = json.loads((tmp_path / "solution.json").read_text())["answer"]
    sent = [content(request) for request in weather.requests][-program.count("T_") :]
    weather.requests.clear()
    done = run(tmp_path, weather.url)

    assert (done.stderr, done.stdout.strip(), done.returncode) == ("", answer, 0)
    assert [content(request) for request in weather.requests] == sent
    assert SECRET in str(sent)


def test_the_script_imports_requests_alone(weather: LocalAPI, tmp_path: Path) -> None:
    """Besides the standard library; it has the parameters as options, and holds no secret."""
    save(weather, tmp_path, 'print(GET_cities(query="Oslo")["results"][0]["name"])', "Is there a city named Oslo?")
    text = (tmp_path / "script.py").read_text()
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    }

    assert imported - set(sys.stdlib_module_names) == {"requests"}
    assert SECRET not in text
    assert "--query QUERY" in run(tmp_path, weather.url, "--help").stdout
    weather.requests.clear()
    run(tmp_path, weather.url, "--query", "Bergen")
    assert weather.requests[0].query == (("query", "Bergen"),)


def test_errors_of_the_script_are_one_line_without_secrets(weather: LocalAPI, tmp_path: Path) -> None:
    """A missing credential, a service that is not there, an error status: which, and no traceback."""
    save(weather, tmp_path, 'print(GET_search_kind("big city")["results"][0]["name"])', "Which big city is there?")

    assert run(tmp_path, weather.url, WEATHER_KEY="").stderr == "set the environment variable WEATHER_KEY (apiKey)\n"
    refused = run(tmp_path, "http://127.0.0.1:9")
    assert refused.stderr == "GET_search_kind: no reply (ConnectionError)\n"
    weather.answer("GET", "/search/big%20city", {"message": "no such kind"}, status=404)
    failed = run(tmp_path, weather.url)
    assert (failed.returncode, failed.stderr) == (1, 'GET_search_kind: HTTP 404: {"message": "no such kind"}\n')


def test_a_signed_call_follows_no_redirect(weather: LocalAPI, tmp_path: Path) -> None:
    """A service cannot send the credential on to another one."""
    save(weather, tmp_path, 'print(GET_search_kind("big city")["results"][0]["name"])', "Which big city is there?")
    weather.requests.clear()
    target = f"{weather.url}/cities"
    weather.answer("GET", "/search/big%20city", None, status=302, headers={"Location": f"{target}?sig=x"})

    assert f"GET_search_kind: HTTP 302: it redirects to {target}\n" in run(tmp_path, weather.url).stderr
    assert len(weather.requests) == 1


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ('os.system("touch owned")', "the name os"),
        ('open("owned", "w")', "the name open"),
        ("print(AUTH)", "the name AUTH"),
        ('_call("T", "GET", "/")', "the name _call"),
        ('getattr(T, "__globals__")', "the name getattr"),
        ("import sys\n    sys.exit()", "the module sys"),
        ("import json\n    json.codecs.open('owned')", "json.codecs"),
        ("import json\n    alias = json\n    alias.codecs", "the module json as a value"),
        ("from json import codecs", "json.codecs"),
        ("print(T().format(T))", "`print(T().format(T))`"),
    ],
)
def test_what_only_the_sandbox_makes_safe_is_refused(program: str, problem: str) -> None:
    """A branch that no run took may hold anything: names, modules and attributes are checked in the text."""
    with pytest.raises(UsageError) as caught:
        check_plain(f"def tool() -> None:\n    {program}\n", {"T", "ToolError"})

    assert f"the program uses {problem}, which only the sandbox makes safe" in str(caught.value)


@pytest.mark.parametrize(
    "program",
    [
        'rows = sorted(T()["rows"], key=lambda row: row["name"].lower())\n    print(f"{len(rows)} rows", rows[0])',
        "from datetime import datetime, timedelta\n    print((datetime.now() + timedelta(days=1)).isoformat())",
        "import json\n    from collections import Counter\n    print(json.dumps(Counter(T())))",
        "try:\n        T()\n    except ToolError as error:\n        print(error.status)",
    ],
)
def test_ordinary_programs_pass(program: str) -> None:
    """Strings, comprehensions, dates, counters, JSON, and the error of a call."""
    check_plain(f"def tool() -> None:\n    {program}\n", {"T", "ToolError"})
