"""What calls told of the tools: their answers, the values in them, and how each tool does.

Everything that is kept goes through a Scrubber first. With a log each call and each finding is a line in a file as soon
as it is known, so that a probe that was cut off goes on where it was.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TypeAlias

from probing.findings import Finding
from probing.infer import infer
from probing.permission import Made
from probing.replies import disguised, is_hollow, names_in, said
from probing.scrub import Scrubber
from protocols.errors import UsageError
from protocols.graph import Want, attribute_of, noun_of_identifier
from protocols.model import Protocol, Response
from protocols.words import WRAPPERS, is_identifier, noun_of
from sandbox import CallRecord

__all__ = ["Learned"]

_KEPT = 40
"""Bodies of a tool that are kept to learn from."""
_VALUES = 8
"""Things of a list whose identifiers are kept to ask with."""
_SHOWN = 3
"""Items of a list in an example."""
_PARAMETER = re.compile(r"\{[^{}]*\}")

Record: TypeAlias = tuple[tuple[Want, object], ...]
"""Identifiers that were seen together: of a thing and of those that it is in."""


class Learned:
    """What is known so far. `found` is by tool, `names` are what things are called, in the order of their appearance.

    Args:
        log: A file of what was learned, one JSON object a line; an existing one is read first.
    Raises: UsageError: The log is of another document, or holds something else.
    """

    def __init__(self, protocol: Protocol, log: Path | None = None, seed: int = 0) -> None:
        self.protocol = protocol
        self.found = {tool.name: Finding(tool.name) for tool in protocol.tools}
        self.bodies: dict[str, list[object]] = defaultdict(list)
        self.hollow: set[str] = set()
        self.names: dict[str, None] = {}
        self.records: dict[Record, None] = {}
        self.unanswered: dict[str, str] = {}
        self.requests = 0
        self.made: list[Made] = []
        self._scrubber = Scrubber(seed)
        self._log: Path | None = None
        if log is not None and log.exists():
            self._read(log)
        self._log = log
        if log is not None and not log.exists():
            self._write({"protocol": protocol.digest})

    @property
    def known(self) -> Protocol:
        """The protocol with what is known of responses so far; what it says of them itself stays."""
        tools = []
        for tool in self.protocol.tools:
            bodies = self.bodies.get(tool.name)
            if bodies and (tool.success is None or tool.success.schema is None):
                seen = Response("200", "as observed", "application/json", infer(bodies), (bodies[0],))
                tool = replace(tool, responses=(seen, *(one for one in tool.responses if one.status != "200")))
            tools.append(tool)
        return replace(self.protocol, tools=tuple(tools))

    def take(self, call: CallRecord) -> None:
        """What a call says of its tool."""
        if call.tool is None or not call.attempts:
            return
        self.requests += 1
        if call.status is None:
            self.found[call.tool].requests += 1
            self.unanswered[call.tool] = self.text(call.error or "no reply")
            return
        self.names.update(dict.fromkeys(names_in(call.response)))
        self._keep(
            call.tool,
            call.status,
            self._scrubber.body(call.response),
            self.text(call.error or ""),
            {name: value for name, value in call.arguments.items() if is_identifier(name) and _is_value(value)},
        )

    def end(self, finding: Finding, question: str, program: str) -> None:
        """How a tool was found out."""
        finding.question, finding.program = self.text(question), self.text(program)
        self._write({"finding": _as_data(finding)})

    def keep_made(self, made: Sequence[Made]) -> None:
        """What is to be removed from the service now."""
        self.made = list(made)
        self._write({"made": [asdict(one) for one in made]})

    def text(self, text: str) -> str:
        """A text without what is nobody's business."""
        return self._scrubber.text(text)

    def identifiers(self, wanted: Collection[Want]) -> Iterator[Mapping[Want, object]]:
        """Values that were seen of identifiers, those of one thing and of what it is in together."""
        for record in self.records:
            held = dict(record)
            if all(want in held for want in wanted):
                yield {want: held[want] for want in wanted}

    def write_down(self) -> None:
        """Work out the schema and the example of each tool that answered."""
        for name, bodies in self.bodies.items():
            self.found[name].schema = infer(bodies)
            self.found[name].example = min(
                bodies, key=lambda body: (is_hollow(body), len(json.dumps(body, default=str)))
            )

    def _keep(self, tool: str, status: int, body: object, error: str, given: Mapping[str, object]) -> None:
        finding = self.found[tool]
        finding.requests += 1
        if status >= 300:
            finding.statuses.setdefault(str(status), said(body, error))
            body = None
        elif body in (None, ""):
            if not finding.done:
                finding.outcome, finding.status = "no_content", str(status)
        elif (wrong := disguised(body)) is not None:
            finding.statuses.setdefault(str(status), wrong)
            body = None
        else:
            if len(self.bodies[tool]) < _KEPT:
                self.bodies[tool].append(body)
            finding.status = str(status)
            if is_hollow(body) and finding.outcome != "documented":
                self.hollow.add(tool)
            else:
                self.hollow.discard(tool)
                finding.outcome = "documented"
            noun = noun_of(_PARAMETER.sub("", self.protocol.tool(tool).path))
            about = {_wanted(name, ""): value for name, value in given.items()}
            self.records.update(dict.fromkeys(tuple(one.items()) for one in _records(body, noun, about)))
        self._write({"tool": tool, "status": status, "body": body, "error": error, "given": given})

    def _write(self, data: Mapping[str, object]) -> None:
        if self._log is None:
            return
        try:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(data, ensure_ascii=False, default=str) + "\n")
        except OSError as error:
            raise UsageError(f"{self._log} cannot be written: {error.strerror or error}") from None

    def _read(self, log: Path) -> None:
        """Take what a log tells; of its last line the end may be missing."""
        lines = log.read_text("utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            try:
                data = json.loads(line)
                if "protocol" in data:
                    if data["protocol"] != self.protocol.digest:
                        raise UsageError(f"{log} is of a probe of another document; remove it to begin anew")
                elif "made" in data:
                    self.made = [Made(**one) for one in data["made"]]
                elif "finding" in data:
                    self._restore(Finding(**data["finding"]))
                else:
                    self.requests += 1
                    self._keep(data["tool"], data["status"], data["body"], data["error"], data["given"])
                    self.names.update(dict.fromkeys(names_in(data["body"])))
            except (ValueError, KeyError, TypeError):
                if number < len(lines):
                    raise UsageError(f"{log}, line {number}: no line of a probe's log; remove the file") from None
        if lines and not log.read_bytes().endswith(b"\n"):
            log.write_text("".join(f"{line}\n" for line in lines[:-1]), "utf-8")

    def _restore(self, finding: Finding) -> None:
        now = self.found[finding.tool]
        for field in fields(Finding):
            if field.name not in ("schema", "example"):
                setattr(now, field.name, getattr(finding, field.name))


def _as_data(finding: Finding) -> dict[str, object]:
    data = asdict(finding)
    del data["schema"], data["example"]
    return data


def _is_value(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _wanted(key: str, noun: str) -> Want:
    """What a key is the identifier of; a bare `id` is that of the thing it stands in."""
    return Want(noun_of_identifier(key) or noun, attribute_of(key) or "")


def _records(body: object, noun: str, about: Mapping[Want, object]) -> Iterator[Mapping[Want, object]]:
    """The identifiers of each thing in a body, together with those of what it is in."""
    if isinstance(body, list):
        for item in body[:_VALUES]:
            yield from _records(item, noun, about)
    elif isinstance(body, Mapping):
        own = {
            _wanted(str(key), noun): part for key, part in body.items() if is_identifier(str(key)) and _is_value(part)
        }
        told = {**about, **own}
        if own:
            yield told
        for key, part in body.items():
            said = noun_of(str(key))
            yield from _records(part, noun if not said or said in WRAPPERS else said, told)


def _shortened(body: object) -> object:
    """A body with the first few items of each list, as an example."""
    if isinstance(body, list):
        return [_shortened(item) for item in body[:_SHOWN]]
    if isinstance(body, Mapping):
        return {key: _shortened(part) for key, part in body.items()}
    return body
