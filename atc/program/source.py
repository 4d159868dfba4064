"""The source of a program: extracted from a completion, parsed, and searched by its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Container, Iterator, Mapping

from atc.program.edits import Edit, edited
from atc.program.tree import called_tool, full_name, nodes_of
from protocols.errors import ProgramRefused
from sandbox.language.parsing import parse_program

__all__ = [
    "called",
    "calls_of",
    "extract",
    "fenced",
    "note_beside",
    "parsed",
    "renamed",
    "same",
    "subscripts_at",
    "without_fence",
]

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
