"""What the sample documents become, as readable files; `python -m tests.protocols.documents.test_read_documents` writes
them anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
import yaml

from protocols import load
from protocols.calls.call_errors import signature
from protocols.model import Tool
from tests.protocols.documents.samples import SAMPLES

DOCUMENTS = ("library.yaml", "harbour.swagger.json", "broken.json", "tram.tools.json")


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        """Schemas that tools share are written out."""
        return True


def facts(value: Any) -> Any:
    """A value as plain data, without fields that are empty or have their default; schemas and examples are JSON."""
    if isinstance(value, str):  # before lines are broken: the checkout's path may be long
        return value.replace(str(SAMPLES), "SAMPLES")
    if is_dataclass(value):
        named = {field.name: (getattr(value, field.name), field.default) for field in fields(value)}
        return {name: facts(own) for name, (own, default) in named.items() if own and own != default}
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return [facts(part) for part in value] if isinstance(value, tuple | list) else value


def described(tool: Tool) -> dict[str, Any]:
    """A tool by its signature and its facts; of the arguments those that are no parameters."""
    in_body = tuple(argument for argument in tool.arguments if argument.location == "body")
    return {"call": signature(tool), **facts(replace(tool, arguments=in_body, servers=()))}


def read(name: str) -> str:
    """The protocol of a sample."""
    protocol = load(SAMPLES / name)
    whole = facts(replace(protocol, tools=(), components={}, digest=""))
    servers = {tool.name: facts(tool.servers) for tool in protocol.tools if tool.servers != protocol.servers}
    whole |= {"own servers": servers} if servers else {}
    whole |= {"tools": [described(tool) for tool in protocol.tools]}
    return str(
        yaml.dump(whole, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_read_as_it_was(name: str) -> None:
    """OpenAPI 3.1 with references in circles, Swagger 2.0, a document with many defects, a tool file."""
    assert read(name) == (SAMPLES / "read" / f"{name}.txt").read_text("utf-8")


if __name__ == "__main__":
    for document in DOCUMENTS:
        (SAMPLES / "read" / f"{document}.txt").write_text(read(document), "utf-8")
