"""Builds the stand-ins for standard modules: their public functions and classes, without what `EXCLUDED_NAMES` names.

A shim is a module object of its own, so that nothing leads from it to the module it stands for, and no import of a
submodule slips in. What takes the name of an attribute as text asks the guards here.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import importlib
import sys
from _thread import RLock
from types import FunctionType, GenericAlias, ModuleType

from sandbox.language import guards
from sandbox.language.names import is_dunder, refusal
from sandbox.language.shims import clock, tasks
from sandbox.language.shims.catalogue import EXCLUDED_NAMES, MODULES, PACKAGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, NoReturn

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


_XML_NAMES = """
    Comment Element ElementTree PI ParseError ProcessingInstruction QName SubElement indent iselement
    register_namespace tostring tostringlist
""".split()


def _element_tree() -> dict[str, object]:
    """Reading and writing of XML in memory; what opens files in the real module is changed in place.

    A document that declares entities is refused: a few lines of them grow into gigabytes, and they may name files.
    Nothing outside of a document is read in any case.
    """
    from xml.etree import ElementTree

    def no_files(*_: object, **__: object) -> NoReturn:
        raise ValueError("there are no files; use fromstring(text) and tostring(element)")

    def fromstring(text: str | bytes, parser: None = None) -> Any:
        """Read a document from a text or bytes. Raises: ParseError, ValueError: It declares entities."""
        if parser is not None:
            raise TypeError("a parser of its own is not available; leave it out")
        _refuse_entities(text)
        return ElementTree.fromstring(text)

    def read(self: Any, source: Any, parser: None = None) -> Any:
        """Read a document from an object with a `read` method."""
        self._setroot(fromstring(source.read() if hasattr(source, "read") else no_files(), parser))
        return self.getroot()

    def parse(source: Any, parser: None = None) -> Any:
        """Read a document from an object with a `read` method."""
        tree = ElementTree.ElementTree()
        tree.parse(source, parser)
        return tree

    vars(ElementTree)["open"] = no_files
    ElementTree.ElementTree.parse = read  # type: ignore[method-assign, assignment]
    ours: dict[str, object] = {"XML": fromstring, "fromstring": fromstring, "parse": parse}
    ours["fromstringlist"] = lambda sequence, parser=None: fromstring("".join(sequence), parser)
    return {**{name: getattr(ElementTree, name) for name in _XML_NAMES}, **ours}


def _refuse_entities(text: str | bytes) -> None:
    """Look for declarations of entities before anything is expanded. Raises: ValueError."""
    from xml.parsers import expat

    def refuse(*_: object) -> NoReturn:
        raise ValueError("the XML declares entities, which are refused: they may grow without end or name files")

    # A text is read as UTF-8, whatever encoding it declares: it has been decoded before.
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)
    parser.EntityDeclHandler = parser.UnparsedEntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError:
        return  # the real one says what is wrong, and ends at the same place


_OURS: dict[str, Callable[[], dict[str, object]]] = {
    "__future__": _future,
    "concurrent.futures": _futures,
    "io": _io,
    "sys": _sys,
    "xml.etree.ElementTree": _element_tree,
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


# `dataclasses` and `pprint` read and set attributes by the names of fields, which are up to the program: they are held
# to the rules, and values are read through the guards.

_FIELDS = "__dataclass_fields__"
_PASSING_ON = (GenericAlias, ModuleType, super)
"""Classes whose instances show the attributes of something else."""


def _dataclasses(real: ModuleType) -> dict[str, object]:
    """The replacements of parts of `dataclasses`, for programs and for the real module."""
    slot = real.Field.name

    def rename(field: object, name: object) -> None:
        if name is not None and not (type(name) is str and name.isidentifier()):  # it becomes source text
            raise TypeError(f"{name!r} is not a field name")
        slot.__set__(field, name)

    def dataclass(cls: Any = None, /, **options: object) -> object:
        def decorate(cls: Any) -> object:
            _check_class(cls, real)
            return real.dataclass(cls, **options)

        return decorate if cls is None else decorate(cls)

    def no_subclass(cls: type, /, **options: object) -> None:
        raise TypeError("cannot change class 'Field': it has no subclasses here")

    def fields(class_or_instance: object) -> tuple[object, ...]:
        by_name = _declared(class_or_instance)
        if by_name is None:
            raise TypeError("must be called with a dataclass type or instance of the program's own")
        return tuple(field for field in by_name.values() if field._field_type is real._FIELD)

    def is_dataclass(obj: object) -> bool:
        return _declared(obj) is not None

    def asdict(obj: object, *, dict_factory: Callable[[list[tuple[str, object]]], object] = dict) -> object:
        _instance_fields(obj, "asdict", real)
        return _converted(obj, dict_factory, real)

    def astuple(obj: object, *, tuple_factory: Callable[[list[object]], object] = tuple) -> object:
        _instance_fields(obj, "astuple", real)
        return _converted(obj, lambda parts: tuple_factory([part for _, part in parts]), real)

    def replace(obj: Any, /, **changes: object) -> object:
        _instance_fields(obj, "replace", real)
        _complete_changes(obj, changes, real)
        kind: Any = type(obj)
        return kind(**changes)

    parts: dict[str, object] = {
        "asdict": asdict,
        "astuple": astuple,
        "fields": fields,
        "is_dataclass": is_dataclass,
        "replace": replace,
    }
    real.Field.name = property(slot.__get__, rename)
    real.Field.__init_subclass__ = classmethod(no_subclass)
    vars(real).update(parts)
    return {**parts, "dataclass": dataclass}


def _declared(target: object) -> dict[str, Any] | None:
    """The fields of a dataclass of the program, or of an instance of one; None for anything else."""
    kind = target if guards.is_own_class(target) else type(target)
    if not guards.is_own_class(kind) or issubclass(kind, _PASSING_ON):
        return None
    by_name = next((vars(base)[_FIELDS] for base in type.mro(kind) if _FIELDS in vars(base)), None)
    return by_name if type(by_name) is dict else None


def _instance_fields(target: object, function_name: str, real: ModuleType) -> list[Any]:
    """The fields of an instance. Raises: TypeError: It is none of a dataclass of the program."""
    by_name = None if guards.is_own_class(target) else _declared(target)
    if by_name is None:
        raise TypeError(f"{function_name}() should be called on dataclass instances of the program's own classes")
    return [field for field in by_name.values() if field._field_type is real._FIELD]


def _converted(value: Any, make: Callable[[list[tuple[str, object]]], object], real: ModuleType) -> object:
    """A value with all dataclasses in it replaced by what `make` makes of their fields."""
    if not guards.is_own_class(value) and _declared(value) is not None:
        parts = [(field.name, guards.read(value, field.name)) for field in _instance_fields(value, "asdict", real)]
        return make([(name, _converted(part, make, real)) for name, part in parts])
    kind: Any = type(value)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*[_converted(part, make, real) for part in value])
    if issubclass(kind, (list, tuple)):
        return kind(_converted(part, make, real) for part in value)
    if issubclass(kind, dict):
        pairs = ((_converted(key, make, real), _converted(part, make, real)) for key, part in value.items())
        if hasattr(kind, "default_factory"):
            return kind(value.default_factory, pairs)
        return kind(pairs)
    return real.copy.deepcopy(value)


def _complete_changes(obj: object, changes: dict[str, object], real: ModuleType) -> None:
    """Add the fields that `replace` leaves as they are. Raises: ValueError: A change is impossible or missing."""
    for field in (_declared(obj) or {}).values():
        if field._field_type is real._FIELD_CLASSVAR:
            continue
        if not field.init:
            if field.name in changes:
                text = f"field {field.name} is declared with init=False, it cannot be specified with replace()"
                raise ValueError(text)
            continue
        if field.name not in changes:
            if field._field_type is real._FIELD_INITVAR and field.default is real.MISSING:
                raise ValueError(f"InitVar {field.name!r} must be specified with replace()")
            changes[field.name] = guards.read(obj, field.name)


def _check_class(cls: Any, real: ModuleType) -> None:
    """Raises: TypeError: The decorator would change or read what is not the program's own."""
    if not guards.is_own_class(cls) or issubclass(cls, _PASSING_ON):
        raise guards.unchangeable(cls)
    declared = vars(cls).get("__annotations__", {})
    if type(declared) is not dict:
        raise guards.unchangeable(cls)
    for name in (*declared, *_inherited(cls, real)):
        if type(name) is not str or not name.isidentifier() or is_dunder(name) or refusal(name) is not None:
            raise TypeError(f"{name!r} is not a field name")
        if name in ("format", "format_map", "obj") and issubclass(cls, (str, AttributeError)):
            raise TypeError(f"{name!r} is not a field name of a {cls.__mro__[1].__name__}; choose another one")


def _inherited(cls: type, real: ModuleType) -> Iterator[object]:
    """The names of the fields of the classes that a class derives from."""
    for base in cls.__mro__[1:]:
        held: Mapping[str, Any] = vars(base).get(_FIELDS, {})
        if type(held) is not dict or any(type(field) is not real.Field for field in held.values()):
            raise guards.unchangeable(base)
        yield from held
        yield from (field.name for field in held.values())


def _pprint(real: ModuleType) -> dict[str, object]:
    """Nothing in place of parts of `pprint`, whose printer shows the fields of the program's own dataclasses only."""
    printer = real.PrettyPrinter
    original = printer._pprint_dataclass

    def fields(self: Any, value: object, stream: Any, *rest: Any) -> None:
        if guards.is_own(value) and not issubclass(type(value), _PASSING_ON):
            original(self, value, stream, *rest)
        else:
            stream.write(repr(value))

    printer._pprint_dataclass = fields
    for name in ("isreadable", "isrecursive"):
        setattr(printer, name, guards.of_its_class(printer, getattr(printer, name)))
    return {}


_REPLACED: dict[str, Callable[[ModuleType], dict[str, object]]] = {
    "abc": _abc,
    "copy": _copy,
    "dataclasses": _dataclasses,
    "enum": _enum,
    "functools": _functools,
    "operator": _operator,
    "pprint": _pprint,
    "typing": lambda real: {"Type": guards.TYPE},  # the real one holds the real `type`
}
