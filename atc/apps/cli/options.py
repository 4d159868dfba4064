"""The options of commands as dataclasses: each is declared once, and a command takes them as one object."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
from click.core import ParameterSource

from atc.apps.cli import CONFIG, say
from atc.apps.cli.documents import chosen, completed_addresses, loaded, tell_reads
from atc.apps.cli.patterns import only_option, read_option, without_option
from atc.modes import modes, parse
from protocols.errors import UsageError
from protocols.naming import split_namespace

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from atc.options import SearchSettings
    from protocols.model import Protocol
    from sandbox.egress.egress_rules import BaseURL

__all__ = [
    "ClockOptions",
    "DocumentOptions",
    "ModelOptions",
    "NetworkOptions",
    "ProgramOptions",
    "RealRange",
    "SearchOptions",
    "ServiceOptions",
    "api_option",
    "argument",
    "check_api_options",
    "is_typed",
    "json_option",
    "keep_sources",
    "limit_option",
    "model_option",
    "moment",
    "open_protocol",
    "option",
    "out_file",
    "per_second",
    "profile_option",
    "read_program",
    "record_option",
    "results_option",
    "reuse_option",
    "strict_option",
    "takes",
    "tool_count",
    "workers_option",
    "writes_option",
]

Values = TypeVar("Values", bound="DataclassInstance")
WRITES = ("ask", "allow", "deny", "simulate", "plan")


class RealRange(click.FloatRange):
    """A finite number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number


def moment(text: str) -> datetime:
    """A point in time in ISO 8601; UTC where it names no offset. Raises: click.BadParameter."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no time; write it like 2024-06-01T12:00:00Z") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def out_file(text: str) -> Path:
    """A file to write at the end; what will not do is told before any work. Raises: click.BadParameter."""
    path = Path(text)
    if path.parent.is_file():
        raise click.BadParameter(f"{str(path.parent)!r} is a file, and no folder; name a file in a folder")
    if not path.parent.is_dir():
        raise click.BadParameter(f"the folder {str(path.parent)!r} does not exist; make it first")
    if path.is_dir():
        raise click.BadParameter(f"{text!r} is a folder; name a file")
    if not os.access(path if path.exists() and not path.is_file() else path.parent, os.W_OK):
        raise click.BadParameter(f"nothing can be written to the folder {str(path.parent)!r}")
    return path


def keep_sources(sources: Iterable[Path], out: Path, kind: str = "a source") -> None:
    """See that a file to write is none that is read; `kind` says what those are. Raises: click.UsageError."""
    if out.resolve() in {source.resolve() for source in sources}:
        raise click.UsageError(f"{out} is {kind}, and would be overwritten: name another --out")


def per_second(text: str) -> float:
    """A rate such as `10/s` or `0.5/s`; the unit may be left out. Raises: click.BadParameter."""
    try:
        rate = float(text.strip().removesuffix("/s"))
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise click.BadParameter(f"{text!r} is no rate; write it like 10/s")
    return rate


def mode_name(text: str) -> str:
    """A mode, or MODE@N. Raises: click.BadParameter."""
    try:
        parse(text)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None
    return text


def tool_count(text: str) -> int | Literal["all"]:
    """How many tools: a number from 1, or "all". Raises: click.BadParameter."""
    if text == "all":
        return "all"
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither a number from 1 nor `all`")
    return int(text)


def _base_urls(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> BaseURL:
    """The values of `--base-url`: None, one URL, or URLs by the name of their API. Raises: click.BadParameter."""
    named = [split_namespace(text) for text in texts]
    urls = dict(named)
    if len(urls) < len(named):
        raise click.BadParameter("it is given twice for the same API")
    return urls[""] if list(urls) == [""] else urls or None


class FlagNamedOption(click.Option):
    """An option whose variable may have the name of any of its flags: `--read` is `ATC_RUN_READ`, too."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        value = super().resolve_envvar_value(ctx)
        flags = [flag[2:] for flag in self.opts if flag.startswith("--")] if ctx.auto_envvar_prefix else []
        names = [f"{ctx.auto_envvar_prefix}_{flag.replace('-', '_').upper()}" for flag in flags]
        return value if value is not None else next((text for name in names if (text := os.environ.get(name))), None)


def option(*flags: str, **settings: Any) -> Any:
    """A field of a command's options that is an option; `flags` and `settings` as click.option takes them."""
    return field(metadata={"parameter": click.option, "flags": flags, "settings": settings})


def argument(**settings: Any) -> Any:
    """A field of a command's options that is an argument; `settings` as click.argument takes them."""
    return field(metadata={"parameter": click.argument, "flags": (), "settings": settings})


def takes(options: type[Values]) -> Callable[[Callable[[Values], None]], Callable[..., None]]:
    """Give a command the options of a dataclass, and its function one object with their values.

    --help lists the fields in their order in the dataclass: those of its last base first. A field that a subclass
    defines anew keeps its place.
    """

    def decorate(command: Callable[[Values], None]) -> Callable[..., None]:
        @wraps(command)
        def called(**values: Any) -> None:
            context = click.get_current_context()
            if config := context.meta.get(CONFIG):
                from atc.apps.cli.config import settle
                from atc.apps.cli.trust import announce

                values = settle(context, values)
                announce(context, config, values)
            command(options(**values))

        decorated: Callable[..., None] = called
        for entry in reversed(fields(options)):
            how = entry.metadata
            settings = {**({"cls": FlagNamedOption} if how["parameter"] is click.option else {}), **how["settings"]}
            decorated = how["parameter"](*how["flags"], entry.name, **settings)(decorated)
        return decorated

    return decorate


def is_typed(name: str) -> bool:
    """True of an option of the current command that stands on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def json_option(help_text: str = "Print JSON.") -> Any:
    """`--json`, with what it prints."""
    return option("--json", is_flag=True, help=help_text)


def api_option(
    help_text: str = "OpenAPI document or *.tools.json: file or URL, JSON or YAML; functions:FILE.py; saved:DIR; or an "
    "MCP server: mcp:stdio:COMMAND or mcp:URL.",
    **settings: Any,
) -> Any:
    """`--api`, with what it may name; several of them have a name each."""
    help_text += " Repeatable with a name for each, which then stands before its tools: shop=SPEC."
    return option("--api", metavar="[NAME=]SPEC", multiple=True, help=help_text, **settings)


def model_option() -> Any:
    """`--model`: its engine and name."""
    return option(
        "--model",
        metavar="NAME",
        envvar="ATC_MODEL",
        help="local:NAME[+ADAPTER], openvino:NAME, openai:NAME, hf:NAME[+ADAPTER] or replay:FILE  "
        "[default: $ATC_MODEL, else local:qwen2.5-coder-1.5b]",
    )


def record_option(whose: str = "model's answers", name: str = "model") -> Any:
    """`--record`: a file of what a model answers."""
    return option("--record", type=out_file, metavar="FILE", help=f"Record the {whose} for --{name} replay:FILE.")


def reuse_option(whose: str = "model's answers") -> Any:
    """`--reuse`: such a file, in place of a model where it has an answer."""
    return option(
        "--reuse",
        type=out_file,
        metavar="FILE",
        help=f"Take the {whose} from FILE, and add the others: runs share what they ask.",
    )


def limit_option(what: str) -> Any:
    """`--limit`: only the first `what`."""
    return option("--limit", type=click.IntRange(min=1), metavar="N", help=f"Only the first N {what}.")


def results_option(what: str) -> Any:
    """`--out`: the folder of a run over `what`, which goes on where it was."""
    return option(
        "--out",
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help=f"Results; {what} already in it are skipped.",
    )


def workers_option(what: str) -> Any:
    """`--workers`: how many `what` run at once."""
    return option(
        "--workers", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help=f"{what} at once."
    )


def writes_option(default: str) -> Any:
    """`--writes`; `default` is in words."""
    return option(
        "--writes",
        type=click.Choice(WRITES),
        help="Whether calls that may change something are sent: ask on the terminal, allow, deny, simulate (a "
        "simulated API answers them, reads go to the real one), or plan (simulate them first, ask once about all of "
        f"them, and then send these alone)  [default: {default}]",
    )


def profile_option() -> Any:
    """`--profile`: what the model is given and held to."""
    return option(
        "--profile",
        metavar="tiny|small|large|FILE",
        help="What the model is given and held to: prompt and output tokens, documentation, help. FILE is YAML with "
        "`base:` and the fields to change  [default: large for openai:, tiny for smollm2-135m, else small]",
    )


def strict_option() -> Any:
    """`--strict-sandbox` of commands that run a program."""
    return option(
        "--strict-sandbox", is_flag=True, help="Refuse to run programs where a layer of the sandbox is missing."
    )


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """The API that a command is about."""

    api: tuple[str, ...] = api_option(required=True)
    auth: tuple[str, ...] = option(
        "--auth",
        metavar="KIND:SOURCE",
        multiple=True,
        help="A credential for an MCP server, which must be asked for its tools: as in `atc solve`. Repeatable.",
    )
    only: tuple[str, ...] = only_option()
    without: tuple[str, ...] = without_option()


@dataclass(frozen=True, kw_only=True)
class OptionalDocumentOptions:
    """The API that a command may be about; the commands say when."""

    api: tuple[str, ...] = api_option()
    only: tuple[str, ...] = only_option()
    without: tuple[str, ...] = without_option()
    reads: tuple[str, ...] = read_option()


@dataclass(frozen=True, kw_only=True)
class TargetOptions:
    """Where calls go, and as whom."""

    simulate: bool = option(
        "--simulate", is_flag=True, help="Ask a simulated API on this machine instead of the real one."
    )
    auth: tuple[str, ...] = option(
        "--auth",
        metavar="KIND:SOURCE",
        multiple=True,
        help="A credential: bearer, basic, digest, header:NAME, query:NAME, cookie:NAME or a security scheme of the "
        "document, then env:VAR, file:PATH or keyring:SERVICE/USER; or oauth2, sigv4 or hmac, then env:PREFIX or "
        "file:PATH (docs/auth.md). "
        "env:VAR passes a variable to an MCP server that is started. "
        "Repeatable; shop=KIND:SOURCE for one of several APIs.",
    )


@dataclass(frozen=True, kw_only=True)
class ClockOptions:
    """What a command would else take from chance and the clock."""

    seed: int = option(
        "--seed", type=int, default=0, show_default=True, help="Of the model, the simulated API and random."
    )
    now: datetime | None = option(
        "--now",
        type=moment,
        metavar="TIME",
        help="The time for prompt, program and simulated API  [default: the real time; 2024-06-01T12:00:00Z when "
        "simulating and in bench]",
    )


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """How calls reach the service, and how long one may take."""

    call_timeout: float | None = option(
        "--call-timeout",
        type=RealRange(min=0, min_open=True),
        metavar="SECONDS",
        help="The time that one call may take; a longer one gives the program that much more time  [default: as long "
        "as the program, 15]",
    )
    ca_file: str | None = option(
        "--ca-file",
        metavar="FILE",
        help="Trust the authorities in this PEM file besides; for all APIs (docs/network.md).",
    )
    client_cert: str | None = option(
        "--client-cert",
        metavar="FILE[,KEY]",
        help="Show this certificate to the servers of the API: a PEM file with its key, or two; for all APIs.",
    )


@dataclass(frozen=True, kw_only=True)
class ServiceOptions(ClockOptions, TargetOptions):
    """The service behind an API, real or simulated."""

    base_url: str | None = option("--base-url", metavar="URL", help="Where the API is, if not where its document says.")


@dataclass(frozen=True, kw_only=True)
class ProgramOptions(NetworkOptions, ClockOptions, TargetOptions, OptionalDocumentOptions):
    """What programs may reach."""

    max_calls: int | None = option(
        "--max-calls",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most calls of a program; the model is told  [default: 100]",
    )

    base_url: BaseURL = option(
        "--base-url",
        metavar="[NAME=]URL",
        multiple=True,
        callback=_base_urls,
        help="Where the API is, if not where its document says; without a path it gets that of the document's server. "
        "Repeatable: shop=URL for one of several APIs.",
    )
    headers: tuple[str, ...] = option(
        "--header",
        metavar="NAME:VALUE",
        multiple=True,
        help="A header of each request to the API. VALUE may be env:VAR, file:PATH or keyring:SERVICE/USER, and is a "
        "secret then. Repeatable; shop=NAME:VALUE for one of several APIs.",
    )
    allow: tuple[str, ...] = option(
        "--allow",
        metavar="ORIGIN",
        multiple=True,
        help="A server (scheme, host and port) that programs may reach besides the API, also at a private address; "
        "redirects of the API to it are followed. Credentials go there only without --api. Repeatable.",
    )


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The model, and how it answers."""

    model: str | None = model_option()
    mode: str = option(
        "--mode",
        type=mode_name,
        metavar="|".join(modes()),
        default="attribute",
        show_default=True,
        help="What the model is told after a failure (the tool to blame, the error text only, nothing), or a method "
        "to compare with; `plan` runs the planner without a model. MODE@N: up to N tries, until one is answered.",
    )
    max_reflections: int | None = option(
        "--max-reflections",
        type=click.IntRange(min=0),
        metavar="N",
        help="How often a failed program may be revised (attribute, naive)  [default: as the profile says]",
    )
    profile: str | None = profile_option()
    effort: Literal["normal", "high"] = option(
        "--effort",
        type=click.Choice(("normal", "high")),
        default="normal",
        show_default=True,
        help="high samples three further programs for an answer (attribute, naive, none), which write nothing new, and "
        "doubts it where most of them answer or write otherwise.",
    )


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How the modes search that make one call at a time."""

    width: int = option(
        "--width",
        type=click.IntRange(min=1),
        default=2,
        show_default=True,
        metavar="N",
        help="Children of a node (dfsdt, dfs).",
    )
    depth: int | None = option(
        "--depth",
        type=click.IntRange(min=1),
        metavar="N",
        help="Messages on a path (react, dfsdt, dfs)  [default: 8 in a tree, no limit in react]",
    )
    max_observation: int = option(
        "--max-observation",
        type=click.IntRange(min=20),
        default=400,
        show_default=True,
        metavar="TOKENS",
        help="Tokens of an observation (react, dfsdt, dfs).",
    )
    max_model_calls: int = option(
        "--max-model-calls",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Most model calls for a question, all tries together; a mode to compare with has a budget of its own, "
        "which this replaces.",
    )
    compat: bool = option(
        "--compat",
        is_flag=True,
        help="Search as ToolLLM's released code does, with its defects (react, dfsdt; see benchmarks.methods.dfsdt).",
    )
    format: str = option(
        "--format",
        default="auto",
        show_default=True,
        metavar="auto|text|functions|toolllama[:FILE]",
        help="How single calls are written: as text, as the endpoint's tool calls, or as ToolLLaMA was trained (FILE: "
        "a released answer file with its prompt); auto is tool calls where the model takes them.",
    )

    def search_settings(self) -> SearchSettings:
        """These options, as an agent takes them."""
        from atc.options import SearchSettings

        return SearchSettings(**{entry.name: getattr(self, entry.name) for entry in fields(SearchSettings)})


def read_program(file: Path) -> str:
    """The text of a program, of stdin for `-`. Raises: UsageError: It is no text."""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file} is not a program: it is no UTF-8 text ({error.reason} at byte {error.start})"
        ) from None


def open_protocol(options: DocumentOptions | ProgramOptions, *, asks: bool = False) -> Protocol:
    """The protocol that `--api` names, with the operations that the user chose.

    `asks`: somebody may be asked about a write, or it is refused; then it is told what is taken to read.
    Raises: as `load_specs`, and UsageError: A pattern fits no operation.
    """
    reads = options.reads if isinstance(options, ProgramOptions) else ()
    verbose = bool(getattr(options, "verbose", False))
    protocol = chosen(loaded(options.api, options.auth), options.only, options.without, reads, verbose=verbose)
    if asks:
        tell_reads(protocol, reads)
    if verbose and isinstance(options, ProgramOptions):
        for sentence in completed_addresses(protocol, options.base_url):
            say(sentence)
    return protocol


def check_api_options(simulate: bool, base_url: BaseURL, auth: tuple[str, ...]) -> None:
    """Refuse what contradicts itself. Raises: click.UsageError."""
    urls = [base_url] if isinstance(base_url, str) else (base_url or {}).values()
    if any("@" in url.partition("//")[2].partition("/")[0] for url in urls):
        raise click.UsageError("--base-url holds a user name or password; leave it out and pass it with --auth")
    if simulate and base_url:
        raise click.UsageError("--simulate and --base-url exclude each other: the simulated API has a URL of its own")
    if simulate and auth:
        raise click.UsageError("--simulate needs no --auth: the simulated API comes with a made-up credential")
