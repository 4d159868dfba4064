"""What stands between a running program and the interpreter: its builtins, and the guards the policy compiled in.

Loaded in the child only. An error raised here is what the program sees, so it reads like Python's own.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import builtins
from _string import formatter_field_name_split, formatter_parser  # type: ignore[import-not-found]
from types import FunctionType, GenericAlias, ModuleType

from sandbox.names import CAREFUL, NAMEDTUPLE, WRITABLE_DUNDERS, is_dunder, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["private", "program_builtins", "read", "type_of", "writable"]

OWN = "__main__"
"""`__module__` of everything that a program defines; nothing of ours has it."""

_nothing = object()
_open_classes: set[type] = {type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset}
"""Classes whose instances have nothing private to hide: these, and the program's own as they are met."""

_checked: set[str] = set()
"""Format strings that were found harmless, so that a loop does not parse the same one again."""


# Reading attributes


def read(target: object, name: str, default: object = _nothing) -> object:
    """`target.name` where it depends on the target whether that is harmless. Raises: AttributeError."""
    if name == "format" and type(target) is str and type(name) is str:
        return _bound_format(target, name)  # by far the most frequent
    if type(name) is not str:
        if not isinstance(name, str):
            raise TypeError("attribute name must be string, not '" + type(name).__name__ + "'")
        name = str.__str__(name)  # a subclass could say one thing and mean another
    reason = refusal(name)
    if reason is not None:
        raise AttributeError(f"'{name}' is not allowed; {reason}")
    if name[:1] == "_" and not is_dunder(name) and not _private_is_open(target, name):
        raise AttributeError(f"'{name}' is private to {type(target).__name__}")
    if name in CAREFUL:
        special = _careful(target, name)
        if special is not _nothing:
            return special
    return getattr(target, name) if default is _nothing else getattr(target, name, default)


def private(target: object, name: str) -> object:
    """`target._name`, for what the program defined itself. Raises: AttributeError."""
    if type(target) in _open_classes or _private_is_open(target, name):
        return getattr(target, name)
    raise AttributeError(f"'{name}' is private to {type(target).__name__}")


def _private_is_open(target: object, name: str) -> bool:
    return name in NAMEDTUPLE or _is_own(target)


def _is_own(target: object) -> bool:
    """Whether the program defined this function or class, or the class of this object."""
    if isinstance(target, (type, FunctionType)):
        return target.__module__ == OWN
    if type(target) is super:
        return bool(target.__thisclass__.__module__ == OWN)  # type: ignore[attr-defined]
    if type(target).__module__ != OWN:
        return False
    _open_classes.add(type(target))
    return True


def _careful(target: object, name: str) -> object:
    """What a program gets for a name that is a way out on some objects; `_nothing`: the ordinary attribute."""
    if name == "__class__":
        return type_of(target)
    if name == "__dict__":
        if isinstance(target, type) or not _is_own(target):
            raise AttributeError("'__dict__' is there for instances of the program's own classes only")
        return _nothing
    if name in ("format", "format_map"):
        if isinstance(target, str):
            return _bound_format(target, name)
        if isinstance(target, type) and issubclass(target, str):
            return lambda template, *args, **kwargs: _bound_format(template, name)(*args, **kwargs)
        return _nothing
    if name == "obj":
        if isinstance(target, AttributeError):
            raise AttributeError("'obj' of an AttributeError is not allowed; use str(error)")
        return _nothing
    return _by_computed_name(target, name)


def _by_computed_name(target: object, method: str) -> object:
    """`super().__setattr__` and its like: the method, with the name it is given held to the rules."""
    function = getattr(target, method)
    unbound = isinstance(target, type)

    def call(*args: object) -> object:
        receiver, rest = (args[0], args[1:]) if unbound and args else (target, args)
        if rest and isinstance(rest[0], str):
            if method in ("__setattr__", "__delattr__"):
                _assignable(receiver, rest[0])
            else:
                reason = refusal(rest[0])
                if reason is not None or rest[0] == "__dict__" or (rest[0] == "obj" and not _is_own(receiver)):
                    raise AttributeError(f"'{rest[0]}' is not allowed; {reason or 'use vars()'}")
        return function(*args)

    return call


def _bound_format(template: object, method: str) -> Callable[..., str]:
    """`str.format` that refuses a template which reads what the program itself may not read."""
    if not isinstance(template, str):
        raise TypeError(
            f"descriptor '{method}' for 'str' objects doesn't apply to a '{type(template).__name__}' object"
        )
    text = str.__str__(template)
    if text not in _checked:
        _check_template(text, 2)
        if len(_checked) < 1000:
            _checked.add(text)
    return getattr(text, method)  # type: ignore[no-any-return]


def _check_template(template: str, depth: int) -> None:
    for _, field, spec, _ in formatter_parser(template):
        if field:
            _, accesses = formatter_field_name_split(field)
            for is_attribute, name in accesses:
                if is_attribute and (refusal(name) is not None or name.startswith("_") or name in CAREFUL):
                    raise AttributeError(f"'{name}' is not allowed in a format string; use an f-string")
        if spec and depth:
            _check_template(spec, depth - 1)


# Writing attributes


def writable(target: object, private: str | None = None) -> object:
    """The target of an assignment or deletion of an attribute, if the program may change it. Raises: TypeError."""
    if type(target) in _open_classes:
        return target
    if isinstance(target, (type, ModuleType)) and not _is_own(target):
        what = "module" if isinstance(target, ModuleType) else "class"
        raise TypeError(f"cannot change {what} '{target.__name__}': it is not the program's own")
    if private is not None and not _is_own(target):
        raise AttributeError(f"'{private}' is private to {type(target).__name__}")
    return target


def _assignable(target: object, name: str) -> None:
    if is_dunder(name) and name not in WRITABLE_DUNDERS:
        raise AttributeError(f"'{name}' is read-only here")
    writable(target, name if name.startswith("_") and not is_dunder(name) else None)


def _setattr(target: object, name: str, value: object, /) -> None:
    _assignable(target, name)
    setattr(target, name, value)


def _delattr(target: object, name: str, /) -> None:
    _assignable(target, name)
    delattr(target, name)


# Reading by a computed name


def _getattr(target: object, name: str, default: object = _nothing, /) -> object:
    return read(target, name, default)


def _hasattr(target: object, name: str, /) -> bool:
    try:
        read(target, name)
    except AttributeError:
        return False
    return True


def _vars(target: object = _nothing, /) -> object:
    if target is _nothing:
        raise TypeError("vars() without an argument is not available; use a dict of your own")
    return read(target, "__dict__")


# Classes


class _AnyType(type):
    """Makes `type` below behave as the builtin does for everything but making classes."""

    def __call__(cls, *args: object, **kwargs: object) -> object:
        if len(args) != 1 or kwargs:
            raise TypeError("type() takes 1 argument here; write a class statement")
        return type_of(args[0])

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, type)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, type)

    def __getitem__(cls, item: object) -> object:
        return GenericAlias(cls, item if isinstance(item, tuple) else (item,))

    def __repr__(cls) -> str:
        return "<class 'type'>"


_Type = _AnyType("type", (), {"__module__": "builtins", "__doc__": type.__doc__})


def type_of(target: object) -> object:
    """`type(target)`; the type of a class is a stand-in that can't make further classes."""
    return _Type if isinstance(target, type) else type(target)


def _build_class(body: Callable[[], object], name: str, *bases: type, **keywords: object) -> type:
    """The class statement. Raises: TypeError: It would make a metaclass."""
    for base in bases:
        if isinstance(base, type) and (base is _Type or issubclass(base, type)):
            raise TypeError(f"{name} would be a metaclass, which is not allowed; use a class decorator")
    metaclass = keywords.get("metaclass")
    if metaclass is not None and getattr(metaclass, "__module__", None) != "abc":
        raise TypeError("only abc.ABCMeta is allowed as a metaclass")
    return builtins.__build_class__(body, name, *bases, **keywords)  # type: ignore[no-any-return]


def _exit(status: object = None, /) -> None:
    raise SystemExit(status)


_PLAIN = """
    None True False Ellipsis NotImplemented abs all any ascii bin bool bytearray bytes callable chr classmethod complex
    dict dir divmod enumerate filter float format frozenset hash hex id int isinstance issubclass iter len list map max
    min next object oct ord pow print property range repr reversed round set slice sorted staticmethod str sum super
    tuple zip
""".split()


def program_builtins(
    importer: Callable[..., ModuleType], namespace: dict[str, object], extra: Mapping[str, object]
) -> dict[str, object]:
    """All names that a program has without an import; `namespace` is its own global one."""
    exceptions = {
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    return {
        **{name: getattr(builtins, name) for name in _PLAIN},
        **exceptions,
        "__build_class__": _build_class,
        "__debug__": True,
        "__import__": importer,
        "_getattr_": read,
        "_private_": private,
        "_type_": type_of,
        "_write_": writable,
        "delattr": _delattr,
        "exit": _exit,
        "getattr": _getattr,
        "globals": lambda: {name: value for name, value in namespace.items() if not is_dunder(name)},
        "hasattr": _hasattr,
        "quit": _exit,
        "setattr": _setattr,
        "type": _Type,
        "vars": _vars,
        **extra,
    }
