"""Write down what was found out: an OpenAPI 3.1 document with responses, examples, statuses and usage programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from atc.program.source import parsed
from probing.prober.findings import Finding, Refused
from probing.schema.constraints import Constraint
from probing.schema.infer import paper, says_nothing
from probing.schema.references import with_references
from protocols.documents.openapi import operations
from protocols.documents.source import parse, read
from protocols.documents.tool_files import NAME
from protocols.errors import UsageError
from protocols.model import Parameter, Protocol, Schema, Server, Tool
from protocols.naming import tool_name
from protocols.schema_fields import type_of

__all__ = ["documented", "schema_of", "usage_of"]


_STYLES = frozenset({"deepObject", "form", "label", "matrix", "pipeDelimited", "simple", "spaceDelimited"})
"""Those that OpenAPI 3.1 knows."""
_JOINED = {" ": "spaceDelimited", "|": "pipeDelimited"}
"""How the lists of a form are sent as one value, by what stands between the items; else with commas."""


def documented(
    protocol: Protocol,
    found: Mapping[str, Finding],
    schema: Literal["full", "paper"] = "full",
    server: str | None = None,
) -> dict[str, Any]:
    """The document of an API.

    Args:
        protocol: The API as it was known before.
        found: By tool, what was found out; what the protocol says of responses stays where nothing was.
        schema: "paper" for schemas as the ATC paper's Algorithm 2 makes them.
        server: Where the API was reached; by default the document's own servers.
    """
    protocol = with_references(protocol)
    if server is not None:
        servers = (Server(server.rstrip("/")),)
        tools = tuple(replace(tool, servers=servers) for tool in protocol.tools)
        protocol = replace(protocol, servers=servers, tools=tools)
    found = {name: replace(one, schema=schema_of(one, schema)) for name, one in found.items()}
    paths: dict[str, dict[str, Any]] = {}
    times = Counter(tool.operation_id for tool in protocol.tools)
    for tool in protocol.tools:
        path = tool.path
        while tool.method.lower() in paths.get(path, {}):
            path += "#"  # a second tool of one address (see protocols.documents.tool_files)
        identifier = tool.operation_id if times[tool.operation_id] == 1 else ""
        operation = _operation(tool, identifier or tool.name, found.get(tool.name))
        if tool.servers != protocol.servers:
            operation["servers"] = [{"url": server.url} for server in tool.servers]
        paths.setdefault(path, {})[tool.method.lower()] = operation
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": protocol.title or "API", "version": protocol.version or "1"},
        "servers": [{"url": server.url} for server in protocol.servers],
        "paths": paths,
    }
    if protocol.description:
        document["info"]["description"] = protocol.description
    if not protocol.servers:
        del document["servers"]
    schemes = {one.name: _scheme(one.kind, one.location, one.parameter) for one in protocol.security_schemes}
    if schemes or protocol.definitions:
        document["components"] = {
            **({"securitySchemes": schemes} if schemes else {}),
            **({"schemas": _moved(dict(protocol.definitions))} if protocol.definitions else {}),
        }
    return document


def schema_of(finding: Finding, kind: Literal["full", "paper"]) -> Schema | None:
    """The schema of a tool's answers, from all of them, or from the example alone; None where none is known."""
    if kind == "full" or finding.schema is None:
        return finding.schema
    return paper(finding.example)


def usage_of(file: str) -> dict[str, tuple[str, str]]:
    """By tool, the question and the program of each usage example in a document; empty where there is none.

    Raises: UsageError: The file cannot be read, or an example is no question with its Python program.
    """
    found = {}
    for path, method, _, operation in operations(parse(read(Path(file))[0], file)):
        match operation.get("x-usage") if isinstance(operation, Mapping) else None:
            case None:
                continue
            case {"question": str(question), "program": str(program)} if parsed(program) is not None:
                name = operation.get(NAME) or tool_name(method.upper(), path.rstrip("#"))
                found[str(name)] = question, program
            case _:
                where = f"{file}, {method.upper()} {path}"
                raise UsageError(f"{where}: `x-usage` must have a `question` and a Python `program`")
    return found


def _operation(tool: Tool, identifier: str, found: Finding | None) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": identifier}
    if tool.tags:
        operation["tags"] = list(tool.tags)
    if tool.name != tool_name(tool.method, tool.path):
        operation[NAME] = tool.name
    for key in ("summary", "description"):
        if getattr(tool, key):
            operation[key] = getattr(tool, key)
    if tool.parameters:
        held = found.constraints if found is not None else []
        operation["parameters"] = [
            _parameter(one, [part for part in held if part.argument == one.argument]) for one in tool.parameters
        ]
    if tool.body is not None:
        media: dict[str, Any] = {"schema": _moved(dict(tool.body.schema))}
        if tool.body.joined:
            media["encoding"] = {
                name: {"style": _JOINED.get(sign, "form"), "explode": False} for name, sign in tool.body.joined.items()
            }
        operation["requestBody"] = {"required": tool.body.required, "content": {tool.body.media_type: media}}
    if tool.deprecated:
        operation["deprecated"] = True
    if tool.security:
        operation["security"] = [{name: [] for name in names} for names in tool.security]
    operation["responses"] = _responses(tool, found)
    for part in found.constraints if found is not None else ():
        if part.kind == "page_size":
            operation["x-page-size"] = {"items": part.value, "evidence": part.evidence}
    if found is not None and found.program:
        operation["x-usage"] = {"question": found.question, "program": found.program}
    return operation


def _responses(tool: Tool, found: Finding | None) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for one in tool.responses:
        media: dict[str, Any] = {"schema": _moved(dict(one.schema))} if one.schema else {}
        if one.examples:
            media["example"] = one.examples[0]
        told: dict[str, Any] = {"description": one.description or "as documented"}
        if one.headers:
            told["headers"] = {name: {"schema": _moved(dict(schema))} for name, schema in one.headers.items()}
        responses[one.status] = {**told, "content": {one.media_type or "application/json": media}} if media else told
    if found is None:
        return responses or {"default": {"description": "not observed"}}
    if (found.done or found.outcome == "always_empty") and found.status is not None:
        before = responses.get(found.status, {"description": "as observed"})
        content = before.get("content")
        if content is None and found.schema is not None:
            kind = "text/plain" if isinstance(found.example, str) else "application/json"
            content = {kind: {"schema": dict(found.schema)}}
        for media in (content or {}).values():
            if found.schema is None:
                break
            media["example"] = found.example
            if says_nothing(media.get("schema")):
                media["schema"] = dict(found.schema)
        responses[found.status] = {**before, "content": content} if content else before
    for status, text in found.statuses.items():
        if 100 <= int(status) < 600 and status not in responses:
            responses[status] = {"description": text, **_refused(status, found.refused.get(status))}
    return responses or {"default": {"description": "not observed"}}


def _refused(status: str, one: Refused | None) -> dict[str, Any]:
    """A negative example: what was tried, and what it answered; an error that came as a good reply is no example."""
    if one is None:
        return {}
    if int(status) < 300:
        return {"x-tried": dict(one["arguments"]), "x-answered": one["reply"]}
    kind = "text/plain" if isinstance(one["reply"], str) else "application/json"
    content = {"content": {kind: {"example": one["reply"]}}} if one["reply"] not in (None, "") else {}
    return {**content, "x-tried": dict(one["arguments"])}


def _parameter(one: Parameter, held: Sequence[Constraint]) -> dict[str, Any]:
    """A parameter with what was seen to hold of it; `x-observed` says by what."""
    schema = dict(_moved(dict(one.schema)))
    seen = {part.kind: part.value for part in held}
    if "default" in seen:
        schema["default"] = seen["default"]
    if "values" in seen:
        inner = schema.setdefault("items", {}) if type_of(one.schema) == "array" else schema
        inner["enum"] = seen["values"]
    required = one.required or one.location == "path" or "required" in seen
    told: dict[str, Any] = {"name": one.name, "in": one.location, "required": required}
    if one.description:
        told["description"] = one.description
    if type_of(one.schema) in ("array", "object") and one.style in _STYLES:
        told |= {"style": one.style, "explode": one.explode}
    if held:
        told["x-observed"] = [part.evidence for part in held]
    return {**told, "schema": schema}


def _scheme(kind: str, location: str, parameter: str) -> dict[str, object]:
    if kind == "apiKey":
        return {"type": "apiKey", "in": location, "name": parameter}
    return {"type": "http", "scheme": "basic" if kind == "basic" else "bearer"}


def _moved(value: Any) -> Any:
    """A schema whose definitions are components of the document."""
    if isinstance(value, list):
        return [_moved(part) for part in value]
    if not isinstance(value, Mapping):
        return value
    told = {key: _moved(part) for key, part in value.items()}
    target = told.get("$ref")
    return {**told, "$ref": f"#/components/schemas/{target.rpartition('/')[2]}"} if isinstance(target, str) else told
