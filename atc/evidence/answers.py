"""Whether a run is an answer, and whether anything that it printed comes from the API.

The paper's loop counts every program that ends well as a success (section A.4 names it as a limitation). A program that
printed nothing has not answered, and one that printed only its own words has nothing to rest on.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from atc.diagnosis.provenance import failed
from atc.fault import Fault, Stage
from atc.program.source import lines_of, nodes_of, parsed
from protocols.json_path import Step
from sandbox.records import CallRecord, Run

__all__ = [
    "Finding",
    "call_text",
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
