"""API documents as plain data, from a file or URL, and the targets of their references.

OpenAPI requires YAML 1.2, where `no` and `2024-06-01` are strings. PyYAML reads YAML 1.1, so it gets a reduced loader.
Each failure is a `ProtocolError` that names the place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from protocols.bounded_files import refuse_pipe
from protocols.errors import ProtocolError

if TYPE_CHECKING:
    import yaml

    from protocols.documents.web import SignIn

__all__ = [
    "METHODS",
    "DocumentSet",
    "mapping_or_empty",
    "parse",
    "pointer",
    "read",
]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
"""The HTTP methods of an OpenAPI path item."""

_MAX_BYTES = 64 * 1024 * 1024
"""Of a document."""
_MAX_VALUES = 5_000_000
_MAX_KEYS = 50_000  # of an object, including merged ones
_MAX_STEPS = 32
"""References from one to the next; more lead in a circle."""
_MAX_LINKED = 200
_MAX_FILES = 2_000  # some documents have each operation and each schema in a file of its own


def read(source: str | Path, sign_in: SignIn | None = None) -> tuple[bytes, str, str]:
    """The bytes at a path or URL, the URI they came from (a `file:` one for a path), and its name in messages.

    Raises: ProtocolError: Missing, unreadable, or no answer. UsageError, APIError: As `fetch`.
    """
    text = str(source)
    if not text.strip():
        raise ProtocolError("the name of the API document is empty: give a file or a URL")
    if text.startswith(("http://", "https://")):
        from protocols.documents.web import display_name, fetch

        return fetch(text, _MAX_BYTES, sign_in), text, display_name(text)
    if text.lower().startswith(("http://", "https://")):  # a password may be in it, so it is not repeated
        raise ProtocolError("the URL of an API document begins with http:// or https:// in small letters")
    path = Path(_file_path(text)) if text.startswith("file:") else Path(text).expanduser()
    try:
        refuse_pipe(path)
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ProtocolError(f"{text[:200]}: more than {_MAX_BYTES >> 20} MiB, too large for an API document")
        return data, path.resolve().as_uri(), text
    except FileNotFoundError:
        raise ProtocolError(f"{text}: no such file") from None
    except IsADirectoryError:
        raise ProtocolError(f"{text}: this is a folder, not an API document") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ProtocolError(f"{text[:200]}: cannot be read: {reason}") from None


def _file_path(uri: str) -> str:
    return unquote(urlsplit(uri).path)


def parse(data: bytes, where: str, repeated: list[str] | None = None) -> Any:
    """JSON or YAML as plain data; keys are strings. `where` begins the message of an error.

    Args:
        repeated: Gets the keys that stand twice in an object; the last one counts.
    Raises: ProtocolError: Neither of them, with line and column; or HTML.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProtocolError(f"{where}: not a text file in UTF-8 (byte {error.start})") from None
    try:
        return json.loads(text, object_pairs_hook=None if repeated is None else partial(_unrepeated, repeated))
    except json.JSONDecodeError as error:
        wrong = error
    except RecursionError:
        raise ProtocolError(f"{where}: nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise ProtocolError(f"{where}: cannot be read as JSON: {str(error)[:200]}") from None
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html", "<?xml", "<")):
        raise ProtocolError(
            f"{where}: this is HTML or XML, not an API document; give the address of the raw JSON or YAML"
        )
    bad_json = f"{where}: not valid JSON at line {wrong.lineno}, column {wrong.colno}: {wrong.msg}"
    if start.startswith(("{", "[")) and where.endswith(".json"):
        raise ProtocolError(bad_json)
    import yaml

    try:
        content = yaml.load(text, Loader=_yaml_loader([] if repeated is None else repeated))
        if _expanded_size(content, {}) > _MAX_VALUES:
            raise ProtocolError(f"{where}: its aliases stand for more than {_MAX_VALUES} values")
        return content
    except yaml.MarkedYAMLError as error:
        if start.startswith(("{", "[")):
            raise ProtocolError(bad_json) from None
        mark = error.problem_mark
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ProtocolError(f"{where}: not valid YAML{place}: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ProtocolError(f"{where}: neither JSON nor YAML: {str(error).splitlines()[0]}") from None


def _expanded_size(value: object, sizes: dict[int, int]) -> int:
    """The number of values with all aliases expanded. Raises: RecursionError, ValueError."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in sizes:
        sizes[id(value)] = 0
        parts = value.values() if isinstance(value, dict) else value
        sizes[id(value)] = 1 + sum(_expanded_size(part, sizes) for part in parts)
    elif sizes[id(value)] == 0:
        raise ValueError("an alias that stands for what it is in")
    return sizes[id(value)]


def _unrepeated(repeated: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; keys that stand twice are added to `repeated`."""
    members = dict(pairs)
    if len(members) < len(pairs):
        repeated += [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    return members


def _yaml_loader(repeated: list[str]) -> type[yaml.CSafeLoader]:
    import yaml

    class Loader(yaml.CSafeLoader):
        """The JSON-like core of YAML 1.2; keys become strings, so that `200:` is a status."""

        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            own = [key for key in keys if key.tag != "tag:yaml.org,2002:merge"]
            for key in own:
                key.tag = "tag:yaml.org,2002:str"
            if len({key.value for key in own}) < len(own):
                repeated.extend(name for name, count in Counter(key.value for key in own).items() if count > 1)
            return super().construct_mapping(node, deep=deep)

        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            super().flatten_mapping(node)
            if len(node.value) > _MAX_KEYS:
                raise yaml.MarkedYAMLError(problem=f"more than {_MAX_KEYS} keys", problem_mark=node.start_mark)

    for tag, pattern, first in (
        ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
        ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
        ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
        ("null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
        ("merge", r"^<<$", "<"),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), [*first.replace("\0", ""), ""])
    return Loader


def mapping_or_empty(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def pointer(*keys: object) -> str:
    """A JSON pointer (RFC 6901) written as a URI fragment: `#/paths/~1movie~1{id}/get`."""
    return "#" + "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


class DocumentSet:
    """A document and those it refers to, each read once.

    Args:
        content: The document.
        uri: Its origin; empty if unknown, and then relative references fail.
        name: Its name in messages.
        sign_in: For those at its own origin.
    """

    def __init__(self, content: object, uri: str, name: str = "document", sign_in: SignIn | None = None) -> None:
        self.uri = uri
        self.name = name
        self._linked: dict[str, Any] = {}
        self._missing: dict[str, ProtocolError] = {}
        self._content = content
        self._sign_in = sign_in

    def linked_document(self, uri: str) -> Any:
        """The parsed content of a linked document. Raises: ProtocolError."""
        if uri in self._missing:
            raise self._missing[uri]
        if uri not in self._linked:
            try:
                self._linked[uri] = self._read(uri)
            except ProtocolError as error:
                self._missing[uri] = error
                raise
        return self._linked[uri]

    def _read(self, uri: str) -> Any:
        if not urlsplit(uri).scheme:
            raise ProtocolError(f"{uri}: a relative reference in a document whose own place is not known")
        on_web = uri.startswith(("http://", "https://"))
        most = _MAX_LINKED if on_web else _MAX_FILES
        if len(self._linked) + len(self._missing) >= most:
            raise ProtocolError(f"{uri}: one of more than {most} further documents, which are not read")
        if self.uri.startswith("http") and not on_web:
            raise ProtocolError(f"{uri}: a document from the web may not point to a local file")
        if not on_web and Path(_file_path(uri)).exists() and not Path(_file_path(uri)).is_file():
            raise ProtocolError(f"{uri}: a document may point to files only")
        data, *_ = read(uri, self._sign_in)
        return parse(data, uri)

    def lookup(self, ref: str, base: str) -> tuple[Any, str, str]:
        """The target of `ref`, a reference in the document at `base`.

        Returns: The content, the URI of its document, and the normalized absolute reference.
        Raises: ProtocolError: There is no target.
        """
        try:
            target = ref if ref.startswith("#") else urljoin(base, ref)
            uri, fragment = urldefrag(target)
            uri = uri or base
            node: Any = self._content if uri == self.uri else self.linked_document(uri)
        except (ProtocolError, ValueError) as error:
            raise ProtocolError(f"{ref} points to nothing ({error})") from None
        where = uri
        steps = [unquote(step).replace("~1", "/").replace("~0", "~") for step in fragment.split("/")]
        for step in steps[1:]:
            if "$ref" in mapping_or_empty(node) and step not in node:  # a part that lies elsewhere
                node, where = self.resolved(node, where)
            if isinstance(node, Mapping) and step in node:
                node = node[step]
            elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
                node = node[int(step)]
            else:
                raise ProtocolError(f"{ref} points to nothing")
        if steps[0]:
            raise ProtocolError(f"{ref} points to nothing")
        return node, where, f"{uri}#{unquote(fragment)}"

    def resolved(self, raw: object, base: str) -> tuple[Mapping[str, Any], str]:
        """The target of `raw` after all references, overridden by keys beside `$ref`, and the URI of its document.

        Raises: ProtocolError: There is none, or it is no object.
        """
        beside: dict[str, Any] = {}
        for _ in range(_MAX_STEPS):
            if not isinstance(raw, Mapping):
                raise ProtocolError(f"expected an object, found {str(raw)[:60]!r}")
            if "$ref" not in raw:
                return ({**raw, **beside} if beside else raw), base
            beside = {**{key: value for key, value in raw.items() if key != "$ref"}, **beside}
            raw, base, _ = self.lookup(str(raw["$ref"]), base)
        raise ProtocolError("a reference that leads to itself")
