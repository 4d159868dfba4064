"""Run a real type checker (`ty`) over a program, against the stubs of the tools that it uses.

The checker sees three small files in a folder of their own: the program, a copy of it in which `x.get("key")` is
written `x["key"]`, since a checker has nothing to say of `get`, and the stubs as builtins. Nothing is run.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from atc.check.stubs import Stubs
from protocols.errors import ATCError

__all__ = ["CheckerError", "Report", "available", "run_checker"]

_SECONDS = 20
_CONFIG = '[rules]\npossibly-unresolved-reference = "error"\n'


@dataclass(frozen=True, slots=True)
class Report:
    """One line of the checker: its rule and text, and where it begins and ends, lines from 1 and columns from 0."""

    rule: str
    text: str
    line: int
    column: int
    end_line: int
    end_column: int


class CheckerError(ATCError):
    """The type checker could not do its part."""

    exit_code = 2


@cache
def available() -> str | None:
    """The checker's file; None where it is not installed."""
    try:
        from ty import find_ty_bin
    except ImportError:
        return shutil.which("ty")
    try:
        return str(find_ty_bin())
    except FileNotFoundError:
        return shutil.which("ty")


def run_checker(program: str, tree: ast.Module, stubs: Stubs, replies: Mapping[ast.expr, str]) -> list[Report]:
    """What the checker says of a program, in the order of its lines.

    Args:
        replies: Callees like `requests.get`, and the type of what their response's `json()` gives.
    Raises: CheckerError: It is not installed, or did not come to its end.
    """
    binary = available()
    if binary is None:
        raise CheckerError("the type checker is missing: pip install ty")
    prelude, program = _named(program, replies)
    files = {
        "program.py": program,
        "gets.py": _subscripted(program, tree),
        "__builtins__.pyi": stubs.text + prelude,
        "ty.toml": _CONFIG,
    }
    with tempfile.TemporaryDirectory(prefix="atc-check-") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, "utf-8", errors="replace")
        command = [binary, "check", "--output-format", "gitlab", "--no-progress", "--config-file", "ty.toml"]
        command += ["--project", folder, "--python-version", "3.11", "program.py", "gets.py"]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "NO_COLOR": "1"}
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CheckerError(f"the type checker cannot be run: {error}") from None
    try:
        found = json.loads(done.stdout)
    except ValueError:
        said = " ".join(done.stderr.split())[-200:]
        raise CheckerError(f"the type checker ended with {done.returncode} and said no JSON: {said}") from None
    return sorted(_reports(found), key=lambda report: (report.line, report.column))


def _reports(found: list[dict[str, object]]) -> Iterator[Report]:
    for one in found:
        location: dict[str, dict[str, dict[str, int]]] = one["location"]  # type: ignore[assignment]
        begin, end = location["positions"]["begin"], location["positions"]["end"]
        rule = str(one["check_name"])
        if str(location["path"]).endswith("gets.py") and rule != "invalid-typed-dict-key":
            continue
        text = str(one["description"]).removeprefix(f"{rule}: ")
        yield Report(rule, text, begin["line"], begin["column"] - 1, end["line"], end["column"] - 1)


def _named(program: str, replies: Mapping[ast.expr, str]) -> tuple[str, str]:
    """Stubs for callees that stand for `requests`, and the program with those, as long as before, in their places."""
    if not replies:
        return "", program
    prelude = ["class _Reply:", "    def __getattr__(self, name: str) -> Any: ..."]
    lines = program.split("\n")
    for number, (callee, kind) in enumerate(replies.items()):
        row, start, end = callee.lineno - 1, callee.col_offset, callee.end_col_offset or 0
        if callee.end_lineno != callee.lineno or not lines[row].isascii():
            continue
        name = f"_{number}".ljust(end - start, "_")
        if not name.isidentifier() or len(name) != end - start:
            continue
        prelude += [f"class _Reply{number}(_Reply):", f"    def json(self, **_: Any) -> {kind}: ..."]
        prelude.append(f"def {name}(*_: Any, **__: Any) -> _Reply{number}: ...")
        lines[row] = lines[row][:start] + name + lines[row][end:]
    return "\n".join([*prelude, ""]), "\n".join(lines)


def _subscripted(program: str, tree: ast.Module) -> str:
    """The program with each `x.get("key")` as `x["key"]`, every character behind it in its place."""
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
        if not re.fullmatch(r"\s*\.\s*get\s*\(\s*", head) or lines[row][start:end] != written[row][start:end]:
            continue
        last = key.end_col_offset or 0
        inside = f"{' ' * (len(head) - 1)}[{lines[row][key.col_offset : last]}{' ' * (end - last - 1)}]"
        lines[row] = lines[row][:start] + inside + lines[row][end:]
    return "\n".join(lines)
