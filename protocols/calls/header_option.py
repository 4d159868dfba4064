"""What `--header` names: a header of every call, in the open or from a source of secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from protocols.calls.api_keys import APIKey, PublicHeader
from protocols.calls.auth import addressed
from protocols.calls.credentials import Credential
from protocols.calls.secret_sources import SecretSource
from protocols.calls.serialization import is_reserved, normalized_header
from protocols.errors import UsageError
from protocols.model import Parameter, Protocol, Tool

__all__ = ["header_of", "without_headers"]

_HEADER_OPTION = re.compile(r"(?P<name>[!#$%&'*+.^`|~0-9A-Za-z_-]+):[ \t]*(?P<value>.*)", re.DOTALL)
_HEADER_SOURCE = re.compile(r"(?P<source>env|file|keyring):(?P<place>.+)", re.DOTALL)


def header_of(spec: str, protocol: Protocol | None) -> Credential:
    """Read `[NAMESPACE=]NAME:VALUE`, as `--header` takes it.

    VALUE is sent as it is and no secret, unless it is a source: env:VARIABLE, file:PATH or keyring:SERVICE/USER.

    Raises: UsageError: `spec` is malformed, the header is not the user's to set, or the source is empty.
    """
    namespace, text = addressed("--header", spec.strip(), protocol, _HEADER_OPTION)
    match = _HEADER_OPTION.fullmatch(text)
    if match is None:
        raise UsageError("--header takes NAME:VALUE, such as 'X-Tenant: acme', or NAME:env:VARIABLE for a secret")
    name, value = match["name"], match["value"].strip()
    if is_reserved(name):
        raise UsageError(f"--header cannot set {name}: it belongs to the connection, or may change the request")
    source = _HEADER_SOURCE.fullmatch(value)
    if source is None and name.lower() in ("authorization", "cookie"):
        raise UsageError(f"--header {name}: its value is a secret; give it with --auth, or as {name}:env:VARIABLE")
    if source is not None:
        value = SecretSource(f"--header {name}", source["source"], source["place"]).secret()
    if not value or not value.isprintable() or not value.encode("utf-8", "replace").isascii():
        raise UsageError(f"--header {name}: its value must be one line of ASCII text")
    if source is None:
        return PublicHeader(name, value, namespace=namespace)
    return APIKey(value, "header", name, namespace=namespace)


def without_headers(protocol: Protocol, headers: Iterable[tuple[str, str]]) -> Protocol:
    """The protocol whose tools do not ask for headers that the user sets, given by namespace and name."""
    names = {(namespace, normalized_header(name)) for namespace, name in headers}

    def left(tool: Tool, parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
        return tuple(
            parameter
            for parameter in parameters
            if parameter.location != "header" or (tool.namespace, normalized_header(parameter.name)) not in names
        )

    tools = (
        replace(tool, parameters=left(tool, tool.parameters), arguments=left(tool, tool.arguments))
        for tool in protocol.tools
    )
    return replace(protocol, tools=tuple(tools)) if names else protocol
