"""The guards between a running program and the interpreter: its builtins, and the calls that the policy compiled in.

Loaded in the child only. An error raised here is what the program sees, so it reads like Python's own.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import builtins
import gc
from _string import formatter_field_name_split, formatter_parser  # type: ignore[import-not-found]
from abc import ABCMeta
from types import (
    BuiltinMethodType,
    FunctionType,
    GeneratorType,
    GenericAlias,
    MappingProxyType,
    MethodType,
    ModuleType,
    resolve_bases,
)

from sandbox.language.names import CAREFUL, NAMEDTUPLE, WRITABLE_DUNDERS, is_dunder, is_plain, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import typing
    from collections.abc import Callable, Mapping

__all__ = ["ABC_META", "OWN", "TYPE", "forget", "is_own", "is_own_class", "of_its_class", "private"]
__all__ += ["program_builtins", "read", "shown_as", "type_of", "unchangeable", "writable"]

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
    name = _exact(name)
    if default is _nothing:
        return _permitted(target, name, lambda: getattr(target, name))
    return _permitted(target, name, lambda: getattr(target, name, default))


def _exact(name: object) -> str:
    """A name as what it really is: a subclass of str could say one thing and mean another. Raises: TypeError."""
    if not isinstance(name, str):
        raise TypeError("attribute name must be string, not '" + type(name).__name__ + "'")
    return str.__str__(name)


def _permitted(target: object, name: str, get: Callable[[], object]) -> object:
    """The attribute that `get` reads, if the program may read it. Raises: AttributeError."""
    reason = refusal(name)
    if reason is not None:
        raise AttributeError(f"'{name}' is not allowed; {reason}")
    if name[:1] == "_" and not is_dunder(name) and not _private_is_open(target, name) and hasattr(target, name):
        raise AttributeError(f"'{name}' is private to {type(target).__name__}")
    return _careful(target, name, get) if name in CAREFUL else get()


def private(target: object, name: str) -> object:
    """`target._name`, for what the program defined itself. Raises: AttributeError."""
    if type(target) in _open_classes or _private_is_open(target, name):
        return getattr(target, name)
    raise AttributeError(f"'{name}' is private to {type(target).__name__}")


def _private_is_open(target: object, name: str) -> bool:
    return name in NAMEDTUPLE or is_own(target)


def is_own(target: object) -> bool:
    """True if the program defined this function or class, or the class of this object."""
    kind = type(target)  # and never isinstance, which asks a program's own `__getattribute__` for `__class__`
    if issubclass(kind, (type, FunctionType)):
        return bool(target.__module__ == OWN)
    if issubclass(kind, super):
        return bool(object.__getattribute__(target, "__thisclass__").__module__ == OWN)
    if kind.__module__ != OWN or issubclass(kind, GenericAlias):  # an alias shows the attributes of another object
        return False
    _open_classes.add(kind)
    return True


def is_own_class(target: object) -> typing.TypeGuard[type]:
    """True for a class of the program."""
    return _is_class(target) and target.__module__ == OWN


def _careful(target: object, name: str, get: Callable[[], object]) -> object:
    """The harmless value of a name that is a way out on some objects."""
    if name == "__class__":
        return type_of(target)
    if name == "__dict__" and (issubclass(type(target), (type, super)) or not is_own(target)):
        raise AttributeError("'__dict__' is there for instances of the program's own classes only")
    if name == "obj" and (not is_own(target) or issubclass(_shown(target), AttributeError)):
        raise AttributeError("'obj' of an AttributeError is not allowed; use str(error)")
    if name == "__init__" and issubclass(_shown(target), ModuleType):
        raise AttributeError("'__init__' of a module is not allowed; import it instead")
    value = get()
    if name == "__members__" and type(value) is MappingProxyType:
        return MappingProxyType(dict(value))  # a comparison hands the dict behind it to the other side
    if name in ("format", "format_map"):
        return _checking_format(value, name)
    if name == "__dataclass_fields__":
        return dict(value) if type(value) is dict else value  # the real one decides on the text of methods
    if name in ("__getattr__", "__getattribute__", "__setattr__", "__delattr__") and callable(value):
        return _by_computed_name(value, name)
    return value


def _shown(target: object) -> type:
    """The class whose attributes an object of the program shows: its own, or what it or `super()` stands for."""
    if issubclass(type(target), super):
        return object.__getattribute__(target, "__self_class__") or super
    return target if _is_class(target) else type(target)


def _is_class(target: object) -> typing.TypeGuard[type]:
    """True for a class, whatever its `__class__` says."""
    return issubclass(type(target), type)


def _by_computed_name(function: Callable[..., object], method: str) -> object:
    """`super().__setattr__` and its like: the method, with the name it is given held to the rules."""
    first = 0 if hasattr(function, "__self__") else 1  # where the name stands; before it, the object

    def call(*args: object) -> object:
        if len(args) <= first:
            return function(*args)  # a TypeError
        receiver = args[0] if first else getattr(function, "__self__", None)
        if method in ("__setattr__", "__delattr__"):
            name = _assignable(receiver, args[first])
            return function(*args[:first], name, *args[first + 1 :])
        name = _exact(args[first])
        return _permitted(receiver, name, lambda: function(*args[:first], name))

    return call


def _checking_format(function: object, method: str) -> object:
    """`str.format`, of whatever object it was found, as one that checks its template; anything else as it is."""
    if function is getattr(str, method):
        return lambda template, *args, **kwargs: _bound_format(template, method)(*args, **kwargs)
    if type(function) is BuiltinMethodType and isinstance(function.__self__, str):
        return _bound_format(function.__self__, method)
    return function


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
                if is_attribute and not is_plain(name):
                    raise AttributeError(f"'{name}' is not allowed in a format string; use an f-string")
        if spec and depth:
            _check_template(spec, depth - 1)


def of_its_class(kind: type, method: Callable[..., object]) -> Callable[..., object]:
    """A method of the library that calls others by name, for objects of its class only: a text has a `format`, too."""

    def checked(self: object, /, *args: object, **options: object) -> object:
        if not issubclass(type(self), kind):
            raise TypeError(f"{method.__name__}() is not allowed on a {type(self).__name__}: it is no {kind.__name__}")
        return method(self, *args, **options)

    return checked


# Writing attributes

_FIXED = (type, ModuleType, FunctionType, BuiltinMethodType, MethodType)
"""Kinds of things that the library shares between all who use it; one of the program's own may be changed."""


def writable(target: object, private: str | None = None) -> object:
    """The target of an assignment or deletion of an attribute, if the program may change it. Raises: TypeError."""
    if type(target) in _open_classes:
        return target
    kind = type(target)
    fixed = issubclass(kind, _FIXED) or kind.__module__ == "typing"  # an alias passes it on
    if fixed and not is_own(target):
        raise unchangeable(target)
    if private is not None and not is_own(target):
        raise AttributeError(f"'{private}' is private to {type(target).__name__}")
    return target


def unchangeable(target: object) -> TypeError:
    """The error for an attempt to change what is not the program's own."""
    noun = "module" if isinstance(target, ModuleType) else "class" if isinstance(target, type) else "object"
    return TypeError(f"cannot change {noun} '{getattr(target, '__name__', target)}': it is not the program's own")


def _assignable(target: object, name: object) -> str:
    name = _exact(name)
    if is_dunder(name) and name not in WRITABLE_DUNDERS:
        raise AttributeError(f"'{name}' is read-only here")
    writable(target, name if name.startswith("_") and not is_dunder(name) else None)
    return name


def _setattr(target: object, name: str, value: object, /) -> None:
    setattr(target, _assignable(target, name), value)


def _delattr(target: object, name: str, /) -> None:
    delattr(target, _assignable(target, name))


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


class _StandIn(type):
    """Makes `TYPE` and `ABC_META` below behave as `type` and `ABCMeta` do for everything but making classes."""

    def __call__(cls, *args: object, **kwargs: object) -> object:
        if cls is not TYPE or len(args) != 1 or kwargs:
            taken = "1 argument" if cls is TYPE else "no arguments"
            raise TypeError(f"{cls.__name__}() takes {taken} here; write a class statement")
        return type_of(args[0])

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _REAL[cls])

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, _REAL[cls])

    def __getitem__(cls, item: object) -> object:
        return GenericAlias(cls, item if isinstance(item, tuple) else (item,))

    def __repr__(cls) -> str:
        return repr(_REAL[cls])


TYPE = _StandIn("type", (), {"__module__": "builtins", "__doc__": type.__doc__})
ABC_META = _StandIn("ABCMeta", (), {"__module__": "abc", "__doc__": ABCMeta.__doc__})
_REAL: dict[type, type] = {TYPE: type, ABC_META: ABCMeta}
"""The real ones make classes from a namespace, in which anything may stand; no program ever holds one."""


shown_as: dict[type, type] = {}
"""Classes of ours that programs see as the builtin one which they extend."""


def type_of(target: object) -> object:
    return TYPE if _is_class(target) else shown_as.get(type(target), type(target))


def _build_class(body: Callable[[], object], name: str, *bases: object, **keywords: object) -> type:
    """The class statement. Raises: TypeError: It would make a metaclass."""
    for base in bases:
        if not _is_class(base) and type(base).__module__ == OWN:  # it could name other bases when it is asked again
            raise TypeError(f"{name} has a base that is not a class, which is not allowed; name a class")
    for base in resolve_bases(bases):
        if _is_class(base) and (type(base) is _StandIn or issubclass(base, type)):
            raise TypeError(f"{name} would be a metaclass, which is not allowed; use a class decorator")
    if "metaclass" in keywords:
        if keywords["metaclass"] is not ABC_META:
            raise TypeError("only abc.ABCMeta is allowed as a metaclass")
        keywords["metaclass"] = ABCMeta
    keywords.pop("_root", None)  # typing's own leave to make a class whose instances pass on what is set
    return builtins.__build_class__(body, name, *bases, **keywords)  # type: ignore[no-any-return]


def _exit(status: object = None, /) -> None:
    raise SystemExit(status)


_PLAIN = """
    None True False Ellipsis NotImplemented abs all any ascii bin bool bytearray bytes callable chr classmethod complex
    dict dir divmod enumerate filter float format frozenset hash hex id int isinstance issubclass iter len list map max
    min next object oct ord pow print property range repr reversed round set slice sorted staticmethod str sum super
    tuple zip
""".split()


_FORGOTTEN: dict[type, dict[str, object]] = {
    FunctionType: {"__builtins__": {}, "__globals__": {}},
    GeneratorType: {"gi_frame": None},
}
"""Attributes that lead out in one step and that nothing in the child needs, and what they are from now on."""


def forget() -> None:
    """Take `_FORGOTTEN` from the builtin classes: whatever reads such a name in spite of all finds nothing there."""
    renewed = vars(type)["__abstractmethods__"]  # setting it is what makes the interpreter drop what it has looked up
    for kind, values in _FORGOTTEN.items():
        (attributes,) = gc.get_referents(vars(kind))  # the dict behind the read-only view
        attributes.update(values)
        renewed.__set__(kind, ())
        renewed.__delete__(kind)


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
        "type": TYPE,
        "vars": _vars,
        **extra,
    }
