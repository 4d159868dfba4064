"""A second look at an answer (`--verify`): one more call, which names the first thing that is wrong with it.

The model reads the question, the program, what it called, the values that the answer rests on and the facts. It sees no
other function: that look is for what a reader of the program can find, and costs less than the first prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from atc.diagnosis.provenance import lookup
from atc.diagnosis.runtime_values import outline
from atc.evidence import facts
from atc.evidence.answers import call_text
from atc.models import Message
from atc.prompting import templates
from atc.prompting.conversation import cut
from atc.prompting.prompt import Offer
from atc.session import SolveSession
from atc.solution import Attempt, Verification
from protocols.errors import LimitReached, ModelError, PromptRefused
from protocols.json_path import subscripts
from protocols.model import Protocol
from sandbox import CallRecord, Run

__all__ = ["second_look", "verification_prompt"]

_VERDICT = re.compile(r"^\W*(?:(?P<ok>ok)\b|fault\W*:\W*(?P<fault>.+))", re.IGNORECASE | re.MULTILINE)
_ANSWER = 2000
"""Characters of an answer."""
_CALLS = 12
"""Calls that are listed; a loop over more makes alike ones."""
_VALUES = 8
"""Values of a call."""
_VALUE = 120
"""Characters of a value."""


def second_look(session: SolveSession, offer: Offer, attempt: Attempt, answer: str) -> Verification:
    """Ask the model for the first thing that is wrong with an answer, and count what that costs.

    Args:
        answer: What stands for the output of a program that printed nothing.
    """
    message = Message("user", verification_prompt(offer, attempt, answer))
    try:
        text = session.complete([message], max_tokens=offer.profile.output_tokens).text
    except (LimitReached, PromptRefused, ModelError) as error:  # the answer was there before
        return Verification("unverified", message=str(error))
    verdict = _VERDICT.search(text)
    if verdict is None:
        return Verification("unverified", message="the model said neither ok nor what is wrong")
    return Verification("ok") if verdict["ok"] else Verification("stands", verdict["fault"].strip())


def verification_prompt(offer: Offer, attempt: Attempt, answer: str = "") -> str:
    """What the model is shown of an answer."""
    run = attempt.run
    assert run is not None, "an answer comes from a run"
    findings = [f"- {finding.message}" for finding in facts(attempt.program, run, offer.graph)]
    return templates.render(
        "verify",
        query=offer.asked,
        today=offer.query.today,
        program=attempt.program.rstrip(),
        answer=cut(answer or run.stdout.strip(), _ANSWER, "\n…"),
        calls="\n".join(_calls(run, offer.graph.protocol)) or "none",
        facts="\n".join(findings) or "- none that speaks against the answer",
    )


def _calls(run: Run, protocol: Protocol) -> Iterator[str]:
    """Each call with its reply, and the values of it that the answer rests on."""
    for call in run.calls[:_CALLS]:
        line = f"line {call.line}: " if call.line else ""
        request = call_text(_without_key(call, protocol))
        yield f"- {line}{request} -> {call.status or 'no reply'} {outline(call.response)}"
        values = list(dict.fromkeys(_values(call, run)))
        yield from values[:_VALUES]
        if len(values) > _VALUES:
            yield f"    … {len(values) - _VALUES} more values"
    if len(run.calls) > _CALLS:
        yield f"- … {len(run.calls) - _CALLS} more calls"


def _without_key(call: CallRecord, protocol: Protocol) -> CallRecord:
    """A call without its idempotency key, which is chance."""
    parameters = protocol.tool(call.tool).parameters if call.tool is not None and call.tool in protocol else ()
    keys = {parameter.argument for parameter in parameters if parameter.is_idempotency_key}
    return replace(call, arguments={name: value for name, value in call.arguments.items() if name not in keys})


def _values(call: CallRecord, run: Run) -> Iterator[str]:
    """The values of a reply that were printed, or that decided what was."""
    for source in run.provenance.printed if run.provenance else ():
        value = lookup(call.response, source.path) if source.call == call.index else None
        if isinstance(value, str | int | float):
            how = " (decided)" if source.how == "decided" else ""
            yield f"    {subscripts(source.path)} = {cut(json.dumps(value, ensure_ascii=False), _VALUE, '…')}{how}"
