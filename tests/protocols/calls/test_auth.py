"""A user names where a secret is kept; it reaches the request and nothing else."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from protocols import Protocol, UsageError, load
from protocols.calls.api_keys import APIKey
from protocols.calls.auth import credential
from protocols.calls.credentials import ANY_REQUEST, BasicLogin, BearerToken, Credential
from protocols.calls.redaction import holds_secret, redact, redact_stream

SAMPLES = Path(__file__).parents[2] / "samples"
SECRET = "s3cr/t value+ü"
LOGIN = base64.b64encode(b"ann:pass:word").decode()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Protocol:
    monkeypatch.setenv("ATC_HOME", str(tmp_path))
    return load(SAMPLES / "library.yaml")


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setenv("MY_LOGIN", "ann:pass:word")
    monkeypatch.setenv("EMPTY", "  ")
    monkeypatch.setenv("SHORT", "7a%")


@pytest.mark.parametrize(
    ("spec", "headers", "query", "cookies"),
    [
        ("bearer:env:MY_TOKEN", {"Authorization": f"Bearer {SECRET}"}, {}, {}),
        ("basic:file:{folder}/login: mine", {"Authorization": f"Basic {LOGIN}"}, {}, {}),
        ("header:X-Key:env:MY_TOKEN", {"X-Key": SECRET}, {}, {}),
        ("query:key:env:MY_TOKEN", {}, {"key": SECRET}, {}),
        ("cookie:SESSION:env:MY_TOKEN", {}, {}, {"SESSION": SECRET}),
        ("key:env:MY_TOKEN", {}, {"api_key": SECRET}, {}),
        ("session:env:MY_TOKEN", {}, {}, {"SESSION": SECRET}),
        ("signature:env:MY_TOKEN", {"X-Signature": SECRET}, {}, {}),
        ("oauth:env:MY_TOKEN", {"Authorization": f"Bearer {SECRET}"}, {}, {}),
        ("login:env:MY_LOGIN", {"Authorization": f"Basic {LOGIN}"}, {}, {}),
    ],
)
def test_a_credential_goes_where_the_option_or_the_document_says(
    library: Protocol,
    tmp_path: Path,
    spec: str,
    headers: dict[str, str],
    query: dict[str, str],
    cookies: dict[str, str],
) -> None:
    """The document has a scheme of each kind; no credential shows its secret."""
    (tmp_path / "login: mine").write_text("ann:pass:word\n")
    read = credential(spec.replace("{folder}", str(tmp_path)), library)

    assert (dict(read.sign(ANY_REQUEST)), dict(read.query()), dict(read.cookies())) == (headers, query, cookies)
    assert SECRET not in f"{read!r}{read}{[read]}"


@pytest.mark.parametrize(
    "spec",
    [
        "hunter2hunter2",
        "bearer:hunter2hunter2",
        "bearer:env:hunter2-hunter2",
        "hunter2hunter2:env:MY_TOKEN",
        "header:hunter2hunter2",
        "basic:ann:hunter2hunter2",
        "",
    ],
)
def test_a_secret_on_the_command_line_is_refused_and_not_repeated(spec: str, library: Protocol) -> None:
    with pytest.raises(UsageError) as caught:
        credential(spec, library)

    assert "hunter2" not in str(caught.value)
    assert "--auth" in str(caught.value)


def test_a_source_that_holds_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "two lines").write_text("a\nb")
    for spec, message in (
        ("bearer:env:NOT_SET_AT_ALL", "NOT_SET_AT_ALL is not set"),
        ("bearer:env:EMPTY", "EMPTY is empty"),
        (f"bearer:file:{tmp_path}/none", "No such file"),
        (f"bearer:file:{tmp_path}", "cannot be read"),
        (f"bearer:file:{tmp_path}/two lines", "one line"),
        ("basic:env:MY_TOKEN", "user:password"),
        ("bearer:env:SHORT", "fewer than 4 characters"),  # taking it out of a reply would tear the reply
    ):
        with pytest.raises(UsageError, match=message) as caught:
            credential(spec, None)
        assert SECRET not in str(caught.value) and "7a%" not in str(caught.value)


@pytest.mark.parametrize(
    "written",
    [
        "s3cr%2Ft value%2Bü",  # some characters alone
        "s3cr/t value\\u002b\\u00FC",
        "s3cr/t value\\u002B\\u00fc",
        "s3cr\\/t\\u0020value+\\u00fc",
        "s3cr&#47;t value&#43;&uuml;",
        "s3cr&#x2F;t value&#x2b;&#252;",
        "s3cr/t\\040value+\\303\\274",
        "s3cr/t value+%FC",
        "s3cr/t value+\\xfc",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_secret_is_found_in_any_mixture_of_escapes_and_encoding(written: str, encoding: str) -> None:
    """Services escape different characters; what stands in its place can be read as the rest can."""
    header = credential("header:X-Key:env:MY_TOKEN", None)

    clean = b"".join(redact_stream([f"a {written} b".encode(encoding)], [header]))

    assert clean.decode(encoding) == "a [secret] b"
    assert holds_secret([written.encode(encoding)], [header])
    assert not holds_secret([written[:-2].encode(encoding)], [header])


TOKEN_USERS = (("sk_live_4711abcdefgh", ""), ("token4711", "x"), ("ghp_0123456789abcdef", "x-oauth-basic"))


def header(value: str) -> APIKey:
    """A value of the header Authorization."""
    return APIKey(value, "header", "Authorization")


@pytest.mark.parametrize(
    ("taken", "text", "redacted"),
    [
        (header("Bearer YW5uOnBh"), "Bearer YW5uOnBh | YW5uOnBh | Bearer", "[secret] | [secret] | Bearer"),
        (header("Token YW5uOnBh"), "Token YW5uOnBh | YW5uOnBh | Token", "[secret] | [secret] | Token"),
        (header(f"Basic {LOGIN}"), f"Basic {LOGIN} | {LOGIN} | pass:word", "[secret] | [secret] | [secret]"),
        (BasicLogin("ann:pass:word"), f"Basic {LOGIN} | ann:pass:word | ann", "Basic [secret] | [secret] | ann"),
        (BasicLogin("ann:pass:word"), "it is pass:word", "it is [secret]"),
        (BasicLogin("ann:ab"), "ann is not ab", "ann is not ab"),
        *((BasicLogin(f"{user}:{rest}"), f"no user {user}.", "no user [secret].") for user, rest in TOKEN_USERS),
        *(
            (header(f"Basic {base64.b64encode(f'{user}:{rest}'.encode()).decode()}"), user, "[secret]")
            for user, rest in TOKEN_USERS
        ),
        (header('Token token="k3y-4711"'), "k3y-4711, ann", "[secret], ann"),
        (header("Session id=1; session=k3y-4711"), "k3y-4711, ann", "[secret], ann"),
        (header("ApiKey user=ann,key=k3y-4711"), "k3y-4711, ann", "[secret], ann"),
        (header("deadbeef01AB"), "DEADBEEF01AB deadbeef01ab", "[secret] [secret]"),
        (BearerToken("41bcdefgh"), "key=41bcdef%67h =41bcdefgh", "key=[secret] =[secret]"),
        (BearerToken("x0041bcdefgh"), "&#x0041bcdef%67h &#%780041bcdefgh", "&#[secret] &#[secret]"),
        (BearerToken("Ab\0cdefg"), "key Ab%00cdefg", "key [secret]"),
        (header("pässwörd"), "key pässwörd".encode().decode("latin-1"), "key [secret]"),
        (header("pässwörd"), "key pässwörd".encode().decode("cp1252"), "key [secret]"),
    ],
)
def test_the_parts_of_a_credential_are_removed_too(taken: Credential, text: str, redacted: str) -> None:
    """A service says `invalid token abc` and not `Bearer abc`; some take the token as the name of a user; UTF-8 is
    misread, and hex digits are written in the other case. The beginning of a secret may look like an escape's end."""
    assert redact(text, [taken]) == redacted
    assert redact(text, []) == text


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_secret_is_found_where_two_parts_of_a_stream_meet(size: int) -> None:
    """However a body is cut, it is cleaned as it would be in one piece."""
    credentials = [BearerToken("tok/en+4711=="), BasicLogin("aäa:aäaä")]
    secret = b"tok/en+4711=="
    text = b"a\xc3" + b" ".join(
        [secret, secret[:-1], secret.hex().encode(), base64.b64encode(secret), "aäaäaäaä".encode(), b"tok/"]
    )
    whole = b"".join(redact_stream([text], credentials))

    parts = [text[start : start + size] for start in range(0, len(text), size)]

    assert b"".join(redact_stream(parts, credentials)) == whole
    assert whole.count(b"[secret]") == 5
    assert secret not in whole


KEY = "sk-Ab3/9+xYz=Qq77LmNoP-tuv_w12.34"


def _list(text: str) -> str:
    return json.dumps({"type": "Buffer", "data": list(text.encode())})


def _percent(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


@pytest.mark.parametrize(
    "written",
    [
        quote(quote(KEY, safe=""), safe=""),
        quote(json.dumps(KEY), safe=""),
        json.dumps(json.dumps(KEY)),
        json.dumps(KEY).replace("/", "\\/"),
        json.dumps(json.dumps(KEY).replace("/", "\\/")),
        KEY.replace("/", "\\\\\\/"),
        _percent(KEY),
        quote(_percent(KEY), safe=""),
        html.escape(html.escape(KEY)),
        base64.b64encode(f"Bearer {KEY}".encode()).decode(),
        base64.b64encode(f"user:{KEY}".encode()).decode(),
        base64.b64encode(f"ab{KEY}zz".encode()).decode(),
        base64.urlsafe_b64encode(f"abc{KEY}z".encode()).decode(),
        "".join(f"\\u{ord(char):04x}" for char in KEY),
        KEY.replace("/", "&sol;").replace("+", "&plus;").replace("=", "&equals;").replace("_", "&lowbar;"),
        KEY.replace("/", "&#47").replace("+", "&#x2b").replace("=", "&#061"),
        "".join(f"&#{ord(char)};" for char in KEY),
        "".join(f"&#x{ord(char):X};" for char in KEY),
        "".join(f"\\x{ord(char):02x}" for char in KEY),
        "".join(f"\\u{{{ord(char):x}}}" for char in KEY),
        KEY.replace("/", "%u002F").replace("+", "%u002b"),
        KEY.replace("=", "=3D").replace("/", "=2F").replace("+", "=2b"),
        "".join(f"={ord(char):02X}" for char in KEY),
        KEY.upper(),
        KEY.lower(),
        base64.b32encode(KEY.encode()).decode(),
        base64.b64encode(base64.b64encode(f"user:{KEY}".encode())).decode(),
        base64.b64encode(f"Bearer {KEY}".encode("utf-16-le")).decode(),
        _list(KEY),
        _list(KEY).replace(" ", ""),
    ],
)
def test_a_secret_is_found_however_it_is_encoded(written: str) -> None:
    """A redirect escapes the query that it repeats, a proxy repeats a header in base64, a dump has bytes."""
    chosen = (APIKey(KEY, "query", "key"),)
    redacted = redact(f"x {written} y", chosen)
    streamed = b"".join(redact_stream([f"x {written[:9]}".encode(), f"{written[9:]} y".encode()], chosen)).decode()

    assert "[secret]" in redacted
    assert "LmNoP" not in redacted
    assert written[8:-8] not in redacted
    assert streamed == redacted
