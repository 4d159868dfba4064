"""A run that printed nothing and has an answer all the same: writes that were accepted, or that there is nothing."""

from __future__ import annotations

import ast

from atc.diagnosis.provenance import failed
from atc.evidence.answers import call_text, made_writes
from atc.program.source import nodes_of, parsed
from protocols.model import Protocol
from sandbox.records import Run

__all__ = ["accepted_writes", "found_nothing"]

_MOST_CALLED = 4
"""Functions that are named in place of an answer."""


def found_nothing(program: str, run: Run) -> bool:
    """True if a program read replies and ran to its end, and each print() of it is for something that was not there."""
    reads = bool(run.calls) and not any(failed(call) or call.writes for call in run.calls)
    if run.outcome != "ok" or run.stdout.strip() or not reads:
        return False
    tree = parsed(program) or ast.Module([], [])
    prints = {node for node in nodes_of(tree, ast.Call) if isinstance(node.func, ast.Name) and node.func.id == "print"}
    branches = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While | ast.If)]
    return bool(prints) and prints <= {node for branch in branches for node in ast.walk(branch) if node is not branch}


def accepted_writes(run: Run, protocol: Protocol) -> str:
    """What a run did that printed nothing: the writes that the service accepted, a line each.

    Of functions it is what the last one returned, or which were called; to call those that return nothing is to act.
    Empty for a run that printed or failed, and for one that only read.
    """
    calls = [call for call in run.calls if not failed(call)]
    if run.outcome != "ok" or run.stdout.strip() or not calls:
        return ""
    tools = [protocol.tool(call.tool) for call in calls if call.tool is not None and call.tool in protocol]
    acts = bool(tools) and all(tool.gives_nothing for tool in tools)
    if not made_writes(run) and not acts:
        return ""
    if not tools or any(tool.function is None for tool in tools):
        return "\n".join(dict.fromkeys(call_text(call) for call in calls if call.writes))
    if calls[-1].response is not None:
        return str(calls[-1].response)
    names = list(dict.fromkeys(call.tool or call.url for call in calls))
    return f"called {', '.join(names if len(names) <= _MOST_CALLED else [*names[:2], '…', names[-1]])}"
