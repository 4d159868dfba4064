"""HTTP Digest (RFC 7616): the answer to a challenge that a service sends with its first 401.

The answer itself is computed by `requests`: MD5, SHA, SHA-256 and SHA-512 with the quality of protection `auth`. Later
requests answer the same challenge at once, each with a new count.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from protocols.calls.credentials import Credential, RequestToSign, secrets_of_login, user_and_password
from protocols.calls.secret_sources import SecretSource

__all__ = ["DigestLogin", "read_digest"]

_CHALLENGE = re.compile(r"(?:^|,)\s*digest\s+(.*?)(?=,\s*[A-Za-z-]+\s+[A-Za-z-]+\s*=|$)", re.IGNORECASE | re.DOTALL)
"""The first Digest among the challenges of a `WWW-Authenticate`, which a service prefers."""


@dataclass
class _Answered:
    """The challenge in force, and how often it was answered."""

    challenge: dict[str, str] = field(default_factory=dict)
    count: int = 0
    turn: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class DigestLogin(Credential):
    """`Authorization: Digest …` with `user:password`."""

    signs_whole = True
    login: str = field(repr=False)
    answered: _Answered = field(default_factory=_Answered, repr=False, compare=False)

    def sign(self, request: RequestToSign) -> Mapping[str, str]:
        """The answer to the last challenge; nothing before there was one."""
        with self.answered.turn:
            challenge, count = self.answered.challenge, self.answered.count
            self.answered.count += 1
        answer = self._answer(request, challenge, count) if challenge else None
        return {"Authorization": answer} if answer else {}

    def renew(self, request: Mapping[str, str], reply: Mapping[str, str]) -> bool:
        """True if the service sends a challenge that was not answered yet, or says that the last one is too old."""
        from requests.utils import parse_dict_header

        text = next((value for name, value in reply.items() if name.lower() == "www-authenticate"), "")
        match = _CHALLENGE.search(text)
        challenge: dict[str, str] = parse_dict_header(match[1]) if match is not None else {}  # type: ignore[no-untyped-call]
        sent = next((value for name, value in request.items() if name.lower() == "authorization"), "")
        answers_it = f'nonce="{challenge.get("nonce")}"' in sent
        is_new = not answers_it or str(challenge.get("stale")).lower() == "true"
        if not {"realm", "nonce"} <= challenge.keys() or not is_new:
            return False
        with self.answered.turn:
            if self.answered.challenge != challenge:
                self.answered.challenge, self.answered.count = challenge, 0
        return self._answer(RequestToSign("GET", "http://localhost/", {}), challenge, 0) is not None

    def secrets(self) -> tuple[str, ...]:
        return (self.login, *secrets_of_login(self.login))

    def _answer(self, request: RequestToSign, challenge: dict[str, str], count: int) -> str | None:
        """The header; None for an algorithm or a quality of protection that `requests` does not know."""
        from requests.auth import HTTPDigestAuth

        user, _, password = self.login.partition(":")
        auth = HTTPDigestAuth(user, password)
        auth.init_per_thread_state()  # the state that it has after a 401 of this thread
        state = auth._thread_local  # type: ignore[attr-defined]
        state.chal, state.last_nonce, state.nonce_count = challenge, challenge["nonce"], count
        header: str | None = auth.build_digest_header(request.method, request.url)  # type: ignore[no-untyped-call]
        return header


def read_digest(kind: str, source: SecretSource) -> DigestLogin:
    """`digest:SOURCE`. Raises: UsageError: The source holds no login."""
    return DigestLogin(user_and_password(source))
