"""Read a curl line as a request, without a shell.

What a request is made of is accepted: its method (`-X`), headers (`-H`), data (`-d`, which `-G` puts into the address)
and one URL, by the short and the long names of these options. Options that change what is shown have no effect.
Everything else that a shell or curl would act on is refused.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NoReturn
from urllib.parse import parse_qsl, urlsplit

from protocols.errors import UsageError

__all__ = ["CurlError", "CurlRequest", "curl_line", "parse_curl"]

_DATA_OPTIONS = ("-d", "--data", "--data-raw", "--data-ascii", "--data-binary")
_PORTS = {"http": 80, "https": 443}
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class CurlError(UsageError):
    """A text that is no curl line, or one with more in it than is accepted."""


@dataclass(frozen=True, slots=True)
class CurlRequest:
    """The request of a curl line. `origin` is `https://host`, without the default port of the line's own scheme.

    Names of `headers` are in lower case.
    """

    method: str
    origin: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: str | None = None


def curl_line(text: str, *, anywhere: bool = False) -> str:
    """The line that counts: the first of the lines that begin with `curl`.

    Args:
        anywhere: Skip other lines, as the released evaluator does; else a text with such lines is refused.
    Raises: CurlError: There is no such line, or there is prose beside it.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    calls = [line for line in lines if line.startswith("curl")]
    if not calls:
        raise CurlError("no line begins with curl")
    if len(calls) < len(lines) and not anywhere:
        prose = next(line for line in lines if not line.startswith("curl"))
        raise CurlError(f"there is more than calls in it: {prose.strip()[:60]!r}")
    return calls[0]


def parse_curl(line: str) -> CurlRequest:
    """Read one line. Raises: CurlError: It is no curl line, or there is something in it that is not accepted."""
    words = _words(line)
    if not words or words[0] != "curl":
        raise CurlError("the line does not begin with the word curl")
    options = _parser().parse_intermixed_args(words[1:])
    data, urls = "&".join(options.data), [*options.url, *options.addresses]
    method = options.method or ("POST" if data and not options.in_address else "GET")
    if method not in _METHODS:
        raise CurlError(f"curl: {method[:40]!r} is no method")
    if len(urls) != 1:
        raise CurlError(f"curl: there are {len(urls)} addresses where one is expected")
    origin, path, query = _address(urls[0])
    headers = {name.strip().lower(): text.strip() for name, _, text in (h.partition(":") for h in options.headers)}
    if options.in_address:
        return CurlRequest(method, origin, path, (*query, *parse_qsl(data, keep_blank_values=True)), headers)
    return CurlRequest(method, origin, path, query, headers, data if options.data else None)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CurlError(f"curl: {message[:200]}; {' '.join(self.format_usage().split())}")


@cache
def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="curl", add_help=False, allow_abbrev=False)
    parser.add_argument("-X", "--request", dest="method")
    parser.add_argument("-H", "--header", dest="headers", action="append", default=[])
    parser.add_argument(*_DATA_OPTIONS, dest="data", action="append", default=[])
    parser.add_argument("-G", "--get", dest="in_address", action="store_true")
    parser.add_argument("--url", action="append", default=[])
    for switch in (("-s", "--silent"), ("-S", "--show-error"), ("-L", "--location"), ("--compressed",)):
        parser.add_argument(*switch, action="store_true")
    parser.add_argument("addresses", nargs="*")
    return parser


def _words(line: str) -> list[str]:
    """The words as a shell would split them; what it would act on, outside quotes, is refused."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise CurlError(f"curl: {error} in the line") from None
    for word in words:
        if word and not word.strip("();<>|&"):
            raise CurlError(f"curl: {word} outside quotes is for a shell, and there is none")
    return words


def _address(url: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    if re.search(r"[\s\x00-\x1f]", url):
        raise CurlError(f"curl: (3) the address has a blank in it: {url[:80]!r}")
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in _PORTS:
        raise CurlError(f"curl: (3) this is no address: {url[:80]!r}")
    origin = f"https://{parts.netloc.lower()}"
    if port == _PORTS[parts.scheme]:
        origin = origin.removesuffix(f":{port}")
    return origin, parts.path or "/", tuple(parse_qsl(parts.query, keep_blank_values=True))
