"""Proxies of the environment: honoured for services, while the rules of what may be reached hold behind them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from atc.apps.cli.reachable import check_server
from protocols import load
from protocols.errors import APIError
from sandbox import Sandbox
from tests.protocols.wire.authority import Authority, secure_service
from tests.protocols.wire.conftest import Run
from tests.protocols.wire.forward_proxy import ForwardProxy
from tests.protocols.wire.service import Service

PATHS = {"/who": {"get": {"responses": {"200": {"description": "OK."}}}}}
PROGRAM = "print(GET_who())"
HOST = "service.invalid"
"""A name that only the proxy knows."""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy but those of a test."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def proxy(service: Service) -> Iterator[ForwardProxy]:
    """Leads to the service, and asks for a user and a password."""
    with ForwardProxy({HOST: int(urlsplit(service.url).port or 0)}, "me:s3cret-word") as proxy:
        yield proxy


def document(url: str) -> dict[str, object]:
    return {"servers": [{"url": url}], "paths": PATHS}


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_service_is_asked_through_the_proxy(
    run: Run, service: Service, proxy: ForwardProxy, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """In absolute form; user and password go to the proxy alone, and nobody sees them."""
    monkeypatch.setenv(variable, f"http://me:s3cret-word@{proxy.place}")

    result = run(PATHS, PROGRAM, "--base-url", f"http://{HOST}", "-v")

    assert (result.exit_code, result.stdout) == (0, "{'ok': True}\n")
    assert proxy.asked == [f"GET http://{HOST}/who"]
    assert "proxy-authorization" not in service.arrived[0].headers
    assert "s3cret" not in result.output + result.stderr


def test_a_password_that_a_service_repeats_is_taken_out(
    run: Run, service: Service, proxy: ForwardProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No program learns how its calls sign in at the proxy."""
    service.handle = lambda request: (200, {}, {"seen": "me s3cret-word"})
    monkeypatch.setenv("HTTP_PROXY", f"http://me:s3cret-word@{proxy.place}")

    result = run(PATHS, PROGRAM, "--base-url", f"http://{HOST}")

    assert (result.exit_code, "s3cret" in result.output, "seen" in result.output) == (0, False, True)


def test_a_secure_service_is_asked_through_a_tunnel(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CONNECT, and TLS with the service itself, by its own name."""
    authority = Authority(tmp_path)
    with secure_service(authority.certify("service", HOST)) as port, ForwardProxy({HOST: port}, "me:pw12345") as proxy:
        monkeypatch.setenv("https_proxy", f"http://me:pw12345@{proxy.place}")
        target = ("--base-url", f"https://{HOST}", "--ca-file", str(authority.file))
        result = run(PATHS, PROGRAM, *target)
        monkeypatch.setenv("https_proxy", f"http://{proxy.place}")
        refused = run(PATHS, PROGRAM, *target)

    assert result.stdout == "{'name': 'nobody'}\n"
    assert proxy.asked[0] == f"CONNECT {HOST}:443"
    assert refused.exit_code == 6
    assert f"the proxy http://{proxy.place} asks for a user and password (407)" in refused.stderr
    assert f"correct HTTPS_PROXY, or name {HOST} in NO_PROXY" in refused.stderr


def test_a_host_in_no_proxy_and_this_machine_are_asked_directly(
    run: Run, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy that is not there plays no part for either; a simulated service is on this machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    assert run(PATHS, PROGRAM).exit_code == 0
    port = urlsplit(service.url).port
    assert run(PATHS, PROGRAM, "--base-url", f"http://localhost:{port}").exit_code == 0
    monkeypatch.setenv("NO_PROXY", "0.0.0.0")
    assert run(PATHS, PROGRAM, "--base-url", f"http://0.0.0.0:{port}").exit_code == 0


def test_a_proxy_that_refuses_or_is_not_there_is_named(
    run: Run, proxy: ForwardProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the variable and NO_PROXY; a write has not left then, and no password is shown."""
    target = ("--base-url", f"http://{HOST}")
    monkeypatch.setenv("HTTP_PROXY", f"http://me:wr0ng-word@{proxy.place}")
    refused = run(PATHS, PROGRAM, *target)
    monkeypatch.setenv("HTTP_PROXY", "http://me:wr0ng-word@127.0.0.1:9")
    missing = run(PATHS, PROGRAM, *target)
    monkeypatch.setenv("HTTP_PROXY", "socks5://127.0.0.1:9")
    other = run(PATHS, PROGRAM, *target)

    assert (refused.exit_code, missing.exit_code, other.exit_code) == (6, 6, 6)
    assert "asks for a user and password (407)" in refused.stderr
    assert "the proxy http://127.0.0.1:9 cannot be reached: connection refused" in missing.stderr
    assert f"correct HTTP_PROXY, or name {HOST} in NO_PROXY" in missing.stderr
    assert "HTTP_PROXY names a socks5:// proxy" in other.stderr
    assert "wr0ng" not in refused.output + refused.stderr + missing.output + missing.stderr


@pytest.mark.parametrize(
    ("server", "program", "message"),
    [
        ("http://10.0.0.1", PROGRAM, "10.0.0.1 is a private address; if that is meant, allow its origin (--allow)"),
        (
            f"http://{HOST}",
            "import requests\nrequests.get('http://elsewhere.invalid/who')",
            "can't be reached: this program may reach only",
        ),
    ],
)
def test_a_proxy_is_asked_for_nothing_that_may_not_be_reached(
    proxy: ForwardProxy, monkeypatch: pytest.MonkeyPatch, server: str, program: str, message: str
) -> None:
    """The rules hold for the target: neither a private address of a document nor a host that nobody documented."""
    monkeypatch.setenv("HTTP_PROXY", f"http://me:s3cret-word@{proxy.place}")
    with Sandbox(load({"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, **document(server)})) as box:
        outcome = box.run(program)

    assert message in str(outcome.error)
    assert proxy.asked == []


def test_a_service_behind_a_proxy_is_not_said_to_be_away(proxy: ForwardProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a model is asked, the proxy is tried in the place of the service."""
    protocol = load({"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, **document(f"http://{HOST}")})
    monkeypatch.setenv("HTTP_PROXY", f"http://me:s3cret-word@{proxy.place}")
    check_server(protocol, None)
    monkeypatch.setenv("HTTP_PROXY", "http://me:s3cret-word@127.0.0.1:9")

    with pytest.raises(APIError, match=r"the proxy http://127\.0\.0\.1:9 cannot be reached") as raised:
        check_server(protocol, None)
    assert "s3cret" not in str(raised.value)
