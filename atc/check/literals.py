"""What a program says outright: constant arguments that the API does not take, and identifiers that nobody gave it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from atc.language.question import Question
from atc.program.source import calls_of
from protocols.calls.binding import check_argument
from protocols.dataflow.call_paths import search_expression
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import ToolError
from protocols.model import Protocol

__all__ = ["made_up", "placeholders", "wrong_constants"]

_PLACEHOLDER = re.compile(
    r"\b(your|my|the|some|insert|enter|replace|actual|example|sample|dummy)[ _-]?\w*[ _-]?(id|uuid|key|here|name|uri)\b"
    r"|^<.*>$|^\{.*\}$|^\[.*\]$|^\.\.\.$|^x{3,}$|^todo$|_here$|placeholder",
    re.IGNORECASE,
)
"""Texts that stand for a value which is not there: `your_playlist_id_here`, `<artist_id>`."""

_COUNTS = frozenset({"number", "code"})
"""Identifiers that one may well know: the first season, a country."""

Found = tuple[int, int, str, str]
"""Line, column, tool, message."""

MadeUp = tuple[ast.keyword, str, str, str | None, ast.expr]
"""The argument, its tool, the message, the program text that yields what belongs there, and what it is put in for."""

_OPAQUE = frozenset({"guid", "id", "identifier", "ref", "uri", "uuid"})
"""Identifiers that are no words of a language; a slug or a handle may be one."""


def wrong_constants(tree: ast.Module, protocol: Protocol, tools: Collection[str]) -> Iterator[Found]:
    """Constant arguments of calls that the tool would refuse before anything is sent."""
    for call, tool in calls_of(tree, tools):
        for keyword in call.keywords:
            if keyword.arg is None:
                continue
            try:
                value = ast.literal_eval(keyword.value)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                continue
            if value is None or protocol.tool(tool).argument(keyword.arg) is None:
                continue
            try:
                check_argument(protocol.tool(tool), keyword.arg, value, protocol.definitions)
            except ToolError as error:
                yield keyword.lineno, keyword.col_offset, tool, str(error)


def placeholders(tree: ast.Module, tools: Collection[str]) -> Iterator[tuple[ast.keyword, str, ast.Assign | None]]:
    """Arguments that are `…`, which stands in examples for what a question says, and the tools that are given them.

    With the statement that sets what nobody reads by such a call, if it can go without leaving an empty block.
    """
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    blocks = [getattr(node, name, None) for node in ast.walk(tree) for name in ("body", "orelse", "finalbody")]
    spare = [
        line
        for block in blocks
        if isinstance(block, list) and len(block) > 1
        for line in block
        if isinstance(line, ast.Assign)
        if all(isinstance(target, ast.Name) and target.id not in read for target in line.targets)
    ]
    for call, tool in calls_of(tree, tools):
        for keyword in call.keywords:
            if "…" in (_text(keyword.value) or ()):
                yield keyword, tool, next((line for line in spare if call in ast.walk(line)), None)


def made_up(
    tree: ast.Module,
    query: str | None,
    graph: ProtocolGraph | None,
    tools: Collection[str],
    callable_tools: Collection[str],
) -> Iterator[MadeUp]:
    """Identifiers written as constants that are placeholders, that the question does not say, or that are names.

    A word of the question where an identifier belongs is a name if a search by words yields such identifiers, and it is
    written like a name; any other is left to the API, which may go by words.

    Args:
        tools: Those that the program calls. shown: Those that it may call.
    """
    if graph is None:
        return
    values = _assigned(tree)
    for call, tool in calls_of(tree, tools):
        for keyword in call.keywords:
            argument = keyword.arg or ""
            node = keyword.value
            text = values.get(node.id) if isinstance(node, ast.Name) else _text(node)
            providers = graph.providers(tool, argument, callable_tools)
            reference = graph.reference(tool, argument)
            if text is None or reference is None or not providers:
                continue
            placeholder = any(_PLACEHOLDER.search(part) for part in text)
            name = any(" " in part.strip() for part in text) or (
                reference.attribute in _OPAQUE and query is not None and all(_is_name(part, query) for part in text)
            )
            in_question = (
                query is None or all(part.lower() in query.lower() for part in text) or reference.attribute in _COUNTS
            )
            if placeholder or name or not in_question:
                expression = None
                if name and not placeholder and len(text) == 1:
                    expression = search_expression(graph, providers, text[0])
                elif (
                    not name
                    and query is not None
                    and (question_name := Question(query).name_of(reference.noun)) is not None
                ):
                    expression = search_expression(graph, providers, question_name)  # there is one thing that it can be
                if expression is None and in_question and not placeholder and " " not in text[0]:
                    continue
                problem = "is a name and no identifier" if name and not placeholder else "is made up"
                message = f"{argument}={ast.unparse(node)} {problem}; take it from {expression or graph.expression(providers[0])}"
                replaced = node if expression is None or not isinstance(node, ast.Name) else _source(tree, node, graph)
                yield keyword, tool, message, expression, replaced


def _is_name(text: str, query: str) -> bool:
    return text.isalpha() and text[:1].isupper() and text in query


def _source(tree: ast.Module, name: ast.Name, graph: ProtocolGraph) -> ast.expr:
    """Where a variable gets its constant, if it is used for identifiers alone; else the place where it is used."""
    used = {id(node) for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name.id}
    for call, tool in calls_of(tree, graph.protocol):
        used -= {id(word.value) for word in call.keywords if word.arg and graph.reference(tool, word.arg) is not None}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name.id:
            return node.value if used == {id(node.targets[0])} else name
    return name


def _assigned(tree: ast.Module) -> dict[str, list[str]]:
    """Names that are given one constant and nothing else."""
    constants: dict[str, list[str] | None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            constants[node.id] = None if node.id in constants else []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if constants.get(name) == []:
                constants[name] = _text(node.value)
    return {name: text for name, text in constants.items() if text}


def _text(node: ast.expr) -> list[str] | None:
    """The constants that an identifier is made of: a number, a text, a list of them; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int) and not isinstance(node.value, bool):
        return [str(node.value)]
    if isinstance(node, ast.List) and node.elts:
        parts = [_text(part) for part in node.elts]
        return [text for part in parts for text in part or ()] if all(part for part in parts) else None
    return None
