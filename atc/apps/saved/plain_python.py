"""The check of a program that is to run outside the sandbox: all that it does must be decided by its text.

The policy of the sandbox decides most attributes when a program is compiled, and leaves the rest to guards, to shims of
modules and to builtins of its own. Outside of it there are none of these. So a program may use only what the real
builtins and modules give just as the sandbox does: no computed attribute, no module as a value, no name that a script
happens to have.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import ast
import builtins
import importlib
import symtable
from collections.abc import Collection, Iterator
from types import ModuleType

from atc.apps.tui.text import shorten
from atc.program.tree import nodes_of
from protocols.errors import UsageError
from sandbox.language.guards import program_builtins
from sandbox.language.names import GUARDS
from sandbox.language.policy import compile_program
from sandbox.language.shims.catalogue import EXCLUDED_NAMES

__all__ = ["check_plain"]

_SHOWN = 80
"""Characters of a line that an error shows."""

_MODULES = frozenset(
    """
    base64 bisect calendar collections csv datetime decimal fractions functools hashlib heapq html itertools json math
    random re statistics string textwrap time urllib.parse uuid zoneinfo
    """.split()
)
"""Modules that neither compute names of attributes nor reach files."""


def check_plain(source: str, names: Collection[str]) -> None:
    """Check the functions of a script.

    Args:
        names: What the script gives the program besides builtins.
    Raises: UsageError: Something in it is safe only in the sandbox.
    """
    tree = ast.parse(source)
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    safe = own | set(names) | _real_builtins()
    problem = next((f"the name {name}" for name in _free_names(source) if name not in safe), None)
    problem = problem or next(_module_problems(tree), None) or _guarded(source)
    if problem is not None:
        raise UsageError(
            f"--standalone: the program uses {problem}, which only the sandbox makes safe; save it without --standalone"
        )


def _real_builtins() -> set[str]:
    """Names that are the same in the sandbox as outside."""
    return {
        name
        for name, value in program_builtins(importlib.import_module, {}, {}).items()
        if not name.startswith("_") and getattr(builtins, name, None) is value
    }


def _free_names(source: str) -> Iterator[str]:
    """Names that a program takes from outside its functions."""
    tables = [symtable.symtable(source, "<program>", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        yield from (
            symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()
        )


def _module_problems(tree: ast.Module) -> Iterator[str]:
    """Modules, and names of them, that are more outside the sandbox than in it."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name not in _MODULES:
                    yield f"the module {alias.name}"
                top = alias.name.partition(".")[0]
                imported[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            if node.module not in _MODULES:
                yield f"the module {node.module}"
                continue
            yield from (f"{node.module}.{alias.name}" for alias in node.names if not _is_plain(node.module, alias.name))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for name in nodes_of(tree, ast.Name):
        parent = parents[name]
        if name.id not in imported:
            continue
        if not isinstance(parent, ast.Attribute):
            yield f"the module {name.id} as a value"
        elif not _is_plain(imported[name.id], parent.attr):
            yield f"{name.id}.{parent.attr}"


def _is_plain(module: str, name: str) -> bool:
    """Whether a name of a module is public, in the sandbox too, and no module itself."""
    if name.startswith("_") or name in EXCLUDED_NAMES.get(module, ()):
        return False
    return not isinstance(getattr(importlib.import_module(module), name, None), ModuleType)


def _guarded(source: str) -> str | None:
    """What of a program the sandbox looks at while it runs."""
    lines: list[int] = []

    def note(tree: ast.Module) -> ast.Module:
        lines.extend(node.lineno for node in nodes_of(tree, ast.Name) if node.id in GUARDS)
        return tree

    compile_program(source, note)
    return f"`{shorten(source.splitlines()[min(lines) - 1].strip(), _SHOWN)}`" if lines else None
