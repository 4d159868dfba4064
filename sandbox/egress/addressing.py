"""What a URL addresses: a documented operation under a server of its API, or an origin that the user allowed.

Requests that a program writes itself name a URL, and so do redirects. A call of a tool names the operation.
"""

from __future__ import annotations

import difflib
from urllib.parse import urlsplit

from protocols.calls.path_matching import closest_left_out, leniently, match
from protocols.model import READS, LeftOut, Tool
from sandbox.egress.egress_rules import (
    CallTarget,
    EgressRules,
    UnreachableError,
    has_parent_step,
    origin_at,
    origin_of,
    server_urls,
)
from sandbox.records import cut

__all__ = ["left_out_at", "locate", "path_within", "redirect_target"]


def locate(rules: EgressRules, method: str, url: str) -> CallTarget:
    """The operation, or the allowed origin, that a URL addresses. Raises: UnreachableError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise UnreachableError("InvalidSchema", f"No connection adapters were found for {url!r}")
    if parts.username is not None or parts.password is not None:
        raise UnreachableError("InvalidURL", "a URL with a user name in it is not allowed")
    url_origin = origin_of(parts)
    if parts.path.startswith("//"):
        raise UnreachableError("InvalidURL", "the path of a URL must not begin with two slashes")
    if url_origin in rules.open_origins:
        return CallTarget(None, str(url_origin), str(url_origin), parts.path or "/", {})
    host_known = False
    left_out: LeftOut | None = None
    for namespace, server in rules.servers:
        server_parts = urlsplit(server)
        if origin_of(server_parts) != url_origin:
            continue
        host_known = True
        path = _within(parts.path, server_parts.path)
        operation = _operation(rules, namespace, method, path)
        if path is not None and operation is not None:
            tool, arguments = operation
            documented = namespace not in rules.bases and server in [s.url for s in tool.servers]
            base = server if documented else rules.base_of(tool)
            return CallTarget(tool, base.rstrip("/"), server, path, arguments)
        if path is not None:
            left_out = left_out or closest_left_out(rules.apis[namespace], method, path)
    reachable = ", ".join([*_shown(rules), *map(str, rules.open_origins)])
    if not host_known:
        limits = f"this program may reach only {reachable}" if reachable else "this program may reach no host"
        raise UnreachableError("InvalidURL", f"{parts.scheme}://{parts.netloc} can't be reached: {limits}")
    path = cut(parts.path, 200)
    if left_out is not None:
        raise UnreachableError("InvalidURL", f"{method} {path} can't be called: {left_out.sentence}")
    text = f"{method} {path} is no operation of this API ({reachable}){_nearest(rules, method, path)}"
    raise UnreachableError("InvalidURL", text)


def redirect_target(rules: EgressRules, target: CallTarget, method: str, url: str) -> CallTarget | None:
    """The target of a redirect: in the API or the origin of the first target, or an allowed origin; else None.

    Where the document names an allowed origin too, a read may be led to any path there, as for a download.
    """
    if target.tool is not None and target.tool.envelope is not None:
        return None
    url_origin = origin_at(url)
    if url_origin is None:
        return None
    parts = urlsplit(url)
    if target.tool is None and origin_at(target.base) == url_origin:
        return target._replace(path=parts.path or "/")
    if has_parent_step(parts.path) and url_origin in rules.own:  # the library would send another path
        return None
    path = path_within(target.base, url)
    operation = _operation(rules, target.tool.namespace, method, path) if target.tool is not None else None
    if path is not None and operation is not None:
        return CallTarget(operation[0], target.base, target.server, path, operation[1])
    if left_out_at(rules, target, method, url) is None and url_origin in (
        rules.allowed if method in READS else rules.open_origins
    ):
        return CallTarget(None, str(url_origin), str(url_origin), parts.path or "/", {})
    return None


def left_out_at(rules: EgressRules, target: CallTarget, method: str, url: str) -> LeftOut | None:
    """What a redirect of a call leads to and the user left out; None if it is nothing of that."""
    there = origin_at(url)
    if target.tool is None or there is None:
        return None
    path = leniently(urlsplit(url).path)
    method = "GET" if method == "HEAD" else method
    for namespace, server in rules.servers:
        server_parts = urlsplit(server)
        prefix = leniently(server_parts.path).rstrip("/")
        if origin_of(server_parts) == there and path.startswith(f"{prefix}/"):
            left_out = closest_left_out(rules.apis[namespace], method, path[len(prefix) :])
            if left_out is not None and left_out.chosen:
                return left_out
    return None


def path_within(base: str, url: str) -> str | None:
    """The path of a URL below a base URL; None if it is not below, or at another origin."""
    at_base = origin_at(url) == origin_of(urlsplit(base))
    return _within(urlsplit(url).path, urlsplit(base).path) if at_base else None


def _operation(rules: EgressRules, namespace: str, method: str, path: str | None) -> tuple[Tool, dict[str, str]] | None:
    if path is None:
        return None
    api = rules.apis[namespace]
    operation = match(api, method, path)
    if operation is None and method == "HEAD":
        operation = match(api, "GET", path)
    if operation is not None and closest_left_out(api, operation[0].method, path, operation[0]) is not None:
        return None
    return operation


def _shown(rules: EgressRules) -> list[str]:
    """The servers of the API as a program should know them: not where a documented one really is."""
    shown_servers = []
    for namespace, api in rules.apis.items():
        shown_servers += server_urls(api, None) or [server for name, server in rules.servers if name == namespace]
    return shown_servers


def _nearest(rules: EgressRules, method: str, path: str) -> str:
    operations = {f"{tool.method} {tool.path}": None for api in rules.apis.values() for tool in api.tools}
    close = difflib.get_close_matches(f"{method} {path}", operations, 1, 0.4)
    return f"; did you mean {close[0]}?" if close else ""


def _within(path: str, prefix: str) -> str | None:
    """The path below a prefix of whole segments, or None; one that climbs is below nothing."""
    if has_parent_step(path):
        return None
    prefix = prefix.rstrip("/")
    if path != prefix and not path.startswith(prefix + "/"):
        return None
    return path[len(prefix) :] or "/"
