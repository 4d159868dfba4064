"""The headers, cookies, responses and exceptions of `requests` as a program sees them.

The results of functions that have the headers of their reply are as ordinary as any others, but for `headers`: their
classes have the names of those that they extend, and `type(result)` is that one too (see sandbox.language.guards), so
that a program which does not care sees no difference.
"""

# ruff: noqa: N818, SIM905 - the names are those of requests; word lists read better than quoted ones

from __future__ import annotations

import json as _json

from sandbox.language import guards
from sandbox.language.shims.tasks import bind_to_call, call_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

__all__ = ["ERRORS", "CaseInsensitiveDict", "PreparedRequest", "RequestsCookieJar", "Response", "cookies_for"]
__all__ += ["HTTPAdapter", "HTTPBasicAuth", "RequestException", "with_headers"]


class RequestException(IOError):
    """Base of all errors of a call."""

    def __init__(self, *args: object, request: object = None, response: object = None) -> None:
        super().__init__(*args)
        self.response = response
        self.request = request


def _error(name: str, *bases: type) -> type[RequestException]:
    return type(name, bases or (RequestException,), {})


_PLAIN = """
    HTTPError ConnectionError Timeout URLRequired TooManyRedirects ChunkedEncodingError ContentDecodingError RetryError
    InvalidJSONError
""".split()
ERRORS: dict[str, type[RequestException]] = {name: _error(name) for name in _PLAIN}
"""The exceptions by name, in the tree of the library."""

ERRORS |= {name: _error(name, ERRORS["ConnectionError"]) for name in ("ProxyError", "SSLError")}
ERRORS["ConnectTimeout"] = _error("ConnectTimeout", ERRORS["ConnectionError"], ERRORS["Timeout"])
InvalidJSONError: Any = ERRORS["InvalidJSONError"]
ERRORS["ReadTimeout"] = _error("ReadTimeout", ERRORS["Timeout"])
for _name in ("MissingSchema", "InvalidSchema", "InvalidURL", "InvalidHeader"):
    ERRORS[_name] = _error(_name, RequestException, ValueError)


class JSONDecodeError(InvalidJSONError, _json.JSONDecodeError):  # type: ignore[misc]
    """The body is not JSON."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        _json.JSONDecodeError.__init__(self, *args)  # type: ignore[arg-type]
        InvalidJSONError.__init__(self, *self.args, **kwargs)

    def __reduce__(self) -> str | tuple[object, ...]:
        return _json.JSONDecodeError.__reduce__(self)


ERRORS |= {kind.__name__: kind for kind in (RequestException, JSONDecodeError)}
for _kind in ERRORS.values():
    _kind.__module__ = "requests.exceptions"


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
        return self.get_dict().get(name, default)

    def get_dict(self, domain: str | None = None, path: str | None = None) -> dict[str, str]:
        """All of them, or those of one host."""
        held = self._held.items()
        return {name: value for (origin, name), value in held if domain is None or _host(origin) == domain}

    def keys(self) -> list[str]:
        return [name for _, name in self._held]

    def values(self) -> list[str]:
        return list(self._held.values())

    def items(self) -> list[tuple[str, str]]:
        return list(zip(self.keys(), self.values(), strict=True))

    def update(self, other: object) -> None:
        if isinstance(other, RequestsCookieJar):
            self._held.update(other._held)
        else:
            for name, value in dict(other).items():  # type: ignore[call-overload]
                self.set(name, value)

    def pop(self, name: str, *default: object) -> object:
        value = self.get_dict().pop(name, *default)
        del self[name]
        return value

    def clear(self) -> None:
        self._held.clear()

    def copy(self) -> RequestsCookieJar:
        duplicate = RequestsCookieJar()
        duplicate.update(self)
        return duplicate


RequestsCookieJar.__module__ = "requests.cookies"


def cookies_of(origin: str, items: Mapping[str, str]) -> RequestsCookieJar:
    jar = RequestsCookieJar()
    jar._held.update({(origin, name): value for name, value in items.items()})
    return jar


def cookies_for(jar: object, url: object) -> dict[str, str]:
    if not isinstance(jar, RequestsCookieJar):
        return {str(name): str(value) for name, value in dict(jar or {}).items()}  # type: ignore[call-overload]
    here = _origin(str(url))
    return {name: value for (origin, name), value in jar._held.items() if origin in ("", here)}


def _origin(url: str) -> str:
    scheme, _, rest = url.strip().partition("://")
    return f"{scheme}://{rest.replace('?', '/').replace('#', '/').partition('/')[0]}".lower()


def _host(origin: str) -> str:
    return origin.partition("://")[2].partition(":")[0]


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
    def __init__(self, head: Mapping[str, object], content: bytes, request: PreparedRequest) -> None:
        self.status_code: int = head["status"]  # type: ignore[assignment]
        self.reason: str = head["reason"]  # type: ignore[assignment]
        self.url: str = head["url"]  # type: ignore[assignment]
        self.headers = CaseInsensitiveDict(head["headers"])  # type: ignore[arg-type]
        self.encoding: str | None = head["encoding"]  # type: ignore[assignment]
        self.cookies = cookies_of(_origin(self.url), head["cookies"])  # type: ignore[arg-type]
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
        return self.status_code < 400

    @property
    def elapsed(self) -> object:
        """Time until the reply was there."""
        from datetime import timedelta

        return timedelta(seconds=self._seconds)

    @property
    def is_redirect(self) -> bool:
        return "location" in self.headers and self.status_code in (301, 302, 303, 307, 308)

    @property
    def is_permanent_redirect(self) -> bool:
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
            error = ERRORS["HTTPError"](text, request=self.request, response=self)
            bind_to_call(error, call_index(self))
            raise error


Response.__module__ = "requests.models"


class HTTPBasicAuth:
    def __init__(self, username: str, password: str) -> None:
        self.username = username
        self.password = password


class HTTPAdapter:
    """Accepted by Session.mount; a program has no connections of its own, so it has no effect."""

    def __init__(self, *args: object, **options: object) -> None:
        pass


def _links(header: str) -> list[dict[str, str]]:
    """The URL and parameters of each link in a Link header."""
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


# Results of functions


def _result_class(base: Any) -> Any:
    class Result(base):  # type: ignore[misc]
        @property
        def headers(self) -> CaseInsensitiveDict:
            """The headers of the reply; `result.headers["etag"]` and `["ETag"]` are the same."""
            return CaseInsensitiveDict(vars(self).get("_headers", {}))

    Result.__name__ = Result.__qualname__ = base.__name__
    Result.__module__ = "builtins"
    guards.shown_as[Result] = base
    return Result


_CLASSES: dict[type, Any] = {base: _result_class(base) for base in (dict, list, str, bytes, int, float)}


def with_headers(value: object, headers: Mapping[str, str]) -> object:
    """The result with its headers: an empty dict in the place of None; True and False cannot have any."""
    kind = _CLASSES.get(dict if value is None else type(value))
    if kind is None:
        return value
    result = kind() if value is None else kind(value)
    vars(result)["_headers"] = dict(headers)
    return result
