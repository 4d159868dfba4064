"""Find the changes of a service since its document was written, by running its usage programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from probing.evaluation import strip_responses
from probing.prober.findings import ToolFinding
from probing.prober.prober import Prober
from protocols.contracts.contract import infer_schema
from protocols.contracts.store import ContractDrift, ToolObservations, contract_drift
from protocols.errors import APIError, LimitReached
from protocols.model import Protocol
from sandbox import Sandbox

__all__ = ["GONE", "detect_drift", "is_breaking"]

GONE = "gone"
"""The kind of change of a tool that returns only errors, beside those of a `ContractDrift`."""


def is_breaking(change: ContractDrift) -> bool:
    """True if a correct program may fail now."""
    return change.kind != "new"


def detect_drift(
    document: Protocol,
    usage: Mapping[str, str],
    sandbox: Sandbox,
    on_try: Callable[[str, str], None] = lambda tool, program: None,
    budget: int | None = None,
) -> list[ContractDrift]:
    """The changes of a service since its document was written; nothing is written.

    A field that is documented as optional and is not there any more is no change.

    Args:
        usage: By tool, a program that calls it; a tool without one is probed.
        sandbox: Reaches the service, and blocks all writes.
        on_try: Called with each tool and program before it runs.
        budget: The most requests in all.
    Raises: APIError: The service does not answer, or refuses the credentials.
    """
    prober = Prober(strip_responses(document), None, sandbox, on_try=on_try, budget_calls=budget)
    with suppress(LimitReached):
        for name, program in usage.items():
            if name in document and not document.tool(name).writes:
                prober.run(name, program)
    if prober.probe().ended == "interrupted":
        raise KeyboardInterrupt
    _check_reached(prober)
    gone = [
        ContractDrift(name, GONE, "", "; ".join(finding.errors) or "it does not answer")
        for name, finding in prober.findings.items()
        if name in usage and finding.requests and not finding.is_complete
        if any(response.status.startswith("2") for response in document.tool(name).responses)
    ]
    silent = {change.tool for change in gone}
    observed = {name: _seen(prober, finding) for name, finding in prober.findings.items() if name not in silent}
    changes = contract_drift(document, observed)
    return [*gone, *(change for change in changes if change.kind != "missing" or change.required)]


def _check_reached(prober: Prober) -> None:
    """Raises: APIError: No call was answered, or none was allowed."""
    called = [finding for finding in prober.findings.values() if finding.requests]
    if not called:
        raise APIError("no call could be sent: check --base-url, and that the document has tools that read")
    if not any(finding.status or finding.statuses for finding in called):
        why = next(iter(prober.observations.unanswered.values()), "no reply")
        raise APIError(f"the service cannot be reached: {why}; check the base URL (--base-url)")
    if all(not finding.is_complete and set(finding.statuses) <= {"401", "403"} for finding in called):
        raise APIError("the service refuses the credentials; check --auth KIND:SOURCE")


def _seen(prober: Prober, finding: ToolFinding) -> ToolObservations:
    """What a tool answered."""
    bodies = prober.observations.bodies.get(finding.tool, [])
    return ToolObservations(len(bodies), infer_schema(bodies) if bodies else {}, dict.fromkeys(finding.statuses, 1))
