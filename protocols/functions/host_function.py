"""One function behind a tool, of this process or of a server: JSON values by argument name in, a JSON value out."""

from __future__ import annotations

import ast
import inspect
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, ClassVar

import docstring_parser

from protocols.functions.hints import Hint
from protocols.functions.prints import stdout_to_stderr
from protocols.functions.values import NotJSONError, ValueClass, default_json, encode

__all__ = ["ArgumentError", "Docstring", "FunctionCallError", "HostFunction", "NoReplyError", "Remaining"]
__all__ += ["RemoteCallError", "RemoteFunction", "ResultError", "read_docstring"]

Remaining = Callable[[], float]
"""Tells how many seconds a call may still take; 0 or less once it is to end."""

_ON_ONE_LINE = re.compile(r"^(Returns?|Yields|Raises):[ \t]+(\S.*)$", re.MULTILINE)
"""A section of Google's style as it is often written; the parser wants its text in a line below."""


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


class RemoteCallError(Exception):
    """The server's own answer that a call failed; `status` is the HTTP status that says the same."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class NoReplyError(Exception):
    """A call has no answer.

    `kind` is the class of `requests.exceptions` that says the same; `may_have_left` is True if the server may have got
    the call.
    """

    def __init__(self, message: str, *, timeout: bool = False, may_have_left: bool = True) -> None:
        super().__init__(message)
        self.timeout = timeout
        self.kind = "ReadTimeout" if timeout else "ConnectionError"
        self.may_have_left = may_have_left


@dataclass(frozen=True, slots=True)
class Docstring:
    """`summary` is the first line, `description` all text before the sections; `arguments` are by name."""

    summary: str
    description: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""


def read_docstring(text: str) -> Docstring:
    """Read a docstring of the style of Google, NumPy, Sphinx or Epydoc."""
    prose = inspect.cleandoc(text)
    try:
        parsed = docstring_parser.parse(_ON_ONE_LINE.sub(r"\1:\n    \2", prose))
    except docstring_parser.ParseError:  # a part in none of the forms: all of it is prose
        return Docstring(prose.partition("\n")[0], prose)
    arguments = {entry.arg_name.lstrip("*"): _line(entry.description) for entry in parsed.params}
    description = (parsed.description or "").strip()
    returns = _line(parsed.returns.description) if parsed.returns is not None else ""
    return Docstring(description.partition("\n")[0], description, arguments, returns)


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


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

    def call(self, arguments: Mapping[str, object], remaining: Remaining | None = None) -> object:
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RemoteFunction(HostFunction):
    """A tool of a server. `function` takes the arguments by name, and `Remaining`; it gives the result as JSON.

    `disconnect` ends the connection to the server; the next call opens it again.
    """

    remote: ClassVar[bool] = True
    disconnect: Callable[[], None]

    def call(self, arguments: Mapping[str, object], remaining: Remaining | None = None) -> object:
        """Call the tool with JSON values by argument name.

        Raises:
            ArgumentError: A value is not what its schema promises.
            RemoteCallError: The server answered that the call failed.
            NoReplyError: It did not answer.
        """
        converted = {name: self._converted(name, value) for name, value in arguments.items()}
        return self.function(converted, remaining or (lambda: float("inf")))

    def close(self) -> None:
        """End the connection to the server."""
        self.disconnect()
