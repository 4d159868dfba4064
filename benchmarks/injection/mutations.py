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
from typing import NamedTuple, TypeGuard

from benchmarks.injection.corpus import Script
from benchmarks.injection.replies import CannedReply, FixedReplies, RequestPattern
from benchmarks.injection.services import Closed, Namesakes, Paged, Twist
from sandbox import CallRecord, Run

__all__ = ["KINDS", "InjectedFault", "injected_faults"]

_Change = Callable[[ast.AST], ast.AST | None]
"""The replacement of a node; None where it stays."""


class _NodeReplacer(ast.NodeTransformer):
    def __init__(self, change: _Change) -> None:
        self._change = change

    def visit(self, node: ast.AST) -> ast.AST:
        replacement = self._change(node)
        return self.generic_visit(node) if replacement is None else replacement


def _replace_nodes(tree: ast.Module, change: _Change) -> ast.Module:
    """A program with some nodes exchanged; the tree itself stays as it is."""
    copied = _NodeReplacer(change).visit(copy.deepcopy(tree))
    assert isinstance(copied, ast.Module)
    return copied


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _is_print(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def _is_tool_call(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and bool(re.match(r"[A-Z]+_", node.func.id))


def _calls_tool(tree: ast.AST) -> bool:
    return any(map(_is_tool_call, ast.walk(tree)))


def _subscript_of(node: ast.AST) -> object:
    """`"title"` of `work["title"]`, `0` of `works[0]`; None for anything else."""
    return node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None


def _keys(tree: ast.AST) -> Iterator[str]:
    return (key for node in ast.walk(tree) if isinstance(key := _subscript_of(node), str))


def _statements(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _replace_prints(tree: ast.Module, arguments: str) -> ast.Module:
    """A program whose first print has these arguments, without its other prints."""
    replacements: list[ast.stmt] = _statements(f"print({arguments})")

    def change(statement: ast.Expr, _: ast.Call) -> ast.stmt:
        return replacements.pop() if replacements else ast.Pass()

    return _change_prints(tree, change)


def _change_prints(tree: ast.Module, change: Callable[[ast.Expr, ast.Call], ast.stmt]) -> ast.Module:
    """A program with other statements in place of those that print; `change` gets a statement and its call."""
    return _replace_nodes(
        tree, lambda node: change(node, node.value) if isinstance(node, ast.Expr) and _is_print(node.value) else None
    )


def _split_head(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The imports and functions of a program, and the rest of it."""
    heads: list[ast.stmt] = [
        statement for statement in tree.body if isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef))
    ]
    return heads, [statement for statement in tree.body if statement not in heads]


def _put_into(frame: str, body: list[ast.stmt]) -> ast.stmt:
    """The statement `frame` with `body` in place of its own."""
    statement = _statements(frame)[0]
    assert isinstance(statement, (ast.Try, ast.FunctionDef))
    statement.body = body
    return statement


def _wrap_in_try(body: list[ast.stmt], handler: str) -> ast.stmt:
    """Statements in a `try`; `handler` is one line, in which the error is `error`."""
    return _put_into(f"try:\n    pass\nexcept Exception as error:\n    {handler}", body)


def _guard_first_item(tree: ast.Module, instead: str) -> ast.Module:
    """A program that prints `instead` where a list is empty, before it takes the first item."""
    for at, statement in enumerate(tree.body):
        if not isinstance(statement, ast.Assign):
            continue
        taken = [node.value for node in ast.walk(statement.value) if _takes_first(node)]
        if not taken or not _calls_tool(taken[0]):
            continue
        items, whole = taken[0], ast.dump(taken[0])

        def use_variable(node: ast.AST, whole: str = whole) -> ast.AST | None:
            return ast.Name("found", ast.Load()) if ast.dump(node) == whole else None

        rest = _replace_nodes(ast.Module(tree.body[at:], []), use_variable)
        assignment = ast.Assign([ast.Name("found", ast.Store())], items)
        condition = ast.If(ast.Name("found", ast.Load()), rest.body, _statements(f"print({instead!r})"))
        return ast.Module([*tree.body[:at], assignment, condition], [])
    return tree


def _takes_first(node: ast.AST) -> TypeGuard[ast.Subscript]:
    return isinstance(_subscript_of(node), int) and _subscript_of(node) == 0


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


class InjectedFault(NamedTuple):
    """A program with a fault, the name of its variant, and the service that it is to meet."""

    variant: str
    program: str
    twist: Twist | None = None


class _Mutation(NamedTuple):
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

    def replaced(self, change: _Change) -> ast.Module:
        """The program with some nodes exchanged."""
        return _replace_nodes(self.tree, change)

    def negative_answer(self) -> str:
        """An answer that says that nothing was found."""
        if self.counts:
            return self.chance.choice(("0", "There are 0.", "none", "There are none."))
        if self.is_yes_or_no:
            return self.chance.choice(("No", "No.", "False", "It is not."))
        return self.chance.choice(
            ("Nothing was found.", "None", "[]", "There is no such entry.", "It does not exist.", "No match")
        )

    def misspelled(self, text: str) -> str:
        """A name without one of its letters."""
        places = [at for at in range(1, len(text)) if text[at].isalpha()]
        at = self.chance.choice(places)
        return text[:at] + text[at + 1 :]

    def named_entities(self) -> list[str]:
        """The texts of the program that are names in the question, too."""
        constants = (node.value for node in ast.walk(self.tree) if isinstance(node, ast.Constant))
        texts = {value for value in constants if isinstance(value, str)}
        return sorted(text for text in texts if text in self.script.query and text[:1].isupper() and len(text) > 3)

    def list_keys(self) -> set[str]:
        """The keys of lists in the replies."""
        replies = [call.response for call in self.run.calls if isinstance(call.response, dict)]
        return {key for reply in replies for key, value in reply.items() if isinstance(value, list)}

    def fail_any(self) -> FixedReplies:
        """Let one of the program's calls fail."""
        call = self.chance.choice(self.run.calls)
        return self.fail(call, self.chance.choice(sorted(_MESSAGES)))

    def fail(self, call: CallRecord, status: int) -> FixedReplies:
        """Let this call fail."""
        url = call.url.partition("?")[0]
        path = url.partition("/__session__/")[2].partition("/")[2]
        failure = CannedReply(
            RequestPattern(call.method, f".*/{re.escape(path)}"), status, {"message": _MESSAGES[status]}
        )
        earlier = self.run.calls[: self.run.calls.index(call)]
        same = [record for record in earlier if (record.method, record.url.partition("?")[0]) == (call.method, url)]
        return FixedReplies([failure], number=len(same))


def _try_all(source: _Injection, handler: str) -> ast.Module:
    heads, rest = _split_head(source.tree)
    return ast.Module([*heads, _wrap_in_try(rest, handler)], [])


def _nothing_printed(source: _Injection) -> Iterator[_Mutation]:
    changes: dict[str, Callable[[ast.Expr, ast.Call], ast.stmt]] = {
        "kept in a variable": lambda _, call: ast.Assign(
            [ast.Name("answer", ast.Store())], ast.Tuple(call.args, ast.Load())
        ),
        "never reached": lambda statement, _: ast.If(_expression("len(str(0)) > 5"), [statement], []),
        "an empty line": lambda *_: _statements("print()")[0],
    }
    for name, change in changes.items():
        yield _Mutation(name, _change_prints(source.tree, change))
    heads, rest = _split_head(source.tree)
    main = _put_into("def main():\n    pass", rest)
    yield _Mutation("a function that nobody calls", ast.Module([*heads, main], []))


def _error_printed(source: _Injection) -> Iterator[_Mutation]:
    handlers = (
        "print(error)",
        "print(f'Error: {error}')",
        "print('Something went wrong:', error)",
        "print('Error fetching data')",
        "print('Failed to load the data.')",
        "print('An error occurred: ' + str(error))",
    )
    for handler in handlers:
        yield _Mutation("a call fails", _try_all(source, handler), source.fail_any())
    keys = sorted(set(_keys(source.tree)))
    for handler in handlers[:3]:
        if keys:
            wrong = source.chance.choice(keys)
            broken = replace(source, tree=source.replaced(_replace_text(wrong, f"{wrong}_value")))
            yield _Mutation("a field that is not there", _try_all(broken, handler))


def _error_swallowed(source: _Injection) -> Iterator[_Mutation]:
    words = [source.negative_answer(), "Unknown", "The information is not available.", source.answer.splitlines()[0]]
    for text in (*words, *(["0"] if source.counts else [])):
        yield _Mutation("all of it is tried", _try_all(source, f"print({text!r})"), source.fail_any())
    write = next((call for call in source.run.calls if call.method != "GET"), None)
    if write is not None:
        for text in ("Done.", "It is done."):
            yield _Mutation("a write is tried", _try_all(source, f"print({text!r})"), source.fail(write, 409))
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
            loop.body = [_wrap_in_try(loop.body, handler)]
            yield _Mutation("an item is left out", tree, source.fail(call, source.chance.choice((403, 404))))


def _no_call(source: _Injection) -> Iterator[_Mutation]:
    yield _Mutation("said at once", ast.parse(f"print({source.answer!r})"))
    yield _Mutation(
        "said from a variable", ast.parse(f"answer = {source.answer!r}\nprint(f'The answer is {{answer}}')")
    )
    replies = {call.tool: repr(call.response) for call in source.other_run.calls}
    if len(replies) < len(source.other_run.calls):
        return

    def inline_reply(node: ast.AST) -> ast.AST | None:
        reply = replies.get(node.func.id, "") if _is_tool_call(node) and isinstance(node.func, ast.Name) else ""
        return _expression(reply) if 0 < len(reply) < 2500 else None

    tree = source.replaced(inline_reply)
    if not _calls_tool(tree) and source.run.calls[0].style == "function":
        yield _Mutation("replies made up", tree)


def _rests_on_nothing(source: _Injection) -> Iterator[_Mutation]:
    yield _Mutation("another answer in its place", _replace_prints(source.tree, f"{source.answer!r}"))
    yield _Mutation("in a sentence", _replace_prints(source.tree, f"'The answer is', {source.answer!r}"))
    first = next((at for at, statement in enumerate(source.tree.body) if _calls_tool(statement)), None)
    if first is None:
        return
    head = [statement for statement in source.tree.body[: first + 1] if not any(map(_is_print, ast.walk(statement)))]
    if not _calls_tool(ast.Module(head, [])):
        return
    tail = _statements(f"answer = {source.answer!r}\nprint(answer)")
    yield _Mutation("after the first call", ast.Module([*head, *tail], []))
    last = head[-1]
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        tail = _statements(f"if {last.targets[0].id}:\n    print({source.answer!r})")
        yield _Mutation("if there is a reply", ast.Module([*head, *tail], []))


def _other_entity(source: _Injection) -> Iterator[_Mutation]:
    named = source.named_entities()
    for text in named:
        other_names = [name for name in _NAMES[source.script.api] if name != text and (" " in name) == (" " in text)]
        for other_name in other_names[:4]:
            yield _Mutation("another name", source.replaced(_replace_text(text, other_name)))
        yield _Mutation("a slip of the pen", source.replaced(_replace_text(text, source.misspelled(text))))
    searches = {
        keyword.arg
        for node in ast.walk(source.tree)
        if _is_tool_call(node)
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Constant) and keyword.value.value in named
    }

    def drop_search(node: ast.AST) -> ast.AST | None:
        if _is_tool_call(node) and any(key.arg in searches for key in node.keywords):
            return ast.Call(node.func, node.args, [key for key in node.keywords if key.arg not in searches])
        return None

    if searches:
        yield _Mutation("the first of all", source.replaced(drop_search))
    for addition in ("Junior", "the Elder", "II") if named else ():
        yield _Mutation("somebody of that name", source.tree, Namesakes(addition))
        yield _Mutation("the second that was found", source.replaced(_take_second), Namesakes(addition, first=False))
    identifiers = _IDENTIFIERS[source.script.api]
    for node in ast.walk(source.tree):
        for keyword in node.keywords if _is_tool_call(node) else ():
            name = keyword.arg or ""
            for value in identifiers.get(name, ()) if not isinstance(keyword.value, ast.Constant) else ():
                yield _Mutation("an identifier made up", source.replaced(_fix_identifier(node, name, value)))


def _replace_text(text: str, replacement: str) -> _Change:
    return lambda node: ast.Constant(replacement) if isinstance(node, ast.Constant) and node.value == text else None


def _take_second(node: ast.AST) -> ast.AST | None:
    """`search(…)["items"][0]` takes the second one; only where the search and the index are one expression."""
    if not _takes_first(node):
        return None
    inner = node.value
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    return _expression(f"{ast.unparse(node.value)}[1]") if _is_tool_call(inner) else None


def _fix_identifier(call: ast.AST, name: str, value: int | str) -> _Change:
    """A call gets an identifier from the examples of the document in place of the one that was found."""
    whole = ast.dump(call)

    def change(node: ast.AST) -> ast.AST | None:
        if not _is_tool_call(node) or ast.dump(node) != whole:
            return None
        keys = [ast.keyword(key.arg, ast.Constant(value) if key.arg == name else key.value) for key in node.keywords]
        return ast.Call(node.func, node.args, keys)

    return change


def _first_page(source: _Injection) -> Iterator[_Mutation]:
    for size in (2, 3, 5, 10):
        for style in range(3):
            yield _Mutation("lists come in pages", source.tree, Paged(size, style))
    before = ast.dump(source.tree)
    for variant, change in (
        ("the loop over pages is gone", _loop_once),
        ("only the first page is asked for", _range_once),
    ):
        if ast.dump(tree := source.replaced(change)) != before:
            yield _Mutation(variant, tree)
    for key in sorted(source.list_keys()):
        if ast.dump(tree := source.replaced(_count_items(key))) != before:
            yield _Mutation("its items are counted", tree)
            yield _Mutation("its items are counted", tree, Paged(10))


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
    return _expression(f"range({ast.unparse(node.args[0]) if len(node.args) > 1 else 0}, 2)")


def _count_items(key: str) -> _Change:
    """`page["total"]` becomes the number of items that came with it."""

    def change(node: ast.AST) -> ast.AST | None:
        counts = {"total", "totalCount", "total_results", "count"}
        if not isinstance(node, ast.Subscript) or _subscript_of(node) not in counts:
            return None
        return _expression(f"len({ast.unparse(node.value)}[{key!r}])")

    return change


def _empty_for_negative(source: _Injection) -> Iterator[_Mutation]:
    instead = source.negative_answer()
    for node in ast.walk(source.tree):
        operand = node.comparators[0] if isinstance(node, ast.Compare) else None
        text = operand.value if isinstance(operand, ast.Constant) else None
        if not isinstance(node, ast.Compare) or not isinstance(text, str) or not re.search(r"[A-Za-z]", text):
            continue
        spellings = {text.lower(), text.upper(), text.capitalize(), text + "s", text.replace(" ", "-"), text + " "}
        for spelling in sorted(spellings - {text}):
            changed = source.replaced(_replace_text(text, spelling))
            yield _Mutation("spelt otherwise", _guard_first_item(changed, instead))
        key = _subscript_of(node.left)
        if not isinstance(key, str):
            continue
        for other_key in ("state", "kind", "type", f"{key}_name"):
            changed = source.replaced(_missing_key(key, other_key))
            yield _Mutation("a field that is not there", _guard_first_item(changed, instead))
    for key in dict.fromkeys(_keys(source.tree)):
        for other_key in sorted({"items", "data", "results"} - {key}) if key in source.list_keys() else ():
            changed = source.replaced(_missing_key(key, other_key, ", []"))
            yield _Mutation("a list that is not there", _guard_first_item(changed, instead))
    for text in source.named_entities():
        for _ in range(2):
            changed = source.replaced(_replace_text(text, source.misspelled(text)))
            yield _Mutation(
                "searched for with a slip", _guard_first_item(changed, instead), Closed(source.script.query)
            )


def _missing_key(key: str, other_key: str, default: str = "") -> _Change:
    """`reply["key"]` becomes `reply.get("other_key")`, with this default."""

    def change(node: ast.AST) -> ast.AST | None:
        if not isinstance(node, ast.Subscript) or _subscript_of(node) != key:
            return None
        inner = ast.unparse(_replace_nodes(ast.Module([ast.Expr(node.value)], []), change))
        return _expression(f"{inner}.get({other_key!r}{default})")

    return change


_MUTATIONS: Mapping[str, Callable[[_Injection], Iterator[_Mutation]]] = {
    "nothing_printed": _nothing_printed,
    "error_printed": _error_printed,
    "error_swallowed": _error_swallowed,
    "no_call": _no_call,
    "rests_on_nothing": _rests_on_nothing,
    "other_entity": _other_entity,
    "first_page": _first_page,
    "empty_for_negative": _empty_for_negative,
}
KINDS = tuple(_MUTATIONS)
"""The kinds of faults."""


def injected_faults(kind: str, script: Script, run: Run, other_run: Run, chance: random.Random) -> list[InjectedFault]:
    """All variants of a right program with a fault of one kind, in an order left to chance.

    Args:
        run: A run of the program without a fault.
        other_run: A run in another world: the source of answers that are well made and wrong here.
    """
    source = _Injection(script, ast.parse(script.program), run, other_run, chance)
    candidates = [
        InjectedFault(name, ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree))) + "\n", twist)
        for name, tree, twist in _MUTATIONS[kind](source)
    ]
    variants: dict[str, list[InjectedFault]] = {}
    for fault in chance.sample(candidates, len(candidates)):
        variants.setdefault(fault.variant, []).append(fault)
    # One fault of each variant, then the next of each: some variants fit a program many times over.
    order = chance.sample(sorted(variants), len(variants))
    rounds = zip_longest(*(variants[name] for name in order))
    return [fault for faults in rounds for fault in faults if fault is not None]
