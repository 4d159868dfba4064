"""Replies that are no data, and long ones that are shortened by the keys of a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.learning.generation.checks import why_dropped
from benchmarks.toolbench.server.compression import keep_keys, response_schemas, shortened
from protocols.text.prose import estimate

FORECAST: dict[str, Any] = {
    "city": "Oslo",
    "hours": [{"at": f"{hour}:00", "icon": "https://x.invalid/i.png"} for hour in range(200)],
}


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (FORECAST, ""),
        ("[{'name': 'Blindern'}]", ""),
        ({"message": "Endpoint '/gone' does not exist"}, "error message"),
        ("<!DOCTYPE html><html>", "HTML"),
        ([], "empty"),
    ],
)
def test_a_reply_without_data_says_why(response: object, reason: str) -> None:
    """Literals of Python count as data, too."""
    assert why_dropped({"error": "", "response": response}) == reason


def test_a_long_reply_is_shortened_and_says_its_length() -> None:
    """Keys of the schema stay; a list that is still too long ends with how many items are left out."""
    schema = {"city": "str", "hours": [{"at": "str"}]}
    kept = shortened(FORECAST, schema)
    cut = shortened(FORECAST, schema, 100)

    assert isinstance(kept, dict)
    assert keep_keys(FORECAST, schema)["hours"][0] == {"at": "0:00"}  # type: ignore[index]
    assert shortened({"city": "Oslo"}, schema) == {"city": "Oslo"}
    assert isinstance(cut, dict)
    assert estimate(json.dumps(cut)) <= 110
    assert str(cut["hours"][-1]).endswith("more items")


def test_a_response_schema_may_be_missing(tmp_path: Path) -> None:
    """Released files are empty, or list nothing."""
    (tmp_path / "empty.json").write_text("", "utf-8")
    (tmp_path / "one.json").write_text('{"api_list": [{"name": "A", "schema": {"id": "str"}}, {"name": "B"}]}', "utf-8")

    assert response_schemas(tmp_path / "empty.json") == response_schemas(tmp_path / "none.json") == {}
    assert response_schemas(tmp_path / "one.json") == {"a": {"id": "str"}}
