"""Whether a run is an answer, whether anything that it printed comes from the API, and why no program could do better.

The paper's loop counts every program that ends well as a success (section A.4 names it as a limitation). A program that
printed nothing has not answered, and one that printed only its own words has nothing to rest on.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from atc.diagnosis.provenance import failed
from atc.fault import Fault, Stage
from atc.program.source import lines_of, nodes_of
from protocols.json_path import Step
from protocols.model import Protocol
from sandbox.egress.egress_rules import FUNCTION, MCP
from sandbox.records import CallRecord, Run

__all__ = [
    "Finding",
    "api_health_problem",
    "call_text",
    "is_absence",
    "is_unsupported",
    "judge",
    "made_writes",
    "name_of",
    "silent_service",
]

_NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason to doubt an answer; `kind` is its name in one word, such as FirstPage.

    `message` is told to the user. `line` is a line of the program, `call` the index of a
    call, and `path` a place in its response, where the finding is about one.
    """

    kind: str
    message: str
    line: int | None = None
    call: int | None = None
    path: tuple[Step, ...] = ()

    @classmethod
    def of_call(cls, kind: str, message: str, call: CallRecord, path: tuple[Step, ...] = ()) -> Finding:
        """A finding about a call, or about a place in its response."""
        return cls(kind, message, call.line, call.index, path)

    def warning(self) -> str:
        """The finding as a warning for the reader of the answer."""
        return f"the answer is doubtful ({self.kind}): {self.message}"


def made_writes(run: Run) -> bool:
    """True if the service accepted a write: the task is then done, whatever is printed."""
    return any(call.writes and not failed(call) for call in run.calls)


def name_of(call: CallRecord) -> str:
    """The name of a call's tool, else its address."""
    return call.tool or call.url


def judge(program: str, run: Run | None) -> Fault | None:
    """The fault of a run that is no answer; None for an answer."""
    if run is None or not program:
        return Fault("write", "NoProgram", "the answer held no Python program; write one in a code block")
    if run.outcome == "ok":
        if run.stdout.strip():
            return None
        from atc.evidence.silence import explain_silence

        return Fault("answer", "NoOutput", explain_silence(program))
    stage: Stage = "policy" if run.outcome == "refused" else "run"
    if (error := run.error) is None:
        return Fault(stage, "Limit", f"stopped at the limit of {run.limit}")
    return Fault(stage, error.type, error.message, error.line, error.snippet)


def is_absence(tree: ast.AST, call: CallRecord) -> bool:
    """True if a read got a 404 that the program takes for an answer: its handler looks for just that."""
    if call.status != _NOT_FOUND or call.writes or call.line is None:
        return False
    attempts = [
        attempt
        for attempt in nodes_of(tree, ast.Try)
        if any(call.line in lines_of(statement) for statement in attempt.body)
    ]
    handlers = [handler for attempt in attempts for handler in attempt.handlers]
    named = (node.value for handler in handlers for node in nodes_of(handler, ast.Constant))
    return _NOT_FOUND in named


def is_unsupported(program: str, run: Run) -> bool:
    """True if no printed value is known to come from the API, no read says that there is none, nothing was written."""
    if all(failed(call) for call in run.calls):
        return not (run.calls and is_absence(ast.parse(program), run.calls[-1]))
    if run.provenance is None or run.provenance.printed or made_writes(run):
        return False
    from atc.program.choices import lines_behind_output

    # Lists that came back empty leave no trace in what is printed of them.
    return lines_behind_output(program).isdisjoint(call.line for call in run.calls if not failed(call))


def call_text(call: CallRecord) -> str:
    """The name and the arguments of a call, shortened; method and address where it is no tool's."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    text = f"{call.tool}({arguments})" if call.tool else f"{call.method} {call.url}"
    return text if len(text) <= 200 else text[:199] + "…"


def silent_service(run: Run) -> str:
    """The problem of a service that answered no call until the run's time was over; empty where there is none.

    Half of that time was spent in one call: one that a slow program makes at its end says nothing of the service.
    """
    sent = [call for call in run.calls if call.attempts and not call.url.startswith(FUNCTION)]
    if run.limit != "wall" or not sent or any(call.status is not None for call in run.calls):
        return ""
    longest = max(sent, key=lambda call: call.ms)
    seconds = longest.ms / 1000
    if 2 * seconds < run.resources.wall:
        return ""
    what = f"{longest.method} {longest.url} had no reply after {seconds:.3g} s, when the time of the program was over"
    return f"{what}; see that the service runs; --wall allows more"


def api_health_problem(
    protocol: Protocol, calls: Sequence[CallRecord], *, stopped: bool = False, signed: bool = True
) -> str:
    """The reason why no call can succeed with this API; empty when it is well, or when that is unknown.

    Each of several APIs is looked at by itself.

    Args:
        calls: The calls of a run, oldest first.
        stopped: A limit ended the run, so a call without a reply says nothing of the API.
        signed: Credentials were given; without them, a 403 asks for some, too.
    """
    for call in calls:
        if _is_page(protocol, call):
            return f"{call.method} {call.url} answered a web page, not JSON: check the base URL (--base-url)"
    sent = [call for call in calls if call.attempts]
    if protocol.namespaces:
        tools = {call.index: protocol.tool(call.tool) for call in sent if call.tool is not None}
        groups = [[c for c in sent if c.index in tools and tools[c.index].namespace == n] for n in protocol.namespaces]
    else:
        groups = [sent]
    problems = [] if stopped else [_problem(protocol, group, signed) for group in groups if group]
    return next(filter(None, problems), "")


def _problem(protocol: Protocol, sent: Sequence[CallRecord], signed: bool) -> str:
    """The reason why no call of one API can succeed, by those that were sent to it."""
    refused = {401} if signed else {401, 403}
    if any(call.status is not None and call.status not in refused for call in sent):
        return ""
    last = sent[-1]
    if last.status is not None and last.tool is not None and protocol.tool(last.tool).envelope is not None:
        return ""  # each API behind such a server has credentials of its own
    if last.status is None and last.url.startswith(MCP):
        return f"{last.tool}: {last.error}"
    if last.status is None:
        return f"{last.method} {last.url} could not be reached: {last.error}"
    return f"{last.method} {last.url} was refused with {last.status}: {_sign_in(protocol, last, signed)}"


def _sign_in(protocol: Protocol, call: CallRecord, signed: bool) -> str:
    """How to sign in, by the security schemes of an operation, as `--auth` takes them."""
    tool = protocol.tool(call.tool) if call.tool is not None else None
    scheme_names = {name for alternative in tool.security for name in alternative} if tool is not None else set()
    namespace = tool.namespace if tool is not None else ""
    own = [scheme for scheme in protocol.security_schemes if scheme.namespace == namespace]
    schemes = [scheme for scheme in own if not scheme_names or scheme.name in scheme_names]
    api = f"{namespace}=" if namespace else ""
    wanted = "".join(
        f'; the value of {s.name} begins with "{s.prefix}", says the document' for s in schemes if s.prefix
    )
    options = " or ".join(f"--auth {scheme.name}:env:VARIABLE" for scheme in schemes) or f"--auth {api}KIND:SOURCE"
    return f"{'check the' if signed else 'give'} credentials: {options}{wanted}"


def _is_page(protocol: Protocol, call: CallRecord) -> bool:
    if not isinstance(call.response, str) or call.tool is None:
        return False
    success = protocol.tool(call.tool).success
    promised = (success.media_type or "") if success else ""
    return "json" in promised and call.response.lstrip()[:15].lower().startswith(("<!doctype html", "<html"))
