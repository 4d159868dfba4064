"""A service in the manner of Django REST framework: envelopes of pages, filters with lookups, errors by field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from probing.prober.observations import Observations
from probing.prober.replies import page_title
from tests.local_api import Answer, Received
from tests.probing.small_services import CommandRun, Small, probe_by_command

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
PAGE = f"<!DOCTYPE html><html><head><title>Status board</title></head><body>{'<p>fine</p>' * 80}</body></html>"
PROJECTS = [{"id": number, "slug": slug, "owner": {"id": 5}} for number, slug in ((4, "reef"), (7, "dune"), (9, "fen"))]


def _get(*parameters: dict[str, Any], path: str = "", **more: Any) -> dict[str, Any]:
    in_path = [{"name": path, "in": "path", "required": True, "schema": TEXT}] if path else []
    return {"get": {"parameters": [*in_path, *parameters], "responses": {}, **more}}


def _query(name: str, schema: dict[str, Any] = TEXT, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, "required": required}


class Framework(Small):
    """Projects with their sessions, tasks listed by project, teams without members, no tags, and a page."""

    paths = {  # noqa: RUF012
        "/projects/": _get(_query("slug__iexact"), _query("page", NUMBER)),
        "/projects/{slug}/": _get(path="slug"),
        "/projects/{slug}/sessions/": _get(_query("created__gte"), path="slug"),
        "/tasks/": _get(_query("project", NUMBER), _query("view", NUMBER)),
        "/by-slug/": _get(_query("slug__iexact", required=True)),
        "/projects/search/": _get(_query("id_in", {"type": "array", "items": NUMBER}, required=True)),
        "/teams/": _get(),
        "/teams/{team}/members/": _get(path="team"),
        "/tags/": _get(),
        "/tags/{tag}/usage/": _get(path="tag"),
        "/board/": _get(responses={"200": {"description": "a page", "content": {"text/html": {"schema": TEXT}}}}),
    }

    def reply(self, received: Received, parts: list[str], query: dict[str, str]) -> Answer:
        slugs = [project["slug"] for project in PROJECTS]
        ids = [str(project["id"]) for project in PROJECTS]
        match parts:
            case ["projects"]:
                return self._page(PROJECTS)
            case ["projects", slug] if slug in slugs:
                return Answer(200, PROJECTS[slugs.index(slug)])
            case ["projects", slug, "sessions"] if slug in slugs:
                return self._page([{"id": 1, "room": "A"}] if slug == "fen" else [])
            case ["tasks"] if query.get("project") not in ids:
                return Answer(400, {"status_code": 400, "validation_errors": {"project": ["This field is required."]}})
            case ["by-slug"] if query.get("slug__iexact", "").lower() in slugs:
                return Answer(200, PROJECTS[0])
            case ["projects", "search"] if query.get("id_in") in ids:
                return Answer(200, {"chosen": 1})
            case ["tasks"]:
                return self._page([{"id": 31, "text": "Dig", "project": int(query["project"])}])
            case ["teams"]:
                return self._page([{"name": name} for name in ("north", "south", "west")])
            case ["teams", name, "members"]:
                return self._page([]) if name in ("north", "south", "west") else Answer(404, {"detail": "Not found."})
            case ["tags"]:
                return self._page([])
            case ["board"]:
                return Answer(200, PAGE, {"Content-Type": "text/html"})
        return Answer(404, {"detail": "Not found."})

    def _page(self, items: list[dict[str, Any]]) -> Answer:
        return Answer(200, {"count": len(items), "next": None, "previous": None, "results": items})


def probe(folder: Path) -> CommandRun:
    with Framework() as service:
        return probe_by_command(folder, service.document, service.url)


def test_all_that_can_be_read_is_read(tmp_path: Path) -> None:
    """Though members are empty each time; arguments that an error names get a value, and those with a lookup."""
    with Framework() as service:
        result, tools, _ = probe_by_command(tmp_path, service.document, service.url)
    incomplete = {name: (tool["outcome"], tool["reason"]) for name, tool in tools.items() if tool["reason"]}

    assert result.exit_code == 0, result.output
    empty = ("always_empty", "it answered, but its list was empty each time: what its items are is not known")
    assert incomplete == {
        "GET_tags": empty,
        "GET_teams_team_members": empty,
        "GET_tags_tag_usage": ("unreachable_argument", "no answer held a value for tag"),
    }
    assert not [request.path for request in service.requests if "usage" in request.path]
    assert "project=" in tools["GET_tasks"]["program"]
    assert tools["GET_projects_search"]["program"].startswith("print(GET_projects_search(id_in=[4]")


def test_a_page_for_a_browser_is_a_line(tmp_path: Path) -> None:
    """It is documented as one, and its markup is neither printed nor written down."""
    result, tools, document = probe(tmp_path)

    assert "web page: 1\n  GET_board\n" in result.output
    assert tools["GET_board"]["outcome"] == "web_page"
    written = (tmp_path / "learned.yaml").read_text() + (tmp_path / "report.json").read_text() + result.output
    assert "<p>" not in written
    assert set(document["paths"]["/board/"]["get"]["responses"]["200"]["content"]) == {"text/html"}


def test_an_error_of_ours_ends_the_probe_of_one_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool and the kind of error are told in a line, without what it says; the other tools are probed."""
    record = Observations.record

    def fail(self: Observations, call: Any) -> None:
        if call.tool == "GET_projects_slug":
            raise RuntimeError("reef")
        record(self, call)

    monkeypatch.setattr(Observations, "record", fail)
    result, tools, _ = probe(tmp_path)

    assert result.exit_code == 1
    assert tools["GET_projects_slug"]["outcome"] == "internal_error"
    assert "RuntimeError in test_rest_framework.py, line" in tools["GET_projects_slug"]["reason"]
    assert "GET_projects_slug: RuntimeError" in result.stderr
    assert tools["GET_projects_slug_sessions"]["outcome"] == tools["GET_tasks"]["outcome"] == "documented"
    assert (tmp_path / "learned.yaml").exists()


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<h1>Server Error (500)</h1>", "Server Error (500)"),
        ('<?xml version="1.0"?>\n<!DOCTYPE html><html><title>A <b>page</b></title>', "A page"),
        ('<?xml version="1.0"?><feed><title>No page</title></feed>', None),
        ({"title": "x"}, None),
    ],
)
def test_a_web_page_is_told_from_other_texts(body: object, title: str | None) -> None:
    assert page_title(body) == title
