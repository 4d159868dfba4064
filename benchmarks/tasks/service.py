"""A service that is data: an OpenAPI document, records, and a line for each operation that says what it does with them.

Nothing here knows a domain. `data.json` has `now`, `collections` (the keys of a record, the first being its identifier,
and the records) and `operations` by their ids. The document is the judge of arguments and bodies.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml
from jsonschema import Draft202012Validator

from benchmarks.tasks.service_filters import at, nullable, read_query
from benchmarks.tasks.service_records import Record, ServiceRecords, ServiceRequest
from protocols.simulator.http.http_server import ConnectionServer
from protocols.simulator.http.messages import EncodedAnswer, RequestError, SimulatedReply, encode

__all__ = ["DataService", "ServiceData", "read_service"]


@dataclass(frozen=True, slots=True)
class ServiceData:
    """A service as its files have it; `digest` is the SHA-256 of document and data."""

    document: Mapping[str, Any]
    now: datetime
    collections: Mapping[str, Mapping[str, Any]]
    operations: Mapping[str, Mapping[str, Any]]
    digest: str


def read_service(folder: Path) -> ServiceData:
    """Read `openapi.yaml` and `data.json` of a folder."""
    document, data = (folder / "openapi.yaml").read_bytes(), (folder / "data.json").read_bytes()
    values = json.loads(data)
    now, digest = datetime.fromisoformat(values["now"]), hashlib.sha256(document + data).hexdigest()
    return ServiceData(nullable(yaml.safe_load(document)), now, values["collections"], values["operations"], digest)


class DataService:
    """Serves on localhost, from a fresh copy of the records, until `close`. `url` has the prefix of the document."""

    def __init__(self, data: ServiceData) -> None:
        self.data = data
        self._records = ServiceRecords(data.collections, data.now)
        self._lock = threading.Lock()
        prefix = urlsplit(data.document["servers"][0]["url"]).path
        self._routes: list[tuple[re.Pattern[str], Mapping[str, Any]]] = [
            (re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", prefix + path)), operations)
            for path, operations in sorted(data.document["paths"].items(), key=lambda entry: entry[0].count("{"))
        ]
        self._server = ConnectionServer(0, self._handle, data.now)
        self.url = self._server.url + prefix

    @property
    def records(self) -> Mapping[str, Sequence[Record]]:
        """The records of each collection as they are now."""
        return self._records.rows

    def close(self) -> None:
        """Stop the server."""
        self._server.close()

    def _handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> EncodedAnswer:
        path, _, query = target.partition("?")
        try:
            with self._lock:
                status, reply = self._answer(method, path, parse_qs(query, keep_blank_values=True), body)
        except RequestError as error:
            status, code = error.status, HTTPStatus(error.status).phrase.lower().replace(" ", "_")
            reply = {"error": {"status": status, "code": code, "message": str(error)}}
        return encode(SimulatedReply(status, reply, None if status == HTTPStatus.NO_CONTENT else "application/json"))

    def _answer(self, method: str, path: str, query: Mapping[str, list[str]], body: bytes) -> tuple[int, Any]:
        matches = ((route.fullmatch(path), operations) for route, operations in self._routes)
        match, operations = next(((match, operations) for match, operations in matches if match), (None, {}))
        if match is None or method.lower() not in operations:
            raise RequestError(405 if match else 404, f"{method} {path} is no operation of this API")
        operation = operations[method.lower()]
        rule = self.data.operations[operation["operationId"]]
        variables = {name: unquote(text) for name, text in match.groupdict().items()}
        owners = {
            field: self._records.find(collection, variables[name])[self._records.key(collection)]
            for name, (collection, field) in rule.get("within", {}).items()
        }
        parameters = [self._resolved(parameter) for parameter in operation.get("parameters", ())]
        arguments = read_query([parameter for parameter in parameters if parameter["in"] == "query"], query)
        sent = self._read_body(operation["requestBody"], rule, body) if "requestBody" in operation else {}
        return self._records.perform(rule, ServiceRequest(variables, arguments, owners, sent))

    def _read_body(self, request_body: Mapping[str, Any], rule: Mapping[str, Any], body: bytes) -> Record:
        """The body, which fits its schema, and whose references lead to records. Raises: RequestError."""
        try:
            sent = json.loads(body or b"null")
        except ValueError:
            raise RequestError(400, "the body is no JSON") from None
        schema = request_body["content"]["application/json"]["schema"]
        validator = Draft202012Validator({**schema, "components": self.data.document["components"]})
        for error in validator.iter_errors(sent):
            raise RequestError(422, f"{error.json_path}: {error.message}")
        for path, collection in rule.get("refers", {}).items():
            value = at(sent, path)
            for reference in value if isinstance(value, list) else [value] * (value is not None):
                self._records.find(collection, str(reference), 422)
        return dict(sent)

    def _resolved(self, parameter: Mapping[str, Any]) -> Mapping[str, Any]:
        name = parameter.get("$ref", "").rpartition("/")[2]
        return dict(self.data.document["components"]["parameters"][name]) if name else parameter
