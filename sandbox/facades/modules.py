"""Builds the stand-ins for standard modules: their public functions and classes, without what `WITHOUT` names.

A facade is a module object of its own, so that nothing leads from it to the module it stands for, and no import of a
submodule slips in. What takes the name of an attribute as text is replaced by a version that asks the guards.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from sandbox import guards
from sandbox.facades import clock
from sandbox.facades.catalogue import MODULES, PACKAGES, WITHOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Library"]


class Library:
    """All modules of one program. `sources` gives the ones that are ours from end to end, such as `requests`."""

    def __init__(self, sources: Mapping[str, Callable[[], dict[str, object]]], dial: clock.Clock | None) -> None:
        self._sources = {**_OURS, **sources}
        self._dial = dial
        self._facades: dict[str, ModuleType] = {}

    def prepare(self, names: Iterable[str]) -> None:
        """Load what a program is going to import, while files can still be read."""
        for name in sorted(names):
            self._facade(name)

    def importer(
        self,
        name: str,
        globals: object = None,
        locals: object = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """What an import statement calls. Raises: ImportError, ModuleNotFoundError."""
        if name in _INTERNAL:
            importlib.import_module(name)
            return ModuleType(name)  # C code takes the real one from sys.modules, a program gets this empty one
        if level or (name not in MODULES and name not in PACKAGES):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        module = self._facade(name)
        if not fromlist:
            return self._facades[name.partition(".")[0]]
        for wanted in fromlist:
            if wanted not in vars(module):  # without this, Python would look into sys.modules
                raise ImportError(f"cannot import name {wanted!r} from {name!r}", name=name)
        return module

    def _facade(self, name: str) -> ModuleType:
        if name not in self._facades:
            facade = self._facades[name] = ModuleType(name)
            if name in MODULES:
                vars(facade).update(self._sources[name]() if name in self._sources else _public(name))
            if name in _REPLACED:
                vars(facade).update(_REPLACED[name](importlib.import_module(name)))
            if self._dial is not None:
                vars(facade).update(clock.replacements(name, self._dial))
            for part in sorted(MODULES):
                if name in PACKAGES and part.startswith(f"{name}."):
                    self._facade(part)
            package, _, last = name.rpartition(".")
            if package:
                vars(self._facade(package))[last] = facade
        return self._facades[name]


_INTERNAL = frozenset({"_strptime", "copyreg", "warnings"})
"""Modules that C code of the interpreter imports in the program's name, as `datetime.strptime` does."""


def _public(name: str) -> dict[str, object]:
    module = importlib.import_module(name)
    names: Iterable[str] = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    without = WITHOUT.get(name, set())
    facade = {n: getattr(module, n) for n in names if n not in without}
    facade = {n: value for n, value in facade.items() if not isinstance(value, ModuleType)}
    facade["__doc__"] = module.__doc__
    return facade


# Modules that are ours


def _io() -> dict[str, object]:
    import io

    return {"StringIO": io.StringIO, "BytesIO": io.BytesIO, "SEEK_SET": 0, "SEEK_CUR": 1, "SEEK_END": 2}


def _sys() -> dict[str, object]:
    return {
        "argv": ["program.py"],
        "byteorder": sys.byteorder,
        "exit": sys.exit,
        "float_info": sys.float_info,
        "getrecursionlimit": sys.getrecursionlimit,
        "getsizeof": sys.getsizeof,
        "implementation": sys.implementation,
        "maxsize": sys.maxsize,
        "maxunicode": sys.maxunicode,
        "platform": sys.platform,
        "setrecursionlimit": _set_recursion_limit,
        "stderr": sys.stderr,
        "stdin": sys.stdin,
        "stdout": sys.stdout,
        "version": sys.version,
        "version_info": sys.version_info,
    }


def _set_recursion_limit(limit: int) -> None:
    sys.setrecursionlimit(min(limit, 20_000))  # deeper, C code that recurses would crash the process


def _future() -> dict[str, object]:
    import __future__

    return {name: getattr(__future__, name) for name in __future__.all_feature_names}


def _futures() -> dict[str, object]:
    import concurrent.futures as futures
    import threading
    from concurrent.futures.thread import ThreadPoolExecutor

    threading.stack_size(2 * 1024 * 1024)  # of the address space that a program may use
    names = "ALL_COMPLETED FIRST_COMPLETED FIRST_EXCEPTION CancelledError Future TimeoutError as_completed wait".split()
    return {**{name: getattr(futures, name) for name in names}, "ThreadPoolExecutor": ThreadPoolExecutor}


_OURS: dict[str, Callable[[], dict[str, object]]] = {
    "__future__": _future,
    "concurrent.futures": _futures,
    "io": _io,
    "sys": _sys,
}


# Functions that are replaced because they reach attributes by name, evaluate text or open files


def _operator(real: ModuleType) -> dict[str, object]:
    def attrgetter(*names: str) -> Callable[[object], object]:
        def follow(target: object, path: str) -> object:
            for name in path.split("."):
                target = guards.read(target, name)
            return target

        if not names:
            raise TypeError("attrgetter expected 1 argument, got 0")
        if len(names) == 1:
            return lambda target: follow(target, names[0])
        return lambda target: tuple(follow(target, name) for name in names)

    def methodcaller(name: str, /, *args: object, **kwargs: object) -> Callable[[object], object]:
        return lambda target: guards.read(target, name)(*args, **kwargs)  # type: ignore[operator]

    return {"attrgetter": attrgetter, "methodcaller": methodcaller}


def _functools(real: ModuleType) -> dict[str, object]:
    def update_wrapper(wrapper: object, wrapped: object) -> object:
        return real.update_wrapper(wrapper, wrapped)

    def wraps(wrapped: object) -> Callable[[object], object]:
        return lambda wrapper: real.update_wrapper(wrapper, wrapped)

    return {"update_wrapper": update_wrapper, "wraps": wraps}


def _dataclasses(real: ModuleType) -> dict[str, object]:
    def dataclass(cls: type | None = None, /, **options: object) -> object:
        def decorate(cls: type) -> object:
            for name in vars(cls).get("__annotations__", {}):
                if not name.isidentifier():  # it would become source text
                    raise TypeError(f"{name!r} is not a field name")
            return real.dataclass(cls, **options)

        return decorate if cls is None else decorate(cls)

    return {"dataclass": dataclass}


def _logging(real: ModuleType) -> dict[str, object]:
    def basic_config(**options: object) -> None:
        if options.get("filename"):
            raise ValueError("there are no files; log to stderr, or to stdout with stream=sys.stdout")
        real.basicConfig(**options)

    return {"basicConfig": basic_config}


def _typing(real: ModuleType) -> dict[str, object]:
    def get_origin(annotation: object) -> object:
        origin = real.get_origin(annotation)
        return guards.type_of(int) if origin is type else origin

    return {"get_origin": get_origin}


_REPLACED: dict[str, Callable[[ModuleType], dict[str, object]]] = {
    "dataclasses": _dataclasses,
    "functools": _functools,
    "logging": _logging,
    "operator": _operator,
    "typing": _typing,
}
