"""The options of an agent, each listed once: `Agent`, `Agent.from_openapi`, the commands and the runner take these.

A message names an option as the command line does, `--writes plan`, and so a model reads the same text whoever runs it.
What leaves for a caller in Python is put into Python's words here (`writes="plan"`), by the same declarations.
"""

from __future__ import annotations

import difflib
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, get_args

from atc.events import EventSink
from atc.models.base import AnyModel
from atc.profile import Profile
from protocols.errors import ATCError, UsageError
from sandbox import CallRecord, Limits

if TYPE_CHECKING:
    from atc.hooks import AfterCall, BeforeCall
    from protocols.simulator import Session
    from sandbox.egress.write_plan import WritePlan

__all__ = [
    "AgentArguments",
    "Flag",
    "Options",
    "SearchSettings",
    "WritesPolicy",
    "check_text",
    "in_words_of_flags",
    "spoken",
    "takes",
    "takes_all",
    "worded",
]

FORMATS = ("auto", "text", "functions", "toolllama")
WritesPolicy = Literal["ask", "allow", "deny", "simulate", "plan"]
P = ParamSpec("P")
Owner = TypeVar("Owner")
Subject = TypeVar("Subject")
Result = TypeVar("Result")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Flag:
    """How commands, `atc.toml` and journals take an option. Its help is its entry in the docstring of its class.

    Args:
        group: Commands take the options of some groups.
        metavar: What stands for its value in --help.
        kind: What its text is, by a name in atc.apps.cli.flags; or the words, of which it is one.
        traits: `many`: it is repeatable. `shared`: it may stand above the tables of `atc.toml`. `service`: it belongs
            to the API that a file names, and to no other. `real`: a simulated API has no use for it. `resumable`: a
            solve that goes on may have another value. `unnoted`: no journal keeps it. `signs_in`: requests bear it.
            `common`: --help lists it, the others only --help-all.
        names: What it is called on the command line; by default the name of the field.
        risk: What it does that a stranger's `atc.toml` may not do unasked, with {value} and {where}.
    """

    group: str
    metavar: str | None = None
    kind: str | tuple[str, ...] = "text"
    traits: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    risk: str = ""


def _flag(
    default: Value,
    group: str,
    metavar: str | None = None,
    kind: str | tuple[str, ...] = "text",
    traits: str = "",
    names: tuple[str, ...] = (),
    risk: str = "",
) -> Value:
    """A field that commands have a flag for; see Flag."""
    flag = Flag(group, metavar, kind, frozenset(traits.split()), names, risk)
    declared: Value = field(default=default, metadata={"flag": flag})
    return declared


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the modes search that make one call at a time.

    Args:
        width: Children of a node (dfsdt, dfs).
        depth: Messages on a path (react, dfsdt, dfs); with `compat` the nodes of the published trees, where a thought,
            an action and its input are one each  [default: 20 in a tree, no limit in react].
        max_observation: Tokens of an observation (react, dfsdt, dfs; in codeact of an output).
        max_model_calls: Most model calls for a question, all tries together; 0 for the budget that the mode itself has.
        compat: Search as ToolLLM's released code does, with its defects (react, dfsdt; see benchmarks.methods.dfsdt).
        format: How single calls are written: as text, as the endpoint's tool calls (functions), or as ToolLLaMA was
            trained (FILE: a released answer file with its prompt); auto is functions where the model takes them.
    """

    width: int = _flag(2, "search", "N", "count")
    depth: int | None = _flag(None, "search", "N", "count")
    max_observation: int = _flag(400, "search", "TOKENS", "count")
    max_model_calls: int = _flag(0, "search", "N", "count or none", "resumable")
    compat: bool = _flag(False, "search")
    format: str = _flag("auto", "search", "auto|text|functions|toolllama[:FILE]")

    def __post_init__(self) -> None:
        """Raises: UsageError: There is no such format."""
        name, colon, _ = self.format.partition(":")
        if name not in FORMATS or (colon and name != "toolllama"):
            raise UsageError(f"unknown format {self.format!r}: choose one of {', '.join(FORMATS)}, or toolllama:FILE")


@dataclass(frozen=True)
class Options:
    """What an agent can be told. The commands take those with a flag: --help has the text below, but for `In Python`.

    Args:
        model: local:NAME[+ADAPTER], openvino:NAME, openai:NAME, hf:NAME[+ADAPTER], replay:FILE, or a provider's, such
            as anthropic:NAME  [default: $ATC_MODEL, else local:qwen2.5-coder-1.5b]. In Python also any object with
            `complete`, or a function of the conversation. A model that the agent opened it also closes.
        mode: How a failed program is repaired: attribute names the tool to blame and shows its documentation again,
            naive shows the error text alone, none does not repair. Or a method to compare with (docs/modes.md); plan
            runs the planner without a model. MODE@N: up to N tries, until one is answered; the model's answers are
            sampled after the first try, with a seed of each try.
        max_reflections: How often a failed program may be revised (attribute, naive)
            [default: as the profile says].
        base_url: Where the API is, if not where its document says; without a path it gets that of the document's
            server. Repeatable: shop=URL for one of several APIs. In Python a mapping by their names.
        auth: A credential: bearer, basic, digest, header:NAME, query:NAME, cookie:NAME or a security scheme of the
            document, then env:VAR, file:PATH or keyring:SERVICE/USER; or oauth2, sigv4 or hmac, then env:PREFIX or
            file:PATH (docs/auth.md). env:VAR passes a variable to an MCP server that is started. Repeatable;
            shop=KIND:SOURCE for one of several APIs.
        simulate: Ask a simulated API on this machine instead of the real one; no request leaves it. In Python also a
            session of one, a world of its own, which the agent closes.
        seed: Of the model, the simulated API and a program's random numbers.
        headers: A header of each request to the API. VALUE may be env:VAR, file:PATH or keyring:SERVICE/USER, and is a
            secret then; no program replaces it. Repeatable; shop=NAME:VALUE for one of several APIs.
        max_tools: How many tools the model is shown  [default: as the profile says].
        retriever: Choose those tools by this index; see `atc retrieve build`.
        now: The time for prompt, program and simulated API
            [default: the real time; 2024-06-01T12:00:00Z when simulating and in bench].
        allow: A server (scheme, host and port) that programs may reach besides the API, also at a private address;
            redirects of the API to it are followed. Credentials go there only without --api. Repeatable.
        limits: What a program may use.
        call_timeout: The time that one call may take; a longer one gives the program that much more time
            [default: as long as the program, 15].
        max_calls: Most calls of a program; the model is told  [default: 100].
        ca_file: Trust the authorities in this PEM file besides; for all APIs (docs/network.md).
        client_cert: Show this certificate to the servers of the API: a PEM file with its key, or two; for all APIs.
        profile: What the model is given and held to: prompt and output tokens, documentation, help. FILE is YAML with
            `base:` and the fields to change  [default: as the catalogue or the model declares, else small for a context
            below 8,192 tokens, else large]. In Python also a Profile (see atc.profile).
        silence: Give up an endpoint or a provider of models after so many seconds without a part of its answer
            [default: 120].
        only: Offer these operations alone: a tag, an operation id, a tool, GET, '/orders/*' or 'POST /search'.
            Repeatable; shop=GET for one of several APIs.
        without: Leave these operations out, named like that, such as DELETE: neither in the prompt nor to be called.
            Repeatable.
        reads: These operations change nothing, whatever their method, such as 'POST /search'. Repeatable; none takes
            back what the document says of that.
        trust_hints: Take an MCP server's hints for what changes nothing also with --writes deny.
        ablate: Features of the profile to turn off, to measure what they are worth.
        store: Keep in DIR what responses really hold and which programs answered, and go by that; see `atc contract`.
            What is simulated is kept apart, in `simulated` in it.
        strict_sandbox: Refuse to run programs where a layer of the sandbox is missing; else that is a warning.
        on_event: Called with every event as it happens.
        writes: What becomes of calls that may change something: ask on the terminal, allow, deny (which ends the
            solve), simulate (a simulated API answers them, reads go to the real one), or plan (simulate them first, ask
            once about all of them, and then send these alone)  [default: ask, and allow with --simulate]. In Python
            "ask" asks `confirm`, "plan" asks `confirm_plan`, and either is a no without it.
        before_call: Given each call before it is sent, from another thread; returns None, or the reason against it. A
            write with a reason against it ends the solve, a read fails in the program. Its time is the program's.
        after_call: Given each call when it is over, from another thread.
        confirm: Given a write that is not sent yet, from another thread; returns whether it may be.
        confirm_plan: Given the planned writes; returns whether those in its `asked` may be sent.
        search: How the modes search that make one call at a time, and the most model calls of any mode.
        max_tokens: Most tokens of a question, read and written, all requests to the model together. At this and the
            next two limits the solution is what there is until then, and the exit code 4 (docs/limits.md).
        max_seconds: Most seconds of a question; the time in which you confirm writes does not count.
        max_cost: Most US dollars of a question, by the price table.
        prices: A price table for --max-cost and for what a solution says that it cost: YAML, docs/limits.md
            [default: the list prices that come with atc].
    """

    model: str | AnyModel | None = _flag(None, "model", "NAME", "model", "shared common")
    mode: str = _flag("attribute", "mode", None, "mode", "shared")
    max_reflections: int | None = _flag(None, "mode", "N", "count or none", "shared")
    base_url: str | Mapping[str, str] | None = _flag(
        None, "service", "[NAME=]URL", "address", "many shared service real common"
    )
    auth: Sequence[str] = _flag(
        (),
        "service",
        "KIND:SOURCE",
        "credential",
        "many shared service real signs_in common",
        risk="signs in with {value} at {where}",
    )
    simulate: bool | Session = _flag(False, "service", traits="shared common")
    seed: int = _flag(0, "clock", "N", "number", "shared")
    _: KW_ONLY
    headers: Sequence[str] = _flag(
        (),
        "program",
        "NAME:VALUE",
        "header",
        "many service signs_in",
        names=("header",),
        risk="sends the headers {value} to {where}",
    )
    max_tools: int | Literal["all"] | None = _flag(None, "prompt", "N|all", "tools", "shared", names=("tools",))
    retriever: str | Path | None = _flag(None, "prompt", "INDEX", "index")
    now: datetime | None = _flag(None, "clock", "TIME", "moment", "shared")
    allow: Sequence[str] = _flag(
        (), "program", "ORIGIN", traits="many shared service", risk="lets programs reach {value}"
    )
    limits: Limits | None = None
    call_timeout: float | None = _flag(None, "network", "SECONDS", "amount", "shared resumable")
    max_calls: int | None = _flag(None, "program", "N", "count", "shared resumable", names=("max_calls", "calls"))
    ca_file: str | Path | None = _flag(
        None, "network", "FILE", "place", "shared service", risk="trusts the authorities in {value}"
    )
    client_cert: str | Path | None = _flag(
        None,
        "network",
        "FILE[,KEY]",
        "certificate",
        "shared service signs_in",
        risk="shows the certificate {value} to {where}",
    )
    profile: str | Profile | None = _flag(None, "model", "tiny|small|large|FILE", "text", "shared")
    silence: float | None = _flag(None, "model", "SECONDS", "amount", "shared resumable")
    only: Sequence[str] = _flag((), "document", "WHAT", "pattern", "many shared service common")
    without: Sequence[str] = _flag((), "document", "WHAT", "pattern", "many shared service")
    reads: Sequence[str] = _flag(
        (),
        "program",
        "WHAT",
        "pattern",
        "many shared service",
        names=("read", "reads"),
        risk="takes {value} to change nothing",
    )
    trust_hints: bool = _flag(
        False, "program", traits="shared service", risk="takes a server's word for what changes nothing, at {where}"
    )
    ablate: Sequence[str] = ()
    store: Path | None = _flag(None, "prompt", "DIR", "folder", "shared unnoted")
    strict_sandbox: bool = _flag(False, "program", traits="shared")
    on_event: EventSink | None = None
    writes: WritesPolicy | None = _flag(
        None, "program", None, get_args(WritesPolicy), "shared resumable common", risk="sends writes without asking"
    )
    before_call: BeforeCall | None = None
    after_call: AfterCall | None = None
    confirm: Callable[[CallRecord], bool] | None = None
    confirm_plan: Callable[[WritePlan], bool] | None = None
    search: SearchSettings = SearchSettings()
    max_tokens: int | None = _flag(None, "limit", "N", "count", "shared resumable")
    max_seconds: float | None = _flag(None, "limit", "S", "amount", "shared resumable")
    max_cost: float | None = _flag(None, "limit", "USD", "amount", "shared resumable")
    prices: str | Path | None = _flag(None, "limit", "FILE", "file", "shared resumable")

    @property
    def takes_hints(self) -> bool:
        """True if an MCP server's word is taken for what changes nothing: whoever denies all writes has to say so."""
        return self.trust_hints or self.writes != "deny"


@dataclass(frozen=True)
class _Tools:
    """The first argument of an agent, before its options: dataclasses list the fields of their last base first."""

    tools: object


@dataclass(frozen=True)
class AgentArguments(Options, _Tools):
    """All that makes an agent: its tools (see protocols.gathering.gather) and its options."""

    def options(self) -> Options:
        """The options alone."""
        return Options(**{name: value for name, value in vars(self).items() if name != "tools"})


def check_text(name: str, value: object) -> None:
    """Raises: UsageError: The argument of that name is no text."""
    if not isinstance(value, str):
        raise UsageError(f"{name} is {value!r}: it must be a text")


def takes(
    arguments: Callable[P, Subject],
) -> Callable[[Callable[[Owner, Subject], Result]], Callable[Concatenate[Owner, P], Result]]:
    """Give a function of (owner, arguments) the fields of `arguments` as parameters of its own.

    Raises, when it is called: UsageError: A parameter is unknown, twice there, or missing.
    """
    return lambda function: _taking(function, arguments, 1)


def takes_all(arguments: Callable[P, Subject]) -> Callable[[Callable[[Subject], Result]], Callable[P, Result]]:
    """The same for a function that is no method."""
    return lambda function: _taking(function, arguments, 0)


def _taking(function: Callable[..., Any], arguments: Callable[..., Any], owners: int) -> Any:
    """A function of so many owners and of `arguments` as one of owners and of the parameters of `arguments`."""
    own, listed = inspect.signature(function), inspect.signature(arguments)
    name = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        _check_arguments(name, listed, args[owners:], kwargs)
        return function(*args[:owners], arguments(*args[owners:], **kwargs))

    parameters = [*list(own.parameters.values())[:owners], *listed.parameters.values()]
    called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return called


def _check_arguments(name: str, listed: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    unknown = next((keyword for keyword in kwargs if keyword not in listed.parameters), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, listed.parameters)
        hint = f"did you mean {' or '.join(near)}?" if near else f"it takes {', '.join(listed.parameters)}"
        raise UsageError(f"{name} has no argument {unknown!r}; {hint}")
    try:
        listed.bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(f"{name}: {error}") from None


_commands = 0
"""Commands under way in this process."""
_turn = threading.Lock()


@contextmanager
def in_words_of_flags() -> Iterator[None]:
    """While this lasts, messages name options as the command line does."""
    global _commands
    with _turn:
        _commands += 1
    try:
        yield
    finally:
        with _turn:
            _commands -= 1


def worded(text: str) -> str:
    """A message in the words of whoever called: a command, or Python."""
    if _commands or "--" not in text:
        return text
    from atc.python_words import in_python

    return in_python(text, ((Options, "{}"), (SearchSettings, "search=SearchSettings({})")))


def spoken(function: Callable[P, Result]) -> Callable[P, Result]:
    """A function whose errors of ours are `worded`."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except ATCError as error:
            error.args = (worded(str(error)), *error.args[1:])
            raise

    return called
