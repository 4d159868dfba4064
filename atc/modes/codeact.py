"""CodeAct: snippets of Python, one after the other, whose variables stay until the model writes the answer.

A snippet is run in the sandbox after those that went well, which get the replies they got; nothing is sent twice, and
the model sees only what is new in the output. So the final attempt is one program, of all snippets that went well, and
the attempts before it are snippets that failed, of which nothing is kept. (In the original's interpreter half a snippet
may have taken effect.)

Source: CodeAct (arXiv:2402.01030).
"""

from __future__ import annotations

from dataclasses import replace

from atc.events import FaultFound
from atc.fault import Fault
from atc.models import Message
from atc.modes.actions import read_answer
from atc.modes.api import check_health
from atc.modes.observations import truncate
from atc.modes.path import NO_ATTRIBUTION
from atc.modes.rules import OUTPUT, TryEnded
from atc.modes.work import Work
from atc.program.source import extract, fenced
from atc.prompting import templates
from atc.solution import Attempt
from atc.verify import judge
from sandbox import Run

__all__ = ["codeact"]

SNIPPET_TOKENS = 512


def codeact(work: Work) -> str:
    """Answer by snippets. Raises: Ended, ModelError."""
    if work.journal is not None:
        work.journal.restart()
    messages = work.opening("codeact", "codeact_examples")
    while True:
        said = work.ask(messages, stop=("\nOutput:",), max_tokens=SNIPPET_TOKENS)
        snippet = extract(said)
        if fenced(said) is None and (answer := read_answer(said)):
            return answer
        if not snippet:
            text = templates.render("codeact_neither").strip()
            messages += [Message("assistant", said or "…"), Message("user", text)]
            continue
        messages.append(Message("assistant", f"```python\n{snippet}\n```"))
        messages.append(Message("user", _observed(work, snippet)))


def _observed(work: Work, snippet: str) -> str:
    """Run a snippet after those that are kept; gives what the model is shown. Raises: Ended."""
    work.wrote(snippet)
    before, known = work.kept or ("", None)
    program = f"{before}\n{snippet}" if before else snippet
    run = _joined(known, work.execute(program))
    good = run.outcome == "ok"
    try:
        check_health(work.graph.protocol, run.calls, stopped=run.outcome == "limit")
    except TryEnded:
        work.kept = program, run
        raise
    if good:
        work.kept = program, run
    if work.journal is not None and good:
        work.journal.accept()
    if work.journal is not None:
        work.journal.over()
    if good:
        return OUTPUT + (
            truncate(run.stdout.removeprefix(known.stdout if known else "").strip()) or "nothing was printed"
        )
    fault = _fault(run, before.count("\n") + 1 if before else 0, len(snippet.splitlines()))
    new = _apart(run, len(known.calls)) if known else run
    work.emit(FaultFound(work.number, fault, NO_ATTRIBUTION))
    work.attempts.append(Attempt(snippet, fault.stage, new, fault, NO_ATTRIBUTION))
    where = f" (line {fault.line}: {snippet.splitlines()[fault.line - 1].strip()})" if fault.line else ""
    return templates.render("codeact_failed", error=truncate(f"{fault.type}: {fault.message}{where}")).strip()


def _joined(known: Run | None, run: Run) -> Run:
    """A run whose first calls are the records of the runs that made them."""
    made = known.calls if known else ()
    calls = [
        old if (old.tool, old.url) == (new.tool, new.url) else new for old, new in zip(made, run.calls, strict=False)
    ]
    return replace(run, calls=(*calls, *run.calls[len(calls) :]))


def _apart(run: Run, before: int) -> Run:
    """A run without its first calls, by whose numbers the others cannot be named any more."""
    error = replace(run.error, call=None) if run.error else None
    return replace(run, calls=run.calls[before:], error=error, provenance=None)


def _fault(run: Run, offset: int, length: int) -> Fault:
    """Why a snippet failed; `line` counts from the snippet's first, and is None if the failure is not in it."""
    fault = judge("…", run)
    assert fault is not None, "only a run that went well has none"
    line = (fault.line or 0) - offset
    return replace(fault, line=line if 1 <= line <= length else None, snippet="")
