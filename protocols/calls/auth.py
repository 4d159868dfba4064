"""The door for auth schemes: what `--auth` names becomes a credential.

`SCHEMES` lists ours; a package of somebody else lists its own as entry points of the group `atc.auth`. Each is a
function of the kind as it is written (`header:X-Key` in `header:X-Key:env:KEY`) and of the source, which returns a
`Credential`. It is imported at its first use.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import entry_points

from protocols.calls.credentials import (
    BasicLogin,
    BearerToken,
    Credential,
    ServerVariable,
    user_and_password,
)
from protocols.calls.secret_sources import SOURCES, SecretSource
from protocols.errors import UsageError
from protocols.model import Protocol, SecurityScheme
from protocols.naming import split_namespace

__all__ = ["SCHEMES", "addressed", "check_kind", "credential", "for_scheme", "variable"]

SCHEMES = {
    "bearer": "protocols.calls.credentials:read_bearer",
    "basic": "protocols.calls.credentials:read_basic",
    "oauth2": "protocols.calls.oauth2:read_oauth2",
    "sigv4": "protocols.calls.signatures:read_sigv4",
    "hmac": "protocols.calls.signatures:read_hmac",
    "digest": "protocols.calls.signatures:read_digest",
    "header": "protocols.calls.api_keys:read_key",
    "query": "protocols.calls.api_keys:read_key",
    "cookie": "protocols.calls.api_keys:read_key",
}
"""The function that reads each kind, as `module:function`."""

_NAMED = frozenset({"header", "query", "cookie"})
"""Kinds that need a name, as in `header:NAME`."""

_AUTH_OPTION = re.compile(r"(?P<kind>.+?):(?P<source>env|file|keyring):(?P<place>.+)", re.DOTALL)
_VARIABLE_OPTION = re.compile(r"env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)")
_NAME = re.compile(r"[^\s:]+")


def credential(spec: str, protocol: Protocol | None) -> Credential:
    """Read `[NAMESPACE=]KIND:SOURCE`, as `--auth` takes it.

    KIND is a key of `SCHEMES`, an entry point of `atc.auth`, or the name of a security scheme of the protocol; SOURCE
    is env:VARIABLE, file:PATH or keyring:SERVICE/USER. NAMESPACE names one of several APIs. For an MCP server that is
    started, `env:VARIABLE` alone names a variable that it gets.

    Raises: UsageError: `spec` is malformed, or the source is empty. The message repeats no possible secret.
    """
    namespace, text = addressed("--auth", spec.strip(), protocol, _AUTH_OPTION)
    if protocol is not None and protocol.apis[namespace].of_server and _VARIABLE_OPTION.fullmatch(text):
        return replace(variable(text), namespace=namespace)
    match, scheme, reader = _kind_of(text, namespace, protocol)
    kind, head = match["kind"], match["kind"].partition(":")[0]
    source = SecretSource(f"--auth {kind}", match["source"], match["place"])
    if scheme is not None and (reader is None or (head == "oauth2" and _is_token(source))):
        return for_scheme(scheme, user_and_password(source) if scheme.kind == "basic" else source.secret())
    assert reader is not None
    named = scheme.name if scheme is not None and head != "bearer" else None
    return replace(reader(kind, source), namespace=namespace, scheme=named)


def for_scheme(scheme: SecurityScheme, secret: str) -> Credential:
    """The credential that satisfies a security scheme of the document with this secret."""
    if scheme.kind == "apiKey":
        from protocols.calls.api_keys import APIKey

        return APIKey(secret, scheme.location, scheme.parameter, scheme=scheme.name, namespace=scheme.namespace)
    kind = BasicLogin if scheme.kind == "basic" else BearerToken
    return kind(secret, scheme=scheme.name, namespace=scheme.namespace)


def check_kind(spec: str, protocol: Protocol) -> None:
    """See that `credential` could read `spec`; its source is left alone. Raises: UsageError."""
    namespace, text = addressed("--auth", spec.strip(), protocol, _AUTH_OPTION)
    if not (protocol.apis[namespace].of_server and _VARIABLE_OPTION.fullmatch(text)):
        _kind_of(text, namespace, protocol)


def _kind_of(
    text: str, namespace: str, protocol: Protocol | None
) -> tuple[re.Match[str], SecurityScheme | None, Callable[[str, SecretSource], Credential] | None]:
    """`KIND:SOURCE` in its parts, the document's scheme of that name, and what reads the kind. Raises: UsageError."""
    match = _AUTH_OPTION.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--auth takes KIND:SOURCE, never the secret itself (KIND: {_kinds(protocol)}; SOURCE: {SOURCES}). "
            "Put the secret into an environment variable or a file"
        )
    kind = match["kind"]
    head, _, name = kind.partition(":")
    scheme_name = f"{namespace}={kind}" if namespace else kind
    scheme = next((s for s in (protocol.security_schemes if protocol else ()) if s.name == scheme_name), None)
    reader = _reader(head) if bool(name) == (head in _NAMED) or head not in SCHEMES else None
    if reader is None and scheme is None:
        raise UsageError(f"--auth names a KIND that is not known; KIND is one of {_kinds(protocol)}")
    if head in _NAMED and not _NAME.fullmatch(name):
        raise UsageError(f"--auth {head}:NAME:SOURCE: what stands for NAME can be none")
    return match, scheme, reader


def _is_token(source: SecretSource) -> bool:
    """True if a source holds a token for the document's scheme, and no client that fetches one."""
    from protocols.calls.oauth2 import names_client

    return not names_client(source)


def _reader(kind: str) -> Callable[[str, SecretSource], Credential] | None:
    """The function that reads a kind; None where nobody has registered it."""
    if kind in SCHEMES:
        module, _, function = SCHEMES[kind].partition(":")
        reader: Callable[[str, SecretSource], Credential] = getattr(importlib.import_module(module), function)
        return reader
    registered = next(iter(entry_points(group="atc.auth", name=kind)), None)
    return registered.load() if registered is not None else None


def _kinds(protocol: Protocol | None) -> str:
    own = [f"{kind}:NAME" if kind in _NAMED else kind for kind in SCHEMES]
    others = [entry.name for entry in entry_points(group="atc.auth")]
    return ", ".join([*own, *others, *(scheme.name for scheme in (protocol.security_schemes if protocol else ()))])


def addressed(option: str, spec: str, protocol: Protocol | None, pattern: re.Pattern[str]) -> tuple[str, str]:
    """The namespace of the API that an option is for, and the rest of its text. Raises: UsageError."""
    namespaces = protocol.namespaces if protocol is not None else ()
    namespace, text = split_namespace(spec)
    names_api = bool(namespace) and namespace.isidentifier() and pattern.fullmatch(text) is not None
    if not namespaces:
        if names_api:
            raise UsageError(f"{option} {namespace}=…: there is but one API, without a name; leave out {namespace}=")
        return "", spec
    if namespace in namespaces:
        return namespace, text
    known_apis = f"the APIs are {', '.join(namespaces)}"
    if names_api:  # nothing else: it may be a secret
        raise UsageError(f"{option} {namespace}=…: there is no such API; {known_apis}")
    raise UsageError(f"{option} must name the API that it is for, as in {namespaces[0]}=…; {known_apis}")


def variable(spec: str) -> ServerVariable:
    """Read `env:VARIABLE`, a variable of the environment that an MCP server gets.

    Raises: UsageError: `spec` is something else, or the variable is not set. The message repeats no possible secret.
    """
    match = _VARIABLE_OPTION.fullmatch(spec.strip())
    if match is None:
        raise UsageError("--auth: an MCP server that is started takes env:VARIABLE, which names a variable for it")
    return ServerVariable(match["name"], SecretSource("--auth", "env", match["name"]).secret())
