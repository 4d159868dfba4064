"""Reads the arguments of a call back from its HTTP request, as a server that knows the API document does.

It shares no code with what writes requests: styles are split by openapi-core, brackets by qs, forms by Werkzeug, XML by
xmltodict. Values are split before they are percent-decoded, so that an encoded separator belongs to the value. It reads
what random_operations.py writes: no references, no composed schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import quote, unquote, unquote_plus

import xmltodict
from openapi_core.deserializing.styles import util
from qs_codec import decode as read_brackets
from werkzeug.datastructures import MultiDict
from werkzeug.http import parse_options_header
from werkzeug.sansio.http import parse_cookie
from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder

from tests.protocols.wire.service import Arrived

__all__ = ["ABSENT", "Place", "UnreadableError", "read_request"]

Place = tuple[str, str]
"""Location and wire name of an argument; `("body", "")` is a whole body."""

ABSENT: Any = object()
"""No value was sent."""

Pairs: TypeAlias = "list[tuple[str, str]]"
Schema: TypeAlias = Mapping[str, Any]
Decode: TypeAlias = Callable[[str], str]

_SEPARATORS = {"spaceDelimited": ("+", "%20"), "pipeDelimited": ("%7C", "|")}
_LOADERS = {
    "form": util.form_loads,
    "simple": util.simple_loads,
    "label": util.label_loads,
    "matrix": util.matrix_loads,
    "spaceDelimited": util.space_delimited_loads,
    "pipeDelimited": util.pipe_delimited_loads,
}
_DECODERS: Mapping[str, Decode] = {"path": unquote, "query": unquote_plus, "header": str, "cookie": unquote}
_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_IGNORED = ("accept", "content-type", "authorization", "content-length")


class UnreadableError(ValueError):
    """The request is not as the document says."""


def read_request(document: Schema, template: str, request: Arrived) -> dict[Place, Any]:
    """The arguments of a request by place, its body as `("body", "")`, ABSENT if there is none.

    Raises: ValueError: A part of it cannot be read, or is undocumented; the message names it.
    """
    operation = document["paths"][template][request.method.lower()]
    parameters = operation.get("parameters", ())
    pairs = _raw_pairs(request.query)
    # http.server has read the headers as Latin-1.
    headers = {name: text.encode("latin-1").decode("utf-8") for name, text in request.headers.items()}
    sources = {"query": pairs, "cookie": _cookie_pairs(headers.get("cookie", ""))}
    variables = _path_variables(template, request.path)
    values: dict[Place, Any] = {}
    for parameter in parameters:
        name, location = parameter["name"], parameter["in"]
        if location not in _DECODERS or (location == "header" and name.lower() in _IGNORED):
            continue
        text = variables.get(name) if location == "path" else headers.get(name.lower())
        alone = [] if text is None else [(name, text)]
        values[location, name] = _value(parameter, sources.get(location, alone), _DECODERS[location], parameters)
    if pairs:
        raise UnreadableError(f"query {pairs[0][0]}: undocumented")
    values["body", ""] = _read_body(operation, request.body, headers.get("content-type", ""))
    return {place: value for place, value in values.items() if value is not ABSENT or place == ("body", "")}


def _path_variables(template: str, path: str) -> dict[str, str]:
    """The variables of a path, percent-encoded."""
    literals = [
        "".join(f"(?:{re.escape(char)}|{re.escape(quote(char, safe=''))})" for char in text)
        for text in re.split(r"\{[^{}]*\}", template)
    ]
    match = re.fullmatch("([^/]*)".join(literals), path, re.I)
    if match is None:
        raise UnreadableError(f"the path {path} is not {template}")
    return dict(zip(re.findall(r"\{([^{}]*)\}", template), match.groups(), strict=True))


def _value(parameter: Schema, pairs: Pairs, decode: Decode, parameters: Sequence[Schema]) -> Any:
    """The value of a parameter; what belongs to it is taken out of the pairs of a query."""
    name, location = parameter["name"], parameter["in"]
    if "content" in parameter:
        texts = _taken(pairs, name)
        return json.loads(decode(texts[0])) if texts else ABSENT
    style = parameter.get("style") or ("form" if location in ("query", "cookie") else "simple")
    return _styled(name, parameter["schema"], style, parameter.get("explode", style == "form"), pairs, decode)


def _styled(name: str, schema: Schema, style: str, explode: bool, pairs: Pairs, decode: Decode) -> Any:
    """A value in a style of OpenAPI 3, percent-encoded until its parts are apart."""
    kinds = _types(schema)
    kind = next((kind for kind in ("array", "object") if kind in kinds), "")
    if style == "deepObject":
        return _brackets(name, schema, pairs, decode)
    if style == "form" and explode and kind == "object":
        return _spread(schema, pairs, decode)
    texts = _taken(pairs, name)
    if not texts:
        return ABSENT
    if not kind and len(texts) > 1:
        raise UnreadableError(f"{name} was sent {len(texts)} times")
    if style in _SEPARATORS and explode:
        style = "form"
    elif style in _SEPARATORS:
        texts = [texts[0].replace(*_SEPARATORS[style])]
    key = name
    if style in ("matrix", "label"):
        texts = [texts[0].replace(f";{quote(name, safe='')}=", ";v=").replace(f";{name}=", ";v=")]
        name, key = "v", {"matrix": ";v", "label": ".v"}[style] + "*" * explode
        if not texts[0].startswith(key[0]):
            raise UnreadableError(f"{texts[0]} does not start with {key[0]}")
    raw = _LOADERS[style](bool(explode), name, kind, MultiDict((key, text) for text in texts))
    return _cast(_decoded(raw, decode), schema)


def _brackets(name: str, schema: Schema, pairs: Pairs, decode: Decode) -> Any:
    """A value in brackets, `name[key][0]=x`, as the library qs reads it."""
    inside = [pair for pair in pairs if pair[0].startswith(f"{name}[")]
    pairs[:] = [pair for pair in pairs if pair not in inside]
    text = "&".join(f"{quote('v' + key[len(name) :], safe='')}={value}" for key, value in inside)
    return _cast(read_brackets(text)["v"], schema) if inside else ABSENT


def _spread(schema: Schema, pairs: Pairs, decode: Decode) -> Any:
    """An object whose properties are pairs of their own."""
    whole: dict[str, Any] = {}
    for key, of_key in schema.get("properties", {}).items():
        texts = _taken(pairs, key)
        if texts:
            whole[key] = _cast(_decoded(texts if "array" in _types(of_key) else texts[0], decode), of_key)
    return whole or ABSENT


def _read_body(operation: Schema, content: bytes, content_type: str) -> Any:
    kind = content_type.partition(";")[0].strip().lower()
    if not content and not kind:
        return ABSENT
    documented = operation.get("requestBody", {}).get("content", {})
    media: Schema = documented.get(kind, {})
    if kind not in documented:
        raise UnreadableError(f"Content-Type {kind or 'none'} is not among {list(documented)}")
    schema = media.get("schema", {})
    if kind == "application/x-www-form-urlencoded":
        pairs = _raw_pairs(content.decode("ascii"))
        body = _form(media, pairs)
        if pairs:
            raise UnreadableError(f"undocumented field {pairs[0][0]}")
        return body
    if kind.startswith("multipart/"):
        return _multipart(media, _parts(content, content_type))
    if kind in ("application/x-ndjson", "application/jsonl"):
        return [json.loads(line) for line in content.splitlines()]
    if kind.endswith("json"):
        return json.loads(content)
    if kind.endswith("xml"):
        return _xml_document(content, schema)
    return content.decode("utf-8") if kind.startswith("text/") else content


def _form(media: Schema, pairs: Pairs) -> dict[str, Any]:
    """Fields of a URL-encoded form, by their `encoding`.

    An object without one is JSON (OpenAPI 3.0.4, 3.1.1) or spread (3.0.3, for which `form` is its style).
    """
    whole: dict[str, Any] = {}
    for name, schema in media["schema"]["properties"].items():
        hints = media.get("encoding", {}).get(name, {})
        if "style" in hints:
            value = _styled(name, schema, hints["style"], hints["explode"], pairs, unquote_plus)
        elif "object" in _types(schema) and not any(key == name for key, _ in pairs):
            value = _spread(schema, pairs, unquote_plus)
        else:
            texts = [unquote_plus(text) for text in _taken(pairs, name)]
            if len(texts) > 1 and "array" not in _types(schema):
                raise UnreadableError(f"field {name} was sent {len(texts)} times")
            value = _cast(texts if "array" in _types(schema) else texts[0], schema) if texts else ABSENT
        whole |= {} if value is ABSENT else {name: value}
    return whole


def _multipart(media: Schema, parts: Sequence[_Part]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for name, kind, data in parts:
        schema = media["schema"]["properties"].get(name)
        if schema is None:
            raise UnreadableError(f"undocumented part {name}")
        listed = "array" in _types(schema)
        inner = schema["items"] if listed else schema
        default = "application/octet-stream" if _is_binary(inner) else "text/plain"
        default = "application/json" if _types(inner) & {"object", "array"} else default
        documented = media.get("encoding", {}).get(name, {}).get("contentType", default)
        if (kind or "text/plain") not in documented.split(", "):
            raise UnreadableError(f"part {name} is {kind}, not {documented}")
        if not listed and name in whole:
            raise UnreadableError(f"part {name} was sent twice")
        text = data if _is_binary(inner) else data.decode("utf-8")
        value = text if isinstance(text, bytes) else json.loads(text) if "json" in kind else _cast(text, inner)
        whole[name] = [*whole.get(name, []), value] if listed else value
    return whole


_Part: TypeAlias = tuple[str, str, bytes]
"""A part of a multipart body: its name, its media type in lower case without parameters, its data."""


def _parts(content: bytes, content_type: str) -> list[_Part]:
    decoder = MultipartDecoder(parse_options_header(content_type)[1]["boundary"].encode())
    decoder.receive_data(content)
    decoder.receive_data(None)
    parts: list[_Part] = []
    while not isinstance(event := decoder.next_event(), Epilogue):
        if isinstance(event, Field | File):
            kind = event.headers.get("content-type", "").partition(";")[0].strip().lower()
            parts.append((event.name, kind, b""))
        elif isinstance(event, Data):
            name, kind, data = parts.pop()
            parts.append((name, kind, data + event.data))
    return parts


def _raw_pairs(text: str) -> Pairs:
    """Names, decoded, and values, which are still percent-encoded."""
    pairs = [piece.partition("=") for piece in text.split("&") if piece]
    return [(unquote_plus(name), value) for name, _, value in pairs]


def _cookie_pairs(text: str) -> Pairs:
    """Cookies; `a=1&a=2`, the style form in one cookie, counts as two."""
    cookies = parse_cookie(text).items(multi=True)
    return [pair for name, value in cookies for pair in _raw_pairs(f"{quote(name)}={value}")]


def _taken(pairs: Pairs, name: str) -> list[str]:
    """The values of a name, which are taken out of the pairs."""
    texts = [value for key, value in pairs if key == name]
    pairs[:] = [pair for pair in pairs if pair[0] != name]
    return texts


def _decoded(value: Any, decode: Decode) -> Any:
    if isinstance(value, Mapping):
        return {decode(key): _decoded(item, decode) for key, item in value.items()}
    return [decode(item) for item in value] if isinstance(value, list) else decode(value)


def _types(schema: Schema) -> frozenset[str]:
    """The types that a schema allows; empty where it says nothing."""
    kinds = schema.get("type", ())
    return frozenset([kinds] if isinstance(kinds, str) else kinds) | ({"null"} if schema.get("nullable") else set())


def _is_binary(schema: Schema) -> bool:
    return schema.get("format") == "binary" or "contentMediaType" in schema


def _cast(value: Any, schema: Schema) -> Any:
    """Texts in the types of a schema. Raises: ValueError: A text is not of its type."""
    kinds = _types(schema)
    if isinstance(value, str) and kinds & {"object", "array"} and value[:1] in ("{", "["):
        return json.loads(value)
    if isinstance(value, Mapping):
        return {key: _cast(item, schema.get("properties", {}).get(key, {})) for key, item in value.items()}
    if "array" in kinds:
        items = value if isinstance(value, list) else [value]
        if len(items) == 1 and isinstance(items[0], str) and items[0].startswith("["):
            return json.loads(items[0])
        return [_cast(item, schema["items"]) for item in items]
    if not isinstance(value, str) or not kinds & _SCALARS or kinds == {"string"}:
        return value
    if "null" in kinds and "string" not in kinds and value == "null":
        return None
    if "boolean" in kinds and value in ("true", "false"):
        return value == "true"
    if "string" in kinds:
        return value
    return int(value) if "integer" in kinds else float(value)


def _xml_document(content: bytes, schema: Schema) -> Any:
    """The value of a document of XML by the `xml` of its schema. Raises: ValueError: A part is not as it says."""
    tree = xmltodict.parse(content, process_namespaces=True, namespace_separator="|", strip_whitespace=False)
    (root, node), *_ = tree.items()
    if root != _qualified(schema, ""):
        raise UnreadableError(f"the root is {root}, not {_qualified(schema, '')}")
    return _xml_value(node, schema)


def _qualified(schema: Schema, name: str) -> str:
    form = schema.get("xml", {})
    name = form.get("name") or name
    name = f"{form['namespace']}|{name}" if "namespace" in form else name
    return f"@{name}" if form.get("attribute") else name


def _xml_value(node: Any, schema: Schema) -> Any:
    if "array" in _types(schema):
        inside = {key: value for key, value in (node or {}).items() if key != "#text"}
        items = inside.pop(_qualified(schema["items"], ""), [])
        if inside:
            raise UnreadableError(f"a list of {', '.join(inside)}")
        return [_xml_value(item, schema["items"]) for item in (items if isinstance(items, list) else [items])]
    if "object" not in _types(schema):
        return _cast((node.get("#text") if isinstance(node, Mapping) else node) or "", schema)
    whole: dict[str, Any] = {}
    elements = {key: value for key, value in (node or {}).items() if not key.startswith("@xmlns")}
    for name, of_name in schema["properties"].items():
        bare_list = "array" in _types(of_name) and "wrapped" not in of_name.get("xml", {})
        key = _qualified(of_name["items"] if bare_list else of_name, name)
        if key not in elements:
            continue
        value = elements.pop(key)
        if bare_list:
            listed = value if isinstance(value, list) else [value]
            whole[name] = [_xml_value(item, of_name["items"]) for item in listed]
        else:
            whole[name] = _xml_value(value, of_name)
    if elements.keys() - {"#text"} or str(elements.get("#text") or "").strip():
        raise UnreadableError(f"undocumented {', '.join(elements)}")
    return whole
