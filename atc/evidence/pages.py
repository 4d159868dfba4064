"""The fact that a part of a list was read where the program goes through the list.

Responses announce further pages in a few ways that all APIs share: a total, a number of pages, a link or cursor.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from atc.evidence.answers import Finding, name_of
from atc.evidence.traced_run import TracedRun, lists_in, orders
from atc.program.tree import called_name, called_tool, lines_of
from protocols.json_path import subscripts
from protocols.text.word_lists import NAMES
from protocols.text.words import selects_page, words
from sandbox.records import CallRecord

__all__ = ["first_page", "unread_lists"]

_TOTALS = frozenset("total count num number of results result items item hits found matches records entries".split())
_TOTAL_KEYS = frozenset({"total", "count", "hits", "found", "matches"})
_PAGE_TOTALS = frozenset({"pages", "total pages", "page count", "last page", "num pages", "max page"})
_MORE_KEYS = frozenset({"has more", "has next", "more", "has next page"})
_NEXT_KEYS = frozenset({"next", "next page", "next cursor", "next page token", "next url", "next link", "next marker"})
_PAGE_OBJECTS = frozenset({"metadata", "meta", "paging", "pagination", "page", "pages", "links", "page info", "cursor"})
_PAGE_KEYS = frozenset({"page", "current page", "page number", "page no", "p", "limit", "offset", "next", "cursor"})
_MIN_PAGE = 20
"""Items of a page from which a limit is no choice of the question: nobody asks for the first 20."""
_MIN_ORDERED = 3
"""Different values from which an order is no accident."""
_AGGREGATES = frozenset({"len", "sum", "max", "min", "sorted", "any", "all", "set", "list", "Counter", "map", "filter"})
_RANKING = frozenset({"max", "min", "sum"})
_REORDERING = frozenset({"list", "sorted", "reversed", "enumerate", "tuple", "iter"})
_ACCESSORS = frozenset({"json", "copy", "values", "items"})


def first_page(traced: TracedRun) -> Finding | None:
    """The program goes through one page of a list, the answer rests on it, and there are more pages.

    Not where it takes one item of the list by its name or its place, or the list comes in an order that was asked for.
    """
    live_tools = {call.tool for call in traced.live_calls}
    for call in traced.good_calls:
        if call.tool not in live_tools or orders(call):
            continue
        for path, extent in unread_lists(call, traced):
            traversal = _ListTraversal(traced.tree, call, _list_length(call, path, traced))
            picked = _is_picked(call, path, traced) and not traversal.is_ranked
            if picked or _is_first_of_ordered(call, path, traced):
                continue
            line = traversal.line
            if line is not None:
                message = f"{name_of(call)} returned only a part of its list {subscripts(path)}: {extent}"
                return Finding("FirstPage", message, line, call.index, path)
    return None


def _taken_items(call: CallRecord, path: tuple[str, ...], traced: TracedRun) -> set[object]:
    """The positions of the items that values were taken from."""
    return {
        source.path[len(path)]
        for source in traced.used_sources
        if source.call == call.index and source.how != "decided" and source.path[: len(path)] == path
        if len(source.path) > len(path)
    }


def _is_picked(call: CallRecord, path: tuple[str, ...], traced: TracedRun) -> bool:
    """True if the values of one item alone were used: the program found what it looked for."""
    return len(_taken_items(call, path, traced)) == 1


def _is_first_of_ordered(call: CallRecord, path: tuple[str, ...], traced: TracedRun) -> bool:
    """True if the program took the first item of a list that comes in the order of one of its fields."""
    taken = _taken_items(call, path, traced)
    items = traced.value_at(call, path)
    if taken != {0} or not isinstance(items, list) or len(items) < _MIN_ORDERED:
        return False
    columns = ([item.get(key) for item in items if isinstance(item, dict)] for key in _keys(items[0]))
    return any(_is_ordered(column) for column in columns if len(column) == len(items))


def _keys(item: object) -> list[str]:
    return list(item) if isinstance(item, dict) else []


def _is_ordered(values: list[object]) -> bool:
    """True for numbers, or texts with a digit such as dates, that only rise or only fall."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    dates = all(isinstance(value, str) and value[:1].isdigit() for value in values)
    if not (numbers or dates) or len(set(values)) < _MIN_ORDERED:
        return False
    rising = sorted(values)  # type: ignore[type-var]
    return values in (rising, rising[::-1])


def unread_lists(call: CallRecord, traced: TracedRun) -> Iterator[tuple[tuple[str, ...], str]]:
    """The lists with items that the run did not read: path, and the evidence in the response."""
    page_calls = [
        page_call
        for page_call in traced.good_calls
        if page_call.tool == call.tool and _list_arguments(page_call) == _list_arguments(call)
    ]
    if call is not page_calls[-1]:
        return  # the last page knows whether there is another one
    top = traced.response(call)
    pages = {repr(sorted(page_call.arguments.items(), key=str)) for page_call in page_calls}
    read = {path: sum(_list_length(page, path, traced) for page in page_calls) for path, _, _ in lists_in(top)}
    for path, items, around in lists_in(top):
        if not items:
            continue
        fields = {**(top if isinstance(top, dict) else {}), **around}
        siblings = {" ".join(words(key)): value for key, value in fields.items()}
        about_pages = [value for key, value in siblings.items() if key in _PAGE_OBJECTS and isinstance(value, dict)]
        nested = {" ".join(words(key)): value for part in about_pages for key, value in part.items()}
        siblings |= {key: value for key, value in nested.items() if key in _MORE_KEYS | _NEXT_KEYS | _PAGE_TOTALS}
        if nested.get("after") and "after" in call.arguments.keys() | _argument_names(call, traced):
            siblings["next"] = nested["after"]
        # A total is that of the longest list beside it: the links of a reply are none of its items.
        longest = max(count for other, count in read.items() if other[:-1] == path[:-1])
        if read[path] < longest:
            continue
        if path and (extent := _describe_rest(siblings, call, longest, len(pages))):
            yield path, extent
        elif (size := _page_size(call)) and len(items) >= size and _is_last(call, traced, siblings):
            yield path, f"it has all {len(items)} items that the call asked for, so that there may be more"


def _argument_names(call: CallRecord, traced: TracedRun) -> set[str]:
    tool = traced.tools.get(call.tool or "")
    return {argument.argument for argument in tool.arguments} if tool is not None else set()


def _describe_rest(siblings: dict[str, object], call: CallRecord, read: int, pages: int) -> str:
    """The evidence in the fields around a list for unread items; empty without any.

    Args:
        siblings: The fields, by their names as words.
        read: The number of items read, from that many `pages`.
    """
    paged = not siblings.keys().isdisjoint(_PAGE_KEYS) or any(map(selects_page, call.arguments))
    for key, value in siblings.items():
        parts = set(key.split())
        total = parts <= _TOTALS and parts & _TOTAL_KEYS and (len(parts) > 1 or paged or key == "count")
        if total and isinstance(value, int) and not isinstance(value, bool):
            return f"{read} of {value}" if value > read else ""
    for key, value in siblings.items():
        if key in _PAGE_TOTALS and isinstance(value, int):
            return f"{pages} of {value} pages" if value > pages else ""
        if (key in _MORE_KEYS and value is True) or (key in _NEXT_KEYS and value):
            return f"it has {key!r}"
    return ""


def _is_last(call: CallRecord, traced: TracedRun, siblings: Iterable[str]) -> bool:
    """True if nothing beside a list tells whether there is more of it, and its tool was not called again."""
    again = any(later.tool == call.tool and later.index > call.index for later in traced.good_calls)
    return not again and not any(map(_tells_extent, siblings))


def _tells_extent(key: str) -> bool:
    """True if a field beside a list tells whether there is more of it."""
    return key in _PAGE_TOTALS | _MORE_KEYS | _NEXT_KEYS or (
        set(key.split()) <= _TOTALS and not _TOTAL_KEYS.isdisjoint(key.split())
    )


def _page_size(call: CallRecord) -> int:
    """The number of items that a call asks for; 0 without one, and for a few, which are all that somebody wants."""
    sizes = [value for name, value in call.arguments.items() if "_".join(words(name)) in NAMES["limits"]]
    return next((int(str(size)) for size in sizes if str(size).isdecimal() and int(str(size)) >= _MIN_PAGE), 0)


def _list_arguments(call: CallRecord) -> object:
    """The arguments of a call, without those that select a page, in its body too."""
    return _without_page(call.arguments)


def _without_page(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {name: _without_page(part) for name, part in value.items() if not selects_page(name)}


def _list_length(call: CallRecord, path: tuple[str, ...], traced: TracedRun) -> int:
    return next((len(items) for place, items, _ in lists_in(traced.response(call)) if place == path), 0)


def _extends(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "extend"


class _ListTraversal:
    """The traversal of a response's list by a program.

    Args:
        size: The number of items in the list; a longer slice asks for missing items.
    """

    def __init__(self, tree: ast.Module, call: CallRecord, size: int) -> None:
        self._tree, self._call, self._list_length = tree, call, size
        self._holding: set[str] = set()
        for node in ast.walk(tree):
            value = node.value if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)) else None
            if value is not None and self._yields_list(value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
                self._holding |= {target.id for target in targets if isinstance(target, ast.Name)}

    @property
    def is_ranked(self) -> bool:
        """True if the program takes the greatest or least of the whole list, or adds it up."""
        calls = (node for node in ast.walk(self._tree) if isinstance(node, ast.Call) and called_name(node) in _RANKING)
        return any(self._yields_list(argument) for call in calls for argument in call.args)

    @property
    def line(self) -> int | None:
        """The line that iterates over the whole list; None without one."""
        for node in ast.walk(self._tree):
            iterables: list[ast.expr] = []
            if isinstance(node, (ast.For, ast.comprehension)):
                iterables = [node.iter]
            elif isinstance(node, ast.Call) and (called_name(node) in _AGGREGATES or _extends(node)):
                iterables = node.args
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                iterables = node.comparators
            iterated = next((expression for expression in iterables if self._yields_list(expression)), None)
            if iterated is not None:
                return iterated.lineno
        return None

    def _yields_list(self, node: ast.expr) -> bool:
        """True if an expression is the response of the call or a whole list of it, not one item or a part."""
        if isinstance(node, ast.Name):
            return node.id in self._holding
        if isinstance(node, ast.Subscript):
            return self._is_whole(node.slice) and self._yields_list(node.value)
        if isinstance(node, ast.BoolOp):
            return any(map(self._yields_list, node.values))
        if isinstance(node, ast.BinOp):
            return self._yields_list(node.left) or self._yields_list(node.right)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return any(self._yields_list(generator.iter) for generator in node.generators)
        if not isinstance(node, ast.Call):
            return False
        if called_tool(node) == self._call.tool:
            line = self._call.line
            return line is None or line in lines_of(node)
        if isinstance(node.func, ast.Name):
            return node.func.id in _REORDERING and any(map(self._yields_list, node.args))
        if not isinstance(node.func, ast.Attribute):
            return False
        if self._call.style == "requests" and node.func.attr in {"get", "request"} and node.lineno == self._call.line:
            return True
        is_get = node.func.attr == "get" and node.args and isinstance(node.args[0], ast.Constant)
        return bool(is_get or node.func.attr in _ACCESSORS) and self._yields_list(node.func.value)

    def _is_whole(self, step: ast.expr) -> bool:
        """True if a subscript leads to a list, or to all of one."""
        if isinstance(step, ast.Constant):
            return isinstance(step.value, str)
        if not isinstance(step, ast.Slice):
            return False
        end = step.upper.value if isinstance(step.upper, ast.Constant) else step.upper
        return end is None or (isinstance(end, int) and end > self._list_length)
