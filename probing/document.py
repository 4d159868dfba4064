"""Write the result of a probe as an OpenAPI 3.1 document with responses, examples, statuses and usage programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.program.source import parsed
from probing.prober.findings import RefusedCall, ToolFinding
from probing.schema.constraints import Constraint
from probing.schema.infer import is_trivial
from protocols.documents.openapi import NAME
from protocols.documents.source import METHODS, mapping_or_empty, parse, read
from protocols.errors import UsageError
from protocols.media_types import family
from protocols.model import Body, Parameter, Protocol, Response, Schema, SecurityScheme, Server, Tool
from protocols.naming import tool_name
from protocols.schema_fields import type_of

__all__ = ["openapi_document", "usage_examples"]

_COMPONENTS = "#/components/schemas/"
_STYLES = frozenset({"deepObject", "form", "label", "matrix", "pipeDelimited", "simple", "spaceDelimited"})
"""The parameter styles of OpenAPI 3.1."""


def openapi_document(
    protocol: Protocol,
    findings: Mapping[str, ToolFinding],
    server: str | None = None,
) -> dict[str, Any]:
    """The OpenAPI document of a probed API.

    Args:
        protocol: The API as documented before.
        findings: By tool; documented responses stay where nothing was found.
        server: The base URL of the probe; by default the document's own servers.
    """
    protocol = _with_references(protocol)
    if server is not None:
        servers = (Server(server.rstrip("/")),)
        tools = tuple(replace(tool, servers=servers) for tool in protocol.tools)
        protocol = replace(protocol, servers=servers, tools=tools)
    paths: dict[str, dict[str, Any]] = {}
    times = Counter(tool.operation_id for tool in protocol.tools)
    for tool in protocol.tools:
        path = tool.path
        while tool.method.lower() in paths.get(path, {}):
            path += "#"  # a second tool with the same path (see protocols.documents.tool_files)
        identifier = tool.operation_id if times[tool.operation_id] == 1 else ""
        operation = _operation(tool, identifier or tool.name, findings.get(tool.name))
        if tool.servers != protocol.servers:
            operation["servers"] = [{"url": server.url} for server in tool.servers]
        paths.setdefault(path, {})[tool.method.lower()] = operation
    title, version = protocol.title or "API", protocol.version or "1"
    schemes = {scheme.name: _security_scheme(scheme) for scheme in protocol.security_schemes}
    return _telling(
        openapi="3.1.0",
        info=_telling(title=title, version=version, description=protocol.description),
        servers=[{"url": server.url} for server in protocol.servers],
        paths=paths,
        components=_telling(securitySchemes=schemes, schemas=dict(protocol.definitions)),
    )


def _telling(**entries: Any) -> dict[str, Any]:
    """The entries that are not empty, in their order."""
    return {key: value for key, value in entries.items() if value}


def usage_examples(file: str) -> dict[str, tuple[str, str]]:
    """The question and program of each usage example in a document, by tool.

    Raises: UsageError: The file cannot be read, or an example is no question with its Python program.
    """
    usage = {}
    paths = mapping_or_empty(parse(read(Path(file))[0], file)).get("paths")
    items = [(path, mapping_or_empty(item)) for path, item in mapping_or_empty(paths).items()]
    for path, method, operation in [(path, key, item[key]) for path, item in items for key in item if key in METHODS]:
        match operation.get("x-usage") if isinstance(operation, Mapping) else None:
            case None:
                continue
            case {"question": str(question), "program": str(program)} if parsed(program) is not None:
                name = operation.get(NAME) or tool_name(method.upper(), path.rstrip("#"))
                usage[str(name)] = question, program
            case _:
                where = f"{file}, {method.upper()} {path}"
                raise UsageError(f"{where}: `x-usage` must have a `question` and a Python `program`")
    return usage


def _media(body: Body) -> dict[str, Any]:
    media: dict[str, Any] = {"schema": dict(body.schema)}
    if body.root and family(body.media_type) == "xml" and "xml" not in media["schema"]:
        media["schema"]["xml"] = {"name": body.root}
    encoding = {
        name: ({"style": field.style, "explode": field.explode} if field.style else {})
        | _telling(contentType=field.media_type)
        for name, field in body.encoding.items()
    }
    return media | _telling(encoding=encoding)


def _operation(tool: Tool, identifier: str, finding: ToolFinding | None) -> dict[str, Any]:
    constraints = finding.constraints if finding is not None else []
    body: dict[str, Any] = {}
    if tool.body is not None:
        content = {body.media_type: _media(body) for body in (tool.body, *tool.body.others)}
        body = {"required": tool.body.required, "content": content}
    own_name = tool.name if tool.name != tool_name(tool.method, tool.path) else ""
    operation = _telling(
        operationId=identifier,
        tags=list(tool.tags),
        **{NAME: own_name},
        summary=tool.summary,
        description=tool.description,
        parameters=[_parameter(parameter, constraints) for parameter in tool.parameters],
        requestBody=body,
        deprecated=tool.deprecated,
        security=[{name: [] for name in names} for names in tool.security],
        responses=_responses(tool, finding),
    )
    for constraint in constraints:
        if constraint.kind == "page_size":
            operation["x-page-size"] = {"items": constraint.value, "evidence": constraint.evidence}
    if finding is not None and finding.program:
        operation["x-usage"] = {"question": finding.question, "program": finding.program}
    return operation


def _responses(tool: Tool, finding: ToolFinding | None) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for response in tool.responses:
        media = _telling(schema=dict(response.schema or {}))
        if response.examples:
            media["example"] = response.examples[0]
        responses[response.status] = _telling(
            description=response.description or "as documented",
            headers={name: {"schema": dict(part)} for name, part in response.headers.items()},
            content={response.media_type or "application/json": media} if media else None,
        )
    if finding is None:
        return responses or {"default": {"description": "not observed"}}
    if (finding.is_complete or finding.outcome == "always_empty") and finding.status is not None:
        before = responses.get(finding.status, {"description": "as observed"})
        content = before.get("content")
        if content is None and finding.schema is not None:
            kind = "text/plain" if isinstance(finding.example, str) else "application/json"
            content = {kind: {"schema": dict(finding.schema)}}
        for media in (content or {}).values():
            if finding.schema is None:
                break
            media["example"] = finding.example
            if is_trivial(media.get("schema")):
                media["schema"] = dict(finding.schema)
        responses[finding.status] = {**before, "content": content} if content else before
    for status, text in finding.statuses.items():
        if 100 <= int(status) < 600 and status not in responses:
            responses[status] = {"description": text, **_error_example(status, finding.refused.get(status))}
    return responses or {"default": {"description": "not observed"}}


def _error_example(status: str, call: RefusedCall | None) -> dict[str, Any]:
    """A negative example: the arguments tried, and the reply. An error in a 2xx is no response example."""
    if call is None:
        return {}
    if int(status) < 300:
        return {"x-tried": dict(call["arguments"]), "x-answered": call["reply"]}
    kind = "text/plain" if isinstance(call["reply"], str) else "application/json"
    content = {"content": {kind: {"example": call["reply"]}}} if call["reply"] not in (None, "") else {}
    return {**content, "x-tried": dict(call["arguments"])}


def _parameter(parameter: Parameter, constraints: Sequence[Constraint]) -> dict[str, Any]:
    """A parameter with its constraints; `x-observed` is their evidence."""
    schema: dict[str, Any] = dict(parameter.schema)
    constraints = [constraint for constraint in constraints if constraint.argument == parameter.argument]
    observed = {constraint.kind: constraint.value for constraint in constraints}
    if "default" in observed:
        schema["default"] = observed["default"]
    if "values" in observed:
        inner = schema.setdefault("items", {}) if type_of(parameter.schema) == "array" else schema
        inner["enum"] = observed["values"]
    required = parameter.required or parameter.location == "path" or "required" in observed
    entry: dict[str, Any] = {"name": parameter.name, "in": parameter.location, "required": required}
    entry |= _telling(description=parameter.description)
    if type_of(parameter.schema) in ("array", "object") and parameter.style in _STYLES:
        entry |= {"style": parameter.style, "explode": parameter.explode}
    if parameter.reserved:
        entry["allowReserved" if parameter.location == "query" else "x-multi-segment"] = True
    if constraints:
        entry["x-observed"] = [constraint.evidence for constraint in constraints]
    return {**entry, "schema": schema}


def _security_scheme(scheme: SecurityScheme) -> dict[str, object]:
    if scheme.kind == "apiKey":
        return {"type": "apiKey", "in": scheme.location, "name": scheme.parameter}
    return {"type": "http", "scheme": "basic" if scheme.kind == "basic" else "bearer"}


def _with_references(protocol: Protocol) -> Protocol:
    """The protocol with `$ref` instead of named schemas, as a document has it; `definitions` has those in use.

    A named schema is the same object wherever the document refers to it.
    """
    names = {id(schema): name for name, schema in protocol.components.items() if schema and not is_trivial(schema)}
    referred: list[str] = []

    def part(value: Any) -> Any:
        if isinstance(value, list):
            return [part(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        name = names.get(id(value))
        if name is None:
            return inside(value)
        referred.append(name)
        return {"$ref": f"{_COMPONENTS}{name}"}

    def inside(schema: Schema) -> Schema:
        written = {key: part(value) for key, value in schema.items()}
        target = written.get("$ref")
        return {**written, "$ref": f"{_COMPONENTS}{target.rpartition('/')[2]}"} if isinstance(target, str) else written

    def body(own: Body) -> Body:
        return replace(own, schema=part(own.schema), others=tuple(map(body, own.others)))

    def response(own: Response) -> Response:
        headers = {name: inside(schema) for name, schema in own.headers.items()}
        return replace(own, schema=part(own.schema), headers=headers)

    tools = tuple(
        replace(
            tool,
            parameters=tuple(replace(parameter, schema=inside(parameter.schema)) for parameter in tool.parameters),
            body=body(tool.body) if tool.body is not None else None,
            responses=tuple(map(response, tool.responses)),
        )
        for tool in protocol.tools
    )
    definitions = {name: inside(schema) for name, schema in protocol.definitions.items()}
    while referred:
        name = referred.pop()
        if name not in definitions:
            definitions[name] = inside(protocol.components[name])
    return replace(protocol, tools=tools, definitions=definitions)
