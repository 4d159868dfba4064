"""What the operands of the operation that failed were: the value in a response, or the key that it has not."""

from __future__ import annotations

from atc.diagnosis.provenance import MissingValue, lookup
from protocols.json_path import readable_path
from protocols.quoting import one_line
from sandbox.records import CallRecord, ProgramError, Run, Source

__all__ = ["evidence"]

_KEYS = 14
_MAX_KEY = 80
"""Characters of a key of a reply; a longer one is no name."""


def evidence(run: Run) -> tuple[str, ...]:
    """Facts about the operands of the failing operation, nearest first.

    `GET_credits → crew[3] has no 'department'; its keys are …`. Empty when no response was involved, or unknown.
    """
    if run.provenance is None or run.error is None:
        return ()
    facts = (_fact(run.calls[source.call], source, run.error) for source in run.provenance.fault)
    return tuple(dict.fromkeys(facts))


def _fact(call: CallRecord, source: Source, error: ProgramError) -> str:
    if call.status is None or call.status >= 400:
        return f"{call.tool or call.url} was not answered with data: {call.error}"
    name = call.tool or f"{call.method} {call.url}"
    value = lookup(call.response, source.path)
    if isinstance(value, MissingValue):
        path = source.path
        while path and isinstance(lookup(call.response, path), MissingValue):
            path = path[:-1]
        return f"{name} → {readable_path(path)} has no {value.step!r}; {_described_keys(value.parent)}"
    where = f"{name} → {readable_path(source.path)}"
    if error.type == "KeyError" and isinstance(value, dict) and (key := error.message.strip("'\"")) not in value:
        return f"{where} has no {key!r}; {_described_keys(value)}"
    return f"{where} is {_described(value)}"


def _described_keys(value: object) -> str:
    return f"its keys are {_listed_keys(value) or 'none'}" if isinstance(value, dict) else f"it is {_described(value)}"


def _listed_keys(value: dict[str, object]) -> str:
    return ", ".join(one_line(str(key), _MAX_KEY) for key in list(value)[:_KEYS])


def _described(value: object) -> str:
    match value:
        case dict() | list() if not value:
            return f"an empty {'object' if isinstance(value, dict) else 'list'}"
        case dict():
            return f"an object with the keys {_listed_keys(value)}"
        case list():
            return f"a list of {len(value)} items"
        case str():
            return f"the text {value[:60]!r}" + "…" * (len(value) > 60)
    return repr(value)
