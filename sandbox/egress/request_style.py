"""Calls that a program writes with `requests`: prepared by that library, and bound to the operation that they address.

Such a call may name any documented server (or the base URL in force), and an origin that the user allowed. Headers that
may change what was checked are left out, and the user is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import requests

from protocols.calls.serialization import CONNECTION_HEADERS, is_override, normalized_header
from protocols.quoting import one_line
from sandbox.egress.addressing import locate
from sandbox.egress.bind import Unbound, idempotency_header
from sandbox.egress.egress_rules import CallTarget, UnreachableError, check_length
from sandbox.egress.record import CallContext
from sandbox.egress.request_values import body_value, grouped
from sandbox.egress.signing import HEADERS_LIMIT, overrides_method, with_defaults
from sandbox.egress.stages import Begun, Bound, PlannedRequest, QueryPairs
from sandbox.records import cut

__all__ = ["RequestOptions", "bind_request"]


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """What a program gives `requests` beside method and URL.

    `data` are raw bytes, or pairs for a form; `json_body` is a JSON text, `timeout` the seconds that it asks for.
    """

    params: Sequence[Sequence[str]] = ()
    headers: Mapping[str, str] | None = None
    cookies: Mapping[str, str] | None = None
    data: bytes | Sequence[Sequence[str]] | None = None
    json_body: bytes | None = None
    auth: tuple[str, str] | None = None
    timeout: float | None = None
    redirects: bool = True


def bind_request(context: CallContext, call: Begun, method: str, url: str, options: RequestOptions) -> Bound | Unbound:
    """A call as the program wrote it, bound to what its URL addresses."""
    rules, clean = context.rules, context.redactor.text
    method = method.upper()
    default = {"Content-Type": "application/json"} if options.json_body is not None else {}
    headers, cookies = with_defaults(options.headers or {}, default), dict(options.cookies or {})
    try:
        prepared = _prepared(method, url, headers, cookies, options)
        target = locate(rules, method, str(prepared.url))
        for text in [text for name, text in headers.items() if normalized_header(name) == "cookie"][:1]:
            pairs = (part.strip().partition("=") for part in text.split(";"))
            cookies = {name: value for name, _, value in pairs if name}
        planned = PlannedRequest(
            method=str(prepared.method),
            path=target.path,
            query=QueryPairs.of(str(prepared.url)),
            headers={name: str(text) for name, text in prepared.headers.items() if _may_pass(name, context)},
            cookies=cookies,
            body=prepared.body.encode() if isinstance(prepared.body, str) else prepared.body,
            timeout=options.timeout,
            redirects=options.redirects,
        )
        if overrides_method(target.tool, planned):
            raise UnreachableError("InvalidURL", "a request must not give a _method, which may change the method")
    except (requests.RequestException, UnreachableError, UnicodeError, ValueError) as error:
        failure = error.kind if isinstance(error, UnreachableError) else type(error).__name__
        return Unbound(method, clean(url), {}, one_line(clean(str(error))), failure)
    arguments, reads = _arguments(target, planned), rules.only_reads(target)
    return Bound(call, target, planned, clean(str(prepared.url)), arguments, reads, key=idempotency_header(target.tool))


def _prepared(
    method: str, url: str, headers: Mapping[str, str], cookies: Mapping[str, str], options: RequestOptions
) -> requests.PreparedRequest:
    """The request as the library makes it. Raises: UnreachableError: It is too large; RequestException, ValueError."""
    if re.fullmatch(r"[A-Z]{1,20}", method) is None:
        raise UnreachableError("InvalidURL", f"there is no method {cut(method, 50)}")
    check_length(url, sum(len(name) + len(value) for name, value in options.params))
    if sum(len(name) + len(value) for name, value in {**headers, **cookies}.items()) > HEADERS_LIMIT:
        raise UnreachableError("InvalidHeader", f"the headers have more than {HEADERS_LIMIT} characters")
    data: Any = options.data if options.json_body is None else options.json_body
    prepared = requests.Request(
        method,
        url,
        params=[(name, value) for name, value in options.params],
        headers=dict(headers),
        cookies=dict(cookies),
        data=data if data is None or isinstance(data, bytes) else [(name, value) for name, value in data],
        auth=options.auth,
    ).prepare()
    check_length(str(prepared.url))
    return prepared


def _may_pass(header: str, context: CallContext) -> bool:
    """True if a header of the program is sent on as it is."""
    name, shortened = normalized_header(header), cut(header.strip(), 100)
    if is_override(name):
        text = f"the program's own header {shortened} was not sent: it may change the method or path"
        context.recorder.warn(text)
        return False
    if re.fullmatch("[a-z0-9-]+", name) is None:
        text = f"the program's own header {shortened!r} was not sent: a name has letters, digits, - and _ alone"
        context.recorder.warn(text)
        return False
    return name not in CONNECTION_HEADERS and name != "cookie"


def _arguments(target: CallTarget, planned: PlannedRequest) -> dict[str, object]:
    """The values in a request, by argument name as far as the tool knows it; of a large body, its beginning.

    A name in two places stands for both: `id` and `body id`.
    """
    names: dict[tuple[str, str], str] = {}
    if target.tool is not None:
        names = {(p.location, p.name): p.argument for p in target.tool.arguments}
    arguments: dict[str, object] = dict(target.arguments)

    def add(location: str, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            argument = names.get((location, name), name)
            while argument in arguments:
                argument = f"{location} {argument}"
            arguments[argument] = value

    add("query", grouped(planned.query))
    body = body_value(planned)
    if isinstance(body, dict):
        add("body", body)
    elif planned.body and body is not None:
        add("body", {"body": body})
    return arguments
