"""A token server that sends its clients elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocols import APIError
from protocols.calls.auth import credential
from protocols.calls.credentials import ANY_REQUEST
from tests.local_api import Answer, LocalAPI
from tests.protocols.several.token_server import CLIENT_SECRET

REFRESH = "refresh-0-beef"


@pytest.mark.parametrize("status", [302, 307, 308])
@pytest.mark.parametrize("refreshes", [True, False])
def test_a_client_secret_does_not_follow_a_redirect(status: int, refreshes: bool, tmp_path: Path) -> None:
    """The secret and the refresh token are for the server that the settings name."""
    with LocalAPI() as named, LocalAPI() as elsewhere:
        elsewhere.answer("POST", "/token", {"access_token": "a-token-of-mine", "token_type": "Bearer"})
        named.respond("POST", "/token", lambda _: Answer(status, {}, headers={"Location": f"{elsewhere.url}/token"}))
        settings = {"token_url": f"{named.url}/token", "client_id": "me", "client_secret": CLIENT_SECRET}
        file = tmp_path / "client.json"
        file.write_text(json.dumps(settings | ({"refresh_token": REFRESH} if refreshes else {})))
        with pytest.raises(APIError) as error:
            credential(f"oauth2:file:{file}", None).sign(ANY_REQUEST)

    assert len(named.requests) == 1
    assert elsewhere.requests == []
    assert not any(secret in str(error.value) for secret in (CLIENT_SECRET, REFRESH))
