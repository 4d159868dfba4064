"""The source of a program: extracted from a completion, parsed, and searched by its syntax tree."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from protocols.errors import ProgramRefused
from sandbox.language.parsing import parse_program

__all__ = [
    "Edit",
    "assigned_names",
    "called",
    "called_name",
    "called_tool",
    "calls_of",
    "edited",
    "extract",
    "fenced",
    "full_name",
    "line_diff",
    "lines_of",
    "nodes_of",
    "note_beside",
    "parsed",
    "renamed",
    "same",
    "subscripts_at",
    "without_fence",
]

Node = TypeVar("Node", bound=ast.AST)


def nodes_of(tree: ast.AST, kind: type[Node]) -> Iterator[Node]:
    """The nodes of one type, in the order of `ast.walk`."""
    return (node for node in ast.walk(tree) if isinstance(node, kind))


def assigned_names(tree: ast.AST) -> Counter[str]:
    """How often each name is assigned, by loops and comprehensions, too."""
    return Counter(node.id for node in nodes_of(tree, ast.Name) if isinstance(node.ctx, ast.Store))


def called_name(node: ast.AST) -> str:
    """The name of a called function; empty for any other node."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def full_name(node: ast.AST) -> str:
    """`search` of such a name, `api.search` of an attribute of a name; empty for any other node."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def called_tool(node: ast.AST) -> str:
    """The name of a called function, or `object.method` as a tool may be called; empty for any other node."""
    return full_name(node.func) if isinstance(node, ast.Call) else ""


def lines_of(node: ast.expr | ast.stmt) -> range:
    """The lines of an expression or statement, from 1."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of the text on a line (from 1) between two columns (from 0)."""

    line: int
    start: int
    end: int
    text: str

    @classmethod
    def of(cls, lines: Sequence[str], node: ast.expr | ast.stmt, text: str) -> Edit | None:
        """Replace an expression or statement, given the lines of the program; None where it spans several lines."""
        if node.lineno != node.end_lineno:
            return None
        row = lines[node.lineno - 1].encode()  # syntax trees count bytes
        start, end = (len(row[:at].decode(errors="ignore")) for at in (node.col_offset, node.end_col_offset or 0))
        return cls(node.lineno, start, end, text)


def edited(program: str, edits: Iterable[Edit]) -> str:
    """The program with all edits, each once; of two overlapping edits the later one is applied."""
    lines = program.split("\n")
    before: dict[int, int] = {}
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.line, edit.start), reverse=True):
        row = lines[edit.line - 1]
        if edit.end <= before.get(edit.line, len(row)):
            before[edit.line] = edit.start
            lines[edit.line - 1] = row[: edit.start] + edit.text + row[edit.end :]
    return "\n".join(lines)


def line_diff(before: str, after: str) -> tuple[str, ...]:
    """The lines that differ between two programs, with `-` before those removed and `+` before those added."""
    changes = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return tuple(line for number, line in enumerate(changes) if number > 1 and not line.startswith("@@"))


_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_STATEMENT = re.compile(r"^\s*(\w+\s*=|print\(|for |import |from |def )", re.MULTILINE)
_BREAK = re.compile(r"\r\n?")


def parsed(program: str) -> ast.Module | None:
    """The syntax tree of a program; None for invalid Python, or where the sandbox refuses its size."""
    try:
        return parse_program(program)
    except (SyntaxError, ProgramRefused):
        return None


def renamed(program: str, names: Mapping[str, str]) -> str:
    """A program with new names for some functions, except those that it assigns itself."""
    tree = parsed(program) if any(name in program for name in names) else None
    nodes = [node for node in nodes_of(tree, ast.Name) if node.id in names] if tree else []
    own = {node.id for node in nodes if not isinstance(node.ctx, ast.Load)}
    lines = program.split("\n")
    edits = (Edit.of(lines, node, names[node.id]) for node in nodes if node.id not in own)
    return edited(program, filter(None, edits))


def called(program: str, names: Collection[str]) -> tuple[str, ...]:
    """The given functions that a program names, in the order of its text; empty for invalid Python."""
    tree = parsed(program)
    named = [node for node in nodes_of(tree, ast.expr) if full_name(node) in names] if tree else []
    named.sort(key=lambda node: (node.lineno, node.col_offset))
    return tuple(dict.fromkeys(map(full_name, named)))


def calls_of(tree: ast.AST, names: Container[str]) -> Iterator[tuple[ast.Call, str]]:
    """The calls of the given functions by name, each with that name."""
    for node in nodes_of(tree, ast.Call):
        if (name := called_tool(node)) and name in names:
            yield node, name


def subscripts_at(tree: ast.AST, line: int, column: int) -> Iterator[ast.Subscript]:
    """The subscript expressions whose key stands at a line (from 1) and a column."""
    for node in nodes_of(tree, ast.Subscript):
        if (node.slice.lineno, node.slice.col_offset) == (line, column):
            yield node


def same(first: str, second: str) -> bool:
    """True if two programs are the same, comments and layout aside."""
    first_tree, second_tree = parsed(first), parsed(second)
    if first_tree is None or second_tree is None:
        return first == second
    return ast.dump(first_tree) == ast.dump(second_tree)


def fenced(text: str) -> str | None:
    """The content of the first code block of a text; None without one."""
    match = _FENCE.search(text)
    return match[1] if match else None


def note_beside(text: str) -> str:
    """What a completion says beside its code blocks; empty where it has no block."""
    text = _BREAK.sub("\n", text)
    return _FENCE.sub("", text).strip() if _FENCE.search(text) else ""


def without_fence(text: str, continuation: str) -> str:
    """What goes on after `text`, without a code fence that is open there already."""
    if text.count("```") % 2 == 0:
        return continuation
    return re.sub(r"^\s*```[ \t]*\w*[ \t]*\n", "", continuation)


def extract(text: str, *, last: bool = False) -> str:
    """The program in a completion: its first code block, or the whole text if that is Python; else empty.

    Its lines end in a line feed. `last` takes the last block: a model that thinks first may write others before it.
    """
    text = _BREAK.sub("\n", text)
    block = _FENCE.findall(text)[-1] if last and _FENCE.search(text) else fenced(text)
    program = (text.partition("```")[0] if block is None else block).strip("\n").rstrip()
    if block is not None:
        return program
    tree = parsed(program)
    if tree is None:
        # Prose is no program; code with a slip is one, and the policy says where the slip is.
        return program if _STATEMENT.search(program) else ""
    # A sentence of one word is an expression too, but no program.
    does = any(isinstance(node, (ast.Call, ast.stmt)) and not isinstance(node, ast.Expr) for node in ast.walk(tree))
    return program if does else ""
