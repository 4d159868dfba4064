"""Export the dependency graph of a probed API: which tool provides which argument of another, and the evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from atc.files import write_text
from atc.program.source import called
from probing.prober.findings import ToolFinding
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import subscripts
from protocols.model import Protocol

__all__ = ["SUFFIXES", "GraphEdge", "dependency_edges", "export_graph"]

SUFFIXES = (".json", ".mmd", ".svg")
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 300, 24, 120, 12
"""Sizes in pixels of a tool's box in an SVG, and the gaps."""
_COLOURS = {
    "documented": "#2e7d32",
    "no_content": "#2e7d32",
    "web_page": "#2e7d32",
    "always_empty": "#b26a00",
    "refused_by_policy": "#b26a00",
    "budget": "#b26a00",
}


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """The best source of an argument.

    `evidence` is called, if a working program took the value from there, or seen, if responses have such a field.
    """

    source: str
    path: str
    tool: str
    argument: str
    evidence: str


def dependency_edges(protocol: Protocol, findings: Mapping[str, ToolFinding]) -> list[GraphEdge]:
    """An edge for each argument that another tool provides, from the tool used, else from the likeliest."""
    graph = ProtocolGraph(protocol)
    links = []
    for tool in protocol.tools:
        program = findings[tool.name].program
        for parameter in tool.arguments:
            sources = graph.providers(tool.name, parameter.argument)
            taken = [source for source in sources if findings[tool.name].is_complete and called(program, [source.tool])]
            for source in (taken or list(sources))[:1]:
                evidence = "called" if taken else "seen"
                links.append(GraphEdge(source.tool, subscripts(source.path), tool.name, parameter.argument, evidence))
    return links


def export_graph(file: Path, protocol: Protocol, findings: Mapping[str, ToolFinding]) -> None:
    """Write the graph as JSON, Mermaid or SVG, by the suffix of the file. Raises: UsageError."""
    links = dependency_edges(protocol, findings)
    as_text = {".json": _json, ".mmd": _mermaid, ".svg": _svg}[file.suffix]
    write_text(file, as_text(findings, links), private=True)


def _json(findings: Mapping[str, ToolFinding], links: list[GraphEdge]) -> str:
    nodes = [{"tool": name, "outcome": node.outcome, "iteration": node.iteration} for name, node in findings.items()]
    return json.dumps({"nodes": nodes, "edges": [asdict(edge) for edge in links]}, indent=1) + "\n"


def _mermaid(findings: Mapping[str, ToolFinding], links: list[GraphEdge]) -> str:
    lines = ["flowchart LR"]
    lines += [f'  {_mermaid_id(name)}["{name}<br>{finding.outcome}"]' for name, finding in findings.items()]
    for edge in links:
        arrow = "-->" if edge.evidence == "called" else "-.->"
        lines.append(f"  {_mermaid_id(edge.source)} {arrow}|{edge.argument}| {_mermaid_id(edge.tool)}")
    return "\n".join(lines) + "\n"


def _mermaid_id(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _svg(findings: Mapping[str, ToolFinding], links: list[GraphEdge]) -> str:
    """Tools in columns by the number of calls before theirs."""
    depth = dict.fromkeys(findings, 0)
    for _ in range(len(findings)):
        used = [edge for edge in links if edge.evidence == "called" and depth[edge.tool] <= depth[edge.source]]
        deeper = {edge.tool: depth[edge.source] + 1 for edge in used}
        if not deeper or max(deeper.values()) >= len(findings):
            break
        depth.update(deeper)
    places: dict[str, tuple[int, int]] = {}
    rows = dict.fromkeys(depth.values(), 0)
    for name in findings:
        column = depth[name]
        places[name] = (column * (_WIDTH + _GAP_X) + 10, rows[column] * (_HEIGHT + _GAP_Y) + 10)
        rows[column] += 1
    width = (max(depth.values(), default=0) + 1) * (_WIDTH + _GAP_X)
    height = max(rows.values(), default=0) * (_HEIGHT + _GAP_Y) + 20
    size = f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>']
    for edge in links:
        (x, y), (to_x, to_y) = places[edge.source], places[edge.tool]
        dashed = "" if edge.evidence == "called" else ' stroke-dasharray="4 3"'
        ends = f'x1="{x + _WIDTH}" y1="{y + _HEIGHT // 2}" x2="{to_x}" y2="{to_y + _HEIGHT // 2}"'
        title = escape(f"{edge.source}{edge.path} → {edge.tool}({edge.argument}=), {edge.evidence}")
        parts.append(f'<line {ends} stroke="#888"{dashed}><title>{title}</title></line>')
    for name, (x, y) in places.items():
        colour = _COLOURS.get(findings[name].outcome, "#c62828")
        parts.append(
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="white" stroke="{colour}"/>'
            f'<text x="{x + 6}" y="{y + 16}">{escape(name[:48])}<title>{findings[name].outcome}</title></text>'
        )
    return "\n".join([*parts, "</svg>\n"])
