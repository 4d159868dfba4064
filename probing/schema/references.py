"""Restore the references to named schemas, so that each is written once, among the components of a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from probing.schema.infer import is_trivial
from protocols.model import Body, Parameter, Protocol, Response, Schema, Tool

__all__ = ["with_references"]

_COMPONENTS = "#/components/schemas/"


def with_references(protocol: Protocol) -> Protocol:
    """The protocol with `$ref` instead of named schemas, as a document has it; `definitions` has those in use."""
    naming = _ReferenceWriter(protocol)
    tools = tuple(naming.tool(tool) for tool in protocol.tools)
    definitions = dict(protocol.definitions)
    written = {name: naming.inside(schema) for name, schema in definitions.items()}
    while naming.waiting:
        name = naming.waiting.pop()
        if name not in written:
            written[name] = naming.inside(protocol.components[name])
    return replace(protocol, tools=tools, definitions=written)


class _ReferenceWriter:
    """Replaces named schemas by identity: a schema is the same object wherever the document refers to it."""

    def __init__(self, protocol: Protocol) -> None:
        self._names = {
            id(schema): name for name, schema in protocol.components.items() if schema and not is_trivial(schema)
        }
        self.waiting: list[str] = []

    def tool(self, tool: Tool) -> Tool:
        return replace(
            tool,
            parameters=tuple(map(self._parameter, tool.parameters)),
            body=self._body(tool.body) if tool.body is not None else None,
            responses=tuple(map(self._response, tool.responses)),
        )

    def _body(self, body: Body) -> Body:
        return replace(body, schema=self.schema(body.schema), others=tuple(map(self._body, body.others)))

    def _parameter(self, parameter: Parameter) -> Parameter:
        return replace(parameter, schema=self.inside(parameter.schema))

    def _response(self, response: Response) -> Response:
        schema = self.schema(response.schema) if response.schema is not None else None
        headers = {name: self.inside(part) for name, part in response.headers.items()}
        return replace(response, schema=schema, headers=headers)

    def schema(self, schema: Schema) -> Schema:
        """A reference if the schema has a name, else the schema with references inside."""
        name = self._names.get(id(schema))
        if name is None:
            return self.inside(schema)
        self.waiting.append(name)
        return {"$ref": f"{_COMPONENTS}{name}"}

    def inside(self, schema: Schema) -> Schema:
        """The schema itself, with references inside it."""
        written = {key: self._part(part) for key, part in schema.items()}
        target = written.get("$ref")
        return {**written, "$ref": f"{_COMPONENTS}{target.rpartition('/')[2]}"} if isinstance(target, str) else written

    def _part(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self.schema(value)
        if isinstance(value, list):
            return [self._part(part) for part in value]
        return value
