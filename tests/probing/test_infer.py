"""A schema says what the instances have in common, and no more than they are evidence for."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from probing.schema.infer import infer, is_trivial

FILMS = [
    {"id": number, "name": f"Film {number}", "seen": f"2024-05-0{number}", "score": number * 2, "tag": None}
    for number in range(1, 5)
]


def at(schema: Any, *path: str) -> Any:
    for step in path:
        schema = schema["items"] if step == "0" else schema["properties"][step]
    return schema


def test_what_is_always_there_is_required_and_what_may_be_missing_is_not() -> None:
    body = {"films": [*FILMS, {"id": 9, "name": "Nine"}]}
    schema = infer([body, {"films": []}, {"films": None}])
    films: Any = at(schema, "films")
    variants: list[Any] = films.get("anyOf", [films])
    films = next(variant for variant in variants if "items" in variant)
    assert films["items"]["required"] == ["id", "name"]
    assert schema["required"] == ["films"]
    bodies: list[dict[str, Any]] = [body, {"films": []}, {"films": None}]
    assert all(Draft202012Validator(schema).is_valid(instance) for instance in bodies)


def test_kinds_formats_and_nulls() -> None:
    item = at(infer([FILMS]), "0")

    assert at(item, "id") == {"type": "integer"}
    assert at(item, "score") == {"type": "number"}, "a measure need not be whole"
    assert at(item, "seen") == {"type": "string", "format": "date"}
    assert at(item, "name") == {"type": "string"}
    assert at(item, "tag") == {"type": "null"}
    assert at(infer([{"a": 1.5}, {"a": 2}]), "a")["type"] == "number"
    assert at(infer([{"at": "2024-13-99"}] * 4), "at") == {"type": "string"}


def test_an_object_whose_keys_are_data_is_a_map() -> None:
    """Another key of the same kind is no surprise then; one whose keys are names stays what it is."""
    places = {code: {"link": f"https://x.example/{code}"} for code in ("DE", "FR", "GB", "US", "NO", "SE")}
    schema = infer([{"results": places}])

    assert at(schema, "results")["additionalProperties"]["properties"]["link"]["format"] == "uri"
    assert "properties" not in at(schema, "results")
    assert "properties" in infer([dict.fromkeys("abcdefgh", 1)])


@pytest.mark.parametrize("key", ["42", "2024-05-01", "0b1f6f0e-5d0c-4e43-9c3e-1d2a3b4c5d6e", "a3f09c1b"])
def test_a_key_that_is_no_name_makes_a_map_however_few_there_are(key: str) -> None:
    """Another reply will have another number, day or hash there."""
    schema = infer([{"films": {key: {"title": "Dune"}}}])
    assert at(schema, "films")["additionalProperties"]["properties"]["title"] == {"type": "string"}


@pytest.mark.parametrize("key", ["id", "de", "feedback", "deadbeef", "line2", "3h"])
def test_a_key_that_may_be_a_name_makes_no_map_alone(key: str) -> None:
    """Words that happen to be written with the letters of hashes, and names with a number in them, are names."""
    assert at(infer([{"film": {key: "x"}}]), "film", key)["type"] == "string"


def test_what_counts_is_whole_however_few_were_seen() -> None:
    """A page or a total; but the total of a price is a measure like any other."""
    schema = infer([{"page": 1, "total_results": 1, "total_price": 12, "likes": 3}])

    assert {key: at(schema, key)["type"] for key in ("page", "total_results", "total_price", "likes")} == {
        "page": "integer",
        "total_results": "integer",
        "total_price": "number",
        "likes": "number",
    }
    assert at(infer([{"gender": 1}, {"gender": 2}] * 6), "gender")["type"] == "integer"
    assert at(infer([{"gender": 1}, {"gender": 2}] * 5), "gender")["type"] == "number"


def test_a_moment_without_its_zone_is_no_date_time() -> None:
    """RFC 3339 wants seconds and an offset."""
    without_zone, with_zone = (
        infer([{"at": f"2024-05-0{day}T10:00{end}"} for day in range(1, 7)])["properties"] for end in ("", ":00Z")
    )

    assert "format" not in without_zone["at"]  # type: ignore[index]
    assert with_zone["at"]["format"] == "date-time"  # type: ignore[index]


def test_a_schema_that_says_nothing_is_completed() -> None:
    """What generators write where nobody said more."""
    assert all(map(is_trivial, (None, {}, {"type": "object"}, {"type": "array", "description": "All of them"})))
    assert not is_trivial({"type": "object", "additionalProperties": {"type": "integer"}})
    assert not is_trivial({"type": "string"})
