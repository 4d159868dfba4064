"""What an agent's options come to: the mode, the profile, limits and policies, checked once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from atc.costs import QuestionLimits
from atc.help import check_parts
from atc.models.base import AnyModel, checked_silence
from atc.modes import Mode, open_mode, parse
from atc.options import Options, SearchSettings, WritesPolicy
from atc.profile import SMALL, SMALL_CONTEXT, Profile, open_profile, profile_of, without
from protocols.errors import UsageError
from protocols.model import Protocol
from sandbox import Limits
from sandbox.egress import POLICIES, Writes
from sandbox.egress.egress_rules import origin

if TYPE_CHECKING:
    from atc.costs import Prices

__all__ = ["SIMULATED_NOW", "Resolved", "check_options", "model_name", "resolve"]

SIMULATED_NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
"""The time in a rehearsal, unless another one is given."""
_PUBLISHED_CALLS = 200
"""Model calls of the published search."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """How questions are solved.

    Args:
        options: As they were given; what the other fields have is taken from there.
        tries: How often the mode may try.
        max_reflections: Revisions of a program.
        tools: How many are offered.
        now: The time for the program and the model; None for the real one.
        limits: Of the sandbox.
        writes: The writes policy, or who is asked.
    """

    options: Options
    mode: Mode
    tries: int
    profile: Profile
    max_reflections: int
    tools: int
    now: datetime | None
    limits: Limits
    writes: Writes | Literal["plan"]
    question_limits: QuestionLimits = field(default_factory=QuestionLimits)
    prices: Prices | None = None

    @property
    def today(self) -> str:
        """The date that the model is told, as YYYY-MM-DD."""
        return (self.now or datetime.now(UTC)).date().isoformat()

    @property
    def changes(self) -> str:
        """A sentence on what a solve may change."""
        if self.writes == "plan" or callable(self.writes):
            return "It may change data, and asks somebody about each change before."
        return "It may change data." if self.writes == "allow" else "It changes nothing."

    def fitted(self, context: int | None) -> Resolved:
        """The same for a model with a context window of so many tokens.

        A short one makes a model small whose profile nothing else declares.
        """
        options, profile = self.options, self.profile
        undeclared = options.profile is None and profile_of(_model(options.model)) is not SMALL
        if undeclared and context is not None and context < SMALL_CONTEXT and not profile.help:
            profile = without(SMALL, options.ablate)
        return replace(self, profile=profile.within(context))


_Kinds = tuple[tuple[type, ...], str]
"""The types of a value, and what such a value is called."""

_NUMBER: _Kinds = (int,), "a number"
_PATH: _Kinds = (str, Path), "a path"
_BY_KIND: Mapping[str, _Kinds] = {
    "number": _NUMBER,
    "count": _NUMBER,
    "count or none": _NUMBER,
    "amount": ((int, float), "a number"),
    "moment": ((datetime,), "a datetime"),
    "mode": ((str,), "the name of a mode"),
    "address": ((str, Mapping), "a URL, or a mapping of URLs by the name of their API"),
    **dict.fromkeys(("place", "certificate", "file", "index", "folder"), _PATH),
}
_FUNCTION: _Kinds = (Callable,), "a function"  # type: ignore[assignment] # isinstance takes it
_BY_NAME: Mapping[str, _Kinds] = {
    "profile": ((str, Profile), "the name of a profile, a file, or a Profile"),
    "limits": ((Limits,), "a Limits"),
    "silence": ((int, float), "a number of seconds"),
    "search": ((SearchSettings,), "a SearchSettings"),
    **dict.fromkeys(("on_event", "before_call", "after_call", "confirm", "confirm_plan"), _FUNCTION),
}


def _check_types(options: Options) -> None:
    """Refuse values of other types than the options declare. Raises: UsageError: The sentence is about the option."""
    for option in fields(options):
        name, value, flag = option.name, getattr(options, option.name), option.metadata.get("flag")
        by_kind = _BY_KIND.get(flag.kind) if flag is not None and isinstance(flag.kind, str) else None
        kinds = _BY_NAME.get(name, by_kind)
        problem = ""
        if option.default is False:
            may_be_session = "Session" in str(option.type)
            if not isinstance(value, bool) and not (may_be_session and hasattr(value, "rehearses")):
                more = " or a session of a simulated API" if may_be_session else ""
                problem = f"{'True, False' if more else 'True or False'}{more}"
        elif option.default == ():
            if isinstance(value, str):
                raise UsageError(f"{name} is a text: it must be a list of them, as in {name}=['…']")
            is_texts = isinstance(value, Collection) and all(isinstance(text, str) for text in value)
            problem = "" if is_texts else "a list of texts"
        elif kinds is not None and not (value is None and option.default is None):
            problem = "" if isinstance(value, kinds[0]) and not isinstance(value, bool) else kinds[1]
        if problem:
            raise UsageError(f"{name} is {value!r}: it must be {problem}")


def check_options(options: Options) -> None:
    """Refuse options that nothing can be done with. Raises: UsageError."""
    _check_types(options)
    if options.writes is not None and options.writes not in POLICIES:
        raise UsageError(f"unknown writes policy {options.writes!r}: choose one of {', '.join(POLICIES)}")
    if (options.max_reflections or 0) < 0:
        raise UsageError(f"max_reflections is {options.max_reflections}: it must be 0 or more")
    if options.call_timeout is not None and not options.call_timeout > 0:
        raise UsageError(f"call_timeout is {options.call_timeout}: it must be more than 0 seconds")
    if options.silence is not None:
        checked_silence(options.silence)
    if options.max_calls is not None and options.max_calls < 1:
        raise UsageError(f"max_calls is {options.max_calls}: it must be 1 or more")
    if options.max_tools not in (None, "all") and not (isinstance(options.max_tools, int) and options.max_tools >= 1):
        raise UsageError(f"max_tools is {options.max_tools!r}: it must be 1 or more, or 'all'")
    if options.simulate and options.base_url:
        raise UsageError("a simulated API has its own base URL: give either simulate or base_url")
    for text in options.allow:
        origin(text)


def resolve(protocol: Protocol, options: Options) -> Resolved:
    """What the options come to for an API. Raises: UsageError."""
    name, tries = parse(options.mode)
    mode = open_mode(name)
    profile = options.profile
    if not isinstance(profile, Profile):
        profile = open_profile(profile) if profile is not None else profile_of(_model(options.model))
    profile = without(profile, options.ablate)
    check_parts(profile)
    reflections = profile.reflections if options.max_reflections is None else options.max_reflections
    tools = options.max_tools if options.max_tools is not None else profile.tools
    policy: WritesPolicy = options.writes or ("allow" if options.simulate else "ask")
    if policy == "plan":
        from atc.write_gate import check_plannable

        check_plannable(protocol)
        if not mode.revises:
            raise UsageError(
                f"writes='plan' holds one program to its plan, which {name!r} has not; use attribute, naive or none"
            )
    return Resolved(
        _guarded(options),
        mode,
        tries,
        profile,
        max_reflections=reflections if mode.reflections else 0,
        tools=len(protocol.tools) if tools == "all" else tools,
        now=options.now or (SIMULATED_NOW if options.simulate else None),
        limits=_limits(options, mode.single_calls),
        writes=options.confirm if policy == "ask" and options.confirm is not None else policy,
        question_limits=QuestionLimits(options.max_tokens, options.max_seconds, options.max_cost),
        prices=_prices(options),
    )


def _guarded(options: Options) -> Options:
    """The options with hooks whose failures end a solve with a UsageError."""
    if options.before_call is None and options.after_call is None:
        return options
    from atc.hooks import guarded_after, guarded_before

    before, after = options.before_call, options.after_call
    return replace(
        options,
        before_call=guarded_before(before) if before is not None else None,
        after_call=guarded_after(after) if after is not None else None,
    )


def _prices(options: Options) -> Prices:
    """The price table. Raises: UsageError: It is broken, or no limit of cost can be kept with it."""
    from atc.costs import read_prices

    prices = read_prices(Path(options.prices) if options.prices is not None else None)
    if prices.currency != "USD":
        raise UsageError(f"{options.prices} is in {prices.currency}, and a solve counts US dollars (currency: USD)")
    if options.max_cost is not None:
        prices.required(model_name(options.model))
    return prices


def _limits(options: Options, single_calls: bool) -> Limits:
    """The limits of the sandbox; by default a search may make as many calls as its model calls ask for."""
    limits = options.limits or Limits()
    if options.limits is None and single_calls:
        wanted = max(options.search.max_model_calls, _PUBLISHED_CALLS if options.search.compat else 0)
        limits = Limits(calls=max(limits.calls, 2 * wanted))
    return limits.adjusted(options.call_timeout, options.max_calls)


def model_name(model: str | AnyModel | None) -> str:
    """The name of a model; that of the default for None, and empty for an object without one."""
    name = _model(model)
    if isinstance(name, str):
        if "+" not in name:
            return name
        from atc.engines.names import identity

        return identity(name)
    return getattr(model, "name", "")


def _model(model: str | AnyModel | None) -> str | AnyModel:
    """A model, or the name of the default one."""
    if model is not None and model != "":
        return model
    from atc.models import default_model

    return default_model()
