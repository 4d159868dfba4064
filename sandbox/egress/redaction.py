"""Takes the secrets of a run out of all that comes back: texts, values, headings and bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from protocols.calls.credentials import Credential
from protocols.calls.redaction import holds_secret, redact, redact_stream
from sandbox.body_forms import text_encoding
from sandbox.body_store import MEMORY_LIMIT
from sandbox.egress.replies import charset_of, encodings_of, shows_secrets, transcode
from sandbox.egress.stages import TransportReply

__all__ = ["Redaction"]


@dataclass(frozen=True, slots=True)
class Redaction:
    """Knows the secrets of a run: its credentials, and the passwords of its proxies."""

    credentials: tuple[Credential, ...] = ()

    def text(self, text: str) -> str:
        """A text without a secret."""
        return redact(text, self.credentials) if self.credentials else text

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Texts without a secret; they are looked through together, and one by one only where there is one."""
        together = "\n".join(texts)
        return list(texts) if self.text(together) == together else [self.text(text) for text in texts]

    def value(self, value: Any) -> Any:
        """A value whose texts and names are without a secret."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(name)): self.value(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def content(self, content: bytes) -> bytes:
        """Bytes of a text without a secret."""
        return b"".join(redact_stream((content,), self.credentials))

    def heading(self, response: TransportReply) -> TransportReply:
        """A response without a secret in its texts; its body is not touched."""
        encoding = charset_of(response.headers) or (response.encoding and text_encoding(response.encoding))
        reason, named, *texts = self.texts(
            [response.reason, encoding or ""]
            + [text for pairs in (response.headers, response.cookies) for item in pairs.items() for text in item]
        )
        pairs = list(zip(texts[::2], texts[1::2], strict=True))
        count = len(response.headers)
        return replace(
            response,
            reason=reason,
            headers=dict(pairs[:count]),
            cookies=dict(pairs[count:]),
            encoding=named or None,
        )

    def body(self, response: TransportReply) -> Iterator[bytes]:
        """The body without a secret. An encoding that hides one is read as UTF-8 first and encoded again after."""
        parts: Callable[[], Iterator[bytes]] = response.parts
        if not self.credentials:
            return parts()
        if response.size <= MEMORY_LIMIT:
            content = b"".join(parts())
            parts = partial(iter, (content,))
        for encoding in encodings_of(response.headers, response.encoding, parts()):
            if not shows_secrets(encoding) and holds_secret(transcode(parts(), encoding, "utf-8"), self.credentials):
                parts = partial(self._body_in, encoding, parts)
        return redact_stream(parts(), self.credentials)

    def _body_in(self, encoding: str, parts: Callable[[], Iterator[bytes]]) -> Iterator[bytes]:
        return transcode(redact_stream(transcode(parts(), encoding, "utf-8"), self.credentials), "utf-8", encoding)
