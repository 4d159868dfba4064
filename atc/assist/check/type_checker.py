"""Run a real type checker (`ty`) over a program, against the stubs of the tools that it uses.

The checker sees three small files: the program, a copy of it in which `x.get("key")` is written `x["key"]`, since a
checker has nothing to say of `get`, and the stubs as builtins. Where it says what one kind of value lacks, it is asked
whether the value may be of others, too. Nothing is run.
"""

from __future__ import annotations

import ast
import atexit
import re
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from atc.assist.check.stubs import Stubs
from atc.assist.check.type_checker_server import CheckerError, TypeCheckerServer
from atc.program.edits import Edit, edited

__all__ = ["CheckerError", "CheckerReport", "available", "run_checker"]

_MISSING_MEMBER = re.compile(r"^(Cannot|Method|TypedDict) (?!subscript object of type `None`)")
"""Messages about a value that has no members, or not the requested one."""
_RULES = {"possibly-unresolved-reference": "error"}
_lock = threading.Lock()
_servers: list[TypeCheckerServer] = []
"""The running server, if any."""


@dataclass(frozen=True, slots=True)
class CheckerReport:
    """One report of the checker: rule, text and position, lines from 1 and columns from 0."""

    rule: str
    text: str
    line: int
    column: int
    end_line: int
    end_column: int


@cache
def available() -> str | None:
    """The path of the checker; None where it is not installed."""
    try:
        from ty import find_ty_bin
    except ImportError:
        return shutil.which("ty")
    try:
        return str(find_ty_bin())
    except FileNotFoundError:
        return shutil.which("ty")


def run_checker(program: str, tree: ast.Module, stubs: Stubs) -> list[CheckerReport]:
    """The reports of the checker about a program, in the order of its lines.

    Raises: CheckerError: It is not installed, or did not finish.
    """
    binary = available()
    if binary is None:
        raise CheckerError("the type checker is missing: pip install ty")
    texts = {"__builtins__.pyi": stubs.text, "program.py": program, "gets.py": _subscripted(program, tree)}
    with _lock:
        reports = [report for report in _query(binary, texts) if not _is_union_artifact(binary, program, tree, report)]
    return sorted(reports, key=lambda report: (report.line, report.column))


@atexit.register
def _stop() -> None:
    for server in _servers:
        server.stop()


def _query(binary: str, texts: Mapping[str, str], *files: str) -> list[CheckerReport]:
    """The reports of the running checker, or of a new one where none runs or it has failed."""
    while True:
        server = _servers.pop() if _servers else None
        is_running = server is not None and server.alive
        if server is None or not is_running:
            server = TypeCheckerServer(binary, _RULES)
        try:
            reports = list(_reports(server.diagnose(texts, *(files or ("program.py", "gets.py")))))
            _servers.append(server)
            return reports
        except CheckerError:
            if not is_running:
                raise
        finally:
            if server not in _servers:  # ctrl-C, too: half an answer is of no use to the next program
                server.stop()


def _is_union_artifact(binary: str, program: str, tree: ast.Module, report: CheckerReport) -> bool:
    """True if a member is missing in one type of a union only.

    The checker takes each value of a dict with mixed values to be any of them.
    """
    missing_keys = _MISSING_MEMBER.search(report.text)
    if missing_keys is None:
        return False
    place = (report.line, report.column), (report.end_line, report.end_column)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Subscript):
            continue
        pointed = node.slice if missing_keys[1] == "TypedDict" else node if missing_keys[1] == "Cannot" else node.value
        begin, end = (pointed.lineno, pointed.col_offset), (pointed.end_lineno, pointed.end_col_offset)
        if (begin, end) == place:
            value = node.value
            break
    else:
        return False
    lines = program.split("\n")
    target = Edit.of(lines, value, "")
    if target is None or not lines[target.line - 1].isascii():
        return False
    written = lines[target.line - 1][target.start : target.end]
    probe = edited(program, [replace(target, text=f"reveal_type({written})")])
    for answer in _query(binary, {"program.py": probe}, "program.py"):
        if answer.rule == "revealed-type" and answer.line == target.line:
            return len(_kinds(answer.text.partition("`")[2].rpartition("`")[0]) - {"None"}) > 1
    return False


def _kinds(written: str) -> set[str]:
    """The kinds of value in a type: numbers are one kind, and so are lists and dicts of any content."""
    try:
        parts = [ast.parse(written, mode="eval").body]
    except SyntaxError:
        return {written}
    kinds = set()
    while parts:
        part = parts.pop()
        if isinstance(part, ast.BinOp):
            parts += [part.left, part.right]
            continue
        kind = ast.unparse(part.value if isinstance(part, ast.Subscript) else part)
        kinds.add("int" if kind in ("float", "bool", "Literal") else "dict" if kind.startswith("_T") else kind)
    return kinds


def _reports(answers: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterator[CheckerReport]:
    for name, item in answers:
        begin, end = item["range"]["start"], item["range"]["end"]
        if "code" not in item or (name == "gets.py" and item["code"] != "invalid-typed-dict-key"):
            continue  # without a code it is a hint for editors
        places = (begin["line"] + 1, begin["character"], end["line"] + 1, end["character"])
        yield CheckerReport(item["code"], item["message"].partition("\n\n")[0], *places)


def _subscripted(program: str, tree: ast.Module) -> str:
    """The program with each `x.get("key")` as `x["key"]`, every later character in its place."""
    written = program.split("\n")
    lines = list(written)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"):
            continue
        key = node.args[0] if node.args and not node.keywords else None
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str) and len(node.args) <= 2):
            continue
        row = node.lineno - 1
        if node.end_lineno != node.lineno or key.end_lineno != key.lineno or not lines[row].isascii():
            continue
        start, end = node.func.value.end_col_offset or 0, node.end_col_offset or 0
        head = lines[row][start : key.col_offset]
        if "".join(head.split()) != ".get(" or lines[row][start:end] != written[row][start:end]:
            continue
        last = key.end_col_offset or 0
        inside = f"{' ' * (len(head) - 1)}[{lines[row][key.col_offset : last]}{' ' * (end - last - 1)}]"
        lines[row] = lines[row][:start] + inside + lines[row][end:]
    return "\n".join(lines)
