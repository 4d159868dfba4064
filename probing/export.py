"""The dependency graph of a probed API: which tool yields what which other one takes, and how that is known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from atc.files import write_text
from atc.program.source import called
from probing.prober.findings import Finding
from protocols.dataflow.call_paths import steps
from protocols.dataflow.graph import ProtocolGraph
from protocols.model import Protocol

__all__ = ["SUFFIXES", "Edge", "draw", "edges"]

SUFFIXES = (".json", ".mmd", ".svg")
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 300, 24, 120, 12
"""Of a tool's box in an SVG, and between boxes, in pixels."""
_COLOURS = {
    "documented": "#2e7d32",
    "no_content": "#2e7d32",
    "always_empty": "#b26a00",
    "refused_by_policy": "#b26a00",
    "budget": "#b26a00",
}


@dataclass(frozen=True, slots=True)
class Edge:
    """The best source of an argument. `evidence`: called, where a program took the value from there and was answered;
    seen, where answers hold such a field."""

    source: str
    path: str
    tool: str
    argument: str
    evidence: str


def edges(known: Protocol, found: Mapping[str, Finding]) -> list[Edge]:
    """An edge for each argument that another tool can fill, from the tool whose value was taken, else the likeliest."""
    graph = ProtocolGraph(known)
    drawn = []
    for tool in known.tools:
        program = found[tool.name].program
        for parameter in tool.arguments:
            sources = graph.providers(tool.name, parameter.argument)
            taken = [one for one in sources if found[tool.name].done and called(program, [one.tool])]
            for one in (taken or list(sources))[:1]:
                evidence = "called" if taken else "seen"
                drawn.append(Edge(one.tool, steps(one.path), tool.name, parameter.argument, evidence))
    return drawn


def draw(file: Path, known: Protocol, found: Mapping[str, Finding]) -> None:
    """Write the graph as JSON, Mermaid or SVG, by the end of the file's name. Raises: UsageError."""
    drawn = edges(known, found)
    as_text = {".json": _json, ".mmd": _mermaid, ".svg": _svg}[file.suffix]
    write_text(file, as_text(found, drawn))


def _json(found: Mapping[str, Finding], drawn: list[Edge]) -> str:
    nodes = [{"tool": name, "outcome": one.outcome, "iteration": one.iteration} for name, one in found.items()]
    links = [
        {"source": e.source, "path": e.path, "tool": e.tool, "argument": e.argument, "evidence": e.evidence}
        for e in drawn
    ]
    return json.dumps({"nodes": nodes, "edges": links}, indent=1) + "\n"


def _mermaid(found: Mapping[str, Finding], drawn: list[Edge]) -> str:
    lines = ["flowchart LR"]
    lines += [f'  {_plain(name)}["{name}<br>{one.outcome}"]' for name, one in found.items()]
    for edge in drawn:
        arrow = "-->" if edge.evidence == "called" else "-.->"
        lines.append(f"  {_plain(edge.source)} {arrow}|{edge.argument}| {_plain(edge.tool)}")
    return "\n".join(lines) + "\n"


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _svg(found: Mapping[str, Finding], drawn: list[Edge]) -> str:
    """Tools in columns by how many calls come before theirs."""
    depth = dict.fromkeys(found, 0)
    for _ in range(len(found)):
        deeper = {
            e.tool: depth[e.source] + 1 for e in drawn if e.evidence == "called" and depth[e.tool] <= depth[e.source]
        }
        if not deeper or max(deeper.values()) >= len(found):
            break
        depth.update(deeper)
    places: dict[str, tuple[int, int]] = {}
    rows = dict.fromkeys(depth.values(), 0)
    for name in found:
        column = depth[name]
        places[name] = (column * (_WIDTH + _GAP_X) + 10, rows[column] * (_HEIGHT + _GAP_Y) + 10)
        rows[column] += 1
    width = (max(depth.values(), default=0) + 1) * (_WIDTH + _GAP_X)
    height = max(rows.values(), default=0) * (_HEIGHT + _GAP_Y) + 20
    size = f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>']
    for edge in drawn:
        (x, y), (to_x, to_y) = places[edge.source], places[edge.tool]
        dashed = "" if edge.evidence == "called" else ' stroke-dasharray="4 3"'
        ends = f'x1="{x + _WIDTH}" y1="{y + _HEIGHT // 2}" x2="{to_x}" y2="{to_y + _HEIGHT // 2}"'
        told = escape(f"{edge.source}{edge.path} → {edge.tool}({edge.argument}=), {edge.evidence}")
        parts.append(f'<line {ends} stroke="#888"{dashed}><title>{told}</title></line>')
    for name, (x, y) in places.items():
        colour = _COLOURS.get(found[name].outcome, "#c62828")
        parts.append(
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="white" stroke="{colour}"/>'
            f'<text x="{x + 6}" y="{y + 16}">{escape(name[:48])}<title>{found[name].outcome}</title></text>'
        )
    return "\n".join([*parts, "</svg>\n"])
