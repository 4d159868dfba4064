"""Documents from the web, with a sign-in where their server asks for one.

A credential reaches a server because the user named that server: the origin of the document's address. It is sent
after that server has refused a request without it, and redirects are followed by hand, so that no other server gets it.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from protocols.errors import ProtocolError

if TYPE_CHECKING:
    import requests

__all__ = [
    "DocumentRequest",
    "DocumentSigner",
    "NoAccessError",
    "SignIn",
    "display_name",
    "fetch",
    "web_origin",
]

DocumentRequest: typing.TypeAlias = "requests.PreparedRequest"
_TIMEOUT = (5.0, 20.0)  # seconds to connect, to wait for data
_WHOLE = 120.0  # seconds of a request with its whole answer: 64 MiB at 4.5 Mbit/s
_MAX_REDIRECTS = 10
_REFUSALS = (401, 403)
_HIDDEN = (*_REFUSALS, 404)
"""What a server answers for a document that it shows only to those who have signed in."""


class NoAccessError(ProtocolError):
    """The server does not answer, or wants a sign-in; another address there is no better."""


class DocumentSigner(typing.Protocol):
    """Credentials on a request for a document."""

    def sign(self, request: DocumentRequest) -> DocumentRequest:
        """The same request with the credentials. Raises: APIError, UsageError: There is no access token."""
        ...

    def is_in(self, text: str) -> bool:
        """True if a text holds one of the secrets."""
        ...


@dataclass(frozen=True, slots=True)
class SignIn:
    """Credentials for the documents of one origin; `signer` reads the secrets when they are needed, and not before."""

    origin: str
    signer: Callable[[], DocumentSigner]


def display_name(source: object) -> str:
    """A path or URL for messages; a URL without user, query and fragment, which may be secrets."""
    text = str(source)
    if not text.startswith(("http://", "https://")):
        return text
    scheme, _, rest = re.split(r"[?#]", text, maxsplit=1)[0].partition("//")
    host, slash, path = rest.partition("/")
    return f"{scheme}//{host.rpartition('@')[2]}{slash}{path}"


def web_origin(address: str) -> str:
    """Scheme, host and port of a URL, `https://docs.example:443`; empty for one that cannot be read."""
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}" if parts.hostname else ""


def fetch(address: str, most: int, sign_in: SignIn | None = None) -> bytes:
    """The bytes at an address, at most so many.

    Raises: NoAccessError: No answer, or a sign-in is needed. ProtocolError: Another refusal, or a web page in the place
        of a document. UsageError, APIError: The credentials cannot be had.
    """
    import requests

    from protocols.bounded_http import BoundedAdapter, TooMuchError

    url = display_name(address)
    signer: DocumentSigner | None = None
    try:
        with requests.Session() as session:
            for scheme in ("https://", "http://"):
                session.mount(scheme, BoundedAdapter(_WHOLE, most))
            reply = _reply(session, address)
            is_ours = sign_in is not None and sign_in.origin == web_origin(address)
            if sign_in is not None and is_ours and (reply.status_code in _HIDDEN or _is_page(reply)):
                reply.close()
                signer = sign_in.signer()
                reply = _reply(session, address, sign_in.origin, signer)
            with reply:
                _check(reply, url, with_credential=signer is not None)
                return reply.content
    except TooMuchError:
        raise ProtocolError(f"{url}: more than {most >> 20} MiB, too large for an API document") from None
    except requests.Timeout:
        raise NoAccessError(f"{url}: no answer in time") from None
    except requests.RequestException as error:
        raise NoAccessError(f"{url}: cannot be reached ({type(error).__name__})") from None


def _reply(
    session: requests.Session, address: str, origin: str = "", signer: DocumentSigner | None = None
) -> requests.Response:
    """The reply after all redirects; only requests to `origin` are signed."""
    import requests

    url = display_name(address)
    for _ in range(_MAX_REDIRECTS):
        is_signed = signer is not None and web_origin(address) == origin
        reply = session.get(
            address,
            auth=signer.sign if signer is not None and is_signed else None,
            headers={"Accept": "application/json, */*"},
            timeout=_TIMEOUT,
            allow_redirects=False,
        )
        target = session.get_redirect_target(reply)
        if target is None:
            return reply
        reply.close()
        address = urljoin(address, target)
        if signer is not None and web_origin(address) != origin and signer.is_in(address):
            raise ProtocolError(
                f"{url}: the server leads to {web_origin(address)} with your credential in the address, which is not "
                "followed; download the document and name the file"
            )
    raise requests.TooManyRedirects(response=reply)


def _is_page(reply: requests.Response) -> bool:
    return "html" in reply.headers.get("Content-Type", "").lower()


def _check(reply: requests.Response, url: str, *, with_credential: bool) -> None:
    """Raises: ProtocolError: The reply is a refusal or a web page; what to do about it is in the message."""
    remedy = f"name a credential, which goes to {web_origin(url)} alone for this: --auth bearer:env:VARIABLE"
    if with_credential:
        remedy = "the credential of --auth was sent, so see whether it is the right one"
    remedy = f"{remedy}; or download the document and name the file"
    end = web_origin(reply.url)
    if reply.status_code in _REFUSALS and end != web_origin(url):
        raise NoAccessError(
            f"{url}: the server leads to {end}, which answered {reply.status_code} {reply.reason}: the document needs "
            f"a sign-in there, and a credential for {web_origin(url)} is not sent to {end}; name the address of the "
            "document there, or download the document and name the file"
        )
    if reply.status_code in _REFUSALS:
        raise NoAccessError(
            f"{url}: the server answered {reply.status_code} {reply.reason}: the document needs a sign-in; {remedy}"
        )
    if not reply.ok:
        raise ProtocolError(f"{url}: the server answered {reply.status_code} {reply.reason}")
    if _is_page(reply) and display_name(reply.url) != url:
        raise ProtocolError(
            f"{url}: the server leads to the web page {display_name(reply.url)}, perhaps for a sign-in; {remedy}"
        )
    if _is_page(reply):
        raise ProtocolError(
            f"{url}: this is HTML or XML, not an API document; give the address of the raw JSON or YAML. If the page "
            f"is one to sign in: {remedy}"
        )
