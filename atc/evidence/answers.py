"""What a finding is, whether a run is an answer at all, and whether anything that it printed comes from the API.

The paper's loop counts every program that ends well as a success (section A.4 names it as a limitation). A program that
printed nothing has not answered, and one that printed only its own words has nothing to rest on.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from atc.fault import Fault, Stage
from atc.program.source import parsed
from atc.program.tree import lines_of, nodes_of
from protocols.json_path import Step
from protocols.model import Protocol
from sandbox.records import CallRecord, Run

__all__ = [
    "Finding",
    "accepted_writes",
    "call_text",
    "failed",
    "is_absence",
    "is_unsupported",
    "judge",
    "made_writes",
    "name_of",
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


def failed(call: CallRecord) -> bool:
    """True if a call has no good response."""
    return call.status is None or call.status >= 300


def made_writes(run: Run) -> bool:
    """True if the service accepted a write: the task is then done, whatever is printed."""
    return any(call.writes and not failed(call) for call in run.calls)


def name_of(call: CallRecord) -> str:
    """The name of a call's tool, else its address."""
    return call.tool or call.url


_MOST_CALLED = 4
"""Functions that are named in place of an answer."""


def judge(program: str, run: Run | None) -> Fault | None:
    """The fault of a run that is no answer; None for an answer."""
    if run is None or not program:
        return Fault("write", "NoProgram", "the answer held no Python program; write one in a code block")
    if run.outcome == "ok":
        if run.stdout.strip():
            return None
        return Fault("answer", "NoOutput", _explain_silence(program))
    stage: Stage = "policy" if run.outcome == "refused" else "run"
    if (error := run.error) is None:
        return Fault(stage, "Limit", f"stopped at the limit of {run.limit}")
    return Fault(stage, error.type, error.message, error.line, error.snippet)


def _explain_silence(program: str) -> str:
    """Explain why a program printed nothing."""
    names = nodes_of(parsed(program) or ast.Module([], []), ast.Name)
    prints = [node.lineno for node in names if node.id == "print"]
    if not prints:
        return "the program ended without printing an answer; print() it"
    lines = f"line{'s' * (len(prints) > 1)} {', '.join(map(str, prints))}"
    return f"the print() on {lines} was never reached: what is looked for was not found; print an answer then, too"


def found_nothing(program: str, run: Run) -> bool:
    """True if a program read replies and ran to its end, and each print() of it is for something that was not there."""
    reads = bool(run.calls) and not any(failed(call) or call.writes for call in run.calls)
    if run.outcome != "ok" or run.stdout.strip() or not reads:
        return False
    tree = parsed(program) or ast.Module([], [])
    prints = {node for node in nodes_of(tree, ast.Call) if isinstance(node.func, ast.Name) and node.func.id == "print"}
    branches = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While | ast.If)]
    return bool(prints) and prints <= {node for branch in branches for node in ast.walk(branch) if node is not branch}


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


def accepted_writes(run: Run, protocol: Protocol) -> str:
    """What a run did that printed nothing: the writes that the service accepted, a line each.

    Of functions it is what the last one returned, or which were called; to call those that return nothing is to act.
    Empty for a run that printed or failed, and for one that only read.
    """
    calls = [call for call in run.calls if not failed(call)]
    if run.outcome != "ok" or run.stdout.strip() or not calls:
        return ""
    tools = [protocol.tool(call.tool) for call in calls if call.tool is not None and call.tool in protocol]
    acts = bool(tools) and all(tool.gives_nothing for tool in tools)
    if not made_writes(run) and not acts:
        return ""
    if not tools or any(tool.function is None for tool in tools):
        return "\n".join(dict.fromkeys(call_text(call) for call in calls if call.writes))
    if calls[-1].response is not None:
        return str(calls[-1].response)
    names = list(dict.fromkeys(call.tool or call.url for call in calls))
    return f"called {', '.join(names if len(names) <= _MOST_CALLED else [*names[:2], '…', names[-1]])}"


def call_text(call: CallRecord) -> str:
    """The name and the arguments of a call, shortened; method and address where it is no tool's."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    text = f"{call.tool}({arguments})" if call.tool else f"{call.method} {call.url}"
    return text if len(text) <= 200 else text[:199] + "…"
