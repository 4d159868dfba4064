"""ToolQuery files: questions, the APIs that each may use, and those that it is about.

A query's APIs are a protocol of their own. Published names stay beside it, as data: files, servers and scores go by
them, models and programs by identifiers. What does not fit together is a gap: it is listed, and nothing is left out
for it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from protocols import load
from protocols.bounded_files import read_whole
from protocols.calls.envelope import enveloped
from protocols.documents.tool_records import category_folder, function_name, identifiers, parameter_name, standard_name
from protocols.errors import UsageError
from protocols.model import Envelope, Protocol, Tool

__all__ = [
    "ENDPOINTS",
    "RecordName",
    "ToolQuery",
    "query_gaps",
    "query_protocol",
    "read_queries",
    "served_protocol",
    "split_server",
]

_MOST_BYTES = 1 << 30
"""Of a file of queries, which holds the records of all their tools: more than other files of JSON may have."""
ENDPOINTS = ("virtual", "rapidapi")
"""The endpoints of the published protocol, the usual one first."""

_TITLE_TOOLS = 6
"""Tools that the title of a query's protocol names."""


@dataclass(frozen=True, slots=True)
class RecordName:
    """The names of one API: that of programs, those of the record, and its published function name.

    `category` is a folder name already; `tool` and `api` are display names.
    """

    identifier: str
    category: str
    tool: str
    api: str
    function: str


@dataclass(frozen=True)
class ToolQuery:
    """One question.

    Args:
        id: Unique in its file alone.
        records: Its APIs as in the file; empty in the open-domain form.
        relevant: Display names of the APIs that it is about, tool before API.
    """

    id: int
    text: str
    records: tuple[Mapping[str, Any], ...] = ()
    relevant: tuple[tuple[str, str], ...] = ()

    @cached_property
    def names(self) -> tuple[RecordName, ...]:
        """The names of its APIs, in the order of the records."""
        displayed = [(str(record["api_name"]), str(record["tool_name"])) for record in self.records]
        return tuple(
            RecordName(name, str(record.get("category_name") or ""), tool, api, function_name(api, tool))
            for name, record, (api, tool) in zip(identifiers(displayed), self.records, displayed, strict=True)
        )

    @property
    def gold(self) -> tuple[str, ...]:
        """The identifiers of the relevant APIs; those that are not listed are left out."""
        return tuple(dict.fromkeys(name for pair in self.relevant if (name := self.identifier(*pair)) is not None))

    @property
    def gold_anywhere(self) -> tuple[str, ...]:
        """The identifiers of the relevant APIs; those that are not listed have their published function name."""
        return tuple(
            dict.fromkeys(self.identifier(tool, api) or function_name(api, tool) for tool, api in self.relevant)
        )

    def identifier(self, tool: str, api: str) -> str | None:
        """The identifier of the listed API of these display names, else of the one with the same standardized names."""
        for name in self.names:
            if (name.tool, name.api) == (tool, api):
                return name.identifier
        for name in self.names:
            if _standardized(name.tool, name.api) == _standardized(tool, api):
                return name.identifier
        return None


def read_queries(file: Path) -> list[ToolQuery]:
    """The queries of a file, in its order. Raises: UsageError: It is no such file; the message says where."""
    data = _read_json(file)
    if not isinstance(data, list) or not data:
        raise UsageError(f"{file} is no query file: it must be a JSON list of queries")
    return [_query(entry, index, f"{file}, query {index}") for index, entry in enumerate(data)]


def query_protocol(query: ToolQuery) -> Protocol:
    """The APIs of a query as a protocol of their own.

    Raises: ProtocolError: It lists no API, or none that can be used.
    """
    tools = list(dict.fromkeys(name.tool for name in query.names))
    more = f" and {len(tools) - _TITLE_TOOLS} more" if len(tools) > _TITLE_TOOLS else ""
    return load({"title": ", ".join(tools[:_TITLE_TOOLS]) + more, "api_list": [dict(api) for api in query.records]})


def served_protocol(query: ToolQuery, server: str) -> Protocol:
    """The APIs of a query, asked through a virtual API server: each call is a request of the published protocol.

    Args:
        server: Its base URL; it may end with the endpoint, `/virtual` or `/rapidapi`.
    Raises: as `query_protocol`.
    """
    base, endpoint = split_server(server)
    names = {name.identifier: name for name in query.names}

    def envelope(tool: Tool) -> Envelope:
        name = names[tool.name]
        constants = {
            "category": category_folder(name.category),
            "tool_name": standard_name(name.tool),
            "api_name": parameter_name(name.api),
            "strip": "",
            "toolbench_key": "",
        }
        published = {parameter.argument: parameter_name(parameter.name) for parameter in tool.arguments}
        return Envelope(f"/{endpoint}", constants, "tool_input", published, key_field="toolbench_key")

    return enveloped(query_protocol(query), base, envelope)


def split_server(server: str) -> tuple[str, str]:
    """The base URL of a virtual API server, and its endpoint: the one that the URL ends with, else `virtual`."""
    base, _, endpoint = server.rstrip("/").rpartition("/")
    return (base, endpoint) if endpoint in ENDPOINTS else (server.rstrip("/"), ENDPOINTS[0])


def query_gaps(query: ToolQuery) -> list[str]:
    """What does not fit together in a query, a sentence each."""
    names = query.names
    gaps = [] if names else ["it lists no API"]
    counts = Counter(name.function for name in names)
    gaps += [f"{count} APIs have the published name {name}" for name, count in counts.items() if count > 1]
    listed = {_standardized(name.tool, name.api) for name in names}
    gaps += [
        f"it is about {api!r} of {tool!r}, which it does not list"
        for tool, api in query.relevant
        if _standardized(tool, api) not in listed
    ]
    return gaps


def _standardized(tool: str, api: str) -> tuple[str, str]:
    return standard_name(tool), parameter_name(api)


def _read_json(file: Path) -> object:
    try:
        return json.loads(read_whole(file, _MOST_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} cannot be read as JSON: {error}") from None


def _query(entry: object, index: int, where: str) -> ToolQuery:
    if not isinstance(entry, Mapping):
        raise UsageError(f"{where}: it is no object; is this a ToolBench query file?")
    text = entry.get("query")
    if isinstance(text, list) and text:  # a few published ones
        text = text[0]
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"{where}: it has no `query`; is this a ToolBench query file?")
    try:
        number = int(entry.get("query_id", index))
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{where}: its `query_id` {entry.get('query_id')!r} is no number") from None
    return ToolQuery(number, text.strip(), tuple(_records(entry, where)), tuple(_relevant(entry, where)))


def _records(entry: Mapping[str, Any], where: str) -> Iterator[Mapping[str, Any]]:
    listed = entry.get("api_list") or []
    if not isinstance(listed, list):
        raise UsageError(f"{where}: its `api_list` is no list")
    for place, record in enumerate(listed):
        if not isinstance(record, Mapping) or not record.get("tool_name") or not record.get("api_name"):
            raise UsageError(f"{where}, api_list[{place}]: an API needs a `tool_name` and an `api_name`")
        for key in ("required_parameters", "optional_parameters"):
            if not isinstance(record.get(key) or [], list):
                raise UsageError(f"{where}, api_list[{place}]: its `{key}` are no list")
        yield record


def _relevant(entry: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    listed = entry.get("relevant APIs", entry.get("relevant_apis")) or []
    if not isinstance(listed, list):
        raise UsageError(f"{where}: its `relevant APIs` are no list")
    for place, item in enumerate(listed):
        if not isinstance(item, list) or len(item) != 2:
            raise UsageError(f"{where}, relevant APIs[{place}]: it is {item!r} in place of [tool, API]")
        yield str(item[0]), str(item[1])
