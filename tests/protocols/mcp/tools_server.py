"""An MCP server of the official SDK over stdio, with the kinds of tools there are."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel

READS = ToolAnnotations(read_only_hint=True)
STOCK = {"bolt": 7, "nut": 0}
server = MCPServer("Stockroom", instructions="Parts and how many there are.")


class Part(BaseModel):
    """A part on a shelf."""

    name: str
    count: int
    next: Part | None = None


class Parts(BaseModel):
    """A page of parts."""

    items: list[Part]
    total: int


@server.tool(name="parts/find", annotations=READS)
def find(text: str = "", limit: int = 10) -> Parts:
    """List the parts whose names hold a text.

    Args:
        text: What the name holds.
    """
    items = [Part(name=name, count=count) for name, count in STOCK.items() if text in name]
    return Parts(items=items[:limit], total=len(items))


@server.tool(name="parts.take", structured_output=False)
def take(name: str, count: int = 1) -> str:
    """Take parts out of stock."""
    if STOCK[name] < count:
        raise ToolError(f"there are only {STOCK[name]} of {name}")
    STOCK[name] -= count
    return f"took {count} {name}"


@server.tool(annotations=READS, structured_output=False)
def list(kind: str | None = None) -> str:
    """Everything, as the JSON of a server without output schemas."""
    return '[{"name": "bolt", "count": 7}]'


@server.tool(name="picture-of", annotations=READS, structured_output=False)
def picture_of(name: str) -> Any:
    """A picture of a part."""
    return ["Here it is:", Image(data=b"\x89PNG" * 32, format="png")]


@server.tool(annotations=READS, structured_output=False)
def echo(text: str) -> str:
    """The same text."""
    return text


if __name__ == "__main__":
    server.run("stdio")
