"""Constant arguments: values that the API does not take, placeholders, and hallucinated identifiers."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from atc.language.question import Question
from atc.program.source import calls_of
from atc.program.tree import assigned_names, nodes_of, read_names, variable_of
from protocols.calls.binding import check_argument
from protocols.dataflow.call_paths import search_expression
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import ToolError
from protocols.model import Protocol

__all__ = ["hallucinated_identifiers", "placeholders", "wrong_constants"]

_PLACEHOLDER = re.compile(
    r"\b(your|my|the|some|insert|enter|replace|actual|example|sample|dummy)[ _-]?\w*[ _-]?(id|uuid|key|here|name|uri)\b"
    r"|^<.*>$|^\{.*\}$|^\[.*\]$|^\.\.\.$|^x{3,}$|^todo$|_here$|placeholder",
    re.IGNORECASE,
)
"""Texts in place of a real value: `your_playlist_id_here`, `<artist_id>`."""

_COUNTS = frozenset({"number", "code"})
"""Identifiers that a model may know: the first season, a country."""

WrongConstant = tuple[int, int, str, str]
"""Line, column, tool, message."""

HallucinatedIdentifier = tuple[ast.keyword, str, str, str | None, ast.expr]
"""The argument, its tool, the message, the expression that provides the identifier, and the node to replace."""

_OPAQUE = frozenset({"guid", "id", "identifier", "ref", "uri", "uuid"})
"""Identifiers that are no words of a language; a slug or a handle may be one."""


def wrong_constants(tree: ast.Module, protocol: Protocol, tools: Collection[str]) -> Iterator[WrongConstant]:
    """Constant arguments that the tool would refuse before anything is sent."""
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
    """Arguments with the placeholder `…` of plan sketches, and their tools.

    With the assignment of such a call if its result is not read and its block does not become empty without it.
    """
    read = read_names(tree)
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


def hallucinated_identifiers(
    tree: ast.Module,
    question: Question | None,
    graph: ProtocolGraph | None,
    tools: Collection[str],
    callable_tools: Collection[str],
) -> Iterator[HallucinatedIdentifier]:
    """Constant identifiers that are placeholders, that the question does not have, or that are names.

    A word of the question is a name if it is written like one and a search provides the identifier; any other is left
    to the API.

    Args:
        tools: Tools that the program calls.
        callable_tools: Tools that it may call.
    """
    if graph is None:
        return
    values = _constants(tree)
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
                reference.attribute in _OPAQUE
                and question is not None
                and all(part.isalpha() and part[:1].isupper() and part in question.text for part in text)
            )
            in_question = question is None or all(map(question.says, text))
            acceptable = in_question or reference.attribute in _COUNTS
            if acceptable and not placeholder and not name:
                continue
            expression = None
            if name and not placeholder and len(text) == 1:
                expression = search_expression(graph, providers, text[0])
            elif not name and question is not None:  # the question may name just one entity of this type
                question_name = question.name_of(reference.noun)
                expression = search_expression(graph, providers, question_name) if question_name is not None else None
            if expression is None and acceptable and not placeholder and " " not in text[0]:
                continue
            problem = "is a name and no identifier" if name and not placeholder else "is made up"
            instead = expression or graph.expression(providers[0])
            message = f"{argument}={ast.unparse(node)} {problem}; take it from {instead}"
            if expression is not None and isinstance(node, ast.Name):
                node = _definition(tree, node, graph)
            yield keyword, tool, message, expression, node


def _definition(tree: ast.Module, name: ast.Name, graph: ProtocolGraph) -> ast.expr:
    """The constant of a variable that holds identifiers only; else the use of the variable."""
    used = {id(node) for node in nodes_of(tree, ast.Name) if node.id == name.id}
    for call, tool in calls_of(tree, graph.protocol):
        used -= {id(word.value) for word in call.keywords if word.arg and graph.reference(tool, word.arg) is not None}
    for node in nodes_of(tree, ast.Assign):
        if variable_of(node) == name.id:
            return node.value if used == {id(node.targets[0])} else name
    return name


def _constants(tree: ast.Module) -> dict[str, list[str]]:
    """The variables that are assigned one constant and nothing else."""
    assigned = assigned_names(tree)
    values = {
        variable_of(node): _text(node.value)
        for node in nodes_of(tree, ast.Assign)
        if len(node.targets) == 1 and assigned[variable_of(node)] == 1
    }
    return {name: text for name, text in values.items() if text}


def _text(node: ast.expr) -> list[str] | None:
    """The strings of an identifier: a number, a text, a list of them; None for any other expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int) and not isinstance(node.value, bool):
        return [str(node.value)]
    if isinstance(node, ast.List) and node.elts:
        parts = [_text(part) for part in node.elts]
        return [text for part in parts for text in part or ()] if all(part for part in parts) else None
    return None
