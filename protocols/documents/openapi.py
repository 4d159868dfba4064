"""An OpenAPI 3.0 or 3.1 document, read and repaired, becomes a Protocol.

One operation becomes one Tool. An unusable operation is left out, with its place and the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast
from urllib.parse import urljoin, urlsplit

from protocols.documents.paths import (
    VARIABLE,
    WrittenOperation,
    operations,
    plain_path,
    reserved,
    spanning_variables,
    with_fixed_query,
    without_query_template,
)
from protocols.documents.schemas import SchemaReader, object_properties
from protocols.documents.source import DocumentSet, mapping_or_empty
from protocols.documents.spec_fixes import is_true, named_properties, parameter_schema, retyped, with_described_enum
from protocols.errors import ProtocolError
from protocols.media_types import essence, family
from protocols.model import (
    SEPARATORS,
    Body,
    Encoding,
    LeftOut,
    Location,
    Parameter,
    Protocol,
    Response,
    Schema,
    SecurityScheme,
    Server,
    Tool,
)
from protocols.naming import argument_name, tool_name, unique
from protocols.quoting import MOST_TITLE, one_line
from protocols.text.words import words

__all__ = ["ARGUMENT", "FIXED", "NAME", "READS", "RECORD", "protocol"]

NAME = "x-tool-name"
"""Key of an operation for the name of its tool."""

FIXED = "x-fixed"
"""Key of a parameter for its constant value; OpenAPI 3.0 has no `const`."""

ARGUMENT = "x-argument"
"""Key of a parameter for the name that programs write in place of the folded one."""

READS = "x-reads"
"""Key of an operation that says whether it only reads."""

RECORD = "x-record"
"""Key of an operation for the record that it was made of."""

_KNOWN_STYLES = frozenset({"simple", "form", "label", "matrix", "deepObject", "cookie", *SEPARATORS})
_STYLES = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
_IGNORED_HEADERS = {"accept", "content-type", "authorization"}  # OpenAPI: such header parameters are to be ignored
_IGNORED_HEADERS |= {"content-length", "host", "connection", "transfer-encoding"}  # the connection's own
_JSON = "application/json"
_SEARCHES = frozenset({"search", "find", "lookup", "filter", "count"})
"""Words at the end of a path whose operation may only read, whatever its method."""
_DOCUMENT_WORDS = frozenset({"asyncapi", "oas", "openapi", "swagger"})
"""Path words of an operation that serves the document itself."""


def protocol(document: Mapping[str, Any], documents: DocumentSet, digest: str) -> Protocol:
    """The Protocol of a repaired document.

    Args:
        document: OpenAPI 3.0 or 3.1, as plain data.
        documents: Resolves its references.
        digest: sha256 of the document as it was written.
    Returns: The tools in document order; `left_out` has the other operations.
    """
    builder = _Builder(document, documents)
    tools: list[Tool] = []
    left_out: list[LeftOut] = []
    for operation in operations(document, documents, builder.notes):
        if isinstance(operation, LeftOut):
            left_out.append(operation)
            continue
        content = mapping_or_empty(operation.content)
        written = operation.path.rstrip("#")
        real, _ = without_query_template(written)
        name = str(content.get(NAME) or tool_name(operation.method, plain_path(real)))
        try:
            tool = builder.tool(name, operation._replace(path=written))
            reason = _why_not_offered(content, tool)
        except (ProtocolError, RecursionError) as error:
            reason = _reason(error)
        if reason is None:
            tools.append(replace(tool, reads=True) if _only_reads(content, tool) else tool)
        elif isinstance(operation.content, Mapping):
            identifier = str(content.get("operationId") or "")
            left_out.append(LeftOut(operation.method.upper(), real, name, reason, identifier, operation.place))
        else:
            left_out.append(LeftOut("", "", "", reason, place=operation.place))
    info = mapping_or_empty(document.get("info"))
    names = unique(tool.name for tool in tools)
    return Protocol(
        title=one_line(str(info.get("title") or "API"), MOST_TITLE),
        version=one_line(str(info.get("version") or ""), MOST_TITLE),
        description=str(info.get("description") or "").strip(),
        servers=builder.servers,
        tools=tuple(replace(tool, name=name) for tool, name in zip(tools, names, strict=True)),
        security_schemes=builder.schemes,
        definitions=builder.schemas.definitions,
        components=builder.schemas.components,
        warnings=(*_counted(builder.notes), *builder.warnings),
        digest=digest,
        left_out=tuple(replace(entry, place=f"{documents.name}{entry.place}") for entry in left_out),
    )


def _why_not_offered(operation: Mapping[str, Any], tool: Tool) -> str | None:
    """The reason for not offering an operation that could be called; None if there is none."""
    last = tool.path.rstrip("/").rpartition("/")[2]
    names_document = _DOCUMENT_WORDS.intersection(words(last)) or last in ("api-docs", "apidocs")
    if tool.method == "GET" and names_document and not any(p.required for p in tool.arguments):
        return "it only serves the document itself"
    statuses = {str(status) for status in mapping_or_empty(operation.get("responses")) if status[:1] != "x"}
    if statuses and statuses <= {"501"}:
        return "501 (not implemented) is the only response that the document has for it"
    return None


def _only_reads(operation: Mapping[str, Any], tool: Tool) -> bool:
    """True if an operation only reads, although its method may write."""
    if tool.method != "POST":
        return False
    if isinstance(declared := operation.get(READS), bool):
        return declared
    segment = words(re.sub(r"\{[^{}]*\}", "", tool.path.rstrip("/").rpartition("/")[2]))
    if _SEARCHES.isdisjoint({*segment[:1], *segment[-1:]}):
        return False
    from protocols.documents.statements import says_it_only_reads

    return says_it_only_reads(tool)


@dataclass
class _Builder:
    """Builds tools from the operations of one document; `notes` counts ignored and reinterpreted parts."""

    document: Mapping[str, Any]
    documents: DocumentSet
    notes: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.schemas = SchemaReader(self.documents, self.notes)
        self.schemes = tuple(self._security_schemes())
        self.servers = self._servers(self.document.get("servers"))
        if not self.servers and self.documents.uri.startswith("http"):
            self.servers = (Server(self._absolute("/")),)

    def tool(self, name: str, written: WrittenOperation) -> Tool:
        """The Tool of one operation. Raises: ProtocolError: it cannot be used."""
        operation, item, base, path = written.content, written.item, written.base, written.path
        if not isinstance(operation, Mapping):
            expected = "an object (in a tool file, with a `url` and a known `method`)"
            raise ProtocolError(f"an operation must be {expected}, not {str(operation)[:80]!r}")
        security = self._security(operation)
        body = self._body(operation.get("requestBody"), base)
        path, optional = without_query_template(path)
        path, _, fixed_query = path.partition("#")[0].partition("?")  # a fragment is never sent
        if path.startswith("//"):
            raise ProtocolError("its path begins with two slashes, of which a request would keep one")
        spanning = frozenset(spanning_variables(path))
        path = plain_path(path)
        listed = self._parameters(path, ((item, written.item_base), (operation, base)), security, fixed_query, optional)
        parameters, arguments = _arguments([reserved(parameter, spanning) for parameter in listed], body)
        servers = operation.get("servers") or item.get("servers")
        summary = str(operation.get("summary") or item.get("summary") or "").strip()
        description = str(operation.get("description") or item.get("description") or "").strip()
        return Tool(
            name=name,
            method=written.method.upper(),
            path=path,
            summary=summary,
            description=description or summary,
            parameters=parameters,
            arguments=arguments,
            body=body,
            responses=tuple(self._responses(operation.get("responses"), base)),
            servers=self._own_servers(servers) if servers else self.servers,
            security=security,
            deprecated=is_true(operation, "deprecated", self.notes),
            operation_id=str(operation.get("operationId") or ""),
            tags=tuple(map(str, tags)) if isinstance(tags := operation.get("tags"), list) else (),
            record=record if isinstance(record := operation.get(RECORD), Mapping) else None,
        )

    def _servers(self, raw: object, near: str = "") -> tuple[Server, ...]:
        """The servers with variables filled in; relative URLs are relative to `near`, else to the document's.

        A variable without a value stays in its URL, with which the server cannot be used.
        """
        servers = []
        for server in raw if isinstance(raw, list) else []:
            if not isinstance(server, Mapping) or not isinstance(server.get("url"), str):
                continue
            variables = mapping_or_empty(server.get("variables"))

            def value(match: re.Match[str], variables: Mapping[str, Any] = variables) -> str:
                variable = mapping_or_empty(variables.get(match[1]))
                return str(variable.get("default", next(iter(variable.get("enum") or ()), match[0])))

            url = VARIABLE.sub(value, server["url"])
            try:
                if VARIABLE.search(urlsplit(server["url"]).netloc) and _is_torn(urlsplit(url).netloc):
                    url = server["url"]  # with its variable, for the message
                servers.append(Server(self._absolute(url, near), str(server.get("description") or "").strip()))
            except ValueError:
                self.warnings.append(f"the server {url[:100]!r} has no usable address")
        return tuple(servers)

    def _own_servers(self, raw: object) -> tuple[Server, ...]:
        """The servers of an operation, or of its path item; relative ones lie beside the document's (RFC 3986)."""
        near = self.servers[0].url if self.servers else ""
        listed = self.document.get("servers")
        first = mapping_or_empty(listed[0]) if isinstance(listed, list) and listed else {}
        folder = near and str(first.get("url") or "").endswith("/")
        own = self._servers(raw, f"{near}/" if folder else near)
        if not self.servers:
            return own
        common = {server.url for server in self.servers}
        origins = {urlsplit(url)[:2] for url in common}
        return tuple(
            server
            if server.url in common
            else replace(server, scope="path" if urlsplit(server.url)[:2] in origins else "origin")
            for server in own
        )

    def _absolute(self, url: str, near: str = "") -> str:
        if near and not urlsplit(url).scheme:
            url = urljoin(near, url)
        if not urlsplit(url).scheme and self.documents.uri.startswith("http"):
            url = urljoin(self.documents.uri, url)
        parts = urlsplit(url)
        if "@" in parts.netloc:  # credentials, which no program may see
            url = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return url.rstrip("/")

    def _security_schemes(self) -> Iterator[SecurityScheme]:
        schemes = mapping_or_empty(mapping_or_empty(self.document.get("components")).get("securitySchemes"))
        for name, raw in schemes.items():
            scheme, _ = self.documents.resolved(raw, self.documents.uri)
            kind, location = str(scheme.get("type", "")).lower(), scheme.get("in")
            http = str(scheme.get("scheme", "")).lower()
            if kind == "apikey" and location in ("header", "query", "cookie") and scheme.get("name"):
                place = cast(Literal["header", "query", "cookie"], location)
                prefix = _wanted_prefix(scheme) if place == "header" else ""
                yield SecurityScheme(name, "apiKey", place, str(scheme["name"]), prefix=prefix)
            elif kind == "http" and http in ("basic", "bearer"):
                yield SecurityScheme(name, "basic" if http == "basic" else "bearer")
            elif kind in ("oauth2", "openidconnect"):
                yield SecurityScheme(name, "oauth2")
            else:
                self.warnings.append(f"the security scheme {name!r} ({kind} {http}".rstrip() + ") is not supported")

    def _security(self, operation: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        raw = operation.get("security", self.document.get("security"))
        supported = {scheme.name for scheme in self.schemes}
        alternatives = [tuple(need) for need in raw if isinstance(need, Mapping)] if isinstance(raw, list) else []
        return tuple(names for names in alternatives if supported.issuperset(names))

    def _parameters(
        self,
        path: str,
        owners: Sequence[tuple[Mapping[str, Any], str]],
        security: tuple[tuple[str, ...], ...],
        fixed_query: str,
        optional: Collection[str],
    ) -> list[Parameter]:
        """The parameters of an operation.

        Args:
            owners: The path item and the operation, each with the URI of its document.
            fixed_query: What its path key has behind a `?`.
            optional: The names in the query of its path key, where that is a URI template.
        """
        parameters: dict[tuple[str, str], Parameter] = {}
        for owner, base in owners:
            raw_list = owner.get("parameters") or []
            if not isinstance(raw_list, list):
                raise ProtocolError("`parameters` must be a list")
            own: set[tuple[str, str]] = set()
            for raw in raw_list:
                parameter = self._parameter(*self.documents.resolved(raw, base))
                place = parameter.location, parameter.name
                if place in own and parameter != parameters[place]:
                    self.notes[f"a parameter is described twice ({' '.join(place)}), and the last one counts"] += 1
                own.add(place)
                parameters[place] = parameter
        parameters = with_fixed_query(parameters, fixed_query, optional)
        # Credentials are added outside the program, even where the document lists them as parameters too.
        secret = {(s.location, s.parameter.lower()) for s in self.schemes if any(s.name in need for need in security)}
        in_path = VARIABLE.findall(path)
        usable = []
        for (location, name), parameter in parameters.items():
            if (location == "header" and name.lower() in _IGNORED_HEADERS) or (location, name.lower()) in secret:
                continue
            if location == "path" and name not in in_path:
                self.notes["a path parameter that its path does not hold was ignored"] += 1
                continue
            usable.append(parameter)
        for name in dict.fromkeys(in_path):
            if name and ("path", name) not in parameters:  # what lies in other files was not repaired
                self.notes["a path parameter that is not declared was read as a string"] += 1
                usable.append(Parameter(name, argument_name(name), "path", True, {"type": "string"}))
        return usable

    def _parameter(self, raw: Mapping[str, Any], base: str) -> Parameter:
        name, location = raw.get("name"), raw.get("in")
        if not isinstance(name, str) or not name:
            raise ProtocolError("a parameter has no name")
        if not isinstance(location, str) or location not in _STYLES:
            raise ProtocolError(f"parameter {name!r}: `in` must be path, query, header or cookie, not {location!r}")
        style = str(raw.get("style") or _STYLES[location])
        if style not in _KNOWN_STYLES:
            self.notes[f"the style {style[:30]!r} is unknown, and was read as {_STYLES[location]}"] += 1
            style = _STYLES[location]
        content = raw.get("content")
        described: Any = {**raw, "schema": parameter_schema(raw, self.notes)}
        if isinstance(content, Mapping) and content:
            media_type, described = next(iter(content.items()))
            style = "json" if family(str(media_type)) == "json" else style
        try:
            schema = self.schemas.read(described["schema"], base) if described.get("schema") is not None else {}
        except ProtocolError as error:
            raise ProtocolError(f"parameter {name!r}: {error}") from None
        examples = self._examples(described, base, schema)
        if examples and "examples" not in schema:
            schema = {**schema, "examples": list(examples)}
        if FIXED in raw:
            schema = {**schema, "const": raw[FIXED]}
        description = str(raw.get("description") or schema.get("description") or "").strip()
        accepted = with_described_enum(schema, description)
        if accepted is not schema:
            self.notes["the values that an argument takes were read from its description"] += 1
        return Parameter(
            name=name,
            argument=argument_name(str(raw.get(ARGUMENT) or name)),
            location=cast(Location, location),
            required=location == "path" or is_true(raw, "required", self.notes),
            schema=accepted,
            description=description,
            style=style,
            explode=is_true(raw, "explode", self.notes) if "explode" in raw else style == "form",
            reserved=(is_true(raw, "allowReserved", self.notes) and location == "query")
            or (raw.get("x-multi-segment") is True and location == "path"),
            empty=location == "query" and is_true(raw, "allowEmptyValue", self.notes),
        )

    def _examples(self, holder: Mapping[str, Any], base: str, schema: Schema) -> tuple[object, ...]:
        """The examples of a media type or parameter, `example` first, in the types of its schema; no external ones."""
        examples: list[object] = [holder["example"]] if "example" in holder else []
        for raw in mapping_or_empty(holder.get("examples")).values():
            with suppress(ProtocolError):  # examples are optional
                example, _ = self.documents.resolved(raw, base)
                examples += [example["value"]] if "value" in example else []
        return tuple(retyped(example, schema, self.schemas.definitions, self.notes) for example in examples)

    def _body(self, raw: object, base: str) -> Body | None:
        """The body in the preferred media type, with the others that differ in form. Raises: ProtocolError."""
        if not raw:
            return None
        body, base = self.documents.resolved(raw, base)
        content, base = self._followed(body.get("content"), base)
        bodies: dict[str, Body] = {}
        for media_type in sorted(content, key=_media_rank):
            form = essence(media_type) if family(media_type) in ("text", "binary") else str(family(media_type))
            try:
                bodies.setdefault(form, self._body_in(media_type, content[media_type], body, base))
            except ProtocolError as error:
                if not bodies:
                    raise ProtocolError(f"request body: {error}") from None
        first, *others = bodies.values() or [None]
        return replace(first, others=tuple(filter(None, others))) if first is not None and others else first

    def _body_in(self, media_type: str, raw: object, body: Mapping[str, Any], base: str) -> Body:
        media, base = self._followed(raw, base)
        schema, examples = self._content(media_type, media, base)
        named = mapping_or_empty(schema.get("xml")).get("name")
        return Body(
            media_type=_JSON if media_type == "*/*" else media_type,
            schema=schema,
            required=is_true(body, "required", self.notes),
            description=str(body.get("description") or "").strip(),
            example=examples[0] if examples else None,
            encoding=dict(_encodings(media.get("encoding"))),
            root=str(named or str(mapping_or_empty(media.get("schema")).get("$ref") or "").rpartition("/")[2]),
        )

    def _responses(self, raw: object, base: str) -> Iterator[Response]:
        for status, raw_response in mapping_or_empty(raw).items():
            if status.startswith("x-"):
                continue
            try:
                response, where = self.documents.resolved(raw_response, base)
                content, place = self._followed(response.get("content"), where)
                media_type = min(content, key=_media_rank, default=None)
                schema: Schema | None = None
                examples: tuple[object, ...] = ()
                if media_type is not None:
                    schema, examples = self._content(media_type, *self._followed(content[media_type], place))
                headers = dict(self._headers(response.get("headers"), where))
            except (ProtocolError, RecursionError) as error:
                self.notes[f"the response {status} of an operation cannot be used: {_reason(error)}"] += 1
                continue
            yield Response(
                status=status.upper() if status != "default" else status,
                description=str(response.get("description") or "").strip(),
                media_type=_JSON if media_type == "*/*" else media_type,
                schema=schema,
                examples=examples,
                headers=headers,
                media_types=tuple(content),
            )

    def _followed(self, raw: object, base: str) -> tuple[Mapping[str, Any], str]:
        """What describes bodies, where it stands elsewhere; without a reference that cannot be followed."""
        described = mapping_or_empty(raw)
        with suppress(ProtocolError):
            return self.documents.resolved(described, base)
        return {name: part for name, part in described.items() if name != "$ref"}, base

    def _content(self, media_type: str, media: Mapping[str, Any], base: str) -> tuple[Schema, tuple[object, ...]]:
        """The schema and the examples of a body in a media type; lines of JSON are a list; of text, a list of anything.

        Raises: ProtocolError: The schema is invalid.
        """
        schema: Schema = self.schemas.read(media["schema"], base) if media.get("schema") is not None else {}
        if family(media_type) in ("lines", "sequence") and schema.get("type") != "array":
            schema = {"type": "array", "items": {} if schema.get("type") == "string" else schema}
        listed = schema.get("examples")
        examples = self._examples(media, base, schema) or (tuple(listed) if isinstance(listed, list) else ())
        # Examples may explain properties with an empty name.
        schema = named_properties(schema, examples, self.notes) if self.schemas.is_nameless else schema
        return schema, examples

    def _headers(self, raw: object, base: str) -> Iterator[tuple[str, Schema]]:
        for name, raw_header in mapping_or_empty(raw).items():
            header, where = self.documents.resolved(raw_header, base)
            if name.lower() != "content-type":
                schema = self.schemas.read(parameter_schema(header, self.notes) or {}, where)
                text = str(header.get("description") or "").strip()
                yield name, {**schema, "description": text} if text else schema


def _wanted_prefix(scheme: Mapping[str, Any]) -> str:
    """What the description of an API key in `Authorization` wants before the key, as in `Token `; else empty."""
    if str(scheme.get("name")).lower() != "authorization":
        return ""
    from protocols.documents.statements import stated_prefix

    return stated_prefix(str(scheme.get("description") or ""))


def _is_torn(netloc: str) -> bool:
    """True if a host has lost a part of its name, as an empty value of a variable leaves it."""
    return "" in netloc.rpartition("@")[2].partition(":")[0].split(".")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ProtocolError) else "its schemas are nested too deeply"


def _counted(notes: Counter[str]) -> tuple[str, ...]:
    """Each note once, with its count."""
    return tuple(f"{text} ({count} times)" if count > 1 else text for text, count in notes.items())


def _encodings(raw: object) -> Iterator[tuple[str, Encoding]]:
    """The encodings of form fields by name; one without a style is content of its media type."""
    for name, entry in mapping_or_empty(raw).items():
        encoding = mapping_or_empty(entry)
        styled = encoding.keys() & {"style", "explode", "allowReserved"}
        style = str(encoding.get("style") or "form") if styled else ""
        explode = encoding.get("explode", style == "form") is True
        yield str(name), Encoding(str(encoding.get("contentType") or ""), style, explode)


def _media_rank(media_type: str) -> int:
    """The preference among media types: JSON before forms before the first."""
    order = (_JSON, "+json", "application/x-www-form-urlencoded", "multipart/form-data")
    kind = essence(media_type)
    return next((index for index, end in enumerate(order) if kind.endswith(end)), len(order))


def _arguments(parameters: list[Parameter], body: Body | None) -> tuple[tuple[Parameter, ...], tuple[Parameter, ...]]:
    """Parameters and arguments with their final, unique argument names; arguments in signature order.

    An idempotency key is no required argument: a call without one is given one.
    """
    names = _unique_names(parameters)
    parameters = [
        replace(parameter, argument=name, required=parameter.required and not parameter.is_idempotency_key)
        for parameter, name in zip(parameters, names, strict=True)
    ]
    taken = {parameter.argument for parameter in parameters} | {argument_name(p.name) for p in parameters}
    inside = [
        replace(parameter, argument=f"body_{parameter.argument}", required=False)
        if parameter.argument in taken and parameter.name
        else replace(parameter, argument="request_body")
        if parameter.argument in taken
        else parameter
        for parameter in _body_arguments(body)
    ]
    names = _unique_names(inside, [parameter.argument for parameter in parameters])
    inside = [replace(parameter, argument=name) for parameter, name in zip(inside, names, strict=True)]
    everything = [*(parameter for parameter in parameters if not _is_fixed(parameter)), *inside]
    ordered = sorted(everything, key=lambda p: (p.location != "path", not p.required))
    return tuple(parameters), tuple(ordered)


def _unique_names(parameters: Sequence[Parameter], taken: Sequence[str] = ()) -> list[str]:
    """A name for each parameter; one that is the name on the wire stays, and others get the numbers."""
    order = sorted(range(len(parameters)), key=lambda place: parameters[place].name != parameters[place].argument)
    names = unique([*taken, *(parameters[place].argument for place in order)])[len(taken) :]
    by_place = dict(zip(order, names, strict=True))
    return [by_place[place] for place in range(len(parameters))]


def _is_fixed(parameter: Parameter) -> bool:
    """True if the document gives the only value of a required parameter."""
    return parameter.required and parameter.location != "path" and "const" in parameter.schema


def _body_arguments(body: Body | None) -> list[Parameter]:
    """Properties of an object body, else the whole body as one argument `body` with an empty name.

    Behind them stand the optional properties that only a further media type has.
    """
    if body is None:
        return []
    arguments = _arguments_in(body)
    if [parameter.name for parameter in arguments] == [""]:
        return arguments
    more = [p for other in body.others for p in _arguments_in(other) if p.name]
    names = {parameter.name for parameter in arguments}
    fresh = {parameter.name: replace(parameter, required=False) for parameter in reversed(more)}
    return [*arguments, *(parameter for name, parameter in reversed(fresh.items()) if name not in names)]


def _arguments_in(body: Body) -> list[Parameter]:
    """The arguments of a body in its own media type."""
    properties, needed = object_properties(body.schema)
    if not properties:
        text = body.description or str(body.schema.get("description") or "")
        return [Parameter("", "body", "body", body.required, body.schema, text.strip())]
    return [
        Parameter(
            name=name,
            argument=argument_name(name),
            location="body",
            required=name in needed,
            schema=schema,
            description=str(schema.get("description") or "").strip(),
        )
        for name, schema in properties.items()
        if name and schema.get("readOnly") is not True
    ]
