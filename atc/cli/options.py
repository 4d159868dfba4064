"""Options that several commands share, each written once."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

import click

from atc.modes import MODES, parse
from protocols.errors import APIError, UsageError

if TYPE_CHECKING:
    from protocols.model import Protocol

__all__ = [
    "allow_option",
    "api_options",
    "bench_api_options",
    "check_api_options",
    "check_server",
    "clock_options",
    "model_options",
    "moment",
    "optional_api_options",
    "out_file",
    "per_second",
    "profile_option",
    "read_program",
    "resumable_api_options",
    "strict_option",
    "threads_option",
    "tool_count",
    "writes_option",
]

_PATIENCE = 5.0
"""Seconds to wait for a service to take a connection."""

Function = TypeVar("Function", bound=Callable[..., Any])
WRITES = ("ask", "allow", "deny", "simulate")


def moment(text: str) -> datetime:
    """A point in time in ISO 8601; UTC where it names no offset. Raises: click.BadParameter."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no time; write it like 2024-06-01T12:00:00Z") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def out_file(text: str) -> Path:
    """A file to write at the end; what will not do is told before any work. Raises: click.BadParameter."""
    path = Path(text)
    if not path.parent.is_dir():
        raise click.BadParameter(f"the folder {str(path.parent)!r} does not exist; make it first")
    if path.is_dir():
        raise click.BadParameter(f"{text!r} is a folder; name a file")
    if not os.access(path if path.exists() and not path.is_file() else path.parent, os.W_OK):
        raise click.BadParameter(f"nothing can be written to the folder {str(path.parent)!r}")
    return path


def per_second(text: str) -> float:
    """A rate such as `10/s` or `0.5/s`; the unit may be left out. Raises: click.BadParameter."""
    try:
        rate = float(text.strip().removesuffix("/s"))
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise click.BadParameter(f"{text!r} is no rate; write it like 10/s")
    return rate


def mode_name(text: str) -> str:
    """A mode, or MODE@N. Raises: click.BadParameter."""
    try:
        parse(text)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None
    return text


def tool_count(text: str) -> int | Literal["all"]:
    """How many tools: a number from 1, or "all". Raises: click.BadParameter."""
    if text == "all":
        return "all"
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither a number from 1 nor `all`")
    return int(text)


def _all(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several option decorators as one, in the order in which --help lists them."""

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


clock_options = _all(
    click.option("--seed", type=int, default=0, show_default=True, help="Of the model, the simulated API and random."),
    click.option(
        "--now",
        type=moment,
        metavar="TIME",
        help="The time for prompt, program and simulated API  [default: the real time; 2024-06-01T12:00:00Z when "
        "simulating and in bench]",
    ),
)

target_options = _all(
    click.option("--simulate", is_flag=True, help="Ask a simulated API on this machine instead of the real one."),
    click.option("--base-url", metavar="URL", help="Where the API is, if not where its document says."),
    click.option(
        "--auth",
        metavar="KIND:SOURCE",
        multiple=True,
        help="A credential: bearer, basic, header:NAME, query:NAME, cookie:NAME or a security scheme of the document, "
        "then env:VAR or file:PATH. Repeatable.",
    ),
)

api_options = _all(
    click.option(
        "--api", required=True, metavar="SPEC", help="OpenAPI document or *.tools.json: file or URL, JSON or YAML."
    ),
    target_options,
    clock_options,
)

resumable_api_options = _all(
    click.option(
        "--api",
        metavar="SPEC",
        help="OpenAPI document or *.tools.json: file or URL, JSON or YAML.  [required without --resume]",
    ),
    target_options,
    clock_options,
)

bench_api_options = _all(
    click.option(
        "--api",
        "apis",
        multiple=True,
        metavar="[DOMAIN=]SPEC",
        help="OpenAPI document or *.tools.json, where tasks are of several domains one for each  [default: as under "
        "$ATC_DATA]",
    ),
    target_options,
    clock_options,
)

optional_api_options = _all(
    click.option("--api", metavar="SPEC", help="OpenAPI document or *.tools.json; without it only --allow is reached."),
    target_options,
    clock_options,
)

allow_option = click.option(
    "--allow",
    metavar="ORIGIN",
    multiple=True,
    help="A server (scheme, host and port) that programs may reach besides the API, also at a private address; "
    "credentials go there only without --api. Repeatable.",
)


def writes_option(default: str) -> Callable[[Function], Function]:
    """`--writes`; `default` is in words."""
    return click.option(
        "--writes",
        type=click.Choice(WRITES),
        help="Whether calls that may change something are sent: ask on the terminal, allow, deny, or simulate (a "
        f"simulated API answers them, reads go to the real one)  [default: {default}]",
    )


strict_option = click.option(
    "--strict-sandbox", "strict", is_flag=True, help="Refuse to run programs where a layer of the sandbox is missing."
)

threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads of a local model  [default: $ATC_THREADS, else one a core, and a core less from four cores on]",
)

profile_option = click.option(
    "--profile",
    metavar="small|large|FILE",
    help="What the model is given and held to: prompt and output tokens, documentation, help. FILE is YAML with "
    "`base:` and the fields to change  [default: large for openai:, else small]",
)

model_options = _all(
    click.option(
        "--model",
        metavar="NAME",
        help="local:NAME, openvino:NAME, openai:NAME, hf:NAME or replay:FILE  "
        "[default: $ATC_MODEL, else local:qwen2.5-coder-1.5b]",
    ),
    click.option(
        "--mode",
        type=mode_name,
        metavar="|".join(MODES),
        default="attribute",
        show_default=True,
        help="What the model is told after a failure (the tool to blame, the error text only, nothing), or a method "
        "to compare with; `plan` runs the planner without a model. MODE@N: up to N tries, until one is answered.",
    ),
    click.option(
        "--max-reflections",
        type=click.IntRange(min=0),
        metavar="N",
        help="How often a failed program may be revised (attribute, naive)  [default: as the profile says]",
    ),
    profile_option,
)


def read_program(file: Path) -> str:
    """The text of a program, of stdin for `-`. Raises: UsageError: It is no text."""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file} is not a program: it is no UTF-8 text ({error.reason} at byte {error.start})"
        ) from None


def check_api_options(simulate: bool, base_url: str | None, auth: tuple[str, ...]) -> None:
    """Refuse what contradicts itself. Raises: click.UsageError."""
    if base_url and "@" in base_url.partition("//")[2].partition("/")[0]:
        raise click.UsageError("--base-url holds a user name or password; leave it out and pass it with --auth")
    if simulate and base_url:
        raise click.UsageError("--simulate and --base-url exclude each other: the simulated API has a URL of its own")
    if simulate and auth:
        raise click.UsageError("--simulate needs no --auth: the simulated API comes with a made-up credential")


def check_server(protocol: Protocol, base_url: str | None, allow: Sequence[str] = ()) -> None:
    """See that somebody listens where the API is said to be, before a model is asked; a private address is left alone
    unless the user named it.

    Raises:
        UsageError: The base URL is none.
        APIError: Nobody answers there.
    """
    from sandbox.egress.dns import HostResolver, RefusedAddressError
    from sandbox.egress.egress_rules import origin

    servers = [server.url for server in protocol.servers]
    url = base_url or (servers[0] if servers else "")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise UsageError(f"--base-url {url.rpartition('@')[2]!r} is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        if base_url is None:
            return  # the agent says that the document names no server
        raise UsageError(
            f"--base-url {url.rpartition('@')[2]!r} is no URL of a service; write it as https://HOST[:PORT][/PATH]"
        )
    where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    try:
        named = {(place.host, place.port) for place in map(origin, allow)} | ({(host, port)} if base_url else set())
        _connect(HostResolver(named).resolve(host, port), port)
    except RefusedAddressError as error:
        raise APIError(str(error)) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise APIError(f"nobody answers at {where}: {why}; check the base URL (--base-url)") from None


def _connect(addresses: Sequence[str], port: int) -> None:
    """Connect to the first of the addresses that takes it. Raises: OSError."""
    for remaining, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
        try:
            socket.create_connection((address, port), _PATIENCE).close()
            break
        except OSError:
            if remaining == 1:
                raise
