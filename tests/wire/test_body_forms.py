"""What a program passes is sent: bodies of every documented form."""

from __future__ import annotations

import json

from tests.wire.conftest import Run
from tests.wire.service import Service


def test_null_clears_a_nullable_property(run: Run, service: Service) -> None:
    """`None` for a nullable property of a body is sent as null; what was not passed is not sent."""
    properties = {name: {"type": "string", "nullable": True} for name in ("owner", "note")}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": properties}}}}
    path = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    responses = {"200": {"description": "ok"}}
    document = {"/cards/{id}": {"patch": {"parameters": [path], "requestBody": body, "responses": responses}}}

    result = run(document, "PATCH_cards_id(7, owner=None)")

    assert result.exit_code == 0, result.output
    assert json.loads(service.arrived[0].body) == {"owner": None}
