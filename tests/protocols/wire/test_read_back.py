"""What a program passes is what a service reads: random operations of every style, location and media type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from protocols import Tool, ToolError, load
from sandbox import Broker, Limits
from tests.protocols.wire.random_operations import RandomOperation, random_document
from tests.protocols.wire.service import Arrived, Service
from tests.protocols.wire.wire_reader import ABSENT, Place, read_request

OPERATIONS = 1000
REFUSED_SHARE = 0.1
LIMITS = Limits(calls=10_000, traffic=2**31, request_timeout=30)


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_a_service_reads_what_a_program_passed(service: Service, tmp_path: Path, version: str) -> None:
    """Random operations are sent and read back equal, or refused by the name of what their style cannot write."""
    made = random_document(1, version, OPERATIONS)
    file = tmp_path / "random.json"
    file.write_text(json.dumps(made.document), encoding="utf-8")
    protocol = load(str(file))
    tools = {(tool.method.lower(), tool.path): tool for tool in protocol.tools}
    broker = Broker(protocol, base_url=service.url, limits=LIMITS)
    refused, different = 0, []
    try:
        for call in made.operations:
            tool = tools[call.method, call.path]
            refusal = _send(broker, tool, call.passed, service)
            refused += bool(refusal)
            problem = (
                _unnamed(call, tool, refusal) if refusal else _difference(made.document, call, service.arrived[-1])
            )
            different += [f"{call.path} {problem}"] * bool(problem)
    finally:
        broker.close()

    assert different == []
    assert refused <= REFUSED_SHARE * OPERATIONS


def _send(broker: Broker, tool: Tool, passed: Mapping[Place, object], service: Service) -> str:
    """Call a tool with values by place, a second time where that is asked for; the refusal if nothing is sent."""
    names: dict[Place, str] = {(argument.location, argument.name): argument.argument for argument in tool.arguments}
    keywords = {names.get(place, "body" if place == ("body", "") else str(place)): passed[place] for place in passed}
    before, refusal = len(service.arrived), ""
    for _ in range(2):
        try:
            broker.call(tool.name, (), keywords)
        except ToolError as error:
            refusal = str(error)
        if len(service.arrived) > before:
            return ""
        if "same call again" not in refusal:
            break
    return refusal


def _unnamed(call: RandomOperation, tool: Tool, refusal: str) -> str:
    """The refusal, if it names no argument that the style may not be able to write."""
    arguments: dict[Place, str] = {(argument.location, argument.name): argument.argument for argument in tool.arguments}
    words = {word for pair in re.findall(r"'([^']*)'|\"([^\"]*)\"", refusal) for word in pair}
    return "" if any({place[1], arguments.get(place)} & words for place in call.risks) else f"refused: {refusal}"


def _difference(document: Mapping[str, Any], call: RandomOperation, request: Arrived) -> str:
    """What was read otherwise than it was passed."""
    passed: dict[Place, Any] = {place: value for place, value in call.passed.items() if place[0] != "body"}
    fields = {name: value for (location, name), value in call.passed.items() if location == "body" and name}
    passed["body", ""] = call.passed.get(("body", ""), fields or ABSENT)
    try:
        values = read_request(document, call.path, request)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return f"{type(error).__name__} {error}; {request}"
    if passed["body", ""] is ABSENT and values["body", ""] in ({}, b""):
        values["body", ""] = ABSENT
    for place in passed.keys() | values.keys():
        if repr(passed.get(place)) != repr(values.get(place)) and not _equal(passed.get(place), values.get(place)):
            return f"{place}: passed {passed.get(place)!r}, read {values.get(place)!r}; {request}"
    return _encoded(call, request)


def _equal(mine: Any, theirs: Any) -> bool:
    """Equal JSON: True is not 1."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(_equal(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) == len(theirs) and all(map(_equal, mine, theirs))
    return isinstance(mine, bool) == isinstance(theirs, bool) and bool(mine == theirs)


def _encoded(call: RandomOperation, request: Arrived) -> str:
    """Where `allowReserved` was not followed: a reserved character that was percent-encoded all the same."""
    pairs = [piece.partition("=") for piece in request.query.split("&")]
    for place in call.raw:
        text = "".join(text for name, _, text in pairs if unquote(name) == place[1]).upper()
        if encoded := [char for char in ":/?@!$'()*" if quote(char, safe="") in text]:
            return f"{place}: {encoded} percent-encoded in {text}"
    return ""
