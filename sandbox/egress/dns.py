"""Resolves the names of hosts, once in a run, and not into private networks that nobody named.

A document may name a public host whose name leads to this machine, to the network around it, or to the metadata
service of a cloud; or a name may lead somewhere else at the second question. Both would turn the broker into a way
into networks that the user never meant.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Collection

__all__ = ["HostResolver", "RefusedAddressError"]


_SUGGESTION = "if that is meant, allow its origin (--allow)"


class RefusedAddressError(OSError):
    """A name leads to an address that it may not lead to."""


class HostResolver:
    """The addresses of one run.

    Args:
        trusted: The hosts and ports that the user named, wherever they may lead. every: All are.
    """

    def __init__(self, trusted: Collection[tuple[str, int]] = (), *, every: bool = False) -> None:
        self._trusted = frozenset(trusted)
        self._every = every
        self._unknown: set[str] = set()
        self._pinned: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Lock()

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses of a host, in the order to try them; the same ones whenever it is asked.

        Raises: OSError: The name is not known, or (RefusedAddressError) leads into a private network. A host that is
            written as an address names what it means: a document may mean any public one and this machine, the user
            any. So does localhost.
        """
        name = host.strip("[]").rstrip(".").lower()
        written = _address(name)
        if written is not None:
            if not (_is_public(written) or written.is_loopback or self._trusts(name, port)):
                raise RefusedAddressError(f"{name} is a private address; {_SUGGESTION}")
            return (name,)
        with self._lock:
            if name not in self._pinned:
                infos = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
                self._pinned[name] = tuple(dict.fromkeys(str(entry[4][0]) for entry in infos))
        addresses = self._pinned[name]
        if self._trusts(name, port):
            return addresses
        local = name == "localhost" or name.endswith(".localhost")
        parsed = [(address, _address(address)) for address in addresses]
        fit = tuple(
            text
            for text, address in parsed
            if address is not None and (address.is_loopback if local else _is_public(address))
        )
        if not fit:
            raise RefusedAddressError(f"{name} leads to {addresses[0]}, a private address; {_SUGGESTION}")
        return fit

    def check(self, host: str, port: int) -> None:
        """See that a host may be asked through a proxy, which resolves its name. Raises: RefusedAddressError.

        A name that is known here must lead where it may lead without the proxy.
        """
        if host in self._unknown:
            return
        try:
            self.resolve(host, port)
        except RefusedAddressError:
            raise
        except OSError:
            self._unknown.add(host)

    def _trusts(self, name: str, port: int) -> bool:
        return self._every or (name, port) in self._trusted


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """True for a public address that stands neither for an IPv4 address nor for many hosts."""
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    return not any(address.version == net.version and address in net for net in _STANDING_FOR)


_STANDING_FOR = tuple(
    ipaddress.ip_network(net)
    for net in ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fec0::/10")
)
"""IPv4-compatible and -mapped addresses, NAT64, Teredo and 6to4, behind which is any address; and site-local ones."""
