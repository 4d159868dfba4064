"""Why no reply came, in a few words, and what helps: from the errors that the HTTP library raises.

It wraps the reason into names of its own objects, and says nothing of what the user can do.
"""

from __future__ import annotations

import os
import re

from requests.exceptions import ProxyError, RequestException, SSLError

from sandbox.egress.proxies import ProxyRoute

__all__ = ["broken", "certificate_remedy", "reason_of"]

_MEANINGS = {
    "Connection refused": "connection refused",
    "Name or service not known": "no such host",
    "Temporary failure in name resolution": "no such host",
    "No address associated with hostname": "no such host",
    "Network is unreachable": "network is unreachable",
    "Remote end closed connection without response": "the server closed the connection without a reply",
    "Connection reset by peer": "the server reset the connection",
    "IncompleteRead": "the reply broke off",
    "failed to decode it": "the reply is not packed as its Content-Encoding says",
}

_OWN_AUTHORITY = "if this is your own authority, give its certificate with --ca-file"
_TLS_REMEDIES = {
    "self-signed": _OWN_AUTHORITY,
    "self signed": _OWN_AUTHORITY,
    "unable to get local issuer": _OWN_AUTHORITY,
    "unable to get issuer": _OWN_AUTHORITY,
    "mismatch": "address the service by a name that its certificate has (--base-url)",
    "has expired": "the service needs a new one",
    "wrong version number": "this port does not speak TLS; is the base URL http://…?",
    "record layer failure": "this port does not speak TLS; is the base URL http://…?",
}


def reason_of(error: RequestException, proxy: ProxyRoute | None, remedy: str, ours: tuple[type[Exception], ...]) -> str:
    """The innermost reason, without the names of objects that the library wraps around it; with a remedy for TLS and
    proxies. `remedy`: where the service ends the secure connection; `ours`: errors whose text is the reason."""
    text = str(error)
    own = _cause(error, ours)
    if own is not None:
        return str(own)
    meaning = next((meaning for sign, meaning in _MEANINGS.items() if sign in text), None)
    if proxy is not None and isinstance(error, ProxyError):
        answer = re.search(r"Tunnel connection failed: (\d{3}[^'\"()]*)", text)
        if answer is not None:
            return proxy.no_sign_in if answer[1].startswith("407") else proxy.problem(f"refuses: {answer[1].strip()}")
        secure = _secure_reason(text, remedy) if "SSL" in text else None
        return proxy.problem(f"cannot be reached: {secure or meaning or 'no connection'}")
    if isinstance(error, SSLError) or "SSL" in text:
        return f"no secure connection: {_secure_reason(text, remedy)}"
    return meaning or text


def certificate_remedy(given: bool, own: bool) -> str:
    """What helps where a service ends the secure connection; `given`: there is a certificate to show."""
    if given and not own:
        return "--client-cert is shown to the servers of the API alone"
    if given:
        return "the service does not accept the certificate of --client-cert"
    return "if the service asks for a client certificate, give it with --client-cert"


def _secure_reason(text: str, ended: str) -> str:
    """Why there is no TLS connection, and what helps."""
    match = re.search(r"(?:\]|, ') ?([^\]]+?) \(_ssl", text)
    reason = (match[1] if match else text).removeprefix("certificate verify failed: ")
    remedy = next((remedy for sign, remedy in _TLS_REMEDIES.items() if sign.lower() in reason.lower()), None)
    if remedy is None and ("alert" in reason.lower() or reason.startswith("EOF")):  # the service ended it
        remedy = ended
    return f"{reason}; {remedy}" if remedy else reason


def broken(error: BaseException) -> str:
    """The text of an error that the library does not wrap."""
    if "CA certificate bundle" in str(error):
        return f"REQUESTS_CA_BUNDLE names {os.environ.get('REQUESTS_CA_BUNDLE')}, which is no file; correct it"
    return f"the connection broke: {error}"


def _cause(error: BaseException, ours: tuple[type[Exception], ...]) -> BaseException | None:
    """The error of ours that the library has wrapped in its own."""
    waiting: list[object] = [error]
    for _ in range(50):
        candidate = waiting.pop(0) if waiting else None
        if isinstance(candidate, ours):
            return candidate
        if isinstance(candidate, BaseException):
            waiting += [*candidate.args, getattr(candidate, "reason", None), candidate.__cause__, candidate.__context__]
    return None
