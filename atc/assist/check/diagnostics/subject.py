"""The checked program with all that is known of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from atc.assist.check.diagnostic import Diagnostic, Edit, Rule
from atc.assist.check.stubs import Stubs
from atc.assist.check.type_checker import CheckerReport
from atc.program.def_use import DefUse
from atc.program.source import assigned_names, called_tool, nodes_of
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import Step

__all__ = ["CLASS", "SCALARS", "Subject", "is_misspelled", "listed"]

_KEYS = 14
"""Most names in a message."""
SCALARS = ("int", "float", "bool", "str", "None")
"""Types without members, as the checker names them."""
CLASS = re.compile(r"_T\d+")
"""Names of the stub classes, each of which stands for the objects at one path of a response."""
_MAX_DEPTH = 20
"""Keys between a response and an expression; a variable may be taken from itself."""
_MIN_SIMILARITY = 0.8
"""Least similarity of a name and its misspelling."""
_BLOCKS = (ast.For, ast.While, ast.If, ast.Try, ast.With)
"""Blocks that may end without setting their variables."""


class Subject:
    """A program, its API and the stubs that it was checked with.

    `stored` are keys that the program puts into objects itself, by class; `updated` variables whose objects it updates.
    """

    def __init__(
        self,
        program: str,
        flow: DefUse,
        contract: Contract,
        names: Sequence[str],
        stubs: Stubs,
        graph: ProtocolGraph | None = None,
    ) -> None:
        self.graph = graph
        self.lines = program.split("\n")
        self.flow, self.tree = flow, flow.tree
        self.contract = contract
        self.names = names
        self.stubs = stubs
        self.stored: set[tuple[str, str]] = set()
        self.updated = {
            node.func.value.id
            for node in nodes_of(self.tree, ast.Call)
            if isinstance(node.func, ast.Attribute)
            and node.func.attr == "update"
            and isinstance(node.func.value, ast.Name)
        }

    def at(
        self,
        report: CheckerReport,
        rule: Rule,
        message: str,
        tool: str | None = None,
        suggestion: str | None = None,
        edit: Edit | None = None,
    ) -> Diagnostic:
        return Diagnostic(report.line, report.column, rule, message, tool, suggestion, edit)

    def wrong_type(
        self,
        report: CheckerReport,
        message: str,
        tool: str | None = None,
        suggestion: str | None = None,
        edit: Edit | None = None,
    ) -> Diagnostic:
        """The diagnostic of a value of a wrong type."""
        return self.at(report, "wrong-type", message, tool, suggestion, edit)

    def is_set_later(self, report: CheckerReport) -> bool:
        """True if a loop or branch sets the variable, as in a search for the best of several."""
        position = self.in_bytes(report.line, report.column)
        names = (node for node in nodes_of(self.tree, ast.Name) if (node.lineno, node.col_offset) == position)
        return any(name.id in self.set_in_blocks() for name in names)

    def set_in_blocks(self) -> set[str]:
        """The variables that loops and branches set."""
        return set().union(*(assigned_names(node) for node in self.tree.body if isinstance(node, _BLOCKS)))

    def replacement(self, report: CheckerReport, text: str | None) -> Edit | None:
        """Replace the text that the checker points at."""
        if text is None or report.line != report.end_line:
            return None
        return Edit(report.line, report.column, report.end_column, text)

    def source_text(self, report: CheckerReport) -> str:
        """The text that the checker points at."""
        return self.lines[report.line - 1][report.column : report.end_column]

    def callee(self, report: CheckerReport) -> str | None:
        """The tool whose call encloses a position."""
        calls = self.calls(report)
        return called_tool(calls[-1]) if calls else None

    def calls(self, report: CheckerReport) -> list[ast.Call]:
        """The calls of tools that enclose a position, the outermost first."""
        position = (report.line, report.column)
        return [
            node
            for node in nodes_of(self.tree, ast.Call)
            if called_tool(node) in self.names
            and (node.lineno, node.col_offset) <= position < (node.end_lineno or 0, node.end_col_offset or 0)
        ]

    def expression(self, report: CheckerReport) -> ast.AST | None:
        """The largest expression or keyword argument that begins at a position."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.expr | ast.keyword) and (node.lineno, node.col_offset) == (
                report.line,
                report.column,
            ):
                return node
        return None

    def type_text(self, text: str) -> str:
        """A type without the names of our classes."""

        def said(match: re.Match[str]) -> str:
            response_object = self.stubs.objects.get(match[0])
            return f"the dict {response_object.text}" if response_object else "a dict"

        return CLASS.sub(said, text).replace("`", "")

    def origin_of(self, node: ast.expr, depth: int = 0) -> tuple[str, tuple[Step, ...]] | None:
        """The tool and the path in its response that an expression is certainly taken from."""
        node = self.flow.resolve(node)
        if called_tool(node) in self.names:
            return called_tool(node), ()
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and depth < _MAX_DEPTH:
            origin, step = self.origin_of(node.value, depth + 1), node.slice.value
            return (origin[0], (*origin[1], step)) if origin is not None and isinstance(step, str | int) else None
        return None

    def single_value(self, name: str) -> ast.expr | None:
        """The value of a variable that the program sets in one place alone."""
        definitions = self.flow.definitions_of(name)
        return (
            definitions[0].value
            if [(definition.kind, definition.path) for definition in definitions] == [("assignment", ())]
            else None
        )

    def unread_responses(self) -> Iterator[tuple[str, str, tuple[Step, ...]]]:
        """The variables that nothing reads: name, tool and path in its response."""
        for name in sorted({definition.name for definition in self.flow.definitions}):
            value = self.single_value(name)
            origin = self.origin_of(value) if value is not None else None
            if origin is not None and not any(map(self.flow.uses, self.flow.definitions_of(name))):
                yield name, *origin

    def in_bytes(self, line: int, column: int) -> tuple[int, int]:
        """A position with its column in bytes, as in the syntax tree."""
        return line, len(self.lines[line - 1][:column].encode())


def is_misspelled(name: str, other: str) -> bool:
    """True if two names differ by a slip."""
    return SequenceMatcher(None, name.lower(), other.lower()).ratio() >= _MIN_SIMILARITY


def listed(names: Sequence[str]) -> str:
    """The first of some names, for a message."""
    return ", ".join(names[:_KEYS]) + (", …" if len(names) > _KEYS else "") if names else "nothing"
