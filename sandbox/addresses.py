"""Where the names of hosts lead: asked once in a run, and not into private networks that nobody named.

A document may name a public host whose name leads to this machine, to the network around it, or to the metadata
service of a cloud; or a name may lead somewhere else at the second question. Both would turn the broker into a way
into networks that the user never meant.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Collection

__all__ = ["Addresses", "RefusedAddressError"]


_REMEDY = "if that is meant, allow its origin (--allow)"


class RefusedAddressError(OSError):
    """A name leads to an address that it may not lead to."""


class Addresses:
    """The addresses of one run. `trusted` are the hosts and ports that the user named, wherever they may lead."""

    def __init__(self, trusted: Collection[tuple[str, int]] = ()) -> None:
        self._trusted = frozenset(trusted)
        self._pinned: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def of(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses of a host, in the order to try them; the same ones whenever it is asked.

        Raises: OSError: The name is not known, or (RefusedAddressError) leads into a private network. A host that is
            written as an address names what it means: a document may mean any public one and this machine, the user
            any. So does localhost.
        """
        name = host.strip("[]").rstrip(".").lower()
        written = _address(name)
        if written is not None:
            if not (written.is_global or written.is_loopback or (name, port) in self._trusted):
                raise RefusedAddressError(f"{name} is a private address; {_REMEDY}")
            return (name,)
        with self._lock:
            if name not in self._pinned:
                found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
                self._pinned[name] = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
        addresses = self._pinned[name]
        if (name, port) in self._trusted:
            return addresses
        local = name == "localhost" or name.endswith(".localhost")
        known = [(address, _address(address)) for address in addresses]
        fit = tuple(text for text, one in known if one is not None and (one.is_loopback if local else one.is_global))
        if not fit:
            raise RefusedAddressError(f"{name} leads to {addresses[0]}, a private address; {_REMEDY}")
        return fit


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
