"""The tree of errors that we raise on purpose, each with the exit code of a command.

It lives in the leftmost package, so that every layer can build on it. A program that crashes is a Run, not an error.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "APIError",
    "ATCError",
    "DoubtfulCall",
    "LimitReached",
    "MissingExtraError",
    "ModelError",
    "ProgramRefused",
    "ProtocolError",
    "SandboxError",
    "ToolError",
    "UsageError",
]


class ATCError(Exception):
    """Base of every error we raise on purpose; `exit_code` is what a command ends with."""

    exit_code = 1


class UsageError(ATCError):
    """Bad input from the user: the message says where it is and what to do next."""

    exit_code = 2


class MissingExtraError(UsageError):
    """A module of an extra is not installed."""


class ProtocolError(UsageError):
    """An API document that cannot be read, or an operation in it that cannot be used."""


class ProgramRefused(ATCError):  # noqa: N818 -- reads better where it is raised
    """The program was not started: the sandbox does not allow a construct in it."""

    exit_code = 3

    def __init__(self, line: int, found: str, instead: str) -> None:
        super().__init__(f"line {line}: `{found}` is not allowed; {instead}")
        self.line = line
        self.found = found


class SandboxError(ATCError):
    """No process could be started for a program."""


class LimitReached(ATCError):  # noqa: N818
    """A limit of time, memory, output or calls was hit."""

    exit_code = 4


class ModelError(ATCError):
    """The language model is unavailable: no file, no key, no endpoint, no recorded answer."""

    exit_code = 5


class PromptRefused(ModelError):  # noqa: N818
    """The model refuses a conversation: too long, or stopped by the endpoint's filter."""

    exit_code = LimitReached.exit_code


class APIError(ATCError):
    """The API is unavailable: no answer, refused credentials, or the answer of something else."""

    exit_code = 6


class ToolError(ATCError):
    """A call of a tool went wrong; inside a program it is raised at the line of the call.

    Args:
        message: The error, with the nearest valid name where one exists.
        tool: Name of the tool.
        status: HTTP status of the reply, or None when nothing was sent.
    """

    def __init__(self, message: str, *, tool: str | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.tool = tool
        self.status = status


class DoubtfulCall(ToolError):  # noqa: N818
    """A call that only the document speaks against: a required value that is missing, an enumeration, a limit.

    It is refused once. Documents are wrong about these, so the service is the judge when a program insists.

    Args:
        problems: What the document says, one text for each.
    """

    REMEDY = "if the document is wrong, make the same call again"

    def __init__(self, message: str, *, tool: str | None = None, problems: Sequence[str] = ()) -> None:
        super().__init__(message, tool=tool)
        self.problems = tuple(problems) or (message,)
