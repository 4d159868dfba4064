"""Reads the arguments of a call back from its HTTP request, as a server that knows the API document does.

It shares no code with what writes requests: styles are split by openapi-core, collection formats by bravado-core,
brackets by qs, forms by Werkzeug, XML by xmltodict. Values are split before they are percent-decoded, so that an
encoded separator belongs to the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, unquote_plus, urlsplit

import yaml

from benchmarks.micro.wire_schema import WireSchemas, cast, types
from benchmarks.micro.wire_xml import xml_value

__all__ = ["ABSENT", "Received", "UnreadableError", "WireReader", "WireReading"]

ABSENT: Any = object()
"""No body was sent."""

Pairs: TypeAlias = "list[tuple[str, str]]"

_SEPARATORS = {"spaceDelimited": ("+", "%20"), "pipeDelimited": ("%7C", "|")}
_SPACES = {"ssv": " ", "tsv": "\t", "pipes": "|"}


class UnreadableError(Exception):
    """The request is not as the document says; the message names the place."""


_DECODERS: Mapping[str, Callable[[str], str]] = {
    "path": unquote,
    "query": unquote_plus,
    "header": str,
    "cookie": unquote,
}
_FAULTS = (ValueError, TypeError, KeyError, AttributeError, UnreadableError)
"""What the readers raise at a request that they cannot read."""


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it arrived: `target` is percent-encoded, names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class WireReading:
    """Values by location and wire name, and the body; `problems` has what the document does not allow."""

    values: dict[tuple[str, str], object] = field(default_factory=dict)
    body: Any = ABSENT
    problems: list[str] = field(default_factory=list)


class WireReader:
    """Reads requests of one operation.

    Args:
        document: An OpenAPI 3 or Swagger 2.0 document as plain data.
        template: The key of the path in the document. method: In any case.
    """

    def __init__(self, document: Mapping[str, Any], template: str, method: str) -> None:
        self._schemas = WireSchemas(document)
        deref = self._schemas.deref
        item = deref(document["paths"][template])
        self._operation = deref(item[method.lower()])
        self._template = template
        self._prefixes = ["", *sorted(self._base_paths(document, item), key=len, reverse=True)]
        self._swagger = "swagger" in document
        own = [deref(parameter) for parameter in self._operation.get("parameters") or ()]
        named = {(parameter["in"], parameter["name"]) for parameter in own}
        shared = [deref(parameter) for parameter in item.get("parameters") or ()]
        self.parameters = own + [parameter for parameter in shared if (parameter["in"], parameter["name"]) not in named]
        self._consumes = self._operation.get("consumes") or document.get("consumes") or ["application/json"]

    def _base_paths(self, document: Mapping[str, Any], item: Mapping[str, Any]) -> set[str]:
        """The paths of the documented servers, variables by their defaults."""
        paths = {str(document.get("basePath") or "")}
        for owner in (document, item, self._operation):
            for server in owner.get("servers") or ():
                url = str(server["url"])
                for name, variable in (server.get("variables") or {}).items():
                    url = url.replace(f"{{{name}}}", str(variable.get("default", "")))
                paths.add(urlsplit(url).path)
        return {path.rstrip("/") for path in paths} - {""}

    def body(self, media_type: str) -> tuple[Any, bool]:
        """The schema of a body of a media type, None without one, and whether it is required; forms of 2.0 aside."""
        if self._swagger:
            none: dict[str, Any] = {}
            whole = next((parameter for parameter in self.parameters if parameter["in"] == "body"), none)
            return whole.get("schema"), bool(whole.get("required"))
        body = self._schemas.deref(self._operation.get("requestBody") or {})
        media = (body.get("content") or {}).get(media_type)
        return None if media is None else media.get("schema") or {}, bool(body.get("required"))

    def properties(self, schema: Any) -> dict[str, Any]:
        """The properties that a schema of the document declares."""
        return self._schemas.properties(schema)

    def read(self, request: Received) -> WireReading:
        """The arguments of a request. What cannot be read is a problem of the reading."""
        reading = WireReading()
        path, _, query = request.target.partition("?")
        template, _, fixed = self._template.partition("#")[0].partition("?")
        pairs = _raw_pairs(query)
        needed = {parameter["name"] for parameter in self.parameters if parameter.get("required")}
        for pair in _raw_pairs(fixed):
            if pair in pairs and "{" not in pair[1] and pair[0] not in needed:
                pairs.remove(pair)
        try:
            variables = self._path_variables(template, path)
        except UnreadableError as error:
            return WireReading(problems=[f"path: {error}"])
        headers = {name: _header_text(text) for name, text in request.headers.items()}
        cookies = _cookie_pairs(headers.get("cookie", ""))
        for parameter in self.parameters:
            name, location = parameter["name"], parameter["in"]
            if location not in ("path", "query", "header", "cookie"):
                continue
            if location == "header" and name.lower() in ("accept", "content-type", "authorization", "content-length"):
                continue  # OpenAPI: such a definition is ignored
            text = variables.get(name) if location == "path" else headers.get(name.lower())
            alone = [] if text is None else [(name, text)]
            decode = _DECODERS[location]
            try:
                value = self._value(parameter, {"query": pairs, "cookie": cookies}.get(location, alone), decode)
            except _FAULTS as error:
                reading.problems.append(f"{location} {name}: {type(error).__name__} {error}"[:300])
                continue
            if value is not ABSENT:
                reading.values[location, name] = value
        reading.problems += [f"query {name}: undocumented" for name, _ in pairs]
        try:
            reading.body = self._read_body(request)
        except _FAULTS as error:
            reading.problems.append(f"body: {type(error).__name__} {error}"[:300])
        return reading

    def _path_variables(self, template: str, path: str) -> dict[str, str]:
        """The variables of a path, percent-encoded; the path of a documented server may stand before it."""
        names = re.findall(r"\{([^{}]*)\}", template)
        literals = [
            "".join(f"(?:{re.escape(char)}|{re.escape(quote(char, safe=''))})" for char in text)
            for text in re.split(r"\{[^{}]*\}", template)
        ]
        for prefix in self._prefixes:
            for wildcard in ("([^/]*)", "(.*)"):
                match = re.fullmatch(wildcard.join(literals), path.removeprefix(prefix), re.I)
                if match is not None and path.startswith(prefix):
                    return dict(zip(names, match.groups(), strict=True))
        raise UnreadableError(f"the path {path} is not {template}")

    def _value(self, parameter: Mapping[str, Any], pairs: Pairs, decode: Callable[[str], str]) -> Any:
        """The value of a parameter; what belongs to it is taken out of the pairs of a query."""
        name, location = parameter["name"], parameter["in"]
        if self._swagger:
            return _collection(parameter, _taken(pairs, name), decode)
        if "content" in parameter:
            texts = _taken(pairs, name)
            return json.loads(decode(texts[0])) if texts else ABSENT
        style = parameter.get("style") or ("form" if location in ("query", "cookie") else "simple")
        explode = parameter.get("explode", style == "form") not in (False, "false")
        return self._styled(name, parameter.get("schema") or {}, style, explode, pairs, decode)

    def _styled(
        self, name: str, schema: Any, style: str, explode: bool, pairs: Pairs, decode: Callable[[str], str]
    ) -> Any:
        """A value in a style of OpenAPI 3, percent-encoded until its parts are apart."""
        from openapi_core.deserializing.styles import util
        from werkzeug.datastructures import MultiDict

        kinds = types(self._schemas.deref(schema), self._schemas)
        kind = next((kind for kind in ("array", "object") if kind in kinds), "")
        if kinds & {"string", "integer", "number", "boolean"} and [key for key, _ in pairs].count(name) == 1:
            kind = ""  # one text, which may be a scalar
        if style == "deepObject":
            return self._brackets(name, schema, pairs, decode)
        if style == "form" and explode and kind == "object":
            return self._spread(schema, pairs, decode, name)
        texts = _taken(pairs, name)
        if not texts:
            return ABSENT
        if not kind and len(texts) > 1:
            raise UnreadableError(f"sent {len(texts)} times")
        if style in _SEPARATORS:
            if explode or not kind:
                style = "form"
            else:
                texts = [texts[0].replace(*_SEPARATORS[style]).replace("%7c", "|" if "pipe" in style else "%7c")]
        if style in ("matrix", "label"):
            texts = [texts[0].replace(f";{quote(name, safe='')}=", ";v=").replace(f";{name}=", ";v=")]
            key = {"matrix": ";v", "label": ".v"}[style] + "*" * explode
            if not texts[0].startswith(key[0]):
                raise UnreadableError(f"does not start with {key[0]}")
            name = "v"
        else:
            key = name
        loads = {
            "form": util.form_loads,
            "simple": util.simple_loads,
            "label": util.label_loads,
            "matrix": util.matrix_loads,
            "spaceDelimited": util.space_delimited_loads,
            "pipeDelimited": util.pipe_delimited_loads,
        }[style]
        raw = loads(bool(explode), name, kind, MultiDict((key, text) for text in texts))
        return cast(_decoded(raw, decode), schema, self._schemas)

    def _brackets(self, name: str, schema: Any, pairs: Pairs, decode: Callable[[str], str]) -> Any:
        """A value in brackets, `name[key][0]=x`, as the library qs reads it."""
        from qs_codec import DecodeOptions
        from qs_codec import decode as read_brackets

        inside = [pair for pair in pairs if pair[0].startswith(f"{name}[")]
        if not inside:
            return ABSENT
        for pair in inside:
            pairs.remove(pair)
        text = "&".join(f"{quote('v' + key[len(name) :], safe='')}={value}" for key, value in inside)
        limits = DecodeOptions(depth=20, parameter_limit=10_000, list_limit=1000)
        return cast(read_brackets(text, limits)["v"], schema, self._schemas)

    def _spread(self, schema: Any, pairs: Pairs, decode: Callable[[str], str], name: str = "") -> Any:
        """An object whose properties are pairs of their own."""
        whole: dict[str, Any] = {}
        free = self._schemas.additional(schema)
        named = {other["name"] for other in self.parameters if other["in"] == "query" and other["name"] != name}
        properties = self._schemas.properties(schema)
        keys = [*properties, *(key for key, _ in pairs if free is not None and key not in named | properties.keys())]
        for key in dict.fromkeys(keys):
            texts = _taken(pairs, key)
            if texts:
                of_key = properties.get(key, free)
                listed = "array" in types(self._schemas.deref(of_key), self._schemas)
                raw = texts if listed or len(texts) > 1 else texts[0]
                whole[key] = cast(_decoded(raw, decode), of_key, self._schemas)
        return whole or ABSENT

    def _read_body(self, request: Received) -> Any:
        sent = request.headers.get("content-type", "")
        kind = sent.partition(";")[0].strip().lower()
        if self._swagger:
            form = [parameter for parameter in self.parameters if parameter["in"] == "formData"]
            whole = next((parameter for parameter in self.parameters if parameter["in"] == "body"), None)
            content = {media_type: {"schema": (whole or {}).get("schema")} for media_type in self._consumes}
            if form and kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
                content.setdefault(kind, {})
        else:
            form = []
            content = self._schemas.deref(self._operation.get("requestBody") or {}).get("content") or {}
        if not request.body and not kind:
            return ABSENT
        media = _media(content, kind)
        schema = media.get("schema")
        if kind == "application/x-www-form-urlencoded" and types(schema, self._schemas) != {"string"}:
            pairs = _raw_pairs(request.body.decode("ascii"))
            body = self._swagger_form(form, pairs) if form else self._form(media, pairs)
            if pairs:
                raise UnreadableError(f"undocumented field {pairs[0][0]}")
            return body
        if kind.startswith("multipart/"):
            parts = _parts(request.body, sent)
            return self._swagger_parts(form, parts) if form else self._multipart(media, parts)
        if kind in ("application/x-ndjson", "application/jsonl", "application/x-jsonlines", "application/ndjson"):
            return [json.loads(line) for line in request.body.splitlines() if line.strip()]
        if kind in ("application/json", "text/json") or kind.endswith("+json"):
            return json.loads(request.body)
        if kind.endswith("yaml"):
            return yaml.safe_load(request.body)
        if kind in ("application/xml", "text/xml") or kind.endswith("+xml"):
            return xml_value(request.body, schema, self._schemas)
        text = types(schema, self._schemas) == {"string"} and not self._schemas.is_binary(schema)
        if kind.startswith("text/") or text:
            return cast(request.body.decode("utf-8"), schema, self._schemas)
        if types(schema, self._schemas) & {"object", "array"}:
            raise UnreadableError(f"nothing says how an object is written as {kind or 'no media type'}")
        return request.body

    def _form(self, media: Mapping[str, Any], pairs: Pairs) -> dict[str, Any]:
        """Fields of a URL-encoded form, by their `encoding`.

        An object without one is JSON (OpenAPI 3.0.4, 3.1.1) or spread (3.0.3, for which `form` is its style).
        """
        schema, encoding = media.get("schema"), media.get("encoding") or {}
        whole: dict[str, Any] = {}
        properties = self._schemas.properties(schema)
        free = self._schemas.additional(schema)
        extra = [key for key, _ in pairs if free is not None and key.partition("[")[0] not in properties]
        for name, of_name in [*properties.items(), *((key, free) for key in dict.fromkeys(extra))]:
            hints = encoding.get(name) or {}
            kinds = types(self._schemas.deref(of_name), self._schemas)
            if hints.keys() & {"style", "explode", "allowReserved"}:
                style = hints.get("style") or "form"
                value = self._styled(name, of_name, style, hints.get("explode", style == "form"), pairs, unquote_plus)
            elif "json" in hints.get("contentType", ""):
                texts = _taken(pairs, name)
                value = json.loads(unquote_plus(texts[0])) if texts else ABSENT
            elif "object" in kinds and not any(key == name for key, _ in pairs):
                value = self._spread(of_name, pairs, unquote_plus)
            else:
                texts = [unquote_plus(text) for text in _taken(pairs, name)]
                value = cast(texts if "array" in kinds else texts[0], of_name, self._schemas) if texts else ABSENT
                if len(texts) > 1 and "array" not in kinds:
                    raise UnreadableError(f"field {name} was sent {len(texts)} times")
            if value is not ABSENT:
                whole[name] = value
        return whole

    def _multipart(self, media: Mapping[str, Any], parts: Sequence[Part]) -> dict[str, Any]:
        whole: dict[str, Any] = {}
        properties = self._schemas.properties(media.get("schema"))
        pairs = [(part.name, quote(part.data, safe="|")) for part in parts]
        for name, hints in (media.get("encoding") or {}).items():
            if hints.keys() & {"style", "explode"} and "contentType" not in hints and name in properties:
                style = hints.get("style") or "form"
                value = self._styled(
                    name, properties[name], style, hints.get("explode", style == "form"), pairs, unquote
                )
                whole |= {} if value is ABSENT else {name: value}
        for part in [part for part in parts if any(name == part.name for name, _ in pairs)]:
            schema = self._schemas.deref(properties.get(part.name, self._schemas.additional(media.get("schema"))))
            if schema is None:
                raise UnreadableError(f"undocumented part {part.name}")
            listed = "array" in types(schema, self._schemas)
            inner = self._schemas.items(schema) if listed else schema
            documented = ((media.get("encoding") or {}).get(part.name) or {}).get("contentType")
            value = self._part_value(part, inner, documented or self._default_type(inner))
            if not listed and part.name in whole:
                raise UnreadableError(f"part {part.name} was sent twice")
            whole[part.name] = [*whole.get(part.name, []), value] if listed else value
        return whole

    def _default_type(self, schema: Any) -> str:
        kinds = types(self._schemas.deref(schema), self._schemas)
        if kinds & {"object", "array"}:
            return "application/json"
        return "application/octet-stream" if self._schemas.is_binary(schema) else "text/plain"

    def _part_value(self, part: Part, schema: Any, documented: str) -> Any:
        allowed = [text.strip().lower() for text in documented.split(",")]
        sent = part.kind or "text/plain"
        if not any(re.fullmatch(re.escape(text).replace(r"\*", ".*"), sent) for text in allowed):
            raise UnreadableError(f"part {part.name} is {sent}, not {documented}")
        if self._schemas.is_binary(schema):
            return part.data
        if "json" in sent:
            return json.loads(part.data)
        return cast(part.data.decode("utf-8"), schema, self._schemas)

    @staticmethod
    def _swagger_form(form: Sequence[Mapping[str, Any]], pairs: Pairs) -> dict[str, Any]:
        values = {field["name"]: _collection(field, _taken(pairs, field["name"]), unquote_plus) for field in form}
        return {name: value for name, value in values.items() if value is not ABSENT}

    def _swagger_parts(self, form: Sequence[Mapping[str, Any]], parts: Sequence[Part]) -> dict[str, Any]:
        files = {field["name"] for field in form if field["type"] == "file"}
        whole: dict[str, Any] = {part.name: part.data for part in parts if part.name in files}
        pairs = [(part.name, quote(part.data, safe=" ,|\t")) for part in parts if part.name not in files]
        whole |= self._swagger_form([field for field in form if field["name"] not in files], pairs)
        if pairs:
            raise UnreadableError(f"undocumented part {pairs[0][0]}")
        return whole


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a multipart body; `kind` is its media type in lower case, without parameters."""

    name: str
    kind: str
    filename: str | None
    data: bytes


def _parts(body: bytes, content_type: str) -> list[Part]:
    from werkzeug.http import parse_options_header
    from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder

    decoder = MultipartDecoder(parse_options_header(content_type)[1]["boundary"].encode())
    decoder.receive_data(body)
    decoder.receive_data(None)
    parts: list[Part] = []
    event = decoder.next_event()
    while not isinstance(event, Epilogue):
        if isinstance(event, Field | File):
            kind = event.headers.get("content-type", "").partition(";")[0].strip().lower()
            parts.append(Part(event.name, kind, getattr(event, "filename", None), b""))
        elif isinstance(event, Data):
            last = parts.pop()
            parts.append(Part(last.name, last.kind, last.filename, last.data + event.data))
        event = decoder.next_event()
    return parts


def _collection(parameter: Mapping[str, Any], texts: Sequence[str], decode: Callable[[str], str]) -> Any:
    """The value of a parameter of Swagger 2.0, as bravado-core reads it."""
    from bravado_core.param import cast_request_param, unmarshal_collection_format
    from bravado_core.spec import Spec

    name = parameter["name"]
    if not texts:
        return ABSENT
    if parameter.get("type") != "array":
        if len(texts) > 1:
            raise UnreadableError(f"sent {len(texts)} times")
        return cast_request_param(parameter.get("type"), name, decode(texts[0]))
    collection_format, items = parameter.get("collectionFormat", "csv"), parameter.get("items") or {}
    if collection_format == "multi":
        value: Any = list(texts)
    else:
        if len(texts) > 1:
            raise UnreadableError(f"sent {len(texts)} times")
        separator = _SPACES.get(collection_format, "")
        value = texts[0].replace("+", "%20") if decode is unquote_plus else texts[0]
        value = re.sub(re.escape(quote(separator, safe="")), separator, value, flags=re.I) if separator else value
    raw = unmarshal_collection_format(Spec({}), {**parameter, "items": {"type": "string"}}, value)
    if items.get("type") == "array":
        return [_collection({**items, "name": name}, [item], decode) for item in raw]
    return [cast_request_param(items.get("type"), name, decode(item)) for item in raw]


def _raw_pairs(text: str) -> Pairs:
    """Names, decoded, and values, which are still percent-encoded."""
    pairs = [piece.partition("=") for piece in text.split("&") if piece]
    return [(unquote_plus(name), value) for name, _, value in pairs]


def _cookie_pairs(text: str) -> Pairs:
    """Cookies; `a=1&a=2`, the style form in one cookie, counts as two."""
    from werkzeug.sansio.http import parse_cookie

    pairs = [(name, value) for name, value in parse_cookie(text).items(multi=True)]
    return [pair for name, value in pairs for pair in _raw_pairs(f"{quote(name)}={value}")]


def _taken(pairs: Pairs, name: str) -> list[str]:
    """The values of a name, which are taken out of the pairs."""
    texts = [value for key, value in pairs if key == name]
    pairs[:] = [pair for pair in pairs if pair[0] != name]
    return texts


def _decoded(value: Any, decode: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {decode(key): _decoded(item, decode) for key, item in value.items()}
    return [decode(item) for item in value] if isinstance(value, list) else decode(value)


def _header_text(text: str) -> str:
    """A header as UTF-8, which http.server has read as Latin-1."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _media(content: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The documented media type that was sent. Raises: UnreadableError."""
    ranges = sorted(content, key=lambda documented: documented.count("*"))
    for documented in ranges:
        pattern = re.escape(documented.partition(";")[0].strip().lower()).replace(r"\*", ".*")
        if re.fullmatch(pattern, kind):
            media: Mapping[str, Any] = content[documented]
            return media
    raise UnreadableError(f"Content-Type {kind or 'none'} is not among {list(content)}")
