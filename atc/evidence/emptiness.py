"""Facts about answers that hold nothing of a reply: an empty search, or a comparison that no value could pass."""

from __future__ import annotations

from atc.evidence.finding import Finding, name_of
from atc.evidence.traced_run import TracedRun, lists_in

__all__ = ["nothing_found"]

_NOTHING: tuple[object, ...] = (None, "", [], {}, False, 0)


def nothing_found(traced: TracedRun) -> Finding | None:
    """No value of a reply is printed, and a call behind the answer was asked for something and returned no items."""
    if holds_data(traced):
        return None
    for call in traced.good_calls:
        lists = [items for _, items, _ in lists_in(traced.response(call))]
        is_behind = call.index in traced.contributing_calls or call.line in traced.lines_behind_output
        if is_behind and call.arguments and lists and not any(lists):
            asked = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())[:120]
            return Finding.of_call("NothingFound", f"nothing was found by {name_of(call)}({asked})", call)
    return None


def holds_data(traced: TracedRun) -> bool:
    """True if a printed value is, or was made from, a value of a reply that is not empty."""
    values = map(traced.value_of, traced.data_sources)
    return any(value not in _NOTHING for value in values)
