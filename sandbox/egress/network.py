"""The way to a host: the addresses that its name may lead to, and the certificates of the user.

A document may name a public host whose name leads to this machine, to the network around it, or to the metadata
service of a cloud; or a name may lead somewhere else at the second question. Both would turn the broker into a way
into networks that the user never meant. So names are resolved once in a run, and not into private networks that nobody
named. Proxies are in sandbox.egress.proxies, and certificate files are read in sandbox.egress.certificates.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

__all__ = [
    "HostResolver",
    "Network",
    "RefusedAddressError",
    "address_of",
    "names_proxy",
    "names_this_machine",
    "open_network",
    "proxy_variable",
]

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy")
_SUGGESTION = "if that is meant, allow its origin (--allow)"

_STANDING_FOR = tuple(
    ipaddress.ip_network(net)
    for net in ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fec0::/10")
)
"""IPv4-compatible and -mapped addresses, NAT64, Teredo and 6to4, behind which is any address; and site-local ones."""


# Addresses


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
        written = address_of(name)
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
        may_lead_to: Callable[..., bool] = attrgetter("is_loopback") if names_this_machine(name) else _is_public
        fit = tuple(text for text in addresses if (address := address_of(text)) is not None and may_lead_to(address))
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


def names_this_machine(name: str) -> bool:
    """True for localhost and the names below it."""
    return name == "localhost" or name.endswith(".localhost")


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a text is, if it is one."""
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """True for a public address that stands neither for an IPv4 address nor for many hosts."""
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    return not any(address.version == net.version and address in net for net in _STANDING_FOR)


# Proxies


def proxy_variable(name: str) -> str:
    """A variable of the environment that may name a proxy, in small letters or capitals."""
    return os.environ.get(name) or os.environ.get(name.upper()) or ""


def names_proxy() -> bool:
    """True if the environment names a proxy: sandbox.egress.proxies is needed then."""
    return any(map(proxy_variable, PROXY_VARIABLES))


# Certificates


@dataclass(frozen=True, slots=True)
class Network:
    """The TLS settings of a run. `trusting` has the user's authorities, `signing` the client certificate besides.

    None: as without such files. The client certificate is shown to the API's own servers alone.
    """

    trusting: ssl.SSLContext | None = None
    signing: ssl.SSLContext | None = None


def open_network(ca_file: str | Path | None = None, client_cert: str | Path | None = None) -> Network:
    """The settings for certificate files.

    Args:
        ca_file: PEM of authorities that are trusted beside the usual ones.
        client_cert: PEM of a certificate and its key; `FILE,KEY` where the key has a file of its own.
    Raises: UsageError: A file is missing or no PEM, or the key is none for the certificate.
    """
    if not ca_file and not client_cert:
        return Network()
    from sandbox.egress.certificates import load_certificate, trusting_context

    trusting = trusting_context(ca_file)
    if not client_cert:
        return Network(trusting)
    signing = trusting_context(ca_file)
    load_certificate(signing, str(client_cert))
    return Network(trusting if ca_file else None, signing)
