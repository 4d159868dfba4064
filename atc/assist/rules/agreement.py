"""Whether two runs answer alike: by the values that they took from replies and printed, or by what they wrote.

Two programs seldom print the same words, so labels and layout do not count. Where nothing printed is a value of a
reply, as with a count or a yes, the numbers and words of the output are compared.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from atc.diagnosis.provenance import lookup
from atc.evidence.finding import Finding, failed
from sandbox.records import Run

__all__ = ["SecondAnswer", "agree", "disagreement", "values_of", "writes_of"]

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_YES_NO = re.compile(r"\b(yes|no|not|none|true|false|never)\b", re.IGNORECASE)
_SHARED = 0.5
"""Share of the values of the shorter answer that two equal answers have in common."""


@dataclass(frozen=True, slots=True)
class SecondAnswer:
    """The answer of a further program: what it printed, the values that counted, and whether it agrees."""

    answer: str
    values: tuple[str, ...]
    agrees: bool


def values_of(run: Run) -> frozenset[str]:
    """The printed values of replies, folded; without one the printed numbers, or else yes and no."""
    printed = run.provenance.printed if run.provenance is not None else ()
    values = (lookup(run.calls[source.call].response, source.path) for source in printed if source.how == "exact")
    scalars = {str(value).strip().casefold() for value in values if isinstance(value, str | int | float)}
    scalars = {value for value in scalars if value and value in run.stdout.casefold()}
    if scalars:
        return frozenset(scalars)
    numbers = frozenset(number.replace(",", "") for number in _NUMBER.findall(run.stdout))
    return numbers or frozenset(word.casefold() for word in _YES_NO.findall(run.stdout))


def agree(first: Run, second: Run) -> bool:
    """True if two runs print about the same values."""
    values, further_values = values_of(first), values_of(second)
    if not values or not further_values:
        return first.stdout.split() == second.stdout.split()
    return len(values & further_values) >= _SHARED * min(len(values), len(further_values))


def writes_of(run: Run) -> Counter[str]:
    """The writes that the service accepted, as text: equal ones have equal texts."""
    calls = (call for call in run.calls if call.writes and not failed(call))
    return Counter(f"{call.tool}({json.dumps(call.arguments, sort_keys=True, default=str)})" for call in calls)


def disagreement(answers: Sequence[SecondAnswer]) -> Finding | None:
    """The finding where fewer than half of the further answers agree; None without one."""
    agreeing = sum(answer.agrees for answer in answers)
    if not answers or 2 * agreeing >= len(answers):
        return None
    contrary = next(answer.answer for answer in answers if not answer.agrees)
    shortened = " ".join(contrary.split())[:80]
    message = f"{len(answers) - agreeing} of {len(answers)} further programs answer otherwise, such as {shortened!r}"
    return Finding("Disagreement", message)
