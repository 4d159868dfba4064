"""What is secret in an answer is nowhere in what is written down of it; what is not stays as it was."""

from __future__ import annotations

import ast
import copy
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from probing.redact.redact import Redactor

# None of these opens anything: they are the examples of those who issue such keys, or made up.
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA04up8hoqzS1\n+APIB0RhjXyOb==\n-----END RSA PRIVATE KEY-----"
TOKEN = "Zk3vN8qLw1Xy7RtB5mHs9PdC2fGj4KaQ"
SHA = "da39a3ee5e6b4b0d3255bfef95601890afd80709"

BODY: dict[str, Any] = {
    "data": [
        {
            "id": 7,
            "name": "Ada Lovelace",
            "e-mail": "ada.lovelace@analytical.org",
            "phoneNumber": "+49 151 23456789",
            "dateOfBirth": "1985-12-10",
            "password": "hunter2!",
            "address": {
                "street": "St James's Square 12",
                "city": "Marylebone",
                "country": "GB",
                "postal_code": "SW1Y 4LB",
            },
            "ssn": 219099999,
            "card": {"pan": "4111 1111 1111 1111", "cvv": "737"},
            "account": {"iban": "DE89370400440532013000", "account_number": 532013000},
        },
        {"userName": "grace-h", "firstName": "Grace", "x-session-id": "5f2b-77aa", "tokens": ["rt-90210-abc"]},
    ],
    "log": {
        "jwt": JWT,
        "header": "Authorization: Bearer dGhpc0lzQVNlY3JldA",
        "openai": "sk-proj-a8Vd02kLmQ93xTzP",
        "github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "aws": "AKIAIOSFODNN7EXAMPLE",
        "slack": "xoxb-123456789012-Ab3dEf6hIjK",
        "google": "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
        "deploy": PEM,
        "client": "203.0.114.77 via 2606:4700:4700::1111",
        "database": "postgres://root:t0psecret@db.internal:5432/main",
        "download": "https://files.example.org/a.pdf?X-Amz-Signature=fe5f80f77d5fa3beca038a248ff027&page=2",
        "note": f"Grace (Ada Lovelace's friend) paid with 5500-0055-5555-5559, proof {TOKEN}, or ring +442071838750.",
    },
}
PARTS = ("ada.lovelace", "analytical.org", "Square", JWT.split(".")[1], "2606:4700", "MIIEpAIBAAKCAQEA04up8hoqzS1")
CANARIES = (
    *("Ada Lovelace", "ada.lovelace@analytical.org", "+49 151 23456789", "1985-12-10", "hunter2!", "Marylebone"),
    *("St James's Square 12", "SW1Y 4LB", "219099999", "4111 1111 1111 1111", "737", "DE89370400440532013000"),
    *("532013000", "grace-h", "Grace", "5f2b-77aa", "rt-90210-abc", JWT, "dGhpc0lzQVNlY3JldA"),
    *("sk-proj-a8Vd02kLmQ93xTzP", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLE"),
    *("xoxb-123456789012-Ab3dEf6hIjK", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", PEM, "203.0.114.77"),
    *("2606:4700:4700::1111", "root:t0psecret", "fe5f80f77d5fa3beca038a248ff027", "5500-0055-5555-5559"),
    *(TOKEN, "+442071838750", *PARTS),
)


def redacted(body: object) -> Any:
    return Redactor().body(body)


def holds(text: str, canary: str) -> bool:
    """Whether a text has a canary; a small number counts as a whole only."""
    return bool(re.search(rf"(?<!\d){re.escape(canary)}(?!\d)", text)) if canary.isdigit() else canary in text


def test_no_canary_is_left_anywhere() -> None:
    """Neither in the body, nor in a sentence, a program or a document that holds its values."""
    redactor, before = Redactor(), copy.deepcopy(BODY)
    body = redactor.body(BODY)
    texts = [json.dumps(body), redactor.text(json.dumps(BODY, indent=2)), redactor.text(f"found = {BODY!r}\n")]
    texts += [redactor.text(f"Who has {canary}?\nprint('{canary}', {canary!r})") for canary in CANARIES[: -len(PARTS)]]

    assert before == BODY, "the body itself is left alone"
    assert [canary for canary in CANARIES for text in texts if holds(text, canary)] == []


def test_the_same_value_is_replaced_by_the_same_one_everywhere() -> None:
    """So a demonstration that passes a value of one answer to another call still hangs together."""
    redactor = Redactor()
    body: Any = redactor.body(BODY)
    ada, grace = body["data"]

    assert redactor.body(BODY) == body
    assert redactor.body({"author": "Ada Lovelace", "ada.lovelace@analytical.org": 1}) == {
        "author": ada["name"],
        ada["e-mail"]: 1,
    }
    assert body["log"]["note"].startswith(f"{grace['firstName']} ({ada['name']}'s friend)")
    program = "login(name='Ada Lovelace', password='hunter2!')\ntransfer(to=532013000)"
    account = ada["account"]["account_number"]
    assert (
        redactor.text(program) == f"login(name={ada['name']!r}, password={ada['password']!r})\ntransfer(to={account})"
    )
    assert redactor.body({"to": 532013000}) == {"to": account}
    assert redactor.text(json.dumps(body)) == json.dumps(body), "what was replaced is not replaced again"
    assert redactor.body(body["data"][0]["e-mail"]) == ada["e-mail"]


@pytest.mark.parametrize(
    ("key", "value", "shape"),
    [
        ("apiKey", "abc-123", r"[a-z]{3}-\d{3}"),
        ("client_secret", "c9b1f0a2-7d3e-4c55-9a10-0f6e2d8b7c41", r"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}"),
        ("Authorization", "Basic dXNlcjpwYXNz", r"Basic \w{12}"),
        ("set-cookie", "sid=31d4; Path=/", r"[a-z]{3}=\d\d[a-z]\d; [A-Z][a-z]{3}=/"),
        ("csrfToken", "Zq81", r"[A-Z][a-z]\d\d"),
        ("otp", "004217", r"\d{6}"),
        ("tax_id", "12/345/67890", r"\d\d/\d{3}/\d{5}"),
        ("passport_number", "C01X00T47", r"[A-Z]\d\d[A-Z]\d\d[A-Z]\d\d"),
        ("fax", "030 901820", r"\d{3} \d{6}"),
        ("zip", "10115-1234", r"\d{5}-\d{4}"),
        ("address_line_1", "Unter den Linden 77", r"[A-Z][a-z]{4} [a-z]{3} [A-Z][a-z]{5} \d\d"),
        ("display_name", "Jürgen Ö.", r"[A-Z][a-z]{5} [A-Z]\."),
        ("password_hash", "$2b$12$abcDEF", r"\$\d[a-z]\$\d\d\$[a-z]{3}[A-Z]{3}"),
        (
            "reset",
            "https://x.example/?access_token=ab12&step=2",
            r"https://x\.example/\?access_token=[a-z]{2}\d\d&step=2",
        ),
        ("reference", "IBAN GB82 WEST 1234 5698 7654 32 OK", r"IBAN GB\d\d [A-Z]{4}( \d{4}){3} \d\d OK"),
        ("contract", "0x39D2f3eF8a5C7f2Ee3bD4EaB6B9e5d4B6D4a2b1C", r"0x[\da-fA-F]{40}"),
    ],
)
def test_a_value_is_replaced_by_another_of_its_shape(key: str, value: str, shape: str) -> None:
    replaced = redacted({key: value})[key]

    assert replaced != value
    assert re.fullmatch(shape, replaced)


@pytest.mark.parametrize(
    ("key", "value"), [("pin", 4711), ("phone", 4915123456), ("cvv", 0), ("otp", 12.0), ("zip", 10115)]
)
def test_a_number_stays_a_number_of_its_length(key: str, value: float) -> None:
    replaced = redacted({key: [value]})[key][0]

    assert replaced != value
    assert (type(replaced), len(str(replaced))) == (type(value), len(str(value)))


@pytest.mark.parametrize(
    "body",
    [
        {"id": 31, "name": "Tom Hanks", "birthday": "1956-07-09", "place_of_birth": "Concord", "popularity": 84.6},
        {"id": "B01", "name": "Kettle", "price": 31.5, "sku": "4111111111111111"},
        {
            "next_page_token": f"CAUQAA{TOKEN}",
            "pageToken": "p2",
            "cursor": f"{TOKEN}==",
            "nextSyncToken": "CPDAlvWDx70",
        },
        {"token_type": "Bearer", "total_tokens": 4096, "prompt_tokens": 512, "max_token": 8, "tokens": ["The", "cat"]},
        {
            "email_verified": True,
            "password_min_length": 8,
            "phone_code": "+49",
            "zip": None,
            "login": False,
            "pin": True,
        },
        {"last_login": "2024-05-01T10:00:00Z", "login_url": "/login", "mobile": "https://m.example.org/1", "phone": ""},
        {"id": SHA, "etag": f'W/"{SHA}"', "sha256": SHA, "file_hash": SHA, "track_uri": f"spotify:track:{TOKEN}"},
        {"request": "123e4567-e89b-12d3-a456-426614174000", "slug": "the-10-best-films-of-2023-and-2024-in-3d-v2"},
        {"full_name": "octocat/Hello-World", "clone": "git@github.com:octocat/Hello-World.git"},
        {"poster": "https://img.example.org/t/p/w500/kqjL17yufvn9OVLyXYpvtyrFfak0Zq3Wn8.jpg", "scale": "logo@2x.png"},
        {"ip": "127.0.0.1", "host": "::1", "bind": "0.0.0.0", "app_version": "10.0.19.41", "agent": "Mozilla/5.0.0.1"},
        {
            "at": "2024-05-01T10:00:00+02:00",
            "time": "12:30:45",
            "ms": "1700000000000",
            "isbn": "9780306406157",
            "x": 1e300,
        },
        {
            "api_key": "[secret]",
            "token": "",
            "secret": "***",
            "cookie": " ",
            "authorization": "Bearer ",
            "error": "Bearer authentication is required",
        },
        {"next": f"https://api.example.org/films?pageToken={TOKEN}&sort_key=name&limit=20"},
        [None, 4111111111111111, 0.4111111111111111, "a + b", {"numbers": [1, 2], "code": "DE"}],
    ],
)
def test_what_is_not_secret_stays(body: object) -> None:
    assert redacted(body) == body


def test_a_name_is_personal_only_in_a_private_persons_record() -> None:
    for contact in ({"email": None}, {"mobile": "1"}, {"login": "x"}, {"birthDate": "1990-05-01", "address": "x"}):
        body = redacted({"name": "Ada King", **contact})
        assert body["name"] != "Ada King", contact
    assert redacted({"name": {"first": "Ada", "last": "King"}, "email": "a@b.org"})["name"].keys() == {"first", "last"}
    assert redacted({"name": {"first": "Ada"}, "email": "a@b.org"})["name"] != {"first": "Ada"}
    assert redacted({"name": {"en": "Kettle"}, "price": 3}) == {"name": {"en": "Kettle"}, "price": 3}
    assert redacted({"name": "Chrome", "mobile": False})["name"] == "Chrome"


def test_the_members_of_an_address_are_replaced_but_for_what_labels_them() -> None:
    body = redacted(
        {"addresses": [{"type": "home", "city": "Oslo", "state": "CA", "geo": {"lat": "59.91", "lng": 10.75}}]}
    )

    (address,) = body["addresses"]
    assert (address["type"], address["state"], address["geo"]["lng"]) == ("home", "CA", 10.75)
    assert address["city"] != "Oslo"
    assert address["geo"]["lat"] != "59.91"


NAMED = {"first_name": "Mark", "last_name": "Li", "pin": "123", "username": "title", "title": 1}


@pytest.mark.parametrize(
    ("body", "text", "expected"),
    [
        # a `Mark` is none in `Marketing`, and a PIN none in a longer number
        (NAMED, "Mark: Marketing, Li: Linux, 123: 41234", "{first_name}: Marketing, {last_name}: Linux, {pin}: 41234"),
        (NAMED, r"'Hello\nMark' hello%20Mark", r"'Hello\n{first_name}' hello%20{first_name}"),
        # who calls himself `title` does not spoil the key `title` of a program
        ({"film": {"title": 1}, "username": "film"}, "film['title'] is None", "film['title'] is None"),
        ({"nickname": "None"}, "film['title'] is None", "film['title'] is None"),
        ({"password": "password"}, "None or password", "None or password"),
        # a word that the probe made up is nobody's
        ({"username": "the"}, "there is no such user: the", "there is no such user: the"),
        # longer values are replaced first
        ({"first_name": "Ada", "full_name": "Ada King"}, "Ada King, Ada", "{full_name}, {first_name}"),
        # a long identifier of an answer is no token in the program that passes it on
        ({"film_id": SHA}, f"get_film({SHA!r})", f"get_film({SHA!r})"),
    ],
)
def test_a_text_has_the_replacements_of_what_it_holds(body: dict[str, Any], text: str, expected: str) -> None:
    """Of whole values and words alone."""
    redactor = Redactor()
    new: Any = redactor.body(body)

    assert redactor.text(text) == expected.format(**new)
    assert all(new[key] != value for key, value in body.items() if key in ("username", "password"))


def test_a_value_is_found_however_it_is_written() -> None:
    """As a literal of Python or JSON, and in a URL."""
    secret = "a\\b \"c\" 'd' é/ü&x"
    redactor = Redactor()
    new: Any = redactor.body({"password": secret})

    for written in (repr(secret), json.dumps(secret), json.dumps(secret, ensure_ascii=False)):
        assert ast.literal_eval(redactor.text(written)) == new["password"]
    query = redactor.text(f"?{urlencode({'q': secret, 'n': 1})}")
    assert parse_qs(query.removeprefix("?")) == {"q": [new["password"]], "n": ["1"]}


def test_what_looks_secret_is_found_in_a_text_that_came_first() -> None:
    """An error message may hold what no body held."""
    redactor = Redactor()
    redacted_text = redactor.text(
        f"user bob@corp.io (10.1.2.3) sent Bearer {JWT}; see https://u:pw@h.org/?sig=abc12345 and {SHA[:32]}"
    )

    for secret in ("bob", "corp.io", "10.1.2.3", JWT, "u:pw", "abc12345", SHA[:32]):
        assert secret not in redacted_text
    assert redactor.text(redacted_text) == redacted_text


def test_deep_and_large_bodies() -> None:
    """Nesting that the JSON parser takes is no problem, nor are a hundred users and long runs of one character."""
    deep = json.loads('{"address":[' * 250 + '"ada@corp.io"' + "]}" * 250)
    flat = json.dumps(redacted(deep))
    assert "corp.io" not in flat
    assert flat.count("[") == 250

    users = [{"name": f"Ada {n} King", "email": f"ada{n}@corp.io", "bio": f"ada{n}@corp.io " * 3} for n in range(100)]
    redacted_body = redacted(
        {"users": users, "blob": "A" * 50_000, "password": " " * 20_000 + "x", "repeated": "sk-a." * 5_000}
    )
    assert redacted_body["users"][99]["bio"] == f"{redacted_body['users'][99]['email']} " * 3


def test_what_json_has_no_word_for_is_left() -> None:
    opaque = object()
    body: Any = redacted({"token": opaque, "list": [b"x"]})

    assert body["token"] is opaque
    plain: list[object] = [None, True, 1.5, "x", [], {}, "\ud800"]
    assert [redacted(value) for value in plain] == plain
    assert redacted({"password": "\ud800ab"})["password"] != "\ud800ab"
