"""What a program passes is what a service reads: random operations of every style, location and media type."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
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
    """Counts by label, and an example of each difference."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.operations: Counter[str] = Counter()
        self.risks: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = defaultdict(list)

    def add(self, version: str, call: RandomOperation, tool: Tool, result: Exchange) -> None:
        """Sort one call: equal, refused with a reason that counts, or different."""
        found = _differences(call, tool, result)
        for place in call.passed:
            label = f"{version} {call.label(place)}".replace("2.0 2.0", "2.0")
            self.counts[label]["passed"] += 1
        if result.refusal and not found:
            self.operations["refused"] += 1
            for place in _named(call, tool, result.refusal):
                self.risks[call.risks[place]] += 1
                self.counts[f"{version} {call.label(place)}".replace("2.0 2.0", "2.0")]["refused"] += 1
            return
        self.operations["different" if found else "equal"] += 1
        for place, text in found.items():
            label = f"{version} {call.label(place)}".replace("2.0 2.0", "2.0")
            if place in result.missing:
                label = f"{version} a name in two places"
            self.counts[label]["different"] += 1
            line = f"{call.method.upper()} {call.path} {place}: {text}"
            if result.request is not None:
                kind = result.request.headers.get("content-type", "")
                line += f"\n      sent {result.request.target} {kind} {result.request.body[:200]!r}"
            self.examples[label].append(line)

    def table(self) -> str:
        """Rows by version, location, style and media type."""
        rows = [f"{'':70} passed refused different"]
        for label, counts in sorted(self.counts.items()):
            rows.append(f"{label[:70]:70} {counts['passed']:6} {counts['refused']:7} {counts['different']:9}")
        return "\n".join([*rows, f"operations: {dict(self.operations)}", f"refused for: {dict(self.risks)}"])


def _named(call: RandomOperation, tool: Tool, refusal: str) -> list[Place]:
    """The places at risk whose arguments a refusal names."""
    arguments: dict[Place, str] = {(argument.location, argument.name): argument.argument for argument in tool.arguments}
    words = set(re.findall(r"'([^']*)'|\"([^\"]*)\"", refusal))
    names = {word for pair in words for word in pair}
    return [place for place in call.risks if {place[1], arguments.get(place)} & names]


def _differences(call: RandomOperation, tool: Tool, result: Exchange) -> dict[Place, str]:
    found = dict.fromkeys(result.missing, "no argument for it")
    if result.refusal:
        if not found and not _named(call, tool, result.refusal):
            names = [place for place in call.passed if place[1] and place[1] in result.refusal.partition("()")[2]]
            found[(names or [("body", "")])[0]] = f"refused: {result.refusal[:200]}"
        return found
    assert result.reading is not None
    passed = {place: value for place, value in call.passed.items() if place not in found}
    return found | differences(passed, result.reading) | _encoded(call, result)


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
    print(f"\n{outcome.table()}")
    for label, examples in outcome.examples.items():
        print(f"\n{label} ({len(examples)})\n   {min(examples, key=len)}")

    assert outcome.operations["different"] == 0, outcome.examples
    assert outcome.operations["refused"] <= REFUSED_SHARE * outcome.operations.total()
