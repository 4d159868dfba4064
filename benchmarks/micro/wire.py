"""Whether every operation of real documents is sent so that a service reads what the program passed.

`python -m benchmarks.micro.wire DOCUMENT…` makes sample arguments for each operation from its schemas and examples,
once the required ones and once all of them, calls it through the broker at a service on this machine, reads the request
back (see `wire_reader`) and compares.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import click
import yaml

from atc.files import to_json
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.micro.wire_reader import ABSENT, Received, WireReader, WireReading
from benchmarks.micro.wire_samples import Sampler
from benchmarks.micro.wire_schema import WireSchemas
from protocols import ProtocolError, Tool, ToolError, load
from protocols.documents.paths import plain_path
from protocols.naming import tool_name
from sandbox import Broker, Limits

__all__ = ["Exchange", "Place", "RequestRecorder", "differences", "exchange", "measure", "recorder"]

Place = tuple[str, str]
"""Location and wire name of an argument; `("body", "")` is a whole body."""


_SENT_BY_US = ("accept", "content-type", "authorization", "content-length", "host")
"""Headers that no program gives."""


class RequestRecorder(ThreadingHTTPServer):
    """Answers `{}` on a free port of 127.0.0.1 and keeps each request as it arrived."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.arrived: list[Received] = []

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: RequestRecorder

    def _record(self) -> None:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.arrived.append(Received(self.command, self.path, headers, body))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"{}")

    do_GET = do_PUT = do_POST = do_DELETE = do_OPTIONS = do_HEAD = do_PATCH = do_TRACE = _record  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Keep the output for the table."""


@contextmanager
def recorder() -> Iterator[RequestRecorder]:
    """A service that runs until the end of the block."""
    server = RequestRecorder()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True, slots=True)
class Exchange:
    """What became of a call: a refusal, or the request and how it was read; `missing`: places without an argument."""

    refusal: str = ""
    request: Received | None = None
    reading: WireReading | None = None
    missing: tuple[Place, ...] = ()


def exchange(
    server: RequestRecorder, broker: Broker, tool: Tool, passed: Mapping[Place, object], reader: WireReader
) -> Exchange:
    """Call a tool with values by place, and read the request back."""
    arguments: dict[Place, str] = {(argument.location, argument.name): argument.argument for argument in tool.arguments}
    constants = {(parameter.location, parameter.name) for parameter in tool.parameters if "const" in parameter.schema}
    missing = tuple(place for place in passed if place not in arguments.keys() | constants | {("body", "")})
    keywords = {
        arguments.get(place, "body"): value
        for place, value in passed.items()
        if place in arguments or place == ("body", "")
    }
    before = len(server.arrived)
    for last in (False, True):
        try:
            broker.call(tool.name, (), keywords)
        except ToolError as error:
            if len(server.arrived) == before and (last or "same call again" not in str(error)):
                return Exchange(str(error), missing=missing)
        if len(server.arrived) > before:
            break
    request = server.arrived[-1]
    return Exchange("", request, reader.read(request), missing)


def differences(passed: Mapping[Place, object], reading: WireReading) -> dict[Place, str]:
    """What was read otherwise than it was passed, by place."""
    wanted = {place: value for place, value in passed.items() if place[0] != "body"}
    places = {
        place: f"passed {_short(wanted.get(place, ABSENT))}, read {_short(reading.values.get(place, ABSENT))}"
        for place in wanted.keys() | reading.values.keys()
        if not _equal(wanted.get(place, ABSENT), reading.values.get(place, ABSENT))
    }
    body = body_of(passed)
    if isinstance(body, str) and isinstance(reading.body, bytes):
        body = body.encode()
    if not _equal(body, reading.body) and not (body is ABSENT and reading.body in ({}, b"")):
        if isinstance(body, dict) and isinstance(reading.body, dict):
            for name in body.keys() | reading.body.keys():
                mine, theirs = body.get(name, ABSENT), reading.body.get(name, ABSENT)
                if not _equal(mine, theirs):
                    places["body", name] = f"passed {_short(mine)}, read {_short(theirs)}"
        else:
            places["body", ""] = f"passed {_short(body)}, read {_short(reading.body)}"
    for problem in reading.problems:
        location, _, rest = problem.partition(": ")[0].partition(" ")
        places[location, rest] = problem
    return places


def body_of(passed: Mapping[Place, object]) -> Any:
    """The body that was passed, whole or by its properties; ABSENT without one."""
    properties = {name: value for (location, name), value in passed.items() if location == "body" and name}
    whole = passed.get(("body", ""), ABSENT)
    if isinstance(whole, dict):
        return {**whole, **properties}
    return properties if properties and whole is ABSENT else whole


def _short(value: object) -> str:
    text = "nothing" if value is ABSENT else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}…"


def _equal(mine: object, theirs: object) -> bool:
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        return mine.keys() == theirs.keys() and all(_equal(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) == len(theirs) and all(map(_equal, mine, theirs))
    if isinstance(mine, bool) != isinstance(theirs, bool):
        return False
    return mine is theirs or (mine is not ABSENT and theirs is not ABSENT and mine == theirs)


@dataclass(slots=True)
class WireRow:
    """What became of the calls of one document; `notes` has a line for each that was not equal."""

    document: str
    operations: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


_KEYS = ("idempotency-key", "x-idempotency-key")


def measure(server: RequestRecorder, file: Path) -> WireRow:
    """Call every operation of a document twice. Raises: ProtocolError: It cannot be loaded."""
    text = file.read_text("utf-8-sig")
    document = (
        json.loads(text) if file.suffix == ".json" else yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    )
    protocol = load(str(file))
    row = WireRow(file.name, len(protocol.tools))
    broker = Broker(protocol, base_url=f"{server.url}/", limits=Limits(calls=100_000, traffic=2**31))
    schemas = WireSchemas(document)
    credentials = {scheme.parameter for scheme in protocol.security_schemes}
    try:
        for tool in protocol.tools:
            template = _template(document, tool)
            if template is None:
                row.counts["not in the document"] += 1
                row.notes.append(f"{tool.method} {tool.path} its path is not in the document")
                continue
            reader = WireReader(document, template, tool.method)
            for everything in (False, True):
                passed = _sample(tool, reader, Sampler(schemas, everything), everything, credentials)
                _count(row, tool, passed, exchange(server, broker, tool, passed, reader))
                server.arrived.clear()
    finally:
        broker.close()
    return row


def _template(document: Mapping[str, Any], tool: Tool) -> str | None:
    """The key of the path; the query in a key is in the tool's constants."""
    constants = {
        f"{parameter.name}={parameter.schema['const']}" for parameter in tool.parameters if "const" in parameter.schema
    }
    methods = {key: {str(method).upper() for method in item} for key, item in document["paths"].items()}
    for key in map(str, document["paths"]):
        if tool.method in methods[key] and tool_name(tool.method, plain_path(key)) == tool.name:
            return str(key)
    keys = [key for key in document["paths"] if tool.path in (key, key.partition("?")[0], key.partition("#")[0])]
    keys = [key for key in keys if tool.method in methods[key] or "$REF" in methods[key]]
    keys = [key for key in keys if key == tool.path or set(key.partition("?")[2].split("&")) - {""} <= constants]
    return max(keys, key=lambda key: (key == tool.path and "?" not in key and not constants, len(key)), default=None)


def _sample(
    tool: Tool, reader: WireReader, sampler: Sampler, everything: bool, credentials: Collection[str]
) -> dict[Place, object]:
    """Values of an operation by place: the required ones, or all."""
    passed: dict[Place, object] = {}
    for parameter in reader.parameters:
        name, location = parameter["name"], parameter["in"]
        unknown = not any((location, name) == (argument.location, argument.name) for argument in tool.arguments)
        if location == "body" or name.lower() in _SENT_BY_US or (name in credentials and unknown):
            continue
        if everything or parameter.get("required"):
            content = [*(parameter.get("content") or {}).values()]
            schema = content[0].get("schema") if content else parameter.get("schema") or parameter
            value = sampler.value(schema, "a,b c" if location in ("path", "query") else "abc")
            if value not in (None, {}, []) or parameter.get("required"):
                passed["body" if location == "formData" else location, name] = value
    schema, required = reader.body(tool.body.media_type if tool.body else "")
    if schema is not None and (required or everything):
        whole = sampler.value(schema, binary="json" not in (tool.body.media_type if tool.body else ""))
        whole_only = any(argument.location == "body" and not argument.name for argument in tool.arguments)
        declared = isinstance(whole, dict) and whole.keys() <= reader.properties(schema).keys() and not whole_only
        if isinstance(whole, dict) and whole and declared and (not everything or tool.argument("body")):
            passed |= {("body", name): value for name, value in whole.items()}
        elif whole is not None:
            passed["body", ""] = whole
    return passed


def _count(row: WireRow, tool: Tool, passed: Mapping[Place, object], result: Exchange) -> None:
    places = dict.fromkeys(result.missing, "no argument for it")
    if result.reading is not None:
        places |= differences({place: value for place, value in passed.items() if place not in places}, result.reading)
    # A call without an idempotency key is given one.
    places = {place: text for place, text in places.items() if place[1].lower() not in _KEYS or place in passed}
    kind = "refused" if result.refusal else "different" if places else "equal"
    row.counts[kind] += 1
    lines = [f"refused: {result.refusal}"] if result.refusal else [f"{place}: {text}" for place, text in places.items()]
    row.notes += [f"{tool.method} {tool.path} {line}" for line in lines]


def reasons(rows: Sequence[WireRow]) -> list[tuple[str, int]]:
    """Reasons without the names in them, the most frequent first."""
    lines = [
        re.sub(r"'[^']*'|\d+|\"[^\"]*\"", "…", note.partition(" ")[2].partition(" ")[2])
        for row in rows
        for note in row.notes
    ]
    return Counter(line[:110] for line in lines).most_common()


@click.command(cls=Measurement)
@click.argument("documents", nargs=-1, required=True)
@json_option("Print JSON with a line for each call that was not equal, instead of the table.")
def main(documents: tuple[str, ...], as_json: bool) -> None:
    """Call every operation of the API DOCUMENTS with sample arguments, and read the requests back."""
    rows: list[WireRow] = []
    with recorder() as server:
        for name in documents:
            try:
                rows.append(measure(server, Path(name)))
            except ProtocolError as error:
                rows.append(WireRow(Path(name).name, notes=[f"- - {error}"]))
    if as_json:
        cells = [
            {"document": row.document, "operations": row.operations, **row.counts, "notes": row.notes} for row in rows
        ]
        click.echo(to_json(cells), nl=False)
        return
    kinds = ("equal", "refused", "different", "not in the document")
    table = [(row.document, str(row.operations), *(str(row.counts[kind]) for kind in kinds)) for row in rows]
    total = sum((row.counts for row in rows), Counter[str]())
    table.append(("all", str(sum(row.operations for row in rows)), *(str(total[kind]) for kind in kinds)))
    print_table(("document", "operations", *kinds), table, title="Two calls of each operation", figures_from=1)
    print_table(("reason", "calls"), [(text, str(count)) for text, count in reasons(rows)[:40]], figures_from=1)


if __name__ == "__main__":
    main()
