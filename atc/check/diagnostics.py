"""What is wrong with a program before it runs, in its own lines and in the words of the API."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from atc.check.checker import run_checker
from atc.check.constants import made_up, wrong_constants
from atc.check.stubs import write_stubs
from atc.check.telling import Diagnostic, Edit, Teller
from atc.programs import parsed
from protocols.calling import match
from protocols.contract import Contract
from protocols.graph import ProtocolGraph
from protocols.model import Protocol, Tool

__all__ = ["check"]

_NOT_OURS = frozenset({"copyright", "credits", "help", "license"})
"""Names that an interactive Python has, and a program in the sandbox has not."""
_VERBS = {"get": "GET", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE"}


def check(
    program: str,
    contract: Contract,
    tools: Sequence[str] | None = None,
    query: str | None = None,
    graph: ProtocolGraph | None = None,
) -> list[Diagnostic]:
    """What is wrong with a program, in the order of its lines; nothing is run.

    Args:
        contract: What is known of the responses.
        tools: The tools that the program may call; all of the protocol by default.
        query: The question: an identifier that it names is not made up. Without it, none is taken to be.
        graph: The data flow between the tools, to tell identifiers from other arguments.
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
    teller = Teller(program, tree, contract, names, stubs, graph)
    found = [told for report in run_checker(program, tree, stubs, replies) if (told := teller.told(report))]
    found += [
        Diagnostic(line, column, "wrong-value", message, tool)
        for line, column, tool, message in wrong_constants(tree, protocol, called)
    ]
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    found += [
        Diagnostic(node.lineno, node.col_offset, "unknown-name", f"{node.id} is not defined", key=node.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in _NOT_OURS - bound
    ]
    where = protocol.servers[0].url if protocol.servers else "its own server"
    found += [
        Diagnostic(node.lineno, node.col_offset, "unknown-url", f"{url} is not of this API ({where}); call functions")
        for node, url in elsewhere.items()
    ]
    for keyword, tool, message, text, value in made_up(tree, query, graph, called, names):
        row = program.split("\n")[value.lineno - 1]
        start, end = (_characters(row, place or 0) for place in (value.col_offset, value.end_col_offset))
        edit = Edit(value.lineno, start, end, text) if text and value.lineno == value.end_lineno else None
        found.append(Diagnostic(keyword.lineno, keyword.col_offset, "made-up-identifier", message, tool, text, edit))
    first: dict[tuple[int, str, str], Diagnostic] = {}
    invented = {(one.line, one.column) for one in found if one.rule == "made-up-identifier"}
    strangers = {(one.line, one.tool) for one in found if one.rule == "unknown-argument"}
    for one in sorted(found, key=lambda one: (one.line, one.column)):
        if one.rule == "missing-argument" and (one.line, one.tool) in strangers:
            continue  # what is missing was given under another name
        if one.rule in ("wrong-value", "wrong-type") and (one.line, one.column) in invented:
            continue  # no wonder
        first.setdefault((one.line, one.rule, one.message), one)
    return list(first.values())


def _characters(row: str, place: int) -> int:
    """A place on a line in characters; Python's trees count bytes."""
    return len(row.encode()[:place].decode(errors="ignore"))


def _syntax(program: str) -> Iterator[Diagnostic]:
    try:
        ast.parse(program)
    except SyntaxError as error:
        yield Diagnostic(error.lineno or 1, max((error.offset or 1) - 1, 0), "syntax", f"not Python: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        yield Diagnostic(1, 0, "syntax", f"not Python: {error}")


def _requests(tree: ast.Module, protocol: Protocol) -> tuple[dict[ast.expr, Tool], dict[ast.expr, str]]:
    """The callees `requests.get` and the like whose URL is that of a tool, up to values in its path; and the URLs that
    are of other servers than the API's."""
    found: dict[ast.expr, Tool] = {}
    elsewhere: dict[ast.expr, str] = {}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        method, url = _VERBS.get(node.func.attr), _url(node.args[0])
        if method is None or url is None or "://" not in url:
            continue
        server = next((server.url for server in protocol.servers if url.startswith(f"{server.url}/")), None)
        if server is None and urlsplit(url).hostname not in {urlsplit(one.url).hostname for one in protocol.servers}:
            elsewhere[node.args[0]] = url
            continue
        path = url[len(server) :].partition("?")[0] if server else urlsplit(url).path
        hit = match(protocol, method, path)
        if hit is not None:
            found[node.func] = hit[0]
    return found, elsewhere


def _url(node: ast.expr) -> str | None:
    """A URL that is a constant but for values in it, each of which is `x` here."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
    return None
