"""The functions of a Python file as tools, for `functions:my_tools.py` in place of an API document."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import traceback
from enum import Enum
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

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
    Raises: UsageError: There is no such file, it cannot be run, or a name in it is missing.
    """
    path = Path(source.removeprefix(SCHEME)).expanduser()
    if source == SCHEME:
        raise UsageError(f"{SCHEME} names no file; write functions:FILE.py")
    if not path.is_file() or path.suffix != ".py":
        raise UsageError(f"{source}: there is no Python file {path}; write functions:FILE.py")
    module = _run(path)
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


def _is_own(name: str, member: object, module: ModuleType) -> bool:
    function = inspect.unwrap(member) if callable(member) else None  # functools.cache makes another object of one
    return inspect.isfunction(function) and not name.startswith("_") and function.__module__ == module.__name__


class _FromText(SourceFileLoader):
    """Runs the text of a file: the bytecode kept for it may be of one that was as long within the same second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _run(path: Path) -> ModuleType:
    """The module of a file, run once in a process. Raises: UsageError: It fails."""
    resolved = path.resolve()
    name = f"{path.stem}_{hashlib.sha256(str(resolved).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, resolved, loader=_FromText(name, str(resolved)))
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: it cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
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
