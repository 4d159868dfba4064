"""Files of ToolBench as they are published: tool records, queries, answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.toolbench.corpus.answer_files import published_answer, published_method
from benchmarks.toolbench.corpus.queries import (
    RecordName,
    query_gaps,
    query_protocol,
    read_queries,
)
from benchmarks.toolbench.evaluation.sources import convert
from protocols import Protocol, ProtocolError, UsageError, load
from protocols.calls.auth import credential
from protocols.calls.binding import bind
from protocols.documents.tool_records import (
    category_folder,
    function_name,
    identifiers,
    parameter_name,
    standard_name,
    template_schema,
)
from protocols.errors import ToolError
from sandbox import Sandbox
from tests.local_api import LocalAPI

PORTS: dict[str, Any] = {
    "tool_name": "Harbour Tides",
    "tool_description": "High and low water.",
    "title": "Harbour Tides",
    "standardized_name": "harbour_tides",
    "api_list": [
        {
            "name": "Get Tide",
            "url": "https://harbour-tides.example/v2/ports/{Port Code}/tide",
            "method": "GET",
            "description": "The tide at a port.",
            "required_parameters": [
                {"name": "Port Code", "type": "STRING", "description": "Its code", "default": "ESB"},
                {"name": "id", "type": "NUMBER", "description": "", "default": "7"},
            ],
            "optional_parameters": [
                {"name": "Metric?", "type": "BOOLEAN", "description": "", "default": "True"},
                {"name": "day", "type": "DATE (YYYY-MM-DD)", "description": "", "default": "yesterday"},
                {"name": "hours", "type": "ARRAY", "description": "", "default": [6, 12]},
                {"name": "depth", "type": "NUMBER", "description": "", "default": "deep"},
            ],
            "schema": {},
        }
    ],
}


def arguments(protocol: Protocol) -> dict[str, dict[str, object]]:
    return {parameter.argument: dict(parameter.schema) for parameter in protocol.tools[0].arguments}


def test_a_tool_file_is_a_document_whose_functions_have_published_names() -> None:
    """Types become JSON Schema, and a default counts where it is a value of the type."""
    protocol = load(PORTS)

    tool = protocol.tools[0]
    assert (tool.name, tool.path) == ("get_tide_for_harbour_tides", "/v2/ports/{Port Code}/tide")
    assert tool.servers[0].url == "https://harbour-tides.example"
    assert arguments(protocol) == {
        "port_code": {"type": "string", "examples": ["ESB"]},
        "is_id": {"type": "number", "examples": [7]},
        "metric": {"type": "boolean", "default": True},
        "day": {"type": "string", "format": "date"},
        "hours": {"type": "array", "items": {}, "default": [6, 12]},
        "depth": {"type": "number"},
    }


def test_a_live_tool_is_called_with_the_names_of_its_record_and_ones_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file holds no key; `--auth header:X-RapidAPI-Key:env:KEY` adds it, and the gateway's host is sent too."""
    monkeypatch.setenv("KEY", "k-1234567")
    with LocalAPI() as api:
        api.answer("GET", "/ports/A1/tide", {"tide": "high"})
        protocol = load(json.loads(json.dumps(PORTS).replace("https://harbour-tides.example/v2", api.url)))
        key = credential("header:X-RapidAPI-Key:env:KEY", protocol)
        with Sandbox(protocol, credentials=(key,)) as sandbox:
            run = sandbox.run('get_tide_for_harbour_tides(port_code="A1", is_id=3, metric=True)')

    assert run.error is None
    (received,) = api.requests
    assert received.path == "/v1/ports/A1/tide"
    assert received.query == (("id", "3"), ("Metric?", "true"))
    assert received.headers["x-rapidapi-host"] == api.url.split("/")[2]
    assert received.headers["x-rapidapi-key"] == "k-1234567"


@pytest.mark.parametrize(("default", "problem"), [("", None), ("3", "must be a number, not ''")])
def test_an_empty_text_goes_where_it_is_the_documented_default(default: str, problem: str | None) -> None:
    """A record's number with the default "" is sent as an empty text, as its own server takes it; any other is not."""
    kinds = {"first": "NUMBER", "second": "BOOLEAN"}
    parameters = [{"name": name, "type": kind, "description": "", "default": default} for name, kind in kinds.items()]
    record = {"name": "list", "description": "", "method": "GET", "optional_parameters": parameters}
    (tool,) = load({"tool_name": "Words", "category_name": "Data", "api_list": [record]}).tools

    if problem is None:
        assert bind(tool, (), {"first": "", "second": ""}).query == (("first", ""), ("second", ""))
    else:
        with pytest.raises(ToolError, match=problem):
            bind(tool, (), {"first": ""})


def test_names_of_apis_are_unique_identifiers_of_at_most_64_characters() -> None:
    """Equal names get a number, keywords and long names fit, and `^` and signs of other scripts do no harm."""
    pairs = [("Get Tide", "Tides"), ("get tide", "tides"), ("Over" + "view " * 20, "T"), ("Over" + "view " * 20, "T")]

    names = identifiers([*pairs, ("Get User^Info", "9 lives"), ("天气", "Ünder")])

    assert names[:2] == ["get_tide_for_tides", "get_tide_for_tides_2"]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and len(name) <= 64 and not name.startswith("_") for name in names)


def test_a_template_of_a_response_is_its_schema() -> None:
    """Leaves name types and counts of small lists hold; a text cut at its end gives what is there."""
    template = {
        "name": "str",
        "heights": ["list of float with length 3"],
        "gone": "empty list",
        "ports": [{"code": "int", "open": "bool", "_list_length": 2}],
        "days": [{"note": "NoneType", "_list_length": 365}],
    }
    schema = template_schema(template)

    assert schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "heights": {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3},
            "gone": {"type": "array", "items": {}},
            "ports": {
                "type": "array",
                "items": {"type": "object", "properties": {"code": {"type": "integer"}, "open": {"type": "boolean"}}},
                "minItems": 2,
                "maxItems": 2,
            },
            "days": {"type": "array", "items": {"type": "object", "properties": {"note": {}}}},
        },
    }
    assert template_schema(repr(template)) == template_schema(json.dumps(template)) == schema
    cut = template_schema(json.dumps(template)[:60])
    assert cut is not None
    assert list(cut["properties"]) == ["name", "heights"]
    assert template_schema("") is None
    assert template_schema(None) is None


def test_published_names_of_the_digest() -> None:
    """The vectors of section 1.3."""
    assert parameter_name("Get User^Info") == "get_user^info"
    assert parameter_name("/tracking/correo_argentino/result_task/:task_id") == (
        "tracking_correo_argentino_result_task_task_id"
    )
    assert standard_name("123 go") == "get_123_go"
    assert standard_name("Über-API") == "ber_api"
    assert parameter_name("ID") == "is_id"
    assert category_folder("News, Media") == "News_Media"
    assert category_folder("Artificial Intelligence/Machine Learning") == "Artificial_Intelligence_Machine_Learning"
    assert category_folder("A , / B") == "A___B"
    assert function_name("ID", "Tides") == "is_id_for_tides"


def test_records_without_an_address_are_called_nowhere() -> None:
    """Their path is made of published names, and an unusable record is left out with its place in the file."""
    bare: dict[str, object] = {
        "name": "Low/Water",
        "description": None,
        "required_parameters": [],
        "optional_parameters": None,
    }
    protocol = load({"tool_name": "Harbour Tides", "api_list": [bare, "nothing"]})

    (tool,) = protocol.tools
    assert tool.path == "/Customized/harbour_tides/low_water"
    assert tool.servers[0].url == "https://tools.invalid"
    assert any("/api_list/1" in warning for warning in protocol.warnings)
    with pytest.raises(ProtocolError, match="api_list"):
        load({"tool_name": "Harbour Tides"})


def write(file: Path, content: object) -> Path:
    file.write_text(json.dumps(content), "utf-8")
    return file


def api(name: str, tool: str = "Harbour Tides", **more: object) -> dict[str, object]:
    empty: dict[str, object] = {"required_parameters": [], "optional_parameters": []}
    return {"category_name": "Weather", "tool_name": tool, "api_name": name, "method": "GET", **empty, **more}


def test_a_query_is_a_protocol_of_its_own_with_gold_and_published_names(tmp_path: Path) -> None:
    """Programs see identifiers; category, tool, API and published name stay beside them."""
    place = {"name": "place", "type": "STRING", "description": "Where", "default": "Esbjerg"}
    listed = [
        api("Get Tide", required_parameters=[place], template_response={"tide": "str"}),
        api("Book Berth", method="POST"),
    ]
    entry = {
        "query": ["When is high water?", "again"],
        "api_list": listed,
        "relevant APIs": [["Harbour Tides", "Get Tide"]],
    }

    (query,) = read_queries(write(tmp_path / "queries.json", [entry]))

    protocol = query_protocol(query)
    tide, berth = protocol.tools
    assert (query.id, query.text, query.gold) == (0, "When is high water?", ("get_tide_for_harbour_tides",))
    assert (tide.method, tide.path, berth.method) == ("GET", "/Weather/harbour_tides/get_tide", "POST")
    assert tide.success is not None
    assert tide.success.schema == {"type": "object", "properties": {"tide": {"type": "string"}}}
    assert berth.success is None or berth.success.schema is None
    assert query.names[1] == RecordName(
        "book_berth_for_harbour_tides", "Weather", "Harbour Tides", "Book Berth", "book_berth_for_harbour_tides"
    )
    assert query_gaps(query) == []


def test_gaps_of_a_query_are_listed_and_nothing_is_left_out_for_them(tmp_path: Path) -> None:
    """Equal names, and a relevant API that is not listed."""
    entry = {
        "query": "When?",
        "query_id": "17",
        "api_list": [api("Get Tide"), api("get tide"), api("Low", tool="Other Port")],
        "relevant APIs": [["Harbour Tides", "GET TIDE"], ["Harbour Tides", "Gone"]],
    }
    (query,) = read_queries(write(tmp_path / "queries.json", [entry]))

    assert [tool.name for tool in query_protocol(query).tools] == [name.identifier for name in query.names]
    assert [name.identifier for name in query.names][:2] == [
        "get_tide_for_harbour_tides",
        "get_tide_for_harbour_tides_2",
    ]
    assert query.gold == ("get_tide_for_harbour_tides",)
    assert query_gaps(query) == [
        "2 APIs have the published name get_tide_for_harbour_tides",
        "it is about 'Gone' of 'Harbour Tides', which it does not list",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "must be a JSON list"),
        ([{"text": "When?"}], "query 0: it has no `query`"),
        ([{"query": "When?", "query_id": "x"}], "`query_id` 'x' is no number"),
        (
            [{"query": "When?", "api_list": [{"api_name": "Tide"}]}],
            r"query 0, api_list\[0\]: an API needs a `tool_name`",
        ),
        ([{"query": "When?", "relevant APIs": ["Tide"]}], r"relevant APIs\[0\]: it is 'Tide' in place of"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_the_place(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_queries(write(tmp_path / "queries.json", content))


SETTINGS = {"width": 2, "depth": None, "compat": False, "max_model_calls": 20}
CALL = {"name": "tide_for_harbour", "arguments": {"port": "ESB"}, "text": '{"port": "ESB"}', "observation": "{}"}


def query_file(folder: Path) -> Path:
    record: dict[str, object] = {"category_name": "Weather", "tool_name": "Harbour", "api_name": "Tide"}
    parameters = [{"name": "port", "type": "STRING", "description": "", "default": "ESB"}]
    record |= {
        "method": "GET",
        "api_description": "Tides",
        "required_parameters": parameters,
        "optional_parameters": [],
    }
    file = folder / "queries.json"
    query = {
        "query": "When is high water?",
        "query_id": 7,
        "api_list": [record],
        "relevant APIs": [["Harbour", "Tide"]],
    }
    file.write_text(json.dumps([query]), "utf-8")
    return file


def solution(tree: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    usage = {"model_calls": 3, "prompt_tokens": 100, "completion_tokens": 10}
    return {"tree": tree, "usage": usage, "calls": [], "answer": None, **more}


def message(id: int, parent: int, outcome: str, *steps: dict[str, Any], thought: str = "t") -> dict[str, Any]:
    return {"id": id, "parent": parent, "trial": 1, "thought": thought, "steps": list(steps), "outcome": outcome}


def test_a_search_is_written_as_its_published_tree(tmp_path: Path) -> None:
    """Three nodes a message, the branch that was given up included; what is written is read with the same counts."""
    query = read_queries(query_file(tmp_path))[0]
    finish = {"name": "finish", "arguments": {"answer": "At noon."}, "text": "", "observation": "", "code": 3}
    give_up = {"name": "give_up", "arguments": {"reason": "no"}, "text": "", "observation": "", "code": 4}
    call = {**CALL, "code": 0}
    tree = [message(1, 0, "open", call), message(2, 1, "give_up", give_up), message(3, 1, "answer", finish)]
    data = published_answer(solution(tree, answer="At noon."), query, "dfsdt", 1, SETTINGS)
    file = tmp_path / "7_DFS_woFilter_w2.json"
    file.write_text(json.dumps(data), "utf-8")
    read, generation = json.loads(file.read_text("utf-8")), data["answer_generation"]

    assert (read["tree"]["size"], read["tree"]["max_length"], len(generation["train_messages"])) == (10, 7, 2)
    assert (data["win"], generation["valid_data"], generation["finish_type"]) == (True, True, "give_answer")
    assert json.loads(generation["final_answer"])["final_answer"] == "At noon."
    converted = convert("7", data, "DFS_woFilter_w2")
    assert converted.total_steps == 4


def test_a_program_is_written_as_the_chain_of_its_calls(tmp_path: Path) -> None:
    """The calls of the last attempt, then Finish with the answer; without an answer the chain has lost."""
    query = read_queries(query_file(tmp_path))[0]
    calls = [{"tool": "tide_for_harbour", "arguments": {"port": "ESB"}, "response": {"at": "noon"}, "error": None}]
    data = published_answer(solution([], calls=calls, answer="noon"), query, "attribute", 1, SETTINGS)
    lost = published_answer(solution([], calls=calls), query, "attribute", 1, SETTINGS)

    assert [entry["description"] for entry in data["trys"][0]["chain"]][::2] == ["tide_for_harbour", "Finish"]
    assert [published_method(mode, 3, 2) for mode in ("react", "dfsdt")] == [
        "CoT@3",
        "DFS_woFilter_w2",
    ]
    assert (data["win"], lost["win"], lost["answer_generation"]["valid_data"]) == (True, False, False)
    assert data["answer_generation"]["function"][0]["name"] == "tide_for_harbour"
