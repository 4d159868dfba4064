"""The variables of a program: where they are bound, and which of them can have a shadow."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["parameter_names", "shadow_name", "shadowed_variables", "target_variables"]


def shadow_name(name: str) -> str:
    """The name of the shadow of a variable, which no program can write."""
    return f"{name}'"


def shadowed_variables(tree: ast.Module) -> frozenset[str]:
    """The variables that are bound only in ways that bind a shadow too."""
    bound: set[str] = set()
    unshadowed: set[str] = set()

    def walk(node: ast.AST, in_class: bool) -> None:
        here = unshadowed if in_class else bound
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            (unshadowed if isinstance(node.ctx, ast.Del) else here).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
            unshadowed.add(node.name or "")
        elif isinstance(node, ast.MatchMapping) and node.rest:
            unshadowed.add(node.rest)
        elif isinstance(node, ast.alias):
            unshadowed.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.For, ast.comprehension)):
            unshadowed.update(_starred(node.target))
        elif isinstance(node, ast.NamedExpr):
            unshadowed.add(node.target.id)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            unshadowed.update(name for _, name in target_variables(node.optional_vars))
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            unshadowed.update(node.names)
        inside = isinstance(node, ast.ClassDef) or (
            in_class and not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.comprehension))
        )
        for child in ast.iter_child_nodes(node):
            walk(child, inside)

    walk(tree, False)
    return frozenset(bound - unshadowed)


def target_variables(target: ast.expr, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], str]]:
    """The variables of a target, with where in the value each lies; after a star that is not known."""
    if isinstance(target, ast.Name):
        yield path, target.id
    elif isinstance(target, ast.Starred):
        yield from target_variables(target.value, (*path, -1))
    elif isinstance(target, (ast.Tuple, ast.List)):
        after = False
        for index, part in enumerate(target.elts):
            after = after or isinstance(part, ast.Starred)
            yield from target_variables(part, (*path, -1 if after else index))


def _starred(target: ast.expr) -> set[str]:
    """The variables of a loop's target that stand beside a star."""
    names: set[str] = set()
    for node in ast.walk(target):
        if isinstance(node, (ast.Tuple, ast.List)) and any(isinstance(part, ast.Starred) for part in node.elts):
            names |= {name for _, name in target_variables(node)}
    return names


def parameter_names(arguments: ast.arguments) -> list[str]:
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in (*plain, arguments.vararg, arguments.kwarg) if argument is not None]
