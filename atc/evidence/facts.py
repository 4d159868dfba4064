"""The facts about a run that may speak against its answer, ours and those of other packages.

A fact is a function of a `TracedRun` that gives a `Finding` or None; another package registers its own as an entry
point `atc.facts`. A list is read in part where its response announces more: a total, a number of pages, a link or
cursor, which all APIs share. How often each stands beside right and wrong answers is written beside its test.

The rates of the unseen splits are those of the forms before control dependence counted; the present forms were judged
on the development splits alone, which had been read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from atc.diagnosis.provenance import TracedRun, failed, lists_in, orders
from atc.doors import doors, load
from atc.evidence.answers import Finding, is_absence, is_unsupported, made_writes, name_of
from atc.program.source import calls_of, lines_of, nodes_of
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import subscripts
from protocols.text.words import NAMES, selects_page, words
from sandbox.records import CallRecord, Run

__all__ = ["facts", "first_page", "unread_lists"]

_TOTALS = frozenset(
    {"total", "count", "num", "number", "of", "results", "result", "items", "item", "hits", "found", "matches"}
    | {"records", "entries"}
)
_TOTAL_KEYS = frozenset({"total", "count", "hits", "found", "matches"})
_PAGE_TOTALS = frozenset({"pages", "total pages", "page count", "last page", "num pages", "max page"})
_MORE_KEYS = frozenset({"has more", "has next", "more", "has next page"})
_NEXT_KEYS = frozenset({"next", "next page", "next cursor", "next page token", "next marker"})
_ADDRESS = re.compile(r" (url|uri|link|href)$")
_PAGE_OBJECTS = frozenset({"metadata", "meta", "paging", "pagination", "page", "pages", "links", "page info", "cursor"})
_PAGE_KEYS = frozenset({"page", "current page", "page number", "page no", "p", "limit", "offset", "next", "cursor"})
_MIN_PAGE = 20
"""Items of a page from which a limit is no choice of the question: hardly anybody asks for the first 20."""


def first_page(traced: TracedRun) -> Finding | None:
    """The program goes through one page of a list, the answer rests on it, and there are more pages.

    Not where it takes one item of the list by its name or its place, where the list comes in an order that was asked
    for, or where the program ends a loop over pages itself, as on reaching an older item.
    """
    live_tools = {call.tool for call in traced.live_calls} - set(_paged_to_an_end(traced))
    for call in traced.good_calls:
        if call.tool not in live_tools or orders(call):
            continue
        for path, extent in unread_lists(call, traced):
            from atc.evidence.traversal import whole_traversal

            line = whole_traversal(traced, call, path)
            if line is not None:
                part = f"{name_of(call)} returned only a part of its list {subscripts(path)}".rstrip()
                return Finding("FirstPage", f"{part}: {extent}", line, call.index, path)
    return None


def _paged_to_an_end(traced: TracedRun) -> Iterator[str]:
    """The tools whose pages a loop of the program asks for until it breaks off, or its test says so."""
    for loop in nodes_of(traced.tree, ast.While):
        counted = any(isinstance(part.value, int) for part in nodes_of(loop.test, ast.Constant))  # `True`, `page < 3`
        if not counted or any(isinstance(part, ast.If) and any(nodes_of(part, ast.Break)) for part in loop.body):
            for call, tool in calls_of(loop, traced.tools):
                moving = (keyword for keyword in call.keywords if not isinstance(keyword.value, ast.Constant))
                names = {keyword.arg or "page" for keyword in moving} - NAMES["limits"]
                if any(name == "before" or selects_page(name) for name in names):
                    yield tool


def unread_lists(call: CallRecord, traced: TracedRun) -> Iterator[tuple[tuple[str, ...], str]]:
    """The lists with items that the run did not read: path, and the evidence in the response."""
    page_calls = _pages_with(call, traced)
    if call is not page_calls[-1]:
        return  # the last page knows whether there is another one
    tool = traced.tools.get(call.tool or "")
    documented = map(str.lower, tool.result_headers if tool is not None else ())
    has_links = any(page.more for page in page_calls) or "link" in documented
    top = traced.response(call)
    pages = {repr(sorted(page_call.arguments.items(), key=str)) for page_call in page_calls}
    read = {path: sum(_list_length(page, path, traced) for page in page_calls) for path, _, _ in lists_in(top)}
    size = _page_size(call, traced.numbers)
    for path, items, around in lists_in(top):
        if not items:
            continue
        fields = {**(top if isinstance(top, dict) else {}), **around}
        siblings = {" ".join(words(key)): value for key, value in fields.items()}
        nested = {" ".join(words(key)): value for part in _page_objects(siblings) for key, value in part.items()}
        extent_keys = _MORE_KEYS | _NEXT_KEYS | _PAGE_TOTALS
        siblings |= {key: value for key, value in nested.items() if _ADDRESS.sub("", key) in extent_keys}
        names = {argument.argument for argument in tool.arguments} if tool is not None else set()
        if nested.get("after") and "after" in call.arguments.keys() | names:
            siblings["next"] = nested["after"]
        moved = siblings.get("cursor") != call.arguments.get("cursor")
        if moved and "cursor" in names and _MORE_KEYS.isdisjoint(siblings):
            siblings.setdefault("next cursor", siblings.get("cursor"))
        # A total is that of the longest list beside it: the links of a reply are none of its items.
        beside = [count for other, count in read.items() if other[:-1] == path[:-1] and count]
        if read[path] < max(beside):
            continue
        if all(page.more for page in page_calls):
            yield path, "its Link header leads to a next page"
        elif path and (extent := _describe_rest(siblings, call, read[path], len(pages), len(beside) == 1)):
            yield path, extent
        elif 0 < size <= len(items) and not has_links and _is_last(call, traced, siblings):
            yield path, f"it has all {len(items)} items that the call asked for, so that there may be more"


def _page_objects(fields: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The objects about pages among fields, and within one another: `meta.pagination`."""
    for key, value in fields.items():
        if isinstance(value, dict) and " ".join(words(key)) in _PAGE_OBJECTS:
            yield value
            yield from _page_objects(value)


def _pages_with(call: CallRecord, traced: TracedRun) -> list[CallRecord]:
    """The calls for all pages of the list that a call asks for, itself among them."""
    arguments = _without_page(call.arguments)
    return [
        other for other in traced.good_calls if other.tool == call.tool and _without_page(other.arguments) == arguments
    ]


def _describe_rest(siblings: dict[str, object], call: CallRecord, read: int, pages: int, alone: bool) -> str:
    """The evidence in the fields around a list for unread items; empty without any.

    Args:
        siblings: The fields, by their names as words.
        read: The number of items read, from that many `pages`.
        alone: No other list is beside it, which a total may be about. Made from one document, judged by no unread one.
    """
    paged = not siblings.keys().isdisjoint(_PAGE_KEYS) or any(map(selects_page, call.arguments))
    for key, value in siblings.items():
        parts = set(key.split())
        total = parts <= _TOTALS and parts & _TOTAL_KEYS and (paged or (alone and (len(parts) > 1 or key == "count")))
        if total and isinstance(value, int) and not isinstance(value, bool):
            return f"{read} of {value}" if value > read else ""
    for key, value in siblings.items():
        if key in _PAGE_TOTALS and isinstance(value, int):
            return f"{pages} of {value} pages" if value > pages else ""
        if (key in _MORE_KEYS and value is True) or (_ADDRESS.sub("", key) in _NEXT_KEYS and value):
            return f"it has {key!r}"
    return ""


def _is_last(call: CallRecord, traced: TracedRun, siblings: Iterable[str]) -> bool:
    """True if nothing beside a list tells whether there is more of it, and its tool was not called again."""
    again = any(later.tool == call.tool and later.index > call.index for later in traced.good_calls)
    return not again and not any(map(_tells_extent, siblings))


def _tells_extent(key: str) -> bool:
    """True if a field beside a list tells whether there is more of it."""
    return _ADDRESS.sub("", key) in _PAGE_TOTALS | _MORE_KEYS | _NEXT_KEYS or (
        set(key.split()) <= _TOTALS and not _TOTAL_KEYS.isdisjoint(key.split())
    )


def _page_size(call: CallRecord, asked: Collection[str]) -> int:
    """The number of items that a call asks for; 0 without one, and for as many as somebody wants: a few, or so many."""
    sizes = [str(value) for name, value in call.arguments.items() if "_".join(words(name)) in NAMES["limits"]]
    return next((int(size) for size in sizes if size.isdecimal() and int(size) >= _MIN_PAGE and size not in asked), 0)


def _without_page(value: object) -> object:
    """The arguments of a call, without those that select a page, in its body too."""
    if not isinstance(value, dict):
        return value
    return {name: _without_page(part) for name, part in value.items() if not selects_page(name)}


def _list_length(call: CallRecord, path: tuple[str, ...], traced: TracedRun) -> int:
    return next((len(items) for place, items, _ in lists_in(traced.response(call)) if place == path), 0)


_NOT_FOUND = 404


def _no_good_call(traced: TracedRun) -> Finding | None:
    """No call was made, or none has a good response; that there is no such thing may be the answer."""
    if traced.good_calls or (traced.run.calls and is_absence(traced.tree, traced.run.calls[-1])):
        return None
    message = "the program printed an answer without any reply of the API"
    if not traced.run.calls:
        return Finding("NoCall", message)
    from atc.evidence.failed_calls import described_failure

    call = traced.run.calls[-1]
    return Finding.of_call("NoEvidence", f"{message}: {described_failure(call)}", call)


def _no_evidence(traced: TracedRun) -> Finding | None:
    """No printed value comes from a reply, and no write was accepted."""
    if not traced.good_calls or made_writes(traced.run) or not is_unsupported(traced.program, traced.run):
        return None
    return Finding("NoEvidence", "what the program printed comes from no reply of the API")


def _failed_call(traced: TracedRun) -> Finding | None:
    """A call failed, and the program went on."""
    for call in traced.run.calls:
        if not failed(call) and not _says_error(traced.response(call)):
            continue
        if call.refused or (failed(call) and call.status is not None and call.status < 400):
            continue
        from atc.evidence.failed_calls import described_failure, is_deliberate, is_error_printed, is_replaced

        described = described_failure(call)
        if failed(call) and is_deliberate(call, traced):
            continue
        if any(source.call == call.index for source in traced.data_sources) or is_error_printed(call, traced):
            message = f"the program printed an error as its answer: {described}"
            return Finding.of_call("ErrorPrinted", message, call)
        if failed(call) and not is_replaced(call, traced):
            message = f"{described}, and the program went on without it"
            return Finding.of_call("ErrorSwallowed", message, call)
    return None


def _caught_error(traced: TracedRun) -> Finding | None:
    """The answer is what a handler of errors printed, and no value of a reply. A 404 may well be an answer."""
    if traced.shows_data or any(call.status == _NOT_FOUND and not call.writes for call in traced.run.calls):
        return None
    handlers = list(nodes_of(traced.tree, ast.ExceptHandler))
    if not handlers:
        return None
    from atc.evidence.failed_calls import printed_answer

    for handler in handlers:
        for node, _ in calls_of(handler, {"print"}):
            if printed_answer(node, handler.name, traced):
                message = f"line {node.lineno} printed the answer after it caught an error"
                return Finding("ErrorPrinted", message, node.lineno)
    return None


def _says_error(response: object) -> bool:
    """True if a response with a good status reports an error."""
    if not isinstance(response, dict):
        return False
    if response.get("success") is False or response.get("ok") is False:
        return True
    return bool(response.get("error") or response.get("errors")) and len(response) <= 3


_EMPTY_VALUES = frozenset({"", "None", "[]", "{}", "()", "set()", "nan", "''"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MAX_ARGUMENTS = 120
"""Characters of arguments or output in a message."""


def _nothing_found(traced: TracedRun) -> Finding | None:
    """No value of a reply is printed, and a call behind the answer was asked for something and returned no items."""
    if made_writes(traced.run):
        return None
    if traced.lines and all(map(_is_empty, traced.lines)):
        return Finding("NothingFound", f"the program printed {traced.lines[0][:_MAX_ARGUMENTS]!r}, which holds nothing")
    if any(traced.value_of(source) not in (None, "", [], {}) for source in traced.data_sources):
        return None
    for call in traced.good_calls:
        pages = _pages_with(call, traced)  # the last of several may be empty
        lists = [items for page in pages for _, items, _ in lists_in(traced.response(page))]
        if call.arguments and lists and not any(lists) and traced.is_behind_output(call):
            arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())[:_MAX_ARGUMENTS]
            return Finding.of_call("NothingFound", f"nothing was found by {name_of(call)}({arguments})", call)
    return _null(traced)


def _null(traced: TracedRun) -> Finding | None:
    """All that was printed of replies is null."""
    for source in traced.data_sources:
        if source.how == "exact" and traced.value_of(source) is None:
            call = traced.run.calls[source.call]
            return Finding.of_call("NothingFound", f"the value of {name_of(call)} is null", call, source.path)
    return None


def _is_empty(line: str) -> bool:
    """True for an empty value of Python by itself or after a colon: `[]`, `None`, `Cast: {}`."""
    return line.rpartition(":")[2].strip() in _EMPTY_VALUES


def _empty_selection(traced: TracedRun) -> Finding | None:
    """No item passed: the program compares with another spelling than the replies have, or reads a field they lack.

    Only where the output has no value of a reply and no number but zero.
    """
    if made_writes(traced.run) or traced.shows_data or any(map(float, _NUMBER.findall(traced.run.stdout))):
        return None
    from atc.evidence.empty_selections import missed_by_spelling

    return missed_by_spelling(traced)


def _dead_call(traced: TracedRun) -> Finding | None:
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


_FACTS = (
    _no_good_call,
    _failed_call,
    _caught_error,
    _no_evidence,
    first_page,
    _empty_selection,
    _nothing_found,
    _dead_call,
)
"""Most telling first."""


def facts(program: str, run: Run, graph: ProtocolGraph | None = None, asked: str = "") -> tuple[Finding, ...]:
    """List what the run itself shows against a printed answer, the most telling first, one of each kind.

    Args:
        run: A run that ended well and printed something (see `judge`).
        graph: The data flow between the tools.
        asked: The question, of which only the numbers are read: a page of so many items is its own choice.
    """
    traced = TracedRun(program, run, graph, frozenset(re.findall(r"\d+", asked)))
    findings: dict[str, Finding] = {}
    for fact in (*_FACTS, *(load("atc.facts", name) for name in doors("atc.facts"))):
        try:
            finding = fact(traced)
        except RecursionError:  # a program nested so deeply is not read
            continue
        if finding is not None:
            findings.setdefault(finding.kind, finding)
    return tuple(findings.values())
