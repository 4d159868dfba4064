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
            written as an address, or as localhost, names what it means.
        """
        name = host.strip("[]").rstrip(".").lower()
        if _is_address(name):
            return (name,)
        with self._lock:
            if name not in self._pinned:
                found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
                self._pinned[name] = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
        addresses = self._pinned[name]
        if (name, port) in self._trusted or name == "localhost" or name.endswith(".localhost"):
            return addresses
        public = tuple(address for address in addresses if ipaddress.ip_address(address.partition("%")[0]).is_global)
        if not public:
            raise RefusedAddressError(
                f"{name} leads to {addresses[0]}, a private address; if that is meant, allow its origin (--allow)"
            )
        return public


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
