"""Learn what the tools of an API return by calling them (ATC paper, section 4 and Algorithm 1).

Tools that can be called from nothing come first. What they answer is written down as a schema, so that the data flow
between the tools (protocols.graph) grows with every answer; from it follow programs for tools that need an identifier
(protocols.worked), which run in the sandbox. Values that were seen are tried before any model is asked.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from probing.findings import Finding, ProbeReport
from probing.infer import infer
from protocols.auth import Credential
from protocols.graph import ProtocolGraph
from protocols.model import Parameter, Protocol, Response, Tool
from protocols.render import sentence
from protocols.shapes import type_of
from protocols.words import SEARCHES, words
from protocols.worked import FINDS, worked
from sandbox import CallRecord, Sandbox
from sandbox.bodies import LargeBody

__all__ = ["Prober"]

_KEPT = 40
"""Bodies of a tool that are kept to learn from."""
_FIRST_WORDS = ("a", "the", "love", "new")
"""What is looked for as long as no name has been seen."""
_ERRORS = frozenset({"error", "errors", "fault", "status_message", "error_message", "exception"})
_SAID = frozenset({"code", "message", "status", "status_code", "success", "detail", "details", "title", "type"})
_MOST = 8
"""Values of an enumeration that a list is filled with."""
_SEVERAL = 8
"""Things of which a tool is asked once it is known to answer: what only some of them have is optional."""


class Prober:
    """Finds out what the tools of a protocol return.

    Args:
        base_url: Where the service is, when that is not where its document says.
        writes: Whether tools that write are called: "deny" or "all".
        iterations: Rounds through the tools that did not answer yet (the paper's beta).
        samples: Programs for a tool in each round (the paper's N).
        budget_calls: The most requests in all; None for no limit.
        only: The tools to find out about; others may be called for them. All by default.
        on_finding: Told of each tool as it is done with.
    """

    def __init__(
        self,
        protocol: Protocol,
        *,
        base_url: str | None = None,
        credentials: Sequence[Credential] = (),
        writes: str = "deny",
        iterations: int = 4,
        samples: int = 3,
        budget_calls: int | None = None,
        only: Collection[str] = (),
        seed: int = 0,
        now: datetime | None = None,
        on_finding: Callable[[Finding], None] = lambda finding: None,
    ) -> None:
        self.protocol = protocol
        self._where = {"base_url": base_url, "credentials": tuple(credentials), "now": now, "seed": seed}
        self._writes = writes
        self._iterations, self._samples = iterations, samples
        self._budget = budget_calls
        self._only = frozenset(only) or frozenset(tool.name for tool in protocol.tools)
        self._seed = seed
        self._told = on_finding
        self._bodies: dict[str, list[object]] = defaultdict(list)
        self._names: dict[str, None] = {}
        self._requests = 0
        self._problem = ""
        self._words: dict[str, str] = {}
        self.found = {tool.name: Finding(tool.name) for tool in protocol.tools}

    @property
    def known(self) -> Protocol:
        """The protocol with what is known of responses so far; what it says of them itself stays."""
        tools = []
        for tool in self.protocol.tools:
            bodies = self._bodies.get(tool.name)
            if bodies and (tool.success is None or tool.success.schema is None):
                seen = Response("200", "as observed", "application/json", infer(bodies), (bodies[0],))
                tool = replace(tool, responses=(seen, *(one for one in tool.responses if one.status != "200")))
            tools.append(tool)
        return replace(self.protocol, tools=tuple(tools))

    def probe(self) -> ProbeReport:
        """Go round until every tool answered, nothing new is learned, or a budget ends it."""
        rounds, ended = 0, ""
        for tool in self.protocol.tools:
            if tool.writes and self._writes == "deny":
                self.found[tool.name].outcome = "refused_by_policy"
                self.found[tool.name].reason = "it may change something: allow it with --writes"
        policy = "deny" if self._writes == "deny" else "allow"
        with Sandbox(self.protocol, track=False, on_call=self._learn, writes=policy, **self._where) as sandbox:  # type: ignore[arg-type]
            try:
                while rounds <= self._iterations and self._round(sandbox, rounds):
                    rounds += 1
                for name in [one.tool for one in self.found.values() if one.outcome == "documented"]:
                    self._enrich(sandbox, name)
            except KeyboardInterrupt:
                ended = "interrupted"
            except _SpentError:
                ended = f"the budget of {self._budget} requests is used up"
                for one in self.found.values():
                    if not one.done and one.outcome != "refused_by_policy":
                        one.outcome, one.reason = "budget", ended
        self._write_down()
        tools = tuple(self.found[tool.name] for tool in self.protocol.tools if tool.name in self._only)
        return ProbeReport(tools, rounds, self._requests, self.protocol.digest, self._seed, None, ended)

    def _round(self, sandbox: Sandbox, number: int) -> bool:
        """Try every tool that has not answered; whether one of them did."""
        graph = ProtocolGraph(self.known)
        among = [name for name, one in self.found.items() if one.done]
        news = False
        for tool in self.protocol.tools:
            finding = self.found[tool.name]
            if finding.done or finding.outcome == "refused_by_policy":
                continue
            for program in self._programs(tool, graph, among):
                self._run(sandbox, program)
                if finding.done:
                    finding.question, finding.program, finding.iteration = _question(tool), program, number
                    self._told(finding)
                    news = True
                    break
            else:
                self._explain(tool, graph, among)
        return news

    def _programs(self, tool: Tool, graph: ProtocolGraph, among: Collection[str]) -> Iterator[str]:
        """Programs that call a tool with values that were seen, the likeliest first."""
        if any(not graph.producers(tool.name, name, among) for name in _identifiers(tool, graph)):
            return
        lines = worked(graph, tool.name, among) or [_direct(tool)]
        *before, last = lines
        call = last if "=" not in last.partition("(")[0] else last.partition(" = ")[2]
        program = "\n".join([*before, f"print({_with_body(_whole(call), tool)})"])
        if '"…"' not in program:
            yield program
            return
        for word in [*list(self._names)[: self._samples], *_FIRST_WORDS][: self._samples]:
            filled = program.replace('"…"', json.dumps(word, ensure_ascii=False))
            self._words[filled] = word
            yield filled

    def _explain(self, tool: Tool, graph: ProtocolGraph, among: Collection[str]) -> None:
        finding = self.found[tool.name]
        lacks = [name for name in _identifiers(tool, graph) if not graph.producers(tool.name, name, among)]
        if lacks and not finding.requests:
            finding.outcome = "unreachable_argument"
            finding.reason = f"no answer held a value for {', '.join(lacks)}"
        else:
            finding.outcome = "only_errors"
            said = [f"{status}: {text}" for status, text in finding.statuses.items()]
            finding.reason = "; ".join(said) or self._problem or "no answer"

    def _enrich(self, sandbox: Sandbox, name: str) -> None:
        """Ask a tool that answered of several things, so that what only some have is known to be optional."""
        if self.protocol.tool(name).writes:
            return
        program = self.found[name].program
        lines = program.split("\n")
        found = FINDS.fullmatch(lines[0])
        if found is not None:
            thing, call, inside = found.groups()
            inner = [f"    {line}" for line in lines[1:]]
            self._run(sandbox, "\n".join([f"for {thing} in {call}{inside}[1:{_SEVERAL}]:", *inner]))
        elif (word := self._words.get(program)) is not None:
            for other in [one for one in self._names if one != word][: _SEVERAL - 2]:
                told = json.dumps(other, ensure_ascii=False)
                self._run(sandbox, program.replace(json.dumps(word, ensure_ascii=False), told))

    def _run(self, sandbox: Sandbox, program: str) -> None:
        if self._budget is not None and self._requests >= self._budget:
            raise _SpentError
        run = sandbox.run(program)
        if run.outcome == "interrupted":
            raise KeyboardInterrupt
        self._problem = run.error.message if run.error is not None else ""

    def _learn(self, call: CallRecord) -> None:
        """What a call says of its tool; every call of a program counts."""
        if call.tool is None or call.status is None:
            return
        self._requests += 1
        finding = self.found[call.tool]
        finding.requests += 1
        body = call.response
        if call.status >= 300:
            finding.statuses.setdefault(str(call.status), _said(body, call.error))
        elif body in (None, ""):
            if not finding.done:
                finding.outcome, finding.status = "no_content", str(call.status)
        elif (wrong := disguised(body)) is not None:
            finding.statuses.setdefault(str(call.status), wrong)
        else:
            bodies = self._bodies[call.tool]
            if len(bodies) < _KEPT:
                bodies.append(body)
            finding.outcome, finding.status = "documented", str(call.status)
            self._names.update(dict.fromkeys(names_in(body)))

    def _write_down(self) -> None:
        for name, bodies in self._bodies.items():
            self.found[name].schema = infer(bodies)
            self.found[name].example = min(bodies, key=lambda body: len(json.dumps(body, default=str)))


class _SpentError(Exception):
    """A budget is used up."""


def disguised(body: object) -> str | None:
    """Why a body that came with a 2xx is no answer; None when it is one."""
    if isinstance(body, LargeBody):
        return "the body is too large to be kept"
    if isinstance(body, str):
        return "a web page, not data" if body.lstrip()[:1] == "<" else None
    if not isinstance(body, Mapping):
        return None
    keys = {str(key).lower() for key in body}
    told = keys & _ERRORS
    if told and keys <= _ERRORS | _SAID and any(body[key] for key in body if str(key).lower() in told):
        return f"an error: {json.dumps(body, default=str)[:200]}"
    return None


def names_in(body: object, most: int = 40) -> Iterator[str]:
    """What things in a body are called."""
    left, given = [body], 0
    while left and given < most:
        value = left.pop(0)
        if isinstance(value, Mapping):
            for key, part in value.items():
                if isinstance(part, str) and words(str(key))[-1:] in (("name",), ("title",)) and 2 < len(part) < 60:
                    yield part
                    given += 1
                elif isinstance(part, Mapping | list):
                    left.append(part)
        elif isinstance(value, list):
            left.extend(value[:5])


def _identifiers(tool: Tool, graph: ProtocolGraph) -> list[str]:
    """The required arguments of a tool that another one has to yield."""
    return [
        one.argument
        for one in tool.arguments
        if one.required and graph.want(tool.name, one.argument) is not None and _given(one) is None
    ]


def _direct(tool: Tool) -> str:
    """The call of a tool with what its document gives for its required arguments."""
    given = [f"{one.argument}={_value(one)}" for one in tool.arguments if one.required]
    if not given:
        given = [f"{one.argument}={_value(one)}" for one in tool.arguments if one.argument.lower() in SEARCHES][:1]
    return f"{tool.name}({', '.join(given)})"


def _with_body(call: str, tool: Tool) -> str:
    """A call that gives a member of a body that may not be empty, though none of its members is required."""
    members = [one for one in tool.arguments if one.location == "body"]
    if tool.body is None or not tool.body.required or any(f"{one.argument}=" in call for one in members) or not members:
        return call
    given = f"{members[0].argument}={_value(members[0])}"
    return f"{call[:-1]}{'' if call.endswith('()') else ', '}{given})"


def _value(parameter: Parameter) -> str:
    given = _given(parameter)
    if given is not None:
        return repr(given)
    kinds = {"array": '["…"]', "integer": "1", "number": "1", "boolean": "True", "object": "{}"}
    return kinds.get(type_of(parameter.schema), '"…"')


def _given(parameter: Parameter) -> object:
    """A value that the document itself gives: of an enumeration, a default, an example."""
    schema = parameter.schema
    items = schema.get("items")
    if isinstance(items, Mapping) and isinstance(values := items.get("enum"), list):
        return values[:_MOST]  # what is asked for in all ways tells most
    for key in ("enum", "examples"):
        values = schema.get(key)
        if isinstance(values, list) and values:
            return values[0]
    return next((schema[key] for key in ("default", "example", "const") if schema.get(key) is not None), None)


def _whole(call: str) -> str:
    """A call without what is taken out of its response."""
    depth = 0
    for place, sign in enumerate(call):
        depth += (sign == "(") - (sign == ")")
        if sign == ")" and depth == 0:
            return call[: place + 1]
    return call


def _question(tool: Tool) -> str:
    """What somebody asks for who is answered by a tool."""
    text = (tool.summary or tool.description or " ".join(words(tool.path))).strip()
    return sentence(text, 200)


def _said(body: object, error: str | None) -> str:
    if isinstance(body, Mapping):
        keys = [key for key in body if str(key).lower() in {"message", "status_message", "detail", "error"}]
        told = body[keys[0]] if keys else None
        if isinstance(told, Mapping):
            told = told.get("message")
        if isinstance(told, str):
            return told[:200]
    return (error or str(body))[:200]
