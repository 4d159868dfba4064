"""The proxy on the way to a host, as the environment names it.

HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY count as `requests` reads them; a service on this machine has none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from protocols.calls.credentials import BasicLogin, Credential
from sandbox.egress.network import PROXY_VARIABLES, address_of, names_proxy, names_this_machine, proxy_variable

__all__ = ["ProxyRoute", "proxy_credentials", "proxy_for"]

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ProxyRoute:
    """The proxy that a URL is asked through. `url` may hold a password; `variable` of the environment names it."""

    url: str = field(repr=False)
    variable: str
    scheme: str
    host: str
    port: int
    target: str

    @property
    def no_sign_in(self) -> str:
        """What is said of one that asks for a user and password."""
        return self.problem("asks for a user and password (407), as in http://USER:PASSWORD@HOST:PORT")

    def problem(self, what: str) -> str:
        """What is wrong, with the place and the remedy."""
        address = f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"
        return f"the proxy {address} {what}; correct {self.variable}, or name {self.target} in NO_PROXY"


def proxy_for(url: str) -> ProxyRoute | None:
    """The proxy for a URL; None if it is asked directly. Raises: ValueError: The variable holds no URL of a proxy."""
    if not names_proxy():
        return None
    parts = urlsplit(url)
    host = parts.hostname or ""
    address = address_of(host.rstrip("."))
    if names_this_machine(host.rstrip(".").lower()) or (address is not None and address.is_loopback):
        return None  # a service on this machine, a simulated one least of all
    from requests.utils import get_environ_proxies, select_proxy

    text = select_proxy(url, get_environ_proxies(url))
    if not text:
        return None
    variable = f"{parts.scheme.upper()}_PROXY" if proxy_variable(f"{parts.scheme}_proxy") else "ALL_PROXY"
    whole = text if "://" in text else f"http://{text}"
    try:
        proxy = urlsplit(whole)
        proxy_host, port = proxy.hostname, proxy.port
    except ValueError:
        proxy_host = port = None
    if not proxy_host:
        raise ValueError(
            f"{variable} is no address of a proxy; write it as http://HOST:PORT, or name {host} in NO_PROXY"
        )
    if proxy.scheme not in _PORTS:
        raise ValueError(
            f"{variable} names a {proxy.scheme}:// proxy; give one that begins with http:// or https://, or name "
            f"{host} in NO_PROXY"
        )
    return ProxyRoute(whole, variable, proxy.scheme, proxy_host, port or _PORTS[proxy.scheme], host)


def proxy_credentials() -> tuple[Credential, ...]:
    """The users and passwords in the variables, for redaction."""
    secrets: list[Credential] = []
    for name in PROXY_VARIABLES:
        user, _, password = proxy_variable(name).rpartition("@")[0].rpartition("//")[2].partition(":")
        if user or password:  # some take a key as the user
            secrets.append(BasicLogin(f"{unquote(user)}:{unquote(password)}"))
    return tuple(secrets)
