"""`atc retrieve`: an index of documented APIs, searched and measured; tools from an index in place of those at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc import Agent
from atc.apps.cli import main
from atc.retrieval.tool_index import ToolDocument, ToolIndex, build_index
from benchmarks.tasks.query_tasks import query_tasks
from benchmarks.toolbench.retrieval.documents import document_text, read_documents, read_judged
from benchmarks.toolbench.retrieval.retriever_figures import ndcg, recall
from protocols.errors import UsageError
from protocols.samples import sample
from tests.atc_command import start

RECORDS: list[dict[str, object]] = [
    {"category_name": "Weather", "tool_name": "Sky", "api_name": "Tide", "api_description": "When water is high."},
    {"category_name": "Weather", "tool_name": "Sky", "api_name": "Forecast", "api_description": "Will it rain?"},
    {"category_name": "Food", "tool_name": "Pantry", "api_name": "Recipe", "api_description": "Dishes with an onion."},
]


def queries(folder: Path) -> Path:
    asked = [("Will it rain tomorrow?", "Sky", "Forecast"), ("A dish with onion, please", "Pantry", "Recipe")]
    data = [
        {"query": text, "query_id": number, "api_list": RECORDS, "relevant APIs": [[tool, api]]}
        for number, (text, tool, api) in enumerate(asked)
    ]
    file = folder / "queries.json"
    file.write_text(json.dumps(data), "utf-8")
    return file


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["retrieve", *map(str, arguments)])


@pytest.mark.parametrize("encoder", ["bm25", "wordllama", "hybrid"])
def test_an_index_finds_what_a_question_is_about(tmp_path: Path, encoder: str) -> None:
    """By words, by vectors and by both; the figures are means from 0 to 1."""
    file, index = queries(tmp_path), tmp_path / "index"
    assert run("build", file, "--out", index, "--encoder", encoder).exit_code == 0
    hits = json.loads(run("query", index, "Is there rain in Oslo?", "-k", "1", "--json").stdout)["hits"]
    figures = json.loads(run("eval", index, file, "--json").stdout)

    assert hits[0]["api"] == "Forecast"
    assert figures["documents"] == 3
    assert (figures["queries"]["ndcg@5"], figures["queries"]["recall@10"], figures["queries"]["n"]) == (1.0, 1.0, 2.0)


def test_an_index_grows_and_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Documents that it has are kept; another encoder or another folder's contents are refused."""
    first = ToolDocument("1", "Weather", "Sky", "Tide", "high water")
    build_index(tmp_path / "index", [first], "bm25")
    count = build_index(tmp_path / "index", [ToolDocument("2", "Food", "Pantry", "Recipe", "onion")], "bm25")

    assert count == len(ToolIndex(tmp_path / "index").documents) == 2
    with pytest.raises(UsageError, match="is an index of the encoder bm25"):
        build_index(tmp_path / "index", [first], "wordllama")
    with pytest.raises(UsageError, match="a folder of something else"):
        build_index(tmp_path, [first], "bm25")
    with pytest.raises(UsageError, match="there is no document"):
        build_index(tmp_path / "empty", [], "bm25")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["index"]


@pytest.mark.parametrize(
    ("file", "content"), [("vectors.npy", b"\x93NUMPY"), ("bm25/params.index.json", b"{"), ("documents.jsonl.gz", b"x")]
)
def test_a_damaged_index_is_named(tmp_path: Path, file: str, content: bytes) -> None:
    """The message names the file."""
    index = tmp_path / "index"
    build_index(index, [ToolDocument("sky", "Weather", "Sky", "Tide", "When water is high.")], "hybrid")
    (index / file).write_bytes(content)

    result = run("query", index, "tides")

    assert result.exit_code == 2
    assert f"{index / file.partition('/')[0]} is damaged" in result.stderr


def test_a_document_has_the_published_text() -> None:
    """Names, description, and parameters and template as JSON; missing fields are empty."""
    record = {**RECORDS[0], "required_parameters": [{"name": "port"}], "template_response": {"at": "str"}}

    assert document_text(record) == (
        'Weather, Sky, Tide, When water is high., required_params: [{"name": "port"}], optional_params: "", '
        'return_schema: {"at": "str"}'
    )
    assert document_text({"tool_name": None}).startswith(", , , , required_params: ")


def test_a_published_corpus_collapses_its_repeated_rows(tmp_path: Path) -> None:
    """`corpus.tsv` repeats a row for each occurrence; qrels belong to the questions beside them, which are quoted."""
    rows = [("1", RECORDS[0]), ("2", RECORDS[1]), ("1", RECORDS[0])]
    lines = ["docid\tdocument_content"]
    lines += [f'{id}\t"{json.dumps(record).replace(chr(34), chr(34) * 2)}"' for id, record in rows]
    (tmp_path / "corpus.tsv").write_text("\n".join(lines), "utf-8")
    (tmp_path / "qrels.test.tsv").write_text("7\t0\t2\t1\n7\t0\t1\t1\n7\t0\t3\t0\n", "utf-8")
    (tmp_path / "test.query.txt").write_text('7\tWill it rain?\n7\t"Will it\n""really"" rain?"\n', "utf-8")

    assert [document.id for document in read_documents(str(tmp_path / "corpus.tsv"))] == ["1", "2"]
    (judged,) = read_judged(tmp_path / "test.query.txt")
    (tmp_path / "test.query.txt").write_text('7\tWill it rain?\n8\t"Will it\n9\tsnow?\n', "utf-8")
    with pytest.raises(UsageError, match="are no judged questions: unexpected end of data"):
        read_judged(tmp_path / "test.query.txt")
    assert (judged.text, sorted(judged.relevant)) == ('Will it\n"really" rain?', ["1", "2"])


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ("\t[1]", "no JSON object"),
        ("\tnull", "no JSON object"),
        ("\t{", r"no JSON \(Expecting"),
        ("\t" + "[" * 100_000, r"no JSON \(maximum recursion"),
        ("", "it has one column"),
    ],
)
def test_a_row_without_a_record_is_named(tmp_path: Path, column: str, problem: str) -> None:
    """The message has the file, the row, and what a row is."""
    file = tmp_path / "corpus.tsv"
    file.write_text(f"docid\tdocument_content\n1\t{{}}\n2{column}\n", "utf-8")

    with pytest.raises(UsageError, match=rf"corpus\.tsv, row 3: .*{problem}.*; a row of a corpus is a docid, a tab"):
        read_documents(str(file))


def test_a_changed_document_takes_the_place_of_its_earlier_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has no more is gone, and the other sources stay; the same document elsewhere is the same one."""
    index, ports = tmp_path / "index", tmp_path / "ports.json"

    def paths(*names: str) -> None:
        described = {f"/{name}": {"get": {"responses": {"200": {"description": name}}}} for name in names}
        ports.write_text(
            json.dumps({"openapi": "3.0.0", "info": {"title": "P", "version": "1"}, "paths": described}), "utf-8"
        )

    assert run("build", sample("cinema"), "--out", index).exit_code == 0
    films = len(ToolIndex(index).documents)
    for names in (("ports", "quays"), ("ports", "ships", "tides")):
        paths(*names)
        assert run("build", ports, "--out", index).exit_code == 0
        apis = [document.api for document in ToolIndex(index).documents]
        assert (len(apis), apis[films:]) == (films + len(names), [f"GET_{name}" for name in names])

    for folder, name in (("a", "alpha"), ("b", "beta"), ("a", "gamma_2")):
        file = tmp_path / folder / "tools.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'def {name}() -> int:\n    """Count."""\n    return 1\n', "utf-8")
        monkeypatch.chdir(file.parent)
        if name == "gamma_2":  # this process has loaded the file
            assert start("retrieve", "build", "functions:tools.py", "--out", index).wait() == 0
        else:
            assert run("build", "functions:tools.py", "--out", index).exit_code == 0
    assert [document.api for document in ToolIndex(index).documents][-2:] == ["beta", "gamma_2"]

    digest = ToolIndex(index).digest
    ports.rename(tmp_path / "harbour.json")
    assert run("build", tmp_path / "harbour.json", "--out", index).exit_code == 0
    assert ToolIndex(index).digest == digest


def test_rankings_made_by_hand() -> None:
    """Binary NDCG: a relevant document on rank r counts 1 / log2(r + 1), beside the best possible order."""
    assert ndcg(["a", "b", "c"], {"a"}, 1) == 1.0
    assert ndcg(["b", "a", "c"], {"a"}, 3) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg(["a", "x", "y"], {"a", "b", "c"}, 3) == pytest.approx(1 / 2.1309, abs=1e-4)
    assert ndcg(["a"], {"a", "b"}, 3) == pytest.approx(1 / 1.6309, abs=1e-4)
    assert ndcg([], {"a"}, 3) == 0.0
    assert recall(["a", "x", "b"], {"a", "b", "c"}, 3) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("query", "nowhere", "x"), "is no index"),
        (("build", "nowhere.json", "--out", "x"), "nowhere.json"),
        (("build", "{sample}", "--out", "x", "--encoder", "nothing"), "unknown encoder 'nothing'"),
        (("build", "{sample}", "--out", "file/x", "--encoder", "bm25"), "file/x cannot be written"),
    ],
)
def test_bad_input_is_told(
    tmp_path: Path, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 2, with the place."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    result = run(*(str(sample("cinema")) if argument == "{sample}" else argument for argument in arguments))

    assert result.exit_code == 2
    assert message in result.stderr


def test_questions_that_fit_no_index_are_told(tmp_path: Path) -> None:
    """Figures of 0 would look like measured ones; and two files of one name would be one row."""
    query = {"query": "Will it rain?", "query_id": 1, "api_list": RECORDS, "relevant APIs": [_name(RECORDS[0])]}
    files = [tmp_path / folder / "q.json" for folder in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text(json.dumps([query]), "utf-8")
    assert run("build", str(sample("cinema")), "--out", str(tmp_path / "index"), "--encoder", "bm25").exit_code == 0

    foreign = run("eval", str(tmp_path / "index"), str(files[0]))
    assert (foreign.exit_code, "none of its relevant APIs is in" in " ".join(foreign.stderr.split())) == (2, True)
    same = run("eval", str(tmp_path / "index"), *map(str, files))
    assert (same.exit_code, "needs a name of its own" in " ".join(same.stderr.split())) == (2, True)


def _name(record: dict[str, object]) -> list[object]:
    return [record["tool_name"], record["api_name"]]


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
