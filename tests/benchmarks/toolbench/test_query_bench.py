"""`atc bench toolbench`: queries with their own APIs, simulated, solved by a scripted model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from benchmarks.tasks.datasets import open_dataset
from benchmarks.toolbench.server.cache import ResponseCache
from benchmarks.toolbench.server.catalogue import Catalogue
from benchmarks.toolbench.server.reply_sources import SchemaSource
from benchmarks.toolbench.server.virtual_server import Answer, VirtualServer
from protocols.errors import UsageError

STEPS = (
    'Thought: the tide\nAction: get_tide_for_harbour_tides(port_code="ESB", is_id=7)',
    'Thought: done\nAction: finish(answer="High water is at noon.")',
)
TIDE_PROGRAM = """```python
tide = get_tide_for_harbour_tides(port_code="ESB", is_id=7)
print("High water is at", tide["tide"]["at"])
```"""
PROGRAM = '```python\nprint(get_tide_for_harbour_tides(port_code="ESB", is_id=7))\n```'


def query(number: int, *relevant: str) -> dict[str, object]:
    """A query about some of two APIs, one of which says nothing of its responses."""
    parameters = [
        {"name": "Port Code", "type": "STRING", "description": "Its code", "default": "ESB"},
        {"name": "id", "type": "NUMBER", "description": "", "default": "7"},
    ]
    shared = {"category_name": "Weather", "tool_name": "Harbour Tides", "method": "GET", "optional_parameters": []}
    template = {"tide": {"height": "float", "at": "str"}, "ports": [{"name": "str", "_list_length": 2}]}
    return {
        "query": f"When is high water at pier {number}?",
        "query_id": number,
        "api_list": [
            {**shared, "api_name": "Get Tide", "required_parameters": parameters, "template_response": template},
            {**shared, "api_name": "Get Depth", "required_parameters": []},
        ],
        "relevant APIs": [["Harbour Tides", name] for name in relevant],
    }


def write(folder: Path, *queries: object) -> Path:
    file = folder / "queries.json"
    file.write_text(json.dumps(queries), "utf-8")
    return file


def bench(tasks: Path, out: Path, *options: str) -> Result:
    arguments = ["bench", "toolbench", "--tasks", str(tasks), "--out", str(out), "--simulate"]
    return CliRunner().invoke(main, [*arguments, "--model", "openai:scripted", *options])


def record(out: Path, name: str) -> dict[str, object]:
    return dict(json.loads((out / "tasks" / f"{name}.json").read_text()))


def test_queries_are_solved_in_simulated_apis_and_scored_by_their_relevant_apis(
    tmp_path: Path, endpoint: Callable[..., None]
) -> None:
    """Tasks come in the order of their ids; any identifier exists; no reference says which answers are right."""
    endpoint(*STEPS, *STEPS)
    tasks, out = write(tmp_path, query(12, "Get Tide", "Get Depth"), query(3, "Get Tide")), tmp_path / "out"

    result = bench(tasks, out, "--mode", "react", "--format", "text", "--json")

    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert (figures["tasks"], figures["success"], figures["path"], figures["correct"]) == (2, 50.0, 75.0, None)
    lines = [line.partition(" task ")[2] for line in result.stderr.splitlines() if " task " in line]
    assert [line.partition(":")[0] for line in lines] == ["q3", "q12"]
    solution = record(out, "q3")["solution"]
    assert isinstance(solution, dict)
    (call,) = solution["calls"]
    assert (call["status"], call["url"].partition("?")[2]) == (200, "Port%20Code=ESB&id=7")
    assert isinstance(call["response"]["tide"]["height"], float)
    assert len(call["response"]["ports"]) == 2


def test_a_program_reads_what_an_undocumented_api_says_and_a_finished_run_is_not_repeated(
    tmp_path: Path, endpoint: Callable[..., None]
) -> None:
    endpoint("```python\nprint(get_depth_for_harbour_tides())\n```")
    tasks, out = write(tmp_path, query(1, "Get Depth")), tmp_path / "out"

    first = bench(tasks, out)
    endpoint("nothing of use")
    second = bench(tasks, out, "--json")

    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    assert json.loads(second.stdout)["success"] == 100.0
    solution = record(out, "q1")["solution"]
    assert isinstance(solution, dict)
    assert solution["calls"][0]["response"]["status"] == "ok"
    assert "not documented" in solution["calls"][0]["response"]["message"]


def test_a_query_without_usable_gold_runs_and_gaps_are_warnings(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    endpoint(PROGRAM)
    open_domain = {"query": "What now?", "query_id": 9}

    result = bench(write(tmp_path, query(4, "Gone"), open_domain), tmp_path / "out", "--json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["tasks"] == 1
    assert "warning: q4: it is about 'Gone' of 'Harbour Tides', which it does not list" in result.stderr
    assert "warning: q4: it names no gold call" in result.stderr
    assert "warning: q9: it lists no API" in result.stderr


def test_what_holds_a_query_and_what_does_not_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown subset, another kind of file, two equal ids, and options of other benchmarks."""
    monkeypatch.setenv("ATC_DATA", str(tmp_path))
    monkeypatch.setenv("ATC_HOME", str(tmp_path / "home"))
    (tmp_path / "stabletoolbench").mkdir()
    file = write(tmp_path / "stabletoolbench", query(1, "Get Tide")).rename(
        tmp_path / "stabletoolbench" / "G1_tool.json"
    )

    assert [task.id for task in open_dataset("toolbench", None, [], "G1_tool").tasks] == ["q1"]
    with pytest.raises(UsageError, match=r"there is no subset 'G9'.*there are G1_tool"):
        open_dataset("toolbench", None, [], "G9")
    with pytest.raises(UsageError, match="there is no subset 'G1_instruction'"):
        open_dataset("toolbench", None, [])
    with pytest.raises(UsageError, match="give one of them"):
        open_dataset("toolbench", file, [], "G1_tool")
    with pytest.raises(UsageError, match="list their own APIs"):
        open_dataset("toolbench", file, ["a.json"])
    with pytest.raises(UsageError, match="is of ToolBench's queries"):
        open_dataset("tiny", None, [], "G1_tool")
    with pytest.raises(UsageError, match="two queries have the id 1"):
        open_dataset("toolbench", write(tmp_path, query(1), query(1)), [])
    with pytest.raises(UsageError, match="no query lists an API"):
        open_dataset("toolbench", write(tmp_path, {"query": "What now?"}), [])


def test_queries_are_asked_through_a_virtual_server(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """`--server URL`: the same task over the published protocol; a server that is gone is an error, not a result."""
    tasks = write(tmp_path, query(1, "Get Tide"))
    endpoint(*STEPS)
    catalogue = Catalogue([tasks])
    with VirtualServer(catalogue, ResponseCache(tmp_path / "cache"), source=SchemaSource(catalogue)) as server:
        url = server.start()
        arguments = ["bench", "toolbench", "--tasks", str(tasks), "--server", f"{url}/virtual", "--mode", "react"]
        arguments += ["--model", "openai:scripted", "--format", "text", "--out", str(tmp_path / "out")]
        result = CliRunner().invoke(main, arguments)
    endpoint(STEPS[0])
    again = CliRunner().invoke(main, [*arguments[:-1], str(tmp_path / "gone")])

    assert result.exit_code == 0, result.output
    assert record(tmp_path / "out", "q1")["metrics"]["success"] == 1.0  # type: ignore[index]
    assert (tmp_path / "cache/Weather/harbour_tides_for_Weather/get_tide.json").is_file()
    assert again.exit_code == 6, again.output
    assert not list((tmp_path / "gone" / "tasks").glob("*.json"))


def test_a_published_search_calls_by_published_names(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """With `--compat` the model reads the published name, here one that was cut at a digit; its end is enough."""
    published = f"9{'b' * 45}_for_harbour_tides"
    endpoint(
        f"Action: {published}()",
        "Action: bb_for_harbour_tides()",
        'Action: Finish(return_type="give_answer", final_answer="At noon.")',
    )
    entry = query(1)
    listed = entry["api_list"]
    assert isinstance(listed, list)
    listed[1]["api_name"] = f"Level 9{'b' * 45}"
    out = tmp_path / "out"

    result = bench(write(tmp_path, entry), out, "--mode", "react", "--format", "text", "--compat", "--json")

    assert result.exit_code == 0, result.output
    solution = record(out, "q1")["solution"]
    assert isinstance(solution, dict)
    assert [call["tool"] for call in solution["calls"]] == [f"n{'b' * 45}_for_harbour_tides"] * 2
    assert [node["steps"][0]["code"] for node in solution["tree"]] == [0, 0, 3]
    assert [file.name for file in (out / "answers").iterdir()] == ["1_CoT@1.json"]


class DyingServer(VirtualServer):
    """Answers its first call, and is gone before the second."""

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        if self.counts:
            self.stop()
        return super().handle(method, target, headers, body)


def test_a_server_may_die_in_the_middle(tmp_path: Path, endpoint: Callable[..., None]) -> None:
    """The finished task stays, the message names the server, and the same command goes on with the other task."""
    tasks, out = write(tmp_path, query(1, "Get Tide"), query(2, "Get Tide")), tmp_path / "out"
    endpoint(TIDE_PROGRAM)
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
