"""Whether a program took the first page of a list for all of it.

Replies say of themselves that there is more, in a few ways that all APIs share: a total, a number of pages, something
that leads to the next one. That matters where the question is about all of the list and the program went through it.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from atc.verify.findings import Finding, Inspected, folded, lists_in
from atc.verify.printed import is_negative
from protocols.words import words
from sandbox.records import CallRecord

__all__ = ["first_page", "more_than_read"]

_COUNTS = frozenset("total count num number of results result items item hits found matches records entries".split())
_SURE = frozenset({"total", "count", "hits", "found", "matches"})
_PAGES = frozenset({"pages", "total pages", "page count", "last page", "num pages", "max page"})
_NEXT = frozenset({"next", "next page", "next cursor", "next page token", "next url", "next link"})
_PAGE = frozenset({"page", "current page", "page number", "page no", "p"})
_PLACES = frozenset(
    "page p offset skip start cursor after limit per_page page_size pagesize perpage size count first max_results "
    "page_number page_no number max take top marker token page_token".split()
)
"""Parameters that say which part of a list is wanted."""
_ALL = re.compile(
    r"\b(how (many|much|often)|number of|count|all|every|each|total|altogether|together|in sum|sum|average|mean|median"
    r"|most|least|fewest|only|ever|complete|entire|whole|none|any|more than|less than|fewer than|at least|at most"
    r"|(?!(?:inter|for|gu|re|har|que|contr?|prot|sugg|mod|hon|dig|inv|pri|w|e|t|n|ch|f|b|requ|arr|cr|j|l|p|v|z)est\b)"
    r"[a-z]+est)\b",
    re.IGNORECASE,
)
"""Words of a question that is about all of a list: counts, sums and superlatives."""
_WHOLE = frozenset({"len", "sum", "max", "min", "sorted", "any", "all", "set", "list", "Counter", "map", "filter"})
_SAME = frozenset({"list", "sorted", "reversed", "enumerate", "tuple", "iter"})
_READS = frozenset({"json", "copy", "values", "items"})


def first_page(seen: Inspected) -> Finding | None:
    """A list has more than was read, the program went through what it read, and the question is about all of it."""
    if not _ALL.search(seen.query) and not is_negative(seen):
        return None
    for call in seen.answered:
        if _is_named(call, seen):
            continue
        for path, told in more_than_read(call, seen):
            line = _goes_through(seen.tree, call, path)
            if line is None:
                continue
            where = "".join(f"[{step!r}]" for step in path)
            message = (
                f"{call.tool or call.url} returned only a part of its list {where}: {told}. The question is about all "
                "of it; ask for the other pages too, until there are no more, or for a narrower list"
            )
            return Finding("FirstPage", message, line, call.index, path)
    return None


def _is_named(call: CallRecord, seen: Inspected) -> bool:
    """Whether a list is what a search for one thing of the question found, and the question counts something else."""
    if re.search(r"\bhow many\b|\bnumber of\b", seen.query, re.IGNORECASE):
        return False
    names = {folded(name) for name in seen.names}
    return any(folded(str(value)) in names for _, value, sources in seen.arguments(call) if not sources)


def more_than_read(call: CallRecord, seen: Inspected) -> Iterator[tuple[tuple[str, ...], str]]:
    """The lists of a reply that have more than the run read of them: where each is, and how the reply says so."""
    same = [one for one in seen.answered if one.tool == call.tool and _frame(one) == _frame(call)]
    if call is not same[-1]:
        return  # the last page knows whether there is another one
    top = seen.response(call)
    for path, items, around in lists_in(top):
        if not path or not items:
            continue
        near = {
            " ".join(words(key)): value for key, value in {**(top if isinstance(top, dict) else {}), **around}.items()
        }
        told = _told(near, call, sum(_size(one, path, seen) for one in same), _pages(same))
        if told:
            yield path, told


def _told(near: dict[str, object], call: CallRecord, read: int, pages: int) -> str:
    """How the values around a list say that there is more than what was read; empty when they do not.

    Args:
        near: By their names as words.
        read: How many items were read of it, in so many `pages`.
    """
    paged = any(key in _PAGE or key in {"limit", "offset", "next", "cursor"} for key in near) or any(
        name.lower() in _PLACES for name in call.arguments
    )
    for key, value in near.items():
        parts = set(key.split())
        total = parts <= _COUNTS and parts & _SURE and (len(parts) > 1 or paged or key == "count")
        if total and isinstance(value, int) and not isinstance(value, bool):
            return f"{read} of {value}" if value > read else ""
    for key, value in near.items():
        if key in _PAGES and isinstance(value, int):
            return f"{pages} of {value} pages" if value > pages else ""
        following = key in {"has more", "has next", "more", "has next page"} and value is True
        linked = key in _NEXT and bool(value) and not isinstance(value, bool)
        if following or linked:
            return f"it has {key!r}"
    return ""


def _frame(call: CallRecord) -> dict[str, object]:
    """What a call asks for, apart from which page of it."""
    return {name: value for name, value in call.arguments.items() if name.lower() not in _PLACES}


def _size(call: CallRecord, path: tuple[str, ...], seen: Inspected) -> int:
    return next((len(items) for place, items, _ in lists_in(seen.response(call)) if place == path), 0)


def _pages(calls: list[CallRecord]) -> int:
    """How many different pages were asked for."""
    return len({repr(sorted(call.arguments.items(), key=str)) for call in calls})


def _goes_through(tree: ast.Module, call: CallRecord, path: tuple[str, ...]) -> int | None:
    """The line on which a program goes through a list of a reply from its start to its end; None if none does."""
    holding: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _leads(node.value, call, holding):
            holding |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            leads = node.value is not None and _leads(node.value, call, holding)
            holding |= {node.target.id} if leads and isinstance(node.target, ast.Name) else set()
    for node in ast.walk(tree):
        through: list[ast.expr] = []
        if isinstance(node, (ast.For, ast.comprehension)):
            through = [node.iter]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _WHOLE:
            through = node.args
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            through = node.comparators
        found = next((one for one in through if _leads(one, call, holding)), None)
        if found is not None:
            return found.lineno
    return None


def _leads(node: ast.expr, call: CallRecord, holding: set[str]) -> bool:
    """Whether an expression is the reply of a call or a whole list of it, not one item nor the first few."""
    if isinstance(node, ast.Name):
        return node.id in holding
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant):
            return isinstance(node.slice.value, str) and _leads(node.value, call, holding)
        bounded = isinstance(node.slice, ast.Slice) and node.slice.upper is not None
        return isinstance(node.slice, ast.Slice) and not bounded and _leads(node.value, call, holding)
    if isinstance(node, ast.BoolOp):
        return any(_leads(one, call, holding) for one in node.values)
    if isinstance(node, ast.BinOp):
        return _leads(node.left, call, holding) or _leads(node.right, call, holding)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
        return any(_leads(one.iter, call, holding) for one in node.generators)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        if node.func.id == call.tool:
            return call.line is None or node.lineno <= call.line <= (node.end_lineno or node.lineno)
        return node.func.id in _SAME and any(_leads(one, call, holding) for one in node.args)
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in {"get", "post", "request"} and call.style == "requests" and node.lineno == call.line:
            return True
        asks = node.func.attr == "get" and node.args and isinstance(node.args[0], ast.Constant)
        return bool(asks or node.func.attr in _READS) and _leads(node.func.value, call, holding)
    return False
