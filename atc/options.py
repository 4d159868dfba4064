"""The options of an agent, each listed once: `Agent`, `Agent.from_openapi`, the commands and the runner take these."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from atc.events import EventSink
from atc.hooks import AfterCall, BeforeCall
from atc.models import Model
from atc.profile import Profile
from protocols.errors import UsageError
from sandbox import CallRecord, Limits

if TYPE_CHECKING:
    from protocols.simulator import Session
    from sandbox.egress.write_plan import WritePlan

__all__ = ["Effort", "Options", "SearchSettings", "WritesPolicy", "takes_options"]

FORMATS = ("auto", "text", "functions", "toolllama")
Effort = Literal["normal", "high"]
WritesPolicy = Literal["ask", "allow", "deny", "simulate", "plan"]
P = ParamSpec("P")
Owner = TypeVar("Owner")
Subject = TypeVar("Subject")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the modes search that make one call at a time.

    Args:
        width: Children of a node (`dfsdt`, `dfs`).
        depth: Messages on a path; None for the mode's own limit. Under `compat` it counts the nodes of the published
            trees: a thought, an action and its input are one each.
        max_observation: Tokens of an observation.
        max_model_calls: Completions for a question, all tries together; 0 for the mode's own budget.
        compat: Search as the published code does, with its defects (see benchmarks.methods.dfsdt).
        format: How calls are written: "text", "functions" (the endpoint's tool calls), "toolllama" (as its weights were
            trained; "toolllama:FILE" with the sentences of a released answer file or of the training data), or "auto":
            functions where the model takes them, else text.
    """

    width: int = 2
    depth: int | None = None
    max_observation: int = 400
    max_model_calls: int = 0
    compat: bool = False
    format: str = "auto"

    def __post_init__(self) -> None:
        """Raises: UsageError: There is no such format."""
        name, colon, _ = self.format.partition(":")
        if name not in FORMATS or (colon and name != "toolllama"):
            raise UsageError(f"unknown format {self.format!r}: choose one of {', '.join(FORMATS)}, or toolllama:FILE")


@dataclass(frozen=True)
class Options:
    """What an agent can be told.

    Args:
        model: A name such as "openai:gpt-4.1" or "local:qwen2.5-coder-1.5b", or any object with `complete`. By default
            what `ATC_MODEL` names, else the local model. A model that this agent opened it also closes.
        mode: How a failed program is repaired: "attribute" names the tool to blame and shows its documentation again,
            "naive" shows the error text alone, "none" does not repair. Or a method to compare with: "react", "codeact",
            "dfsdt", "dfs", "restgpt" or "conagents" (see atc.modes). `MODE@N` is up to N tries, ended by the first
            answer; after the first try the model's answers are sampled, with a seed of each try.
        max_reflections: How often a program may be revised (the paper's alpha); by default as the profile says. The
            methods to compare with have budgets of their own.
        base_url: Where the API is, when that is not where its document says; by name where there are several APIs.
        auth: Credentials as `KIND:SOURCE`, such as "bearer:env:MY_TOKEN", or "shop=bearer:env:MY_TOKEN" for one of
            several APIs (docs/auth.md).
        headers: Headers of each request to the API as `NAME:VALUE`, such as "X-Tenant: acme" or "X-Key:env:MY_KEY",
            which is a secret; "shop=X-Tenant: acme" for one of several APIs. No program replaces them.
        simulate: Rehearse against a simulated API made from the protocol; no request leaves this machine. Or a session
            of one, a world of its own, which this agent closes.
        seed: Of the simulated API, the model, and a program's random numbers.
        tools: How many tools the model is shown at most, or "all"; by default as the profile says.
        retriever: The folder of an index by `atc retrieve build`, which chooses the tools that the model is shown.
        now: The time for the program and the model; the real time by default, a fixed one with `simulate`.
        allow: Origins such as "https://cdn.example.com" that programs may reach besides the API, without credentials;
            the API's own is named here when it has a private address.
        limits: What a program may use.
        call_timeout: Seconds that one call may take; by default as long as the program, 15. A longer one gives the
            program that much more time.
        max_calls: The most calls of a program, 100 by default; the model is told.
        ca_file: A PEM file of authorities that are trusted beside the usual ones (docs/network.md).
        client_cert: A PEM file with a certificate and its key, or `FILE,KEY`, which is shown to the API's own servers.
        learn: Let the data flow of good calls guide later questions to this agent; off where runs are compared.
        profile: What the model is given and held to: "small", "large", a file, or a Profile (see atc.profile). By
            default "large" for `openai:` models, else "small".
        only: The operations that there are, as patterns: a tag, an operation id, a tool, "GET", "/orders/*" or "POST
            /search"; "shop=GET" for one of several APIs. Everything by default.
        without: Operations that there are not, as such patterns: neither in the prompt nor to be called.
        reads: Operations that change nothing, whatever their method, as such patterns; "none" takes back what the
            document or the form of an operation says of that.
        ablate: Features of the profile to turn off, to measure what they are worth.
        store: A folder that keeps what responses really hold, and programs that answered. Programs are checked against
            the former besides the document; the latter are shown with similar questions. What is simulated is kept
            apart, in `simulated` in it.
        strict_sandbox: Refuse to run programs where a layer of the sandbox is missing; else that is a warning.
        on_event: Called with every event as it happens.
        writes: What becomes of calls that may change something: "allow" sends them, "deny" ends the solve, "simulate"
            has a simulated API answer them, "ask" asks `confirm`, and is "deny" without it. By default "ask", and
            "allow" with `simulate`. At a real service "allow" sends a write for which the question gives a reason
            (see atc.assist.rules.write_reasons), and asks `confirm` about any other. "plan" withholds writes until a
            program would answer, asks `confirm_plan` about all of them at once, then sends only these (docs/writes.md).
        effort: "high" samples further programs for an answer, which write nothing new, and doubts it where most of
            them answer or write otherwise; that costs two to three times the tokens.
        search: How the modes search that make one call at a time, and the most model calls of any mode.
        max_tokens: Tokens that a question may cost at most, read and written together (docs/limits.md). At a limit the
            solution has the status "limit", and what was tried so far.
        max_seconds: Wall-clock seconds that a question may take.
        max_cost: US dollars that a question may cost, by the price table.
        prices: A price table, as a file, in place of ours.
        before_call: Given each call before it is sent, from another thread; returns None, or the reason against it. A
            write with a reason against it ends the solve, a read fails in the program. Its time is the program's.
        after_call: Given each call when it is over, from another thread.
        confirm: Given a write that is not sent yet, from another thread; returns whether it may be.
        confirm_plan: Given the planned writes; returns whether those in its `asked` may be sent. Without it none is.
    """

    model: str | Model | None = None
    mode: str = "attribute"
    max_reflections: int | None = None
    base_url: str | Mapping[str, str] | None = None
    auth: Sequence[str] = ()
    simulate: bool | Session = False
    seed: int = 0
    _: KW_ONLY
    headers: Sequence[str] = ()
    tools: int | Literal["all"] | None = None
    retriever: str | Path | None = None
    now: datetime | None = None
    allow: Sequence[str] = ()
    limits: Limits | None = None
    call_timeout: float | None = None
    max_calls: int | None = None
    ca_file: str | Path | None = None
    client_cert: str | Path | None = None
    learn: bool = False
    profile: str | Profile | None = None
    only: Sequence[str] = ()
    without: Sequence[str] = ()
    reads: Sequence[str] = ()
    ablate: Sequence[str] = ()
    store: Path | None = None
    strict_sandbox: bool = False
    on_event: EventSink | None = None
    writes: WritesPolicy | None = None
    before_call: BeforeCall | None = None
    after_call: AfterCall | None = None
    confirm: Callable[[CallRecord], bool] | None = None
    confirm_plan: Callable[[WritePlan], bool] | None = None
    effort: Effort = "normal"
    search: SearchSettings = SearchSettings()
    max_tokens: int | None = None
    max_seconds: float | None = None
    max_cost: float | None = None
    prices: str | Path | None = None


def takes_options(
    options: Callable[P, Options],
) -> Callable[
    [Callable[[Owner, Subject, Options], Result]],
    Callable[Concatenate[Owner, Subject, P], Result],
]:
    """Give a method of (self, subject, options) the options as arguments of its own."""

    def decorate(
        method: Callable[[Owner, Subject, Options], Result],
    ) -> Callable[Concatenate[Owner, Subject, P], Result]:
        @wraps(method)
        def called(owner: Owner, subject: Subject, /, *args: P.args, **kwargs: P.kwargs) -> Result:
            return method(owner, subject, options(*args, **kwargs))

        own = list(inspect.signature(method).parameters.values())[:2]
        listed = list(inspect.signature(options).parameters.values())
        signature: Any = inspect.Signature([*own, *listed])
        called.__signature__ = signature  # type: ignore[attr-defined]
        return called

    return decorate
