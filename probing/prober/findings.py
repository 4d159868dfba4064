"""The result of a probe, per tool and in total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypedDict

from probing.schema.constraints import Constraint
from protocols.errors import APIError
from protocols.model import Schema

__all__ = ["Outcome", "ProbeReport", "RefusedCall", "ToolFinding"]

Outcome = Literal[
    "documented",
    "no_content",
    "always_empty",
    "web_page",
    "unreachable_argument",
    "only_errors",
    "refused_by_policy",
    "budget",
    "model_failed",
    "unreachable_service",
    "internal_error",
]
"""
documented: it answered, and its response has a schema
no_content: it succeeded without a body
always_empty: it answered with an empty list each time, so its items are unknown
web_page: it answers with a page for a browser, as documented
unreachable_argument: no response held a value for a required argument
only_errors: all calls failed
refused_by_policy: it writes, and that was not allowed
budget: no requests or tokens were left for it
model_failed: the model wrote no program that calls it
unreachable_service: the service refused the connection before it was tried
internal_error: atc itself failed at it; the other tools were probed all the same
"""


_ANSWERED = frozenset({"documented", "no_content", "always_empty", "web_page"})
_NOT_CALLABLE = frozenset({"unreachable_argument", "refused_by_policy"})


class RefusedCall(TypedDict):
    """A negative example: the arguments of a call, and the body of the error."""

    arguments: Mapping[str, object]
    reply: object


@dataclass(slots=True)
class ToolFinding:
    """The result for one tool.

    `program` answers `question` by calling the tool; `status` is that of its response. `statuses` has a short message
    for each other status, and `refused` the first call that got it. `samples` counts the model's programs for the tool,
    `requests` its calls. `constraints` hold of its arguments.
    """

    tool: str
    outcome: Outcome = "unreachable_argument"
    reason: str = ""
    question: str = ""
    program: str = ""
    iteration: int = 0
    status: str | None = None
    statuses: dict[str, str] = field(default_factory=dict)
    refused: dict[str, RefusedCall] = field(default_factory=dict)
    samples: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    schema: Schema | None = None
    example: object = None
    constraints: list[Constraint] = field(default_factory=list)

    @property
    def errors(self) -> list[str]:
        """The status and message of each error."""
        return [f"{status}: {text}" for status, text in self.statuses.items()]

    @property
    def is_complete(self) -> bool:
        """True if nothing is left to learn."""
        return self.outcome in ("documented", "no_content", "web_page")


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The result of a probe.

    `agreement` compares with the hidden truth, if any (see probing.evaluation). `left_behind` are the calls that should
    have removed created objects, and failed. `internal_errors` are errors of atc's own, each after the tool's name.
    """

    tools: tuple[ToolFinding, ...]
    iterations: int
    requests: int
    protocol: str
    seed: int
    model: str | None
    ended: str = ""
    left_behind: tuple[str, ...] = ()
    is_unreachable: bool = False
    internal_errors: tuple[str, ...] = ()
    agreement: Mapping[str, object] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """130: ctrl-C; 6: the service refused the connection; 4: a budget; 1: a call failed, or nothing answered; 0.

        0 says that all that could be called was called, and answered. What needs an identifier that nothing holds, or
        a permission that was not given, is listed and is no failure.
        """
        if self.ended == "interrupted":
            return 130
        if self.is_unreachable:
            return APIError.exit_code
        if self.internal_errors:
            return 1
        if all(finding.is_complete for finding in self.tools):
            return 0
        if self.ended:
            return 4
        outcomes = {finding.outcome for finding in self.tools}
        return 0 if outcomes & _ANSWERED and outcomes <= _ANSWERED | _NOT_CALLABLE else 1

    def to_json(self) -> dict[str, Any]:
        """Plain data; the keys are part of the interface."""
        tools = []
        for finding in self.tools:
            data = asdict(finding)
            del data["schema"], data["example"]
            tools.append(data)
        outcomes = [finding.outcome for finding in self.tools]
        return {
            "tools": tools,
            "iterations": self.iterations,
            "totals": {
                "tools": len(tools),
                "done": sum(finding.is_complete for finding in self.tools),
                "outcomes": {name: outcomes.count(name) for name in sorted(set(outcomes))},
                "requests": self.requests,
                "samples": sum(finding.samples for finding in self.tools),
                "prompt_tokens": sum(finding.prompt_tokens for finding in self.tools),
                "completion_tokens": sum(finding.completion_tokens for finding in self.tools),
            },
            "agreement": dict(self.agreement),
            "model": self.model,
            "seed": self.seed,
            "protocol": self.protocol,
            "ended": self.ended,
            "left_behind": list(self.left_behind),
            "internal_errors": list(self.internal_errors),
        }
