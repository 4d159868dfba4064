"""Follows the values of a program from the responses they come from; loaded in the child, for tracked runs only."""

from __future__ import annotations

import operator
import sys
from types import BuiltinMethodType, MethodType, MethodWrapperType

from sandbox.child.call_tracker import CallTracker, suspicion
from sandbox.child.origins import (
    MADE,
    MOST,
    NO_ORIGIN,
    Origin,
    is_hashable,
    is_shared,
    made,
    merged,
    ranked,
)
from sandbox.language.shims.tasks import call_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

__all__ = ["Tracker"]

_OPERATORS: dict[str, Callable[[Any, Any], object]] = {
    **{name: getattr(operator, name) for name in operator.__all__ if not name.startswith("_")},
    "in": lambda item, container: item in container,
    "not in": lambda item, container: item not in container,
}


class Tracker(CallTracker):
    """The operations of a rewritten program (see sandbox.provenance.instrument)."""

    # Reports of the worker

    def called(self, call: int, args: tuple[object, ...], named: dict[str, object]) -> None:
        self._here.calls.append(call)
        values = {**{str(index): value for index, value in enumerate(args)}, **named}
        self._direct_arguments[call] = {name: self._identity(value, NO_ORIGIN) for name, value in values.items()}

    def received(self, call: int, value: object) -> None:
        self._remember_tree(value, call, ())

    def report(self, error: BaseException | None) -> dict[str, object]:
        return {
            "fault": self.explain(error),
            "arguments": {str(call): origins for call, origins in {**self._direct_arguments, **self.arguments}.items()},
            "printed": ranked(self.printed)[:100],
        }

    # Expressions

    def name(self, number: int, value: object, shadow: Origin) -> Any:
        return self._note(number, value, shadow)

    def same(self, number: int, inner: int, value: object) -> Any:
        return self._note(number, value, self._of(inner, value))

    def guarded(self, number: int, inner: int, value: object) -> Any:
        return self._note(number, value, made(self._origin(inner)))

    def attribute(self, number: int, inner: int, value: object, name: str) -> Any:
        origin = self._of(inner, value)
        try:
            member = getattr(value, name)
        except BaseException as error:
            self._blame(error, (origin, value))
            raise
        call = call_index(value)
        if call is not None and not callable(member):
            return self._note(number, member, ((call, (), MADE),))
        if isinstance(member, (BuiltinMethodType, MethodType, MethodWrapperType)):
            self._here.origins[number] = origin
            return member
        return self._note(number, member, made(origin))

    def item(self, number: int, of_value: int, of_key: int, value: Any, key: object) -> Any:
        origin = self._of(of_value, value)
        try:
            element = value[key]
        except BaseException as error:
            self._blame(error, (origin, value), (self._of(of_key, key), key))
            raise
        return self._note(number, element, self._part(value, key, origin))

    def slice(self, *parts: Any) -> Any:
        return slice(*parts)

    def binary(self, number: int, name: str, of_left: int, of_right: int, left: Any, right: Any) -> Any:
        first, second = self._of(of_left, left), self._of(of_right, right)
        try:
            result = _OPERATORS[name](left, right)
        except BaseException as error:
            operands = [(first, left), (second, right)]
            if isinstance(error, ZeroDivisionError):
                operands = operands[1:]
            else:
                operands.sort(key=lambda operand: suspicion(operand[1]))
            self._blame(error, *operands)
            raise
        if name.startswith("i") and result is left and not is_shared(result):
            self._by_identity[id(result)] = (result, merged(first, made(second)))
        return self._note(number, result, made(merged(first, second)))

    def unary(self, number: int, name: str, inner: int, value: Any) -> Any:
        origin = self._of(inner, value)
        try:
            result = getattr(operator, name)(value)
        except BaseException as error:
            self._blame(error, (origin, value))
            raise
        return self._note(number, result, made(origin))

    def forget(self, numbers: tuple[int, ...]) -> None:
        """These expressions may not be evaluated."""
        for number in numbers:
            self._here.origins.pop(number, None)

    def chosen(self, number: int, numbers: tuple[int, ...], value: object) -> Any:
        return self._note(number, value, merged(*(self._origin(inner) for inner in reversed(numbers))))

    def derived(self, number: int, numbers: tuple[int, ...], value: object) -> Any:
        return self._note(number, value, made(merged(*(self._origin(inner) for inner in numbers))))

    def formatted(self, number: int, value: Any, conversion: int, spec: str) -> str:
        try:
            if conversion != -1:
                value = str(value) if conversion == 115 else repr(value) if conversion == 114 else ascii(value)
            return format(value, spec)
        except BaseException as error:
            self._blame(error, (self._of(number, value), value))
            raise

    def sequence(self, number: int, numbers: tuple[int, ...], value: Any) -> Any:
        origins = [self._origin(inner) for inner in numbers]
        if type(value) is not set and -1 not in numbers:
            self._parts[id(value)] = dict(enumerate(origins))
        return self._note_new(number, value, made(merged(*origins)))

    def mapping(self, number: int, of_keys: tuple[int, ...], of_values: tuple[int, ...], value: dict[Any, Any]) -> Any:
        origins = [self._origin(inner) for inner in of_values]
        if -1 not in of_keys and len(value) == len(origins):
            self._parts[id(value)] = dict(zip(value, origins, strict=True))
        return self._note_new(number, value, made(merged(*origins)))

    # Comprehensions

    def each(self, number: int, spec: object, iterable: Any) -> Iterator[tuple[object, object]]:
        """The items of a loop, each with its origin, or with those of its parts in the shape of `spec`."""
        origin = self._of(number, iterable)
        try:
            source = iter(iterable)
        except BaseException as error:
            self._blame(error, (origin, iterable))
            raise
        index = 0
        while True:
            try:
                item = next(source)
            except StopIteration:
                return
            except BaseException as error:
                self._blame(error, (origin, iterable))
                raise
            self._step()
            item_origin = made(origin)
            if isinstance(iterable, (list, tuple)) or id(iterable) in self._parts:
                item_origin = self._part(iterable, index, origin)
            yield item, self._shaped(item, item_origin, spec)
            index += 1

    def _shaped(self, item: object, origin: Origin, spec: object) -> object:
        if spec == 0:
            return self._identity(item, origin)
        origin = self._identity(item, origin)
        parts = list(item) if isinstance(item, (list, tuple)) else []
        shaped = []
        for index, inner in enumerate(spec):  # type: ignore[arg-type, var-annotated]
            part = parts[index] if index < len(parts) else None
            shaped.append(self._shaped(part, self._part(item, index, origin), inner))
        return tuple(shaped)

    def begin(self, number: int) -> None:
        self._here.collected[number] = []

    def element(self, number: int, inner: int, value: object) -> Any:
        origin = self._of(inner, value)
        self._remember(value, origin)
        self._here.yielded = (value, origin)
        self._here.collected.setdefault(number, []).append(origin)
        return value

    def comprehension(self, number: int, iterables: tuple[int, ...], value: object) -> Any:
        elements = self._here.collected.pop(number, [])
        origin = merged(*(self._origin(inner) for inner in iterables))
        if type(value) is list and len(value) == len(elements):
            self._parts[id(value)] = dict(enumerate(elements))
        return self._note_new(number, value, made(merged(*elements[:MOST], origin)))

    # Statements

    def take(self, number: int) -> Origin:
        """The origin of what was just evaluated, for a shadow."""
        return self._origin(number)

    def unpacked(self, number: int, count: int, star: int, value: Any) -> Any:
        """The value of `a, b = value`, which must have as many parts. Raises: ValueError, TypeError."""
        origin = self._of(number, value)
        try:
            items = list(value)
            if star < 0 and len(items) > count:
                raise ValueError(f"too many values to unpack (expected {count})")
            if len(items) < count - (star >= 0):
                least = f"at least {count - 1}" if star >= 0 else str(count)
                raise ValueError(f"not enough values to unpack (expected {least}, got {len(items)})")
        except BaseException as error:
            self._blame(error, (origin, value))
            raise
        self._here.origins[number] = origin
        self._parts[-number] = {i: self._identity(item, self._part(value, i, origin)) for i, item in enumerate(items)}
        return items

    def part(self, number: int, path: tuple[int, ...]) -> Origin:
        """The origin of a variable that a value was unpacked to."""
        origin = self._origin(number)
        if len(path) == 1 and path[0] >= 0:
            return self._parts.get(-number, {}).get(path[0], origin)
        return made(origin)

    def set_item(self, number: int, of_container: int, of_key: int, value: Any, container: Any, key: Any) -> None:
        origin = self._of(number, value)
        try:
            container[key] = value
        except BaseException as error:
            self._blame(error, (self._of(of_container, container), container), (self._of(of_key, key), key))
            raise
        if is_hashable(key):
            self._parts.setdefault(id(container), {})[key] = origin
        old_origin = self._by_identity.get(id(container), (container, NO_ORIGIN))[1]
        of_keys = made(self._of(of_key, key))
        self._by_identity[id(container)] = (container, merged(old_origin, made(origin), of_keys))

    def change_item(
        self, name: str, of_container: int, of_key: int, of_value: int, container: Any, key: Any, value: Any
    ) -> None:
        old = self.item(-1, of_container, of_key, container, key)
        self._here.origins[-2] = self._of(of_value, value)
        new = self.binary(-3, name, -1, -2, old, value)
        origin = self._here.origins.get(-3, NO_ORIGIN)
        self.set_item(0, of_container, of_key, new, container, key)
        if is_hashable(key):
            self._parts.setdefault(id(container), {})[key] = merged(origin, self._of(of_value, value))

    def test(self, number: int, value: object) -> Any:
        """The test of an `if` or `while`, or the iterable of a `for`."""
        self._step()
        self._here.controls.append(self._of(number, value))
        return value

    def handled(self) -> None:
        """Note that an exception is being handled: its sources decide about what follows."""
        fault = self._faults.get(id(sys.exc_info()[1]))
        self._here.controls.append(merged(*fault[1]) if fault is not None else NO_ORIGIN)

    def raising(self, number: int, error: Any) -> Any:
        """`raise error`: it rests on what decided that it is raised, then on what it says."""
        if isinstance(error, type):
            error = error()
        if isinstance(error, BaseException):
            controls = [(origin, None) for origin in reversed(self._here.controls)]
            self._blame(error, *controls, (self._origin(number), None))
        return error
