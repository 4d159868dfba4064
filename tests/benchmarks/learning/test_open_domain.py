"""Tools from an index in place of those that a question or a document gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from atc.retrieval.tool_index import build_index
from benchmarks.tasks.query_tasks import query_tasks
from benchmarks.toolbench.retrieval.documents import read_documents
from protocols.errors import UsageError
from protocols.samples import sample


def record(tool: str, api: str, description: str) -> dict[str, object]:
    city = {"name": "city", "type": "STRING", "description": "a town", "default": "Oslo"}
    names = {"category_name": "Daily", "tool_name": tool, "api_name": api, "api_description": description}
    return {**names, "required_parameters": [city], "optional_parameters": [], "method": "GET"}


RAIN = record("Sky", "Forecast", "Will it rain in a city?")
DISH = record("Pantry", "Recipe", "Dishes that are cooked in a city.")


def query_file(folder: Path, *queries: dict[str, object]) -> Path:
    file = folder / "queries.json"
    file.write_text(json.dumps(queries), "utf-8")
    return file


def test_a_query_gets_the_retrieved_apis_and_keeps_its_gold(tmp_path: Path) -> None:
    """A relevant API that is not found stays gold, so such a task cannot succeed; open-domain queries run, too."""
    file = query_file(
        tmp_path,
        {"query_id": 1, "query": "Will it rain?", "api_list": [RAIN, DISH], "relevant APIs": [["Pantry", "Recipe"]]},
        {"query_id": 2, "query": "Rain tomorrow?", "relevant APIs": [["Sky", "Forecast"]]},
    )
    tasks, protocols, _ = query_tasks(file, retrieve=lambda text: [RAIN])

    assert [[tool.name for tool in protocols[task.domain].tools] for task in tasks] == [["forecast_for_sky"]] * 2
    assert [list(task.gold.needed) for task in tasks] == [["recipe_for_pantry"], ["forecast_for_sky"]]


def test_a_benchmark_takes_its_apis_from_an_index(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """`--retriever` replaces the listed APIs, and the share of gold tools among the retrieved ones is reported."""
    endpoint("```python\nprint(forecast_for_sky(city='Oslo'))\n```")
    both: dict[str, object] = {"query_id": 1, "query": "rain in Oslo", "api_list": [RAIN, DISH]}
    file = query_file(tmp_path, {**both, "relevant APIs": [["Sky", "Forecast"], ["Pantry", "Recipe"]]})
    build_index(tmp_path / "index", read_documents(str(file)), "bm25")
    out, index = tmp_path / "out", tmp_path / "index"
    chosen = f"--tasks {file} --simulate --out {out} --model openai:scripted --retriever {index} --top-k 1 --json"
    summary = json.loads(CliRunner().invoke(main, ["bench", "toolbench", *chosen.split()]).stdout)

    assert (summary["gold_offered"], summary["path"], summary["success"]) == (50.0, 50.0, 0.0)
    assert json.loads((out / "config.json").read_text("utf-8"))["candidates"] == "retrieved 1"


def test_a_number_of_tools_needs_an_index() -> None:
    """It is no effect of the listed APIs."""
    done = CliRunner().invoke(main, ["bench", "toolbench", "--top-k", "3", "--out", "out"])

    assert done.exit_code == 2
    assert "--top-k is how many tools --retriever takes" in " ".join(done.stderr.split())


def test_an_index_chooses_the_tools_of_an_agent(tmp_path: Path) -> None:
    """With an index of its document the model is shown what that finds, and the tools that those need."""
    document = str(sample("cinema"))
    build_index(tmp_path / "index", read_documents(document), "bm25")
    with Agent.from_openapi(document, retriever=tmp_path / "index", max_tools=1, simulate=True) as agent:
        shown = agent.opening("reviews of a film").tools
    build_index(
        tmp_path / "foreign", read_documents(str(query_file(tmp_path, {"query": "x", "api_list": [RAIN]}))), "bm25"
    )

    assert any("reviews" in name for name in shown)
    assert len(shown) < len(agent.protocol.tools)
    with (
        Agent.from_openapi(document, retriever=tmp_path / "foreign", max_tools=1) as stranger,
        pytest.raises(UsageError, match="has no tool of"),
    ):
        stranger.opening("reviews of a film")
