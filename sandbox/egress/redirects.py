"""Where a reply sends a call to: what is sent next, or why nothing is (RFC 9110, section 15.4).

Within its API a redirect is followed with the credentials; to an origin that the user allowed without them, as a
download that lies in a storage. A write is never repeated: only 307 and 308 say that it was not done. It never becomes
another one either: what somebody agreed to is one operation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote, urljoin, urlsplit

from protocols.model import READS
from sandbox.egress.addressing import left_out_at, path_within, redirect_target
from sandbox.egress.egress_rules import CallTarget, EgressRules, UnreachableError, display_url, origin_at
from sandbox.egress.record import CallContext
from sandbox.egress.signing import overrides_method
from sandbox.egress.stages import (
    REDIRECTS,
    TOO_MANY,
    Bound,
    Hop,
    LimitExceeded,
    NoAnswerError,
    PlannedRequest,
    QueryPairs,
    Sent,
    TooLargeError,
    TransportReply,
    header,
    join_url,
)
from sandbox.egress.transport import PreparedRequest, RequestError
from sandbox.records import cut

__all__ = ["MAX_REDIRECTS", "NextRequest", "RedirectFollower", "next_request"]

MAX_REDIRECTS = 5

_IDEMPOTENT = frozenset({"PUT", "DELETE"})
_FOR_ANYBODY = frozenset({"accept", "accept-language", "content-type", "range", "user-agent"})
"""Headers that an allowed origin gets; any other one may be a secret of the API."""


class NextRequest(NamedTuple):
    """What a redirect leads to; without `signed` it gets neither credentials nor cookies."""

    target: CallTarget
    planned: PlannedRequest
    signed: bool


def next_request(rules: EgressRules, current: NextRequest, status: int, url: str, *, free: bool) -> NextRequest | str:
    """The request that follows a redirect to a URL, or why there is none, with the remedy.

    Args:
        free: Nobody has to agree to writes, so that one may go on at an allowed origin.
    """
    target, planned, signed = current
    if not planned.redirects:
        return "redirects of this call are not followed"
    same_path = _same_path(rules, current, url)
    method = _next_method(planned, status, same_path)
    if method is None:
        why = f"a {planned.method} is not sent again after a {status}"
        return f"it redirects to {_shown(url)}, and {why}{_remedy(rules, current, url)}"
    if method != planned.method:
        headers = {name: text for name, text in planned.headers.items() if not name.lower().startswith("content-")}
        planned = replace(planned, method=method, body=None, headers=headers)
    if same_path is not None and method == current.planned.method:
        next_target: CallTarget | None = target._replace(path=same_path)
    else:
        next_target = redirect_target(rules, target, method, url)
    is_moved = not free and (same_path is None or QueryPairs.of(url) != list(planned.query))
    if next_target is not None and method not in READS and (is_moved or _is_another(next_target, target, free)):
        remedy = f"call {next_target.tool.name} itself" if next_target.tool is not None else "--writes allow lets it"
        return f"it redirects a {method} to {_shown(url)}, which nobody agreed to; {remedy}"
    if next_target is None:
        if (left_out := left_out_at(rules, target, method, url)) is not None:
            return f"it redirects to {_shown(url)}, and {left_out.sentence}"
        done = "the write was done, and " if status == 303 and current.planned.method not in READS else ""
        return f"{done}it redirects to {_shown(url)}, which is no operation of this API{_remedy(rules, current, url)}"
    if next_target.base != target.base or (next_target.tool is None and target.tool is not None):
        signed = False
        headers = {name: text for name, text in planned.headers.items() if name.lower() in _FOR_ANYBODY}
        body = None if method in READS else planned.body
        planned = replace(planned, headers=headers, cookies={}, body=body)
    planned = replace(planned, path=next_target.path, query=QueryPairs.of(url))
    if overrides_method(next_target.tool, planned):
        return f"it redirects to {_shown(url)} with a _method, which may change the method"
    return NextRequest(next_target, planned, signed)


def _is_another(following: CallTarget, target: CallTarget, free: bool) -> bool:
    """True if a request with its body goes to another operation, or to an allowed origin although somebody is asked."""
    if following.tool is None:
        return target.tool is not None and not free
    return target.tool is None or following.tool.name != target.tool.name


def _next_method(planned: PlannedRequest, status: int, same_path: str | None) -> str | None:
    """The method of the next request; None for a write of which it is not certain that it was not done."""
    if planned.method in READS or status in (307, 308):
        return planned.method
    if status == 303:
        return "GET"
    if status in (301, 302) and same_path is not None and planned.method in _IDEMPOTENT:
        return planned.method
    # A POST goes on as a GET, as ever; but not where only a slash was wrong: it would seem to have been done.
    return "GET" if status in (301, 302) and planned.method == "POST" and same_path in (None, planned.path) else None


def _same_path(rules: EgressRules, current: NextRequest, url: str) -> str | None:
    """The path of a redirect that only adds or takes away a slash at the end, or writes it otherwise; else None."""
    path = path_within(current.target.base, url)
    return path if path is not None and _plain(path) == _plain(current.planned.path) else None


def _plain(path: str) -> list[str]:
    """The segments of a path, decoded one by one: an encoded slash separates none."""
    return [unquote(segment) for segment in path.rstrip("/").split("/")]


def _shown(url: str) -> str:
    """A URL for a message: without its query, which for a storage is a signature."""
    try:
        return display_url(url)
    except ValueError:
        return "what is no address"


def _remedy(rules: EgressRules, current: NextRequest, url: str) -> str:
    """The options with which the call would reach where it is sent; empty where none helps."""
    if _same_path(rules, current, url) is not None:
        return "; correct the slash at the end of its path in the document"
    tool, base = current.target.tool, urlsplit(current.target.base)
    there, here = origin_at(url), origin_at(current.target.base)
    if there is None or here is None or there.scheme not in ("http", "https") or not there.host:
        return ""
    remedies = []
    path, end = urlsplit(url).path.rstrip("/"), current.planned.path.rstrip("/")
    if tool is not None and path.endswith(end) and (end or path == base.path.rstrip("/")):
        named = f"{tool.namespace}=" if tool.namespace else ""
        remedies.append(f"if the API is there, give --base-url {named}{there}{path[: len(path) - len(end)]}")
    is_upgrade = there.host == here.host and there.scheme != here.scheme
    if not is_upgrade and (there != here or current.planned.method in READS):
        remedies.append(f"to follow it without credentials, give --allow {there}")
    return "".join(f"; {remedy}" for remedy in remedies)


KeptCookies: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""The URLs of the API that set cookies, with their `Set-Cookie` lines."""


@dataclass(frozen=True, slots=True)
class RedirectFollower:
    """Follows the redirects of a reply.

    Args:
        free: As of `next_request`.
        send_once: Sends a signed request. keep_cookies: Keeps the cookies that a reply sets, and says which.
    """

    context: CallContext
    free: bool
    send_once: Callable[[PreparedRequest, PlannedRequest], TransportReply]
    keep_cookies: Callable[[Bound, CallTarget, PreparedRequest, TransportReply], KeptCookies]

    def sent(
        self,
        bound: Bound,
        response: TransportReply,
        cookies: KeptCookies,
        current: NextRequest,
        request: PreparedRequest,
    ) -> Sent:
        """Follow the redirects of a reply, each with one request, as far as that is allowed."""
        context = self.context
        sent = Sent(bound, response, set_cookies=cookies)
        while response.status in REDIRECTS and (location := header(response.headers, "location")) is not None:
            if len(sent.hops) == MAX_REDIRECTS:
                return replace(sent, stopped=TOO_MANY)
            following = self._next(current, response, _next_url(str(request.url), location))
            if isinstance(following, str):
                return replace(sent, stopped=following)
            target, planned, signed = following
            if signed and bound.call.style == "requests":
                planned = replace(planned, cookies={**planned.cookies, **response.cookies})
            current = NextRequest(target, planned, signed)
            sent = replace(sent, may_have_left=sent.may_have_left or planned.method != bound.planned.method)
            try:
                request = context.signer.sign(*current)
                next_url = join_url(target.server + target.path, planned.query if signed else ())
                on_the_way = context.redactor.heading(response).cookies
                hop = Hop(response.status, context.redactor.text(next_url), on_the_way)
                response.body.close()
                context.recorder.allowance.count_traffic(len(planned.body or b""))
                response = self.send_once(request, planned)
            except (NoAnswerError, TooLargeError, LimitExceeded, RequestError, UnreachableError, ValueError) as error:
                left = sent.may_have_left or (isinstance(error, NoAnswerError) and error.may_have_left)
                return replace(sent, outcome=error, may_have_left=left)
            cookies = self.keep_cookies(bound, target, request, response)
            sent = replace(sent, outcome=response, hops=(*sent.hops, hop), set_cookies=sent.set_cookies + cookies)
        return sent

    def _next(self, current: NextRequest, response: TransportReply, url: str) -> NextRequest | str:
        """The request that follows a redirect to a URL, or why there is none."""
        context = self.context
        following = next_request(context.rules, current, response.status, url, free=self.free)
        if isinstance(following, str):
            return cut(context.redactor.text(following))
        if not following.signed and context.redactor.text(url) != url:
            where = context.redactor.text(display_url(url))
            return f"it redirects to {where} with a credential in it, which is not sent there"
        return following


def _next_url(base: str, location: str) -> str:
    """The URL of a Location, whose bytes may be UTF-8, which headers are not read as; itself where it is no address."""
    with contextlib.suppress(UnicodeError):
        location = location.encode("latin-1").decode()
    try:
        return urljoin(base, location)
    except ValueError:
        return location
