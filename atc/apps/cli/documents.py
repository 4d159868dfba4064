"""The documents of a command: searched for where none is named, read once, with the operations that the user chose."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from atc.apps.cli import say
from protocols.bounded_files import refuse_pipe
from protocols.errors import ProtocolError, UsageError

if TYPE_CHECKING:
    from protocols.model import Protocol
    from sandbox.egress.egress_rules import BaseURL

__all__ = ["chosen", "completed_addresses", "documents_in", "loaded", "open_document", "tell_left_out", "tell_reads"]

_LOADED = "atc.documents"
"""Where the documents of a command are among the values of its click context (`meta`)."""

_REASONS = 3
"""Reasons in the line about what is left out."""

_NAMES = 30

_COMMON = (
    "openapi.json",
    "openapi.yaml",
    "swagger.json",
    "v3/api-docs",
    "swagger/v1/swagger.json",
    "api-docs",
    "docs/openapi.json",
    "api/openapi.json",
    "api/schema/",
)
"""What the generators of documents of FastAPI, Spring, ASP.NET, NestJS and Django serve them as."""

_DOCUMENT = re.compile(r"""^\W{0,9}["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]""", re.MULTILINE)
_HEAD = 4096  # characters in which a document says what it is
_MOST = 2000  # files that are looked at; a folder of data may have millions


def loaded(specs: Sequence[str], auth: Sequence[str] = (), base_url: BaseURL = None) -> Protocol:
    """The protocol that `--api` names, read once for a command, which ends its connections. Raises: as `load_specs`."""
    from protocols.combined import load_specs
    from protocols.naming import split_namespace

    context = click.get_current_context()
    known: dict[tuple[tuple[str, ...], tuple[str, ...]], Protocol] = context.meta.setdefault(_LOADED, {})
    signs_in = any(split_namespace(spec)[1].startswith(("mcp:", "saved:")) for spec in specs)
    key = (tuple(specs), tuple(auth) if signs_in else ())  # others are the same with and without
    if key not in known:
        known[key] = load_specs(specs, auth, base_url)
        context.call_on_close(known[key].close)
    return known[key]


def chosen(
    protocol: Protocol,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    reads: Sequence[str] = (),
    *,
    hints: bool = True,
    verbose: bool = False,
) -> Protocol:
    """The protocol with the operations of --only, --without and --read; tells what is left out. Raises: UsageError."""
    from protocols.choice import choose

    protocol = choose(protocol, only, without, reads, hints=hints)
    tell_left_out(protocol)
    for operation in protocol.left_out if verbose else ():
        if operation.chosen:  # the others are among the warnings of the document
            say(f"left out {operation.title}: {operation.reason}")
    return protocol


def tell_left_out(protocol: Protocol) -> None:
    """Say in one line how many operations are no tools, and why; nothing if there are none."""
    if not protocol.left_out:
        return
    count = len(protocol.left_out)
    reasons = Counter(operation.reason for operation in protocol.left_out).most_common()
    texts = [f"{reason} ({times})" if len(reasons) > 1 else reason for reason, times in reasons[:_REASONS]]
    if further := sum(times for _, times in reasons[_REASONS:]):
        texts.append(f"other reasons ({further})")
    be = "is" if count == 1 else "are"
    text = f"{count} of {count + len(protocol.tools)} operations {be} left out: {'; '.join(texts)}"
    say(f"{' '.join(text.split())}; atc check lists them")


def completed_addresses(protocol: Protocol, base_url: BaseURL) -> list[str]:
    """A sentence about each base URL that gets the path of the document's server. Raises: UsageError."""
    from sandbox.egress.egress_rules import base_urls

    written = {"": base_url} if isinstance(base_url, str) else dict(base_url or {})
    pairs = [(written[namespace].rstrip("/"), url) for namespace, url in base_urls(base_url, protocol).items()]
    return [
        f"{origin} gets the path of the document's server: {url}; for none, write {origin}/"
        for origin, url in pairs
        if url != origin
    ]


def tell_reads(protocol: Protocol, reads: Sequence[str]) -> None:
    """Say which operations are taken to read by what the document or a server says, since nobody is asked about these;
    and of which a server's word is not taken."""
    from protocols.choice import choose

    declared = choose(protocol, reads=("none", *reads)) if reads else None
    names = [
        tool.name
        for tool in protocol.tools
        if tool.reads and not (declared is not None and declared.tool(tool.name).reads)
    ]
    if names:
        say(f"taken to change nothing, by what the document says: {_listed(names)}; --read none takes that back")
    refused = [
        tool.name for tool in protocol.tools if tool.writes and tool.function is not None and tool.function.reads
    ]
    if refused:
        say(f"taken to write, whatever the server's hints say: {_listed(refused)}; --trust-hints takes its word")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")


def documents_in(folder: Path) -> list[Path]:
    """The OpenAPI and Swagger documents in a folder and right below it, by path; hidden folders aside."""
    paths = itertools.chain(folder.glob("*"), folder.glob("[!.]*/*"))
    files = (path for path in itertools.islice(paths, _MOST) if path.suffix in (".json", ".yaml", ".yml"))
    return sorted((path for path in files if _is_document(path)), key=lambda path: (len(path.parts), path))


def _is_document(path: Path) -> bool:
    try:
        refuse_pipe(path)
        with path.open(encoding="utf-8-sig") as file:
            return _DOCUMENT.search(file.read(_HEAD)) is not None
    except (OSError, UnicodeDecodeError):
        return False


def open_document(spec: str, auth: Sequence[str] = ()) -> tuple[str, Protocol]:
    """The document that SPEC names, and its own name: of the address of a service, where the service serves it.

    Raises: UsageError: SPEC would keep a secret in a file. ProtocolError: There is no document.
    """
    from protocols import load
    from protocols.documents.web import NoAccessError

    if re.match(r"\w+://[^/]*@", spec):
        raise UsageError("SPEC holds a user name or password, which atc.toml would keep; save the document to a file")
    if re.match(r"(localhost|[\w-]+(\.[\w-]+)+):\d+(/|$)", spec) and not Path(spec).exists():
        spec = f"http://{spec}"
    addresses = [spec, *_addresses(spec)]
    first: ProtocolError | None = None
    for address in addresses:
        try:
            return address, load(address, auth)
        except NoAccessError:
            raise
        except ProtocolError as error:
            first = first or error
    looked = f"; nor is one at {', '.join(addresses[1:])}" if addresses[1:] else ""
    raise ProtocolError(f"{first}{looked}") from None


def _addresses(spec: str) -> Iterator[str]:
    """Where the service at an address may serve its document; nowhere for a file, or the address of one."""
    if spec.startswith(("http://", "https://")) and not re.search(r"\.(json|ya?ml)$|[?#]", spec):
        yield from (f"{spec.rstrip('/')}/{name}" for name in _COMMON)
