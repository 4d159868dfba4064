"""Parse and validate the parameters and the body of a request.

This is the inverse of `protocols.calls.binding`: texts become values of the types in the schemas, which are checked
only then.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from urllib.parse import parse_qsl, quote

from protocols.calls.schema_values import request_validator_class
from protocols.media_types import family
from protocols.model import SEPARATORS, Body, Location, Parameter, Protocol, Schema, Tool
from protocols.schema_fields import items_of, json_types, properties_of, resolve, type_of
from protocols.simulator.analysis.response_shape import conforms
from protocols.simulator.http.messages import RequestError, SimulatedRequest

__all__ = ["RequestReader"]

_COMBINED = frozenset({"$ref", "oneOf", "anyOf", "allOf", "not", "if", "multipleOf"})
_INTEGER = re.compile(r"[-+]?\d+")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_PART_NAME = re.compile(rb'[; ]name="?([^";\r\n]*)', re.IGNORECASE)


class RequestReader:
    """Reads requests to the tools of one protocol."""

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol

    # -- bodies ----------------------------------------------------------------------------------------------------

    def body(self, request: SimulatedRequest, tool: Tool) -> dict[str, object]:
        """The fields of the body, empty without one; a body that is no object is the field "".

        Raises: RequestError: It is missing, unreadable or invalid.
        """
        if tool.body is None:
            return {}
        if not request.body:
            if tool.body.required and not request.lenient:
                raise RequestError(_refusal(tool), "a body is required")
            return {}
        kind = request.header("Content-Type") or tool.body.media_type
        bodies = (tool.body, *tool.body.others)
        body = next((body for body in bodies if family(body.media_type) == family(kind)), tool.body)
        if not _readable(body.media_type):
            return {}
        kind = kind if _readable(kind) else body.media_type
        sent: object
        if "json" in kind.lower():
            try:
                sent = json.loads(request.body)
            except (ValueError, RecursionError):
                raise RequestError(_refusal(tool), "the body is not valid JSON") from None
        elif "urlencoded" in kind.lower():
            text = request.body.decode(errors="replace")
            sent = self._form(parse_qsl(text, keep_blank_values=True), body)
        else:
            sent = self._form(_multipart(kind, request.body), body)
        if not request.lenient and (problem := self._problem(sent, body.schema)) is not None:
            raise RequestError(_refusal(tool), problem)
        return sent if isinstance(sent, dict) else {"": sent}

    def _form(self, pairs: Iterable[tuple[str, str]], body: Body) -> dict[str, object]:
        properties = properties_of(body.schema, self.protocol)
        texts: dict[str, list[str]] = defaultdict(list)
        nested: list[tuple[str, str]] = []
        for name, text in pairs:
            plain = name if name in properties else name.removesuffix("[]")
            if "[" in plain and plain not in properties:
                nested.append((name, text))
            else:
                texts[plain].append(text)
        read = {n: self._value(sent, properties.get(n, {}), _separator(body, n)) for n, sent in texts.items()}
        return read | {n: self._nested(value, properties.get(n, {})) for n, value in _bracketed(nested).items()}

    def _nested(self, value: object, schema: Schema) -> object:
        """Texts in lists and dicts, as the schema reads them."""
        schema = resolve(schema, self.protocol)
        if isinstance(value, Mapping):
            return {str(name): self._nested(item, self._field(str(name), schema)) for name, item in value.items()}
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            return [self._nested(item, items_of(schema, self.protocol) or {}) for item in value]
        return self._value(value if isinstance(value, list) else [str(value)], schema)

    # -- parameters ------------------------------------------------------------------------------------------------

    def parameters(
        self, request: SimulatedRequest, tool: Tool, path_values: Mapping[str, str], body: Mapping[str, object]
    ) -> dict[str, object]:
        """The values of the sent parameters, by name.

        Args:
            body: The fields of the body; a required parameter may stand there instead.
        Raises: RequestError: One is missing or invalid.
        """
        query: dict[str, list[str]] = defaultdict(list)
        for name, text in request.query:
            query[name].append(text)
        values: dict[str, object] = {}
        for parameter in tool.parameters:
            sent = self._sent(parameter, tool, request, path_values, query)
            if sent is None:
                absent = parameter.required and parameter.name not in body and not self._secret(parameter)
                if absent and not (request.lenient and parameter.location != "path"):
                    status = _refusal(tool, parameter.location)
                    raise RequestError(status, f"{parameter.name}: this parameter is required")
                continue
            if parameter.empty and sent == [""]:
                continue
            value = self._read(parameter, sent)
            if not request.lenient and (problem := self._problem(value, parameter.schema)) is not None:
                raise RequestError(_refusal(tool, parameter.location), f"{parameter.name}: {problem}")
            if value is not None:
                values[parameter.name] = value
        return values

    def _sent(
        self,
        parameter: Parameter,
        tool: Tool,
        request: SimulatedRequest,
        path_values: Mapping[str, str],
        query: Mapping[str, list[str]],
    ) -> list[str] | Mapping[str, object] | None:
        """The texts of a parameter, by key where each field of an object is sent by itself; None if it is missing."""
        if parameter.location == "query":
            texts = query.get(parameter.name) or query.get(parameter.name + "[]")
            return texts or (self._members(parameter, tool, query) if self._spread(parameter) else {}) or None
        if parameter.location == "path":
            text = path_values.get(parameter.argument)
        elif parameter.location == "cookie":
            text = request.cookies.get(parameter.name)
        else:
            text = request.header(parameter.name)
        if text is not None and parameter.explode and type_of(parameter.schema) == "object":
            text = ",".join(piece for part in text.split(",") for piece in part.split("=", 1))
        return [text] if text is not None else None

    def _spread(self, parameter: Parameter) -> bool:
        """True if each field of the parameter is a query parameter of its own."""
        apart = parameter.style == "deepObject" or (parameter.explode and parameter.style != "json")
        return apart and parameter.location == "query" and "object" in _kinds(resolve(parameter.schema, self.protocol))

    def _members(self, parameter: Parameter, tool: Tool, query: Mapping[str, list[str]]) -> Mapping[str, object]:
        """The fields of an object: `filter[color]=red`, or just `color=red`."""
        if parameter.style == "deepObject":
            start = len(parameter.name)
            parts = [(n, text) for n, texts in query.items() if n.startswith(f"{parameter.name}[") for text in texts]
            members = _bracketed([(f"value{name[start:]}", text) for name, text in parts]).get("value")
            return members if isinstance(members, Mapping) else {}
        own = properties_of(parameter.schema, self.protocol)
        claimed = {sibling.name for sibling in tool.parameters}
        for sibling in tool.parameters:
            claimed |= properties_of(sibling.schema, self.protocol).keys() if self._spread(sibling) else set()
        closed = parameter.schema.get("additionalProperties") is False
        return {n: t for n, t in query.items() if n in own or (n.partition("[")[0] not in claimed and not closed)}

    def _read(self, parameter: Parameter, sent: list[str] | Mapping[str, object]) -> object:
        if isinstance(sent, Mapping):
            return self._nested(sent, parameter.schema)
        if parameter.style == "json":
            with suppress(ValueError, RecursionError):
                return json.loads(sent[-1])
        repeated = parameter.location == "query" and parameter.explode
        return self._value(sent, parameter.schema, "" if repeated else SEPARATORS.get(parameter.style, ","))

    def _secret(self, parameter: Parameter) -> bool:
        if parameter.location == "header" and parameter.name.lower() in {"authorization", "accept", "content-type"}:
            return True
        return any(s.kind == "apiKey" and s.parameter == parameter.name for s in self.protocol.security_schemes)

    # -- values ----------------------------------------------------------------------------------------------------

    def _value(self, texts: Sequence[str], schema: Schema, separator: str | None = "") -> object:
        """The first reading of texts that the schema allows, else the first.

        Args:
            separator: The separator in a list sent as one text; empty where each item is a text of its own, None for
                such an item.
        """
        readings = list(self._readings(texts, resolve(schema, self.protocol), separator))
        return next((value for value in readings if self._problem(value, schema) is None), readings[0])

    def _readings(self, texts: Sequence[str], schema: Schema, separator: str | None) -> Iterator[object]:
        kinds = _kinds(schema)
        parts = texts[0].split(separator) if separator and len(texts) == 1 else texts
        if "array" in kinds and separator is not None:
            items = items_of(schema, self.protocol) or {}
            yield [self._value([part], items, None) for part in parts if part]
        if "object" in kinds and separator is not None and len(parts) % 2 == 0:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            yield {name: self._value([text], self._field(name, schema), None) for name, text in pairs}
        text = texts[-1]
        with suppress(ValueError, RecursionError):
            if {"integer", "number"} & kinds and _INTEGER.fullmatch(text):
                yield int(text)
            elif "number" in kinds and _NUMBER.fullmatch(text) and isfinite(number := float(text)):
                yield number
            if "boolean" in kinds and text.lower() in _BOOLEANS:
                yield _BOOLEANS[text.lower()]
            if {"array", "object"} & kinds:
                yield json.loads(text)
        yield text
        if text in {"", "null"}:
            yield None

    def _field(self, name: str, schema: Schema) -> Schema:
        additional = schema.get("additionalProperties")
        return properties_of(schema, self.protocol).get(name, additional if isinstance(additional, Mapping) else {})

    def _problem(self, value: object, schema: Schema) -> str | None:
        """The first violation of a schema by a value, with its place; formats are ignored."""
        plain = {word: limit for word, limit in schema.items() if word != "format"}
        if not isinstance(value, (dict, list)) and not schema.keys() & _COMBINED and conforms(value, plain):
            return None
        error = next(request_validator_class()(self.protocol.standalone(schema)).iter_errors(value), None)
        if error is None:
            return None
        place = ".".join(map(str, error.absolute_path))
        return f"{place + ': ' if place else ''}{error.message}"


def _kinds(schema: Schema) -> set[str]:
    return set(json_types(schema) or (type_of(schema),))


def _readable(media_type: str) -> bool:
    return any(word in media_type.lower() for word in ("json", "urlencoded", "multipart"))


def _separator(body: Body, name: str) -> str:
    """The separator of the items of a form field that are sent as one text; empty for other fields."""
    encoding = body.encoding.get(name)
    joined = encoding is not None and encoding.style not in ("", "deepObject") and not encoding.explode
    return SEPARATORS.get(encoding.style, ",") if encoding is not None and joined else ""


def _bracketed(pairs: Sequence[tuple[str, str]]) -> Mapping[str, object]:
    """Pairs whose names have brackets, as lists and dicts: `lines[0][price]`."""
    if not pairs:
        return {}
    import qs_codec  # seldom needed

    return qs_codec.decode("&".join(f"{quote(name, safe='[]')}={quote(text, safe='')}" for name, text in pairs))


def _refusal(tool: Tool, location: Location = "body") -> int:
    """The documented status for invalid input at a place."""
    statuses = (404, 400, 422) if location == "path" else (400, 422)
    documented = {response.status for response in tool.responses}
    return next((status for status in statuses if str(status) in documented), statuses[0])


def _multipart(content_type: str, body: bytes) -> Iterator[tuple[str, str]]:
    """Names and texts of the parts of a multipart body; the content of a file part."""
    # A parser of mail would read names as ASCII, and take a mail that is sent as a file for further parts.
    boundary = re.search(r'boundary="?([^";]+)', content_type, re.IGNORECASE)
    for part in body.split(b"--" + boundary[1].encode())[1:-1] if boundary else ():
        head, _, content = part.partition(b"\r\n\r\n")
        if name := _PART_NAME.search(head):
            yield name[1].decode(errors="replace"), content.removesuffix(b"\r\n").decode(errors="replace")
