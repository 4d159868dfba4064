"""An MCP server at an address that sends its clients elsewhere."""

from __future__ import annotations

import pytest

from protocols import APIError, load
from tests.local_api import Answer, LocalAPI

SECRET = "s3cr3t-of-the-user"


@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_credential_does_not_follow_a_redirect(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another port is another server: it gets neither the token nor a header of a name of its own, nor the request."""
    monkeypatch.setenv("TOKEN", SECRET)
    with LocalAPI() as named, LocalAPI() as elsewhere:
        elsewhere.answer("POST", "/mcp", {})
        named.respond("POST", "/mcp", lambda _: Answer(status, {}, headers={"Location": f"{elsewhere.url}/mcp"}))
        with pytest.raises(APIError) as error:
            load(f"mcp:{named.url}/mcp", ["bearer:env:TOKEN", "header:X-Api-Key:env:TOKEN"])

    assert named.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert elsewhere.requests == []
    assert SECRET not in str(error.value)
