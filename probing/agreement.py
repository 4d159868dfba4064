"""Compare what was inferred with the truth that was hidden from the prober: which fields both have, and their types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from jsonschema import Draft202012Validator

from probing.findings import Finding
from protocols.contract import Contract, Shape
from protocols.model import Protocol
from protocols.shapes import Step
from protocols.simulator import Simulator
from sandbox import CallRecord, Sandbox

__all__ = ["agreement", "field_paths", "fresh_answers", "held_by"]

_WORLDS = 3
"""Other worlds than the probed one that answer for the comparison."""


def agreement(truth: Protocol, known: Protocol, found: Mapping[str, Finding]) -> dict[str, object]:
    """How far the responses of documented tools agree, in percent over all fields of all tools.

    `precision`: of the fields inferred, those that the truth has (its schema, united with its examples). `coverage`: of
    the fields of the truth, those that were inferred. `types`: of the fields that both have, those whose types agree.
    `invented` lists fields that the truth lacks, at most 20.
    """
    hidden, inferred = Contract(truth), Contract(known)
    ours = theirs = both = alike = 0
    invented: list[str] = []
    for name, one in found.items():
        right, left = hidden.body(name), inferred.body(name)
        if one.outcome != "documented" or right is None or left is None:
            continue
        told, seen = dict(field_paths(right)), dict(field_paths(left))
        shared = {path for path in seen if path in told or _under_open(path, right)}
        invented += [f"{name}{''.join(f'[{step!r}]' for step in path)}" for path in seen if path not in shared]
        ours, theirs, both = ours + len(seen), theirs + len(told), both + len(shared)
        alike += sum(path not in told or _agree(seen[path], told[path]) for path in shared)
        theirs += sum(path not in told for path in shared)
    return {
        "fields": ours,
        "precision": round(100 * both / ours, 1) if ours else None,
        "coverage": round(100 * both / theirs, 1) if theirs else None,
        "types": round(100 * alike / both, 1) if both else None,
        "invented": invented[:20],
    }


def fresh_answers(truth: Protocol, found: Mapping[str, Finding], seed: int) -> dict[str, list[object]]:
    """What documented tools answer in other simulated worlds: their usage programs are run there."""
    bodies: dict[str, list[object]] = defaultdict(list)

    def keep(call: CallRecord) -> None:
        if call.tool is not None and call.status is not None and call.status < 300 and call.response not in (None, ""):
            bodies[call.tool].append(call.response)

    for number in range(1, _WORLDS + 1):
        with (
            Simulator(truth, seed=seed + number) as world,
            Sandbox(truth, base_url=world.url, credentials=world.credentials, track=False, on_call=keep) as sandbox,
        ):
            for program in dict.fromkeys(one.program for one in found.values() if one.program):
                sandbox.run(program)
    return bodies


def held_by(found: Mapping[str, Finding], bodies: Mapping[str, Sequence[object]]) -> dict[str, object]:
    """How far the schemas hold for answers that they were not inferred from, in percent.

    `recall`: of the fields that came, those that the schema has. `valid`: of the answers, those that validate.
    """
    came = known = valid = answers = 0
    for name, seen in bodies.items():
        schema = found[name].schema
        if schema is None:
            continue
        validator = Draft202012Validator(dict(schema))
        for body in seen:
            answers += 1
            valid += validator.is_valid(body)
            for path in sent(body):
                came += 1
                known += _has(schema, path)
    return {
        "fresh": answers,
        "recall": round(100 * known / came, 1) if came else None,
        "valid": round(100 * valid / answers, 1) if answers else None,
    }


def sent(body: object, path: tuple[Step, ...] = ()) -> set[tuple[Step, ...]]:
    """The fields of a body, 0 standing for any item of a list."""
    if isinstance(body, list):
        return {found for item in body for found in sent(item, (*path, 0))}
    if not isinstance(body, Mapping):
        return set()
    inner = {found for key, part in body.items() for found in sent(part, (*path, str(key)))}
    return inner | {(*path, str(key)) for key in body}


def _has(schema: object, path: tuple[Step, ...]) -> bool:
    """Whether a schema has a field, in one of its variants."""
    if not path:
        return True
    if not isinstance(schema, Mapping):
        return False
    variants = schema.get("anyOf")
    if isinstance(variants, list):
        return any(_has(one, path) for one in variants)
    if isinstance(path[0], int):
        return _has(schema.get("items"), path[1:])
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    if isinstance(properties, Mapping) and path[0] in properties:
        return _has(properties[path[0]], path[1:])
    return isinstance(others, Mapping) and _has(others, path[1:])


def field_paths(shape: Shape, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Every field of a response with its kind; 0 stands for any item of a list."""
    if shape.kind == "list" and shape.item is not None:
        yield from field_paths(shape.item, (*path, 0))
    for name, key in shape.keys.items():
        yield (*path, name), key.shape.kind
        yield from field_paths(key.shape, (*path, name))


def _under_open(path: tuple[Step, ...], shape: Shape) -> bool:
    """Whether a field lies in an object of which the truth says that it may hold anything."""
    for step in path:
        if shape.kind == "any" or (shape.kind == "object" and shape.open and step not in shape.keys):
            return True
        if isinstance(step, int):
            if shape.item is None:
                return True
            shape = shape.item
        elif step in shape.keys:
            shape = shape.keys[step].shape
        else:
            return False
    return False


def _agree(one: str, other: str) -> bool:
    """Whether one type contains the other."""
    return one == other or "any" in (one, other) or {one, other} == {"int", "float"}
