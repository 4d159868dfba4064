"""A tool of another process as a function: its schemas come over the wire, and its calls may fail to be answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from protocols.functions.host_function import HostFunction

__all__ = ["NoReplyError", "Remaining", "RemoteCallError", "RemoteFunction"]

Remaining = Callable[[], float]
"""Tells how many seconds a call may still take; 0 or less once it is to end."""


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
