"""CodeAct: snippets of Python, one after the other, whose variables stay until the model writes the answer.

A snippet runs in the sandbox after the successful ones, whose calls are answered from the journal: nothing is sent
twice, and the model sees only the new output. So the final attempt is one program of all successful snippets, and the
attempts before it are the failed snippets, which leave no trace. (In the original's interpreter half a snippet may
have taken effect.)

Source: CodeAct (arXiv:2402.01030).
"""

from __future__ import annotations

from dataclasses import replace

from atc.events import FaultFound
from atc.evidence import judge
from atc.fault import Fault
from atc.models import Message
from atc.program.source import extract, fenced
from atc.prompting import fill
from atc.session import NO_ATTRIBUTION, TryEnded
from atc.solution import Attempt
from benchmarks.methods.actions import read_answer
from benchmarks.methods.call_path import check_health
from benchmarks.methods.method_try import OUTPUT, MethodTry, correction, method
from benchmarks.methods.observations import truncate
from protocols.quoting import one_line, unfenced
from sandbox import Run

__all__ = ["codeact"]


@method(reruns=True)
def codeact(trial: MethodTry) -> str:
    """Answer by snippets. Raises: TryEnded, ModelError."""
    if trial.session.journal is not None:
        trial.session.journal.restart()
    messages = trial.begin("codeact", "codeact_examples")
    while True:
        reply = trial.ask(messages, stop=("\nOutput:",), max_tokens=trial.offer.profile.output_tokens)
        snippet = extract(reply)
        if fenced(reply) is None and (answer := read_answer(reply)):
            return answer
        if not snippet:
            messages += correction(reply, "codeact_neither")
            continue
        messages.append(Message("assistant", f"```python\n{snippet}\n```"))
        messages.append(Message("user", _run_snippet(trial, snippet)))


def _run_snippet(trial: MethodTry, snippet: str) -> str:
    """Run a snippet after the successful ones; returns the model's observation. Raises: TryEnded."""
    trial.wrote(snippet)
    earlier_program, earlier_run = trial.final or ("", None)
    program = f"{earlier_program}\n{snippet}" if earlier_program else snippet
    run = _reuse_records(earlier_run, trial.execute(program))
    succeeded = run.outcome == "ok"
    try:
        check_health(trial.protocol, run.calls, stopped=run.outcome == "limit")
    except TryEnded:
        trial.final = program, run
        raise
    if succeeded:
        trial.final = program, run
    if trial.session.journal is not None and succeeded:
        trial.session.journal.accept()
    if trial.session.journal is not None:
        trial.session.journal.over()
    if succeeded:
        printed = run.stdout.removeprefix(earlier_run.stdout if earlier_run else "").strip()
        return OUTPUT + (truncate(unfenced(printed), trial.search.max_observation) or "nothing was printed")
    fault = _fault(run, earlier_program.count("\n") + 1 if earlier_program else 0, len(snippet.splitlines()))
    own_run = _drop_calls(run, len(earlier_run.calls)) if earlier_run else run
    trial.session.emit(FaultFound(trial.session.number, fault, NO_ATTRIBUTION))
    trial.session.record(Attempt(snippet, fault.stage, own_run, fault, NO_ATTRIBUTION))
    where = f" (line {fault.line}: {snippet.splitlines()[fault.line - 1].strip()})" if fault.line else ""
    return fill("codeact_failed", error=truncate(one_line(f"{fault.type}: {fault.message}{where}"))).strip()


def _reuse_records(earlier_run: Run | None, run: Run) -> Run:
    """A run whose first calls have the records of the runs that made them."""
    earlier_calls = earlier_run.calls if earlier_run else ()
    calls = [
        earlier if (earlier.tool, earlier.url) == (current.tool, current.url) else current
        for earlier, current in zip(earlier_calls, run.calls, strict=False)
    ]
    return replace(run, calls=(*calls, *run.calls[len(calls) :]))


def _drop_calls(run: Run, count: int) -> Run:
    """A run without its first calls, and without references to calls by number."""
    error = replace(run.error, call=None) if run.error else None
    return replace(run, calls=run.calls[count:], error=error, provenance=None)


def _fault(run: Run, offset: int, length: int) -> Fault:
    """The fault of a failed snippet; `line` counts from its first line, and is None for a failure elsewhere."""
    fault = judge("…", run)
    assert fault is not None, "only a run that went well has none"
    line = (fault.line or 0) - offset
    return replace(fault, line=line if 1 <= line <= length else None, snippet="")
