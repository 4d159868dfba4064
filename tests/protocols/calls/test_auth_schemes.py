"""Schemes that sign a whole request, judged by published examples and by servers that verify what they get."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from werkzeug.datastructures import Authorization

from protocols import UsageError
from protocols.calls.auth import credential
from protocols.calls.credentials import Credential, RequestToSign
from protocols.calls.redaction import redact
from protocols.calls.signatures import DigestLogin, HMACSignature, SigV4
from sandbox import Journal, Sandbox
from tests.local_api import Answer, LocalAPI, Received

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def api() -> Iterator[LocalAPI]:
    """An API with alerts, which anybody may read and write."""
    with LocalAPI() as server:
        server.answer("GET", "/alerts", [])
        server.answer("POST", "/alerts", {"text": "a"})
        yield server


# SigV4

SUITE = SigV4("AKIDEXAMPLE", SECRET, "us-east-1", "service")
STORAGE = SigV4("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1", "s3")
HOST, BUCKET = "https://example.amazonaws.com", "https://examplebucket.s3.amazonaws.com"


DATED = {"Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"}
HASHED = "host;x-amz-content-sha256;x-amz-date"


@pytest.mark.parametrize(
    ("key", "line", "headers", "body", "names", "signature"),
    [
        (SUITE, "GET /", {}, b"", "host;x-amz-date", "5fa00fa31553b73e"),
        (SUITE, "POST /", {}, b"", "host;x-amz-date", "5da7c1a2acd57cee"),
        (SUITE, "GET /?Param2=value2&Param1=value1", {}, b"", "host;x-amz-date", "b97d918cfa904a5b"),
        (SUITE, "POST /", FORM, b"Param1=value1", "content-type;host;x-amz-date", "ff11897932ad3f4e"),
        (STORAGE, "GET /test.txt", {"Range": "bytes=0-9"}, b"", f"host;range{HASHED[4:]}", "f0e8bdb87c964420"),
        (STORAGE, "GET /?lifecycle", {}, b"", HASHED, "fea454ca298b7da1"),
        (
            *(STORAGE, "PUT /test$file.text", DATED, b"Welcome to Amazon S3."),
            *(f"date;{HASHED};x-amz-storage-class", "98ad721746da40c6"),
        ),
    ],
)
def test_sigv4_signs_the_published_examples(
    key: SigV4, line: str, headers: dict[str, str], body: bytes, names: str, signature: str
) -> None:
    """Those of the AWS test suite of Signature Version 4 and of the documentation of S3."""
    time = datetime(2015, 8, 30, 12, 36, tzinfo=UTC) if key is SUITE else datetime(2013, 5, 24, tzinfo=UTC)
    method, _, path = line.partition(" ")
    request = RequestToSign(method, f"{HOST if key is SUITE else BUCKET}{path}", headers, body)
    header = key.sign_at(request, time)["Authorization"]

    scope = f"{time:%Y%m%d}/us-east-1/{key.service}/aws4_request"
    assert header.startswith(
        f"AWS4-HMAC-SHA256 Credential={key.access_key_id}/{scope}, SignedHeaders={names}, Signature="
    )
    assert header.rpartition("=")[2].startswith(signature)


def test_sigv4_is_verified_by_a_server_that_has_the_key(api: LocalAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the request apart as it came over the wire: method, path, query, headers and body."""
    for name, value in {"ACCESS_KEY_ID": "AKID", "SECRET_ACCESS_KEY": SECRET, "SESSION_TOKEN": "session-4711"}.items():
        monkeypatch.setenv(f"CLOUD_{name}", value)
    monkeypatch.setenv("CLOUD_REGION", "eu-west-1")
    monkeypatch.setenv("CLOUD_SERVICE", "execute-api")

    def verify(received: Received) -> Answer:
        fields = dict(
            part.strip().split("=", 1) for part in received.headers["authorization"].split(" ", 1)[1].split(",")
        )
        names = fields["SignedHeaders"].split(";")
        query = "&".join(f"{name}={value}" for name, value in sorted(received.query))
        lines = [received.method, received.path, query, *(f"{name}:{received.headers[name]}" for name in names), ""]
        canonical = "\n".join([*lines, fields["SignedHeaders"], hashlib.sha256(received.body).hexdigest()])
        scope = fields["Credential"].split("/", 1)[1]
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = f"AWS4-HMAC-SHA256\n{received.headers['x-amz-date']}\n{scope}\n{digest}"
        key = f"AWS4{SECRET}".encode()
        for part in (*scope.split("/"), text):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        good = hmac.compare_digest(key.hex(), fields["Signature"]) and "x-amz-security-token" in names
        return Answer(200, [SECRET, "session-4711"]) if good else Answer(403, {"message": "the signature is wrong"})

    api.respond("POST", "/alerts", verify)
    api.respond("GET", "/alerts", verify)
    signed = credential("sigv4:env:CLOUD", api.protocol)
    program = f"import requests\nprint(POST_alerts(text='a'))\nprint(requests.get('{api.url}/alerts?b=2&a=1').json())"
    run = Sandbox(api.protocol, credentials=[signed]).run(program)

    assert run.stdout == "['[secret]', '[secret]']\n" * 2, run.error
    assert SECRET not in repr((run, signed))


# HMAC


@pytest.mark.parametrize(
    ("key", "body", "headers"),
    [
        (
            HMACSignature("It's a Secret to Everybody", "", "{body}", {"X-Hub-Signature-256": "sha256={signature}"}),
            b"Hello, World!",
            {"X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
        ),
        (
            HMACSignature("Jefe", message="{body}", carriers={"X-Mac": "{signature}"}, hash="sha512"),
            b"what do ya want for nothing?",
            {
                "X-Mac": "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
            },
        ),
        (
            HMACSignature("key", "me", "{timestamp}.{target}", {"X-Key": "{key_id}", "X-At": "{timestamp}"}),
            b"",
            {"X-Key": "me", "X-At": "1531420618"},
        ),
    ],
)
def test_an_hmac_fills_its_templates(key: HMACSignature, body: bytes, headers: dict[str, str]) -> None:
    """The first signature is a published example of webhooks, the second one that of RFC 4231."""
    assert key.sign_at(RequestToSign("POST", "https://api.example/hooks?x=1", {}, body), 1531420618.7) == headers


def test_an_hmac_is_verified_by_a_server_that_has_the_key(api: LocalAPI, tmp_path: Path) -> None:
    settings = {"secret": SECRET, "key_id": "me", "message": "{method}\n{path}\n{query}\n{timestamp}\n{body}"}
    headers = {"X-Key": "{key_id}", "X-At": "{timestamp}", "X-Signature": "v1={signature}"}
    (tmp_path / "hmac.json").write_text(json.dumps({**settings, "headers": headers, "encoding": "base64"}))

    def verify(received: Received) -> Answer:
        query = "&".join(f"{name}={value}" for name, value in received.query)
        text = f"{received.method}\n{received.path}\n{query}\n{received.headers['x-at']}\n".encode() + received.body
        mac = base64.b64encode(hmac.new(SECRET.encode(), text, "sha256").digest()).decode()
        good = received.headers["x-signature"] == f"v1={mac}"
        return Answer(200, [SECRET]) if good else Answer(401, {"message": "the signature is wrong"})

    api.respond("POST", "/alerts", verify)
    signed = credential(f"hmac:file:{tmp_path / 'hmac.json'}", api.protocol)
    run = Sandbox(api.protocol, credentials=[signed]).run("print(POST_alerts(text='ä'))")

    assert run.stdout == "['[secret]']\n", run.error
    assert SECRET not in repr((run, signed))


@pytest.mark.parametrize(
    ("spec", "content", "message"),
    [
        ("hmac", {}, "secret is missing"),
        ("hmac", {"secret": "abc"}, "fewer than 4 characters"),
        ("hmac", {"secret": "abcdef", "hash": "md5"}, "hash must be one of sha256"),
        ("hmac", {"secret": "abcdef", "message": "{cookie}"}, "nothing fills {cookie}"),
        ("hmac", {"secret": "abcdef", "headers": {"X-A": "{body}{signature}"}}, "nothing fills {body}"),
        ("hmac", {"secret": "abcdef", "headers": {"X-A": "a"}}, "headers must be a JSON object such as"),
        ("hmac", {"secret": "abcdef", "headers": {"Host": "{signature}"}}, "headers cannot set Host"),
        ("sigv4", {"access_key_id": "a", "secret_access_key": "abcdef", "region": "x"}, "service is missing"),
        ("sigv4", [], "must hold a JSON object: access_key_id"),
    ],
)
def test_a_setting_that_will_not_do_is_named(spec: str, content: object, message: str, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(json.dumps(content))
    with pytest.raises(UsageError, match=message) as raised:
        credential(f"{spec}:file:{tmp_path / 'settings.json'}", None)

    assert "abcdef" not in str(raised.value)


# Digest


class DigestServer:
    """Verifies Digest as RFC 7616 has it, for one user; `challenge` is sent with each 401."""

    def __init__(self, algorithm: str, qop: str = "auth") -> None:
        self.algorithm, self.nonce, self.stale, self.counts = algorithm, "n-1", False, list[str]()
        self.qop = qop
        self._turn = threading.Lock()

    @property
    def challenge(self) -> str:
        more = f', algorithm={self.algorithm}, qop="{self.qop}"' if self.qop else ""
        stale = ", stale=true" if self.stale else ""
        return f'Basic realm="old", Digest realm="alerts", nonce="{self.nonce}", opaque="o"{more}{stale}'

    def __call__(self, received: Received) -> Answer:
        header = Authorization.from_header(received.headers.get("authorization"))
        with self._turn:
            if (
                header is not None
                and header.type == "digest"
                and header["nonce"] == self.nonce
                and self._fits(header, received)
            ):
                self.counts.append(header.get("nc") or "")
                return Answer(200, ["ok"])
            self.stale = header is not None and header["nonce"] != self.nonce
            return Answer(401, {"message": "sign in"}, headers={"WWW-Authenticate": self.challenge})

    def _fits(self, header: Authorization, received: Received) -> bool:
        def hashed(text: str) -> str:
            return hashlib.new(self.algorithm.replace("-", "").lower(), text.encode()).hexdigest()

        login = hashed("ann:alerts:pass:word")
        asked = hashed(f"{received.method}:{header['uri']}")
        middle = f"{header['nc']}:{header['cnonce']}:{header['qop']}:" if self.qop else ""
        return bool(
            header["response"] == hashed(f"{login}:{header['nonce']}:{middle}{asked}")
            and str(header["uri"]).partition("?")[0] == received.path
        )


@pytest.fixture
def ann(monkeypatch: pytest.MonkeyPatch) -> Credential:
    monkeypatch.setenv("LOGIN", "ann:pass:word")
    return credential("digest:env:LOGIN", None)


@pytest.mark.parametrize(
    ("algorithm", "qop"), [("MD5", ""), ("MD5", "auth"), ("SHA-256", "auth,auth-int"), ("SHA-512", "auth")]
)
def test_a_digest_answers_the_challenge_of_a_server(api: LocalAPI, ann: Credential, algorithm: str, qop: str) -> None:
    """The first request is refused and sent again; later ones answer the same challenge, each with its own count."""
    server = DigestServer(algorithm, qop)
    api.respond("GET", "/alerts", server)
    api.respond("POST", "/alerts", server)
    with Journal() as journal:
        sandbox = Sandbox(api.protocol, credentials=[ann], journal=journal)
        run = sandbox.run("print(POST_alerts(text='a'), GET_alerts())")
        server.nonce = "n-2"
        again = sandbox.run("print(GET_alerts(), POST_alerts(text='b'))")

    assert run.stdout == again.stdout == "['ok'] ['ok']\n", (run.error, again.error)
    assert [call.attempts for call in (*run.calls, *again.calls)] == [2, 1, 2, 1]
    assert not qop or server.counts == ["00000001", "00000002"] * 2
    assert "pass:word" not in repr((run, ann))


def test_a_wrong_password_is_tried_once_for_each_challenge(api: LocalAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGIN", "ann:wrong-word")
    api.respond("GET", "/alerts", DigestServer("SHA-256"))
    run = Sandbox(api.protocol, credentials=[credential("digest:env:LOGIN", None)]).run("GET_alerts()\n")

    assert [(call.status, call.attempts) for call in run.calls] == [(401, 2)]
    assert len(api.requests) == 2


@pytest.mark.parametrize(
    "challenge", ['Digest realm="a", nonce="b", algorithm=SHA-512-256', "Basic realm=x", "Digest x"]
)
def test_a_challenge_that_cannot_be_answered_is_the_programs_to_see(challenge: str) -> None:
    login = DigestLogin("ann:password")

    assert not login.renew({}, {"WWW-Authenticate": challenge})
    assert login.sign(RequestToSign("GET", "http://localhost/", {})) == {}
    assert redact("ann:password password", [login]) == "[secret] [secret]"


# The door


def test_a_package_of_somebody_else_adds_a_scheme(
    api: LocalAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry point of the group `atc.auth`; it signs what leaves, with functions and with `requests`."""
    (tmp_path / "toy_auth.py").write_text(
        "from dataclasses import dataclass\n"
        "from protocols.calls.credentials import Credential\n"
        "@dataclass(frozen=True)\n"
        "class Toy(Credential):\n"
        "    signs_whole = True\n"
        "    secret: str\n"
        "    def sign(self, request):\n"
        "        return {'X-Toy': f'{request.method} {len(request.body)} {len(self.secret)}'}\n"
        "    def secrets(self):\n"
        "        return (self.secret,)\n"
        "def read_toy(name, source):\n"
        "    return Toy(source.secret())\n"
    )
    (tmp_path / "toy_auth-1.dist-info").mkdir()
    (tmp_path / "toy_auth-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-auth\nVersion: 1\n")
    (tmp_path / "toy_auth-1.dist-info" / "entry_points.txt").write_text("[atc.auth]\ntoy = toy_auth:read_toy\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TOY_KEY", "toy-4711")
    signed = credential("toy:env:TOY_KEY", api.protocol)
    api.answer("GET", "/alerts", ["toy-4711"])
    run = Sandbox(api.protocol, credentials=[signed]).run("print(GET_alerts())\nPOST_alerts(text='a')")

    assert run.stdout == "['[secret]']\n", run.error
    assert [received.headers["x-toy"] for received in api.requests] == ["GET 0 8", "POST 13 8"]
    with pytest.raises(UsageError, match=r"oauth2, sigv4, hmac, digest, header:NAME.*, toy"):
        credential("nothing:env:TOY_KEY", api.protocol)
