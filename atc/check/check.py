"""What is wrong with a program before it runs, in its own lines and in the words of the API."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from atc.check.diagnostic import Diagnostic, Edit
from atc.check.diagnostics import Subject, all_told, told_entries
from atc.check.literals import made_up, placeholders, wrong_constants
from atc.check.stubs import write_stubs
from atc.check.type_checker import CheckerError, run_checker
from atc.program.source import parsed
from protocols.calls.path_matching import match
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import ProgramRefused
from protocols.model import Protocol, Tool
from sandbox.language.parsing import parse_program

__all__ = ["check"]

_NOT_OURS = frozenset({"copyright", "credits", "help", "license"})
"""Names that an interactive Python has, and a program in the sandbox has not."""
_DEEPEST = 20
"""Variables and sums that a URL is made of."""
_VERBS = {"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE"}


def check(
    program: str,
    contract: Contract,
    tools: Sequence[str] | None = None,
    query: str | None = None,
    graph: ProtocolGraph | None = None,
    strict: bool = False,
) -> list[Diagnostic]:
    """What is wrong with a program, in the order of its lines; nothing is run.

    Args:
        contract: What is known of the responses.
        tools: The tools that the program may call; all of the protocol by default.
        query: The question: an identifier that it names is not made up. Without it, none is taken to be.
        graph: The data flow between the tools, to tell identifiers from other arguments.
        strict: The type checker has to do its part; without, what it would find is missing where it fails.
    Raises: CheckerError: With `strict`.
    """
    protocol = contract.protocol
    names = tuple(tools) if tools is not None else tuple(tool.name for tool in protocol.tools)
    tree = parsed(program)
    if tree is None:
        return list(_syntax(program))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    called = [name for name in names if name in used]
    requested, elsewhere = _requests(tree, protocol)
    stubs = write_stubs(contract, dict.fromkeys([*called, *(tool.name for tool in requested.values())]))
    for name in {tool.name for tool in requested.values()} - set(called):
        stubs.text = re.sub(rf"^def {name}\(.*\n", "", stubs.text, flags=re.MULTILINE)
    replies = {callee: stubs.returns[tool.name] for callee, tool in requested.items()}
    subject = Subject(program, tree, contract, names, stubs, graph)
    try:
        reports = run_checker(program, tree, stubs, replies)
    except CheckerError:
        if strict:
            raise
        reports = []
    diagnostics = all_told(subject, reports)
    diagnostics += [
        Diagnostic(line, column, "wrong-value", message, tool)
        for line, column, tool, message in wrong_constants(tree, protocol, called)
    ]
    diagnostics += told_entries(subject)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    diagnostics += [
        Diagnostic(node.lineno, node.col_offset, "unknown-name", f"{node.id} is not defined", key=node.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in _NOT_OURS - bound
    ]
    where = protocol.servers[0].url if protocol.servers else "its own server"
    diagnostics += [
        Diagnostic(node.lineno, node.col_offset, "unknown-url", f"{url} is not of this API ({where}); call functions")
        for node, url in elsewhere.items()
    ]
    lines = program.split("\n")
    for keyword, tool, line in placeholders(tree, called):
        message = f'{tool}(): {keyword.arg}="…" stands for what the question says; say it, or go without this call'
        removal = Edit.of(lines, line, "") if line is not None and not protocol.tool(tool).writes else None
        diagnostics.append(
            Diagnostic(keyword.lineno, keyword.col_offset, "made-up-identifier", message, tool, None, removal)
        )
    for keyword, tool, message, text, value in made_up(tree, query, graph, called, names):
        edit = Edit.of(lines, value, text) if text else None
        diagnostics.append(
            Diagnostic(keyword.lineno, keyword.col_offset, "made-up-identifier", message, tool, text, edit)
        )
    first: dict[tuple[int, str, str, Edit | None], Diagnostic] = {}
    invented = {
        (diagnostic.line, diagnostic.column) for diagnostic in diagnostics if diagnostic.rule == "made-up-identifier"
    }
    unknown_arguments = {
        (diagnostic.line, diagnostic.tool) for diagnostic in diagnostics if diagnostic.rule == "unknown-argument"
    }
    for diagnostic in sorted(diagnostics, key=lambda diagnostic: (diagnostic.line, diagnostic.column)):
        if diagnostic.rule == "missing-argument" and (diagnostic.line, diagnostic.tool) in unknown_arguments:
            continue  # what is missing was given under another name
        if diagnostic.rule in ("wrong-value", "wrong-type") and (diagnostic.line, diagnostic.column) in invented:
            continue  # no wonder
        first.setdefault((diagnostic.line, diagnostic.rule, diagnostic.message, diagnostic.edit), diagnostic)
    return list(first.values())


def _syntax(program: str) -> Iterator[Diagnostic]:
    try:
        parse_program(program)
    except SyntaxError as error:
        yield Diagnostic(error.lineno or 1, max((error.offset or 1) - 1, 0), "syntax", f"not Python: {error.msg}")
    except ProgramRefused as error:
        yield Diagnostic(1, 0, "syntax", f"not Python that can be run: {error}")


def _requests(tree: ast.Module, protocol: Protocol) -> tuple[dict[ast.expr, Tool], dict[ast.expr, str]]:
    """The callees `requests.get` and the like whose URL is that of a tool, up to values in its path; and the URLs that
    are of other servers than the API's."""
    tools: dict[ast.expr, Tool] = {}
    elsewhere: dict[ast.expr, str] = {}
    constants = _constants(tree)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        verb, arguments = node.func.attr.lower(), list(node.args)
        if verb == "request" and arguments:
            verb = str(getattr(arguments.pop(0), "value", "")).lower()
        arguments += [keyword.value for keyword in node.keywords if keyword.arg == "url"]
        method, url = _VERBS.get(verb), _text(arguments[0], constants) if arguments else None
        if method is None or url is None or "://" not in url:
            continue
        server = next((server.url for server in protocol.servers if url.startswith(f"{server.url}/")), None)
        if server is None and urlsplit(url).hostname not in {
            urlsplit(api_server.url).hostname for api_server in protocol.servers
        }:
            elsewhere[arguments[0]] = url
            continue
        path = url[len(server) :].partition("?")[0] if server else urlsplit(url).path
        hit = match(protocol, method, path)
        if hit is not None:
            tools[node.func] = hit[0]
    return tools, elsewhere


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """What variables that are set once are set to."""
    sets = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    assigned_once = {name for name, times in Counter(node.id for node in sets).items() if times == 1}
    return {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in assigned_once
    }


def _text(node: ast.expr, constants: Mapping[str, ast.expr], depth: int = 0) -> str | None:
    """A text that is constant but for values in it, each of which is `x` here; None for what is no such text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if depth > _DEEPEST:
        return None
    if isinstance(node, ast.Name) and node.id in constants:
        return _text(constants[node.id], constants, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left_text, right_text = (_text(part, constants, depth + 1) for part in (node.left, node.right))
        return None if left_text is None else left_text + ("x" if right_text is None else right_text)
    if isinstance(node, ast.JoinedStr):
        values = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
        return "".join(_text(value, constants, depth + 1) or "x" for value in values)
    return None
