"""The `requests` that a program imports: the library's ordinary face, with the broker in the parent behind it.

Nothing here opens a connection. A call is described as plain data and handed to `exchange`; the parent prepares it
with the real library, so that encoding of parameters and bodies is the same. There is no pool, proxy or certificate
to set: such arguments are accepted and have no effect.
"""

# ruff: noqa: N818, SIM905 - the names are those of requests; word lists read better than quoted ones

from __future__ import annotations

import json as _json

from sandbox.language.shims.replies import answered_by, note_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    Exchange = Callable[[dict[str, object], bytes], tuple[dict[str, object], bytes]]

__all__ = ["requests_modules"]


# Exceptions, as the library's own tree


class RequestException(IOError):
    """Base of all errors of a call."""

    def __init__(self, *args: object, request: object = None, response: object = None) -> None:
        super().__init__(*args)
        self.response = response
        self.request = request


class HTTPError(RequestException):
    """raise_for_status: the service answered 4xx or 5xx."""


class ConnectionError(RequestException):
    """No reply came."""


class ProxyError(ConnectionError):
    """Never raised here."""


class SSLError(ConnectionError):
    """The service's certificate is not good."""


class Timeout(RequestException):
    """No reply came in time."""


class ConnectTimeout(ConnectionError, Timeout):
    """The service did not take the connection in time."""


class ReadTimeout(Timeout):
    """The service did not answer in time."""


class URLRequired(RequestException):
    """There is no URL."""


class TooManyRedirects(RequestException):
    """The service sends us round in circles."""


class MissingSchema(RequestException, ValueError):
    """The URL lacks http:// or https://."""


class InvalidSchema(RequestException, ValueError):
    """The URL is neither http nor https."""


class InvalidURL(RequestException, ValueError):
    """The URL is no address of this API."""


class InvalidHeader(RequestException, ValueError):
    """A header that may not be set."""


class ChunkedEncodingError(RequestException):
    """The reply broke off."""


class ContentDecodingError(RequestException):
    """The reply can't be unpacked."""


class RetryError(RequestException):
    """Never raised here."""


class InvalidJSONError(RequestException):
    """A JSON error."""


class JSONDecodeError(InvalidJSONError, _json.JSONDecodeError):
    """The body is not JSON."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        _json.JSONDecodeError.__init__(self, *args)  # type: ignore[arg-type]
        InvalidJSONError.__init__(self, *self.args, **kwargs)

    def __reduce__(self) -> str | tuple[object, ...]:
        return _json.JSONDecodeError.__reduce__(self)


_ERRORS = {
    kind.__name__: kind
    for kind in (
        *(RequestException, HTTPError, ConnectionError, ProxyError, SSLError, Timeout, ConnectTimeout, ReadTimeout),
        *(URLRequired, TooManyRedirects, MissingSchema, InvalidSchema, InvalidURL, InvalidHeader, RetryError),
        *(ChunkedEncodingError, ContentDecodingError, InvalidJSONError, JSONDecodeError),
    )
}
for _kind in _ERRORS.values():
    _kind.__module__ = "requests.exceptions"


# Values


class CaseInsensitiveDict(dict[str, str]):
    """Headers: `headers["Content-Type"]` and `headers["content-type"]` are the same."""

    def __init__(self, items: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        super().__init__(items)
        self._names = {name.lower(): name for name in self}

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(self._names[name.lower()])

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(self._names.setdefault(name.lower(), name), value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(self._names.pop(name.lower()))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._names

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        return super().get(self._names.get(name.lower(), name), default)

    def update(self, *sources: object, **entries: str) -> None:
        for name, value in dict(*sources, **entries).items():
            self[name] = value

    def setdefault(self, name: str, default: str = "") -> str:
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: object) -> object:  # type: ignore[override]
        return super().pop(self._names.pop(name.lower(), name), *default)


class Cookie:
    """One of a jar."""

    def __init__(self, name: str, value: str, domain: str) -> None:
        self.name = name
        self.value = value
        self.domain = domain
        self.path = "/"

    def __repr__(self) -> str:
        return f"<Cookie {self.name}={self.value} for {self.domain}/>"


class RequestsCookieJar:
    """Cookies by name. One that a service set is for that service alone; the program's own go everywhere."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], str] = {}

    def __getitem__(self, name: str) -> str:
        return self.get_dict()[name]

    def __setitem__(self, name: str, value: str) -> None:
        self.set(name, value)

    def __delitem__(self, name: str) -> None:
        self._held = {key: value for key, value in self._held.items() if key[1] != name}

    def __contains__(self, name: object) -> bool:
        return name in self.get_dict()

    def __iter__(self) -> Iterator[Cookie]:
        return iter([Cookie(name, value, _host(origin)) for (origin, name), value in self._held.items()])

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return f"<RequestsCookieJar[{', '.join(map(repr, self))}]>"

    def set(self, name: str, value: str | None, **options: object) -> None:
        """Keep a cookie; None takes it away."""
        if value is None:
            del self[name]
        else:
            self._held["", name] = value

    def get(self, name: str, default: object = None, **options: object) -> object:
        """The value of a cookie."""
        return self.get_dict().get(name, default)

    def get_dict(self, domain: str | None = None, path: str | None = None) -> dict[str, str]:
        """All of them, or those of one host."""
        held = self._held.items()
        return {name: value for (origin, name), value in held if domain is None or _host(origin) == domain}

    def keys(self) -> list[str]:
        """Their names."""
        return [name for _, name in self._held]

    def values(self) -> list[str]:
        """Their values."""
        return list(self._held.values())

    def items(self) -> list[tuple[str, str]]:
        """Names and values."""
        return list(zip(self.keys(), self.values(), strict=True))

    def update(self, other: object) -> None:
        """Take over those of a dict or of another jar."""
        if isinstance(other, RequestsCookieJar):
            self._held.update(other._held)
        else:
            for name, value in dict(other).items():  # type: ignore[call-overload]
                self.set(name, value)

    def pop(self, name: str, *default: object) -> object:
        """Take one away."""
        value = self.get_dict().pop(name, *default)
        del self[name]
        return value

    def clear(self) -> None:
        """Take all away."""
        self._held.clear()

    def copy(self) -> RequestsCookieJar:
        """Another jar of the same."""
        duplicate = RequestsCookieJar()
        duplicate.update(self)
        return duplicate


RequestsCookieJar.__module__ = "requests.cookies"


def _cookies_of(origin: str, items: Mapping[str, str]) -> RequestsCookieJar:
    """Cookies that a service set."""
    jar = RequestsCookieJar()
    jar._held.update({(origin, name): value for name, value in items.items()})
    return jar


def _cookies_for(jar: object, url: object) -> dict[str, str]:
    """Those that go to a URL, of a jar or a dict."""
    if not isinstance(jar, RequestsCookieJar):
        return {str(name): str(value) for name, value in dict(jar or {}).items()}  # type: ignore[call-overload]
    here = _origin(str(url))
    return {name: value for (origin, name), value in jar._held.items() if origin in ("", here)}


def _origin(url: str) -> str:
    scheme, _, rest = url.strip().partition("://")
    return f"{scheme}://{rest.replace('?', '/').replace('#', '/').partition('/')[0]}".lower()


def _host(origin: str) -> str:
    return origin.partition("://")[2].partition(":")[0]


class _Codes(dict[str, int]):
    """`requests.codes.ok` and `requests.codes["not_found"]`."""

    def __getattr__(self, name: str) -> int | None:
        return self.get(name.lower())


class PreparedRequest:
    """What was sent, as far as a program may know it."""

    def __init__(self, method: str, url: str, headers: Mapping[str, str], body: object) -> None:
        self.method = method
        self.url = url
        self.headers = CaseInsensitiveDict(headers)
        self.body = body

    def __repr__(self) -> str:
        return f"<PreparedRequest [{self.method}]>"


PreparedRequest.__module__ = "requests.models"


class Response:
    """The reply to one call."""

    def __init__(self, head: Mapping[str, object], content: bytes, request: PreparedRequest) -> None:
        self.status_code: int = head["status"]  # type: ignore[assignment]
        self.reason: str = head["reason"]  # type: ignore[assignment]
        self.url: str = head["url"]  # type: ignore[assignment]
        self.headers = CaseInsensitiveDict(head["headers"])  # type: ignore[arg-type]
        self.encoding: str | None = head["encoding"]  # type: ignore[assignment]
        self.cookies = _cookies_of(_origin(self.url), head["cookies"])  # type: ignore[arg-type]
        self.content = content
        self.request = request
        self.history: list[Response] = []
        self._seconds: float = head["seconds"]  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Response [{self.status_code}]>"

    def __bool__(self) -> bool:
        return self.ok

    def __iter__(self) -> Iterator[bytes]:
        return self.iter_content(128)

    def __enter__(self) -> Response:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def close(self) -> None:
        """Nothing stays open."""

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return self.status_code < 400

    @property
    def elapsed(self) -> object:
        """Time until the reply was there."""
        from datetime import timedelta

        return timedelta(seconds=self._seconds)

    @property
    def is_redirect(self) -> bool:
        """Whether the service sent us elsewhere."""
        return "location" in self.headers and self.status_code in (301, 302, 303, 307, 308)

    @property
    def is_permanent_redirect(self) -> bool:
        """Whether the service sent us elsewhere for good."""
        return "location" in self.headers and self.status_code in (301, 308)

    @property
    def links(self) -> dict[str, dict[str, str]]:
        """The links of the Link header, by what they are (`next`) or by their URL."""
        links = _links(str(self.headers.get("link", "")))
        return {link.get("rel") or link["url"]: link for link in links}

    @property
    def apparent_encoding(self) -> str:
        """The encoding that the bytes look like."""
        try:
            self.content.decode()
        except UnicodeDecodeError:
            return "ISO-8859-1"
        return "utf-8"

    @property
    def text(self) -> str:
        """The body as text."""
        try:
            return self.content.decode(self.encoding or self.apparent_encoding, "replace")
        except LookupError:
            return self.content.decode("utf-8", "replace")

    def json(self, **options: object) -> object:
        """The body as JSON. Raises: JSONDecodeError."""
        try:
            text = self.content.decode(_json.detect_encoding(self.content)) if not self.encoding else self.text
            return _json.loads(text, **options)  # type: ignore[arg-type]
        except _json.JSONDecodeError as error:
            raise JSONDecodeError(error.msg, error.doc, error.pos) from None
        except UnicodeDecodeError:
            raise JSONDecodeError("Expecting value", self.text, 0) from None

    def iter_content(self, chunk_size: int | None = 1, decode_unicode: bool = False) -> Iterator[Any]:
        """The body in pieces; all at once for None. They are bytes, or text if that is asked for and can be had."""
        size = chunk_size if chunk_size is not None and chunk_size > 0 else max(len(self.content), 1)
        pieces = (self.content[start : start + size] for start in range(0, len(self.content), size))
        if not decode_unicode or self.encoding is None:
            yield from pieces
            return
        import codecs

        decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        for piece in pieces:
            if text := decoder.decode(piece):
                yield text
        if text := decoder.decode(b"", True):
            yield text

    def iter_lines(
        self, chunk_size: int | None = 512, decode_unicode: bool = False, delimiter: Any = None
    ) -> Iterator[Any]:
        """The body line by line, or by what a delimiter parts."""
        pending = None
        for chunk in self.iter_content(chunk_size, decode_unicode):
            whole = chunk if pending is None else pending + chunk
            lines = whole.split(delimiter) if delimiter else whole.splitlines()
            pending = lines.pop() if lines and lines[-1] and whole and lines[-1][-1] == whole[-1] else None
            yield from lines
        if pending is not None:
            yield pending

    def raise_for_status(self) -> None:
        """Raises: HTTPError: The status is 4xx or 5xx."""
        if self.status_code >= 400:
            side = "Client" if self.status_code < 500 else "Server"
            text = f"{self.status_code} {side} Error: {self.reason} for url: {self.url}"
            error = HTTPError(text, request=self.request, response=self)
            note_answer(error, answered_by(self))
            raise error


Response.__module__ = "requests.models"


class HTTPBasicAuth:
    """A name and a password for one call."""

    def __init__(self, username: str, password: str) -> None:
        self.username = username
        self.password = password


class HTTPAdapter:
    """Accepted by Session.mount; a program has no connections of its own, so it has no effect."""

    def __init__(self, *args: object, **options: object) -> None:
        pass


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
        for name in options:
            if name not in _REQUEST_OPTIONS and name not in _NO_EFFECT:
                raise TypeError(f"Session.request() got an unexpected keyword argument '{name}'")
        method = str(method).upper()
        head, body = _request_frame(method, url, options)
        reply, content = exchange(head, body)
        sent_body = _sent_body(head, body, options.get("data"))
        request = PreparedRequest(method, str(reply.get("url", url)), reply.get("sent", {}), sent_body)  # type: ignore[arg-type]
        if "error" in reply:
            error = _ERRORS.get(str(reply["error"]), RequestException)(reply["message"], request=request)
            note_answer(error, reply["index"])
            raise error
        response = Response(reply, content, request)
        note_answer(response, reply["index"])
        came_from = str(url)
        for (status, next_url), cookies in zip(reply["history"], reply["set_on_the_way"], strict=True):  # type: ignore[call-overload]
            head = {**reply, "status": status, "url": came_from, "headers": {"location": next_url}, "cookies": cookies}
            response.history.append(Response(head, b"", request))
            came_from = next_url
        return response

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
            options["cookies"] = {**_cookies_for(self.cookies, url), **dict(options.get("cookies") or {})}  # type: ignore[call-overload]
            options["params"] = _merged(self.params, options.get("params"))
            if options.get("auth") is None:
                options["auth"] = self.auth
            response = perform(method, url, options)
            for hop in (*response.history, response):
                self.cookies.update(hop.cookies)  # type: ignore[attr-defined]
            return response

        def get(self, url: str, **options: object) -> Response:
            """Send a GET request."""
            return self.request("GET", url, **options)

        def options(self, url: str, **options: object) -> Response:
            """Send an OPTIONS request."""
            return self.request("OPTIONS", url, **options)

        def head(self, url: str, **options: object) -> Response:
            """Send a HEAD request."""
            return self.request("HEAD", url, **options)

        def post(self, url: str, data: object = None, json: object = None, **options: object) -> Response:
            """Send a POST request."""
            return self.request("POST", url, data=data, json=json, **options)

        def put(self, url: str, data: object = None, **options: object) -> Response:
            """Send a PUT request."""
            return self.request("PUT", url, data=data, **options)

        def patch(self, url: str, data: object = None, **options: object) -> Response:
            """Send a PATCH request."""
            return self.request("PATCH", url, data=data, **options)

        def delete(self, url: str, **options: object) -> Response:
            """Send a DELETE request."""
            return self.request("DELETE", url, **options)

    Session.__module__ = "requests.sessions"
    Session.__qualname__ = "Session"

    def request(method: str, url: str, **options: object) -> Response:
        return perform(method, url, options)

    def get(url: str, params: object = None, **options: object) -> Response:
        return perform("GET", url, {"params": params, **options})

    def post(url: str, data: object = None, json: object = None, **options: object) -> Response:
        return perform("POST", url, {"data": data, "json": json, **options})

    def put(url: str, data: object = None, **options: object) -> Response:
        return perform("PUT", url, {"data": data, **options})

    def patch(url: str, data: object = None, **options: object) -> Response:
        return perform("PATCH", url, {"data": data, **options})

    def delete(url: str, **options: object) -> Response:
        return perform("DELETE", url, options)

    def head(url: str, **options: object) -> Response:
        return perform("HEAD", url, options)

    def options(url: str, **options: object) -> Response:
        return perform("OPTIONS", url, options)

    verbs = (request, get, post, put, patch, delete, head, options)
    top = {verb.__name__: verb for verb in verbs}
    return {
        "requests": {
            **top,
            **{name: _ERRORS[name] for name in _TOP_LEVEL_ERRORS},
            "Response": Response,
            "Session": Session,
            "__version__": "2.32.0",
            "codes": _codes(),
            "session": Session,
        },
        "requests.adapters": {"HTTPAdapter": HTTPAdapter},
        "requests.auth": {"HTTPBasicAuth": HTTPBasicAuth},
        "requests.exceptions": dict(_ERRORS),
        "requests.utils": _utils(),
    }


_REQUEST_OPTIONS = frozenset(
    {"params", "data", "json", "headers", "cookies", "timeout", "auth", "allow_redirects", "files"}
)
_TOP_LEVEL_ERRORS = (
    "ConnectionError ConnectTimeout HTTPError JSONDecodeError ReadTimeout RequestException Timeout TooManyRedirects "
    "URLRequired"
).split()


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
            raise InvalidJSONError(error) from None
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
    """The parameters of a session and of a call, which wins name by name if both are dicts, else as a whole."""
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


def _links(header: str) -> list[dict[str, str]]:
    """What a Link header holds: the URL and parameters of each link."""
    links = []
    for part in header.strip(" '\"").split(", <") if header.strip() else ():
        url, _, parameters = part.partition(";")
        link = {"url": url.strip("<> '\"")}
        for parameter in parameters.split(";"):
            name, sign, value = parameter.partition("=")
            if not sign:
                break
            link[name.strip(" '\"")] = value.strip(" '\"")
        links.append(link)
    return links


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
