"""The conversation of `atc init` at a terminal: each question has a default on Enter, and nothing is written yet.

A secret is never typed: what is asked for is the name of the variable that holds it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import say
from atc.apps.cli.documents import documents_in, open_document
from protocols.errors import ATCError, ProtocolError, UsageError
from protocols.quoting import one_line

if TYPE_CHECKING:
    from protocols.model import Protocol

__all__ = ["ask_auth", "ask_deletions", "ask_document", "ask_only", "ask_server", "ask_writes"]

_MOST = 20  # documents, and groups of operations, that fit on a screen
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,59}")
"""A name as atc.toml takes it: in capitals, and shorter than most tokens."""


def ask_document(spec: str, auth: tuple[str, ...]) -> tuple[str, Protocol, tuple[str, ...]]:
    """Ask which document, until one can be read; one that is named on the command line is tried first.

    Returns: Its name, the document, and the credentials that its server wanted.
    """
    from protocols.documents.web import NoAccessError

    found_paths = [str(path) for path in documents_in(Path())[:_MOST]]
    while True:
        text = spec or _answer("Which API document?", found_paths, "a file, its address, or the address of the API")
        spec = ""
        try:
            return *open_document(text, auth), auth
        except NoAccessError as error:
            say(str(error))
            if not auth and (variable := _variable("A variable with a token for the document", "")):
                spec, auth = text, (f"bearer:env:{variable}",)
        except ProtocolError as error:
            say(str(error))


def ask_server(protocol: Protocol) -> tuple[str, bool]:
    """Ask where the API is; empty for the document's first server, or for none yet.

    Returns: The base URL, and whether somebody answers there now; else it is said.
    """
    servers = [server.url for server in protocol.servers if server.url.startswith("http") and not server.missing]
    if not servers:
        say("the document names no server")
    instead = "another address" if servers else "its address, or Enter to rehearse with a simulated one first"
    while True:
        url = _answer("Where is the API?", servers[:_MOST], instead, optional=not servers)
        try:
            url = "" if servers[:1] == [url] else url
            problem = _problem(protocol, url)
            if problem and not url and servers and not _problem(protocol, servers[0]):
                return servers[0], True  # a private address, which a document may not name and the user may
        except UsageError as error:
            say(str(error))
            continue
        if problem:
            say(problem)
        # A base URL without a path would get that of the document's first server.
        is_bare = url in servers and re.fullmatch(r"https?://[^/]+", url)
        return (f"{url}/" if is_bare else url), not problem


def _problem(protocol: Protocol, url: str) -> str:
    """Why the API cannot be asked there now; empty if somebody answers. Raises: UsageError: It is no address."""
    from atc.apps.cli.reachable import check_server
    from protocols.errors import APIError

    try:
        check_server(protocol, url or None)
    except APIError as error:
        return str(error)
    return ""


def ask_auth(credentials: Mapping[str, str], required: Sequence[str], where: str) -> tuple[str, ...]:
    """Ask for the variable of each credential that the API needs; says whether it is set.

    Args:
        credentials: By the name of a security scheme, `SCHEME:env:VARIABLE`. required: Those that are needed.
        where: The server that gets them: the default name comes from the document's title, which may be any.
    """
    if not credentials:
        name = _variable("A variable with a token, if the API wants one (its document names none)", "")
        return (f"bearer:env:{name}",) if name else ()
    defaults = [credentials[name].rpartition(":env:") for name in required]
    return tuple(
        f"{kind}:env:{_variable(f'Variable with the credential {kind} for {where}', name)}"
        for kind, _, name in defaults
    )


def _variable(question: str, default: str) -> str:
    """Ask for the name of an environment variable, and say whether it is set; its value is not looked at."""
    while True:
        name = click.prompt(question, default=default, show_default=bool(default), err=True).strip()
        if name and not _VARIABLE.fullmatch(name):
            say("that is no name of a variable in capitals; the secret itself is never typed here")
            continue
        if name:
            say(f"{name} is set" if os.environ.get(name) else f"{name} is not set yet: export {name}=…")
        return name


def ask_only(protocol: Protocol) -> tuple[str, ...]:
    """Ask which operations, by their tags or the beginning of their paths; empty for all of them."""
    from protocols.choice import choose

    tags = Counter(tag for tool in protocol.tools for tag in tool.tags)
    heads = Counter(tool.path.split("/")[1] for tool in protocol.tools if tool.path.startswith("/"))
    groups = (tags or heads).most_common(_MOST)
    if len(groups) < 2:
        return ()
    say(f"{len(protocol.tools)} operations, by {'tag' if tags else 'path'}:")
    for number, (name, count) in enumerate(groups, 1):
        click.echo(f"  {number:2} {one_line(name)} ({count})", err=True)
    while True:
        text = click.prompt("Which ones? Numbers between commas, or Enter for all", "", show_default=False, err=True)
        try:
            names = [groups[int(part) - 1][0] for part in text.split(",") if part.strip() and int(part) > 0]
            only = tuple(pattern for name in names for pattern in ((name,) if tags else (f"/{name}", f"/{name}/*")))
            used = tuple(pattern for pattern in only if _fits(protocol, pattern))
            choose(protocol, used)
            return used
        except (ValueError, IndexError):
            say(f"numbers from 1 to {len(groups)}, such as 1,2")
        except ATCError as error:
            say(str(error))


def _fits(protocol: Protocol, pattern: str) -> bool:
    from protocols.choice import choose

    try:
        return bool(choose(protocol, (pattern,)).tools)
    except UsageError:
        return False


def ask_writes(protocol: Protocol) -> str:
    """Ask what becomes of calls that may change something; empty where there are none."""
    count = sum(tool.writes for tool in protocol.tools)
    if not count:
        return ""
    say(
        f"{count} of {len(protocol.tools)} operations may change something. You can be asked about each (ask) "
        "or about all that a program would send (plan), or they are refused (deny)"
    )
    return str(click.prompt("Writes", type=click.Choice(["ask", "plan", "deny"]), default="ask", err=True))


def ask_deletions(protocol: Protocol) -> bool:
    """Ask whether programs may delete something; no is the default, and the answer where nothing can."""
    count = sum(tool.method == "DELETE" for tool in protocol.tools)
    if not count:
        return False
    operations, them = f"{count} operation{'s' * (count > 1)} of the API", "it" if count == 1 else "them"
    return click.confirm(f"{operations} can delete something. May programs call {them}?", default=False, err=True)


def _answer(question: str, choices: Sequence[str], instead: str, *, optional: bool = False) -> str:
    """One of the choices by its number, the first one on Enter, or what is typed in their place."""
    for number, choice in enumerate(choices, 1):
        click.echo(f"  {number:2} {one_line(choice)}", err=True)
    what = f"A number, or {instead}" if choices else instead[0].upper() + instead[1:]
    default = "1" if choices else "" if optional else None
    text = str(click.prompt(f"{question} {what}", default=default, show_default=bool(default), err=True)).strip()
    is_number = text.isdecimal() and 0 < int(text) <= len(choices)
    return choices[int(text) - 1] if is_number else text
