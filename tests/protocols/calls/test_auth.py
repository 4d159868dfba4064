"""A user names where a secret is kept; it reaches the request and nothing else."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from protocols import Protocol, UsageError, load
from protocols.calls.auth import credential
from protocols.calls.credentials import ANY_REQUEST, APIKey, BasicLogin, BearerToken, Credential
from protocols.calls.redaction import holds_secret, redact, redact_stream

SAMPLES = Path(__file__).parents[2] / "samples"
SECRET = "s3cr/t value+ü"


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Protocol:
    monkeypatch.setenv("ATC_HOME", str(tmp_path))
    return load(SAMPLES / "library.yaml")


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setenv("MY_LOGIN", "ann:pass:word")
    monkeypatch.setenv("EMPTY", "  ")


def applied(credential: Credential) -> tuple[dict[str, str], list[tuple[str, str]], dict[str, str]]:
    headers = {"Accept": "*/*", **credential.sign(ANY_REQUEST)}
    query = [("q", "a"), *credential.query().items()]
    return headers, query, dict(credential.cookies())


def test_a_token_from_the_environment_is_a_bearer_header() -> None:
    headers, query, cookies = applied(credential("bearer:env:MY_TOKEN", None))

    assert headers == {"Accept": "*/*", "Authorization": f"Bearer {SECRET}"}
    assert (query, cookies) == ([("q", "a")], {})


def test_user_and_password_from_a_file_are_a_basic_header(tmp_path: Path) -> None:
    (tmp_path / "login: mine").write_text("ann:pass:word\n")

    headers, _, _ = applied(credential(f"basic:file:{tmp_path}/login: mine", None))

    assert headers["Authorization"] == "Basic " + base64.b64encode(b"ann:pass:word").decode()


def test_keys_go_into_the_header_query_or_cookie_that_is_named() -> None:
    assert applied(credential("header:X-Key:env:MY_TOKEN", None))[0]["X-Key"] == SECRET
    assert applied(credential("query:key:env:MY_TOKEN", None))[1] == [("q", "a"), ("key", SECRET)]
    assert applied(credential("cookie:SESSION:env:MY_TOKEN", None))[2] == {"SESSION": SECRET}


def test_a_security_scheme_of_the_document_says_itself_where_the_key_goes(library: Protocol) -> None:
    assert applied(credential("key:env:MY_TOKEN", library))[1][-1] == ("api_key", SECRET)
    assert applied(credential("session:env:MY_TOKEN", library))[2] == {"SESSION": SECRET}
    assert applied(credential("signature:env:MY_TOKEN", library))[0]["X-Signature"] == SECRET
    assert applied(credential("oauth:env:MY_TOKEN", library))[0]["Authorization"] == f"Bearer {SECRET}"
    assert applied(credential("login:env:MY_LOGIN", library))[0]["Authorization"].startswith("Basic ")
    assert credential("key:env:MY_TOKEN", library).scheme == "key"


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
    ):
        with pytest.raises(UsageError, match=message) as caught:
            credential(spec, None)
        assert SECRET not in str(caught.value)


def test_a_credential_never_shows_its_secret() -> None:
    bearer = credential("bearer:env:MY_TOKEN", None)

    assert SECRET not in repr(bearer)
    assert SECRET not in f"{bearer}{[bearer]}"


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


@pytest.mark.parametrize("word", ["Bearer", "Token", "Basic"])
def test_of_a_header_what_follows_the_word_is_removed_too(word: str) -> None:
    """A service says `invalid token abc`, and not `Bearer abc`."""
    secret = "YW5uOnBhc3N3b3Jk"  # of ann:password
    header = APIKey(f"{word} {secret}", "header", "Authorization")

    assert redact(f"{word} {secret} | {secret} | {word}", [header]) == f"[secret] | [secret] | {word}"
    if word == "Basic":
        assert redact("wrong: password", [header]) == "wrong: [secret]"


def test_of_a_login_the_password_and_the_header_are_removed_too() -> None:
    basic = credential("basic:env:MY_LOGIN", None)
    header = applied(basic)[0]["Authorization"]

    assert (
        redact(f"{header} | ann:pass:word | pass:word | ann", [basic]) == "Basic [secret] | [secret] | [secret] | ann"
    )


def test_text_without_a_secret_stays_as_it_is() -> None:
    assert redact("nothing here", []) == "nothing here"
    assert redact("ann is not ab", [BasicLogin("ann:ab")]) == "ann is not ab"


def test_a_secret_that_is_too_short_to_hide_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Taking it out of a reply would tear the reply."""
    monkeypatch.setenv("MY_KEY", "7a")

    with pytest.raises(UsageError, match="fewer than 4 characters") as caught:
        credential("bearer:env:MY_KEY", None)
    assert "7a" not in str(caught.value)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 16, 1000])
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
    ],
)
def test_a_secret_is_found_after_one_and_two_encodings(written: str) -> None:
    """A redirect to a sign-in escapes the query that it repeats, and a proxy repeats a header in base64."""
    chosen = (APIKey(KEY, "query", "key"),)
    redacted = redact(f"x {written} y", chosen)
    streamed = b"".join(redact_stream([f"x {written[:9]}".encode(), f"{written[9:]} y".encode()], chosen)).decode()

    assert "[secret]" in redacted
    assert KEY[8:16] not in redacted
    assert "LmNoP" not in redacted
    assert written[6:-6] not in redacted
    assert streamed == redacted


def test_a_key_of_hex_digits_is_found_in_the_other_case() -> None:
    chosen = (APIKey("deadbeef0123456789AB", "header", "X-Key"),)

    assert redact("DEADBEEF0123456789AB deadbeef0123456789ab", chosen) == "[secret] [secret]"


def _list(text: str) -> str:
    return json.dumps({"type": "Buffer", "data": list(text.encode())})


@pytest.mark.parametrize(
    "written",
    [
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
def test_a_secret_is_found_in_what_few_services_write(written: str) -> None:
    """An error page, a cookie library, a mail, a dump of a buffer, a header that was encoded once more."""
    chosen = (APIKey(KEY, "query", "key"),)
    streamed = b"".join(redact_stream([f"x {written[:9]}".encode(), f"{written[9:]} y".encode()], chosen)).decode()

    assert "[secret]" in redact(f"x {written} y", chosen)
    assert written[8:-8] not in redact(f"x {written} y", chosen)
    assert streamed == redact(f"x {written} y", chosen)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_secret_with_other_letters_is_found_where_they_were_misread(encoding: str) -> None:
    """A header in UTF-8 is read as Latin 1, as HTTP has it, and so the letters look odd but say as much."""
    query_key = APIKey("pässwörd-4711ü", "query", "key")
    misread = query_key.secret.encode().decode(encoding)

    assert redact(f"key {misread} is wrong", [query_key]) == "key [secret] is wrong"


@pytest.mark.parametrize("login", ["sk_live_4711abcdefgh:", "token4711:x", "ghp_0123456789abcdef:x-oauth-basic"])
def test_a_user_name_that_is_the_token_is_removed_too(login: str) -> None:
    """Some services want the token as the user's name, and nothing or a word of theirs as the password."""
    user = login.partition(":")[0]
    coded = base64.b64encode(login.encode()).decode()

    for login_credential in (
        BasicLogin(login),
        APIKey(f"Basic {coded}", "header", "Authorization"),
    ):
        assert redact(f"no user {user}.", [login_credential]) == "no user [secret]."


@pytest.mark.parametrize(
    "header",
    ['Token token="k3y-0123456789"', "Session id=1; session=k3y-0123456789", "ApiKey user=ann,key=k3y-0123456789"],
)
def test_the_parts_of_a_header_are_removed_too(header: str) -> None:
    """A service says `invalid token k3y…`, and not the whole header."""
    header_credential = APIKey(header, "header", "Authorization")

    assert redact("invalid: k3y-0123456789, ann", [header_credential]) == "invalid: [secret], ann"
