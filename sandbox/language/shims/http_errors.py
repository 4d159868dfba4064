"""The exceptions of `requests` as a program sees them, in the tree of the library."""

# ruff: noqa: N818 - the names are those of requests

from __future__ import annotations

import json as _json

__all__ = ["ERRORS", "HTTPError", "InvalidJSONError", "JSONDecodeError", "RequestException"]


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
    def __init__(self, *args: object, **kwargs: object) -> None:
        _json.JSONDecodeError.__init__(self, *args)  # type: ignore[arg-type]
        InvalidJSONError.__init__(self, *self.args, **kwargs)

    def __reduce__(self) -> str | tuple[object, ...]:
        return _json.JSONDecodeError.__reduce__(self)


ERRORS = {
    kind.__name__: kind
    for kind in (
        *(RequestException, HTTPError, ConnectionError, ProxyError, SSLError, Timeout, ConnectTimeout, ReadTimeout),
        *(URLRequired, TooManyRedirects, MissingSchema, InvalidSchema, InvalidURL, InvalidHeader, RetryError),
        *(ChunkedEncodingError, ContentDecodingError, InvalidJSONError, JSONDecodeError),
    )
}
for _kind in ERRORS.values():
    _kind.__module__ = "requests.exceptions"
