"""Constant arguments: values that the API does not take, placeholders, and hallucinated identifiers."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from atc.assist.check.diagnostic import Diagnostic, Edit
from atc.assist.check.diagnostics import Subject
from atc.assist.language.question import Question
from atc.program.source import calls_of
from protocols.calls.binding import check_argument
from protocols.dataflow.graph import ProtocolGraph, ProvidedField, selector_arguments
from protocols.errors import DoubtfulCall, ToolError
from protocols.model import Protocol, Tool
from protocols.quoting import json_text
from protocols.text.words import SEARCHES

__all__ = ["hallucinated_identifiers", "placeholders", "wrong_constants"]

_PLACEHOLDER = re.compile(
    r"\b(your|my|the|some|insert|enter|replace|actual|example|sample|dummy)[ _-]?\w*[ _-]?(id|uuid|key|here|name|uri)\b"
    r"|^<.*>$|^\{.*\}$|^\[.*\]$|^\.\.\.$|^x{3,}$|^todo$|_here$|placeholder",
    re.IGNORECASE,
)
"""Texts in place of a real value: `your_playlist_id_here`, `<artist_id>`."""

_COUNTS = frozenset({"number", "code"})
"""Identifiers that a model may know: the first season, a country."""

_OPAQUE = frozenset({"guid", "id", "identifier", "ref", "uri", "uuid"})
"""Identifiers that are no words of a language; a slug or a handle may be one."""


def wrong_constants(tree: ast.Module, protocol: Protocol, tools: Collection[str]) -> Iterator[Diagnostic]:
    """Constant arguments that the tool would refuse before anything is sent."""
    for call, name in calls_of(tree, tools):
        tool = protocol.tool(name)
        for node, argument, expression in _passed(call, tool):
            try:
                value = ast.literal_eval(expression)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                continue
            if (value is None and tool.function is None) or tool.argument(argument) is None:
                continue
            try:
                check_argument(tool, argument, value, protocol.definitions)
            except ToolError as error:
                doubtful = isinstance(error, DoubtfulCall)
                yield Diagnostic(node.lineno, node.col_offset, "wrong-value", str(error), name, doubtful=doubtful)


def _passed(call: ast.Call, tool: Tool) -> Iterator[tuple[ast.keyword | ast.expr, str, ast.expr]]:
    """The arguments of a call by name, each with the node where it stands; positional ones of functions only."""
    kinds = {name: kind.name for name, kind in tool.function.kinds.items()} if tool.function is not None else {}
    plain = not any(isinstance(value, ast.Starred) for value in call.args)
    for parameter, value in zip(tool.positional, call.args if kinds and plain else (), strict=False):
        if kinds[parameter.argument] != "VAR_POSITIONAL":
            yield value, parameter.argument, value
    for keyword in call.keywords:
        if keyword.arg is not None and not kinds.get(keyword.arg, "").startswith("VAR_"):
            yield keyword, keyword.arg, keyword.value


def placeholders(tree: ast.Module, tools: Collection[str]) -> Iterator[Diagnostic]:
    """Arguments with the placeholder `…`."""
    for call, tool in calls_of(tree, tools):
        for keyword in call.keywords:
            if "…" in (_text(keyword.value) or ()):
                message = (
                    f'{tool}(): {keyword.arg}="…" stands for what the question says; say it, or go without this call'
                )
                yield Diagnostic(keyword.lineno, keyword.col_offset, "made-up-identifier", message, tool)


def hallucinated_identifiers(
    subject: Subject, question: Question | None, tools: Collection[str]
) -> Iterator[Diagnostic]:
    """Constant identifiers that are placeholders, that the question does not have, or that are names.

    A word of the question is a name if it is written like one and a search provides the identifier; any other is left
    to the API.

    Args:
        tools: Tools that the program calls.
    """
    graph = subject.graph
    if graph is None:
        return
    for call, tool in calls_of(subject.tree, tools):
        for keyword in call.keywords:
            argument = keyword.arg or ""
            node = keyword.value
            text = _text(subject.flow.resolve(node))
            providers = graph.providers(tool, argument, subject.names)
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
                expression = _search_expression(graph, providers, text[0])
            elif not name and question is not None:  # the question may name just one entity of this type
                question_name = question.name_of(reference.noun)
                expression = _search_expression(graph, providers, question_name) if question_name is not None else None
            if expression is None and acceptable and not placeholder and " " not in text[0]:
                continue
            problem = "is a name and no identifier" if name and not placeholder else "is made up"
            instead = expression or graph.expression(providers[0])
            message = f"{argument}={ast.unparse(node)} {problem}; take it from {instead}"
            edit = Edit.of(subject.lines, node, expression) if expression else None
            yield Diagnostic(keyword.lineno, keyword.col_offset, "made-up-identifier", message, tool, expression, edit)


def _text(node: ast.expr) -> list[str] | None:
    """The strings of an identifier: a number, a text, a list of them; None for any other expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int) and not isinstance(node.value, bool):
        return [str(node.value)]
    if isinstance(node, ast.List) and node.elts:
        parts = [_text(part) for part in node.elts]
        return [text for part in parts for text in part or ()] if all(part for part in parts) else None
    return None


def _search_expression(graph: ProtocolGraph, sources: Sequence[ProvidedField], name: str) -> str | None:
    """The expression that finds a named entity by the first source that searches by text; None if no source does."""
    for source in sources:
        tool = graph.protocol.tool(source.tool)
        required = [parameter.argument for parameter in tool.arguments if parameter.required]
        # without required arguments, a list with a search argument
        names = required or [parameter.argument for parameter in tool.arguments]
        search = next((argument for argument in names if argument.lower() in SEARCHES), None)
        if search is None or source.header:
            continue
        values = {search: name, **selector_arguments(tool, source)}
        if values.keys() >= set(required):
            texts = (f"{argument}={json_text(value)}" for argument, value in values.items())
            arguments = ", ".join(texts)
            return f"{tool.name}({arguments}){source.accessor()}"
    return None
