"""What is secret or personal in replies is in no file that a probe writes, and only its owner may read these."""

from __future__ import annotations

import base64
import hashlib
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from probing.redact.documented import DocumentedValue, documented_reply
from probing.redact.redact import Redactor
from protocols import load
from tests.local_api import Answer, Received
from tests.probing.small_services import Small, probe_by_command

TEXT = {"type": "string"}
TSIG = base64.b64encode(hashlib.sha512(b"made up").digest()).decode()
HEX = hashlib.sha1(b"made up").hexdigest()
PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2lnbmF0dXJlLW1hZGUtdXA"
SECRETS = [
    TSIG,
    HEX,
    "b3BlbnNzaC1rZXktdjEAAAAA",
    JWT,
    "bWFkZSB1cA==",
    "correct horse",
    "open sesame",
    "tulip",
    "4711-x",
]
NAMES = ["Harris", "Amy", "Okafor", "Lindqvist"]


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(schema: Any) -> dict[str, Any]:
    return {"200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": schema}}}}}


class Nameserver(Small):
    """Keys of several kinds, speakers, and a calendar that is asked for before the names in it are known."""

    components = {  # noqa: RUF012
        "TSIGKey": _object(
            name={**TEXT, "description": "The name of the key"},
            algorithm={**TEXT, "description": "The algorithm of the secret key"},
            key={**TEXT, "description": "The Base64 encoded secret key, empty when listing keys"},
        ),
        "ApiToken": _object(id={"type": "integer"}, value=TEXT),
        "Account": _object(
            id={"type": "integer"}, phrase={**TEXT, "format": "password"}, pin={**TEXT, "writeOnly": True}
        ),
    }
    paths = {  # noqa: RUF012
        "/agenda.ics": {"get": {"responses": {}}},
        "/tsigkeys": {"get": {"responses": _list({"$ref": "#/components/schemas/TSIGKey"})}},
        "/tokens": {"get": {"responses": _list({"$ref": "#/components/schemas/ApiToken"})}},
        "/accounts": {
            "get": {"responses": {}},
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Account"}}}},
                "responses": {},
            },
        },
        "/material": {"get": {"responses": {}}},
        "/speakers": {"get": {"responses": {}}},
        "/talks": {"get": {"responses": {}}},
    }

    def reply(self, received: Received, parts: list[str], query: dict[str, str]) -> Answer:
        match parts:
            case ["tsigkeys"]:
                short = {"name": "short", "algorithm": "hmac-md5", "key": "bWFkZSB1cA=="}
                return Answer(200, [{"name": "transfer", "algorithm": "hmac-sha512", "key": TSIG}, short])
            case ["tokens"]:
                return Answer(200, [{"id": 1, "value": "tulip"}])
            case ["accounts"]:
                return Answer(200, {"items": [{"id": 1, "phrase": "correct horse", "pin": "4711-x"}]})
            case ["material"]:
                return Answer(200, {"key": HEX, "files": [PEM], "note": f"sent with {JWT}", "password": "open sesame"})
            case ["speakers"]:
                return Answer(200, [{"code": "AH1", "name": "Amy Harris", "biography": "Harris likes parsers."}])
            case ["talks"]:
                return Answer(200, [{"id": 1, "authors": ["Ben Okafor"], "title": "Zones - C. Lindqvist"}])
        lines = ["BEGIN:VCALENDAR", "SUMMARY:Parsers - A. Harris", "SUMMARY:Harris\\, Amy", "ATTENDEE;CN=Ben Okafor:x"]
        return Answer(200, "\r\n".join([*lines, "DESCRIPTION:Amy Harris and Okafor\\, Ben", "END:VCALENDAR"]))


@pytest.mark.parametrize("more", [[], ["--blind"]])
def test_no_file_of_a_probe_holds_a_secret(tmp_path: Path, more: list[str]) -> None:
    """By description, format, name of the schema and form, also where the reply is not documented or hidden. Only the
    owner may read them, whoever could read the document before."""
    (tmp_path / "learned.yaml").write_text("")
    (tmp_path / "learned.yaml").chmod(0o644)
    store = tmp_path / "store"
    with Nameserver() as service:
        options = ("--store", str(store), "--json", *more)
        result, _, _ = probe_by_command(tmp_path, service.document, service.url, *options)
    written = [tmp_path / "learned.yaml", tmp_path / "report.json", *store.iterdir()]

    assert result.exit_code == 0, result.output
    texts = [result.output, *(file.read_text() for file in written)]
    assert [secret for secret in [*SECRETS, *NAMES] for text in texts if secret in text] == []
    assert {stat.S_IMODE(file.stat().st_mode) for file in written} == {0o600}
    assert all(name in texts[1] for name in ("transfer", "hmac-sha512", "AH1", "parsers")), "what is no secret stays"


def _documented(schema: dict[str, Any], name: str = "Thing") -> DocumentedValue:
    paths = {
        "/things": {
            "get": {
                "responses": {
                    "200": {"description": "", "content": {"application/json": {"schema": {"$ref": f"#/x/{name}"}}}}
                }
            }
        }
    }
    text = json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "t", "version": "1"},
            "paths": paths,
            "components": {"schemas": {name: schema}},
        }
    )
    protocol = load(json.loads(text.replace("#/x/", "#/components/schemas/")))
    return documented_reply(protocol, protocol.tool("GET_things"), 200)


@pytest.mark.parametrize(
    ("key", "schema", "name", "secret"),
    [
        ("key", {**TEXT, "description": "The Base64 encoded secret key"}, "Thing", True),
        ("content", {**TEXT, "description": "Private key in ISC format"}, "Thing", True),
        ("value", {**TEXT, "description": "A password for the mailbox"}, "Thing", True),
        ("code", {**TEXT, "description": "Refresh token of the session"}, "Thing", False),  # an identifier by its key
        ("blob", {**TEXT, "description": "Token used to authenticate"}, "Thing", True),
        ("entry", {**TEXT, "format": "password"}, "Thing", True),
        ("note", {**TEXT, "writeOnly": True}, "Thing", False),
        ("entry", {**TEXT, "writeOnly": True}, "Thing", True),
        ("key", TEXT, "TSIGKey", True),
        ("value", TEXT, "ApiTokenResponse", True),
        ("key", TEXT, "Thing", False),
        ("key", TEXT, "Setting", False),
        ("name", {**TEXT, "description": "The name of the secret"}, "Secret", False),
        ("created_at", {**TEXT, "description": "When the API key was made"}, "ApiKey", False),
        ("reach", {**TEXT, "description": "Scopes of the access token"}, "Thing", False),
        ("kind", {**TEXT, "enum": ["password", "token"], "description": "The secret"}, "Thing", False),
        ("reach", {**TEXT, "description": "The domain associated with the secret."}, "Thing", False),
        ("shown", {**TEXT, "description": "Whether a password is set"}, "Thing", False),
        ("entry", {**TEXT, "description": "The public key, not a secret"}, "Thing", False),
        ("cursor", {**TEXT, "description": "Page token for the next request"}, "Thing", False),
        ("length", {"type": "integer", "description": "Length of the password"}, "Thing", False),
    ],
)
def test_a_document_says_what_is_secret(key: str, schema: dict[str, Any], name: str, secret: bool) -> None:
    assert _documented(_object(**{key: schema}), name).member(key).is_secret is secret


@pytest.mark.parametrize(
    "text",
    [
        "Vitamin C. The rest",
        "A. Preface\nB. Main part",
        "U.S. Army",
        "see - section 3. Results",
        "Talk - C. elegans",
        "https://x.example/A.Harris",
    ],
)
def test_what_is_no_name_stays(text: str) -> None:
    assert Redactor().body({"text": text}) == {"text": text}


def test_the_forms_of_a_name_are_replaced_alike() -> None:
    """Initials, the surname first and parts of it; not a longer word that begins with it."""
    redactor = Redactor()
    body: Any = redactor.body({"speakers": [{"name": "Amy van Harris"}], "text": "A. van Harris, Amy; Harrison Amyl"})
    first, particle, last = body["speakers"][0]["name"].split()

    assert body["text"] == f"{first[0]}. {particle} {last}, {first}; Harrison Amyl"
    assert redactor.text("van Harris") == f"van {last}"
