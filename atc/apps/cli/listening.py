"""Where a command that serves listens: an address of this machine, or one that others can reach."""

from __future__ import annotations

import ipaddress
import socket

from protocols.errors import UsageError

__all__ = ["bound", "is_loopback"]


def is_loopback(host: str) -> bool:
    """True if only this machine can reach what listens there."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises: UsageError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise UsageError(f"{host}:{port} cannot be used: {error.strerror}; choose others with --host, --port") from None
    return listener
