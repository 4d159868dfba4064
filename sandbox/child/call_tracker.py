"""Follows values through calls: into functions and threads, and out of them. Loaded in the child only."""

from __future__ import annotations

import itertools
import json
import sys
from concurrent.futures import Future
from concurrent.futures.thread import ThreadPoolExecutor
from types import FunctionType, GeneratorType, MethodType
from typing import NamedTuple

from sandbox.child.origins import EXACT, MADE, NO_ORIGIN, Origin, OriginStore, decided, made, merged, weak
from sandbox.language import guards
from sandbox.language.shims import tasks
from sandbox.language.shims.tasks import call_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CallTracker", "suspicion"]

_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_LOADS = json.loads
_CHANGES = frozenset({"append", "add", "extend", "insert", "update"})


class _TrackedCall(NamedTuple):
    """A call that is being made: the function and its receiver, the arguments, and the origins of all of them."""

    func: Any
    receiver: Any
    of_receiver: Origin
    args: tuple[Any, ...]
    arg_origins: tuple[Origin, ...]
    named: dict[str, Any]
    by_name: dict[str, Origin]


class CallTracker(OriginStore):
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
        here = self._here
        receiver = getattr(func, "__self__", None) if not isinstance(func, type) else None
        of_receiver = self._of(of_func, receiver) if receiver is not None else here.origins.get(of_func, NO_ORIGIN)
        plain = -1 not in numbers and len(numbers) == len(args)
        arg_origins = tuple(self._of(numbers[i] if plain else 0, arg) for i, arg in enumerate(args))
        by_name = {name: self._of(dict(keywords).get(name, 0), value) for name, value in named.items()}
        everything = merged(*arg_origins, *by_name.values())
        code, skipped = _code_of(func)
        if func is print or (receiver is sys.stdout and func.__name__ == "write"):
            self.printed.append(everything or decided(here.controls))
        results: dict[object, Origin] = {}
        if isinstance(receiver, ThreadPoolExecutor) and plain and args and func.__name__ in ("submit", "map"):
            args = self._in_threads(func.__name__, args, arg_origins, by_name, results)
        call = _TrackedCall(func, receiver, of_receiver, args, arg_origins, named, by_name)
        saved = here.origins, here.controls, here.collected
        here.origins, here.controls, here.collected = {}, [], {}
        here.yielded = (None, NO_ORIGIN)
        outer_calls, here.calls = here.calls, []
        here.result = None
        entered = (NO_ORIGIN,) * skipped + arg_origins
        here.pending = (code, entered, by_name, made(merged(of_receiver, everything)))
        try:
            result = func(*args, **named)
            controls = here.controls
        except BaseException as error:
            self._blame_call(error, call, code, saved[1])
            raise
        finally:
            here.origins, here.controls, here.collected = saved
            calls, here.calls = here.calls, outer_calls
            here.calls += calls
            here.pending = None
        returned, here.result = here.result, None
        origin = self._result_of(call, result, calls)
        if code is not None and not isinstance(func, type):
            if returned is not None and returned[0] is result:
                origin = returned[1]
            elif result is None:
                origin = decided(controls)
        if isinstance(receiver, ThreadPoolExecutor):
            self._parts[id(result)] = results  # filled by the threads
            return self._note_new(number, result, origin)
        return self._note(number, result, origin)

    def _blame_call(self, error: BaseException, call: _TrackedCall, code: object, controls: list[Origin]) -> None:
        """Note what the exception of a call rests on: the reply that it is, else the most suspicious operand."""
        operands = [(call.of_receiver, call.receiver), *zip(call.arg_origins, call.args, strict=True)]
        operands += [(call.by_name[name], value) for name, value in call.named.items()]
        operands.sort(key=lambda operand: suspicion(operand[1]))
        if any(type(arg) is GeneratorType for arg in call.args):  # it failed on what it was given last
            operands.insert(0, self._here.yielded[::-1])
        if isinstance(error, SystemExit):
            operands = [*((origin, None) for origin in reversed(controls)), *operands]
        if (index := call_index(error)) is not None:
            if call_index(call.receiver) is None:
                self._record_arguments(index, call)
            self._blame(error, (((index, (), EXACT),), None))
        own = code is not None and isinstance(error, TypeError) and _is_own_mistake(error)
        self._blame(error, *([] if own else operands))

    def _in_threads(
        self,
        name: str,
        args: tuple[Any, ...],
        arg_origins: tuple[Origin, ...],
        by_name: dict[str, Origin],
        results: dict[object, Origin],
    ) -> tuple[Any, ...]:
        """The arguments for a pool's `submit` or `map` whose threads know the origins of theirs.

        The threads put the origin of each result into `results`.
        """
        func = args[0]

        def run(place: object, *pairs: tuple[Any, Origin], **named: Any) -> object:
            here = self._here
            origins = [origin for _, origin in pairs]
            here.origins = dict(enumerate([*origins, *(by_name.get(keyword, NO_ORIGIN) for keyword in named)], 1))
            numbers = tuple(range(1, len(pairs) + 1))
            keywords = tuple((keyword, len(pairs) + index) for index, keyword in enumerate(named, 1))
            number = len(pairs) + len(named) + 1
            result = self.call(number, 0, numbers, keywords, func, *(value for value, _ in pairs), **named)
            results[place] = here.origins.get(number, NO_ORIGIN)
            return result

        run.__name__ = tasks.name_of(func)  # a task keeps its name, by which its calls find their replies
        if name == "submit":
            return (run, "result", *zip(args[1:], arg_origins[1:], strict=True))
        paired = []
        for origin, iterable in zip(arg_origins[1:], args[1:], strict=True):
            paired.append([(item, self._identity(item, made(origin))) for item in iterable])
        return (run, itertools.count(), *paired)

    def _record_arguments(self, index: int, call: _TrackedCall) -> None:
        """Note the origins of the arguments of an API call, unless a call deeper inside has done so."""
        if index in self.arguments:
            return
        origins: dict[str, Origin] = {str(i): origin for i, origin in enumerate(call.arg_origins)}
        origins.update(call.by_name)
        for name, value in (*((str(i), arg) for i, arg in enumerate(call.args)), *call.named.items()):
            if isinstance(value, dict) and name in ("params", "json", "data", "1", "2"):
                inside = self._parts.get(id(value), {})
                for key, part in value.items():
                    origins[f"{name}.{key}"] = self._identity(part, inside.get(key, NO_ORIGIN))
        self.arguments[index] = origins

    def _result_of(self, call: _TrackedCall, result: Any, calls: list[int]) -> Origin:
        """The origin of a result; `calls` are the API calls that were made meanwhile."""
        answered = call_index(result)
        if answered is not None:
            calls = [*calls, answered]
        for api_call in calls:
            self._record_arguments(api_call, call)
        name = getattr(call.func, "__name__", "")
        if getattr(call.func, "__module__", None) == "tools" and calls:
            return ((calls[-1], (), EXACT),)
        if answered is not None:
            self._by_identity[id(result)] = (result, ((answered, (), EXACT),))
            return ((answered, (), EXACT),)
        index = call_index(call.receiver)
        if index is not None:
            if name == "json":
                self._remember_tree(result, index, ())
            return ((index, (), EXACT if name == "json" else MADE),)
        if call.func is _LOADS and call.arg_origins and len(call.arg_origins[0]) == 1:
            source, path, _ = call.arg_origins[0][0]
            self._remember_tree(result, source, path)
            return ((source, path, EXACT),)
        if call.func is print:
            return NO_ORIGIN
        return self._result_of_library(call, name, result)

    def _result_of_library(self, call: _TrackedCall, name: str, result: Any) -> Origin:
        """The origin of what a builtin, a method of a container or a class gave."""
        func, receiver, args = call.func, call.receiver, call.args
        if isinstance(receiver, dict) and name in ("get", "pop", "setdefault") and args:
            item_origin = self._part(receiver, args[0], call.of_receiver)
            absent = len(args) > 1 and args[0] not in receiver
            return merged(call.arg_origins[1], weak(item_origin)) if absent else item_origin
        if type(result) in _VIEWS:
            return call.of_receiver
        if isinstance(receiver, Future) and name == "result":
            return self._parts.get(id(receiver), {}).get("result", made(call.of_receiver))
        if func in (list, tuple) and len(args) == 1 and id(args[0]) in self._parts:
            self._parts[id(result)] = self._parts[id(args[0])]
        if isinstance(receiver, list) and name == "pop":
            return made(call.of_receiver)
        if (name in _CHANGES and isinstance(receiver, (list, dict, set))) or name == "appendleft":
            parts = (made(origin) for origin in call.arg_origins)
            self._by_identity[id(receiver)] = (receiver, merged(made(call.of_receiver), *parts))
            return NO_ORIGIN
        return made(merged(call.of_receiver, *call.arg_origins, *call.by_name.values()))

    def entered(self, positional: tuple[str, ...], parameters: tuple[str, ...]) -> tuple[Origin, ...]:
        code = sys._getframe(1).f_code
        pending, self._here.pending = self._here.pending, None
        if pending is not None and pending[0] is code:
            arg_origins, by_name, everything = pending[1:]
        else:  # called by another function: of its arguments, or of what they hold
            rest = pending[3] if pending is not None else NO_ORIGIN
            return tuple(rest for _ in parameters)
        places = dict(zip(positional, arg_origins, strict=False))
        return tuple(
            places.get(name, by_name.get(name, everything if name not in positional else NO_ORIGIN))
            for name in parameters
        )

    def returned(self, inner: int, value: object) -> Any:
        origin = self._of(inner, value)
        if not origin and not value:
            origin = decided(self._here.controls)
        self._here.result = (value, origin)
        self._remember(value, origin)
        return value


def suspicion(value: object) -> int:
    """A rank of the values that an operation may have failed on: None first, then empty ones, texts, all others."""
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
    text = str(error)
    return "positional argument" in text or "keyword argument" in text or "multiple values" in text
