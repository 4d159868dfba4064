"""Tool records: the JSON files of ToolBench, a tool with its APIs (`api_list`), or a query with the APIs that it lists.

They become a tool file and are then read like one. Files, servers and released weights know the standardized names of
APIs and parameters alone; not all are Python identifiers, so a program writes those made of them. Over the wire go the
names of the record. A record with a `url` is called there, with the header
that the gateway wants; one without has the path `/CATEGORY/TOOL/API` of a server that does not exist.

Source: ToolLLM (arXiv:2307.16789) and its released files.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from protocols.documents import tool_files
from protocols.documents.openapi import ARGUMENT, FIXED, NAME, RECORD
from protocols.documents.source import pointer
from protocols.documents.spec_fixes import JSON_TYPES, spelled_type
from protocols.naming import argument_name

__all__ = [
    "NO_SERVER",
    "api_path",
    "category_folder",
    "function_name",
    "identifiers",
    "parameter_name",
    "record_parameters",
    "standard_name",
    "template_schema",
    "upgrade",
]

NO_SERVER = "https://tools.invalid"
"""The server of records without a `url`."""

_KEY_HEADER, _HOST_HEADER = "X-RapidAPI-Key", "X-RapidAPI-Host"
_DESCRIBING = ("tool_name", "api_name", "api_description", "required_parameters", "optional_parameters")
"""Keys of a record that say what a tool is called and takes."""
_CUSTOM_CATEGORY = "Customized"
"""The category of a tool that is in no folder."""

_LEAF_TYPES: Mapping[str, Mapping[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "list": {"type": "array", "items": {}},
    "empty list": {"type": "array", "items": {}},
    "dict": {"type": "object"},
}
_LISTED = re.compile(r"list of (?P<kind>\w+) with length (?P<count>\d+)")
_COUNT = "_list_length"
_SMALL = 10
"""Items of a list that a template counts for sure; larger counts are those of one response."""
_MAX_EXAMPLE = 200
"""Characters of an example value that is shown."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

_MAX_NAME = 64
"""Characters of a function name; of a longer one the last are kept."""

_RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and"})
_OUTSIDE = re.compile(r"[^\u4e00-\u9fa5a-zA-Z0-9_^]")


def upgrade(content: Mapping[str, Any], name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The tool as OpenAPI 3.0, and its old JSON pointers by new prefix.

    Args:
        content: A tool, or a query, whose records name their own tool and category.
        name: That of the file; its folder is the tool's category where no record names one.
    """
    file = Path(name)
    tool = str(content.get("tool_name") or content.get("title") or content.get("standardized_name") or file.stem)
    category = str(content.get("category_name") or file.parent.name or _CUSTOM_CATEGORY)
    records = [
        {"tool_name": tool, "category_name": category, **record} if isinstance(record, Mapping) else record
        for record in content["api_list"]
    ]
    usable = [record for record in records if isinstance(record, Mapping)]
    names = dict(zip(map(id, usable), identifiers(map(_display_names, usable)), strict=True))
    hosts = {split.netloc: f"{split.scheme}://{split.netloc}" for split in map(_address, usable) if split.netloc}
    document, places = tool_files.upgrade(
        {
            "title": str(content.get("title") or tool),
            "description": str(content.get("tool_description") or ""),
            "servers": [{"url": url} for url in hosts.values()] or [{"url": NO_SERVER}],
            "headers": {_KEY_HEADER: ""} if hosts else {},
            "endpoints": [_endpoint(record, names.get(id(record), "")) for record in records],
        },
        tool,
    )
    by_name = {names[id(record)]: record for record in usable}
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict) and (record := by_name.get(str(operation.get(NAME)))):
                _complete(operation, record)
    return document, {new: old.replace(pointer("endpoints"), pointer("api_list"), 1) for new, old in places.items()}


def identifiers(names: Iterable[tuple[str, str]]) -> list[str]:
    """Identifiers of at most 64 characters for APIs by their display names, API before tool, each of them once."""
    wished_names = [_function_identifier(api, tool) for api, tool in names]
    reserved, used, result = set(wished_names), set[str](), []
    for name in wished_names:
        candidate, number = name, 2
        while candidate in used or (candidate != name and candidate in reserved):
            candidate, number = argument_name(f"{name.rstrip('_')}_{number}"[-_MAX_NAME:]), number + 1
        used.add(candidate)
        result.append(candidate)
    return result


def standard_name(text: str) -> str:
    """The standardized name of a tool: `Get User^Info` -> `get_user^info`, `123 go` -> `get_123_go`.

    The `^` survives. An empty text stays empty.
    """
    name = re.sub("_+", "_", _OUTSIDE.sub("_", text)).lower().strip("_")
    return f"get_{name}" if name[:1].isdigit() else name


def parameter_name(text: str) -> str:
    """The standardized name of an API or a parameter; a few reserved words get a prefix: `ID` -> `is_id`."""
    name = standard_name(text)
    return f"is_{name}" if name in _RESERVED else name


def category_folder(text: str) -> str:
    """The folder of a category: `News, Media` -> `News_Media`; one pass over double underscores, the case is kept."""
    return re.sub("[ ,/]", "_", text).replace("__", "_")


def function_name(api: str, tool: str) -> str:
    """The published function name of an API of a tool, from their display names."""
    return f"{parameter_name(api)}_for_{standard_name(tool)}"[-_MAX_NAME:]


def _function_identifier(api: str, tool: str) -> str:
    """The published function name as a Python identifier of at most 64 characters, without an underscore in front."""
    name = argument_name(function_name(api, tool))
    return name if len(name) <= _MAX_NAME else name[-_MAX_NAME + 1 :].lstrip("_").rjust(_MAX_NAME, "n")


def api_path(category: str, tool: str, api: str) -> str:
    """The path of an API without a `url`, from its display names: `/Data/random_words/get_word`."""
    return "/".join(("", category_folder(category), standard_name(tool) or "_", parameter_name(api) or "_"))


def record_parameters(record: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], bool]]:
    """The usable parameters of a record, and whether each is required; the first of two of one name counts."""
    parameters: dict[str, tuple[Mapping[str, Any], bool]] = {}
    for key, required in (("required_parameters", True), ("optional_parameters", False)):
        listed = record.get(key)
        for raw in listed if isinstance(listed, list) else ():
            if isinstance(raw, Mapping) and str(raw.get("name") or "").strip():
                parameters.setdefault(str(raw["name"]), (raw, required))
    return list(parameters.values())


def _display_names(record: Mapping[str, Any]) -> tuple[str, str]:
    return str(record.get("api_name") or record.get("name") or ""), str(record["tool_name"])


def _address(record: Mapping[str, Any]) -> Any:
    return urlsplit(str(record.get("url") or "").strip())


def _endpoint(record: object, name: str) -> object:
    """The record as an endpoint of a tool file."""
    if not isinstance(record, Mapping):
        return record
    api, tool = _display_names(record)
    endpoint: dict[str, Any] = {
        "name": name,
        "method": str(record.get("method") or "GET"),
        "url": str(record.get("url") or "").strip() or api_path(str(record["category_name"]), tool, api),
        "description": str(record.get("api_description") or record.get("description") or api).strip(),
        "parameters": [_parameter(raw, required) for raw, required in record_parameters(record)],
    }
    schema = _response_schema(record)
    if schema is not None:
        endpoint["responses"] = {"200": {"description": "", "content": {"application/json": {"schema": schema}}}}
    return endpoint


def _complete(operation: dict[str, Any], record: Mapping[str, Any]) -> None:
    """Add what a tool file has no words for: names of arguments, the published name, the tool, the gateway's host."""
    for parameter in operation["parameters"]:
        parameter[ARGUMENT] = argument_name(parameter_name(parameter["name"]))
    api, tool = _display_names(record)
    operation["operationId"] = function_name(api, tool)
    operation["tags"] = [tool]
    described = {"api_description": record.get("description"), "api_name": api}
    operation[RECORD] = {**described, **{key: record[key] for key in _DESCRIBING if key in record}}
    host = _address(record).netloc
    if host:
        fixed = {"name": _HOST_HEADER, "in": "header", "required": True, "schema": {"type": "string"}}
        operation["parameters"].append({**fixed, FIXED: host})


def _parameter(raw: Mapping[str, Any], required: bool) -> dict[str, Any]:
    schema = _parameter_schema(str(raw.get("type") or ""))
    value = _typed(schema, raw.get("default"))
    if value is not None:
        schema["example" if required else "default"] = value
    description = str(raw.get("description") or "").strip()
    empty = {"allowEmptyValue": True} if raw.get("default") == "" and schema["type"] != "string" else {}
    parameter = {"name": str(raw["name"]), "in": "query", "required": required}
    return {**parameter, **empty, "description": description, "schema": schema}


def _parameter_schema(kind: str) -> dict[str, Any]:
    """JSON Schema of a published type by its first word: `NUMBER`, `DATE (YYYY-MM-DD)`; all else is a string."""
    schema: dict[str, Any] = {"type": "string", **(spelled_type((kind.split() or [""])[0]) or {})}
    return {**schema, "items": {}} if schema["type"] == "array" else schema


def _typed(schema: Mapping[str, Any], value: object) -> object:
    """A value as one of the schema's type, out of its text where it is one; None where it is of another type."""
    text = str(value).strip() if value is not None else ""
    kind = schema["type"]
    if not text or len(text) > _MAX_EXAMPLE:
        return None
    if kind == "string":
        matches = isinstance(value, str) and (schema.get("format") != "date" or _DATE.fullmatch(text))
        return value if matches else None
    if isinstance(value, str):
        try:
            value = json.loads(text.lower() if kind == "boolean" else text)
        except ValueError:
            return None
    types = {"number": (int, float), "integer": (int,), "boolean": (bool,), "array": (list,), "object": (dict,)}[kind]
    matches = isinstance(value, types) and (kind == "boolean" or not isinstance(value, bool))
    return value if matches else None


def _response_schema(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """JSON Schema of a record's response, by its `template_response` or its `schema`; None without one."""
    template = record.get("template_response")
    if template is None:
        template = record.get("schema") or None
        if isinstance(template, Mapping) and template.get("type") in JSON_TYPES:
            return dict(template)
    return template_schema(template)


def template_schema(template: object) -> dict[str, Any] | None:
    """JSON Schema of a response template; None where there is no usable one.

    Args:
        template: Leaves are names of Python types, `_list_length` in the item of a list is its count, and so is the
            number in `list of str with length 3`. It may be a text with JSON, cut at its end, or a Python literal.
    """
    if isinstance(template, str) and template.lstrip()[:1] in ("{", "["):
        template = _parsed(template)
    return _schema(template) if template else None


def _parsed(text: str) -> object:
    from pydantic_core import from_json

    try:
        return from_json(text, allow_partial=True)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _schema(template: object) -> dict[str, Any]:
    if isinstance(template, Mapping):
        fields = {str(key): _schema(value) for key, value in template.items() if key not in (_COUNT, "$ref")}
        return {"type": "object", "properties": fields} if fields else {"type": "object"}
    if isinstance(template, list):
        return _list_schema(template)
    if isinstance(template, str):
        counted = _LISTED.fullmatch(template.strip())
        if counted:
            return _array(_LEAF_TYPES.get(counted["kind"], {}), int(counted["count"]))
        return dict(_LEAF_TYPES.get(template.strip(), {}))
    return {}


def _list_schema(items: Sequence[object]) -> dict[str, Any]:
    first = items[0] if items else None
    if isinstance(first, str) and (first == "empty list" or _LISTED.fullmatch(first.strip())):
        return _schema(first)
    count = first.get(_COUNT) if isinstance(first, Mapping) else None
    return _array(_schema(first), count)


def _array(items: Mapping[str, Any], count: object) -> dict[str, Any]:
    array: dict[str, Any] = {"type": "array", "items": dict(items)}
    if isinstance(count, int) and 0 < count <= _SMALL:
        array |= {"minItems": count, "maxItems": count}
    return array
