"""Whether what is printed is what was asked for, and what the words before it announce."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence

from atc.language.intent import sentences
from atc.program.source import calls_of
from atc.verify.findings import Finding, Inspection
from protocols.model import Tool
from protocols.text.words import is_identifier, stem, words

__all__ = ["mislabelled", "said_twice", "unanswered"]

_ANNOUNCES = re.compile(r"(?:[:=]|\b(?:is|are|was|were))\s*$")
"""How words end that say what follows."""
_PLAIN = frozenset(words("content date description key label name number overview summary text title type value"))
"""Last words of keys that say nothing of what is meant: a director is given by a name."""
_FEW = 3
"""Tools that are named as those which return what was announced."""
_LONG = 4
"""Letters from which on a word says what is spoken of."""
_MOST = 6
"""Questions of which it is told which one has no answer."""
_ONE = (ast.Subscript, ast.Name, ast.Compare, ast.UnaryOp)
"""What is one value when it is printed."""
_COUNTS = frozenset({"abs", "all", "any", "float", "int", "len", "max", "min", "next", "round", "sum"})
"""Functions that return one value."""
_SEVERAL = re.compile(r"[\[{][\[{'\"]")
"""What a list or an object looks like where it is printed."""


def mislabelled(seen: Inspection) -> Finding | None:
    """The words before a value name a field that the replies have, or what a tool returns, and it is something else.

    `print("Pressure:", day["wind"]["speed"])`. Only where nothing on the way to the value, from a call on, is named by
    one of those words, and where the value's own key says what it is.
    """
    if seen.graph is None:
        return None
    keys_seen = [path[-1] for _, path, _ in seen.values if path and isinstance(path[-1], str)]
    fields = {stem(key.lower()): key for key in keys_seen}
    tools = {tool.name: tool for tool in seen.graph.protocol.tools if not tool.writes}
    things = {stem(noun): noun for tool in tools.values() if (noun := _thing(tool))}
    for line, label, value in _announced(seen.tree):
        keys, way = _keys(value), _held_in(value, seen.tree)
        said = [stem(word) for word in words(label)]
        if not {stem(word) for name in way for word in words(name)}.isdisjoint(said):
            continue
        if keys:
            meant = next((fields[word] for word in said if word in fields), None)
            if set(words(keys[-1])[-1:]) <= _PLAIN or is_identifier(keys[-1]):
                continue
            where = [name for name in tools if meant in seen.graph.response_fields(name)]
        else:
            meant = next((things[word] for word in said if word in things), None)
            if tools.keys().isdisjoint(way):
                continue
            where = [name for name, tool in tools.items() if _thing(tool) == meant]
        if meant is not None:
            best = [name for name in where if not _beginnings(name).isdisjoint(_beginnings(label))]
            meaning = [tools[name] for name in best or where]
            return _told(line, meant, ast.unparse(value), meaning[:_FEW])
    return None


def _beginnings(text: str) -> set[str]:
    """How the longer words of a text begin: `hours` and `hourly` alike."""
    return {word[:_LONG] for word in words(text) if len(word) >= _LONG}


def _told(line: int, meant: str, value: str, tools: Sequence[Tool]) -> Finding:
    """That a line says one thing and prints another."""
    names = " and ".join(tool.name for tool in tools)
    said = f'line {line} says {meant} and prints {value}; print the "{meant}"' + f" of {names}" * bool(names)
    return Finding("Mislabelled", said, line)


def _thing(tool: Tool) -> str:
    """What a tool returns, by the one word that its path ends with or its name has; empty where these are several."""
    last = [part for part in tool.path.split("/") if part and not part.startswith("{")][-1:]
    named = tool.name.partition("_")[2].lower().partition("_by_")[0]
    return next((said[0] for said in (words(last[0]) if last else (), words(named)) if len(said) == 1), "")


def said_twice(seen: Inspection) -> Finding | None:
    """One value is printed for two things: `print("Now:", warm)`, and then `print("Usually:", warm)`."""
    for node in ast.walk(seen.tree):
        for block in ("body", "orelse", "finalbody"):
            told: dict[str, tuple[int, str]] = {}
            for statement in statements if isinstance(statements := getattr(node, block, None), list) else ():
                stored = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and _is_stored(one)}
                told = {value: place for value, place in told.items() if stored.isdisjoint(re.findall(r"\w+", value))}
                for line, label, value in _announced(statement) if isinstance(statement, ast.Expr) else ():
                    before, other = told.setdefault(ast.unparse(value), (line, label))
                    if words(other) != words(label):
                        return _twice(ast.unparse(value), (before, other), (line, label))
    return None


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _twice(value: str, first: tuple[int, str], second: tuple[int, str]) -> Finding:
    """That two lines print one value for different things."""
    (before, other), (line, label) = first, second
    other, label = (text.strip().rstrip(":=").strip() for text in (other, label))
    said = f'line {line} prints for "{label}" what line {before} prints for "{other}", {value}; print what that is'
    return Finding("Mislabelled", said, line)


def unanswered(seen: Inspection) -> Finding | None:
    """The question asks more things than the program prints: each of them has its question mark."""
    asked = [sentence for sentence in sentences(seen.query) if sentence.endswith("?")]
    if len(asked) < 2 or seen.made_writes or any(map(_SEVERAL.search, seen.lines)):
        return None
    told = _printed(seen.tree)
    if told is None or not 0 < len(told) < len(asked):
        return None
    known, wanted = ([_telling(text) for text in texts] for texts in (told, asked))
    ways = itertools.permutations(range(len(asked)), len(told)) if len(asked) <= _MOST else [range(len(told))]
    best = max(ways, key=lambda way: sum(len(wanted[at] & words) for at, words in zip(way, known, strict=True)))
    missing = " ".join(word for at, text in enumerate(asked) if at not in best for word in text.split())
    count = f"{len(told)} value{'s' if len(told) > 1 else ''}"
    said = f"the question asks {len(asked)} things, and the program prints {count}; also answer: {missing}"
    return Finding("Unanswered", said)


def _telling(text: str) -> set[str]:
    """The stems of the longer words of a text."""
    return {stem(word) for word in words(text) if len(word) >= _LONG}


def _printed(tree: ast.AST) -> list[str] | None:
    """Of each value that a program prints the text around it; None where one print may give several."""
    joined = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AugAssign)) and not _is_one(node.value)
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    found = []
    for node, _ in calls_of(tree, {"print"}):
        text = " ".join(
            [str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant)]
            + [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        )
        for argument in node.args:
            for part in argument.values if isinstance(argument, ast.JoinedStr) else [argument]:
                value = part.value if isinstance(part, ast.FormattedValue) else part
                if not (_is_one(value) or isinstance(value, ast.Constant)):
                    return None
                if isinstance(value, ast.Name) and value.id in joined:
                    return None
                found += [text] * (not isinstance(value, ast.Constant))
    return found


def _is_one(value: ast.expr) -> bool:
    """Whether an expression surely is one value, as far as its own form tells."""
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(value, _ONE) or (isinstance(called, ast.Name) and called.id in _COUNTS)


def _announced(tree: ast.AST) -> Iterator[tuple[int, str, ast.expr]]:
    """What a program prints after words that say what it is: the line, the words, and the value, which is taken out of
    another and not reckoned."""
    for node, _ in calls_of(tree, {"print"}):
        parts: list[ast.expr] = []
        for argument in node.args:
            parts += argument.values if isinstance(argument, ast.JoinedStr) else [argument]
        for before, part in itertools.pairwise(parts):
            value = part.value if isinstance(part, ast.FormattedValue) else part
            if not (isinstance(before, ast.Constant) and isinstance(before.value, str) and _is_taken(value)):
                continue
            label = re.split(r"[\n.;,]", before.value.rstrip())[-1]
            if _ANNOUNCES.search(label):
                yield node.lineno, label, value


def _is_taken(value: ast.expr) -> bool:
    """Whether a value is a variable, something in it, or the number of things there."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "len" and value.args:
        value = value.args[0]
    while isinstance(value, ast.Subscript):
        value = value.value
    return isinstance(value, ast.Name)


def _keys(value: ast.expr) -> list[str]:
    """The keys by which a value is taken out of a variable; none where it is come by in another way."""
    keys: list[str] = []
    while isinstance(value, ast.Subscript):
        if isinstance(value.slice, ast.Constant) and isinstance(value.slice.value, str):
            keys.insert(0, value.slice.value)
        value = value.value
    return keys if isinstance(value, ast.Name) else []


def _held_in(value: ast.expr, tree: ast.AST) -> set[str]:
    """The names on the way to a value: its keys, its variable, and all that this one is set to."""
    found = {node.value for node in ast.walk(value) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    left = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    while left:
        name = left.pop()
        found.add(name)
        for node in ast.walk(tree):
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            source = getattr(node, "iter", None) or getattr(node, "value", None)
            if not (isinstance(target, ast.Name) and target.id == name and isinstance(source, ast.expr)):
                continue
            for part in ast.walk(source):
                if isinstance(part, ast.Name) and part.id not in found:
                    left.add(part.id)
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found.add(part.value)
    return found
