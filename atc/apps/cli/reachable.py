"""The API of a command, opened: the document read, the credentials tried, and somebody listening where it is to be.

All of that is told before a model is asked.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from atc.apps.cli import say
from atc.apps.cli.documents import chosen, completed_addresses, loaded, tell_reads
from atc.apps.cli.options import check_api_options
from protocols.errors import APIError, UsageError

if TYPE_CHECKING:
    from atc.options import Options
    from protocols.model import Protocol
    from sandbox.egress.egress_rules import BaseURL

__all__ = ["check_server", "open_protocol", "open_service"]

_PATIENCE = 5.0
"""Seconds to wait for a service to take a connection."""


def open_protocol(api: Sequence[str], options: Options, *, asks: bool = False, verbose: bool = False) -> Protocol:
    """The protocol that `--api` names, with the operations that the user chose.

    `asks`: somebody may be asked about a write, or it is refused; then it is told what is taken to read.
    Raises: as `load_specs`, and UsageError: A pattern fits no operation.
    """
    protocol = loaded(api, options.auth, options.base_url)
    protocol = chosen(
        protocol, options.only, options.without, options.reads, hints=options.takes_hints, verbose=verbose
    )
    if asks:
        tell_reads(protocol, options.reads)
    for sentence in completed_addresses(protocol, options.base_url) if verbose else ():
        say(sentence)
    return protocol


def open_service(
    api: Sequence[str], options: Options, *, asks: bool, check: bool = True, verbose: bool = False
) -> Protocol:
    """The same; with `check` it is tried whether the credentials and the service can be had.

    Raises: as `open_protocol`, and UsageError, APIError.
    """
    from protocols.calls.auth import credential
    from protocols.calls.header_option import header_of

    check_api_options(options.simulate, options.base_url, options.auth)
    protocol = open_protocol(api, options, asks=asks, verbose=verbose)
    if check:
        for text in options.headers:
            header_of(text, protocol)
    if check and not options.simulate:
        for text in options.auth:
            credential(text, protocol)
        check_server(protocol, options.base_url, options.allow)
    return protocol


def check_server(protocol: Protocol, base_url: BaseURL, allow: Sequence[str] = ()) -> None:
    """See that somebody listens where each API is said to be, before a model is asked; a private address is left alone
    unless the user named it.

    Raises:
        UsageError: The base URL is none.
        APIError: Nobody answers there.
    """
    from sandbox.egress.egress_rules import base_urls

    urls = base_urls(base_url, protocol)
    for namespace, api in protocol.apis.items():
        if not all(tool.function is not None for tool in api.tools):
            _check_api(api, urls.get(namespace), allow)


def _check_api(protocol: Protocol, base_url: str | None, allow: Sequence[str]) -> None:
    from sandbox.egress.egress_rules import origin
    from sandbox.egress.network import HostResolver, RefusedAddressError
    from sandbox.egress.proxies import proxy_for

    servers = [server.url for server in protocol.servers if not server.missing]
    url = base_url or (servers[0] if servers else "")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise UsageError(f"--base-url {url.rpartition('@')[2]!r} is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        if base_url is None:
            return  # the agent says that the document names no server
        raise UsageError(
            f"--base-url {url.rpartition('@')[2]!r} is no URL of a service; write it as https://HOST[:PORT][/PATH]"
        )
    where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    try:
        proxy = proxy_for(url)
    except ValueError as error:
        raise UsageError(str(error)) from None
    try:
        named = {(place.host, place.port) for place in map(origin, allow)} | ({(host, port)} if base_url else set())
        if proxy is not None:
            HostResolver(named).check(host, port)
            _connect(HostResolver(every=True).resolve(proxy.host, proxy.port), proxy.port)
        else:
            _connect(HostResolver(named).resolve(host, port), port)
    except RefusedAddressError as error:
        raise APIError(str(error)) from None
    except OSError as error:
        why = error.strerror or str(error)
        if proxy is not None:
            raise APIError(proxy.problem(f"cannot be reached: {why}")) from None
        raise APIError(f"nobody answers at {where}: {why}; check the base URL (--base-url)") from None


def _connect(addresses: Sequence[str], port: int) -> None:
    """Connect to the first of the addresses that takes it. Raises: OSError: That of the last one."""
    for address in addresses[:-1]:
        with suppress(OSError):
            return socket.create_connection((address, port), _PATIENCE).close()
    return socket.create_connection((addresses[-1], port), _PATIENCE).close()
