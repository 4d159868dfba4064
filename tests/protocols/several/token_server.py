"""A real token server on localhost, which remembers what it was asked and answers as it is told to."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from tests.local_api import Answer, LocalAPI, Received

__all__ = ["CLIENT_SECRET", "TokenServer", "token_server"]

CLIENT_SECRET = "client-9d41c0ffee77"


@dataclass
class TokenServer:
    """Gives token-1, token-2 and so on; `life` in seconds; with `rotates` a new refresh token each time."""

    api: LocalAPI
    life: float | None = 3600
    rotates: bool = False
    refused: str = ""
    forms: list[dict[str, str]] = field(default_factory=list)
    clients: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.api.url}/token"

    @property
    def tokens(self) -> list[str]:
        return [f"token-{number}-c0de" for number in range(1, len(self.forms) + 1)]

    def answer(self, received: Received) -> Answer:
        form = {name: values[0] for name, values in parse_qs(received.body.decode()).items()}
        client = received.headers.get("authorization", "").removeprefix("Basic ")
        self.forms.append(form)
        self.clients.append(base64.b64decode(client).decode())
        if self.refused:
            return Answer(400, {"error": "invalid_client", "error_description": self.refused})
        body = {"access_token": self.tokens[-1], "token_type": "Bearer"}
        more = {"expires_in": self.life} if self.life is not None else {}
        rotated = {"refresh_token": f"refresh-{len(self.forms)}-beef"} if self.rotates else {}
        return Answer(200, {**body, **more, **rotated})


@contextmanager
def token_server() -> Iterator[TokenServer]:
    with LocalAPI() as api:
        server = TokenServer(api)
        api.respond("POST", "/token", server.answer)
        yield server
