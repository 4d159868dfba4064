"""Queries that are solved against a virtual API server: from its cache alone, and across the death of a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from benchmarks.toolbench.corpus.queries import read_queries, served_protocol
from benchmarks.toolbench.server.cache import ResponseCache
from benchmarks.toolbench.server.catalogue import Catalogue
from benchmarks.toolbench.server.schema_source import SchemaSource
from benchmarks.toolbench.server.virtual_server import Answer, VirtualServer
from tests.scripted import ScriptedModel

PROGRAM = """```python
tide = get_tide_for_harbour_tides(port_code="ESB", is_id=7)
print("High water is at", tide["tide"]["at"])
```"""


def queries(folder: Path, *numbers: int) -> Path:
    """A query file about one documented API."""
    parameters = [
        {"name": "Port Code", "type": "STRING", "description": "Its code", "default": "ESB"},
        {"name": "id", "type": "NUMBER", "description": "", "default": "7"},
    ]
    api = {
        "category_name": "Weather",
        "tool_name": "Harbour Tides",
        "api_name": "Get Tide",
        "method": "GET",
        "required_parameters": parameters,
        "optional_parameters": [],
        "template_response": {"tide": {"height": "float", "at": "str"}},
    }
    texts = [
        {
            "query": f"When is high water at pier {number}?",
            "query_id": number,
            "api_list": [api],
            "relevant APIs": [["Harbour Tides", "Get Tide"]],
        }
        for number in numbers
    ]
    file = folder / "queries.json"
    file.write_text(json.dumps(texts), "utf-8")
    return file


def test_an_agent_solves_a_query_from_a_published_cache(tmp_path: Path) -> None:
    """The reply is the text of a Python value, as the published server keeps it; the program reads it as data."""
    file = tmp_path / "cache" / "Weather" / "harbour_tides_for_Weather" / "get_tide.json"
    file.parent.mkdir(parents=True)
    reply = {"error": "", "response": "{'tide': {'height': 1.5, 'at': '12:40'}}"}
    file.write_text(json.dumps({"{'is_id': '7', 'port_code': 'ESB'}": reply}))
    (query,) = read_queries(queries(tmp_path, 1))
    with VirtualServer(None, ResponseCache(tmp_path / "cache")) as server:
        url = server.start()
        with Agent(served_protocol(query, url), model=ScriptedModel(PROGRAM), base_url=url) as agent:
            solution = agent.solve(query.text)

    assert solution.answer == "High water is at 12:40"
    (call,) = solution.attempts[-1].calls
    assert (call.status, call.method, call.simulated) == (200, "GET", False)
    assert server.counts == {"cache": 1}


class DyingServer(VirtualServer):
    """Answers its first call, and is gone before the second."""

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        if self.counts:
            self.stop()
        return super().handle(method, target, headers, body)


def test_a_server_may_die_in_the_middle(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """The finished task stays, the message names the server, and the same command goes on with the other task."""
    tasks, out = queries(tmp_path, 1, 2), tmp_path / "out"
    endpoint(PROGRAM)
    catalogue = Catalogue([tasks])
    dying = DyingServer(catalogue, ResponseCache(None), source=SchemaSource(catalogue))
    url = dying.start()
    arguments = ["bench", "toolbench", "--tasks", str(tasks), "--server", url, "--model", "openai:scripted"]
    arguments += ["--out", str(out), "--mode", "attribute", "--max-reflections", "0"]
    broken = CliRunner().invoke(main, arguments)

    assert broken.exit_code == 6, broken.output
    assert url in broken.stderr
    assert [file.name for file in (out / "tasks").glob("*.json")] == ["q1.json"]
    with VirtualServer(catalogue, ResponseCache(None), source=SchemaSource(catalogue)) as server:
        server.start(urlsplit(url).port or 0)
        again = CliRunner().invoke(main, arguments)

    assert again.exit_code == 0, again.output
    assert server.counts == {"simulator": 1}
    assert sorted(file.name for file in (out / "tasks").glob("*.json")) == ["q1.json", "q2.json"]
