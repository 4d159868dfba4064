"""The first question is one that the document lets one expect an answer to, in the document's own words."""

from __future__ import annotations

from typing import Any

from atc.apps.cli.first_question import first_question
from protocols import load

ITEM = {"type": "object", "properties": {"id": {"type": "integer"}, "label": {"type": "string"}}}
LIST = {"type": "array", "items": ITEM}
KEY = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]
NEEDED = [{"name": "text", "in": "query", "required": True, "schema": {"type": "string"}}]


def question(**operations: Any) -> str:
    """The question for a document with these operations, `get` of a path each."""
    paths = {path: {operation.pop("method", "get"): operation} for path, operation in operations.items()}
    info = {"title": "Things", "version": "1"}
    return first_question(load({"openapi": "3.1.0", "info": info, "paths": paths}))


def gives(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {"responses": {"200": {"description": "ok", "content": content}}, **more}


def test_one_value_of_the_first_item_of_a_list() -> None:
    """It needs no argument and no further page; a list inside the reply is as good."""
    wrapped = {"type": "object", "properties": {"items": LIST, "page": {"type": "integer"}}}

    assert question(**{"/spare-parts": gives(LIST)}) == "What is the label of the first spare part?"
    assert question(**{"/widgets": gives(wrapped)}) == "What is the label of the first widget?"


def test_operations_that_need_something_or_change_something_are_none() -> None:
    """A search needs a text and a POST writes; what can be read without either comes first."""
    status = {"type": "object", "properties": {"version": {"type": "string"}}}

    assert question(**{"/widgets/search": gives(LIST, parameters=NEEDED), "/jobs": gives(LIST, method="post")}) == ""
    assert question(**{"/widgets": gives(LIST, parameters=NEEDED), "/state": gives(status)}) == (
        "What is the version of the state?"
    )


def test_an_argument_that_another_operation_gives() -> None:
    """Two calls: the identifier of an item is in the list, which has no other value."""
    bare = {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}, "tags": LIST}}}
    paths = {"/widgets": gives(bare), "/widgets/{id}": gives(ITEM, parameters=KEY)}

    assert question(**paths) == "What is the label of the first widget?"
