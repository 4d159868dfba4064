"""Follows the values of a program from the responses they come from; loaded in the child, for tracked runs only.

Containers, texts and large numbers are known by identity; what has none (None, True, small numbers, single letters) is
followed by the expressions and variables that it passes through. Equal values alone are no evidence.

An origin is a tuple of sources, nearest first: `(call, path, strength)`. `call` is the index of a call, `path` the keys
and indices in its response. Strength 2: the value is what lies at that path. 1: it was made from it. 0: it was set in a
branch or a loop which that value decided about.
"""

from __future__ import annotations

import gc
import itertools
import json
import operator
import sys
from _thread import _local
from concurrent.futures import Future
from concurrent.futures.thread import ThreadPoolExecutor
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType, GeneratorType, MethodType, MethodWrapperType

from sandbox.language import guards
from sandbox.language.shims import tasks
from sandbox.language.shims.replies import answered_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

__all__ = ["Tracker"]

Source = tuple[int, tuple[object, ...], int]
Origin = tuple[Source, ...]

EXACT, MADE, DECIDED = 2, 1, 0
MOST = 8
"""Sources that an origin keeps."""

STEPS = 100_000
"""Operations of a program that are followed; they are counted, and not timed, so that the same run ends the same."""

LEAVES = 200_000
"""Values of one response that are known by themselves."""

_NONE: Origin = ()
_VIEWS: tuple[type, type, type] = (type({}.keys()), type({}.values()), type({}.items()))
_OPERATORS: dict[str, Callable[[Any, Any], object]] = {
    **{name: getattr(operator, name) for name in operator.__all__ if not name.startswith("_")},
    "in": lambda item, container: item in container,
    "not in": lambda item, container: item not in container,
}
_LOADS = json.loads


class _ThreadState(_local):
    """What one thread knows of the function that it is in."""

    def __init__(self) -> None:
        self.origins: dict[int, Origin] = {}
        self.controls: list[Origin] = []
        self.pending: tuple[object, tuple[Origin, ...], dict[str, Origin], Origin] | None = None
        self.calls: list[int] = []
        self.result: tuple[object, Origin] | None = None
        self.yielded: tuple[object, Origin] = (None, _NONE)
        self.collected: dict[int, list[tuple[object, Origin]]] = {}
        self.keys: dict[int, tuple[object, Origin]] = {}


class Tracker:
    """What a rewritten program calls (see instrument.py); `give_up` ends one that has taken too many steps."""

    def __init__(self, give_up: Callable[[], object] = lambda: None) -> None:
        self._give_up = give_up
        self._steps = 0
        self._here = _ThreadState()
        self._known: dict[int, tuple[object, Origin]] = {}
        self._parts: dict[int, dict[object, Origin]] = {}
        self._displays: set[int] = set()
        self._late: dict[object, list[tuple[tuple[Origin, ...], dict[str, Origin], Origin]]] = {}
        self._faults: dict[int, tuple[BaseException, list[Origin]]] = {}
        self._loose: dict[int, dict[str, Origin]] = {}
        self.arguments: dict[int, dict[str, Origin]] = {}
        self.printed: list[Origin] = []

    # What is told from outside

    def asked(self, call: int, args: tuple[object, ...], named: dict[str, object]) -> None:
        """A tool was called, perhaps by a library that was given the tool."""
        self._here.calls.append(call)
        origins = {str(index): self._identity(value, _NONE) for index, value in enumerate(args)}
        self._loose[call] = {**origins, **{name: self._identity(value, _NONE) for name, value in named.items()}}

    def received(self, call: int, value: object) -> None:
        """A tool gave this response."""
        self._know_tree(value, call, ())

    def explain(self, error: BaseException | None) -> list[Source]:
        """The sources that an exception rests on, nearest first; its causes count before it."""
        chain: list[BaseException] = []
        while error is not None and error not in chain:
            chain.append(error)
            error = error.__cause__ or error.__context__
        for link in reversed(chain):
            fault = self._faults.get(id(link))
            if fault is not None:
                sources = _ranked(fault[1])
                if sources or link is chain[0]:
                    return sources
        return []

    def report(self, error: BaseException | None) -> dict[str, object]:
        """What is known at the end, as JSON."""
        return {
            "fault": self.explain(error),
            "arguments": {str(call): origins for call, origins in {**self._loose, **self.arguments}.items()},
            "printed": _ranked(self.printed)[:100],
        }

    # Origins

    def _know(self, value: object, origin: Origin) -> None:
        if origin and not _small(value):
            self._known[id(value)] = (value, origin)  # the value is kept, or another could get its identity

    def _step(self) -> None:
        self._steps += 1
        if self._steps > STEPS:
            self._give_up()

    def _know_tree(self, root: object, call: int, path: tuple[object, ...]) -> None:
        waiting: list[tuple[object, tuple[object, ...]]] = [(root, path)]
        count = 0
        while waiting and count < LEAVES:
            value, here = waiting.pop()
            count += 1
            self._know(value, ((call, here, EXACT),))
            if type(value) is dict:
                waiting += [(part, (*here, key)) for key, part in value.items()]
            elif type(value) is list:
                waiting += [(part, (*here, index)) for index, part in enumerate(value)]

    def _of(self, number: int, value: object) -> Origin:
        """The origin of a value that an expression gave."""
        if not _small(value):
            entry = self._known.get(id(value))
            if entry is not None:
                return entry[1]
        return self._here.origins.get(number, _NONE) if number > 0 else _NONE

    def _note(self, number: int, value: object, origin: Origin) -> Any:
        """The value, whose origin is noted for the expression and, where it has an identity, for itself."""
        self._step()
        if not _small(value):
            entry = self._known.get(id(value))
            if entry is None:
                self._know(value, origin)
            else:
                origin = entry[1]
        self._here.origins[number] = origin
        return value

    def _part(self, container: object, key: object, origin: Origin) -> Origin:
        """The origin of what a container with that origin holds at a key."""
        own = self._parts.get(id(container))
        if own is not None and _hashable(key) and key in own:
            return own[key]
        if origin and origin[0][2] == EXACT and isinstance(container, (dict, list, str, type(None))):
            call, path, _ = origin[0]
            if isinstance(key, int) and isinstance(container, list) and key < 0:
                key += len(container)
            if not isinstance(key, slice):
                return ((call, (*path, key), EXACT), *origin[1:])
        return _made(origin)

    def _blame(self, error: BaseException, *operands: tuple[Origin, object]) -> None:
        """Note what an exception rests on, unless that is known from deeper inside."""
        if id(error) not in self._faults:
            self._faults[id(error)] = (error, [origin for origin, _ in operands if origin])

    # Expressions

    def name(self, number: int, value: object, shadow: Origin) -> Any:
        """A variable."""
        return self._note(number, value, shadow)

    def same(self, number: int, inner: int, value: object, *rest: object) -> Any:
        """`(name := value)`."""
        return self._note(number, value, self._of(inner, value))

    def guarded(self, number: int, inner: int, value: object) -> Any:
        """What a guard gave."""
        return self._note(number, value, _made(self._here.origins.get(inner, _NONE)))

    def attribute(self, number: int, inner: int, value: object, name: str) -> Any:
        """`value.name`."""
        origin = self._of(inner, value)
        try:
            member = getattr(value, name)
        except BaseException as error:
            self._blame(error, (origin, value))
            raise
        call = answered_by(value)
        if call is not None and not callable(member):
            return self._note(number, member, ((call, (), MADE),))
        if isinstance(member, (BuiltinMethodType, MethodType, MethodWrapperType)):
            self._here.origins[number] = origin
            return member
        own = self._parts.get(id(value), {})
        return self._note(number, member, own.get(f".{name}", _made(origin)))

    def item(self, number: int, of_value: int, of_key: int, value: Any, key: object) -> Any:
        """`value[key]`."""
        origin = self._of(of_value, value)
        try:
            element = value[key]
        except BaseException as error:
            self._blame(error, *self._missing(error, value, origin, self._of(of_key, key), key))
            raise
        return self._note(number, element, self._part(value, key, origin))

    def _missing(
        self, error: BaseException, value: object, origin: Origin, of_key: Origin, key: object
    ) -> list[tuple[Origin, object]]:
        """What a failed access rests on: a container that the program wrote down itself is as it should be."""
        if id(value) in self._displays and isinstance(error, (KeyError, IndexError)):
            return [(of_key, key)]
        operands = [(origin, value), (of_key, key)]
        return operands if key else operands[::-1] if of_key else operands

    def slice(self, *parts: Any) -> Any:
        """`a:b:c` in brackets."""
        return slice(*parts)

    def binary(self, number: int, name: str, of_left: int, of_right: int, left: Any, right: Any) -> Any:
        """An operator with two operands."""
        first, second = self._of(of_left, left), self._of(of_right, right)
        try:
            result = _OPERATORS[name](left, right)
        except BaseException as error:
            operands = [(first, left), (second, right)]
            if isinstance(error, ZeroDivisionError):
                operands = operands[1:]
            else:
                operands.sort(key=lambda operand: _badness(operand[1]))
            self._blame(error, *operands)
            raise
        if name.startswith("i") and result is left and not _small(result):
            self._known[id(result)] = (result, _merged(first, _made(second)))
            self._displays.discard(id(result))
        return self._note(number, result, _made(_merged(first, second)))

    def unary(self, number: int, name: str, inner: int, value: Any) -> Any:
        """An operator with one operand."""
        origin = self._of(inner, value)
        try:
            result = getattr(operator, name)(value)
        except BaseException as error:
            self._blame(error, (origin, value))
            raise
        return self._note(number, result, _made(origin))

    def forget(self, numbers: tuple[int, ...]) -> None:
        """These expressions may not be evaluated."""
        for number in numbers:
            self._here.origins.pop(number, None)

    def chosen(self, number: int, numbers: tuple[int, ...], value: object) -> Any:
        """One of several expressions."""
        return self._note(
            number, value, _merged(*(self._here.origins.get(inner, _NONE) for inner in reversed(numbers)))
        )

    def derived(self, number: int, numbers: tuple[int, ...], value: object) -> Any:
        """What was made from other expressions."""
        return self._note(number, value, _made(_merged(*(self._here.origins.get(inner, _NONE) for inner in numbers))))

    def formatted(self, number: int, value: Any, conversion: int, spec: str) -> str:
        """A field of an f-string."""
        try:
            if conversion != -1:
                value = str(value) if conversion == 115 else repr(value) if conversion == 114 else ascii(value)
            return format(value, spec)
        except BaseException as error:
            self._blame(error, (self._of(number, value), value))
            raise

    def sequence(self, number: int, numbers: tuple[int, ...], value: Any) -> Any:
        """`[a, b]`, `(a, b)`, `{a, b}`."""
        origins = [self._here.origins.get(inner, _NONE) if inner > 0 else _NONE for inner in numbers]
        if type(value) is not set and -1 not in numbers:
            self._parts[id(value)] = dict(enumerate(origins))
        self._displays.add(id(value))
        return self._note_new(number, value, _made(_merged(*origins)))

    def mapping(self, number: int, of_keys: tuple[int, ...], of_values: tuple[int, ...], value: dict[Any, Any]) -> Any:
        """`{key: value}`."""
        origins = [self._here.origins.get(inner, _NONE) if inner > 0 else _NONE for inner in of_values]
        if -1 not in of_keys and len(value) == len(origins):
            self._parts[id(value)] = dict(zip(value, origins, strict=True))
            if not any(of_keys):
                self._displays.add(id(value))
        return self._note_new(number, value, _made(_merged(*origins)))

    def _note_new(self, number: int, value: object, origin: Origin) -> Any:
        """Like `_note` for a container that was made just now; it is kept, so that its identity stays its own."""
        self._known[id(value)] = (value, origin)
        self._here.origins[number] = origin
        return value

    # Comprehensions

    def each(self, number: int, spec: object, iterable: Any) -> Iterator[tuple[object, object]]:
        """The items of a loop, each with its origin, or with those of its parts in the shape of `spec`."""
        origin = self._of(number, iterable)
        try:
            source = iter(iterable)
        except BaseException as error:
            self._blame(error, (origin, iterable))
            raise
        mapping = _mapping(iterable)
        keys = list(mapping) if mapping is not None else []
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
            item_origin = _made(origin)
            last, of_last = self._here.yielded
            if type(iterable) is GeneratorType and last is item:
                item_origin = of_last or item_origin
            if mapping is not None and index < len(keys):
                item_origin = self._part(mapping, keys[index], origin)
                if type(iterable) is _VIEWS[2]:
                    self._parts[id(item)] = {0: _made(origin), 1: self._identity(mapping.get(keys[index]), item_origin)}
                    self._known[id(item)] = (item, _made(origin))
            elif isinstance(iterable, (list, tuple)) or id(iterable) in self._parts:
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

    def _identity(self, value: object, otherwise: Origin) -> Origin:
        entry = None if _small(value) else self._known.get(id(value))
        return entry[1] if entry is not None else otherwise

    def begin(self, number: int) -> None:
        """A comprehension begins."""
        self._here.collected[number] = []

    def key(self, number: int, inner: int, value: object) -> Any:
        """A key of a comprehension."""
        self._here.keys[number] = (value, self._of(inner, value))
        return value

    def element(self, number: int, inner: int, value: object) -> Any:
        """An element of a comprehension."""
        origin = self._of(inner, value)
        self._know(value, origin)
        self._here.yielded = (value, origin)
        self._here.collected.setdefault(number, []).append((self._here.keys.get(number, (None, _NONE))[0], origin))
        return value

    def comprehension(self, number: int, iterables: tuple[int, ...], value: object) -> Any:
        """A comprehension is complete, or a generator is made."""
        elements = self._here.collected.pop(number, [])
        origin = _merged(*(self._here.origins.get(inner, _NONE) for inner in iterables))
        if type(value) is list and len(value) == len(elements):
            self._parts[id(value)] = {index: item_origin for index, (_, item_origin) in enumerate(elements)}
        elif type(value) is dict:
            self._parts[id(value)] = {key: item_origin for key, item_origin in elements if _hashable(key)}
        return self._note_new(
            number, value, _made(_merged(*(item_origin for _, item_origin in elements[:MOST]), origin))
        )

    # Calls

    def call(
        self,
        number: int,
        of_func: int,
        numbers: tuple[int, ...],
        keywords: tuple[tuple[str | None, int], ...],
        func: Any,
        /,
        *args: Any,
        **named: Any,
    ) -> Any:
        """`func(…)`."""
        here = self._here
        receiver = getattr(func, "__self__", None) if not isinstance(func, type) else None
        of_receiver = self._of(of_func, receiver) if receiver is not None else here.origins.get(of_func, _NONE)
        plain = -1 not in numbers and len(numbers) == len(args)
        arg_origins = tuple(self._of(numbers[i] if plain else 0, arg) for i, arg in enumerate(args))
        by_name = {name: self._of(dict(keywords).get(name, 0), value) for name, value in named.items()}
        everything = _merged(*arg_origins, *by_name.values())
        code, skipped = _code_of(func)
        if func is print or (receiver is sys.stdout and func.__name__ == "write"):
            self.printed.append(everything or _decided(here.controls))
        results: dict[object, Origin] = {}
        if isinstance(receiver, ThreadPoolExecutor) and plain and args and func.__name__ in ("submit", "map"):
            args = self._in_threads(func.__name__, args, arg_origins, by_name, results)
        saved = here.origins, here.controls, here.collected, here.keys
        here.origins, here.controls, here.collected, here.keys = {}, [], {}, {}
        here.yielded = (None, _NONE)
        outer_calls, here.calls = here.calls, []
        here.result = None
        here.pending = (code, (_NONE,) * skipped + arg_origins, by_name, _made(_merged(of_receiver, everything)))
        try:
            result = func(*args, **named)
            controls = here.controls
        except BaseException as error:
            own = code is not None and isinstance(error, TypeError) and _is_own_mistake(error)
            operands = [(of_receiver, receiver), *zip(arg_origins, args, strict=True)]
            operands += [(by_name[name], value) for name, value in named.items()]
            operands.sort(key=lambda operand: _badness(operand[1]))
            if any(type(arg) is GeneratorType for arg in args):  # it failed on what it was given last
                operands.insert(0, here.yielded[::-1])
            if isinstance(error, SystemExit):
                operands = [*((origin, None) for origin in reversed(saved[1])), *operands]
            if (failed := answered_by(error)) is not None:
                if answered_by(receiver) is None:
                    self._asked_for(failed, arg_origins, by_name, args, named)
                self._blame(error, (((failed, (), EXACT),), None))
            self._blame(error, *([] if own else operands))
            raise
        finally:
            here.origins, here.controls, here.collected, here.keys = saved
            calls, here.calls = here.calls, outer_calls
            here.calls += calls
            here.pending = None
        returned, here.result = here.result, None
        if (answered := answered_by(result)) is not None:
            calls.append(answered)
        for index in calls:
            self._asked_for(index, arg_origins, by_name, args, named)
        origin = self._result_of(func, receiver, of_receiver, arg_origins, by_name, args, named, result, calls)
        if code is not None and not isinstance(func, type):
            if returned is not None and returned[0] is result:
                origin = returned[1]
            elif type(result) is GeneratorType:
                self._late.setdefault(code, []).append(((_NONE,) * skipped + arg_origins, by_name, _made(everything)))
            elif result is None:
                origin = _decided(controls)
        if isinstance(receiver, ThreadPoolExecutor):
            self._parts[id(result)] = results  # filled by the threads
            return self._note_new(number, result, origin)
        return self._note(number, result, origin)

    def _in_threads(
        self,
        name: str,
        args: tuple[Any, ...],
        arg_origins: tuple[Origin, ...],
        by_name: dict[str, Origin],
        results: dict[object, Origin],
    ) -> tuple[Any, ...]:
        """The arguments of a pool's `submit` or `map`, such that its threads know where theirs come from, and tell
        where each result does."""
        func = args[0]

        def run(place: object, *pairs: tuple[Any, Origin], **named: Any) -> object:
            here = self._here
            origins = [origin for _, origin in pairs]
            here.origins = dict(enumerate([*origins, *(by_name.get(keyword, _NONE) for keyword in named)], 1))
            numbers = tuple(range(1, len(pairs) + 1))
            keywords = tuple((keyword, len(pairs) + index) for index, keyword in enumerate(named, 1))
            number = len(pairs) + len(named) + 1
            result = self.call(number, 0, numbers, keywords, func, *(value for value, _ in pairs), **named)
            results[place] = here.origins.get(number, _NONE)
            return result

        run.__name__ = tasks.name_of(func)  # a task keeps its name, by which its calls find their replies
        if name == "submit":
            return (run, "result", *zip(args[1:], arg_origins[1:], strict=True))
        paired = []
        for origin, iterable in zip(arg_origins[1:], args[1:], strict=True):
            paired.append(
                [(item, self._identity(item, item_origin)) for item, item_origin in self._pairs(origin, iterable)]
            )
        return (run, itertools.count(), *paired)

    def _pairs(self, origin: Origin, iterable: Any) -> Iterator[tuple[object, Origin]]:
        for index, item in enumerate(iterable):
            is_sequence = isinstance(iterable, (list, tuple))
            yield item, self._part(iterable, index, origin) if is_sequence else _made(origin)

    def _asked_for(
        self,
        index: int,
        arg_origins: tuple[Origin, ...],
        by_name: dict[str, Origin],
        args: tuple[Any, ...],
        named: dict[str, Any],
    ) -> None:
        """Note where the arguments of a call come from, unless a call deeper inside has done so."""
        if index in self.arguments:
            return
        origins: dict[str, Origin] = {str(i): origin for i, origin in enumerate(arg_origins)}
        origins.update(by_name)
        for name, value in (*((str(i), arg) for i, arg in enumerate(args)), *named.items()):
            if isinstance(value, dict) and name in ("params", "json", "data", "1", "2"):
                inside = self._parts.get(id(value), {})
                for key, part in value.items():
                    origins[f"{name}.{key}"] = self._identity(part, inside.get(key, _NONE))
        self.arguments[index] = origins

    def _result_of(
        self,
        func: Any,
        receiver: Any,
        of_receiver: Origin,
        arg_origins: tuple[Origin, ...],
        by_name: dict[str, Origin],
        args: tuple[Any, ...],
        named: dict[str, Any],
        result: Any,
        calls: list[int],
    ) -> Origin:
        here, name = self._here, getattr(func, "__name__", "")
        if getattr(func, "__module__", None) == "tools" and calls:
            return ((calls[-1], (), EXACT),)
        index = answered_by(result)
        if index is not None:
            self._known[id(result)] = (result, ((index, (), EXACT),))
            return ((index, (), EXACT),)
        index = answered_by(receiver)
        if index is not None:
            if name == "json":
                self._know_tree(result, index, ())
            return ((index, (), EXACT if name == "json" else MADE),)
        if func is _LOADS and arg_origins and len(arg_origins[0]) == 1:
            self._know_tree(result, arg_origins[0][0][0], arg_origins[0][0][1])
            return ((arg_origins[0][0][0], arg_origins[0][0][1], EXACT),)
        if func is print:
            return _NONE
        if isinstance(receiver, dict) and name in ("get", "pop", "setdefault") and args:
            item_origin = self._part(receiver, args[0], of_receiver)
            absent = len(args) > 1 and args[0] not in receiver
            return _merged(arg_origins[1], _weak(item_origin)) if absent else item_origin
        if type(result) in _VIEWS:
            return of_receiver
        if func is next and args and type(args[0]) is GeneratorType and here.yielded[0] is result:
            return here.yielded[1]
        if isinstance(receiver, Future) and name == "result":
            return self._parts.get(id(receiver), {}).get("result", _made(of_receiver))
        if func in (list, tuple) and len(args) == 1 and id(args[0]) in self._parts:
            self._parts[id(result)] = self._parts[id(args[0])]
        if isinstance(receiver, list) and name == "pop":
            return _made(of_receiver)
        if (name in _CHANGES and isinstance(receiver, (list, dict, set))) or name == "appendleft":
            self._changed(receiver, of_receiver, name, arg_origins, args)
            return _NONE
        if isinstance(func, type):
            self._fields(func, result, arg_origins, by_name)
        return _made(_merged(of_receiver, *arg_origins, *by_name.values()))

    def _changed(
        self, receiver: Any, of_receiver: Origin, name: str, arg_origins: tuple[Origin, ...], args: tuple[Any, ...]
    ) -> None:
        """A container got something more."""
        if name == "append" and type(receiver) is list and arg_origins:
            self._parts.setdefault(id(receiver), {})[len(receiver) - 1] = arg_origins[0]
        self._displays.discard(id(receiver))
        self._known[id(receiver)] = (receiver, _merged(_made(of_receiver), *(_made(origin) for origin in arg_origins)))

    def _fields(
        self, kind: type, instance: object, arg_origins: tuple[Origin, ...], by_name: dict[str, Origin]
    ) -> None:
        """What a dataclass or a named tuple was made from lies in its fields."""
        fields = getattr(kind, "__dataclass_fields__", None) or getattr(kind, "_fields", None)
        if not fields or (guards.is_own_class(kind) is False and not hasattr(kind, "_fields")):
            return
        places = {**dict(zip(fields, arg_origins, strict=False)), **by_name}
        parts = self._parts.setdefault(id(instance), {})
        parts.update({f".{name}": origin for name, origin in places.items()})
        if hasattr(kind, "_fields"):
            parts.update({index: places.get(name, _NONE) for index, name in enumerate(fields)})
        self._known.setdefault(id(instance), (instance, _made(_merged(*places.values()))))

    def entered(self, positional: tuple[str, ...], parameters: tuple[str, ...]) -> tuple[Origin, ...]:
        """The origins of a function's arguments, at its beginning."""
        code = sys._getframe(1).f_code
        pending, self._here.pending = self._here.pending, None
        if pending is not None and pending[0] is code:
            arg_origins, by_name, everything = pending[1:]
        elif self._late.get(code):
            arg_origins, by_name, everything = self._late[code].pop(0)
        else:  # called by another function: of its arguments, or of what they hold
            rest = pending[3] if pending is not None else _NONE
            return tuple(rest for _ in parameters)
        places = dict(zip(positional, arg_origins, strict=False))
        return tuple(
            places.get(name, by_name.get(name, everything if name not in positional else _NONE)) for name in parameters
        )

    def returned(self, inner: int, value: object) -> Any:
        """`return value`."""
        origin = self._of(inner, value)
        if not origin and not value:
            origin = _decided(self._here.controls)
        self._here.result = (value, origin)
        self._know(value, origin)
        return value

    def yielded(self, inner: int, value: object) -> Any:
        """`yield value`."""
        origin = self._of(inner, value)
        self._know(value, origin)
        self._here.yielded = (value, origin)
        return value

    # Statements

    def take(self, number: int, in_handler: bool = False) -> Origin:
        """The origin of what was just evaluated, for a shadow."""
        origin = self._here.origins.get(number, _NONE) if number > 0 else _NONE
        return origin or (_decided(self._here.controls[-1:]) if in_handler else _NONE)

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
        origin = self._here.origins.get(number, _NONE)
        if len(path) == 1 and path[0] >= 0:
            return self._parts.get(-number, {}).get(path[0], origin)
        return _made(origin)

    def set_item(self, number: int, of_container: int, of_key: int, value: Any, container: Any, key: Any) -> None:
        """`container[key] = value`."""
        origin = self._of(number, value)
        try:
            container[key] = value
        except BaseException as error:
            self._blame(error, (self._of(of_container, container), container), (self._of(of_key, key), key))
            raise
        if _hashable(key):
            self._parts.setdefault(id(container), {})[key] = origin
        of_keys = self._of(of_key, key)
        if of_keys:
            self._displays.discard(id(container))
        old_origin = self._known.get(id(container), (container, _NONE))[1]
        self._known[id(container)] = (container, _merged(old_origin, _made(origin), _made(of_keys)))

    def change_item(
        self, name: str, of_container: int, of_key: int, of_value: int, container: Any, key: Any, value: Any
    ) -> None:
        """`container[key] += value`."""
        old = self.item(-1, of_container, of_key, container, key)
        self._here.origins[-2] = self._of(of_value, value)
        new = self.binary(-3, name, -1, -2, old, value)
        origin = self._here.origins.get(-3, _NONE)
        self.set_item(0, of_container, of_key, new, container, key)
        if _hashable(key):
            self._parts.setdefault(id(container), {})[key] = _merged(origin, self._of(of_value, value))

    def set_attribute(self, number: int, holder: object, name: str) -> None:
        """`holder.name = …` was done."""
        origin = self._here.origins.get(number, _NONE) if number > 0 else _NONE
        self._parts.setdefault(id(holder), {})[f".{name}"] = origin
        self._known.setdefault(id(holder), (holder, _NONE))

    def change_attribute(
        self, name: str, of_holder: int, of_value: int, holder: Any, attribute: str, value: Any
    ) -> None:
        """`holder.attribute += value`."""
        old = self.attribute(-1, of_holder, holder, attribute)
        self._here.origins[-2] = self._of(of_value, value)
        new = self.binary(-3, name, -1, -2, old, value)
        setattr(holder, attribute, new)
        self._parts.setdefault(id(holder), {})[f".{attribute}"] = self._here.origins.get(-3, _NONE)

    def test(self, number: int, value: object) -> Any:
        """What an `if` or `while` decides by, or a `for` goes through."""
        self._step()
        self._here.controls.append(self._of(number, value))
        return value

    def weakened(self, number: int, old: Callable[[], Origin]) -> Origin:
        """The shadow of a variable that may be set where this expression decides."""
        try:
            old_origin = old()
        except NameError:
            old_origin = _NONE
        return _merged(old_origin, _weak(self._here.origins.get(number, _NONE)))

    def weaken(self, number: int, held: Callable[[], object]) -> None:
        """The same for an object that may be changed there."""
        try:
            value = held()
        except NameError:
            return
        if not _small(value):
            old_origin = self._known.get(id(value), (value, _NONE))[1]
            self._known[id(value)] = (value, _merged(old_origin, _weak(self._here.origins.get(number, _NONE))))
            if type(value) in (list, dict, set):
                self._displays.discard(id(value))

    def handled(self) -> None:
        """An exception is being handled: what follows was decided by what it rests on."""
        fault = self._faults.get(id(sys.exc_info()[1]))
        self._here.controls.append(_merged(*fault[1]) if fault is not None else _NONE)

    def raising(self, number: int, error: Any) -> Any:
        """`raise error`: it rests on what decided that it is raised, then on what it says."""
        if isinstance(error, type):
            error = error()
        if isinstance(error, BaseException):
            controls = [(origin, None) for origin in reversed(self._here.controls)]
            self._blame(error, *controls, (self._here.origins.get(number, _NONE), None))
        return error


_CHANGES = frozenset({"append", "add", "extend", "insert", "update", "appendleft"})


def _small(value: object) -> bool:
    """Whether equal values may be one and the same object."""
    kind = type(value)
    if kind is int:
        return -6 < value < 257  # type: ignore[operator]
    if kind is str or kind is bytes:
        return len(value) < 2  # type: ignore[arg-type]
    if kind is tuple or kind is frozenset:
        return not value
    return value is None or kind is bool or kind in (type, FunctionType, BuiltinFunctionType, type(...))


def _hashable(key: object) -> bool:
    return type(key) in (str, int, bool, float, type(None), tuple)


def _merged(*origins: Origin) -> Origin:
    by_place: dict[tuple[int, tuple[object, ...]], Source] = {}
    for origin in origins:
        for source in origin:
            place = source[:2]
            if place not in by_place or by_place[place][2] < source[2]:
                by_place.setdefault(place, source)
    return tuple(by_place.values())[:MOST]


def _made(origin: Origin) -> Origin:
    return tuple((call, path, min(strength, MADE)) for call, path, strength in origin)


def _weak(origin: Origin) -> Origin:
    return tuple((call, path, DECIDED) for call, path, _ in origin)


def _decided(controls: list[Origin]) -> Origin:
    return _weak(_merged(*reversed(controls)))


def _ranked(origins: list[Origin]) -> list[Source]:
    """All sources: those of the first operand first, in it what decided last."""
    by_place: dict[tuple[int, tuple[object, ...]], Source] = {}
    for weak in (False, True):
        for origin in origins:
            for source in origin:
                if (source[2] == DECIDED) is weak:
                    by_place.setdefault(source[:2], source)
    return list(by_place.values())


def _badness(value: object) -> int:
    """How likely a value is what an operation failed on: nothing, an empty one, a text, anything else."""
    if value is None:
        return 0
    if isinstance(value, (str, list, dict, tuple, set)) and not value:
        return 1
    return 2 if isinstance(value, str) else 3


def _code_of(func: Any) -> tuple[object, int]:
    """The code of the program's function that a call enters, and how many arguments it puts before those given."""
    if type(func) is FunctionType and func.__module__ == guards.OWN:
        return func.__code__, 0
    if type(func) is MethodType and type(func.__func__) is FunctionType and func.__func__.__module__ == guards.OWN:
        return func.__func__.__code__, 1
    if isinstance(func, type) and func.__module__ == guards.OWN:
        init = getattr(func, "__init__", None)
        if type(init) is FunctionType and init.__module__ == guards.OWN:
            return init.__code__, 1
    return None, 0


def _is_own_mistake(error: TypeError) -> bool:
    """Whether a function of the program was called with other arguments than it has."""
    text = str(error)
    return "positional argument" in text or "keyword argument" in text or "multiple values" in text


def _mapping(iterable: object) -> dict[Any, Any] | None:
    """The dict whose values or items these are."""
    if type(iterable) not in _VIEWS[1:]:
        return None
    return next((referent for referent in gc.get_referents(iterable) if isinstance(referent, dict)), None)
