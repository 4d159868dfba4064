"""What the calls of a probe showed: responses, identifiers, and the finding of each tool.

All of it is redacted first. With a log, each call and each finding is appended to a file at once, so that an
interrupted probe resumes from it. The log holds true identifiers, for removal, so only its owner may read it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from atc.files import append_line, cut_unfinished, read_lines
from probing.prober.findings import ToolFinding
from probing.prober.identifiers import is_value, linked_identifiers, name_reference, noun_of_path, reference_of
from probing.prober.observed_values import ObservedValues
from probing.prober.permission import CreatedObject
from probing.prober.replies import error_in_success, error_message, is_empty, names_in, page_title
from probing.redact.documented import DocumentedValue, documented_arguments, documented_reply
from probing.redact.redact import Redactor
from probing.schema.constraints import ObservedCall, infer_constraints, missing_arguments
from probing.schema.infer import infer, is_trivial
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import IdentifierReference
from protocols.errors import UsageError
from protocols.model import Protocol, Response, Tool
from protocols.text.words import is_identifier
from sandbox import CallRecord
from sandbox.body_store import LargeBody

__all__ = ["Observations"]

_MAX_BODIES = 40
"""Bodies kept per tool."""
_DERIVED_FIELDS = ("schema", "example", "constraints", "refused")
"""Fields of a finding that are derived from calls, and not logged."""
_EXAMPLE_ITEMS = 3
"""Items of a list in an example."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_MAX_ITEMS = 100
"""Items kept of each list in a body that is too large for a call record."""

IdentifierGroup: TypeAlias = tuple[tuple[IdentifierReference, object], ...]
"""Identifiers observed together: of an entity and of those that contain it."""


class Observations:
    """All knowledge of a probe so far: `findings` by tool, `names` of entities in order of appearance.

    Args:
        log: A log of JSON lines; an existing one is read first.
        service: A description of the service and login: objects created at one service are not removed from another.
        documentation: The protocol with its responses, which say what is secret, where `protocol` hides them.
    Raises: UsageError: The log is of another document or service, or no log.
    """

    def __init__(
        self,
        protocol: Protocol,
        log: Path | None = None,
        seed: int = 0,
        service: str = "",
        documentation: Protocol | None = None,
    ) -> None:
        self.protocol = protocol
        self._documentation = documentation or protocol
        self._documented: dict[tuple[str, int | None], DocumentedValue] = {}
        self.findings = {tool.name: ToolFinding(tool.name) for tool in protocol.tools}
        self.bodies: dict[str, list[object]] = {}
        self._calls: dict[str, list[ObservedCall]] = {}
        self.names: dict[str, None] = {}
        self._names_of: dict[str, dict[str, None]] = {}
        self.values = ObservedValues(protocol)
        self.missing: dict[str, dict[str, None]] = {}
        self.identifier_groups: dict[IdentifierGroup, str] = {}
        graph = ProtocolGraph(protocol)
        names = [name_reference(tool, argument, graph) for tool in protocol.tools for argument in tool.arguments]
        self._name_attributes = frozenset(reference.attribute for reference in names if reference is not None)
        self.unanswered: dict[str, str] = {}
        self.requests = 0
        self.created: list[CreatedObject] = []
        self.unremovable: list[str] = []
        self._service = service
        self._log: Path | None = None
        lines = 0
        if log is not None:
            for place, data in read_lines(log):
                lines += 1
                self._load_line(place, data, first=lines == 1)
        self._redactor = Redactor(seed + lines)  # no replacement may be used for two values
        if log is not None:
            self._log = log
            cut_unfinished(log)
            if not lines:
                self._write({"protocol": protocol.digest, "service": service})

    @property
    def observed_protocol(self) -> Protocol:
        """The protocol with inferred responses; documented ones stay."""
        tools = []
        for tool in self.protocol.tools:
            bodies = self.bodies.get(tool.name)
            success = tool.success
            if bodies and (success is None or success.status == "default" or is_trivial(success.schema)):
                observed = Response("200", "as observed", "application/json", infer(bodies), (bodies[0],))
                documented = [item for item in tool.responses if item is not success or item.status == "default"]
                tool = replace(tool, responses=(observed, *documented))
            tools.append(tool)
        return replace(self.protocol, tools=tuple(tools))

    @property
    def complete(self) -> list[str]:
        """The tools of which nothing is left to learn."""
        return [name for name, finding in self.findings.items() if finding.is_complete]

    @property
    def tokens(self) -> int:
        """The tokens that a model has read and written."""
        return sum(finding.prompt_tokens + finding.completion_tokens for finding in self.findings.values())

    def record(self, call: CallRecord) -> None:
        """Add a call."""
        if call.tool is None or not call.attempts:
            return
        raw = _json_safe(_loaded(call.response))
        tool = self._documentation.tool(call.tool)
        noun = noun_of_path(tool.path)
        if (tool.name, call.status) not in self._documented:
            self._documented[tool.name, call.status] = documented_reply(self._documentation, tool, call.status)
        if (tool.name, 0) not in self._documented:
            self._documented[tool.name, 0] = documented_arguments(self._documentation, tool)
        reply, taken = self._documented[tool.name, call.status], self._documented[tool.name, 0]
        body = self._redactor.body(raw, reply, noun)
        arguments = self._redactor.body(_json_safe(dict(call.arguments)), taken, noun)
        if call.status is None:
            problem = call.error or "no reply"
        elif call.status >= 300:
            problem = error_message(body, call.error)
        else:
            if _is_documented_page(self.protocol.tool(call.tool)) and (title := page_title(raw)) is not None:
                raw = f"<title>{title}</title>"
                body = self._redactor.body(raw)
                problem = ""
            else:
                problem = error_in_success(body) or call.error or ""
            self._add_names(call.tool, raw)
            if not problem:
                self.values.add(self.protocol.tool(call.tool), call.arguments, raw)
        if call.status is None or call.status >= 300 or problem:
            body = _shortened(body, _EXAMPLE_ITEMS)
        problem = self.redact(problem)
        self._add_call(call.tool, call.status, body, problem, dict(arguments), call.attempts)  # type: ignore[call-overload]

    def add_usage(self, tool: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Add the cost of a question to a model."""
        finding = self.findings[tool]
        finding.prompt_tokens += prompt_tokens
        finding.completion_tokens += completion_tokens
        self._write({"asked": tool, "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens})

    def finish(self, finding: ToolFinding, question: str, program: str) -> None:
        """Add the program that completed a tool."""
        finding.question, finding.program = self.redact(question), self.redact(program)
        self._write({"finding": _as_data(finding)})

    def save_created(self, created: Sequence[CreatedObject], lost: Sequence[str]) -> None:
        """Log the objects to remove, and those that cannot be removed."""
        self.created, self.unremovable = list(created), list(lost)
        self._write({"made": [asdict(created_object) for created_object in self.created], "lost": self.unremovable})

    def names_for(self, tool: Tool) -> list[str]:
        """Search terms for a tool: names of its own entity, then of others."""
        own = self._names_of.get(noun_of_path(tool.path), {})
        return list({**own, **self.names})

    def _add_names(self, tool: str, body: object) -> None:
        names = dict.fromkeys(names_in(body))
        self.names.update(names)
        self._names_of.setdefault(noun_of_path(self.protocol.tool(tool).path), {}).update(names)

    def redact(self, text: str) -> str:
        """A text without secret or personal values."""
        return self._redactor.text(_SURROGATE.sub("�", text))

    def identifiers(
        self, references: Collection[IdentifierReference], path: str = ""
    ) -> Iterator[Mapping[IdentifierReference, object]]:
        """Observed values of identifiers that belong together.

        Those from similar paths come first: a task run and a flow run are both runs.
        """
        fixed = _fixed_segments(path)
        paths = self.identifier_groups
        for group in sorted(paths, key=lambda group: -len(fixed & _fixed_segments(paths[group]))):
            values = dict(group)
            if all(reference in values for reference in references):
                yield {reference: values[reference] for reference in references}

    def summarize(self, name: str) -> None:
        """Infer the schema, the example and the constraints of a tool that answered."""
        finding = self.findings[name]
        finding.constraints = infer_constraints(self.protocol.tool(name), self._calls.get(name, []))
        if bodies := self.bodies.get(name, []):
            best = min(bodies, key=lambda body: (is_empty(body), len(json.dumps(body))))
            finding.schema, finding.example = infer(bodies), self._redactor.again(_shortened(best, _EXAMPLE_ITEMS))
        again: Any = self._redactor.again  # later replies may have shown what is personal in earlier ones
        finding.refused, finding.statuses = again(finding.refused), again(finding.statuses)
        finding.program, finding.question = again(finding.program), again(finding.question)
        finding.reason = again(finding.reason)

    def _add_call(
        self, tool: str, status: int | None, body: object, problem: str, arguments: Mapping[str, object], sent: int = 1
    ) -> None:
        """Add a call; `problem` says why it has no answer, empty if it has one."""
        finding = self.findings[tool]
        calls = self._calls.setdefault(tool, [])
        if len(calls) < _MAX_BODIES:
            calls.append(ObservedCall(arguments, status, body, problem))
        finding.requests += sent
        self.requests += sent
        if status is None:
            self.unanswered[tool] = problem
        elif status >= 300 or problem:
            finding.statuses.setdefault(str(status), problem)
            finding.refused.setdefault(str(status), {"arguments": arguments, "reply": body})
            missing = missing_arguments(self.protocol.tool(tool), body, problem)
            self.missing.setdefault(tool, {}).update(dict.fromkeys(name for name in missing if name not in arguments))
        elif page_title(body) is not None:
            finding.outcome, finding.status = "web_page", str(status)
        elif body in (None, ""):
            if not finding.is_complete:
                finding.outcome, finding.status = "no_content", str(status)
        else:
            bodies = self.bodies.setdefault(tool, [])
            if len(bodies) < _MAX_BODIES:
                bodies.append(body)
            finding.status = str(status)
            if is_empty(body) and finding.outcome != "documented":
                finding.outcome = "always_empty"
            else:
                finding.outcome = "documented"
            path = self.protocol.tool(tool).path
            identifiers = {name: value for name, value in arguments.items() if is_identifier(name) and is_value(value)}
            about = {reference_of(name, ""): value for name, value in identifiers.items()}
            for group in linked_identifiers(body, noun_of_path(path), about, by=self._name_attributes):
                self.identifier_groups.setdefault(tuple(group.items()), path)
        self._write({"tool": tool, "status": status, "body": body, "told": problem, "given": arguments, "sent": sent})

    def _write(self, data: Mapping[str, object]) -> None:
        if self._log is not None:
            append_line(self._log, json.dumps(data))

    def _load_line(self, place: str, data: Any, *, first: bool) -> None:
        """Restore a line of the log. Raises: UsageError."""
        try:
            match data:
                case {"protocol": digest, "service": service} if first:
                    if digest != self.protocol.digest:
                        raise UsageError(f"{place} is of a probe of another document; remove the file to begin anew")
                    if service != self._service:
                        message = f"{place} is of a probe of {service or 'another service'}, and not of {self._service}"
                        raise UsageError(f"{message}; go on there, or remove the file to begin anew")
                case {"made": made, "lost": lost} if not first:
                    self.created, self.unremovable = [CreatedObject(**item) for item in made], list(lost)
                case {"finding": finding} if not first:
                    self._restore(ToolFinding(**finding))
                case {"asked": tool} if not first:
                    self.add_usage(tool, data["prompt_tokens"], data["completion_tokens"])
                case {"tool": tool} if not first:
                    arguments, sent = dict(data["given"]), int(data.get("sent", 1))
                    self._add_call(tool, data["status"], data["body"], data["told"], arguments, sent)
                    if not data["told"]:
                        self._add_names(tool, data["body"])
                        if data["status"] is not None and data["status"] < 300:
                            self.values.add(self.protocol.tool(tool), arguments, data["body"])
                case _:
                    raise ValueError
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{place}: no line of a probe's log; remove the file to begin anew") from None

    def _restore(self, finding: ToolFinding) -> None:
        now = self.findings[finding.tool]
        for field in fields(ToolFinding):
            if field.name not in (*_DERIVED_FIELDS, "requests", "prompt_tokens", "completion_tokens"):
                setattr(now, field.name, getattr(finding, field.name))


def _is_documented_page(tool: Tool) -> bool:
    """True if the document says that a tool answers with a page for a browser."""
    return tool.success is not None and "html" in (tool.success.media_type or "")


def _fixed_segments(path: str) -> set[str]:
    return {part for part in path.split("/") if part and part[0] != "{"}


def _as_data(finding: ToolFinding) -> dict[str, object]:
    data = asdict(finding)
    for name in _DERIVED_FIELDS:
        del data[name]
    return data


def _loaded(body: object) -> object:
    """A large body with the first items of its lists, or its first characters if it is no JSON."""
    if not isinstance(body, LargeBody):
        return body
    try:
        return _shortened(json.loads(body.read()), _MAX_ITEMS)
    except (ValueError, RecursionError, OSError):
        return body.beginning


def _json_safe(body: object) -> object:
    """A body that JSON in UTF-8 can hold: without surrogates and non-finite numbers."""
    if isinstance(body, str):
        return _SURROGATE.sub("�", body)
    if isinstance(body, float):
        return body if math.isfinite(body) else None
    if isinstance(body, list):
        return [_json_safe(part) for part in body]
    if isinstance(body, Mapping):
        return {_SURROGATE.sub("�", str(key)): _json_safe(part) for key, part in body.items()}
    return body


def _shortened(body: object, items: int) -> object:
    """A body with the first items of each list."""
    if isinstance(body, list):
        return [_shortened(item, items) for item in body[:items]]
    if isinstance(body, Mapping):
        return {key: _shortened(part, items) for key, part in body.items()}
    return body
