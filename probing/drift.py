"""Find the changes of a service since its document was written, by running its usage programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from jsonschema import ValidationError

from probing.prober.prober import Prober
from probing.strip_responses import strip_responses
from protocols.bounded import validator_class
from protocols.errors import APIError, LimitReached
from protocols.json_path import Step, subscripts
from protocols.model import Protocol, Tool
from sandbox import Sandbox

__all__ = ["ContractChange", "detect_drift", "fields_of", "has_field", "is_breaking"]

_SYNTAX_KEYWORDS = frozenset({"pattern", "format"})
ChangeKind = Literal["gone", "missing", "changed", "new"]


@dataclass(frozen=True, slots=True)
class ContractChange:
    """One difference between service and document.

    `gone`: the tool returns only errors; `missing`: a required field; `changed`: a value that is not allowed; `new`: an
    undocumented field or status.
    """

    tool: str
    kind: ChangeKind
    where: str
    text: str


def is_breaking(change: ContractChange) -> bool:
    """True if a correct program may fail now."""
    return change.kind != "new"


def detect_drift(
    document: Protocol,
    usage: Mapping[str, str],
    sandbox: Sandbox,
    on_try: Callable[[str, str], None] = lambda tool, program: None,
    budget: int | None = None,
) -> list[ContractChange]:
    """The changes of a service since its document was written; nothing is written.

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
    called = [finding for finding in prober.findings.values() if finding.requests]
    if not called:
        raise APIError("no call could be sent: check --base-url, and that the document has tools that read")
    if not any(finding.status or finding.statuses for finding in called):
        why = next(iter(prober.observations.unanswered.values()), "no reply")
        raise APIError(f"the service cannot be reached: {why}; check the base URL (--base-url)")
    if all(not finding.is_complete and set(finding.statuses) <= {"401", "403"} for finding in called):
        raise APIError("the service refuses the credentials; check --auth KIND:SOURCE")
    changes: dict[ContractChange, None] = {}
    for tool in document.tools:
        finding = prober.findings[tool.name]
        answered = tool.name in usage
        changes.update(
            dict.fromkeys(_statuses(tool, finding.requests, finding.is_complete or not answered, finding.statuses))
        )
        schema = tool.success.schema if tool.success is not None else None
        if schema is not None:
            bodies = prober.observations.bodies.get(tool.name, [])
            changes.update(dict.fromkeys(_bodies(tool.name, document.standalone(schema), bodies)))
    return list(changes)


def _statuses(tool: Tool, requests: int, works: bool, statuses: Mapping[str, str]) -> Iterator[ContractChange]:
    documented = {response.status for response in tool.responses}
    if requests and not works and any(status.startswith("2") for status in documented):
        problems = "; ".join(f"{status}: {text}" for status, text in statuses.items())
        yield ContractChange(tool.name, "gone", "", problems or "it does not answer")
        return
    for status, text in statuses.items():
        if not documented & {status, f"{status[0]}XX", "default"}:
            yield ContractChange(tool.name, "new", f"status {status}", text)


def _bodies(tool: str, schema: Mapping[str, object], bodies: Sequence[object]) -> Iterator[ContractChange]:
    validator = validator_class()(dict(schema))
    for body in bodies:
        for error in map(_deepest_cause, validator.iter_errors(body)):
            if error.validator in _SYNTAX_KEYWORDS:  # redacted values may differ in detail
                continue
            where = tuple(0 if isinstance(step, int) else str(step) for step in error.absolute_path)
            if error.validator == "required":
                for key in error.validator_value if isinstance(error.validator_value, list) else ():
                    if isinstance(error.instance, Mapping) and key not in error.instance:
                        yield ContractChange(tool, "missing", subscripts((*where, key)), "documented as always there")
            else:
                yield ContractChange(tool, "changed", subscripts(where), _describe(error))
        new = [path for path in fields_of(body) if not has_field(schema, path, schema)]
        for path in sorted(new, key=repr):
            if not any(path[:length] in new for length in range(1, len(path))):  # its parent is new, too
                yield ContractChange(tool, "new", subscripts(path), "not documented")


def _deepest_cause(error: ValidationError) -> ValidationError:
    """The error in the best fitting variant."""
    while error.context:
        error = max(error.context, key=lambda cause: len(cause.absolute_path))
    return error


def _describe(error: ValidationError) -> str:
    """The problem of a value, without the value."""
    if error.validator == "type":
        return f"documented as {error.validator_value}, is {type(error.instance).__name__}"
    return f"does not hold any more: {error.validator} {str(error.validator_value)[:80]}"


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
