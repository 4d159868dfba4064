"""A service that is data: an OpenAPI document, records, and a line for each operation that says what it does with them.

Nothing here knows a domain. `data.json` has `now`, `collections` (the keys of a record, the first being its identifier,
and the records) and `operations` by their ids. The document is the judge of arguments and bodies.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from protocols import Protocol, load
from protocols.calls.path_matching import match
from protocols.model import Tool
from protocols.simulator.http.http_server import ConnectionServer
from protocols.simulator.http.messages import EncodedAnswer, RequestError, SimulatedReply, SimulatedRequest, encode
from protocols.simulator.http.request import RequestReader

__all__ = ["DataService", "ServiceData", "read_service"]


Record = dict[str, Any]


def _at(record: Any, path: str) -> Any:
    """The value at a dotted path; of a list, that of each item."""
    if not path:
        return record
    if isinstance(record, list):
        return [_at(item, path) for item in record]
    first, _, rest = path.partition(".")
    return _at(record.get(first), rest) if isinstance(record, Mapping) else None


def _comparable(value: Any) -> float:
    """A number, or the moment of a date or date-time; without a zone it is in UTC. Raises: ValueError."""
    if isinstance(value, (int, float)):
        return float(value)
    moment = datetime.fromisoformat(value)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_FILTERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "is": lambda value, wanted: wanted in value if isinstance(value, list) else value == wanted,
    "in": lambda value, wanted: value in wanted,
    "from": lambda value, wanted: _comparable(wanted) <= (_comparable(value) if value is not None else float("-inf")),
    "to": lambda value, wanted: _comparable(wanted) >= (_comparable(value) if value is not None else float("inf")),
    "before": lambda value, wanted: _comparable(wanted) > (_comparable(value) if value is not None else float("inf")),
    "contains": lambda value, wanted: wanted.casefold() in str(value or "").casefold(),
}
"""Each is given the value of a record and the argument. Nothing that is null lies within bounds."""


def _sort_key(value: Any, falling: bool) -> tuple[bool, Any]:
    """What to sort by; null comes last, whichever way."""
    try:
        return (value is None) is not falling, 0 if value is None else _comparable(value)
    except ValueError:
        return (value is None) is not falling, str(value).casefold()


def _cursor_of(place: int) -> str:
    """An opaque text for a place in a list."""
    return base64.urlsafe_b64encode(f"after:{place}".encode()).decode().rstrip("=")


def _place_of(cursor: str) -> int:
    """The place that a cursor stands for. Raises: RequestError: It stands for none."""
    try:
        return int(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().removeprefix("after:"))
    except ValueError:
        raise RequestError(400, "cursor: pass what next_cursor was") from None


@dataclass(frozen=True, slots=True)
class _Operands:
    """A request: variables of its path, arguments of its query, fields that its path decides, and its body."""

    path: Mapping[str, str]
    query: Mapping[str, Any]
    owners: Record
    body: Record


class _Records:
    """The state of a service: a copy of the records of its collections.

    Args:
        collections: By name, with `keys` (the first is the identifier) and `records`.
        now: What the service takes for the time.
    """

    def __init__(self, collections: Mapping[str, Mapping[str, Any]], now: datetime) -> None:
        self.rows: dict[str, list[Record]] = {name: deepcopy(part["records"]) for name, part in collections.items()}
        self._keys = {name: list(part["keys"]) for name, part in collections.items()}
        self._now = now

    def perform(self, rule: Mapping[str, Any], asked: _Operands) -> tuple[int, Any]:
        """Status and body of the reply. Raises: RequestError: There is no such record, or it is refused."""
        action: Callable[[Mapping[str, Any], _Operands], tuple[int, Any]] = getattr(self, f"_{rule['do']}")
        return action(rule, asked)

    def _item(self, rule: Mapping[str, Any], asked: _Operands) -> tuple[int, Any]:
        return 200, self.find(rule["of"], asked.path[rule["by"]])

    def _list(self, rule: Mapping[str, Any], asked: _Operands) -> tuple[int, Any]:
        rows = self._selected(rule, asked)
        if order := asked.query.get("sort", rule.get("sort")):
            field, falling = order.removeprefix("-"), order.startswith("-")
            rows.sort(key=lambda row: _sort_key(_at(row, field), falling), reverse=falling)
        rows = [{name: row[name] for name in rule["fields"]} for row in rows] if "fields" in rule else rows
        if "paging" not in rule:
            return 200, {rule["items"]: rows} if "items" in rule else rows
        size = asked.query[rule["size"]]
        if rule["paging"] == "cursor":
            start = _place_of(asked.query["cursor"]) if "cursor" in asked.query else 0
            following = _cursor_of(start + size) if start + size < len(rows) else None
            return 200, {rule["items"]: rows[start : start + size], "next_cursor": following}
        page = asked.query["page"]
        figures = {"page": page, rule["size"]: size, "pages": -(-len(rows) // size), "total": len(rows)}
        return 200, {rule["items"]: rows[(page - 1) * size : page * size], "meta": figures}

    def _group(self, rule: Mapping[str, Any], asked: _Operands) -> tuple[int, Any]:
        groups: dict[str, list[Record]] = {}
        for row in self._selected(rule, asked):
            groups.setdefault(_at(row, rule["by"]), []).append(row)
        sums = [
            {rule["name"]: group, "count": len(rows)}
            | {name: sum(_at(row, path) for row in rows) for name, path in rule["sums"].items()}
            for group, rows in sorted(groups.items())
        ]
        return 200, {rule["items"]: sums}

    def _search(self, rule: Mapping[str, Any], asked: _Operands) -> tuple[int, Any]:
        hits = [
            {"type": kind, "id": str(row[self.key(kind)]), "title": _at(row, paths[0])}
            for kind, paths in rule["over"].items()
            for row in self.rows[kind]
            if any(_FILTERS["contains"](_at(row, path), asked.query["q"]) for path in paths)
        ]
        return 200, {rule["items"]: hits}

    def _create(self, rule: Mapping[str, Any], asked: _Operands) -> tuple[int, Any]:
        key, rows = self.key(rule["of"]), self.rows[rule["of"]]
        number = 1 + max(int(re.findall(r"\d+", str(row[key]))[-1]) for row in rows)
        identifier = rule["id"].format(number) if "id" in rule else number
        row = {key: identifier, **asked.owners, **deepcopy(rule.get("set", {})), **asked.body, **self._stamps(rule)}
        rows.append(row)
        return 201, row

    def _update(self, rule: Mapping[str, Any], asked: _Operands) -> tuple[int, Any]:
        row = self._changeable(rule, asked)
        row.update(rule.get("set", {}) | asked.body | self._stamps(rule))
        return 200, row

    def _delete(self, rule: Mapping[str, Any], asked: _Operands) -> tuple[int, Any]:
        self.rows[rule["of"]].remove(self._changeable(rule, asked))
        return 204, None

    def _changeable(self, rule: Mapping[str, Any], asked: _Operands) -> Record:
        row = self.find(rule["of"], asked.path[rule["by"]])
        for field, states in rule.get("only", {}).items():
            if row[field] not in states:
                raise RequestError(409, f"{field} is {row[field]}, not {' or '.join(states)}")
        return row

    def _selected(self, rule: Mapping[str, Any], asked: _Operands) -> list[Record]:
        """The records that belong to the owners in the path and pass every filter that was given."""
        rows = [row for row in self.rows[rule["of"]] if all(row[name] == key for name, key in asked.owners.items())]
        where: Mapping[str, tuple[str, str]] = rule.get("where", {})
        filters = [(path, test, asked.query[name]) for name, (path, test) in where.items() if name in asked.query]
        filters += [(path, test, wanted) for path, (test, wanted) in rule.get("keep", {}).items()]
        try:
            return [
                row for row in rows if all(_FILTERS[test](_at(row, path), wanted) for path, test, wanted in filters)
            ]
        except ValueError as error:
            raise RequestError(400, f"a filter cannot be read: {error}") from None
        return rows

    def _stamps(self, rule: Mapping[str, Any]) -> Record:
        return {field: self._now.isoformat() for field in rule.get("now", ())}

    def key(self, collection: str) -> str:
        """The field with the identifier of its records."""
        return str(self._keys[collection][0])

    def find(self, collection: str, text: str, status: int = 404) -> Record:
        """The record that has a text as one of its keys. Raises: RequestError: There is none."""
        for row in self.rows[collection]:
            if text in [str(row[key]) for key in self._keys[collection]]:
                return row
        raise RequestError(status, f"{collection}: there is no {text}")


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
        self._records = _Records(data.collections, data.now)
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
            value = _at(sent, path)
            for reference in value if isinstance(value, list) else [value] * (value is not None):
                self._records.find(collection, str(reference), 422)
        return self._records.perform(rule, _Operands(variables, arguments, owners, sent))

    def _arguments(self, request: SimulatedRequest, tool: Tool, variables: Mapping[str, str]) -> dict[str, object]:
        """The arguments of the query, with defaults. Raises: RequestError: The document does not allow them."""
        documented = [parameter for parameter in tool.parameters if parameter.location == "query"]
        if unknown := {name for name, _ in request.query} - {parameter.name for parameter in documented}:
            raise RequestError(400, f"unknown query parameter: {', '.join(sorted(unknown))}")
        defaults = {parameter.name: parameter.schema.get("default") for parameter in documented}
        values = {**defaults, **self._reader.parameters(request, tool, variables, {})}
        return {name: value for name, value in values.items() if value is not None and name in defaults}
