"""The operations of an API that a user wants: `--only`, `--without`, and `--read` for those that change nothing.

A pattern is a tag, an operation id, the name of a tool, a method (`GET`), a path (`/admin/*`), or a method and a path
(`POST /search`); `*` stands for any text, and names of path variables do not matter. Of several APIs, `shop=PATTERN` is
about the one of that name.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from protocols.documents.source import METHODS
from protocols.errors import UsageError
from protocols.model import LeftOut, Protocol, Tool
from protocols.naming import argument_name, split_namespace

__all__ = ["NO_READS", "choose"]

NO_READS = "none"
"""As the only way to say of `--read`: nothing is taken to read but what the other patterns name."""

_NEAR = 0.5
"""Likeness of a suggestion; at 0.6 `/adm` found no `/admin/users`."""


def choose(
    protocol: Protocol,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    reads: Sequence[str] = (),
    *,
    hints: bool = True,
) -> Protocol:
    """The protocol with the operations that the patterns choose; the others are in `left_out`, with the pattern.

    Args:
        only: What is kept, of the APIs that a pattern is about; everything if there is none.
        without: What is left out, of that.
        reads: What is taken to change nothing, despite its method; "none" takes back what its document says.
        hints: Take an MCP server's word for what changes nothing.
    Raises: UsageError: A pattern fits nothing, or nothing is left.
    """
    if hints and not (only or without or reads):
        return protocol
    kept, dropped = _patterns(protocol, "--only", only), _patterns(protocol, "--without", without)
    protocol = _declared(protocol, reads, hints) if reads or not hints else protocol
    tools: list[Tool] = []
    left_out = list(protocol.left_out)
    for tool in protocol.tools:
        wanted = [pattern for pattern in kept if pattern.is_about(tool.namespace)]
        refusing = next((pattern for pattern in dropped if pattern.fits(tool)), None)
        if refusing is not None:
            left_out.append(_chosen(tool, f"by --without {refusing.text}"))
        elif wanted and not any(pattern.fits(tool) for pattern in wanted):
            left_out.append(_chosen(tool, f"by --only {', '.join(pattern.text for pattern in wanted)}"))
        else:
            tools.append(tool)
    if not tools:
        fitting = next((o for o in protocol.left_out if not o.chosen and any(p.fits(o) for p in kept)), None)
        why = f": {fitting.title}: {fitting.sentence}" if fitting is not None else "; take other patterns"
        raise UsageError(f"--only and --without leave no operation of {protocol.title}{why}")
    values = protocol.value_classes  # what a program makes as arguments is no operation
    tools += [tool for tool in protocol.tools if tool.name in values and tool not in tools]
    left_out = [operation for operation in left_out if operation.name not in values]
    return replace(protocol, tools=tuple(tools), left_out=tuple(left_out))


def _declared(protocol: Protocol, reads: Sequence[str], hints: bool) -> Protocol:
    named = _patterns(protocol, "--read", [text for text in reads if text != NO_READS])
    keep = NO_READS not in reads

    def declared(tool: Tool) -> Tool:
        is_hint = tool.function is not None and tool.function.remote
        is_read = (keep and tool.reads and (hints or not is_hint)) or any(pattern.fits(tool) for pattern in named)
        return tool if is_read == tool.reads else replace(tool, reads=is_read)

    return replace(protocol, tools=tuple(map(declared, protocol.tools)))


def _chosen(tool: Tool, reason: str) -> LeftOut:
    method, path, name, namespace = tool.method, tool.path, tool.name, tool.namespace
    return LeftOut(method, path, name, reason, tool.operation_id, namespace=namespace, chosen=True, tags=tool.tags)


@dataclass(frozen=True)
class _Pattern:
    """A pattern as written, the API that it is about ("" for all), and the rest of it."""

    text: str
    namespace: str
    wanted: str

    def is_about(self, namespace: str) -> bool:
        return self.namespace in ("", namespace)

    @property
    def is_method(self) -> bool:
        return self.wanted.lower() in METHODS and self.wanted.isupper()

    @cached_property
    def _form(self) -> re.Pattern[str]:
        method, space, path = self.wanted.partition(" ")
        text = f"{method.upper()} {_anonymous(path.strip())}" if space and path.strip()[:1] in "/*" else self.wanted
        text = _anonymous(text) if text.startswith("/") else text
        return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)

    def fits(self, operation: Tool | LeftOut) -> bool:
        if not self.is_about(operation.namespace):
            return False
        if self.is_method:
            return operation.method == self.wanted
        return any(self._form.fullmatch(text) for text in _texts(operation))


def _texts(operation: Tool | LeftOut) -> Iterable[str]:
    """What a pattern may name an operation by."""
    path = _anonymous(operation.path)
    local = operation.name.removeprefix(f"{operation.namespace}__")
    identifier = operation.operation_id
    alias = argument_name(identifier) if identifier else ""
    texts = (operation.name, local, identifier, alias, path, f"{operation.method} {path}", *operation.tags)
    return (text for text in texts if text)


def _anonymous(path: str) -> str:
    return re.sub(r"\{[^{}]*\}", "{}", path)


def _patterns(protocol: Protocol, option: str, texts: Sequence[str]) -> list[_Pattern]:
    """The patterns. Raises: UsageError: One fits nothing."""
    patterns = []
    operations: list[Tool | LeftOut] = [*protocol.tools, *protocol.left_out]
    for text in texts:
        namespace, wanted = split_namespace(text)
        if namespace not in ("", *protocol.namespaces):  # a tag or an id may have a = in it
            namespace, wanted = "", text.strip()
        pattern = _Pattern(text, namespace, wanted.strip())
        # No operation of a method is a method misspelt; where the document has none, --without is kept already.
        kept_already = option == "--without" and pattern.is_method
        if not kept_already and not any(map(pattern.fits, operations)):
            raise UsageError(f"{option} {text!r} fits no operation of {protocol.title}{_near(protocol, pattern)}")
        patterns.append(pattern)
    return patterns


def _near(protocol: Protocol, pattern: _Pattern) -> str:
    names = dict.fromkeys(
        text
        for tool in protocol.tools
        if pattern.is_about(tool.namespace)
        for text in (tool.name, tool.operation_id, tool.path, f"{tool.method} {tool.path}", *tool.tags, tool.method)
        if text
    )
    by_folded = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(pattern.wanted.lower(), by_folded, 3, _NEAR)
    if not near:
        return "; a pattern is a tag, an operation id, a tool, GET, /path/* or POST /path"
    return f"; did you mean {' or '.join(repr(by_folded[name]) for name in near)}?"
