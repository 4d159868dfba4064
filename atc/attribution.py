"""Find the tool whose call made a program fail.

A traceback names a line. The model repairs a chain of tools, so it needs the name of a tool instead. Most of the time
the line, the records of the calls and the program's own assignments tell; the model is asked only when they leave more
than one tool.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from atc.evidence import findings
from atc.faults import Attribution, Fault
from atc.programs import parsed
from protocols.routes import steps
from sandbox.records import CallRecord, Run

__all__ = ["attribute"]

Ask = Callable[[Sequence[str]], str | None]
"""Asks the model to choose among tool names; None when it names none of them."""


def attribute(fault: Fault, program: str, run: Run | None, ask: Ask) -> Attribution:
    """Name the tool whose call made a program fail.

    Args:
        fault: What went wrong.
        program: The program's text; lines count from 1.
        run: How it went, or None when it never ran.
        ask: Asked once, and only if more than one tool could be to blame.
    Returns: An Attribution; its `tool` is None when the fault lies in the program itself.
    Source: ATC paper (arXiv:2405.16533), section 3.3, where the model is always asked.
    """
    none = Attribution(None, None, None, "none")
    if run is None or run.error is None or fault.stage != "run":
        return none
    error = run.error
    if error.call is not None and error.call < len(run.calls):
        call = run.calls[error.call]
        return Attribution(call.tool, call.index, None, "call", _names([call])) if call.tool else none
    if error.tool is not None:
        return Attribution(error.tool, None, None, "call", (error.tool,))
    if error.line is None or not run.calls or error.type in {"NameError", "UnboundLocalError", "ImportError"}:
        return none
    lines = error.trace or (error.line,)
    for nearest, how in ((_on_line(run.calls, error.line), "line"), (_behind(program, lines, run.calls), "data")):
        found = _choose(nearest, "line" if how == "line" else "data", ask)
        if found is not None:
            facts = findings(program, error.line, run.calls)
            path = next((fact.path for fact in facts if fact.tool == found.tool and fact.path), ())
            return replace(found, path=steps(path) or None)
    return _choose([call for call in run.calls if call.tool], "only", ask) or none


def _choose(calls: Sequence[CallRecord], how: str, ask: Ask) -> Attribution | None:
    names = _names(calls)
    if not names:
        return None
    chosen, means = names[0], how
    if len(names) > 1:
        answer = ask(names)
        chosen, means = (answer, "model") if answer in names else (names[0], how)
    call = next(call for call in reversed(calls) if call.tool == chosen)
    kind = {"line": "line", "data": "data", "only": "only", "model": "model"}[means]
    return Attribution(chosen, call.index, None, kind, names)  # type: ignore[arg-type]


def _names(calls: Iterable[CallRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(call.tool for call in calls if call.tool))


def _on_line(calls: Iterable[CallRecord], line: int) -> list[CallRecord]:
    return [call for call in calls if call.line == line and call.tool]


@dataclass(frozen=True, slots=True)
class _Binding:
    """A place that gives a name a value: the lines where the value is made, and the names used in it."""

    name: str
    line: int
    spans: tuple[tuple[int, int], ...]
    uses: frozenset[str]


def _behind(program: str, lines: Sequence[int], calls: Sequence[CallRecord]) -> list[CallRecord]:
    """The calls whose responses the failing lines work on, nearest first, followed through the assignments."""
    if (tree := parsed(program)) is None:
        return []
    bindings = list(_bindings(tree))
    for line in reversed(lines):
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.lineno == line}
        seen: set[str] = set()
        while names:
            here = [binding for binding in bindings if binding.name in names and binding.line <= line]
            spans = [span for binding in here for span in binding.spans]
            found = [c for c in calls if c.tool and c.line and any(first <= c.line <= last for first, last in spans)]
            if found:
                return found
            seen |= names
            names = {used for binding in here for used in binding.uses} - seen
    return []


def _bindings(tree: ast.AST) -> Iterator[_Binding]:
    """Every binding of a program. A value made by a function of the program is made in that function's lines too."""
    functions = {
        node.name: (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            targets, value = [node.target], node.value
        elif isinstance(node, (ast.For, ast.comprehension)):
            targets, value = [node.target], node.iter
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            targets, value = [node.optional_vars], node.context_expr
        if value is None:
            continue
        uses = frozenset(part.id for part in ast.walk(value) if isinstance(part, ast.Name))
        here = (value.lineno, value.end_lineno or value.lineno)
        spans = (here, *(functions[name] for name in uses if name in functions))
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    yield _Binding(part.id, value.lineno, spans, uses)
