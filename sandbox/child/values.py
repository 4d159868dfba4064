"""The value classes of a program: stand-ins of those of the host, whose instances travel as their fields."""

from __future__ import annotations

from typing import NoReturn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

__all__ = ["CLASS", "Value", "revived", "value_class"]

CLASS = "__class__"
"""The key under which an instance has the name of its class; see protocols.functions."""


class Value:
    """Base of all value classes. Each has its fields: names, whether they are required, defaults, whether they go by
    their names only, and whether the default is made anew.

    `_given` are the names of the fields that the program set or may fill; the host knows the defaults of the rest.
    """

    _fields: Sequence[tuple[str, bool, object, bool, bool]] = ()

    def __init__(self, *args: object, **named: object) -> None:
        name = type(self).__name__
        positional = [field[0] for field in self._fields if not field[3]]
        if len(args) > len(positional):
            raise TypeError(f"{name}() takes {len(positional)} positional arguments but {len(args)} were given")
        values = dict(zip(positional, args, strict=False))
        known = [field[0] for field in self._fields]
        for key, value in named.items():
            if key not in known:
                raise TypeError(f"{name}() got an unexpected keyword argument {key!r}. It takes: {', '.join(known)}")
            if key in values:
                raise TypeError(f"{name}() got multiple values for argument {key!r}")
            values[key] = value
        own = self.__dict__
        for field, required, default, _, made_anew in self._fields:
            if field not in values and required:
                raise TypeError(f"{name}() missing 1 required argument: {field!r}. It takes: {', '.join(known)}")
            if field not in values and made_anew and isinstance(default, (list, dict)):
                values[field] = default.copy()  # each instance has its own, which the program may fill
            own[field] = values.get(field, default)
        own["_given"] = tuple(values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make a new one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make a new one")

    def _key(self) -> tuple[object, ...]:
        return tuple(self.__dict__[field[0]] for field in self._fields)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{field[0]}={self.__dict__[field[0]]!r}" for field in self._fields)
        return f"{type(self).__name__}({fields})"


class TupleValue(Value):
    """Base of the value classes that are named tuples."""

    def __iter__(self) -> Iterator[object]:
        return iter(self._key())

    def __len__(self) -> int:
        return len(self._fields)

    def __getitem__(self, place: Any) -> object:
        return self._key()[place]


def value_class(name: str, is_tuple: bool, fields: Sequence[Sequence[Any]]) -> type[Value]:
    """The class of that name; its fields as `Value` has them."""
    members = {"_fields": [tuple(field) for field in fields], "__module__": "tools"}
    return type(name, (TupleValue if is_tuple else Value,), members)


def revived(value: Any, classes: Mapping[str, type[Value]]) -> Any:
    """A JSON value with the instances that it names."""
    if type(value) is list:
        return [revived(item, classes) for item in value]
    if type(value) is not dict:
        return value
    members = {name: revived(item, classes) for name, item in value.items() if name != CLASS}
    kind = classes.get(value[CLASS]) if type(value.get(CLASS)) is str else None
    return kind(**members) if kind is not None else members
