"""`--only` and `--without`: what is left out is neither shown nor called, and who asks for it is told the option."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from atc.apps.mcp_server.service import ToolService
from atc.options import Options
from protocols import combine, load
from protocols.choice import choose
from protocols.errors import UsageError
from sandbox import Journal
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.service import Service
from tests.scripted import ScriptedModel

OK = {"200": {"description": "Good.", "content": {"application/json": {"schema": {"type": "object"}}}}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
PATHS: dict[str, Any] = {
    "/boats": {
        "get": {"operationId": "listBoats", "tags": ["Fleet"], "summary": "List boats.", "responses": OK},
        "post": {"operationId": "add-boat", "tags": ["Fleet"], "summary": "Add a boat.", "responses": OK},
    },
    "/boats/{id}": {"delete": {"parameters": [ID], "summary": "Remove a boat.", "responses": OK}},
    "/boats/mine": {"delete": {"summary": "Remove all my boats.", "responses": OK}},
    "/admin/docks": {"get": {"tags": ["Harbour master"], "summary": "List docks.", "responses": OK}},
}
DOCUMENT = {"openapi": "3.0.3", "info": {"title": "Harbour", "version": "1"}, "paths": PATHS}
NAMES = ["GET_boats", "POST_boats", "DELETE_boats_id", "DELETE_boats_mine", "GET_admin_docks"]


@pytest.mark.parametrize(
    ("only", "without", "kept"),
    [
        (["GET"], [], "GET_boats GET_admin_docks"),
        (["Fleet"], [], "GET_boats POST_boats"),
        (["Harbour master", "listBoats"], [], "GET_boats GET_admin_docks"),
        (["add_boat"], [], "POST_boats"),
        (["/boats*"], ["DELETE"], "GET_boats POST_boats"),
        (["/boats/*"], [], "DELETE_boats_id DELETE_boats_mine"),
        (["/boats/{boatId}"], [], "DELETE_boats_id"),
        (["delete /boats/*"], ["DELETE_boats_mine"], "DELETE_boats_id"),
        (["* /boats"], [], "GET_boats POST_boats"),
        ([], ["Fleet"], "DELETE_boats_id DELETE_boats_mine GET_admin_docks"),
        ([], ["/admin/*", "POST /boats", "PATCH"], "GET_boats DELETE_boats_id DELETE_boats_mine"),
    ],
)
def test_patterns(only: list[str], without: list[str], kept: str) -> None:
    """A tag, an id, a name, a method, a path, both; a choice that is made twice is the same choice."""
    chosen = choose(load(DOCUMENT), only, without)

    assert " ".join(tool.name for tool in chosen.tools) == kept
    assert {operation.name for operation in chosen.left_out} == set(NAMES) - set(kept.split())
    assert choose(chosen, only, without) == chosen


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("fleet", "did you mean 'Fleet'"),
        ("DELTE", "did you mean 'DELETE'"),
        ("/admin/dock", "did you mean '/admin/docks'"),
        ("PUT /boats", "did you mean"),
        ("PATCH", "fits no operation of Harbour"),
        ("zzzzzz", "a pattern is a tag, an operation id, a tool, GET, /path/* or POST /path"),
    ],
)
def test_a_pattern_that_fits_nothing_is_an_error(run: Run, pattern: str, message: str) -> None:
    """With the nearest names, and exit code 2."""
    result = run(DOCUMENT, "", "--only", pattern)

    assert result.exit_code == 2
    assert f"--only {pattern!r} fits no operation of Harbour" in result.stderr
    assert message in result.stderr


def test_what_is_left_out_is_not_called(run: Run, service: Service) -> None:
    """Not by name, not by URL, and not by an operation whose path comes to the same; each says why."""
    by = "it was left out by --without DELETE /boats/mine"
    option = ("--without", "DELETE /boats/mine")

    result = run(DOCUMENT, "DELETE_boats_mine()", *option)
    assert f"DELETE_boats_mine() can't be called: {by}" in result.stderr
    assert "1 of 5 operations is left out: by --without DELETE /boats/mine" in result.stderr
    for path in ("/boats/mine", "/boats/m%69ne", "/boats/mine/"):
        program = f'import requests\nrequests.delete("{service.url}{path}")'
        result = run(DOCUMENT, program, *option)
        assert result.exit_code == 1
        assert f"can't be called: {by}" in result.stderr, path
    assert f"DELETE /boats/mine can't be called: {by}" in run(DOCUMENT, 'DELETE_boats_id(id="mine")', *option).stderr
    assert service.lines == []
    assert run(DOCUMENT, 'DELETE_boats_id(id="7")', *option).exit_code == 0
    assert service.lines == ["DELETE /boats/7"]


def whole(**paths: Any) -> dict[str, Any]:
    """A document of operations `{"GET /users": [parameters]}`."""
    items: dict[str, Any] = {}
    for line, parameters in paths.items():
        method, path = line.split()
        items.setdefault(path, {})[method.lower()] = {"parameters": parameters, "responses": OK}
    return {"paths": items}


ANY = {"name": "any", "in": "path", "required": True, "schema": {"type": "string"}}


@pytest.mark.parametrize(
    ("operations", "option", "program"),
    [
        ({"DELETE /{+any}": [ANY]}, "DELETE /admin/users/{id}", "DELETE_any('admin/users/7')"),
        ({"DELETE /{+any}": [ANY]}, "DELETE /admin/users/{id}", "DELETE_any('/admin/users/7')"),
        ({"DELETE /{+any}": [ANY]}, "DELETE /admin/users/{id}", "DELETE_any('ADMIN//Users/7;v=1')"),
        ({"GET /files/{any}": [{**ANY, "allowReserved": True}]}, "GET /files/{id}/secret", "GET_files_any('a/secret')"),
        (
            {"GET /files/{any}": [{**ANY, "schema": {"pattern": ".*"}}]},
            "GET /files/{id}/secret",
            "GET_files_any('a/secret')",
        ),
        ({"GET /users/{any}": [ANY]}, "GET /users/{id}/secret", "GET_users_any('7/secret')"),
        ({"GET /users/{any}": [ANY]}, "GET /users/me", "GET_users_any('ME')"),
        ({"GET /users/{any}": [ANY]}, "GET /users/me", "GET_users_any('me;x')"),
        ({"GET /users/{any}": [ANY]}, "GET /users/me", "GET_users_any('%6De')"),
        ({"GET /users/{any}": [ANY]}, "GET /users/me", "requests.get(base + '//users/me').raise_for_status()"),
        ({"GET /users/{any}": [ANY]}, "GET /users/me", "requests.get(base + '/users//me').raise_for_status()"),
        ({"GET /users/{any}": [ANY]}, "GET /users/me", "requests.get(base + '/users/ME').raise_for_status()"),
        ({"GET /users/{any}": [ANY]}, "GET /users/me", "requests.get(base + '/users/me/').raise_for_status()"),
        ({"GET /users/{any}": [ANY]}, "GET /users/me", "requests.head(base + '/users/%6d%65').raise_for_status()"),
        (
            {"GET /users/{any}": [ANY]},
            "GET /users/{id}/secret",
            "requests.get(base + '/users/7%2Fsecret').raise_for_status()",
        ),
    ],
)
def test_nothing_comes_to_the_same_as_what_is_left_out(
    run: Run, service: Service, operations: dict[str, Any], option: str, program: str
) -> None:
    """As a lenient service may read it: decoded, in any case of letters, with several slashes as one."""
    document = whole(**{**operations, option: [ID] * ("{id}" in option)})
    result = run(document, f"import requests\nbase = {service.url!r}\n{program}", "--without", option)

    assert service.lines == [], program
    assert result.exit_code == 1


def test_other_values_are_still_called(run: Run, service: Service) -> None:
    """What is left out takes nothing else along."""
    document = whole(**{"GET /users/{any}": [ANY], "GET /users/me": [], "GET /users/{id}/secret": [ID]})
    result = run(document, "GET_users_any('men')\nGET_users_any('7/secrets')", "--without", "GET /users/*e*")

    assert result.exit_code == 0, result.stderr
    assert service.lines == ["GET /users/men", "GET /users/7%2Fsecrets"]


@pytest.mark.parametrize(
    "location",
    ["/v1/users/%6De/", "//v1/users/me", "/V1/users/me", "/v1//users/me", "/up/users/me", "/x/../v1/users/me"],
)
def test_a_redirect_does_not_lead_to_it_under_any_server(run: Run, service: Service, location: str) -> None:
    """With a path of the base URL, and under the path of a server that an operation has for itself."""
    document = whole(**{"GET /boats": [], "GET /log": [], "GET /users/me": []})
    document["paths"]["/log"]["servers"] = [{"url": "/up"}]
    target = f"{service.url}{location}"

    result = run(
        {**document, "servers": [{"url": "/v1"}]},
        "GET_boats()",
        *("--without", "GET /users/me", "--allow", service.url),
        handle=lambda request: (302, {"Location": target}, b"") if "boats" in request.path else (200, {}, {}),
    )
    assert result.exit_code == 1, result.stderr
    assert service.lines == ["GET /v1/boats"]


def test_an_agent_does_not_know_of_it() -> None:
    """Neither prompt nor functions have it."""
    with Agent(load(DOCUMENT), ScriptedModel(), simulate=True, only=["/boats*"], without=["DELETE"]) as agent:
        text = "\n".join(message.content for message in agent.opening("Remove all my boats").messages())

        assert [tool.name for tool in agent.protocol.tools] == ["GET_boats", "POST_boats"]
        assert "DELETE" not in text and "docks" not in text
        with pytest.raises(UsageError, match="no tool GET_admin_docks: it was left out by only="):
            agent.solve("Which docks are there?", tools=["GET_admin_docks"])


def test_an_mcp_client_does_not_find_it() -> None:
    """No search has it, and its documentation is refused with the reason."""
    options = Options(ScriptedModel(), simulate=True, without=["DELETE"])
    with ToolService(load(DOCUMENT), options) as service:
        found = [tool.name for tool in service.search_tools("remove a boat", 10).tools]

        assert "DELETE_boats_id" not in found and "GET_boats" in found
        with pytest.raises(UsageError, match="left out by --without DELETE"):
            service.describe_tool("DELETE_boats_id")
        run = service.run_program('import requests\nDELETE_boats_id(id="7")')
        assert "left out by without=" in str(run)


def test_one_of_several_apis() -> None:
    """`shop=PATTERN` is about that API; a pattern without a name is about all."""
    both = combine({"north": load(DOCUMENT), "south": load(DOCUMENT)})
    chosen = choose(both, only=["north=GET"], without=["south=DELETE"])

    assert [tool.name for tool in chosen.tools if tool.namespace == "north"] == [
        "north__GET_boats",
        "north__GET_admin_docks",
    ]
    assert [tool.local_name for tool in chosen.tools if tool.namespace == "south"] == [
        "GET_boats",
        "POST_boats",
        "GET_admin_docks",
    ]
    assert chosen.why_left_out("south__DELETE_boats_id") == "it was left out by --without south=DELETE"
    assert {tool.method for tool in choose(both, only=["POST"]).tools} == {"POST"}


def test_commands_take_them_from_the_file_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """atc.toml has `only` and `without`; in a variable, patterns stand between commas."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ATC_CONFIG", raising=False)
    Path("spec.json").write_text(json.dumps(DOCUMENT))
    Path("atc.toml").write_text('api = "spec.json"\nwithout = ["DELETE"]\n')
    Path("program.py").write_text("DELETE_boats_mine()\n")

    result = CliRunner().invoke(main, ["check", "program.py"])
    assert "it was left out by --without DELETE" in result.stdout
    assert "2 of 5 operations are left out: by --without DELETE" in result.stderr
    shown = json.loads(CliRunner().invoke(main, ["explain", "Remove my boats", "--json"]).stdout)
    assert not any("DELETE" in name for name in shown["tools"])
    result = CliRunner().invoke(main, ["run", "program.py", "--simulate"], env={"ATC_RUN_ONLY": "POST /boats,GET"})
    assert "DELETE_boats_mine() can't be called: it was left out by" in result.stderr
    other = CliRunner().invoke(main, ["check", "program.py", "--api", str(_only_reads(tmp_path))])
    assert "left out" not in other.stderr  # the file's choice is about its own API


def _only_reads(folder: Path) -> Path:
    file = folder / "other.json"
    file.write_text(json.dumps({**DOCUMENT, "paths": {"/docks": {"get": {"responses": OK}}}}))
    return file


def test_a_choice_is_kept_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endpoint: Callable[..., None]
) -> None:
    """`--resume` goes on with the same operations, which it does not name itself."""
    monkeypatch.chdir(tmp_path)
    Path("spec.json").write_text(json.dumps(DOCUMENT))
    endpoint("```python\nDELETE_boats_mine()\n```")
    options = ("--model", "openai:scripted", "--mode", "none", "--simulate", "--profile", "large")

    first = ("solve", "Remove my boats", "--api", "spec.json", "--without", "DELETE", "--journal", "j.db", *options)
    assert "it was left out by --without DELETE" in CliRunner().invoke(main, first).stderr
    with Journal(Path("j.db")) as journal:
        noted = journal.noted("asked")
    assert isinstance(noted, dict)
    assert (noted["without"], noted["only"], noted["reads"]) == (["DELETE"], [], [])


def test_nothing_left_is_an_error() -> None:
    """And names what the only pattern stands for, where the document itself leaves it out."""
    broken = {"/boats": {"get": PATHS["/boats"]["get"], "post": {"parameters": [{"in": "x"}], "responses": OK}}}

    with pytest.raises(UsageError, match="leave no operation of Harbour"):
        choose(load(DOCUMENT), only=["GET"], without=["/*"])
    with pytest.raises(UsageError, match="left out of the document: a parameter has no name"):
        choose(load({**DOCUMENT, "paths": broken}), only=["POST /boats"])
