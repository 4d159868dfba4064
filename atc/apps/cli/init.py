"""`atc init`: a first `atc.toml` for an API, so that a question needs no options."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from atc.apps.cli import say
from atc.apps.cli.config import NAME, Config, command_defaults
from atc.apps.cli.documents import tell_left_out
from atc.apps.cli.options import argument, option, takes
from protocols.errors import UsageError

if TYPE_CHECKING:
    from protocols.model import Protocol, SecurityScheme

__all__ = ["init"]

_FILE = Template("""\
# Options of `atc` in this folder and below it. The command line comes first, then the environment (ATC_MODEL,
# ATC_SOLVE_WRITES, ...), then this file. Paths start at its folder. `atc COMMAND --help` lists the options.

# $title
api = $api
$base_url
$auth
# The model; `atc model list` shows the local ones, "openai:NAME" is any OpenAI-compatible endpoint, and
# "anthropic:NAME" a provider's. A model is given up after so many seconds of silence: silence = 120
model = $model

# Calls that may change something: "ask", "allow", "deny", "simulate" or "plan".
# writes = "ask"
# Operations that there are not: a tag, an operation id, a tool, "GET", "/path/*" or "POST /path". The same with `only`
# for those that there are, and with `reads` for those that change nothing whatever their method.
$without
# What responses were seen to hold, and programs that answered, for later questions:
# store = "atc-store"

# A table has options of a command alone, which come before the ones above.
# [solve]
# simulate = true
""")

_KINDS = {"bearer": "TOKEN", "oauth2": "TOKEN", "apiKey": "API_KEY", "basic": "USER_PASSWORD"}
"""What a variable with a credential is called, by the kind of its scheme."""


@dataclass(frozen=True, kw_only=True)
class _Options:
    spec: str = argument(metavar="SPEC")
    deletions: bool | None = option(
        "--deletions/--no-deletions",
        default=None,
        help="Whether programs may call DELETE at all  [default: asked at a terminal, else no]",
    )
    force: bool = option("--force", is_flag=True, help=f"Overwrite an {NAME} that is there.")


@click.command()
@takes(_Options)
def init(options: _Options) -> None:
    """Write atc.toml for the API of SPEC, so that `atc solve "QUESTION"` needs no options.

    SPEC is what --api takes. The file goes into the working folder; it names the environment variables for the API's
    credentials, and none of their values. Deletions are left out unless you want them (`without` in the file).
    """
    from atc.files import write_text
    from atc.models import default_model
    from protocols import load

    file = Path(NAME)
    if file.exists() and not options.force:
        raise UsageError(f"{file} exists; edit it, or overwrite it with --force")
    if re.match(r"\w+://[^/]*@", options.spec):
        raise UsageError(f"SPEC holds a user name or password, which {NAME} would keep; save the document to a file")
    protocol = load(options.spec)
    click.get_current_context().call_on_close(protocol.close)
    tell_left_out(protocol)
    without, about_deletions = _without(protocol, options.deletions)
    credentials = _credentials(protocol)
    required = _required(protocol)
    text = _FILE.substitute(
        title=_line(f"{protocol.title} {protocol.version}".strip() + f", {len(protocol.tools)} tools"),
        api=_quoted(options.spec),
        base_url=_base_url(protocol, options.spec),
        auth=_auth(credentials, required),
        model=_quoted(default_model()),
        without=without,
    )
    write_text(file, text)
    _trust(file)
    say(f"wrote {file}")
    if about_deletions:
        say(about_deletions)
    for step in _steps(protocol, options.spec, {name: credentials[name] for name in required}):
        say(step)


def _credentials(protocol: Protocol) -> dict[str, str]:
    """The value for `auth` of each security scheme, by name: the scheme, and a variable for its secret."""
    from protocols.naming import fold

    title = fold(protocol.title).upper()
    prefix = title if re.match(r"[A-Z][A-Z0-9_]*$", title) else "API"
    names = [f"{prefix}_{_KINDS[scheme.kind]}" for scheme in protocol.security_schemes]
    return {
        scheme.name: f"{_kind(scheme)}:env:{name}{f'_{number}' if number > 1 else ''}"
        for place, (scheme, name) in enumerate(zip(protocol.security_schemes, names, strict=True))
        for number in [names[: place + 1].count(name)]
    }


def _kind(scheme: SecurityScheme) -> str:
    """How `--auth` names a scheme: by its name where that has no colon, else by its kind."""
    if ":" not in scheme.name:
        return scheme.name
    return (
        f"{scheme.location}:{scheme.parameter}" if scheme.kind == "apiKey" else scheme.kind.replace("oauth2", "bearer")
    )


def _required(protocol: Protocol) -> tuple[str, ...]:
    """The schemes that a tool cannot be called without; the first alternative where there are several."""
    for tool in protocol.tools:
        if tool.security and () not in tool.security:
            return tool.security[0]
    return ()


def _auth(credentials: Mapping[str, str], required: Sequence[str]) -> str:
    """The lines about credentials."""
    lines = [
        "# Credentials as KIND:env:VARIABLE or KIND:file:PATH, never the secret itself (for basic, user:password)."
    ]
    if required:
        lines.append(f"auth = [{', '.join(_quoted(credentials[name]) for name in required)}]")
    further = [value for name, value in credentials.items() if name not in required]
    lines += [f"# auth = [{_quoted(value)}]" for value in further or ([] if required else ["bearer:env:MY_TOKEN"])]
    return "\n".join(lines) + "\n"


def _without(protocol: Protocol, deletions: bool | None) -> tuple[str, str]:
    """The line about operations that are left out, and what to say of it; asks about deletions at a terminal."""
    from atc.apps.cli.confirm import can_ask

    count = sum(tool.method == "DELETE" for tool in protocol.tools)
    if not count:
        return '# without = ["DELETE"]', ""
    operations = f"{count} operation{'s' * (count > 1)} of the API"
    if deletions is None and can_ask():
        them = "it" if count == 1 else "them"
        question = f"{operations} can delete something. May programs call {them}?"
        deletions = click.confirm(question, default=False, err=True)
    if deletions:
        return '# without = ["DELETE"]', ""
    setting = 'without = ["DELETE"]'
    be = "is" if count == 1 else "are"
    return setting, f"{operations} that can delete something {be} left out: {setting} in {NAME}"


def _base_url(protocol: Protocol, spec: str) -> str:
    """The line about the address."""
    if _without_server(spec):
        return ""
    servers = [server.url for server in protocol.servers if server.url.startswith(("http://", "https://"))]
    path = _server_path(protocol)
    example = f"# base-url = {_quoted(f'https://HOST{path}')}\n"
    if servers:
        return f"# Where the API is, if not at {_line(servers[0])}:\n{example}"
    return f"# The document names no server: fill this in, or rehearse with --simulate.\n{example}"


def _server_path(protocol: Protocol) -> str:
    """The path of the document's server, `/v1` or empty: what a base URL without a path gets."""
    path = urlsplit(protocol.servers[0].url).path.strip("/") if protocol.servers else ""
    return f"/{_line(path)}" if path else ""


def _without_server(spec: str) -> bool:
    return spec.startswith(("functions:", "mcp:"))


def _trust(file: Path) -> None:
    """The user who has this file written agrees to what it holds."""
    import tomllib

    from atc.apps.cli.solve import solve
    from atc.apps.cli.trust import destination, risks, trust

    config = Config(file, explicit=False, shared=tomllib.loads(file.read_text("utf-8")), tables={})
    values = command_defaults(config, "solve", solve, own=True)
    named = {name: value for name, value in values.items() if name != "auth"}  # what --auth leaves of them
    for phrases in (risks(values), [*risks(named), *destination(named)]):
        if phrases:
            trust(file, phrases)


def _steps(protocol: Protocol, spec: str, required: Mapping[str, str]) -> list[str]:
    """What to do next, a sentence each."""
    steps = []
    local = _without_server(spec)
    if not local and not any(server.url.startswith("http") for server in protocol.servers):
        path = _server_path(protocol)
        where = f", which gets the document's path {path} where it has none of its own" if path else ""
        steps.append(
            f"the document names no server: put its address into {NAME} as base-url, or rehearse: --simulate{where}"
        )
    if variables := [value.partition(":env:")[2] for value in required.values()]:
        steps.append(f"the API wants credentials: {', '.join(f'export {name}=…' for name in variables)}")
    wanted = {scheme.name: scheme.prefix for scheme in protocol.security_schemes if scheme.prefix}
    for name, value in required.items():
        if name in wanted:
            variable = value.partition(":env:")[2]
            steps.append(f'the document says that the value of {variable} begins with "{_line(wanted[name])} "')
    steps.append('next: atc solve "YOUR QUESTION"' + ("" if local else "; with --simulate nothing leaves this machine"))
    return [*steps, "atc doctor tells what is missing, such as the model"]


def _quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line(text: str) -> str:
    """Text of a document for a comment: one line, and nothing that is no character."""
    return "".join(char if char.isprintable() else " " for char in text)[:200].strip()
