"""Is the answer of a task right, and is the state that it left the expected one?

A truth has `facts`, each of which an answer must state (of a list, any value), `absent` values, which it must not, or
`yes`, false where the answer is no. `changes` are the only ones that may be made: a record by its collection and id,
with the fields that are other afterwards. A record that is made has no id in the truth, and all fields but those that
the service sets; in its `free` fields anything may stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from benchmarks.tasks.references import is_correct
from benchmarks.tasks.service import ServiceData

__all__ = ["answer_faults", "state_faults"]

_UNIT = re.compile(r"(?<=\d)(?=(?:m|h|t|g|mg|cm|km|kg|hrs?|seeds)\b)", re.IGNORECASE)

Record = Mapping[str, Any]


def answer_faults(answer: str | None, truth: Record) -> list[str]:
    """What is wrong with an answer; of a task that only changes something, nothing."""
    text = _UNIT.sub(" ", (answer or "").replace("\u2212", "-"))
    faults = [f"not stated: {fact}" for fact in truth.get("facts", ()) if not is_correct(text, {"all": [fact]})]
    faults += [f"wrongly stated: {value}" for value in truth.get("absent", ()) if is_correct(text, {"all": [value]})]
    if "yes" in truth and not is_correct(text, {"yes": truth["yes"]}):
        faults.append(f"must say {'yes' if truth['yes'] else 'no'}")
    return faults


def state_faults(data: ServiceData, records: Mapping[str, Sequence[Record]], truth: Record) -> list[str]:
    """How the records that a solve left differ from the expected ones."""
    changes = list(_changes(data, records))
    faults = []
    for expected in truth.get("changes", ()):
        match = next((change for change in changes if _is_expected(change, expected)), None)
        if match is None:
            faults.append(f"not done: {expected}")
        else:
            changes.remove(match)
    return faults + [f"wrongly done: {change}" for change in changes]


def _changes(data: ServiceData, records: Mapping[str, Sequence[Record]]) -> Iterator[dict[str, Any]]:
    """Each record that is new, gone or other, in the form of a truth; fields that the service stamps are left out."""
    for collection, first in data.collections.items():
        key = first["keys"][0]
        rules = [rule for rule in data.operations.values() if rule.get("of") == collection]
        stamps = {key, *(field for rule in rules for field in rule.get("now", ()))}
        before = {record[key]: record for record in first["records"]}
        after = {record[key]: record for record in records[collection]}
        for identifier in sorted(before.keys() | after.keys(), key=str):
            old, new = before.get(identifier), after.get(identifier)
            if new is None:
                yield {"collection": collection, "id": identifier, "deleted": True}
            elif old is None:
                yield {"collection": collection, "id": None, "fields": _without(new, stamps)}
            elif old != new:
                changed = {name: value for name, value in new.items() if old.get(name) != value}
                yield {"collection": collection, "id": identifier, "fields": _without(changed, stamps)}


def _without(record: Record, names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def _is_expected(change: Record, expected: Record) -> bool:
    if any(change[name] != expected[name] for name in ("collection", "id")):
        return False
    if "deleted" in change or "deleted" in expected:
        return "deleted" in change and "deleted" in expected
    free = expected.get("free", ())
    return bool(_plain(_without(change["fields"], free)) == _plain(_without(expected["fields"], free)))


def _plain(value: Any) -> Any:
    """A value in which moments are equal whatever their zone, and texts whatever the case of their letters."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return value.strip().casefold()
    return moment.timestamp() if moment.tzinfo else value
