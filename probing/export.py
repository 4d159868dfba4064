"""Export the dependency graph of a probed API: which tool provides which argument of another, and the evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from atc.files import write_text
from atc.program.source import called
from probing.prober.findings import ToolFinding
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import subscripts
from protocols.model import Protocol

__all__ = ["SUFFIXES", "GraphEdge", "dependency_edges", "export_graph"]

SUFFIXES = (".json", ".mmd")


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
    """Write the graph as JSON or Mermaid, by the suffix of the file. Raises: UsageError."""
    links = dependency_edges(protocol, findings)
    as_text = {".json": _json, ".mmd": _mermaid}[file.suffix]
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
