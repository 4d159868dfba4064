"""The servers and operations that a program may reach, compared on parsed parts, never as text.

A request is let out when it addresses a documented operation under a documented server (or the base URL in force), or
an origin that the user allowed by name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

from protocols.errors import UsageError
from protocols.model import LeftOut, Protocol, Server, Tool, WholeURL

__all__ = ["BaseURL", "CallTarget", "EgressRules", "Origin", "UnreachableError"]
__all__ += ["base_urls", "check_length", "display_url", "has_parent_step", "origin", "origin_at", "origin_of"]
__all__ += ["server_urls"]

BaseURL: TypeAlias = str | Mapping[str, str] | None
"""Where an API lives in place of its documented servers; by namespace where a protocol has several APIs."""

_PORTS = {"http": 80, "https": 443}

URL_LIMIT = 8192
"""Characters of a URL, percent-encoded; few services take more."""

FUNCTION = "function:"
"""What stands before the name of a function, where a request has the URL of a server."""

MCP = "mcp:"
"""The same for a tool of an MCP server."""

HOST_LIMIT = 512
"""Characters of a host and port."""

_ORIGIN = re.compile(r"(?i:https?)://(\[[0-9A-Fa-f:.]+\]|[^\W_]([\w.-]*[^\W_])?\.?)(:[0-9]{1,5})?/?")
"""A scheme, a name or an address, and a port; nothing else."""

_OVERLONG = re.compile(r"%c0%(a[ef])|%e0%80%(a[ef])", re.IGNORECASE)
"""A dot or slash in more bytes of UTF-8 than it has, which some services take."""

DECODINGS = 5
"""Times that a path is decoded to see what it means; one that still changes then means nothing good."""


class Origin(NamedTuple):
    """A server as the web knows it."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        port = "" if self.port == _PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}{port}"


class UnreachableError(Exception):
    """A request that is not allowed; `kind` is the class of `requests.exceptions` the program gets."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def check_length(url: str, extra: int = 0) -> None:
    """Refuse a URL that is too long to be looked at; `more` is still to be added. Raises: UnreachableError."""
    if len(url) + extra > URL_LIMIT:
        text = f"the URL has {len(url) + extra} characters and {URL_LIMIT} are the most; send long values in a body"
        raise UnreachableError("InvalidURL", text)
    if len(re.split(r"[/?#]", url.partition("//")[2], maxsplit=1)[0]) > HOST_LIMIT:
        raise UnreachableError("InvalidURL", f"the host has more than {HOST_LIMIT} characters")


class CallTarget(NamedTuple):
    """The target of a request.

    `tool` is None for an allowed origin, whatever the path. `base` is the base URL in force, `server` the one that the
    program wrote, `path` the rest of the path and `arguments` its variables.
    """

    tool: Tool | None
    base: str
    server: str
    path: str
    arguments: dict[str, str]

    @property
    def called(self) -> str:
        return self.tool.name if self.tool else self.server


def display_url(url: str) -> str:
    """A URL without the parts that may hold a secret: user, password, query and fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def origin(text: str) -> Origin:
    """Read `SCHEME://HOST[:PORT]`, as `--allow` takes it. Raises: UsageError."""
    try:
        parsed = origin_of(urlsplit(text)) if _ORIGIN.fullmatch(text) else None
    except ValueError:
        parsed = None
    if parsed is None or not 0 < parsed.port < 65536:
        quoted = text if "@" not in text else "a URL with a user name in it"
        raise UsageError(f"--allow takes an origin like https://api.example.com or http://localhost:8080, not {quoted}")
    return parsed


def base_urls(base_url: BaseURL, protocol: Protocol | None) -> dict[str, str]:
    """The base URLs in force by namespace ("" for the only API), without a slash at the end.

    One without a path gets that of the document's server; `https://HOST/` is exactly that.

    Raises: UsageError: One is no http(s) URL, is for no API of the protocol, or holds a user name or password.
    """
    namespaces = protocol.namespaces if protocol is not None else ()
    urls = {"": base_url} if isinstance(base_url, str) else dict(base_url or {})
    apis = protocol.apis if protocol is not None else {}
    urls = {
        namespace: type(url)(_with_path(url, apis.get(namespace)).rstrip("/")) for namespace, url in urls.items() if url
    }
    for namespace, url in urls.items():
        if not re.match(r"https?://[^/?#]", url, re.IGNORECASE):
            raise UsageError("--base-url must be http:// or https:// and a host, as in https://api.example.com")
        if "@" in re.split(r"[/?#]", url.partition("//")[2], maxsplit=1)[0]:
            raise UsageError("the base URL holds a user name or password; leave it out and pass it as a credential")
        if namespace not in (namespaces or ("",)):
            if not namespaces:
                raise UsageError(f"--base-url {namespace}=…: there is but one API, without a name")
            problem = f"{namespace}=…: no such API" if namespace else f"must name its API, as in {namespaces[0]}=URL"
            raise UsageError(f"--base-url {problem}; the APIs are {', '.join(namespaces)}")
    return urls


def _with_path(url: str, api: Protocol | None) -> str:
    """A base URL that is an origin alone, with the path of the first server that the document names."""
    if api is None or not api.servers or re.fullmatch(r"https?://[^/?#]+", url.strip(), re.IGNORECASE) is None:
        return url
    path = "" if api.servers[0].missing else urlsplit(api.servers[0].url).path
    return f"{url.strip()}/{path.lstrip('/')}" if path.strip("/") else url


class EgressRules:
    """The targets that the programs of one run may reach.

    An operation is sought under the servers of its own API alone, and sent to these.

    Args:
        base_url: Where the API lives in place of the documented servers (see `base_urls`).
        allow: Origins that may be reached besides, under any path. Where the document names one too, its operations
            stay the only ones; it may then have a private address.
    Raises: UsageError: The document names no server that has a host, and there is no `base_url`; or that one holds a
        secret.
    """

    def __init__(self, protocol: Protocol | None, base_url: BaseURL, allow: Sequence[Origin] = ()) -> None:
        self.bases = base_urls(base_url, protocol)
        self.apis = protocol.apis if protocol is not None else {}
        self.servers: list[tuple[str, str]] = []
        """The namespace of an API, and a URL under which its operations may be addressed."""
        for namespace, api in self.apis.items():
            servers = server_urls(api, self.bases.get(namespace))
            if not servers and any(tool.function is None for tool in api.tools):
                raise UsageError(_without_server(namespace, api.servers))
            self.servers += [(namespace, server) for server in servers]
        documented = {origin_of(urlsplit(server)) for _, server in self.servers}
        self.open_origins = tuple(server_origin for server_origin in allow if server_origin not in documented)
        """Those that may be reached under any path."""
        self.allowed = frozenset(allow)
        named = [origin_of(urlsplit(url)) for url in self.bases.values()]
        self.trusted = frozenset((server_origin.host, server_origin.port) for server_origin in (*named, *allow))
        """Hosts and ports that the user named, wherever they may lead."""
        self.own = frozenset((*documented, *named)) if protocol is not None else frozenset(allow)

    def is_own(self, url: str) -> bool:
        """True if a URL is at a server of the API; without a protocol, at one that is allowed."""
        return origin_at(url) in self.own

    def base_of(self, tool: Tool | None) -> str:
        """The URL that the path of a tool is put behind.

        Raises: UnreachableError: Its own server is not where the base URL is, or has no address.
        """
        if tool is not None and tool.function is not None:
            return MCP if tool.function.remote else FUNCTION
        namespace = tool.namespace if tool is not None else ""
        base = self.bases.get(namespace)
        own = tool.servers if tool is not None else ()
        if base is not None and (not own or own[0].scope != "origin" or isinstance(base, WholeURL)):
            return _with_own_path(base, own[0]) if own else base
        api = self.apis.get(namespace)
        common = [server for server in api.servers if server.scope == "api"] if api is not None else []
        url = next((server.url for server in own or common if _is_usable(server)), None)
        if tool is None or url is None:
            called = f"{tool.name}: " if tool is not None else ""
            raise UnreachableError("InvalidURL", called + _without_server(namespace, own or common))
        there = origin_of(urlsplit(url))
        if base is not None and there not in self.allowed:
            text = f"{tool.name} has a server of its own, {there}, for which the base URL does not stand"
            raise UnreachableError("InvalidURL", f"{text}; to send it there, give --allow {there}")
        return url

    def left_out(self, tool: Tool, path: str) -> LeftOut | None:
        """What the user left out, where a call of a tool comes to the same request; None if it does not."""
        api = self.apis[tool.namespace]
        if not api.left_out or tool.function is not None:
            return None
        from protocols.calls.path_matching import closest_left_out

        return closest_left_out(api, tool.method, path, tool)

    def only_reads(self, target: CallTarget) -> bool:
        """True if the tool of a target is said to read, and no service can take its path for that of a write."""
        tool = target.tool
        if tool is None or not tool.reads:
            return False
        from protocols.calls.path_matching import closest_write

        return closest_write(self.apis[tool.namespace], tool, target.path) is None


def server_urls(protocol: Protocol, base: str | None) -> list[str]:
    """Every URL under which a program may address the API, the document's own first."""
    servers = [*protocol.servers, *(server for tool in protocol.tools for server in tool.servers)]
    urls = [server.url.rstrip("/") for server in servers if _is_usable(server)]
    urls += [_with_own_path(base, server) for server in servers if server.scope == "path"] if base else []
    return list(dict.fromkeys([*urls, *([base] if base else [])]))


def _is_usable(server: Server) -> bool:
    parts = urlsplit(server.url)
    return parts.scheme in _PORTS and bool(parts.netloc) and not server.missing


def _with_own_path(base: str, server: Server) -> str:
    """A base URL, with the path of a server that an operation has for itself."""
    if server.scope != "path" or isinstance(base, WholeURL):
        return base
    return urlsplit(base)._replace(path=urlsplit(server.url).path, query="", fragment="").geturl().rstrip("/")


def _without_server(namespace: str, servers: Sequence[Server]) -> str:
    """Why calls cannot be sent, and what to do."""
    incomplete = next((server for server in servers if server.missing), None)
    if incomplete is not None:
        text = f"the server {incomplete.url} of the document has no value for {incomplete.missing}"
    else:
        text = f"the document{f' of {namespace}' if namespace else ''} names no server with a host"
    return f"{text}; give the base URL of the service (--base-url{f' {namespace}=URL' if namespace else ''})"


def origin_of(parts: Any) -> Origin:
    """The server of a URL that was split. Raises: ValueError: The port is no number, or the host no name."""
    host = (parts.hostname or "").lower().rstrip(".")
    if not host.isascii():  # as it is asked for, and as the library sends it
        import idna

        host = idna.encode(host, uts46=True).decode()
    return Origin(parts.scheme, host, _PORTS.get(parts.scheme, 0) if parts.port is None else parts.port)


def origin_at(url: str) -> Origin | None:
    """The server of a URL; None if it is no address."""
    try:
        return origin_of(urlsplit(url))
    except ValueError:
        return None


def has_parent_step(path: str) -> bool:
    """True if a service may read a step between folders in a path: `..`, also as `%2e%2e`, `a%2F..` or `..;x`."""
    if "\\" in path:
        return True
    decoded = _decoded(path)
    if decoded is None:
        return True
    # As a service may read it that takes dots of any width, or ends a name at a zero byte.
    plain = unicodedata.normalize("NFKC", decoded).replace("\\", "/")
    return any(re.split("[;\0]", part)[0].strip() in (".", "..") for part in plain.split("/"))


def _decoded(path: str) -> str | None:
    for _ in range(DECODINGS):
        path = _OVERLONG.sub(lambda match: chr(int(match[1] or match[2], 16) & 0x3F), path)
        if (decoded := unquote(path)) == path:
            return path
        path = decoded
    return None
