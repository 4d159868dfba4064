"""The `requests` that a program imports: the library's ordinary face, with the broker in the parent behind it.

Nothing here opens a connection. A call is described as plain data and handed to `exchange`; the parent prepares it
with the real library, so that encoding of parameters and bodies is the same. There is no pool, proxy or certificate
to set: such arguments are accepted and have no effect.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import json as _json
from types import FunctionType

from sandbox.language.shims.http_values import (
    ERRORS,
    CaseInsensitiveDict,
    HTTPAdapter,
    HTTPBasicAuth,
    PreparedRequest,
    RequestException,
    RequestsCookieJar,
    Response,
    cookies_for,
)
from sandbox.language.shims.tasks import bind_to_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Exchange = Callable[[dict[str, object], bytes], tuple[dict[str, object], bytes]]
    Perform = Callable[[str, object, dict[str, object]], Response]

__all__ = ["requests_modules"]

_DEFAULT_HEADERS = {
    "User-Agent": "python-requests/2",
    "Accept-Encoding": "gzip, deflate",
    "Accept": "*/*",
    "Connection": "keep-alive",
}

_NO_EFFECT = frozenset({"verify", "cert", "proxies", "stream", "hooks"})


def requests_modules(exchange: Exchange) -> dict[str, dict[str, object]]:
    """The modules `requests` and its parts, whose calls go through `exchange`.

    `exchange(head, body)` gives the head and body of the reply; a head with "error" names the class of the exception
    to raise and with "message" its text.
    """

    def perform(method: str, url: object, options: dict[str, object]) -> Response:
        return _perform(exchange, method, url, options)

    session = _session_class(perform)
    return {
        "requests": {
            **{name: _verb(name, perform) for name in _POSITIONAL},
            "request": lambda method, url, **options: perform(method, url, options),
            **{name: ERRORS[name] for name in _TOP_LEVEL_ERRORS},
            "Response": Response,
            "Session": session,
            "__version__": "2.32.0",
            "codes": _codes(),
            "session": session,
        },
        "requests.adapters": {"HTTPAdapter": HTTPAdapter},
        "requests.auth": {"HTTPBasicAuth": HTTPBasicAuth},
        "requests.exceptions": dict(ERRORS),
        "requests.utils": _utils(),
    }


def _perform(exchange: Exchange, method: str, url: object, options: dict[str, object]) -> Response:
    """Make one call and give its response. Raises: RequestException, TypeError."""
    for name in options:
        if name not in _REQUEST_OPTIONS and name not in _NO_EFFECT:
            raise TypeError(f"Session.request() got an unexpected keyword argument '{name}'")
    method = str(method).upper()
    head, body = _request_frame(method, url, options)
    reply, content = exchange(head, body)
    sent_body = _sent_body(head, body, options.get("data"))
    request = PreparedRequest(method, str(reply.get("url", url)), reply.get("sent", {}), sent_body)  # type: ignore[arg-type]
    if "error" in reply:
        error = ERRORS.get(str(reply["error"]), RequestException)(reply["message"], request=request)
        bind_to_call(error, reply["index"])
        raise error
    response = Response(reply, content, request)
    bind_to_call(response, reply["index"])
    came_from = str(url)
    for status, next_url, cookies in reply["hops"]:  # type: ignore[attr-defined]
        head = {**reply, "status": status, "url": came_from, "headers": {"location": next_url}, "cookies": cookies}
        response.history.append(Response(head, b"", request))
        came_from = next_url
    return response


def _session_class(perform: Perform) -> type:
    class Session:
        """Keeps headers, parameters, cookies and a sign-in from call to call."""

        def __init__(self) -> None:
            self.headers = CaseInsensitiveDict(_DEFAULT_HEADERS)
            self.params: object = {}
            self.cookies: object = RequestsCookieJar()
            self.auth: object = None
            self.verify = True
            self.max_redirects = 30

        def __enter__(self) -> Session:
            return self

        def __exit__(self, *error: object) -> None:
            return None

        def close(self) -> None:
            """Nothing stays open."""

        def mount(self, prefix: str, adapter: object) -> None:
            """Accepted; the broker has its own rules for retries."""

        def request(self, method: str, url: str, **options: object) -> Response:
            """Send a request."""
            headers = CaseInsensitiveDict(self.headers)
            headers.update(options.get("headers") or {})
            options["headers"] = headers  # a header that is None is left out
            options["cookies"] = {**cookies_for(self.cookies, url), **dict(options.get("cookies") or {})}  # type: ignore[call-overload]
            options["params"] = _merged(self.params, options.get("params"))
            if options.get("auth") is None:
                options["auth"] = self.auth
            response = perform(method, url, options)
            for hop in (*response.history, response):
                self.cookies.update(hop.cookies)  # type: ignore[attr-defined]
            return response

    Session.__module__ = "requests.sessions"
    for name in _POSITIONAL:
        setattr(Session, name, _session_verb(name))
    Session.__qualname__ = "Session"
    for name, method in vars(Session).items():
        if isinstance(method, FunctionType):
            method.__name__, method.__qualname__ = name, f"Session.{name}"  # as the library's errors name it
    return Session


_POSITIONAL = {
    **dict.fromkeys(("delete", "head", "options"), ()),
    **dict.fromkeys(("put", "patch"), ("data",)),
    "get": ("params",),
    "post": ("data", "json"),
}
"""The functions of `requests` that are a request each, and what they take by position after the URL."""


def _session_verb(name: str) -> Callable[..., Response]:
    def verb(self: Any, *args: object, **options: object) -> Response:
        send = _verb(name, lambda method, url, options: self.request(method, url, **options))
        return send(*args, **options)

    return verb


def _verb(name: str, perform: Perform) -> Callable[..., Response]:
    """One of them; its name is that of the library, as its errors say it."""

    def verb(url: str, *args: object, **options: object) -> Response:
        positional = _POSITIONAL[name]
        if len(args) > len(positional):
            raise TypeError(f"{name}() takes at most {1 + len(positional)} positional arguments")
        return perform(name.upper(), url, {**dict(zip(positional, args, strict=False)), **options})

    verb.__name__ = verb.__qualname__ = name
    return verb


_REQUEST_OPTIONS = frozenset("params data json headers cookies timeout auth allow_redirects files".split())
_TOP_LEVEL_ERRORS = """
    ConnectionError ConnectTimeout HTTPError JSONDecodeError ReadTimeout RequestException Timeout TooManyRedirects
    URLRequired
""".split()


class _Codes(dict[str, int]):
    """`requests.codes.ok` and `requests.codes["not_found"]`."""

    def __getattr__(self, name: str) -> int | None:
        return self.get(name.lower())


def _utils() -> dict[str, object]:
    from urllib.parse import quote, unquote, urlparse, urlunparse

    texts = {function.__name__: function for function in (quote, unquote, urlparse, urlunparse)}
    return {**texts, "dict_from_cookiejar": lambda jar: dict(jar)}


def _codes() -> _Codes:
    from http import HTTPStatus

    codes = _Codes({status.name.lower(): status.value for status in HTTPStatus})
    codes.update(okay=200, too_many=429, server_error=500)
    return codes


def _request_frame(method: str, url: object, options: dict[str, object]) -> tuple[dict[str, object], bytes]:
    """One call as plain data: the head is JSON, the body bytes."""
    if options.get("files"):
        raise RequestException("files can't be sent with requests here; call the tool as a function")
    url = url.decode() if isinstance(url, bytes) else str(url)
    params = options.get("params")
    if params and isinstance(params, (str, bytes)):  # goes behind the query as it is
        front, sign, fragment = url.partition("#")
        url, params = f"{front}{'&' if '?' in front else '?'}{_text(params)}{sign}{fragment}", None
    head: dict[str, object] = {"method": method, "url": url, "params": _pairs(params)}
    headers = dict(options.get("headers") or {})  # type: ignore[call-overload]
    head["headers"] = {str(name): _text(value) for name, value in headers.items() if value is not None}
    cookies = dict(options.get("cookies") or {})  # type: ignore[call-overload]
    head["cookies"] = {str(name): str(value) for name, value in cookies.items()}
    head["redirects"] = bool(options.get("allow_redirects", method != "HEAD"))
    timeout = options.get("timeout")
    if timeout is not None:
        parts = timeout if isinstance(timeout, (tuple, list)) else (timeout, timeout)
        head["timeout"] = [None if part is None else float(part) for part in parts]
    auth = options.get("auth")
    if isinstance(auth, HTTPBasicAuth):
        auth = (auth.username, auth.password)
    if auth:
        head["auth"] = [str(part) for part in auth]  # type: ignore[attr-defined]
    data, payload = options.get("data"), options.get("json")
    if data:
        if isinstance(data, (str, bytes, bytearray)):
            return {**head, "raw": True}, data.encode() if isinstance(data, str) else bytes(data)
        if hasattr(data, "read"):
            content = data.read()
            return {**head, "raw": True}, content.encode() if isinstance(content, str) else bytes(content)
        return {**head, "form": _pairs(data)}, b""
    if payload is not None:
        try:
            return {**head, "json": True}, _json.dumps(payload, allow_nan=False).encode()
        except ValueError as error:
            raise ERRORS["InvalidJSONError"](error) from None
    return head, b""


def _pairs(items: object) -> list[list[str]]:
    """Parameters as the library takes them (dict, pairs, text; lists repeat the name, None is left out) as pairs."""
    if not items:
        return []
    if isinstance(items, (str, bytes)):
        from urllib.parse import parse_qsl

        return [list(pair) for pair in parse_qsl(_text(items), keep_blank_values=True)]
    pairs: list[list[str]] = []
    entries: Iterable[tuple[object, object]] = items.items() if hasattr(items, "items") else items  # type: ignore[assignment]
    for name, values in entries:
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            values = [values]
        pairs += [[_text(name), _text(value)] for value in values if value is not None]
    return pairs


def _merged(session: object, call: object) -> object:
    if call is None or not session:
        return session if call is None else call
    if not (hasattr(session, "items") and hasattr(call, "items")):
        return call
    return {**session, **call}  # type: ignore[dict-item]


def _sent_body(head: Mapping[str, object], body: bytes, data: object) -> object:
    """The body that was sent, as the library shows it: text where the program gave text or a form."""
    if "form" in head:
        from urllib.parse import urlencode

        return urlencode([(name, value) for name, value in head["form"]])  # type: ignore[attr-defined]
    return data if isinstance(data, str) and data else body or None


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
