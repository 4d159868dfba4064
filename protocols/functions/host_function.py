"""One function of this process as a tool calls it: JSON values by argument name in, a JSON value out."""

from __future__ import annotations

import ast
import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, ClassVar

from protocols.functions.docstrings import Docstring
from protocols.functions.hints import Hint
from protocols.functions.prints import stdout_to_stderr
from protocols.functions.values import NotJSONError, ValueClass, default_json, encode

__all__ = ["ArgumentError", "FunctionCallError", "HostFunction", "ResultError"]


class ArgumentError(TypeError):
    """An argument is none that the function takes; the message names it."""


class ResultError(TypeError):
    """The result of a function has no form in JSON."""


class _Code(str):
    """A text that shows as it is where values are shown by their `repr`."""

    __slots__ = ()
    __repr__ = str.__str__


class FunctionCallError(Exception):
    """The exception that a function raised: the name of its class, those of the builtin ones it is, its message."""

    def __init__(self, error: BaseException) -> None:
        try:
            message = str(error)
        except Exception:  # a mistake in the exception's own class
            message = "an exception without a message"
        super().__init__(message)
        self.type = type(error).__name__
        self.bases = tuple(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


@dataclass(frozen=True, slots=True, eq=False)
class HostFunction:
    """A function behind a tool.

    `name` is how a program calls it, `namespace.name` where it belongs to an object. `hints` are by argument; of a
    variadic one, that of all its values together. `classes` are the value classes of the protocol. `made` is the class
    that the function constructs, for a value class. Calls of one protocol take turns, by `turn`. With `to_stderr` what
    it prints goes there. `remote` is True for a tool of another process.
    """

    remote: ClassVar[bool] = False
    name: str
    function: Callable[..., object]
    signature: inspect.Signature
    hints: Mapping[str, Hint]
    result: Hint
    document: Docstring
    place: str
    reads: bool
    classes: Mapping[type, ValueClass]
    made: ValueClass | None = None
    turn: RLock = field(default_factory=RLock, repr=False)
    to_stderr: bool = False

    @property
    def kinds(self) -> Mapping[str, inspect._ParameterKind]:
        """How each argument may be given."""
        return {name: parameter.kind for name, parameter in self.signature.parameters.items()}

    @property
    def usage(self) -> str:
        """The call without hints: `worksheet.update(cell, value, *, raw=False)`."""
        empty = inspect.Parameter.empty
        parameters = [
            p.replace(annotation=empty, default=p.default if p.default is empty else _Code(self._default(name)))
            for name, p in self.signature.parameters.items()
        ]
        return f"{self.name}{inspect.Signature(parameters)}"

    @property
    def typed_usage(self) -> str:
        """The call with hints: `worksheet.update(cell: str, value: int | str, *, raw: bool = False) -> int`."""
        return f"{self.typed_call} -> {self.returns}" if self.returns else self.typed_call

    @property
    def returns(self) -> str:
        """The hint of the result; empty for none, and for a value class."""
        return "" if self.made is not None or self.result.text == "None" else self.result.text

    @property
    def typed_call(self) -> str:
        """The call with the hints of its arguments."""
        types, kinds = {}, self.kinds
        for name, hint in self.hints.items():
            variadic = {"VAR_POSITIONAL": "list[", "VAR_KEYWORD": "dict[str, "}.get(kinds[name].name)
            types[name] = hint.text if variadic is None else hint.text.removeprefix(variadic).removesuffix("]")
        return f"{self.name}({self.written(types)})"

    def written(self, types: Mapping[str, str], default: str = "") -> str:
        """The parameters with these types; `default` stands for every default value, each is written without it."""
        parts: list[str] = []
        before = ""
        for name, parameter in self.signature.parameters.items():
            kind = parameter.kind.name
            if before == "POSITIONAL_ONLY" != kind:
                parts.append("/")
            if kind == "KEYWORD_ONLY" and before not in ("KEYWORD_ONLY", "VAR_POSITIONAL"):
                parts.append("*")
            stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(kind, "")
            value = "" if parameter.default is parameter.empty else f" = {default or self._default(name)}"
            parts.append(f"{stars}{name}: {types[name]}{value}")
            before = kind
        return ", ".join([*parts, "/"] if before == "POSITIONAL_ONLY" else parts)

    def _default(self, name: str) -> str:
        """The default of a parameter as a program would write it, `...` for one that it cannot write."""
        default = self.signature.parameters[name].default
        as_json = default_json(default) if self.made is None else self.made.default(name)
        text = repr(default if as_json is None else as_json)
        try:
            ast.parse(text, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return "..."
        return text

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, object]:
        """The JSON values of a call by argument name; all of `*args` are one list, all of `**kwargs` one dict.

        Raises: TypeError: The signature does not take them.
        """
        bound = self.signature.bind(*args, **kwargs).arguments
        return {name: list(value) if isinstance(value, tuple) else value for name, value in bound.items()}

    def call(self, arguments: Mapping[str, object], remaining: Callable[[], float] | None = None) -> object:
        """Call the function with JSON values by argument name, and give its result as JSON.

        Args:
            remaining: The seconds that it may still take; nothing can stop a function of this process.
        Raises:
            ArgumentError: A value is not what a hint promises.
            FunctionCallError: The function raised an exception.
            ResultError: Its result is neither JSON nor an instance of a value class, or there is none.
        """
        bound = inspect.BoundArguments(self.signature, OrderedDict())
        for name in self.signature.parameters:
            if name in arguments:
                bound.arguments[name] = self._converted(name, arguments[name])
        try:
            with stdout_to_stderr() if self.to_stderr else nullcontext():
                result = self.function(*bound.args, **bound.kwargs)
        except SystemExit as error:
            raise ResultError(f"it left with sys.exit({error.code!r}) in place of a result") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a cancelled coroutine, or a class of the function's own
            raise FunctionCallError(error) from error
        try:
            return encode(result, self.classes)
        except NotJSONError as error:
            raise ResultError(f"its result is no JSON value: {error}") from None
        except RecursionError:
            raise ResultError("its result is no JSON value: it holds itself, or is nested too deeply") from None

    def close(self) -> None:
        """End what a call needs; there is nothing for a function of this process."""

    def _converted(self, name: str, value: object) -> Any:
        try:
            return self.hints[name].convert(value)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"argument {name!r} {error}") from None
