"""Where an API document may be: in the working folder, or at the addresses where frameworks serve theirs."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from protocols.errors import ProtocolError, UsageError
from protocols.private_files import refuse_pipe

if TYPE_CHECKING:
    from protocols.model import Protocol

__all__ = ["documents_in", "open_document"]

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
    try:
        return spec, load(spec, auth)
    except NoAccessError:
        raise
    except ProtocolError as error:
        addresses = list(_addresses(spec))
        for address in addresses:
            try:
                return address, load(address, auth)
            except NoAccessError:
                raise
            except ProtocolError:
                continue
        looked = f"; nor is one at {', '.join(addresses)}" if addresses else ""
        raise ProtocolError(f"{error}{looked}") from None


def _addresses(spec: str) -> Iterator[str]:
    """Where the service at an address may serve its document; nowhere for a file, or the address of one."""
    if spec.startswith(("http://", "https://")) and not re.search(r"\.(json|ya?ml)$|[?#]", spec):
        yield from (f"{spec.rstrip('/')}/{name}" for name in _COMMON)
