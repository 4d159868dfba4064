"""What a program passes is what a service reads: random operations of every style, location and media type."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote, unquote

from benchmarks.micro.wire import Exchange, Place, RequestRecorder, differences, exchange, recorder
from benchmarks.micro.wire_reader import WireReader
from protocols import Tool, load
from sandbox import Broker, Limits
from tests.protocols.wire.random_operations import RandomOperation, random_document

VERSIONS = ("3.0.3", "3.1.0", "2.0")
OPERATIONS = 2001
REFUSED_SHARE = 0.1
LIMITS = Limits(calls=10_000, traffic=2**31, request_timeout=30)


class Outcome:
    """How many operations were read back equal or refused with a reason that counts, and what differed."""

    def __init__(self) -> None:
        self.equal = self.refused = 0
        self.different: list[str] = []

    def add(self, version: str, call: RandomOperation, tool: Tool, result: Exchange) -> None:
        """Sort one call."""
        differing = _differences(call, tool, result)
        sent = result.request and f"{result.request.target} {result.request.headers} {result.request.body[:200]!r}"
        self.different += [f"{version} {call.path} {place}: {text}; {sent}" for place, text in differing.items()]
        self.refused += bool(result.refusal) and not differing
        self.equal += not result.refusal and not differing


def _named(call: RandomOperation, tool: Tool, refusal: str) -> list[Place]:
    """The places at risk whose arguments a refusal names."""
    arguments: dict[Place, str] = {(argument.location, argument.name): argument.argument for argument in tool.arguments}
    words = set(re.findall(r"'([^']*)'|\"([^\"]*)\"", refusal))
    names = {word for pair in words for word in pair}
    return [place for place in call.risks if {place[1], arguments.get(place)} & names]


def _differences(call: RandomOperation, tool: Tool, result: Exchange) -> dict[Place, str]:
    differing = dict.fromkeys(result.missing, "no argument for it")
    if result.refusal:
        if not differing and not _named(call, tool, result.refusal):
            names = [place for place in call.passed if place[1] and place[1] in result.refusal.partition("()")[2]]
            differing[(names or [("body", "")])[0]] = f"refused: {result.refusal[:200]}"
        return differing
    assert result.reading is not None
    passed = {place: value for place, value in call.passed.items() if place not in differing}
    return differing | differences(passed, result.reading) | _encoded(call, result)


def _encoded(call: RandomOperation, result: Exchange) -> dict[Place, str]:
    """Where `allowReserved` was not followed: a reserved character that was percent-encoded all the same."""
    assert result.request is not None
    pairs = [piece.partition("=") for piece in result.request.target.partition("?")[2].split("&")]
    texts = {place: "".join(text for name, _, text in pairs if unquote(name) == place[1]) for place in call.raw}
    return {
        place: f"{char} is percent-encoded in {text}"
        for place, text in texts.items()
        for char in ":/?@!$'()*"
        if quote(char, safe="") in text.upper()
    }


def _try_all(server: RequestRecorder, folder: Path, version: str, seed: int, operations: int, outcome: Outcome) -> None:
    made = random_document(seed, version, operations)
    file = folder / f"random-{version}-{seed}.json"
    file.write_text(json.dumps(made.document), encoding="utf-8")
    protocol = load(str(file))
    tools = {(tool.method.lower(), tool.path): tool for tool in protocol.tools}
    broker = Broker(protocol, base_url=server.url, limits=LIMITS)
    try:
        for call in made.operations:
            reader = WireReader(made.document, call.path, call.method)
            tool = tools[call.method, call.path]
            outcome.add(version, call, tool, exchange(server, broker, tool, call.passed, reader))
    finally:
        broker.close()


def test_a_service_reads_what_a_program_passed(tmp_path: Path) -> None:
    """2,000 random operations are sent and read back equal, or refused by the name of what their style cannot write."""
    outcome = Outcome()
    with recorder() as server:
        for version in VERSIONS:
            _try_all(server, tmp_path, version, 1, OPERATIONS // len(VERSIONS), outcome)

    assert outcome.different == []
    assert outcome.refused <= REFUSED_SHARE * (outcome.refused + outcome.equal)
