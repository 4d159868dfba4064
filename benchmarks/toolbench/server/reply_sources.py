"""What answers a call where nothing is cached: a simulated world, a language model, or another server of the protocol.

Each tool has a simulated world of its own, in which every identifier exists.
Source: StableToolBench (arXiv:2403.07714) for the simulation by prompt.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlencode, urlsplit

import requests

from atc.models import Message, Model
from atc.models.base import ModelRequest, answer
from benchmarks.toolbench.corpus.queries import split_server
from benchmarks.toolbench.server.address import VirtualCall
from benchmarks.toolbench.server.catalogue import Catalogue, CataloguedTool
from protocols import load
from protocols.calls.binding import bind
from protocols.calls.credentials import ANY_REQUEST, Credential
from protocols.calls.redaction import redact
from protocols.documents.tool_records import parameter_name
from protocols.errors import PromptRefused, ToolError, UsageError
from protocols.model import Parameter, Tool
from protocols.simulator import Simulator

__all__ = ["FAILED", "ModelSource", "SchemaSource", "Upstream"]

_MAX_TOOLS = 256
"""Simulated tools that are held at once."""

Reply = dict[str, Any]

_TRIES = 3
_MAX_TOKENS = 1024
_MAX_EXAMPLES = 2048
"""Characters of all examples of earlier replies in a prompt."""
FAILED = "Failed to generate fake response"
"""The published error text for a model whose answers are no replies."""
_TIMEOUT = (5.0, 30.0)
"""Seconds to connect, and between two bytes of the reply."""
_FAILURES = 3
_PAUSE = 30.0
"""After so many failures of the connection in a row the server is left in peace for so many seconds."""


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
            session_target = f"/__session__/{session.id}{target}" if session else target
            status, body, _, _ = simulated.simulator.handle(operation.method, session_target, headers, sent)
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


class ModelSource:
    """Asks a model, one call at a time; it is right to ask once per call and keep the reply."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = threading.Lock()

    def answer(self, call: VirtualCall, tool: CataloguedTool, examples: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        """The reply to a call, marked as `simulated`; an error after three answers that are no replies.

        Raises: ModelError: The model is unavailable.
        """
        messages = _messages(call, tool, examples)
        for number in range(_TRIES):
            try:
                with self._lock:
                    completion = answer(
                        self._model, ModelRequest(messages, max_tokens=_MAX_TOKENS, seed=number if number else None)
                    )
            except PromptRefused as error:
                return {"error": f"{FAILED}: {error}", "response": "", "simulated": True}
            reply = reply_in(completion.text)
            if reply is not None:
                return {**reply, "simulated": True}
        return {"error": FAILED, "response": "", "simulated": True}

    def close(self) -> None:
        self._model.close()


def reply_in(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text that has a `response` and a text as `error`; None if there is none."""
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            content, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            content = None
        if isinstance(content, dict) and "response" in content and isinstance(content.get("error", ""), str):
            return {"error": content.get("error", ""), "response": content["response"]}
        start = text.find("{", start + 1)
    return None


def _messages(call: VirtualCall, tool: CataloguedTool, examples: Sequence[tuple[str, Any]]) -> list[Message]:
    record = tool.records[call.address.api]
    example_lines = ""
    for key, reply in examples:
        line = f"{key} -> {json.dumps(reply, ensure_ascii=False)}\n"
        if len(example_lines) + len(line) > _MAX_EXAMPLES:
            break
        example_lines += line
    values = {
        "tool_name": tool.title,
        "category": tool.category,
        "tool_description": tool.description or "(no description)",
        "api_name": call.address.api,
        "api_description": str(record.get("api_description") or record.get("description") or "(no description)"),
        "parameters": _parameters(record) or "(none)",
        "examples": example_lines or "(none)",
        "arguments": json.dumps(dict(call.arguments), ensure_ascii=False, default=str),
    }
    template = Template(Path(__file__).with_name("reply_prompt.txt").read_text("utf-8"))
    return [Message("user", template.substitute(values))]


def _parameters(record: Mapping[str, Any]) -> str:
    """The parameters of a record, a line each."""
    lines = []
    for kind in ("required", "optional"):
        for parameter in record.get(f"{kind}_parameters") or ():
            described = str(parameter.get("description") or "").strip().replace("\n", " ")
            lines.append(f"- {parameter.get('name')} ({parameter.get('type')}, {kind}): {described}")
    return "\n".join(lines)


class Upstream:
    """Another server of the protocol.

    Args:
        url: Its base URL, or that of its endpoint.
        key: Sent as `toolbench_key`, and taken out of replies.
    Raises: UsageError: This is no URL of a server.
    """

    def __init__(self, url: str, key: Credential | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise UsageError(f"{url!r} is no URL of a virtual API server; write it as http://HOST:8080")
        self.url = "/".join(split_server(url))
        self.problem = ""
        """Why the last request failed; empty if it did not."""
        self._key = key
        self._failures = 0
        self._is_unreachable = False
        self._silent_until = 0.0

    @property
    def is_away(self) -> bool:
        """True if the last request did not reach it, or so many failed that it is not asked for a while."""
        return self._is_unreachable or time.monotonic() < self._silent_until

    def answer(self, call: VirtualCall) -> dict[str, Any] | None:
        """The server's reply, whole; None if it gave none: it is away, or answers something else."""
        if time.monotonic() < self._silent_until:
            return None
        address = call.address
        content = {
            "category": address.category,
            "tool_name": address.tool,
            "api_name": address.api,
            "tool_input": dict(call.arguments),
            "strip": "",
            "toolbench_key": self._key.secrets()[0] if self._key is not None else "",
        }
        headers = dict(self._key.sign(ANY_REQUEST)) if self._key is not None else {}
        try:
            response = requests.post(self.url, json=content, headers=headers, timeout=_TIMEOUT)
            text = redact(response.text, [self._key]) if self._key is not None else response.text
            reply = json.loads(text) if response.status_code == 200 else None
        except requests.RequestException as error:
            self._failed(
                f"{type(error).__name__}: no reply from {self.url}", isinstance(error, requests.ConnectionError)
            )
            return None
        except (ValueError, RecursionError):
            reply = None
        self._failures, self._is_unreachable, self.problem = 0, False, ""
        if not isinstance(reply, dict) or not {"error", "response"} <= reply.keys():
            self.problem = f"{self.url} answered with status {response.status_code} and no `error` and `response`"
            return None
        return reply

    def _failed(self, problem: str, is_unreachable: bool) -> None:
        self.problem, self._is_unreachable = problem, is_unreachable
        self._failures += 1
        if self._failures >= _FAILURES:
            self.problem += f" {self._failures} times in a row; it is not asked for {_PAUSE:.0f} s"
            self._silent_until = time.monotonic() + _PAUSE
