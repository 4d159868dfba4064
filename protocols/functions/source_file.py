"""The functions of a Python file as tools, for `functions:my_tools.py` in place of an API document."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import sys
import traceback
from enum import Enum
from pathlib import Path
from types import ModuleType

from protocols.errors import UsageError
from protocols.functions.prints import stdout_to_stderr

__all__ = ["SCHEME", "read_functions"]

SCHEME = "functions:"
"""What a source begins with that names a Python file."""


def read_functions(source: str) -> tuple[str, dict[str, object], list[str]]:
    """Run the file that a source names (`functions:FILE`), and find its tools.

    These are the names in `__all__`, else all public functions that are defined in the file. A class in `__all__` makes
    values; any other object there has methods that are tools; constants, modules, enums and exceptions there are none.
    The file's folder stays in `sys.path`, for imports in functions. What the file prints goes to stderr, since stdout
    is for the program.

    Returns: The name of the file without its ending, the tools by name, and the names in `READS`, of those that only
    read.
    Raises: UsageError: There is no such file, it cannot be run, a name in it is missing, or two functions have one.
    """
    path = Path(source.removeprefix(SCHEME)).expanduser()
    if source == SCHEME:
        raise UsageError(f"{SCHEME} names no file; write functions:FILE.py")
    if not path.is_file() or path.suffix != ".py":
        raise UsageError(f"{source}: there is no Python file {path}; write functions:FILE.py")
    module = _run(path)
    _check_names(path)
    listed = getattr(module, "__all__", None)
    if listed is not None and not isinstance(listed, list | tuple):
        raise UsageError(f'{path}: __all__ must be a list of names, as in __all__ = ["search"]')
    if listed is None:
        names = [name for name, member in vars(module).items() if _is_own(name, member, module)]
    else:
        names = [str(name) for name in listed]
    missing = [name for name in names if not hasattr(module, name)]
    if missing:
        raise UsageError(f"{path}: __all__ names {missing[0]!r}, which the file does not define")
    names = [name for name in names if not _is_no_tool(getattr(module, name))]
    if not names:
        raise UsageError(
            f"{path}: there are no public functions in it; write some with type hints and docstrings, or "
            'list objects with methods, as in __all__ = ["shop"]'
        )
    reads = getattr(module, "READS", [])
    if not isinstance(reads, list | tuple | set | frozenset):
        raise UsageError(f'{path}: READS must be a list of names, as in READS = ["search"]')
    return path.stem, {name: getattr(module, name) for name in names}, list(map(str, reads))


def _is_no_tool(member: object) -> bool:
    """True of what is listed for those who import the file."""
    if isinstance(member, type):
        return issubclass(member, Enum | BaseException)
    return isinstance(member, ModuleType) or (type(member).__module__ == "builtins" and not callable(member))


def _check_names(path: Path) -> None:
    """Raises: UsageError: Two functions of the file have one name: the second would silently take its place."""
    module = ast.parse(path.read_bytes())
    scopes = [("", module.body)]
    classes = [part for part in module.body if isinstance(part, ast.ClassDef) and not part.name.startswith("_")]
    scopes += [(f"{part.name}.", part.body) for part in classes]
    for prefix, statements in scopes:
        lines: dict[str, int] = {}
        for statement in statements:
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if statement.name.startswith("_") or any(_is_part(each, statement) for each in statement.decorator_list):
                continue
            first = lines.setdefault(statement.name, statement.lineno)
            if first != statement.lineno:
                name = f"{prefix}{statement.name}"
                raise UsageError(f"{path}, line {statement.lineno}: {name} is defined in line {first} already")


def _is_part(decorator: ast.expr, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether functions of one name are meant: the overloads of a hint, or the parts of a property: `@size.setter`."""
    holder, _, name = ast.unparse(decorator).rpartition(".")
    return name == "overload" or holder == statement.name


def _is_own(name: str, member: object, module: ModuleType) -> bool:
    function = inspect.unwrap(member) if callable(member) else None  # functools.cache makes another object of one
    return inspect.isfunction(function) and not name.startswith("_") and function.__module__ == module.__name__


def _check_helpers(path: Path, folder: Path) -> None:
    """Raises: UsageError: A module beside the file has the name of one that a file of another folder has imported."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # which running the file tells better
        return
    imported = {name.partition(".")[0] for statement in ast.walk(tree) for name in _imported(statement)}
    for name in sorted(imported):
        other = getattr(sys.modules.get(name), "__file__", None)
        beside = [file for file in (folder / f"{name}.py", folder / name / "__init__.py") if file.is_file()]
        if beside and other is not None and Path(other).resolve() not in beside:
            where = f"{path} imports {beside[0]}, but {name} is loaded from {other} already"
            raise UsageError(f"{where}: rename one of them")


def _imported(statement: ast.AST) -> list[str]:
    """The modules that a statement imports by absolute names."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return [statement.module or ""] if isinstance(statement, ast.ImportFrom) and not statement.level else []


def _run(path: Path) -> ModuleType:
    """The module of a file, run once in a process. Raises: UsageError: It fails."""
    resolved = path.resolve()
    name = f"{path.stem}_{hashlib.sha256(str(resolved).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: it cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    _check_helpers(path, resolved.parent)
    sys.modules[name] = module  # hints are resolved there
    sys.path.insert(0, str(resolved.parent))
    try:
        with stdout_to_stderr():
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(resolved)]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else 1)
        message = error.msg if isinstance(error, SyntaxError) else error
        raise UsageError(f"{path}, line {line}: {type(error).__name__}: {message}") from None
    finally:
        sys.path.remove(str(resolved.parent))
    if str(resolved.parent) not in sys.path:
        sys.path.append(str(resolved.parent))
    return module
