"""Shorten long replies: keep the keys that matter, by a schema for each API; cut what is still too long inside values.

A schema is a nested object of the keys to keep, with type names as leaves; a list of objects is a list of one. It is
read from released files, or written by a model that sees the documentation, one reply and three examples of ours.

Source: ToolLLM (arXiv:2307.16789), appendix on response compression; there the limit is in characters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from atc.files import write_json
from atc.models import Message, Model
from benchmarks.methods.observations import render_value
from benchmarks.toolbench.corpus.answers import read_response_schemas
from benchmarks.toolbench.server.address import APIAddress
from protocols.documents.record_names import parameter_name
from protocols.render import estimate

__all__ = ["MAX_TOKENS", "ResponseSchemas", "keep_keys", "schema_problem", "shortened", "write_schema"]

MAX_TOKENS = 1024
"""Tokens of a reply that is left as it is, estimated."""

_SHOWN_TOKENS = 1_500
"""Tokens of the reply that a model sees."""

Schema = Mapping[str, Any]


class ResponseSchemas:
    """The schemas in a folder, `CATEGORY/TOOL.json` as in the releases."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = cache(self._read_file)

    def get(self, address: APIAddress) -> Schema | None:
        """The schema of an API; None without one. Raises: UsageError: Its file cannot be read."""
        return self._read(address.category, address.tool).get(address.api)

    def put(self, address: APIAddress, schema: Schema) -> None:
        """Add a schema, and write its file. Raises: UsageError."""
        schemas = self._read(address.category, address.tool)
        schemas[address.api] = schema
        file = self._file(address.category, address.tool)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, {"api_list": [{"name": name, "schema": entry} for name, entry in schemas.items()]})

    def _file(self, category: str, tool: str) -> Path:
        return self._folder / category / f"{tool}.json"

    def _read_file(self, category: str, tool: str) -> dict[str, Schema]:
        file = self._file(category, tool)
        schemas = read_response_schemas(file) if file.is_file() else {}
        return {parameter_name(name): schema for name, schema in schemas.items() if schema}


def shortened(value: object, schema: Schema | None, budget: int = MAX_TOKENS) -> object:
    """A reply of at most `budget` tokens: as it is, with the keys of its schema, or cut inside its values.

    A list or text that is cut says how long it was.
    """
    if estimate(json.dumps(value, ensure_ascii=False, default=str)) <= budget:
        return value
    kept = keep_keys(value, schema) if schema else value
    text = render_value(kept, budget)
    try:
        return json.loads(text)
    except ValueError:  # not even its keys fit
        return text


def keep_keys(value: object, schema: object) -> object:
    """A value with the keys of a schema; what the schema does not describe stays."""
    if isinstance(value, list):
        item = schema[0] if isinstance(schema, list) and schema else schema
        return [keep_keys(entry, item) for entry in value]
    if isinstance(value, Mapping) and isinstance(schema, Mapping):
        return {key: keep_keys(part, schema[key]) for key, part in value.items() if key in schema}
    return value


def schema_problem(schema: object, value: object, path: str = "") -> str:
    """Why a schema is none of a value: a key that the value does not have; empty if it is one."""
    if isinstance(schema, list):
        if not isinstance(value, list):
            return f"{path or 'the reply'} is no list"
        return schema_problem(schema[0], value[0], f"{path}[0]") if schema and value else ""
    if not isinstance(schema, Mapping):
        return ""
    if not isinstance(value, Mapping):
        return f"{path or 'the reply'} is no object"
    missing = [str(key) for key in schema if key not in value]
    if missing:
        return f"{path or 'the reply'} has no {', '.join(missing[:5])}"
    problems = (schema_problem(part, value[key], f"{path}.{key}".lstrip(".")) for key, part in schema.items())
    return next((problem for problem in problems if problem), "")


def write_schema(model: Model, title: str, record: Mapping[str, Any], reply: object) -> Schema | str:
    """A schema by a model, checked against the reply, with one more try; or why there is none. Raises: ModelError."""
    prompt = _template().substitute(
        tool=title,
        api=record.get("api_name") or record.get("name"),
        description=str(record.get("api_description") or record.get("description") or "none")[:1_000],
        reply=render_value(reply, _SHOWN_TOKENS),
    )
    messages = [Message("user", prompt)]
    problem = ""
    for _ in range(2):
        text = model.complete(messages, max_tokens=600).text
        start, end = text.find("{"), text.rfind("}")
        try:
            schema = json.loads(text[start : end + 1])
            sample = reply[0] if isinstance(reply, list) and reply else reply
            problem = schema_problem(schema, sample) if schema else "it keeps nothing"
        except ValueError as error:
            problem = f"it is no JSON: {error}"
        if not problem:
            kept: Schema = schema
            return kept
        again = f"That cannot be used: {problem}. Write the JSON object again, with keys of the reply alone."
        messages += [Message("assistant", text or "…"), Message("user", again)]
    return problem


@cache
def _template() -> Template:
    return Template(files(__package__).joinpath("compress_prompt.txt").read_text("utf-8").strip())
