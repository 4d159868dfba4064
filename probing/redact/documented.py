"""What a document says of the values of a reply: which of them are secret.

A key alone is often harmless (`key`, `value`). The description, the format and the name of the schema say more.

The word lists were written from documents that had been read; no set of unread documents has judged them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from probing.redact import KEYS
from protocols.model import Protocol, Schema, Tool
from protocols.schema_fields import resolve, type_of, variants
from protocols.text.words import is_identifier, singular, words

__all__ = ["DocumentedValue", "documented_arguments", "documented_reply"]

_FORMATS = frozenset({"password", "secret", "private-key", "secret-key", "token"})
_SECRET = re.compile(
    r"\bsecrets?\b|\bpass ?(?:words?|phrases?|codes?|wd)\b|\bcredentials?\b|\b(?:private|pre-?shared|psk)[ -]?keys?\b"
    r"|\b(?:api|access|auth\w*|encryption|session|shared|signing|tsig|license|wep|wpa)[ -]?keys?\b"
    r"|\b(?:access|api|auth\w*|bearer|refresh|security|session|login|service|personal|jwt|csrf)[ -]tokens?\b"
    r"|\btokens? (?:used |needed |required )?(?:for|to) (?:auth|access|log|sign|verif)|\bbase ?64\b.*\bkey\b",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(
    r"\b(?:public|primary|foreign|sort|next page|page)\s+(?:keys?|tokens?)\b"
    r"|^\W*(?:(?:the|an?|this|unique|optional|current|human[- ]readable|user[- ]friendly|short|display)\s+)*"
    r"(?:whether|if|when|true|false|set to|indicates?|enables?|(?:date|time|day|timestamp)s?|number|count|amount|length"
    r"|list|size|names?|ids?|identifiers?|uuid|titles?|labels?|descriptions?|types?|kinds?|algorithms?|statu\w+|state"
    r"|urls?|links?|endpoint|path|hints?|prefix|scopes?|expir\w+|ttl|owner|user|file|policy|version|fingerprint|masked|redacted"
    r"|last|first|domains?|entity)\b",
    re.IGNORECASE,
)
"""Descriptions of something about a secret: its name, its age, its algorithm."""


class DocumentedValue:
    """A value in a body, by the schemas that may apply to it; `is_secret` if one of them says so.

    Args:
        key: The key of the value in `holders`, the names of the schemas around it.
        loose: The schemas are those of an object that may lie deeper, in an undocumented reply.
    """

    def __init__(
        self,
        protocol: Protocol,
        names: Mapping[int, str],
        schemas: Iterable[Schema],
        *,
        key: str = "",
        holders: Iterable[str] = (),
        loose: bool = False,
    ) -> None:
        self._protocol, self._names, self._loose = protocol, names, loose
        self._schemas = [part for schema in schemas for part in variants(schema, protocol)]
        self._members: dict[str, DocumentedValue] = {}
        self.is_secret = bool(self._schemas) and self._says_secret(key, holders)

    def member(self, key: str) -> DocumentedValue:
        """What is said of a member of an object."""
        if key not in self._members:
            self._members[key] = self._find(key)
        return self._members[key]

    def items(self) -> DocumentedValue:
        """What is said of the items of a list."""
        if "" not in self._members:
            parts = [part for schema in self._schemas if isinstance(part := schema.get("items"), Mapping)]
            inside = DocumentedValue(self._protocol, self._names, parts)
            self._members[""] = self if self._loose and not parts else inside
        return self._members[""]

    def _find(self, key: str) -> DocumentedValue:
        found: list[Schema] = []
        for schema in self._schemas:
            properties = schema.get("properties")
            part = properties.get(key) if isinstance(properties, Mapping) else None
            part = schema.get("additionalProperties") if part is None else part
            found += [part] if isinstance(part, Mapping) else []
        if not found and self._loose:
            return self
        holders = [name for schema in self._schemas if (name := self._name(schema))]
        return DocumentedValue(self._protocol, self._names, found, key=key, holders=holders)

    def _name(self, schema: Schema) -> str:
        return self._names.get(id(schema)) or str(schema.get("title") or "")

    def _says_secret(self, key: str, holders: Iterable[str]) -> bool:
        texts = [schema for schema in self._schemas if type_of(schema) in ("string", "")]
        if not texts or any("enum" in schema or "const" in schema for schema in texts):
            return False
        if any(str(schema.get("format")).lower() in _FORMATS for schema in texts):
            return True
        last = singular((words(key) or ("",))[-1])
        if last in KEYS["about secrets"] or (is_identifier(key) and last != "key"):
            return False
        described = any(_describes_secret(str(schema.get("description") or "")) for schema in texts)
        written = any(schema.get("writeOnly") is True for schema in texts)
        named = any(_is_record(self._name(schema)) for schema in texts if type_of(schema) == "string")
        return described or written or named or (last in KEYS["secret contents"] and any(map(_is_record, holders)))


def documented_reply(protocol: Protocol, tool: Tool, status: int | None) -> DocumentedValue:
    """What is said of a reply: by its own schema, else by the objects that the same path takes."""
    own = [response for response in tool.responses if response.schema and response.status == str(status)]
    own = own or [tool.success] if tool.success is not None and tool.success.schema else own
    schemas = [response.schema for response in own if response.schema]
    taken = [] if schemas else [peer.body.schema for peer in protocol.tools if peer.body and _collection(peer, tool)]
    return DocumentedValue(protocol, _names(protocol), schemas or taken, loose=not schemas)


def documented_arguments(protocol: Protocol, tool: Tool) -> DocumentedValue:
    """What is said of the arguments of a call, by name."""
    properties = {
        parameter.argument: {"description": parameter.description, **parameter.schema} for parameter in tool.arguments
    }
    record: list[Schema] = [{"type": "object", "properties": properties}]
    holder = tool.body.schema if tool.body is not None else {}
    name = _names(protocol).get(id(resolve(holder, protocol)), "")
    return DocumentedValue(protocol, _names(protocol), [{**record[0], "title": name}])


def _names(protocol: Protocol) -> dict[int, str]:
    """The names of schemas, by the identity of each."""
    named: Iterator[tuple[str, Schema]] = iter([*protocol.definitions.items(), *protocol.components.items()])
    return {id(schema): name for name, schema in named}


def _collection(first: Tool, second: Tool) -> bool:
    """True for tools of the same collection: `/tokens` and `/tokens/{id}`."""
    paths = [re.sub(r"(?:/\{[^{}]*\})?/?\Z", "", tool.path) for tool in (first, second)]
    return paths[0] == paths[1]


def _describes_secret(text: str) -> bool:
    return _SECRET.search(text) is not None and _OTHERWISE.search(text) is None


def _is_record(name: str) -> bool:
    """True for the name of a schema that holds a secret: `TSIGKey`, `ApiToken`, `PaginatedCredentialList` is none."""
    parts = [singular(part) for part in words(name)]
    parts = [part for part in parts if part not in KEYS["schema fillers"]]
    if not parts or "page" in parts:
        return False
    return parts[-1] in KEYS["secret records"] or (parts[-1] == "key" and not KEYS["secret keys"].isdisjoint(parts))
