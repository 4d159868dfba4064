"""Stand-ins for `dataclasses` and `pprint`, which read and set attributes by the names of fields.

The names of fields are up to the program, so they are held to the rules, and values are read through the guards.
"""

from __future__ import annotations

from types import GenericAlias, ModuleType

from sandbox.language import guards
from sandbox.language.names import is_dunder, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

__all__ = ["dataclasses_parts", "pprint_parts"]

_FIELDS = "__dataclass_fields__"
_PASSING_ON = (GenericAlias, ModuleType, super)
"""Classes whose instances show the attributes of something else."""


def dataclasses_parts(real: ModuleType) -> dict[str, object]:
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


def pprint_parts(real: ModuleType) -> dict[str, object]:
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
