"""Tool files say little and say it loosely; every endpoint still becomes a tool that can be called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocols import load
from protocols.calls.binding import bind
from protocols.calls.call_errors import signature
from tests.protocols.documents.samples import answer_schema, properties


@pytest.mark.parametrize(("name", "count"), [("food", 22), ("weather", 11), ("tmdb", 54), ("spotify", 40)])
def test_every_endpoint_of_the_shared_files_is_a_tool_of_its_own_name(data: Path, name: str, count: int) -> None:
    file = data / "toolflow" / f"{name}.tools.json"

    protocol = load(file)

    endpoints = json.loads(file.read_text())["endpoints"]
    assert [tool.name for tool in protocol.tools] == [endpoint["name"] for endpoint in endpoints]
    assert len(protocol.tools) == count
    for tool, endpoint in zip(protocol.tools, endpoints, strict=True):
        assert endpoint["url"] == tool.servers[0].url + tool.path
        for parameter in tool.parameters:
            assert (parameter.location == "path") == (f"{{{parameter.name}}}" in tool.path)


def test_the_shared_files_give_examples_schemas_and_the_header_that_carries_the_key(data: Path) -> None:
    food = load(data / "toolflow" / "food.tools.json")

    burger = food.tool("GET_menu_item_information")
    assert burger.success is not None
    assert signature(burger) == "GET_menu_item_information(item_id)"
    assert isinstance(burger.success.examples[0], dict)
    assert set(properties(answer_schema(burger))) == set(burger.success.examples[0])
    assert [scheme.parameter for scheme in food.security_schemes] == ["X-RapidAPI-Key"]
    call = bind(burger, (306187,), {})
    assert call.headers == {"X-RapidAPI-Host": "spoonacular-recipe-food-nutrition-v1.p.rapidapi.com"}
    assert "Key" not in json.dumps([call.headers, call.query])


def test_an_endpoint_that_cannot_be_used_is_left_out_by_its_place_in_the_file(tmp_path: Path) -> None:
    good = {"name": "GET_a", "url": "https://a.example/a"}
    file = tmp_path / "some.tools.json"
    file.write_text(json.dumps({"endpoints": [{"name": "GET_b"}, good, {**good, "method": "FETCH"}, good]}))

    protocol = load(file)

    assert [tool.name for tool in protocol.tools] == ["GET_a", "GET_a_2"]
    assert [warning.partition(":")[0] for warning in protocol.warnings] == [
        f"left out {file}#/endpoints/0",
        f"left out {file}#/endpoints/2",
    ]


@pytest.mark.parametrize(
    "example", [{"stops": [{"name": "Quay"}], "content": "x"}, [{"name": "Quay"}], {"200": 1, "a": 2}]
)
def test_responses_may_be_one_example_value(example: object) -> None:
    endpoint = {"name": "GET_a", "url": "https://a.example/a", "responses": example}

    success = load({"endpoints": [endpoint]}).tools[0].success

    assert success is not None
    assert success.schema is not None
    assert success.schema["type"] == ("array" if isinstance(example, list) else "object")
    assert success.examples == (example,)
