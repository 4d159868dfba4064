"""Automatic Tool Chain: a language model answers a question with one program that chains the calls of an API.

`Agent` answers questions, and a `Solution` is what comes of one. A model of your own is any object like `Model`; a
reader of events is any function that takes an `Event`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from atc import doors

doors.claim(doors.CORE)

from sandbox.system import check_supported  # noqa: E402 - our own packages come first

check_supported()

from protocols.sources import LOADERS  # noqa: E402 - what follows needs modules that Windows has not

LOADERS["saved"] = "atc.apps.saved.tools:load_saved"

if TYPE_CHECKING:
    from atc.agent import Agent
    from atc.chat import Chat
    from atc.events import (
        CallBegan,
        CallMade,
        Event,
        EventSink,
        FaultFound,
        ModelProgress,
        ModelWaiting,
        OutputPrinted,
        PlanProposed,
        ProgramWritten,
        RunEnded,
        RunStarted,
        SolveEnded,
        SolveStarted,
    )
    from atc.fault import Attribution, Fault
    from atc.models.base import Completion, Message, Model, Progress, Usage
    from atc.models.openai_compatible import Endpoint
    from atc.program_run import ProgramResult
    from atc.programs import check_program, run_program
    from atc.solution import Attempt, Solution
    from protocols.errors import ATCError, ModelError
    from sandbox.egress.write_plan import WritePlan
    from sandbox.records import CallRecord, Run

__all__ = [
    "ATCError",
    "Agent",
    "Attempt",
    "Attribution",
    "CallBegan",
    "CallMade",
    "CallRecord",
    "Chat",
    "Completion",
    "Endpoint",
    "Event",
    "EventSink",
    "Fault",
    "FaultFound",
    "Message",
    "Model",
    "ModelError",
    "ModelProgress",
    "ModelWaiting",
    "OutputPrinted",
    "PlanProposed",
    "ProgramResult",
    "ProgramWritten",
    "Progress",
    "Run",
    "RunEnded",
    "RunStarted",
    "Solution",
    "SolveEnded",
    "SolveStarted",
    "Usage",
    "WritePlan",
    "check_program",
    "run_program",
]

_HOMES = {
    "ATCError": "protocols.errors",
    "Agent": "atc.agent",
    "Attempt": "atc.solution",
    "Attribution": "atc.fault",
    "CallRecord": "sandbox.records",
    "Chat": "atc.chat",
    "Completion": "atc.models.base",
    "Endpoint": "atc.models.openai_compatible",
    "Fault": "atc.fault",
    "Message": "atc.models.base",
    "Model": "atc.models.base",
    "ModelError": "protocols.errors",
    "ProgramResult": "atc.program_run",
    "Progress": "atc.models.base",
    "Run": "sandbox.records",
    "Solution": "atc.solution",
    "Usage": "atc.models.base",
    "WritePlan": "sandbox.egress.write_plan",
    "check_program": "atc.programs",
    "run_program": "atc.programs",
}
"""Where the public names are defined; the others are events."""


def __getattr__(name: str) -> object:
    if name in __all__:  # loaded at their first use, so that `import atc` stays quick
        import importlib

        return getattr(importlib.import_module(_HOMES.get(name, "atc.events")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
