"""Lists that a program fills with dicts of the same keys, and the keys that it reads from their entries."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from atc.assist.check.diagnostic import Edit
from atc.program.source import parsed
from atc.program.tree import assigned_names, nodes_of, variable_of

__all__ = ["AccumulatedEntries", "entry_reads", "missing_keys", "with_entry_key"]


@dataclass(frozen=True, slots=True)
class AccumulatedEntries:
    """A list that begins empty and is only filled with dicts: name, keys, and the `append` calls."""

    name: str
    keys: tuple[str, ...]
    appends: tuple[ast.Call, ...]

    def value(self, key: str) -> ast.expr | None:
        """The value of a key, where entries are appended in one place."""
        entry = self.appends[0].args[0]
        if len(self.appends) > 1 or not isinstance(entry, ast.Dict) or key not in self.keys:
            return None
        return entry.values[self.keys.index(key)]


def _accumulated_entries(tree: ast.AST) -> Iterator[AccumulatedEntries]:
    """The lists of a program whose entries all have the same keys."""
    nodes = list(ast.walk(tree))
    assigned = assigned_names(tree)
    for assignment in nodes_of(tree, ast.Assign):
        if not isinstance(assignment.value, ast.List) or assignment.value.elts or len(assignment.targets) != 1:
            continue
        name = variable_of(assignment)
        uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
        methods = [node for node in nodes if isinstance(node, ast.Attribute) and node.value in uses]
        calls = [node for node in nodes if isinstance(node, ast.Call) and node.func in methods]
        entries = [call.args[0] for call in calls if len(call.args) == 1]
        keys = [_keys(entry) for entry in entries]
        appended = all(node.attr == "append" for node in methods) and len(methods) == len(calls) == len(entries) > 0
        if assigned[name] == 1 and appended and keys[0] and all(entry_keys == keys[0] for entry_keys in keys):
            yield AccumulatedEntries(name, keys[0], tuple(calls))


def entry_reads(tree: ast.AST) -> Iterator[tuple[AccumulatedEntries, ast.Subscript, str]]:
    """The subscripts that read a key of an entry."""
    for accumulated in _accumulated_entries(tree):
        reported: set[ast.AST] = set()
        for variable, scope in _entries(tree, accumulated.name):
            for node in ast.walk(scope):
                match node:
                    case ast.Subscript(ast.Name(name), ast.Constant(str(key))) if name == variable:
                        if node not in reported:
                            reported.add(node)
                            yield accumulated, node, key


def missing_keys(tree: ast.AST) -> Iterator[tuple[AccumulatedEntries, ast.Subscript, str]]:
    """The subscripts that read a key which no entry has and the program stores nowhere."""
    stores = [node.slice for node in nodes_of(tree, ast.Subscript) if isinstance(node.ctx, ast.Store)]
    stored = {key.value for key in stores if isinstance(key, ast.Constant)}
    return (read for read in entry_reads(tree) if read[2] not in read[0].keys and read[2] not in stored)


def with_entry_key(program: str, key: str, line: str | None) -> str | None:
    """The program with a missing key added to the entries, its value in the variable of that name.

    Args:
        line: The assignment of that variable, if the program has none: it is put before the entry is appended.
    """
    tree = parsed(program)
    if tree is None:
        return None
    accumulated = next((candidate for candidate, _, missing in missing_keys(tree) if missing == key), None)
    if accumulated is None or len(accumulated.appends) != 1:
        return None
    append = accumulated.appends[0]
    entry = append.args[0]
    lines = program.split("\n")
    entry_span = Edit.of(lines, entry, "")
    if entry_span is None:
        return None
    row = lines[entry_span.line - 1]
    lines[entry_span.line - 1] = f'{row[: entry_span.end - 1]}, "{key}": {key}{row[entry_span.end - 1 :]}'
    if line is not None:
        lines.insert(append.lineno - 1, row[: len(row) - len(row.lstrip())] + line)
    better = "\n".join(lines)
    return better if parsed(better) is not None else None


def _keys(entry: ast.expr) -> tuple[str, ...]:
    """The keys of a dict display with constant strings as keys; empty for any other expression."""
    if not isinstance(entry, ast.Dict):
        return ()
    keys = [key.value for key in entry.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return tuple(keys) if len(keys) == len(entry.keys) else ()


def _entries(tree: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    """The variables that hold an entry of a list, and their scope."""
    lists, assigned = {name}, assigned_names(tree)
    for assignment in nodes_of(tree, ast.Assign):
        match assignment:  # some of the entries, in a list of their own
            case ast.Assign(
                [ast.Name(part), *_],
                ast.ListComp(ast.Name(item), [ast.comprehension(ast.Name(target), source), *_]),
            ) if item == target and _is_of(source, lists) and assigned[part] == 1:
                lists.add(part)
    for node in ast.walk(tree):
        match node:
            case ast.For(ast.Name(item), source, body) if _is_of(source, lists):
                if not any(assigned_names(part)[item] for part in body):
                    yield from ((item, part) for part in body)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                match node.generators:
                    case [ast.comprehension(ast.Name(item), source)] if _is_of(source, lists):
                        yield item, node
            case ast.Call(ast.Name("max" | "min" | "sorted"), [source, *_], keywords) if _is_of(source, lists):
                for keyword in keywords:
                    match keyword:
                        case ast.keyword("key", ast.Lambda(ast.arguments(args=[argument]), value)):
                            yield argument.arg, value
            case ast.Assign([ast.Name(best), *_], ast.Call(ast.Name("max" | "min"), [source])):
                if _is_of(source, lists) and assigned[best] == 1:
                    yield best, tree  # wherever it is used


def _is_of(node: ast.expr, lists: set[str]) -> bool:
    """True if an expression is one of some lists, sorted or sliced."""
    match node:
        case ast.Subscript(source, ast.Slice()) | ast.Call(ast.Name("sorted"), [source, *_]):
            return _is_of(source, lists)
        case ast.Name(name):
            return name in lists
    return False
