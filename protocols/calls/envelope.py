"""Calls that one endpoint of a server carries for many APIs: closed on their way out, opened on their way back.

A program calls the operation; journal, fingerprint and writes policy know the operation. Only the request that leaves
is another one. Such a server says all with status 200, so an error text is read for its kind of fault, and has the
HTTP status that a service of its own would have given.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from protocols.calls.api_keys import APIKey
from protocols.calls.credentials import Credential
from protocols.calls.serialization import as_base64
from protocols.model import Envelope, Protocol, Server, Tool

__all__ = ["FAULTS", "NO_ENVELOPE", "EnvelopeFault", "closed_request", "enveloped", "fault_of"]
__all__ += ["literal", "opened_reply"]

_MAX_LITERAL = 64 * 1024
"""Characters of a Python literal; the parser takes a hundred times as many bytes."""


@dataclass(frozen=True, slots=True)
class EnvelopeFault:
    """A kind of failure: its name, the HTTP status that stands for it, and the words that tell it (lower case).

    `environment`: no other arguments would have helped; the API or the way to it is at fault.
    """

    name: str
    status: int
    words: tuple[str, ...]
    environment: bool = True


NO_ENVELOPE = EnvelopeFault("unreadable reply", 502, ())
"""The server answered with something else than an error and a value."""

FAULTS = (
    EnvelopeFault("wrong arguments", 422, ("tool input parse error", "unexpected keyword", "argument error"), False),
    EnvelopeFault("unknown API", 404, ("unknown api", "unknown tool", "unknown category"), False),
    EnvelopeFault("no answer", 501, ("no answer error", "failed to generate")),
    EnvelopeFault("timeout", 504, ("timeout", "timed out", "temporarily not working")),
    EnvelopeFault("not working", 503, ("api not working", "api doesn't exist", "api does not exist")),
    EnvelopeFault("unauthorized", 401, ("unauthorized error", "invalid api key", "authentication failed")),
    EnvelopeFault("unsubscribed", 402, ("unsubscribed", "not subscribed")),
    EnvelopeFault("too many requests", 429, ("too many requests", "rate limit", "quota exceeded")),
    EnvelopeFault("gateway", 502, ("gateway error", "bad gateway")),
    EnvelopeFault("blocked", 403, ("blocked error",)),
    EnvelopeFault("execution", 500, ("function executing", "execution error", "executing error")),
)
"""The faults, the most telling words first."""

_MESSAGE = EnvelopeFault("message", 400, ("message error",), False)


def fault_of(error: str) -> EnvelopeFault:
    """The kind of fault that an error text tells; a message of the API itself where it tells none."""
    lowered = error.lower()
    return next((fault for fault in FAULTS if any(words in lowered for words in fault.words)), _MESSAGE)


def enveloped(protocol: Protocol, server: str, envelope: Callable[[Tool], Envelope]) -> Protocol:
    """The same operations, asked through one server.

    The keys of the APIs are that server's matter, so the tools demand none.

    Args:
        server: Its base URL. envelope: Gives the envelope of a tool.
    """
    tools = (replace(tool, envelope=envelope(tool), servers=(), security=()) for tool in protocol.tools)
    return replace(protocol, servers=(Server(server.rstrip("/")),), tools=tuple(tools), security_schemes=())


def closed_request(tool: Tool, arguments: Mapping[str, object], credentials: Sequence[Credential] = ()) -> bytes:
    """The body of the request that carries a call; equal calls give equal bytes.

    Args:
        arguments: By argument name. credentials: Of which one may fill the envelope's `key_field`.
    """
    envelope = tool.envelope
    assert envelope is not None
    wire = {parameter.argument: parameter.name for parameter in tool.arguments}
    inner = {envelope.names.get(name, wire.get(name, name)): value for name, value in arguments.items()}
    content = {**envelope.constants, envelope.arguments_field: inner}
    for credential in credentials:
        if isinstance(credential, APIKey) and credential.parameter == envelope.key_field:
            content[envelope.key_field] = credential.secret
    return json.dumps(content, ensure_ascii=False, default=as_base64).encode()


def opened_reply(envelope: Envelope, content: bytes) -> tuple[str, object]:
    """The error text of a reply, "" for none, and its value.

    Raises: ValueError: It is no such reply; the message says what is missing.
    """
    shape = f"an object with `{envelope.error_field}` and `{envelope.value_field}`"
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError(f"the server's reply is not {shape}, but no JSON; is its URL right?") from None
    if not isinstance(reply, Mapping) or not {envelope.error_field, envelope.value_field} & reply.keys():
        raise ValueError(f"the server's reply is not {shape}; is its URL right?")
    error = reply.get(envelope.error_field)
    if error:
        return (error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)), None
    value = reply.get(envelope.value_field)
    return "", literal(value) if isinstance(value, str) else value


def literal(text: str) -> object:
    """The value of a text that is JSON or a Python literal; the text itself where it is neither, or was cut."""
    stripped = text.strip()
    if re.match(r"[\[{(\"'\-\d]|true|false|null|True|False|None", stripped) is None:
        return text
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        pass
    if len(stripped) > _MAX_LITERAL:
        return text
    try:
        value = ast.literal_eval(stripped)
        return json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text
