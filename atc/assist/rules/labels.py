"""Check that printed values match the question and the labels before them."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from atc.assist.rules.findings import Inspection
from atc.evidence.finding import Finding
from atc.program.source import calls_of
from atc.program.tree import assigned_names, called_name, nodes_of
from protocols.model import Tool
from protocols.text.words import is_identifier, stem, words

__all__ = ["mislabelled", "repeated_value", "unanswered"]

_LABEL_END = re.compile(r"(?:[:=]|\b(?:is|are|was|were))\s*$")
"""The end of a label: the text that announces a value."""
_GENERIC_WORDS = frozenset(
    words("content date description key label name number overview summary text title type value")
)
"""Last words of keys that do not tell what is meant: a director is printed by a name."""
_MAX_TOOLS = 3
"""Tools named as sources of the announced value."""
_MIN_WORD_LENGTH = 4
"""Letters from which a word counts as content."""
_MAX_QUESTIONS = 6
"""Questions up to which the unanswered one is identified."""
_SINGLE_VALUE = (ast.Subscript, ast.Name, ast.Compare, ast.UnaryOp)
"""Expressions that print one value."""
_REDUCERS = frozenset({"abs", "all", "any", "float", "int", "len", "max", "min", "next", "round", "sum"})
"""Functions that return one value."""
_COLLECTION = re.compile(r"[\[{][\[{'\"]")
"""The beginning of a printed list or object."""


def mislabelled(inspection: Inspection) -> Finding | None:
    """The label of a printed value names another field of the responses, or the entity that another tool returns.

    `print("Pressure:", day["wind"]["speed"])`. The value's own key has to be specific, and no key, variable or tool
    that it comes from may match the label.
    """
    if inspection.graph is None:
        return None
    reply_keys = [path[-1] for _, path, _ in inspection.values if path and isinstance(path[-1], str)]
    fields = {stem(key.lower()): key for key in reply_keys}
    tools = {tool.name: tool for tool in inspection.graph.protocol.tools if not tool.writes}
    nouns = {stem(noun): noun for tool in tools.values() if (noun := _returned_noun(tool))}
    for line, label, value in _labelled_values(inspection.tree):
        keys, sources = _key_path(value), _source_names(value, inspection.tree)
        label_stems = [stem(word) for word in words(label)]
        if not {stem(word) for name in sources for word in words(name)}.isdisjoint(label_stems):
            continue
        if keys:
            expected = next((fields[word] for word in label_stems if word in fields), None)
            if set(words(keys[-1])[-1:]) <= _GENERIC_WORDS or is_identifier(keys[-1]):
                continue
            candidates = [name for name in tools if expected in inspection.graph.response_fields(name)]
        else:
            expected = next((nouns[word] for word in label_stems if word in nouns), None)
            if tools.keys().isdisjoint(sources):
                continue
            candidates = [name for name, tool in tools.items() if _returned_noun(tool) == expected]
        if expected is not None:
            best = [name for name in candidates if not _word_prefixes(name).isdisjoint(_word_prefixes(label))]
            origin = " of " * bool(candidates) + " and ".join((best or candidates)[:_MAX_TOOLS])
            message = f'line {line} says {expected} and prints {ast.unparse(value)}; print the "{expected}"{origin}'
            return Finding("Mislabelled", message, line)
    return None


def _word_prefixes(text: str) -> set[str]:
    """The first letters of the longer words of a text: `hours` and `hourly` agree."""
    return {word[:_MIN_WORD_LENGTH] for word in words(text) if len(word) >= _MIN_WORD_LENGTH}


def _returned_noun(tool: Tool) -> str:
    """The noun of a tool's result: the one word at the end of its path or in its name; empty if there are several."""
    last = [part for part in tool.path.split("/") if part and not part.startswith("{")][-1:]
    named = tool.local_name.partition("_")[2].lower().partition("_by_")[0]
    return next((noun_words[0] for noun_words in map(words, [*last, named]) if len(noun_words) == 1), "")


def repeated_value(inspection: Inspection) -> Finding | None:
    """One value is printed under two labels: `print("Now:", warm)`, and then `print("Usually:", warm)`."""
    for node in ast.walk(inspection.tree):
        for block in ("body", "orelse", "finalbody"):
            printed: dict[str, tuple[int, str]] = {}
            for statement in statements if isinstance(statements := getattr(node, block, None), list) else ():
                stored = assigned_names(statement)
                printed = {
                    value: place
                    for value, place in printed.items()
                    if stored.keys().isdisjoint(re.findall(r"\w+", value))
                }
                for line, label, value in _labelled_values(statement) if isinstance(statement, ast.Expr) else ():
                    first_line, first_label = printed.setdefault(ast.unparse(value), (line, label))
                    if words(first_label) != words(label):
                        first, second = (text.strip().rstrip(":=").strip() for text in (first_label, label))
                        message = f'line {line} prints for "{second}" what line {first_line} prints for "{first}"'
                        return Finding("Mislabelled", f"{message}, {ast.unparse(value)}; print what that is", line)
    return None


def unanswered(inspection: Inspection) -> Finding | None:
    """The question has more question marks than the program prints values."""
    questions = inspection.question.questions
    if len(questions) < 2 or any(map(_COLLECTION.search, inspection.lines)):
        return None
    printed = _printed_contexts(inspection.tree)
    if printed is None or not 0 < len(printed) < len(questions):
        return None
    printed_stems, question_stems = ([_content_stems(text) for text in texts] for texts in (printed, questions))
    orders = (
        itertools.permutations(range(len(questions)), len(printed))
        if len(questions) <= _MAX_QUESTIONS
        else [range(len(printed))]
    )
    best = max(
        orders,
        key=lambda order: sum(len(question_stems[at] & words) for at, words in zip(order, printed_stems, strict=True)),
    )
    missing = " ".join(word for at, text in enumerate(questions) if at not in best for word in text.split())
    count = f"{len(printed)} value{'s' if len(printed) > 1 else ''}"
    message = f"the question asks {len(questions)} things, and the program prints {count}; also answer: {missing}"
    return Finding("Unanswered", message)


def _content_stems(text: str) -> set[str]:
    """The stems of the longer words of a text."""
    return {stem(word) for word in words(text) if len(word) >= _MIN_WORD_LENGTH}


def _printed_contexts(tree: ast.AST) -> list[str] | None:
    """The text around each printed value; None where one print may give several values."""
    combined = {
        name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AugAssign)) and not _is_single_value(node.value)
        for name in assigned_names(node)
    }
    contexts = []
    for node, parts in _prints(tree):
        constants = [str(part.value) for part in nodes_of(node, ast.Constant)]
        text = " ".join([*constants, *(part.id for part in nodes_of(node, ast.Name))])
        for value in parts:
            if isinstance(value, ast.Constant):
                continue
            if not _is_single_value(value) or (isinstance(value, ast.Name) and value.id in combined):
                return None
            contexts.append(text)
    return contexts


def _is_single_value(value: ast.expr) -> bool:
    """True if the form of an expression shows that it is one value."""
    return isinstance(value, _SINGLE_VALUE) or called_name(value) in _REDUCERS


def _prints(tree: ast.AST) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    """The calls of print, each with the parts of its text: arguments, and the parts of f-strings."""
    for node, _ in calls_of(tree, {"print"}):
        parts: list[ast.expr] = []
        for argument in node.args:
            parts += argument.values if isinstance(argument, ast.JoinedStr) else [argument]
        yield node, [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]


def _labelled_values(tree: ast.AST) -> Iterator[tuple[int, str, ast.expr]]:
    """The printed values after a label: line, label, and value. Computed values are left out."""
    for node, parts in _prints(tree):
        for before, value in itertools.pairwise(parts):
            if not (isinstance(before, ast.Constant) and isinstance(before.value, str) and _is_read(value)):
                continue
            label = re.split(r"[\n.;,]", before.value.rstrip())[-1]
            if _LABEL_END.search(label):
                yield node.lineno, label, value


def _is_read(value: ast.expr) -> bool:
    """True if a value is a variable, a part of one, or the length of either."""
    if isinstance(value, ast.Call) and called_name(value) == "len" and value.args:
        value = value.args[0]
    while isinstance(value, ast.Subscript):
        value = value.value
    return isinstance(value, ast.Name)


def _key_path(value: ast.expr) -> list[str]:
    """The keys that lead from a variable to a value; empty for any other expression."""
    keys: list[str] = []
    while isinstance(value, ast.Subscript):
        if isinstance(value.slice, ast.Constant) and isinstance(value.slice.value, str):
            keys.insert(0, value.slice.value)
        value = value.value
    return keys if isinstance(value, ast.Name) else []


def _source_names(value: ast.expr, tree: ast.AST) -> set[str]:
    """The names that a value comes from: its keys, its variable, and everything assigned to that one."""
    names = {node.value for node in nodes_of(value, ast.Constant) if isinstance(node.value, str)}
    pending = {node.id for node in nodes_of(value, ast.Name)}
    while pending:
        name = pending.pop()
        names.add(name)
        for node in ast.walk(tree):
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            source = getattr(node, "iter", None) or getattr(node, "value", None)
            if isinstance(target, ast.Name) and target.id == name and isinstance(source, ast.expr):
                pending |= {part.id for part in nodes_of(source, ast.Name)} - names
                names |= {part.value for part in nodes_of(source, ast.Constant) if isinstance(part.value, str)}
    return names
