"""Builds the stand-ins for standard modules: their public functions and classes, without what `EXCLUDED_NAMES` names.

A shim is a module object of its own, so that nothing leads from it to the module it stands for, and no import of a
submodule slips in. What takes the name of an attribute as text asks the guards here.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import importlib
import sys
from _thread import RLock
from types import FunctionType, ModuleType

from sandbox.language import guards
from sandbox.language.names import is_dunder
from sandbox.language.shims import clock, tasks
from sandbox.language.shims.catalogue import EXCLUDED_NAMES, MODULES, PACKAGES
from sandbox.language.shims.dataclasses import dataclasses_parts, pprint_parts
from sandbox.language.shims.xml import element_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

__all__ = ["ModuleShims"]


class ModuleShims:
    """All modules of one program. `sources` gives the ones that are ours from end to end, such as `requests`."""

    def __init__(self, sources: Mapping[str, Callable[[], dict[str, object]]], fixed_clock: clock.Clock | None) -> None:
        self._sources = {**_OURS, **sources}
        self._fixed_clock = fixed_clock
        self._shims: dict[str, ModuleType] = {}
        self._replaced: dict[str, dict[str, object]] = {}
        self._building = RLock()  # threads of the program may import, too

    def importer(
        self,
        name: str,
        globals: object = None,
        locals: object = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import a module for a program; import statements call this. Raises: ImportError, ModuleNotFoundError."""
        if name in _INTERNAL:
            importlib.import_module(name)
            return ModuleType(name)  # C code takes the real one from sys.modules, a program gets this empty one
        if level or (name not in MODULES and name not in PACKAGES):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        with self._building:
            module = self._shim(name)
        if not fromlist:
            return self._shims[name.partition(".")[0]]
        for member in fromlist:
            if member not in vars(module):  # without this, Python would look into sys.modules
                raise ImportError(f"cannot import name {member!r} from {name!r}", name=name)
        return module

    def _shim(self, name: str) -> ModuleType:
        if name not in self._shims:
            shim = self._shims[name] = ModuleType(name)
            if name in MODULES:
                vars(shim).update(self._sources[name]() if name in self._sources else _public(name))
            for loaded in _REPLACED.keys() & sys.modules.keys() - self._replaced.keys():
                self._replaced[loaded] = _REPLACED[loaded](sys.modules[loaded])  # also what comes with another module
            vars(shim).update(self._replaced.get(name, {}))
            if self._fixed_clock is not None:
                vars(shim).update(clock.replacements(name, self._fixed_clock))
            for part in sorted(MODULES):
                if name in PACKAGES and part.startswith(f"{name}."):
                    self._shim(part)
            package, _, last = name.rpartition(".")
            if package:
                vars(self._shim(package))[last] = shim
        return self._shims[name]


_INTERNAL = frozenset({"_strptime", "copyreg", "warnings"})
"""Modules that C code of the interpreter imports in the program's name, as `datetime.strptime` does."""


def _public(name: str) -> dict[str, object]:
    module = importlib.import_module(name)
    names: Iterable[str] = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    without = EXCLUDED_NAMES.get(name, set())
    shim = {n: getattr(module, n) for n in names if n not in without}
    shim = {n: value for n, value in shim.items() if not isinstance(value, ModuleType)}
    shim["__doc__"] = module.__doc__
    return shim


# Modules that are ours


def _io() -> dict[str, object]:
    import io

    return {"StringIO": io.StringIO, "BytesIO": io.BytesIO, "SEEK_SET": 0, "SEEK_CUR": 1, "SEEK_END": 2}


def _sys() -> dict[str, object]:
    names = (
        "byteorder exit float_info getrecursionlimit getsizeof implementation maxsize maxunicode platform stderr stdin"
    )
    shown = {name: getattr(sys, name) for name in f"{names} stdout version version_info".split()}
    return {**shown, "argv": ["program.py"], "setrecursionlimit": _set_recursion_limit}


def _set_recursion_limit(limit: int) -> None:
    sys.setrecursionlimit(min(limit, 20_000))  # deeper, C code that recurses would crash the process


def _future() -> dict[str, object]:
    import __future__

    return {name: getattr(__future__, name) for name in __future__.all_feature_names}


_MOST_WORKERS = 64


def _futures() -> dict[str, object]:
    import concurrent.futures as futures
    import threading
    from concurrent.futures.thread import ThreadPoolExecutor as Real

    class ThreadPoolExecutor(Real):
        """The real one with a bounded number of threads, which also says which of its tasks a call comes from (`map`
        submits, too)."""

        def __init__(self, max_workers: int | None = None, *args: Any, **kwargs: Any) -> None:
            most = min(max_workers, _MOST_WORKERS) if isinstance(max_workers, int) else max_workers
            super().__init__(most, *args, **kwargs)

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            return super().submit(tasks.numbered(fn), *args, **kwargs)

    ThreadPoolExecutor.__qualname__, ThreadPoolExecutor.__module__ = Real.__qualname__, Real.__module__
    threading.stack_size(2 * 1024 * 1024)  # of the address space that a program may use
    names = "ALL_COMPLETED FIRST_COMPLETED FIRST_EXCEPTION CancelledError Future TimeoutError as_completed wait".split()
    return {**{name: getattr(futures, name) for name in names}, "ThreadPoolExecutor": ThreadPoolExecutor}


_OURS: dict[str, Callable[[], dict[str, object]]] = {
    "__future__": _future,
    "concurrent.futures": _futures,
    "io": _io,
    "sys": _sys,
    "xml.etree.ElementTree": element_tree,
}


# What is replaced, or changed in the real module, because it would lead out. A class that the rest of its module needs
# is changed in place: a program reaches it from any object anyhow.


def _abc(real: ModuleType) -> dict[str, object]:
    register = real.ABCMeta.register

    def checked(cls: type, subclass: type) -> type:
        by_program = sys._getframe(1).f_globals.get("__name__") == guards.OWN
        if (by_program or guards.is_own_class(subclass)) and not guards.is_own_class(cls):
            raise guards.unchangeable(cls)
        return register(cls, subclass)  # type: ignore[no-any-return]

    real.ABCMeta.register = checked
    return {"ABCMeta": guards.ABC_META}


def _copy(real: ModuleType) -> dict[str, object]:
    reconstruct = real._reconstruct

    def checked(original: object, memo: object, make: Any, *rest: Any, **options: object) -> object:
        state = rest[1] if len(rest) > 1 else None
        slots = state[1] if isinstance(state, tuple) and len(state) == 2 else None
        if slots is not None and any(type(name) is not str or is_dunder(name) for name in slots):  # they would be set
            raise TypeError(f"cannot copy {type(original).__name__}: its state has names that are not plain")

        def made(*args: object) -> object:
            copied = make(*args)
            if guards.is_own(original) and type(copied) is not type(original):  # another's attributes would be set
                raise TypeError(f"cannot copy {type(original).__name__}: it makes a {type(copied).__name__}")
            return copied

        return reconstruct(original, memo, made, *rest, **options)

    vars(real)["_reconstruct"] = checked
    return {}


def _enum(real: ModuleType) -> dict[str, object]:
    def refused(cls: type, *_: object, **__: object) -> object:
        raise TypeError(f"{cls.__name__}() with names is not allowed; write a class statement")

    real.EnumType._create_ = refused  # the names of its members would become attributes
    return {}


def _functools(real: ModuleType) -> dict[str, object]:
    made_here = (real.partial, real._lru_cache_wrapper)

    def update_wrapper(wrapper: Any, wrapped: object) -> object:
        if not (guards.is_own(wrapper) or isinstance(wrapper, made_here)):
            raise guards.unchangeable(wrapper)
        real.update_wrapper(wrapper, wrapped, updated=())
        if isinstance(wrapped, (FunctionType, *made_here)):  # of a class, the entries would be more than its attributes
            vars(wrapper).update({name: value for name, value in vars(wrapped).items() if not is_dunder(name)})
        return wrapper

    def wraps(wrapped: object) -> Callable[[object], object]:
        return lambda wrapper: update_wrapper(wrapper, wrapped)

    def total_ordering(cls: type) -> object:
        if not guards.is_own_class(cls):
            raise guards.unchangeable(cls)
        return real.total_ordering(cls)

    get = real.cached_property.__get__

    def cached(self: object, instance: object, owner: object = None) -> object:
        if instance is not None and not guards.is_own(instance):  # it reads what stands there under any name
            raise guards.unchangeable(instance)
        return get(self, instance, owner)

    real.cached_property.__get__ = cached
    return {"total_ordering": total_ordering, "update_wrapper": update_wrapper, "wraps": wraps}


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


_REPLACED: dict[str, Callable[[ModuleType], dict[str, object]]] = {
    "abc": _abc,
    "copy": _copy,
    "dataclasses": dataclasses_parts,
    "enum": _enum,
    "functools": _functools,
    "operator": _operator,
    "pprint": pprint_parts,
    "typing": lambda real: {"Type": guards.TYPE},  # the real one holds the real `type`
}
