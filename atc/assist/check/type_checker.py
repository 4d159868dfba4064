"""Run a real type checker (`ty`) over a program, against the stubs of the tools that it uses.

The checker sees three small files: the program, a copy of it in which `x.get("key")` is written `x["key"]`, since a
checker has nothing to say of `get`, and the stubs as builtins. Where it says what one kind of value lacks, it is asked
whether the value may be of others, too. Nothing is run.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from atc.assist.check.stubs import Stubs
from atc.program.source import Edit, edited, nodes_of
from protocols.errors import ATCError
from protocols.installed_from import packages_command

__all__ = ["CheckerError", "CheckerReport", "available", "run_checker"]

_MISSING_MEMBER = re.compile(r"^(Cannot|Method|TypedDict) (?!subscript object of type `None`)")
"""Messages about a value that has no members, or not the requested one."""
_SETTINGS = """
[environment]
python-version = "3.11"
[rules]
possibly-unresolved-reference = "error"
"""
"""The Python whose standard library programs are checked against, and a rule that is off by default."""
_TIMEOUT = 20.0


class CheckerError(ATCError):
    """The type checker could not do its part."""

    exit_code = 2


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
        raise CheckerError(f"the type checker is missing: {packages_command('ty')}")
    texts = {"__builtins__.pyi": stubs.text, "program.py": program, "gets.py": _subscripted(program, tree)}
    reports = [
        report
        for name, report in _reports(binary, texts, ["program.py", "gets.py"])
        if name == "program.py" or report.rule == "invalid-typed-dict-key"
    ]
    artifacts = _union_artifacts(binary, program, tree, stubs.text, reports)
    return sorted(set(reports) - artifacts, key=lambda report: (report.line, report.column))


def _reports(binary: str, texts: Mapping[str, str], names: Sequence[str]) -> Iterator[tuple[str, CheckerReport]]:
    """What the checker says about some of the files, with the file's name. Raises: CheckerError."""
    with tempfile.TemporaryDirectory(prefix="atc-check-") as folder:
        for name, text in (*texts.items(), ("ty.toml", _SETTINGS)):
            Path(folder, name).write_bytes(text.encode("utf-8", "replace"))
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder}
        command = [binary, "check", "--output-format", "gitlab", *names]
        try:
            finished = subprocess.run(command, capture_output=True, cwd=folder, env=environment, timeout=_TIMEOUT)
            items = json.loads(finished.stdout)
        except OSError as error:
            raise CheckerError(f"the type checker cannot be run: {error}") from None
        except subprocess.TimeoutExpired:
            raise CheckerError(f"the type checker does not answer within {_TIMEOUT:g} seconds") from None
        except ValueError:
            raise CheckerError(f"the type checker ended with {finished.returncode}") from None
    for item in items:
        places = item["location"]["positions"]
        begin, end = places["begin"], places["end"]
        text = item["description"].partition(": ")[2].partition("\n\n")[0]
        span = (begin["line"], begin["column"] - 1, end["line"], end["column"] - 1)
        yield item["location"]["path"], CheckerReport(item["check_name"], text, *span)


def _union_artifacts(
    binary: str, program: str, tree: ast.Module, stubs: str, reports: Sequence[CheckerReport]
) -> set[CheckerReport]:
    """The reports of a member that is missing in one type of a union only.

    The checker takes each value of a dict with mixed values to be any of them, so it is asked what each may be.
    """
    probes: dict[str, tuple[CheckerReport, int, str]] = {}
    for report in dict.fromkeys(reports):
        target = _value_of(report, program, tree)
        if target is not None:
            written = program.split("\n")[target.line - 1][target.start : target.end]
            text = edited(program, [replace(target, text=f"reveal_type({written})")])
            probes[f"probe{len(probes)}.py"] = (report, target.line, text)
    if not probes:
        return set()
    texts = {"__builtins__.pyi": stubs} | {name: text for name, (_, _, text) in probes.items()}
    artifacts: dict[str, bool] = {}
    for name, answer in _reports(binary, texts, list(probes)):
        if answer.rule == "revealed-type" and answer.line == probes[name][1] and name not in artifacts:
            kinds = _kinds(answer.text.partition("`")[2].rpartition("`")[0])
            artifacts[name] = len(kinds - {"None"}) > 1
    return {probes[name][0] for name, is_artifact in artifacts.items() if is_artifact}


def _value_of(report: CheckerReport, program: str, tree: ast.Module) -> Edit | None:
    """Where the value stands of which a report says that it has no such member; None for any other report."""
    missing_keys = _MISSING_MEMBER.search(report.text)
    if missing_keys is None:
        return None
    span = (report.line, report.column), (report.end_line, report.end_column)
    for node in nodes_of(tree, ast.Subscript):
        pointed = node.slice if missing_keys[1] == "TypedDict" else node if missing_keys[1] == "Cannot" else node.value
        if ((pointed.lineno, pointed.col_offset), (pointed.end_lineno, pointed.end_col_offset)) == span:
            lines = program.split("\n")
            target = Edit.of(lines, node.value, "")
            return target if target is not None and lines[target.line - 1].isascii() else None
    return None


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
