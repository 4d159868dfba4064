"""The sign-in with which the document of an API is read, where its server asks for one.

The names of security schemes are in the document itself, so only credentials of a kind that needs none of them count.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from urllib.parse import quote, quote_plus

from protocols.calls.auth import credential
from protocols.calls.credentials import RequestToSign
from protocols.documents.web import DocumentRequest, SignIn, display_name, web_origin
from protocols.errors import UsageError

__all__ = ["document_sign_in"]


def document_sign_in(address: str, auth: Sequence[str], base_url: str = "") -> SignIn | None:
    """The credentials with which the document at an address may be read; None without any.

    Args:
        base_url: Where the user says that the API is. Credentials for it are not for a document elsewhere.
    """
    origin = web_origin(address)
    if not auth or not origin or (base_url and web_origin(base_url) != origin):
        return None
    return SignIn(origin, functools.cache(lambda: _Signer(auth, display_name(address))))


class _Signer:
    """Credentials whose kind needs no document to be understood: `bearer`, and no name of a security scheme."""

    def __init__(self, auth: Sequence[str], url: str) -> None:
        try:
            self._credentials = [credential(text, None) for text in auth]
        except UsageError as error:
            raise UsageError(
                f"{url}: the document needs a sign-in, and its own names of credentials are not known before it is "
                f"read: {error}"
            ) from None

    def sign(self, request: DocumentRequest) -> DocumentRequest:
        """The same request with the credentials. Raises: APIError, UsageError: There is no access token."""
        for sent in self._credentials:
            if query := sent.query():
                request.prepare_url(str(request.url), query)
            if cookies := [f"{name}={value}" for name, value in sent.cookies().items()]:
                request.headers["Cookie"] = "; ".join([*filter(None, [request.headers.get("Cookie")]), *cookies])
            parts = RequestToSign(str(request.method), str(request.url), dict(request.headers))
            request.headers.update(sent.sign(parts))
        return request

    def is_in(self, text: str) -> bool:
        """True if a text holds one of the secrets, percent-encoded or not."""
        secrets = [secret for sent in self._credentials for secret in sent.secrets() if secret]
        return any(form in text for secret in secrets for form in (secret, quote(secret, ""), quote_plus(secret)))
