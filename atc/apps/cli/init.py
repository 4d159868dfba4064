"""`atc init`: a first `atc.toml` for an API, so that a question needs no options."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from atc.apps.cli import say
from atc.apps.cli.config import NAME, Config, command_defaults
from atc.apps.cli.documents import documents_in, open_document, tell_left_out
from atc.apps.cli.options import agent_options, argument, option, takes
from atc.options import Options
from protocols.errors import UsageError
from protocols.quoting import escaped, one_line

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
$writes
# Operations to leave out: a tag, an operation id, a tool, "GET", "/path/*" or "POST /path". `only` takes the same for
# the operations to offer alone, and `reads` for those that change nothing whatever their method.
$without
# What responses were seen to hold, and programs that answered, for later questions:
# store = "atc-store"

# A table has options of a command alone, which come before the ones above.
# [solve]
# simulate = true
""")

_MOST_COMMENT = 200
"""Characters of a text of the document in a comment."""
_KINDS = {"bearer": "TOKEN", "oauth2": "TOKEN", "apiKey": "API_KEY", "basic": "USER_PASSWORD"}
"""What a variable with a credential is called, by the kind of its scheme."""


@dataclass(frozen=True, kw_only=True)
class _Options:
    spec: str = argument(metavar="[SPEC]", default="")
    agent: Options = agent_options("base_url", "auth", "only", "writes")
    deletions: bool | None = option(
        "--deletions/--no-deletions",
        default=None,
        help="Whether programs may call DELETE at all  [default: asked at a terminal, else no]",
    )
    force: bool = option("--force", is_flag=True, help=f"Overwrite an {NAME} that is there.")


@dataclass(frozen=True, slots=True)
class _Setup:
    """What goes into the file. `auth` holds what --auth or a question named; None where the user named nothing."""

    spec: str
    protocol: Protocol
    base_url: str = ""
    auth: tuple[str, ...] | None = None
    only: tuple[str, ...] = ()
    writes: str = ""
    deletions: bool = False
    answers: bool = True
    """False where nobody answered at the API's address."""

    @property
    def variables(self) -> list[str]:
        """The environment variables of the credentials."""
        return [text.partition(":env:")[2] for text in self.auth or () if ":env:" in text]

    @property
    def lacks_auth(self) -> bool:
        """True if the API wants a credential and the user named none."""
        return self.auth is None and bool(_required(self.protocol))

    @property
    def where(self) -> str:
        """The server that gets the credentials."""
        from atc.apps.cli.trust import origins

        return one_line(self.base_url or ", ".join(origins(self.protocol)) or "the API", _MOST_COMMENT)

    @property
    def has_server(self) -> bool:
        """False where the real API cannot be asked yet, because nobody said where it is."""
        servers = self.protocol.servers
        return _without_server(self.spec) or bool(self.base_url) or any(s.url.startswith("http") for s in servers)


@click.command()
@takes(_Options)
def init(options: _Options) -> None:
    """Write atc.toml for the API of SPEC, so that `atc solve "QUESTION"` needs no options.

    SPEC is what --api takes, or the address of an API that serves its document. At a terminal the rest is asked for,
    each question with a default on Enter; the end is a first question, ready to run. Elsewhere nothing is asked, and
    the only document of the folder is taken if there is no SPEC. The file goes into the working folder; it signs
    in with what --auth or your answer names, an environment variable as a rule, and holds no secret itself. Deletions
    are left out unless you want them (`without` in the file).
    """
    from atc.apps.cli.confirm import can_ask
    from atc.files import write_text

    file = Path(NAME)
    if isinstance(options.agent.base_url, Mapping):
        raise UsageError("--base-url: atc init is for one API; write the addresses of several into the file")
    if file.exists() and not options.force:
        if not can_ask():
            raise UsageError(f"{file} exists; edit it, or overwrite it with --force")
        click.confirm(f"{file} exists. Write a new one in its place?", default=False, abort=True, err=True)
    setup = _conversation(options) if can_ask() else _from_options(options)
    click.get_current_context().call_on_close(setup.protocol.close)
    text = _text(setup)
    values = _checked(setup, file, text)
    write_text(file, text)
    _trust(file, values)
    say(f"wrote {file}")
    if not setup.deletions and (count := sum(tool.method == "DELETE" for tool in setup.protocol.tools)):
        operations, be = f"{count} operation{'s' * (count > 1)} of the API", "is" if count == 1 else "are"
        say(f'{operations} that can delete something {be} left out: without = ["DELETE"] in {NAME}')
    for step in _steps(setup):
        say(step)
    _first_question(setup, offers=can_ask())


def _from_options(options: _Options) -> _Setup:
    """What the command line says. Raises: UsageError: It names no document, and the folder has none or several."""
    from protocols.choice import choose

    spec = options.spec
    if not spec:
        paths = [str(path) for path in documents_in(Path())]
        if len(paths) != 1:
            which = f"this folder has several: {', '.join(paths[:5])}" if paths else "this folder has none"
            raise UsageError(f"name an API document, as in atc init openapi.yaml; {which}")
        spec = paths[0]
    agent = options.agent
    spec, protocol = open_document(spec, agent.auth)
    tell_left_out(protocol)
    choose(protocol, agent.only)
    base_url = str(agent.base_url or "")
    auth = tuple(agent.auth) or None
    return _Setup(spec, protocol, base_url, auth, tuple(agent.only), agent.writes or "", bool(options.deletions))


def _conversation(options: _Options) -> _Setup:
    """What the user says at the terminal, where the command line has not said it."""
    from atc.apps.cli import init_dialog as dialog
    from protocols.choice import choose

    agent = options.agent
    spec, protocol, auth = dialog.ask_document(options.spec, tuple(agent.auth))
    say(f"{_title(protocol)}, from {spec}")
    tell_left_out(protocol)
    is_remote = not _without_server(spec)
    base_url, answers = str(agent.base_url or ""), True
    if is_remote and not base_url:
        base_url, answers = dialog.ask_server(protocol)
    if not auth and is_remote:
        where = _Setup(spec, protocol, base_url).where
        auth = dialog.ask_auth(_credentials(protocol), _required(protocol), where)
    only = tuple(agent.only) or dialog.ask_only(protocol)
    chosen = choose(protocol, only)
    writes = agent.writes or dialog.ask_writes(chosen)
    deletions = bool(options.deletions)
    if options.deletions is None and writes != "deny":
        deletions = dialog.ask_deletions(chosen)
    return _Setup(spec, protocol, base_url, auth or None, only, writes, deletions, answers)


def _text(setup: _Setup) -> str:
    """The content of the file."""
    from atc.models import default_model

    protocol = setup.protocol
    only = f"only = {json.dumps(setup.only, ensure_ascii=False)}\n" if setup.only else ""
    leaves_out = not setup.deletions and any(tool.method == "DELETE" for tool in protocol.tools)
    return _FILE.substitute(
        title=one_line(_title(protocol), _MOST_COMMENT),
        api=_quoted(setup.spec),
        base_url=f"base-url = {_quoted(setup.base_url)}\n" if setup.base_url else _base_url(protocol, setup.spec),
        auth=_auth(_credentials(protocol), _required(protocol), setup.auth),
        model=_quoted(default_model()),
        writes=f"writes = {_quoted(setup.writes)}" if setup.writes else '# writes = "ask"',
        without=f'{only}{"" if leaves_out else "# "}without = ["DELETE"]',
    )


def _title(protocol: Protocol) -> str:
    return f"{protocol.title} {protocol.version}".strip() + f", {len(protocol.tools)} tools"


def _credentials(protocol: Protocol) -> dict[str, str]:
    """The value for `auth` of each security scheme, by name: the scheme, and a variable for its secret."""
    from protocols.naming import fold

    title = fold(protocol.title).upper()
    prefix = title if re.match(r"[A-Z][A-Z0-9_]*$", title) else "API"
    counts: Counter[str] = Counter()
    credentials = {}
    for scheme in protocol.security_schemes:
        name = f"{prefix}_{_KINDS[scheme.kind]}"
        counts[name] += 1
        number = f"_{counts[name]}" if counts[name] > 1 else ""
        credentials[scheme.name] = f"{_kind(scheme)}:env:{name}{number}"
    return credentials


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


def _auth(credentials: Mapping[str, str], required: Sequence[str], named: Sequence[str] | None) -> str:
    """The lines about credentials: those that the user named, and as comments those of the document."""
    lines = [
        "# Credentials as KIND:env:VARIABLE or KIND:file:PATH, never the secret itself (for basic, user:password)."
    ]
    if named:
        lines.append(f"auth = [{', '.join(map(_quoted, named))}]")
    elif required:  # the title made these names up, and a variable of that name may hold the secret of another API
        lines.append(f"# auth = [{', '.join(_quoted(credentials[name]) for name in required)}]")
    further = [value for name, value in credentials.items() if name not in required]
    lines += [f"# auth = [{_quoted(value)}]" for value in further]
    return "\n".join([*lines, *(['# auth = ["bearer:env:MY_TOKEN"]'] if len(lines) == 1 else [])]) + "\n"


def _base_url(protocol: Protocol, spec: str) -> str:
    """The line about the address."""
    if _without_server(spec):
        return ""
    servers = [server.url for server in protocol.servers if server.url.startswith(("http://", "https://"))]
    path = _server_path(protocol)
    example = f"# base-url = {_quoted(f'https://HOST{path}')}\n"
    if servers:
        return f"# Where the API is, if not at {one_line(servers[0], _MOST_COMMENT)}:\n{example}"
    return f"# The document names no server: fill this in, or rehearse with --simulate.\n{example}"


def _server_path(protocol: Protocol) -> str:
    """The path of the document's server, `/v1` or empty: what a base URL without a path gets."""
    path = urlsplit(protocol.servers[0].url).path.strip("/") if protocol.servers else ""
    return f"/{one_line(path, _MOST_COMMENT)}" if path else ""


def _without_server(spec: str) -> bool:
    return spec.startswith(("functions:", "mcp:"))


def _checked(setup: _Setup, file: Path, text: str) -> Mapping[str, Any]:
    """The values that `atc solve` will read from the file. Raises: UsageError: One would be refused, or is a secret."""
    import tomllib

    from atc.apps.cli.solve import solve
    from protocols.calls.auth import check_kind
    from sandbox.egress.egress_rules import base_urls

    for entry in setup.auth or ():
        check_kind(entry, setup.protocol)
    base_urls(setup.base_url or None, setup.protocol)
    config = Config(file, explicit=False, shared=tomllib.loads(text), tables={})
    return command_defaults(config, "solve", solve, own=True)


def _trust(file: Path, values: Mapping[str, Any]) -> None:
    """The user who has this file written agrees to what it holds."""
    from atc.apps.cli.trust import code_of, destination, risks, trust

    named = {name: value for name, value in values.items() if name != "auth"}  # what --auth leaves of them
    for phrases in (risks(values), [*risks(named), *destination(named)]):
        if phrases:
            trust(file, phrases, code_of(file.parent.resolve(), values.get("api") or ()))


def _steps(setup: _Setup) -> list[str]:
    """What is to be done before a question, a sentence each."""
    protocol, steps = setup.protocol, []
    if not setup.has_server:
        path = _server_path(protocol)
        where = f", which gets the document's path {path} where it has none of its own" if path else ""
        steps.append(
            f"the document names no server: put its address into {NAME} as base-url, or rehearse: --simulate{where}"
        )
    if unset := [name for name in setup.variables if not os.environ.get(name)]:
        steps.append(f"the API wants credentials: {', '.join(f'export {name}=…' for name in unset)}")
    if setup.lacks_auth:
        kinds = [_credentials(protocol)[name].partition(":env:")[0] for name in _required(protocol)]
        options = " ".join(f"--auth {shlex.quote(f'{kind}:env:VARIABLE')}" for kind in kinds)
        steps.append(
            f"the API wants credentials: which variable's value may {setup.where} get? "
            f"Repeat this command with --force {options}"
        )
    prefixes = {scheme.name: scheme.prefix for scheme in protocol.security_schemes if scheme.prefix}
    for name, variable in zip(_required(protocol), setup.variables, strict=False):
        if name in prefixes:
            steps.append(
                f"the document says that the value of {variable} begins with "
                f'"{one_line(prefixes[name], _MOST_COMMENT)} "'
            )
    return steps


def _first_question(setup: _Setup, *, offers: bool) -> None:
    """Print a question that works as the command to run, and offer to run it; what the model lacks is said before."""
    from atc.apps.cli import main
    from atc.apps.cli.doctor import model_check
    from atc.apps.cli.first_question import first_question
    from atc.models import default_model
    from protocols.choice import choose

    question = first_question(choose(setup.protocol, setup.only))
    rehearses = not (setup.has_server and setup.answers) or not all(map(os.environ.get, setup.variables))
    rehearses = rehearses or setup.lacks_auth
    flags = ["--simulate"] if rehearses and not _without_server(setup.spec) else []
    command = shlex.join(["atc", "solve", *flags]) + f' "{question or "YOUR QUESTION"}"'
    model = model_check(default_model())
    if model.state != "ok":
        detail = model.detail.removeprefix("the default; ")
        remedy = f"; {model.remedy}" if model.remedy and model.remedy not in detail else ""
        say(f"there is no model yet: {detail}{remedy}; or name another one, as in export ATC_MODEL=openai:NAME")
    say(
        f"next: {command}"
        + ("" if flags or _without_server(setup.spec) else "; with --simulate nothing leaves this machine")
    )
    if flags:
        say("(--simulate: a server on this machine makes up the replies, so nothing real is asked)")
    if model.state == "ok" and model.name.startswith(("local:", "openvino:")):
        say(f"a small model such as {model.name} may get it wrong; a larger one: export ATC_MODEL=openai:NAME")
    if offers and question and model.state == "ok" and click.confirm("Run it now?", default=True, err=True):
        code = main.main(["solve", *flags, question], prog_name="atc", standalone_mode=False)
        if code:
            say(f"atc.toml stays; ask again in other words, or with another model: {command} --model openai:NAME")
        click.get_current_context().exit(code if isinstance(code, int) else 0)


def _quoted(text: str) -> str:
    """A TOML string."""
    return escaped(json.dumps(text, ensure_ascii=False))
