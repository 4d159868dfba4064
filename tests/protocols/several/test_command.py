"""`--api`, `--base-url`, `--auth` and `--header` for several APIs, as a user has them in the shell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.atc_command import atc
from tests.protocols.several.apis import CRM, SHOP, document
from tests.protocols.several.conftest import CRM_TOKEN, SHOP_TOKEN, TwoAPIs
from tests.protocols.several.token_server import CLIENT_SECRET, token_server

QUESTION = "What is the name of the customer of the first order?"
PROGRAM = (
    "order = shop__GET_orders()[0]\nprint(crm__GET_customers_customer_id(customer_id=order['customer_id'])['name'])"
)
AUTH = ("--auth", "shop=bearer:env:SHOP_TOKEN", "--auth", "crm=token:env:CRM_TOKEN")


@pytest.fixture
def apis(two: TwoAPIs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """`--api shop=… --api crm=…`; the shop's document names a server that is not there."""
    monkeypatch.chdir(tmp_path)
    Path("shop.json").write_text(json.dumps(document(SHOP, "https://shop.example/v1", "Shop")))
    Path("crm.json").write_text(json.dumps(document(CRM, two.crm.url, "CRM")))
    Path("program.py").write_text(PROGRAM)
    return ("--api", "shop=shop.json", "--api", "crm=crm.json")


def test_a_program_calls_two_apis(two: TwoAPIs, apis: tuple[str, ...]) -> None:
    """Each gets its own base URL, token and header."""
    headers = ("--header", "shop=X-Tenant: acme", "--header", "crm=X-Key:env:CRM_TOKEN")
    result = atc("run", "program.py", *apis, "--base-url", f"shop={two.shop.url}", *AUTH, *headers)

    assert (result.exit_code, result.stdout) == (0, "Ada\n"), result.stderr
    shop, crm = two.shop.requests[0].headers, two.crm.requests[0].headers
    assert (shop["authorization"], crm["authorization"]) == (f"Bearer {SHOP_TOKEN}", f"Bearer {CRM_TOKEN}")
    assert (shop["x-tenant"], crm["x-key"]) == ("acme", CRM_TOKEN)
    assert "x-tenant" not in crm


def test_a_question_is_answered_with_two_apis(
    two: TwoAPIs, apis: tuple[str, ...], endpoint: Callable[..., None]
) -> None:
    """The journal has the options by API, so a stopped solve goes on with them; no file has a token."""
    target = ("--base-url", f"shop={two.shop.url}", *AUTH, "--model", "openai:scripted", "--header", "shop=X-Tenant: a")
    endpoint(f"```python\n{PROGRAM}\n```")
    result = atc("solve", QUESTION, *apis, *target, "--journal", "solve.db", "--out", "solution.json")
    again = atc("solve", "--resume", "solve.db")

    assert (result.exit_code, result.stdout) == (0, "Ada\n"), result.stderr
    assert (again.exit_code, again.stdout) == (0, "Ada\n"), again.stderr
    assert two.shop.requests[0].headers["x-tenant"] == "a"
    for file in Path().iterdir():
        assert SHOP_TOKEN.encode() not in file.read_bytes()
        assert CRM_TOKEN.encode() not in file.read_bytes()


def test_a_program_over_two_apis_is_checked(apis: tuple[str, ...]) -> None:
    """A tool of the wrong API is found; URLs of either server are none of another API."""
    assert atc("check", "program.py", *apis).exit_code == 0
    Path("program.py").write_text("print(crm__POST_orders(customer_id=1))")
    result = atc("check", "program.py", *apis)
    Path("program.py").write_text("import requests\nprint(requests.get('https://shop.example/v1/orders').json())")

    assert result.exit_code == 1
    assert "crm__POST_orders" in result.stdout
    assert "is not of this API" not in atc("check", "program.py", *apis).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--api", "shop=crm.json"), "--api shop=…: two APIs have this name"),
        (("--api", "crm.json"), "crm.json: several APIs have names"),
        (("--api", "my-mail=crm.json"), "'my-mail' is no name for an API"),
        (("--base-url", "mail=http://127.0.0.1:9"), "--base-url mail=…: no such API; the APIs are shop, crm"),
        (("--base-url", "http://127.0.0.1:9"), "--base-url must name its API, as in shop=URL"),
        (("--base-url", "shop=http://127.0.0.1:9", "--base-url", "shop=http://127.0.0.1:8"), "given twice"),
        (("--base-url", "shop=http://me:hunter2@127.0.0.1:9"), "--base-url holds a user name or password"),
        (("--auth", "mail=bearer:env:CRM_TOKEN"), "--auth mail=…: there is no such API; the APIs are shop, crm"),
        (("--auth", "bearer:env:CRM_TOKEN"), "--auth must name the API that it is for"),
        (("--auth", "hunter2=bearer"), "--auth must name the API that it is for"),
        (("--header", "mail=X-A: b"), "--header mail=…: there is no such API; the APIs are shop, crm"),
        (("--header", "shop=Host: evil"), "--header cannot set Host"),
    ],
)
def test_what_is_wrong_is_named(apis: tuple[str, ...], arguments: tuple[str, ...], message: str) -> None:
    """Exit code 2, before a program runs."""
    result = atc("run", "program.py", *apis, *arguments)

    assert result.exit_code == 2, result.stderr
    assert message in " ".join(result.stderr.split()), result.stderr
    assert "hunter2" not in result.stderr


def test_a_token_server_that_is_down_is_an_api_that_is_down(
    two: TwoAPIs, apis: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, endpoint: Callable[..., None]
) -> None:
    """Exit code 6, from `atc run` and from `atc solve`, and what to look at."""
    with token_server() as server:
        url = server.url
    for name, value in {"TOKEN_URL": url, "CLIENT_ID": "me", "CLIENT_SECRET": CLIENT_SECRET}.items():
        monkeypatch.setenv(f"SHOP_{name}", value)
    endpoint(f"```python\n{PROGRAM}\n```")
    target = (*apis, "--base-url", f"shop={two.shop.url}", "--auth", "shop=oauth2:env:SHOP")
    for command in (("run", "program.py"), ("solve", QUESTION, "--model", "openai:scripted")):
        result = atc(*command, *target)

        assert result.exit_code == 6, result.stderr
        assert f"the token server {url} cannot be reached" in result.stderr
        assert CLIENT_SECRET not in result.stderr


def test_headers_of_a_configuration_are_announced(
    two: TwoAPIs, apis: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that sends what is in the environment says so; another API does not get it."""
    Path("atc.toml").write_text('api = "crm.json"\n[run]\nheader = ["X-Key:env:CRM_TOKEN"]\n', "utf-8")
    monkeypatch.setenv("ATC_CONFIG", "atc.toml")
    Path("program.py").write_text("print(len(GET_orders()))")
    result = atc("run", "program.py")
    Path("other.json").write_text(json.dumps(document(SHOP, two.shop.url, "Shop")))
    atc("run", "program.py", "--api", "other.json")

    assert "sends the headers X-Key to" in result.stderr
    assert two.crm.requests[0].headers["x-key"] == CRM_TOKEN
    assert "x-key" not in two.shop.requests[0].headers
