"""Compare inferred responses with the truth that was hidden from the prober."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal

from jsonschema import Draft202012Validator

from probing.document import schema_of
from probing.prober.findings import ToolFinding
from probing.prober.observations import Observations
from probing.schema.infer import MIN_SAMPLES
from protocols.contracts.contract import Contract, ValueType
from protocols.json_path import Step, subscripts
from protocols.model import Protocol, Response
from protocols.simulator import Simulator
from sandbox import CallRecord, Sandbox

__all__ = [
    "evaluate",
    "field_agreement",
    "field_paths",
    "fields_of",
    "fresh_bodies",
    "has_field",
    "mutation_score",
    "presence_accuracy",
    "schema_validity",
]

_WORLDS = 3
"""Simulated worlds to compare with, besides the probed one."""


def field_agreement(
    truth: Protocol, inferred_protocol: Protocol, findings: Mapping[str, ToolFinding]
) -> dict[str, object]:
    """The agreement of documented tools' responses with the truth, in percent over all fields.

    `precision`: of the inferred fields, those in the truth (its schema, united with its examples). `coverage`: of the
    true fields, those inferred. `types`: of the common fields, those with the same type. `invented` lists at most 20
    fields that the truth lacks.
    """
    true_contract, inferred_contract = Contract(truth), Contract(inferred_protocol)
    ours = theirs = common = alike = 0
    invented: list[str] = []
    for name, finding in findings.items():
        true_shape, seen_shape = true_contract.body(name), inferred_contract.body(name)
        if finding.outcome != "documented" or true_shape is None or seen_shape is None:
            continue
        true_types, inferred_types = dict(field_paths(true_shape)), dict(field_paths(seen_shape))
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


def evaluate(
    truth: Protocol,
    observations: Observations,
    seed: int,
    schema: Literal["full", "paper"] = "full",
    *,
    fresh: bool,
    worlds: int = _WORLDS,
) -> dict[str, object]:
    """All figures: those of the fields, and with `fresh` those in simulated worlds of other seeds."""
    findings = {
        name: replace(finding, schema=schema_of(finding, schema)) for name, finding in observations.findings.items()
    }
    figures = field_agreement(truth, with_found_schemas(truth, findings), findings)
    if not fresh:
        return figures
    bodies = fresh_bodies(truth, findings, seed, worlds)
    figures |= schema_validity(findings, bodies) | presence_accuracy(findings, observations.bodies, bodies)
    return figures | mutation_score(findings, bodies, seed)


def with_found_schemas(truth: Protocol, findings: Mapping[str, ToolFinding]) -> Protocol:
    """A protocol with the inferred responses only."""
    tools = []
    for tool in truth.tools:
        schema = findings[tool.name].schema if tool.name in findings else None
        responses = (Response("200", "", "application/json", schema, ()),) if schema is not None else ()
        tools.append(replace(tool, responses=responses))
    return replace(truth, tools=tuple(tools))


def fresh_bodies(
    truth: Protocol, findings: Mapping[str, ToolFinding], seed: int, worlds: int = _WORLDS
) -> dict[str, list[object]]:
    """Responses of documented tools in other simulated worlds, by running their usage programs there."""
    bodies: dict[str, list[object]] = defaultdict(list)

    def keep(call: CallRecord) -> None:
        if call.tool is not None and call.status is not None and call.status < 300 and call.response not in (None, ""):
            bodies[call.tool].append(call.response)

    for number in range(1, worlds + 1):
        with (
            Simulator(truth, seed=seed + number) as world,
            Sandbox(truth, base_url=world.url, credentials=world.credentials, track=False, on_call=keep) as sandbox,
        ):
            for program in dict.fromkeys(finding.program for finding in findings.values() if finding.program):
                sandbox.run(program)
    return bodies


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def schema_validity(findings: Mapping[str, ToolFinding], bodies: Mapping[str, Sequence[object]]) -> dict[str, object]:
    """The validity of the schemas for responses that they were not inferred from, in percent.

    `recall`: of the fields sent, those in the schema. `valid`: of the responses, those that validate.
    """
    came = matched = valid = answers = 0
    for name, answers_of_tool in bodies.items():
        schema = findings[name].schema
        if schema is None:
            continue
        validator = Draft202012Validator(dict(schema))
        for body in answers_of_tool:
            answers += 1
            valid += validator.is_valid(body)
            for path in fields_of(body):
                came += 1
                matched += has_field(schema, path, schema)
    return {
        "fresh": answers,
        "recall": _percent(matched, came),
        "valid": _percent(valid, answers),
    }


def presence_accuracy(
    findings: Mapping[str, ToolFinding], probed: Mapping[str, Sequence[object]], fresh: Mapping[str, Sequence[object]]
) -> dict[str, object]:
    """`marks`: of the fields that the probe saw three times, those with correct `required` and null, in percent.

    Correct is what holds in all responses together.
    """
    right = fields = 0
    for name, finding in findings.items():
        if finding.schema is None:
            continue
        probed_objects = _objects_by_path(probed.get(name, ()))
        for path, objects in _objects_by_path((*probed.get(name, ()), *fresh.get(name, ()))).items():
            schema = _schema_at(finding.schema, path)
            for key in schema.get("properties", {}) if schema is not None else ():
                came = [value[key] for value in objects if key in value]
                if sum(key in value for value in probed_objects.get(path, ())) < MIN_SAMPLES or schema is None:
                    continue
                fields += 1
                always = key in schema.get("required", ())
                nullable = _takes_null(schema["properties"][key])
                right += always == (len(came) == len(objects)) and nullable == (None in came)
    return {"marks": _percent(right, fields)}


def mutation_score(
    findings: Mapping[str, ToolFinding], fresh: Mapping[str, Sequence[object]], seed: int
) -> dict[str, object]:
    """`caught`: of mutated responses, those that do not validate, in percent.

    Each response is mutated twice: an always present key is removed, and a value gets another type.
    """
    chance = random.Random(seed)
    caught = count = 0
    for name, bodies in fresh.items():
        schema = findings[name].schema
        if schema is None:
            continue
        validator = Draft202012Validator(dict(schema))
        places = _objects_by_path(bodies)
        certain = {
            (path, key)
            for path, objects in places.items()
            for key in objects[0]
            if all(key in value for value in objects)
        }
        for body in bodies:
            for spoiled in _mutated(body, certain, chance):
                count += 1
                caught += not validator.is_valid(spoiled)
    return {"mutants": count, "caught": _percent(caught, count)}


def _mutated(
    body: object, certain: Collection[tuple[tuple[Step, ...], str]], chance: random.Random
) -> Iterator[object]:
    """A body without one of its always present keys, and one with a value of another type."""
    for kind in ("removed", "changed"):
        copy = deepcopy(body)
        keys = [
            (value, key)
            for path, objects in _objects_by_path([copy]).items()
            for value in objects
            for key in value
            if (kind == "changed" and value[key] is not None) or (path, key) in certain
        ]
        if keys:
            value, key = chance.choice(keys)
            if kind == "removed":
                del value[key]
            else:
                value[key] = [value[key]] if isinstance(value[key], str) else "spoiled"
            yield copy


def _objects_by_path(bodies: Iterable[object]) -> dict[tuple[Step, ...], list[dict[str, Any]]]:
    """The objects in bodies by path; 0 stands for any item of a list."""
    places: dict[tuple[Step, ...], list[dict[str, Any]]] = defaultdict(list)
    pending: list[tuple[tuple[Step, ...], object]] = [((), body) for body in bodies]
    while pending:
        path, body = pending.pop()
        if isinstance(body, list):
            pending += [((*path, 0), item) for item in body]
        elif isinstance(body, dict):
            places[path].append(body)
            pending += [((*path, str(key)), part) for key, part in body.items()]
    return places


def _schema_at(schema: Mapping[str, Any], path: tuple[Step, ...]) -> Mapping[str, Any] | None:
    """The schema at a path; None if it has variants, or if its keys are data."""
    for step in path:
        inner = schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step)
        if not isinstance(inner, Mapping):
            return None
        schema = inner
    return schema


def _takes_null(schema: Mapping[str, Any]) -> bool:
    return Draft202012Validator(dict(schema)).is_valid(None)


def fields_of(body: object, path: tuple[Step, ...] = ()) -> set[tuple[Step, ...]]:
    """The fields of a body; 0 stands for any item of a list."""
    if isinstance(body, list):
        return {field for item in body for field in fields_of(item, (*path, 0))}
    if not isinstance(body, Mapping):
        return set()
    inner = {field for key, part in body.items() for field in fields_of(part, (*path, str(key)))}
    return inner | {(*path, str(key)) for key in body}


def has_field(schema: object, path: tuple[Step, ...], root: Mapping[str, object]) -> bool:
    """True if a schema has a field, in one of its variants; `root` resolves references."""
    if not path:
        return True
    if not isinstance(schema, Mapping):
        return schema is True
    target = schema.get("$ref")
    if isinstance(target, str):
        inner: object = root
        for part in target.removeprefix("#/").split("/"):
            inner = inner.get(part) if isinstance(inner, Mapping) else None
        return has_field(inner, path, root)
    for key in ("anyOf", "oneOf", "allOf"):
        variants = schema.get(key)
        if isinstance(variants, list) and any(has_field(variant, path, root) for variant in variants):
            return True
    if isinstance(path[0], int):
        return "items" in schema and has_field(schema["items"], path[1:], root)
    properties, additional = schema.get("properties"), schema.get("additionalProperties")
    if isinstance(properties, Mapping) and path[0] in properties:
        return has_field(properties[path[0]], path[1:], root)
    return additional is True or (isinstance(additional, Mapping) and has_field(additional, path[1:], root))


def field_paths(shape: ValueType, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Every field of a response with its type; 0 stands for any item of a list."""
    if shape.kind == "list" and shape.item is not None:
        yield from field_paths(shape.item, (*path, 0))
    for name, key in shape.keys.items():
        yield (*path, name), key.type.kind
        yield from field_paths(key.type, (*path, name))


def _is_under_open(path: tuple[Step, ...], shape: ValueType) -> bool:
    """True if a field lies in an object that may hold anything."""
    for step in path:
        if shape.kind == "any" or (shape.kind == "object" and shape.open and step not in shape.keys):
            return True
        if isinstance(step, int):
            if shape.item is None:
                return True
            shape = shape.item
        elif step in shape.keys:
            shape = shape.keys[step].type
        else:
            return False
    return False


def _types_agree(first: str, second: str) -> bool:
    """True if one type contains the other."""
    return first == second or "any" in (first, second) or {first, second} == {"int", "float"}
