"""Facts about where replies went: a call that nothing depends on, and a reply that another one replaced unread."""

from __future__ import annotations

import ast

from atc.evidence.finding import Finding, name_of
from atc.evidence.traced_run import TracedRun
from atc.program.def_use import calling, def_use
from atc.program.tree import lines_of, nodes_of

__all__ = ["dead_call", "overwritten"]


def dead_call(traced: TracedRun) -> Finding | None:
    """Neither the answer, a write nor a decision of the program depends on what a call returned."""
    if traced.run.provenance is None:
        return None
    methods = {line for node in nodes_of(traced.tree, ast.ClassDef) for line in lines_of(node)}  # not followed
    for call in traced.good_calls:
        tool = traced.tools.get(call.tool or "")
        if call.writes or call.line in methods or traced.is_behind_output(call):
            continue
        if tool is None or not tool.gives_nothing:
            return Finding.of_call("DeadCall", f"nothing of the answer depends on what {name_of(call)} returned", call)
    return None


def overwritten(traced: TracedRun) -> Finding | None:
    """A reply is replaced by another one before anything reads it."""
    flow = def_use(traced.program)
    if flow is None:
        return None
    is_source = calling({name for name, tool in traced.tools.items() if not tool.writes})
    for lost, replacing in flow.overwritten():
        value, other_value = lost.value, replacing.value
        if value is None or other_value is None:
            continue
        if any(map(is_source, nodes_of(value, ast.Call))) and any(map(is_source, nodes_of(other_value, ast.Call))):
            message = (
                f"line {other_value.lineno} puts another reply into {lost.name} before anything reads what line "
                f"{value.lineno} got"
            )
            return Finding("Overwritten", message, value.lineno)
    return None
