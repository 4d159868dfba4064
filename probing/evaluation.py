"""A blind probe: responses are hidden from the prober, and what it infers is compared with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from probing.prober.findings import ToolFinding
from protocols.contracts.contract import Contract, ValueType
from protocols.json_path import Step, subscripts
from protocols.model import Protocol

__all__ = ["field_agreement", "strip_responses"]


def strip_responses(protocol: Protocol) -> Protocol:
    """Remove all responses, with the definitions and components that only they use."""
    tools = tuple(replace(tool, responses=()) for tool in protocol.tools)
    pending: list[object] = [argument.schema for tool in tools for argument in tool.arguments]
    pending += [tool.body.schema for tool in tools if tool.body]
    used: dict[int, object] = {}  # by identity: a named schema is the same object wherever it is used
    while pending:
        value = pending.pop()
        if id(value) in used or not isinstance(value, Mapping | list):
            continue
        used[id(value)] = value
        if isinstance(value, list):
            pending += value
            continue
        pending += value.values()
        if isinstance(target := value.get("$ref"), str):
            pending.append(protocol.definitions.get(target.rpartition("/")[2]))
    definitions, components = (
        {name: schema for name, schema in named.items() if id(schema) in used}
        for named in (protocol.definitions, protocol.components)
    )
    return replace(protocol, tools=tools, definitions=definitions, components=components)


def field_agreement(truth: Protocol, findings: Mapping[str, ToolFinding]) -> dict[str, object]:
    """The agreement of documented tools' responses with the truth, in percent over all fields.

    `precision`: of the inferred fields, those in the truth (its schema, united with its examples). `coverage`: of the
    true fields, those inferred. `types`: of the common fields, those with the same type. `invented` lists at most 20
    fields that the truth lacks.
    """
    contract = Contract(truth)
    ours = theirs = common = alike = 0
    invented: list[str] = []
    for name, finding in findings.items():
        true_shape = contract.body(name)
        if finding.outcome != "documented" or true_shape is None or finding.schema is None:
            continue
        true_types = dict(_field_paths(true_shape))
        inferred_types = dict(_field_paths(contract.type_of(finding.schema)))
        shared = {path for path in inferred_types if path in true_types or _is_under_open(path, true_shape)}
        invented += [f"{name}{subscripts(path)}" for path in inferred_types if path not in shared]
        ours, theirs, common = ours + len(inferred_types), theirs + len(true_types), common + len(shared)
        alike += sum(path not in true_types or _types_agree(inferred_types[path], true_types[path]) for path in shared)
        theirs += sum(path not in true_types for path in shared)
    return {
        "fields": ours,
        "precision": _percent(common, ours),
        "coverage": _percent(common, theirs),
        "types": _percent(alike, common),
        "invented": invented[:20],
    }


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def _field_paths(shape: ValueType, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Every field of a response with its type; 0 stands for any item of a list."""
    if shape.kind == "list" and shape.item is not None:
        yield from _field_paths(shape.item, (*path, 0))
    for name, key in shape.keys.items():
        yield (*path, name), key.type.kind
        yield from _field_paths(key.type, (*path, name))


def _is_under_open(path: tuple[Step, ...], shape: ValueType) -> bool:
    """True if a field lies in an object that may hold anything."""
    for step in path:
        if shape.kind == "any" or (shape.open and step not in shape.keys):
            return True
        if isinstance(step, str) and step not in shape.keys:
            return False
        shape = shape.at([step])
    return False


def _types_agree(first: str, second: str) -> bool:
    """True if one type contains the other."""
    return first == second or "any" in (first, second) or {first, second} == {"int", "float"}
