"""What follows `mcp:` in a source: the command that starts a server, or the URL of one."""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import urlsplit

from protocols.calls.auth import credential, variable
from protocols.calls.credentials import Credential
from protocols.errors import UsageError

__all__ = ["SCHEME", "MCPAddress", "read_address", "server_credentials"]

SCHEME = "mcp:"
"""What a source begins with that names a server of the Model Context Protocol."""

_STDIO = "mcp:stdio:"
_FORMS = "write mcp:stdio:'COMMAND ARGUMENTS' or mcp:https://HOST/PATH"


@dataclass(frozen=True, slots=True)
class MCPAddress:
    """Where a server is: a command line to start it with (no shell reads it), or a URL; the other one is empty."""

    command: tuple[str, ...] = ()
    url: str = ""

    @property
    def text(self) -> str:
        """The server as messages name it: the command, whose arguments may be secrets, or the URL without its query."""
        return f"`{PurePath(self.command[0]).name}`" if self.command else self.url.partition("?")[0]


def read_address(source: str) -> MCPAddress:
    """Read `mcp:stdio:COMMAND` or `mcp:URL`. Raises: UsageError: It is neither, or a URL that is not safe to use."""
    if source.startswith(_STDIO):
        try:
            command = tuple(shlex.split(source.removeprefix(_STDIO)))
        except ValueError as error:
            raise UsageError(f"{_STDIO}: the command line cannot be read: {error}; {_FORMS}") from None
        if not command:
            raise UsageError(f"{_STDIO} names no command; {_FORMS}")
        return MCPAddress(command=command)
    url = source.removeprefix(SCHEME)
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise UsageError(f"{SCHEME}: this is no URL: {error}; {_FORMS}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"{SCHEME} names no server; {_FORMS}")
    if "@" in parts.netloc:
        raise UsageError(f"the URL behind {SCHEME} holds a user name or password; leave it out and pass it with --auth")
    if parts.scheme == "http" and not _is_loopback(host):
        raise UsageError(f"{SCHEME}http://{host}: plain http is for servers on this machine; use https")
    return MCPAddress(url=url)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def server_credentials(address: MCPAddress, auth: Sequence[str]) -> tuple[Credential, ...]:
    """What `--auth` names for a server: `env:NAME` for one that is started, else what is sent in a header.

    Raises: UsageError: Such a credential cannot be passed on, or its source is empty. The message repeats no secret.
    """
    if address.command:
        return tuple(map(variable, auth))
    credentials = tuple(credential(text, None) for text in auth)
    if any(sent.place[0] != "header" for sent in credentials):
        raise UsageError(
            "--auth: an MCP server takes no secret in its URL or a cookie; give another KIND, as bearer or header:NAME"
        )
    return credentials
