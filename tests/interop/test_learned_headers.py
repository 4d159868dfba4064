"""Probed documents of the ATC paper in their published form: response objects, and headers that name a credential."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.tasks.datasets import Dataset, with_learned
from benchmarks.tasks.metrics import Gold
from benchmarks.tasks.task_files import Task
from protocols import load
from protocols.simulator import Simulator
from sandbox import Sandbox

FIELDS = {"type": "object", "properties": {"port": {"type": "string"}, "height": {"type": "number"}}}


def probed(**endpoint: Any) -> dict[str, Any]:
    """A document of one endpoint; its headers have a placeholder for a credential, as the published ones."""
    tide = {"name": "GET_tide_port", "url": "https://sea.example/tide/{port}", "method": "get", **endpoint}
    return {
        "servers": [{"url": "https://sea.example"}],
        "headers": {"Authorization": "Bearer <YOUR TOKEN>"},
        "endpoints": [tide],
    }


def test_a_response_object_is_no_example_value() -> None:
    """The fields of a reply are those of its schema; an example value may have the same keys."""
    described = {"description": "The tide", "content": {"application/json": {"schema": FIELDS}}}
    example = {"description": "high", "content": {"height": 2.5}}

    [tool] = load(probed(response=described)).tools
    [plain] = load(probed(response=example)).tools

    schemas: list[Any] = [tool.responses[0].schema, plain.responses[0].schema]
    assert tool.responses[0].description == "The tide"
    assert [set(schema["properties"]) for schema in schemas] == [{"port", "height"}, {"description", "content"}]


def test_a_simulated_service_needs_no_credential_of_the_user(tmp_path: Path) -> None:
    """The learned document names another credential than the service; its calls are signed as the service wants it."""
    operation = {
        "parameters": [{"name": "port", "in": "path", "required": True, "schema": {"type": "string"}}],
        "responses": {"200": {"description": "", "content": {"application/json": {"schema": FIELDS}}}},
    }
    service = load(
        {
            "openapi": "3.0.3",
            "info": {"title": "Sea", "version": "1"},
            "servers": [{"url": "https://sea.example"}],
            "paths": {"/tide/{port}": {"get": operation}},
            "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "key"}}},
            "security": [{"key": []}],
        }
    )
    file = tmp_path / "sea.tools.json"
    file.write_text(json.dumps(probed(response={"height": 2.5})))
    tasks = (Task(0, "t", "How high is the tide?", Gold({"GET_tide_port": 1}), domain="sea"),)
    dataset = with_learned(Dataset("own", tasks, {"sea": service}, {}), [str(file)])

    with Simulator(service, 0) as simulator, simulator.session() as session:
        options: Any = {"base_url": session.base_urls, "credentials": session.credentials}
        with Sandbox(dataset.learned["sea"], **options) as sandbox:
            run = sandbox.run("print(GET_tide_port(port='ESB'))")

    assert (run.outcome, [call.status for call in run.calls]) == ("ok", [200]), run.error
