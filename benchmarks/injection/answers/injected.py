"""Put one fault of a named kind into a program that is right: by changing its syntax tree, or the service it calls.

Each kind has variants, which are what programs do wrong. All that fit a program are offered, in an order drawn from a
seed. Whether a program with a fault is wrong is not decided here: it is run, and a reference judges the answer.
"""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, NamedTuple, get_args

from benchmarks.injection.answers.corpus import Script
from benchmarks.injection.answers.services import Closed, FailingRequest, Namesakes, Paged, Twist
from benchmarks.injection.answers.trees import (
    Change,
    guard_first_item,
    index_of,
    is_print,
    is_tool_call,
    key_of,
    print_statement,
    replace_nodes,
    replace_prints,
    split_head,
    string_constants,
    wrap_in_try,
)
from sandbox import CallRecord, Run

__all__ = ["KINDS", "FaultKind", "InjectedFault", "injected_faults"]

FaultKind = Literal[
    "nothing_printed",
    "error_printed",
    "error_swallowed",
    "no_call",
    "rests_on_nothing",
    "other_entity",
    "first_page",
    "empty_for_negative",
]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)

_MESSAGES = {
    403: "you may not see this",
    404: "there is no such thing",
    409: "it is being changed by somebody else",
    400: "the request is not complete",
}
_NAMES: Mapping[str, Sequence[str]] = {
    "museum": ("Tomas Drager", "Kaja Vold", "Harbour at Noon", "Made by Hand", "Light on Water", "Lena Ashworth"),
    "parcels": ("Odd Larsen", "Miriam Okafor", "Piet Vandam", "Bergen", "Lisbon"),
    "cinema": ("The Silent Harbor", "Engines of Autumn", "Samir Haddad", "Nils Berg", "The Last Lantern"),
    "films": ("The Glass Orchard", "A Winter of Kites", "Anton Brandvold", "Northern Reel", "The Paper Ferry"),
    "shop": ("Hanna Pereira", "Tomas Wikander", "Whistling Kettle", "Copper Saucepan", "Bread Knife"),
}
_IDENTIFIERS: Mapping[str, Mapping[str, Sequence[int | str]]] = {
    "museum": {"artwork_id": (1340, 1207, 1184), "artist_id": ("art-td31", "art-kv07"), "exhibition_id": (58, 61)},
    "parcels": {"customerId": (7802, 7714), "depotCode": ("LIS", "BGO")},
    "cinema": {"filmId": (57, 41), "personId": (301, 303, 304)},
    "films": {"film_id": (5380, 4127), "person_id": (81177, 90214), "company_id": (612,)},
    "shop": {"customerId": (20733, 20481), "productId": ("KP-20922", "KP-20417")},
}
"""Examples in the documents of the APIs, which exist in each world."""


@dataclass(frozen=True, slots=True)
class InjectedFault:
    """A program with a fault of a kind, the name of its variant, and the service that it is to meet."""

    kind: FaultKind
    variant: str
    program: str
    twist: Twist | None = None


def injected_faults(
    kind: FaultKind, script: Script, run: Run, other_run: Run, chance: random.Random
) -> list[InjectedFault]:
    """All variants of a right program with a fault of one kind, in an order left to chance.

    Args:
        run: A run of the program without a fault.
        other_run: A run in another world: the source of answers that are well made and wrong here.
    """
    source = _Injection(script, ast.parse(script.program), run, other_run, chance)
    candidates = [
        InjectedFault(kind, name, ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree))) + "\n", twist)
        for name, tree, twist in _INJECTORS[kind](source)
    ]
    variants: dict[str, list[InjectedFault]] = {}
    for fault in chance.sample(candidates, len(candidates)):
        variants.setdefault(fault.variant, []).append(fault)
    # One fault of each variant, then the next of each: some variants fit a program many times over.
    order = chance.sample(sorted(variants), len(variants))
    rounds = zip_longest(*(variants[name] for name in order))
    return [fault for faults in rounds for fault in faults if fault is not None]


class _Variant(NamedTuple):
    """One way to make a fault: its name, the changed program, and what is changed about the service."""

    name: str
    tree: ast.Module
    twist: Twist | None = None


@dataclass(frozen=True, slots=True)
class _Injection:
    """A right program with its runs: what an injector works with."""

    script: Script
    tree: ast.Module
    run: Run
    other_run: Run
    chance: random.Random

    @property
    def answer(self) -> str:
        """What the program prints in another world."""
        return self.other_run.stdout.strip()

    @property
    def counts(self) -> bool:
        """True if the question asks for a number."""
        return re.search(r"\bhow (many|much)\b", self.script.query, re.IGNORECASE) is not None

    @property
    def is_yes_or_no(self) -> bool:
        """True if the question wants yes or no."""
        return self.script.query.split()[0] in {"Is", "Are", "Was", "Do", "Does", "Can", "Am"}

    def replaced(self, change: Change) -> ast.Module:
        """The program with some nodes exchanged."""
        return replace_nodes(self.tree, change)

    def negative_answer(self) -> str:
        """An answer that says that nothing was found."""
        if self.counts:
            return self.chance.choice(("0", "There are 0.", "none", "There are none."))
        if self.is_yes_or_no:
            return self.chance.choice(("No", "No.", "False", "It is not."))
        return self.chance.choice(
            ("Nothing was found.", "None", "[]", "There is no such entry.", "It does not exist.", "No match")
        )

    def is_entity(self, text: str) -> bool:
        """True if a text of the program is a name in the question, too."""
        return text in self.script.query and text[:1].isupper() and len(text) > 3

    def misspelled(self, text: str) -> str:
        """A name without one of its letters."""
        places = [at for at in range(1, len(text)) if text[at].isalpha()]
        at = self.chance.choice(places)
        return text[:at] + text[at + 1 :]

    def fail_any(self) -> FailingRequest:
        """Let one of the program's calls fail."""
        call = self.chance.choice(self.run.calls)
        return self.fail(call, self.chance.choice(sorted(_MESSAGES)))

    def fail(self, call: CallRecord, status: int) -> FailingRequest:
        """Let this call fail."""
        path = call.url.partition("?")[0].partition("/__session__/")[2]
        path = "/" + path.partition("/")[2] if path else re.sub(r"^\w+://[^/]+", "", call.url).partition("?")[0]
        same_requests = [record for record in self.run.calls if _endpoint(record) == _endpoint(call)]
        return FailingRequest(f"{call.method} {path}", status, _MESSAGES[status], same_requests.index(call))


def _endpoint(call: CallRecord) -> tuple[str, str]:
    return call.method, call.url.partition("?")[0]


def _try_all(source: _Injection, handler: str) -> ast.Module:
    """The program with all of its statements in a `try`."""
    heads, rest = split_head(source.tree)
    return ast.Module([*heads, wrap_in_try(rest, handler)], [])


def _nothing_printed(source: _Injection) -> Iterator[_Variant]:
    def assign(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Expr) and is_print(node.value):
            return ast.Assign([ast.Name("answer", ast.Store())], ast.Tuple(node.value.args, ast.Load()))
        return None

    def hide(node: ast.AST) -> ast.AST | None:
        if isinstance(node, ast.Expr) and is_print(node.value):
            return ast.If(ast.parse("len(str(0)) > 5", mode="eval").body, [node], [])
        return None

    def empty(node: ast.AST) -> ast.AST | None:
        return print_statement([]) if isinstance(node, ast.Expr) and is_print(node.value) else None

    yield _Variant("kept in a variable", source.replaced(assign))
    yield _Variant("never reached", source.replaced(hide))
    yield _Variant("an empty line", source.replaced(empty))
    heads, rest = split_head(source.tree)
    main = ast.parse("def main():\n    pass").body[0]
    assert isinstance(main, ast.FunctionDef)
    main.body = rest
    yield _Variant("a function that nobody calls", ast.Module([*heads, main], []))


def _error_printed(source: _Injection) -> Iterator[_Variant]:
    handlers = (
        "print(error)",
        "print(f'Error: {error}')",
        "print('Something went wrong:', error)",
        "print('Error fetching data')",
        "print('Failed to load the data.')",
        "print('An error occurred: ' + str(error))",
    )
    for handler in handlers:
        yield _Variant("a call fails", _try_all(source, handler), source.fail_any())
    keys = sorted({key for node in ast.walk(source.tree) if (key := key_of(node)) is not None})
    for handler in handlers[:3]:
        if keys:
            wrong = source.chance.choice(keys)
            broken = replace(source, tree=source.replaced(_replace_text(wrong, f"{wrong}_value")))
            yield _Variant("a field that is not there", _try_all(broken, handler))


def _error_swallowed(source: _Injection) -> Iterator[_Variant]:
    words = [source.negative_answer(), "Unknown", "The information is not available.", source.answer.splitlines()[0]]
    for text in (*words, *(["0"] if source.counts else [])):
        yield _Variant("all of it is tried", _try_all(source, f"print({text!r})"), source.fail_any())
    write = next((call for call in source.run.calls if call.method != "GET"), None)
    if write is not None:
        for text in ("Done.", "It is done."):
            yield _Variant("a write is tried", _try_all(source, f"print({text!r})"), source.fail(write, 409))
    for number, node in enumerate(ast.walk(source.tree)):
        if not isinstance(node, ast.For):
            continue
        inside = [call for call in source.run.calls if node.lineno < (call.line or 0) <= (node.end_lineno or 0)]
        if not inside:
            continue
        call = source.chance.choice(inside)
        for handler in ("continue", "pass"):
            tree = copy.deepcopy(source.tree)
            loop = list(ast.walk(tree))[number]
            assert isinstance(loop, ast.For)
            loop.body = [wrap_in_try(loop.body, handler)]
            yield _Variant("an item is left out", tree, source.fail(call, source.chance.choice((403, 404))))


def _no_call(source: _Injection) -> Iterator[_Variant]:
    yield _Variant("said at once", ast.parse(f"print({source.answer!r})"))
    yield _Variant("said from a variable", ast.parse(f"answer = {source.answer!r}\nprint(f'The answer is {{answer}}')"))
    replies = {call.tool: repr(call.response) for call in source.other_run.calls}
    if len(replies) < len(source.other_run.calls):
        return

    def inline_reply(node: ast.AST) -> ast.AST | None:
        reply = replies.get(node.func.id, "") if is_tool_call(node) and isinstance(node.func, ast.Name) else ""
        return ast.parse(reply, mode="eval").body if 0 < len(reply) < 2500 else None

    tree = source.replaced(inline_reply)
    if not any(map(is_tool_call, ast.walk(tree))) and source.run.calls[0].style == "function":
        yield _Variant("replies made up", tree)


def _rests_on_nothing(source: _Injection) -> Iterator[_Variant]:
    constant = ast.Constant(source.answer)
    yield _Variant("another answer in its place", replace_prints(source.tree, [constant]))
    yield _Variant("in a sentence", replace_prints(source.tree, [ast.Constant("The answer is"), constant]))
    first = next(
        (at for at, statement in enumerate(source.tree.body) if any(map(is_tool_call, ast.walk(statement)))), None
    )
    if first is None:
        return
    head = [statement for statement in source.tree.body[: first + 1] if not any(map(is_print, ast.walk(statement)))]
    if not any(map(is_tool_call, ast.walk(ast.Module(head, [])))):
        return
    tail = ast.parse(f"answer = {source.answer!r}\nprint(answer)").body
    yield _Variant("after the first call", ast.Module([*head, *tail], []))
    last = head[-1]
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        tail = ast.parse(f"if {last.targets[0].id}:\n    print({source.answer!r})").body
        yield _Variant("if there is a reply", ast.Module([*head, *tail], []))


def _other_entity(source: _Injection) -> Iterator[_Variant]:
    named = sorted(text for text in set(string_constants(source.tree)) if source.is_entity(text))
    for text in named:
        other_names = [name for name in _NAMES[source.script.api] if name != text and (" " in name) == (" " in text)]
        for other_name in other_names[:4]:
            yield _Variant("another name", source.replaced(_replace_text(text, other_name)))
        yield _Variant("a slip of the pen", source.replaced(_replace_text(text, source.misspelled(text))))
    searches = {
        keyword.arg
        for node in ast.walk(source.tree)
        if is_tool_call(node)
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Constant) and keyword.value.value in named
    }

    def drop_search(node: ast.AST) -> ast.AST | None:
        if is_tool_call(node) and any(key.arg in searches for key in node.keywords):
            return ast.Call(node.func, node.args, [key for key in node.keywords if key.arg not in searches])
        return None

    if searches:
        yield _Variant("the first of all", source.replaced(drop_search))
    for addition in ("Junior", "the Elder", "II") if named else ():
        yield _Variant("somebody of that name", source.tree, Namesakes(addition))
        yield _Variant("the second that was found", source.replaced(_take_second), Namesakes(addition, first=False))
    identifiers = _IDENTIFIERS[source.script.api]
    for node in ast.walk(source.tree):
        for keyword in node.keywords if is_tool_call(node) else ():
            name = keyword.arg or ""
            for value in identifiers.get(name, ()) if not isinstance(keyword.value, ast.Constant) else ():
                yield _Variant("an identifier made up", source.replaced(_fix_identifier(node, name, value)))


def _replace_text(text: str, replacement: str) -> Change:
    """One text becomes another one."""
    return lambda node: ast.Constant(replacement) if isinstance(node, ast.Constant) and node.value == text else None


def _take_second(node: ast.AST) -> ast.AST | None:
    """`search(…)["items"][0]` takes the second one; only where the search and the index are one expression."""
    if not isinstance(node, ast.Subscript) or index_of(node) != 0:
        return None
    inner = node.value
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    return ast.Subscript(node.value, ast.Constant(1), ast.Load()) if is_tool_call(inner) else None


def _fix_identifier(call: ast.AST, name: str, value: int | str) -> Change:
    """A call gets an identifier from the examples of the document in place of the one that was found."""
    whole = ast.dump(call)

    def change(node: ast.AST) -> ast.AST | None:
        if not is_tool_call(node) or ast.dump(node) != whole:
            return None
        keys = [ast.keyword(key.arg, ast.Constant(value) if key.arg == name else key.value) for key in node.keywords]
        return ast.Call(node.func, node.args, keys)

    return change


def _first_page(source: _Injection) -> Iterator[_Variant]:
    for size in (2, 3, 5, 10):
        for style in range(3):
            yield _Variant("lists come in pages", source.tree, Paged(size, style))
    before = ast.dump(source.tree)
    for variant, change in (
        ("the loop over pages is gone", _loop_once),
        ("only the first page is asked for", _range_once),
    ):
        if ast.dump(tree := source.replaced(change)) != before:
            yield _Variant(variant, tree)
    replies = [call.response for call in source.run.calls if isinstance(call.response, dict)]
    for key in sorted({key for reply in replies for key, value in reply.items() if isinstance(value, list)}):
        if ast.dump(tree := source.replaced(_count_items(key))) != before:
            yield _Variant("its items are counted", tree)
            yield _Variant("its items are counted", tree, Paged(10))


def _loop_once(node: ast.AST) -> ast.AST | None:
    """`while` goes round once, or not at all."""
    if not isinstance(node, ast.While):
        return None
    body = node.body if isinstance(node.test, ast.Constant) else []
    return ast.While(node.test, [*body, ast.Break()], [])


def _range_once(node: ast.AST) -> ast.AST | None:
    """A range over pages ends after the first one."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "range":
        return None
    start = node.args[0] if len(node.args) > 1 else ast.Constant(0)
    return ast.Call(node.func, [start, ast.Constant(2)], [])


def _count_items(key: str) -> Change:
    """`page["total"]` becomes the number of items that came with it."""

    def change(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Subscript) or key_of(node) not in {"total", "totalCount", "total_results", "count"}:
            return None
        items = ast.Subscript(node.value, ast.Constant(key), ast.Load())
        return ast.Call(ast.Name("len", ast.Load()), [items], [])

    return change


def _empty_for_negative(source: _Injection) -> Iterator[_Variant]:
    instead = source.negative_answer()
    for node in ast.walk(source.tree):
        operand = node.comparators[0] if isinstance(node, ast.Compare) else None
        text = operand.value if isinstance(operand, ast.Constant) else None
        if not isinstance(node, ast.Compare) or not isinstance(text, str) or not re.search(r"[A-Za-z]", text):
            continue
        spellings = {text.lower(), text.upper(), text.capitalize(), text + "s", text.replace(" ", "-"), text + " "}
        for spelling in sorted(spellings - {text}):
            yield _Variant("spelt otherwise", guard_first_item(source.replaced(_replace_text(text, spelling)), instead))
        key = key_of(node.left)
        for other_key in ("state", "kind", "type", f"{key}_name") if key else ():
            yield _Variant(
                "a field that is not there", guard_first_item(source.replaced(_missing_key(key, other_key)), instead)
            )
    replies = [call.response for call in source.run.calls if isinstance(call.response, dict)]
    keys = [key for node in ast.walk(source.tree) if (key := key_of(node)) is not None]
    for key in dict.fromkeys(keys):
        if any(isinstance(reply.get(key), list) for reply in replies):
            for other_key in sorted({"items", "data", "results"} - {key}):
                tree = guard_first_item(
                    source.replaced(_missing_key(key, other_key, ast.List([], ast.Load()))), instead
                )
                yield _Variant("a list that is not there", tree)
    for text in sorted(text for text in set(string_constants(source.tree)) if source.is_entity(text)):
        for _ in range(2):
            tree = guard_first_item(source.replaced(_replace_text(text, source.misspelled(text))), instead)
            yield _Variant("searched for with a slip", tree, Closed(source.script.query))


def _missing_key(key: str | None, other_key: str, *default: ast.expr) -> Change:
    """`reply["key"]` becomes `reply.get("other_key")`, with this default."""

    def change(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Subscript) or key_of(node) != key:
            return None
        inner = replace_nodes(ast.Module([ast.Expr(node.value)], []), change).body[0]
        assert isinstance(inner, ast.Expr)
        return ast.Call(ast.Attribute(inner.value, "get", ast.Load()), [ast.Constant(other_key), *default], [])

    return change


_INJECTORS: Mapping[FaultKind, Callable[[_Injection], Iterator[_Variant]]] = {
    "nothing_printed": _nothing_printed,
    "error_printed": _error_printed,
    "error_swallowed": _error_swallowed,
    "no_call": _no_call,
    "rests_on_nothing": _rests_on_nothing,
    "other_entity": _other_entity,
    "first_page": _first_page,
    "empty_for_negative": _empty_for_negative,
}
