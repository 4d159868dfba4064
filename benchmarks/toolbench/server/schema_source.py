"""Replies from simulated worlds: each tool has one, in which every identifier exists."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from benchmarks.toolbench.server.address import VirtualCall
from benchmarks.toolbench.server.catalogue import Catalogue
from protocols import load
from protocols.calls.binding import bind
from protocols.documents.record_names import parameter_name
from protocols.errors import ToolError
from protocols.model import Parameter, Tool
from protocols.simulator import Simulator

__all__ = ["SchemaSource"]

_MAX_TOOLS = 256
"""Simulated tools that are held at once."""

Reply = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _SimulatedTool:
    """A tool's simulator; operations and argument names by published name."""

    simulator: Simulator
    operations: Mapping[str, Tool]
    arguments: Mapping[str, Mapping[str, str]]


class SchemaSource:
    """Simulates the tools of a catalogue, each from the time that it is asked first.

    Equal calls have equal replies, and a write changes nothing for later ones.
    """

    def __init__(self, catalogue: Catalogue, seed: int = 0) -> None:
        self._catalogue = catalogue
        self._seed = seed
        self._simulated = lru_cache(maxsize=_MAX_TOOLS)(self._simulate)

    def answer(self, call: VirtualCall) -> Reply:
        """The reply to a call of a documented API, marked as `simulated`.

        One of a record without a response template is `undocumented`.
        """
        simulated = self._simulated(call.address.category, call.address.tool)
        operation = simulated.operations[call.address.api]
        names = simulated.arguments[call.address.api]
        arguments = {names.get(parameter_name(name), name): value for name, value in call.arguments.items()}
        arguments = {name: _truth(value, operation.argument(name)) for name, value in arguments.items()}
        try:
            bound = bind(operation, (), arguments)
        except ToolError as error:
            text = str(error).replace(f"{operation.name}(", f"{call.address.api}(")
            return {"error": f"Argument error... {text}", "response": "", "simulated": True}
        target = bound.path + (f"?{urlencode(bound.query)}" if bound.query else "")
        sent, media_type = bound.content or (b"", "")
        headers = {**bound.headers, **({"Content-Type": media_type} if bound.content else {})}
        world = simulated.simulator.session() if operation.writes else nullcontext()  # a write has a world of its own
        with world as session:
            place = f"/__session__/{session.id}{target}" if session else target
            status, body, _, _ = simulated.simulator.handle(operation.method, place, headers, sent)
        return _reply(status, body, call, documented=operation.response_schema is not None)

    def _simulate(self, category: str, name: str) -> _SimulatedTool:
        """The simulator of a tool. Raises: ProtocolError: None of its records can be used."""
        tool = self._catalogue.tool(category, name)
        assert tool is not None
        records = [{**record, "url": "", "tool_name": tool.title} for record in tool.records.values()]
        described = {"category_name": tool.category, "tool_description": tool.description}
        protocol = load({"tool_name": tool.title, **described, "api_list": records})
        operations = {operation.path.rpartition("/")[2]: operation for operation in protocol.tools}
        arguments = {
            api: {parameter_name(parameter.name): parameter.argument for parameter in operation.arguments}
            for api, operation in operations.items()
        }
        return _SimulatedTool(Simulator(protocol, seed=self._seed, auth=False, open=True), operations, arguments)


def _truth(value: object, parameter: Parameter | None) -> object:
    """The value; "0" and "1" as truth values where one is wanted, since records document them so.

    Made from 20 refused calls of 794 over one query file; no half was kept unread to judge it.
    """
    is_truth = parameter is not None and parameter.schema.get("type") == "boolean"
    return value == "1" if is_truth and value in ("0", "1") else value


def _reply(status: int, body: bytes, call: VirtualCall, documented: bool) -> Reply:
    text = body.decode("utf-8", "replace")
    try:
        value: Any = json.loads(text) if text else ""
    except ValueError:
        value = text
    if status >= 400:
        message = value.get("message", text) if isinstance(value, Mapping) else text
        kind = "Argument error" if status in (400, 422) else "Message error"
        return {"error": f"{kind}... {message}", "response": value, "simulated": True}
    if not documented:
        value = value or {"status": "ok", "arguments": dict(call.arguments)}
    return {"error": "", "response": value, "simulated": True} | ({} if documented else {"undocumented": True})
