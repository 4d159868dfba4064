"""Functions, the methods of objects and value classes become the functions of one protocol."""

from __future__ import annotations

import functools
import inspect
import keyword
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any

from protocols.errors import UsageError
from protocols.functions.hints import UNREADABLE, Hint, HintError, HintReader, constructor_hints
from protocols.functions.host_function import Docstring, HostFunction, read_docstring
from protocols.naming import RESERVED

__all__ = ["collect"]

_PLAIN = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def collect(functions: object, reads: Collection[str] = ()) -> tuple[HostFunction, ...]:
    """The functions behind the tools of a protocol, in order; value classes, also those of hints alone, come last.

    Args:
        functions: A function, a class, an object, several of these, or a mapping from names to them.
        reads: Names of those that only read, with or without the object's name before it.
    Raises: UsageError: A function has no docstring or hints, or two have one name; the message says where.
    """
    reader = HintReader()
    collected: dict[str, HostFunction] = {}
    value_classes: list[tuple[str, type]] = []
    turn = RLock()
    for name, target in _named(functions):
        if isinstance(target, type):
            _check_methods(target)
            value_classes.append((name, target))
            _hint(reader.value_class, target, place_of(target))
            continue
        function = _read(name, target, reader, turn)
        if name in collected:
            first = collected[name].place
            raise UsageError(f"two functions are called {name}: {first} and {function.place}; rename one of them")
        collected[name] = function
    listed = {kind: name for name, kind in value_classes}
    for kind in list(reader.classes):
        name = listed.get(kind, kind.__name__)
        if name != kind.__name__ or name in collected:
            taken = f"{place_of(kind)} would be called {name}"
            raise UsageError(f"{taken}; a value class has its own name, and no function may have the same")
        collected[name] = _constructor(kind, reader, turn)
    for name, function in collected.items():
        first = name.partition(".")[0]
        if first in RESERVED:
            raise UsageError(
                f"{function.place}: {first} means something else in a program; pass it under another name, as in "
                f'{{"my_{first}": …}}, or rename it'
            )
    if not collected:
        raise UsageError("there are no functions; pass functions, objects with public methods, or a mapping of both")
    return _marked(collected, reads)


def _check_methods(kind: type) -> None:
    """Raises: UsageError: A class is no dataclass or the like, and has methods: a program could not call these."""
    holds_values = hasattr(kind, "__match_args__") or hasattr(kind, "model_fields")
    if not holds_values and (methods := list(_method_names(kind))):
        raise UsageError(
            f"{place_of(kind)}: of a class a program has only the constructor, not {methods[0]}(); pass an object of "
            "it for its methods, or make it a dataclass for its values; a class in the hints of functions need not be "
            "passed"
        )


def _marked(functions: Mapping[str, HostFunction], reads: Collection[str]) -> tuple[HostFunction, ...]:
    """The functions with those marked that only read. Raises: UsageError: There is none of such a name."""
    if isinstance(reads, str):
        raise UsageError(f"reads must be a list of names, as in reads=[{reads!r}]")
    reading = set()
    for name in reads:
        matching = [full for full in functions if name in (full, full.rpartition(".")[2])]
        if not matching:
            raise UsageError(f"reads names {name!r}, which is no function; there are {', '.join(functions)}")
        reading.update(matching)
    return tuple(replace(f, reads=f.reads or name in reading) for name, f in functions.items())


def _named(functions: object) -> Iterator[tuple[str, Any]]:
    """Each function and class with its name in a program. Raises: UsageError: There is something else."""
    if isinstance(functions, Mapping):
        for name, target in functions.items():
            if (name and not all(map(_is_name, str(name).split(".")))) or str(name).count(".") > 1:
                raise UsageError(f"{name!r} is no name of a function or an object; write it as Python does")
            yield from _members(str(name), target)
    elif isinstance(functions, Iterable) and not callable(functions):
        for target in functions:
            yield from _members(None, target)
    else:
        yield from _members(None, functions)


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text) and not text.startswith("_")


def _members(name: str | None, target: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(target, functools.partial):
        raise UsageError(f"{name or 'a functools.partial'} has no docstring of its own: write a function around it")
    is_wrapped = inspect.isfunction(inspect.unwrap(target))  # as by functools.cache
    if isinstance(target, (type, *_PLAIN)) or is_wrapped:
        yield name or target.__name__, target
        return
    if isinstance(target, types.ModuleType | str | bytes | int | float | type(None)):
        raise UsageError(f"{target!r} is no function, no class and no object with methods")
    prefix = _snake(type(target).__name__) if name is None else name
    if "." in prefix:
        raise UsageError(f"{prefix}: an object has a name without dots")
    methods = [member for member in _method_names(type(target)) if callable(getattr(target, member))]
    if not methods:
        raise UsageError(f"{place_of(type(target))} has no public methods; write some with hints and docstrings")
    for method in methods:
        yield f"{prefix}.{method}" if prefix else method, getattr(target, method)


def _method_names(kind: type) -> Iterable[str]:
    """Public methods in the order of their definitions, inherited ones first."""
    names: dict[str, None] = {}
    for base in reversed(kind.__mro__[:-1]):
        for name, member in vars(base).items():
            plain = isinstance(member, types.FunctionType | staticmethod | classmethod) or (
                callable(member) and inspect.isfunction(inspect.unwrap(member))  # as by functools.cache
            )
            if not name.startswith("_") and plain:
                names[name] = None
    return names


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower().strip("_")


def place_of(target: Any) -> str:
    """`name (file.py, line 12)` of a function or class; `module.name` where there is no source."""
    name = getattr(target, "__qualname__", str(target))
    code = getattr(inspect.unwrap(target), "__code__", None)
    try:
        file = code.co_filename if code is not None else inspect.getfile(target)
        line = code.co_firstlineno if code is not None else inspect.getsourcelines(target)[1]
    except (OSError, TypeError):
        return f"{getattr(target, '__module__', '')}.{name}"
    return f"{name} ({Path(file).name}, line {line})"


def _read(name: str, function: Callable[..., object], reader: HintReader, turn: RLock) -> HostFunction:
    """Raises: UsageError: It has no docstring, or an argument or the result has no hint."""
    place = place_of(function)
    text = inspect.getdoc(function)
    if not text:
        raise UsageError(f"{place} has no docstring; say in one what it does, its arguments under `Args:`")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise UsageError(f"{place} is asynchronous or a generator; a tool is a plain function that returns its result")
    try:
        signature, types_of = inspect.signature(function), typing.get_type_hints(function, include_extras=True)
    except UNREADABLE as error:
        raise UsageError(f"{place}: its signature cannot be read: {error}") from None
    hints = {}
    for parameter in signature.parameters.values():
        if parameter.name not in types_of:
            raise UsageError(
                f"{place}: argument {parameter.name!r} has no type hint; write one, as in {parameter.name}: str"
            )
        hint: Any = types_of[parameter.name]
        if parameter.default is None:
            hint = typing.Union[hint, None]  # noqa: UP007
        if parameter.kind is parameter.VAR_POSITIONAL:
            hint = types.GenericAlias(list, (hint,))
        elif parameter.kind is parameter.VAR_KEYWORD:
            hint = types.GenericAlias(dict, (str, hint))
        hints[parameter.name] = _hint(reader.read, hint, f"{place}: argument {parameter.name!r}")
    if "return" not in types_of:
        raise UsageError(f"{place} has no type hint for its result; write one, `-> None` if it gives nothing")
    result = _hint(reader.read, types_of["return"], f"{place}: its result")
    document = read_docstring(text)
    return HostFunction(
        name, function, signature, hints, result, document, place, reads=False, classes=reader.classes, turn=turn
    )


def _hint(read: Callable[[Any], Hint], hint: Any, where: str) -> Hint:
    try:
        return read(hint)
    except HintError as error:
        raise UsageError(f"{where}: {error}") from None


def _constructor(kind: type, reader: HintReader, turn: RLock) -> HostFunction:
    """The constructor of a value class as a function that only reads. Raises: UsageError: It has no docstring."""
    place = place_of(kind)
    text = inspect.cleandoc(kind.__doc__) if kind.__doc__ else ""
    if not text or text.startswith(f"{kind.__name__}("):  # what a dataclass has without one
        raise UsageError(f"{place} has no docstring; say in one what its values are")
    own = kind.__init__.__doc__ if kind.__init__.__doc__ and "__init__" in vars(kind) else ""  # type: ignore[misc]
    document = read_docstring(text)
    if own:
        document = Docstring(document.summary, document.description, read_docstring(own).arguments)
    value_class = reader.classes[kind]
    of_fields = {name: text for name in value_class.fields if (text := value_class.field_description(name))}
    document = replace(document, arguments={**of_fields, **document.arguments})
    types_of = constructor_hints(kind)
    hints = {name: _hint(reader.read, types_of[name], place) for name in value_class.fields}
    return HostFunction(
        kind.__name__, kind, value_class.signature, hints, _hint(reader.value_class, kind, place), document, place,
        reads=True, classes=reader.classes, made=value_class, turn=turn,
    )  # fmt: skip
