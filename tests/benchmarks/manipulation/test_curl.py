"""A curl line is read as a request, and nothing in it reaches a shell."""

from __future__ import annotations

import pytest

from benchmarks.manipulation.curl import CurlError, curl_line, parse_curl

URL = "https://api.example.org/v1/lists?name=a+b&limit=3"


def test_a_line_is_a_request() -> None:
    """Method, address, query, headers and body come from the line; names of headers are in lower case."""
    request = parse_curl(f"""curl -X POST '{URL}' -H 'X-Api-Key: k1' --data '{{"a": 1}}'""")

    assert (request.method, request.origin, request.path) == ("POST", "https://api.example.org", "/v1/lists")
    assert request.query == (("name", "a b"), ("limit", "3"))
    assert request.headers == {"x-api-key": "k1"}
    assert request.body == '{"a": 1}'


def test_the_method_follows_from_the_body() -> None:
    """Without a method it is GET, and POST with a body, as curl does."""
    assert parse_curl(f"curl '{URL}'").method == "GET"
    assert parse_curl(f"curl '{URL}' -d 'a=1'").method == "POST"


@pytest.mark.parametrize(
    "line",
    [
        f"""curl -X POST '{URL}' --header 'X-Api-Key: k1' --data-raw '{{"a": 1}}'""",
        f"""curl -sS -XPOST --location --url '{URL}' -H'X-Api-Key: k1' -d'{{"a": 1}}'""".replace("-sS", "-s -S"),
        f"""curl --silent --request POST -H 'X-Api-Key: k1' --data-binary '{{"a": 1}}' '{URL}'""",
    ],
)
def test_options_have_several_names(line: str) -> None:
    """A value may stand in the same word; what is only for the screen has no effect."""
    assert parse_curl(line) == parse_curl(f"""curl -X POST '{URL}' -H 'X-Api-Key: k1' -d '{{"a": 1}}'""")


def test_data_may_be_put_into_the_address() -> None:
    """As `-G` does."""
    assert parse_curl("curl -G https://a.org/x -d 'a=1' --data 'b=c d'").query == (("a", "1"), ("b", "c d"))
    assert parse_curl("curl -G https://a.org/x -d 'a=1'").method == "GET"


@pytest.mark.parametrize(
    "line",
    [
        f"curl '{URL}'; ls",
        f"curl '{URL}' | sh",
        f"curl '{URL}' > file",
        f"curl {URL}",
        f"curl -K file '{URL}'",
        f"curl -o out '{URL}'",
        f"curl -X GET '{URL}' This asks for it.",
        f"curl '{URL}' '{URL}'",
        f"curl -X '{URL}'",
        f"curl -X FETCH '{URL}'",
        "curl -X GET 'https://api.example.org/v1/lists?name=a b'",
        "curl -X GET 'file:///etc/passwd'",
        "curl -X GET 'https://[broken'",
        f"curl -X GET '{URL}",
        "curl -X GET",
        f"curly '{URL}'",
        "curl -d",
    ],
)
def test_anything_else_is_refused(line: str) -> None:
    """A shell's characters, options that the suite has no use for, and what is no address."""
    with pytest.raises(CurlError):
        parse_curl(line)


def test_the_first_line_counts() -> None:
    """Of several calls it is the first; with prose beside it the text is refused, or the prose is skipped."""
    assert curl_line("\ncurl 'a'\ncurl 'b'\n") == "curl 'a'"
    assert curl_line("Sure:\n```\ncurl 'a'\n```", anywhere=True) == "curl 'a'"
    for text in ("Sure:\ncurl 'a'", "curl 'a'\nThis asks for it.", "```\ncurl 'a'\n```"):
        with pytest.raises(CurlError, match="more than calls"):
            curl_line(text)
    for text in ("", "Sure: curl 'a'"):
        with pytest.raises(CurlError, match="no line begins with curl"):
            curl_line(text, anywhere=True)
