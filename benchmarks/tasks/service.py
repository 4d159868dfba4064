"""A service that is data: an OpenAPI document, records, and a line for each operation that says what it does with them.

Nothing here knows a domain. `data.json` has `now`, `collections` (the keys of a record, the first being its identifier,
and the records) and `operations` by their ids. The document is the judge of arguments and bodies.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from benchmarks.tasks.service_records import Record, ServiceRecords, ServiceRequest, at
from protocols import Protocol, load
from protocols.calls.path_matching import match
from protocols.model import Tool
from protocols.simulator.http.http_server import ConnectionServer
from protocols.simulator.http.messages import EncodedAnswer, RequestError, SimulatedReply, SimulatedRequest, encode
from protocols.simulator.http.request import RequestReader

__all__ = ["DataService", "ServiceData", "read_service"]


@dataclass(frozen=True, slots=True)
class ServiceData:
    """A service as its files have it; `digest` is the SHA-256 of document and data."""

    protocol: Protocol
    now: datetime
    collections: Mapping[str, Mapping[str, Any]]
    operations: Mapping[str, Mapping[str, Any]]
    digest: str


def read_service(folder: Path) -> ServiceData:
    """Read `openapi.yaml` and `data.json` of a folder."""
    document, data = folder / "openapi.yaml", (folder / "data.json").read_bytes()
    values, digest = json.loads(data), hashlib.sha256(document.read_bytes() + data).hexdigest()
    now = datetime.fromisoformat(values["now"])
    return ServiceData(load(document), now, values["collections"], values["operations"], digest)


class DataService:
    """Serves on localhost, from a fresh copy of the records, until `close`. `url` has the prefix of the document."""

    def __init__(self, data: ServiceData) -> None:
        self.data = data
        self._records = ServiceRecords(data.collections, data.now)
        self._lock = threading.Lock()
        self._reader = RequestReader(data.protocol)
        self._prefix = urlsplit(data.protocol.servers[0].url).path
        self._server = ConnectionServer(0, self._handle, data.now)
        self.url = self._server.url + self._prefix

    @property
    def records(self) -> Mapping[str, Sequence[Record]]:
        """The records of each collection as they are now."""
        return self._records.rows

    def close(self) -> None:
        """Stop the server."""
        self._server.close()

    def _handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> EncodedAnswer:
        path, _, query = target.partition("?")
        pairs = tuple(parse_qsl(query, keep_blank_values=True))
        request = SimulatedRequest(method, path.removeprefix(self._prefix), pairs, headers, body)
        try:
            with self._lock:
                status, reply = self._answer(request)
        except RequestError as error:
            status, code = error.status, HTTPStatus(error.status).phrase.lower().replace(" ", "_")
            reply = {"error": {"status": status, "code": code, "message": str(error)}}
        return encode(SimulatedReply(status, reply, None if status == HTTPStatus.NO_CONTENT else "application/json"))

    def _answer(self, request: SimulatedRequest) -> tuple[int, Any]:
        matched = match(self.data.protocol, request.method, request.path)
        if matched is None:
            others = any(match(self.data.protocol, method, request.path) for method in ("GET", "POST", "PATCH"))
            raise RequestError(405 if others else 404, f"{request.method} {request.path} is no operation of this API")
        tool, variables = matched
        rule = self.data.operations[tool.operation_id]
        owners = {
            field: self._records.find(collection, variables[name])[self._records.key(collection)]
            for name, (collection, field) in rule.get("within", {}).items()
        }
        arguments = self._arguments(request, tool, variables)
        sent = self._reader.body(request, tool)
        for path, collection in rule.get("refers", {}).items():
            value = at(sent, path)
            for reference in value if isinstance(value, list) else [value] * (value is not None):
                self._records.find(collection, str(reference), 422)
        return self._records.perform(rule, ServiceRequest(variables, arguments, owners, sent))

    def _arguments(self, request: SimulatedRequest, tool: Tool, variables: Mapping[str, str]) -> dict[str, object]:
        """The arguments of the query, with defaults. Raises: RequestError: The document does not allow them."""
        documented = [parameter for parameter in tool.parameters if parameter.location == "query"]
        if unknown := {name for name, _ in request.query} - {parameter.name for parameter in documented}:
            raise RequestError(400, f"unknown query parameter: {', '.join(sorted(unknown))}")
        defaults = {parameter.name: parameter.schema.get("default") for parameter in documented}
        values = {**defaults, **self._reader.parameters(request, tool, variables, {})}
        return {name: value for name, value in values.items() if value is not None and name in defaults}
