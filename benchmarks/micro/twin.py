"""How far a simulated API tells right programs from wrong ones.

`python -m benchmarks.micro.twin [FILE]` takes `data/twin/programs.json.gz`: over 45 public API documents 455 questions,
each with a right program and one that makes a likely mistake: another `filter` than the question says, another `field`,
or only the first `page` of a list. Each program is solved in a world made for question and program, by a model that
always answers with it. The twin holds where the right one is `supported` at the first attempt, and the wrong one not.
Of the half `unread` nobody has read a question, a program or what became of it.

The documents are found in the folder `openapi` of `ATC_DATA`, or in that of `--documents`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from atc import Agent
from atc.agent import SIMULATED_NOW
from atc.files import to_json
from benchmarks.harness.registry import SHIPPED
from benchmarks.micro.frame import Measurement, find_document, json_option, repeating
from benchmarks.report.render import print_table
from protocols import Protocol, UsageError, load
from protocols.simulator import Simulator

__all__ = ["TwinTask", "main", "read_twin_files", "rehearse"]

FILE = SHIPPED / "twin" / "programs.json.gz"
_KINDS = ("filter", "field", "page")
_HALVES = ("read", "unread")


@dataclass(frozen=True, slots=True)
class TwinTask:
    """A question with a right program and a wrong one; `kind` is the mistake of the wrong one."""

    question: str
    right: str
    wrong: str
    kind: str


@dataclass(frozen=True, slots=True)
class TwinFile:
    """The tasks over one document, which part of the set (`_HALVES`) they are, and the document's hash."""

    document: str
    sha256: str
    half: str
    tasks: tuple[TwinTask, ...]


def read_twin_files(file: Path) -> dict[str, TwinFile]:
    """The tasks of a file by document, compressed or not. Raises: UsageError: It cannot be read."""
    try:
        content = file.read_bytes()
        data = json.loads(gzip.decompress(content) if file.suffix == ".gz" else content)
        return {
            name: TwinFile(name, entry["sha256"], entry["half"], tuple(TwinTask(**task) for task in entry["tasks"]))
            for name, entry in data.items()
        }
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} cannot be read: {type(error).__name__}: {error}") from None


def rehearse(simulator: Simulator, protocol: Protocol, question: str, program: str, profile: str) -> str:
    """What becomes of a program in a world made for it and its question.

    Returns: `supported`, or why it is not: its standing with the findings, or its first fault.
    """
    with (
        simulator.session(query=question, rehearses=True) as session,
        Agent(protocol, repeating(program), simulate=session, profile=profile, max_reflections=0) as agent,
    ):
        solution = agent.solve(question)
    fault = next((attempt.fault for attempt in solution.attempts if attempt.fault), None)
    if fault is not None:
        return f"{fault.type}: {fault.message}"
    if solution.standing == "supported":
        return "supported"
    findings = "; ".join(f"{finding.kind}: {finding.message}" for finding in solution.findings)
    return f"{solution.standing or solution.status}: {findings or solution.message}"


def _measure(protocol: Protocol, tasks: tuple[TwinTask, ...], name: str, profile: str) -> list[dict[str, Any]]:
    with Simulator(protocol, now=SIMULATED_NOW) as simulator:
        return [
            {
                "question": task.question,
                "kind": task.kind,
                "right": rehearse(simulator, protocol, task.question, task.right, profile),
                "wrong": rehearse(simulator, protocol, task.question, task.wrong, profile),
            }
            for task in track(tasks, name, console=Console(stderr=True), transient=True)
        ]


def _row(name: str, half: str, results: list[dict[str, Any]]) -> tuple[object, ...]:
    """The figures of some tasks: right ones supported, and wrong ones not, in all and by kind."""
    caught = [result for result in results if result["wrong"] != "supported"]
    kinds, caught_kinds = Counter(r["kind"] for r in results), Counter(r["kind"] for r in caught)
    right = sum(result["right"] == "supported" for result in results)
    by_kind = (f"{caught_kinds[kind]}/{kinds[kind]}" for kind in _KINDS)
    return name, half, f"{right}/{len(results)}", f"{len(caught)}/{len(results)}", *by_kind


@click.command(cls=Measurement)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=FILE)
@click.option("--documents", type=click.Path(file_okay=False, path_type=Path), help="The folder of the documents.")
@click.option("--half", type=click.Choice(_HALVES), help="Only this part of the set.")
@click.option("--only", multiple=True, metavar="NAME", help="Only the file of this name; may be repeated.")
@click.option("--profile", default="large", show_default=True, help="The profile of the model.")
@json_option("Print JSON instead of the table.")
def main(
    file: Path,
    documents: Path | None,
    half: str | None,
    only: tuple[str, ...],
    profile: str,
    as_json: bool,
) -> None:
    """Measure how far the simulated API tells right programs from wrong ones, over the tasks of FILE."""
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for document, twin_file in read_twin_files(file).items():
        name = document.partition(".")[0]
        if half not in (None, twin_file.half) or (only and name not in only):
            continue
        protocol = load(_document(twin_file, documents))
        rows[name, twin_file.half] = _measure(protocol, twin_file.tasks, name, profile)
    if not rows:
        raise click.UsageError(f"{file} has no document that is chosen by --half and --only")
    if as_json:
        click.echo(to_json({name: results for (name, _), results in rows.items()}), nl=False)
        return
    table = [_row(name, each, results) for (name, each), results in rows.items()]
    table += [
        _row("all", each, [result for (_, own), results in rows.items() if own == each for result in results])
        for each in dict.fromkeys(each for _, each in rows)
    ]
    print_table("Twin", ["document", "half", "right supported", "wrong not", *_KINDS], table, text_columns=2)
    for (name, _), results in rows.items():
        for result in results:
            if result["right"] != "supported":
                _note(f"- {name}, right: {result['question']}\n    {result['right']}")
            if result["wrong"] == "supported":
                _note(f"- {name}, wrong {result['kind']} is supported: {result['question']}")


def _note(text: str) -> None:
    Console().print(text, markup=False, soft_wrap=True)


def _document(twin_file: TwinFile, folder: Path | None) -> Path:
    """The document of a file. Raises: UsageError: It is nowhere, or another one."""
    file = find_document(twin_file.document, folder)
    if sha256(file.read_bytes()).hexdigest() != twin_file.sha256:
        raise UsageError(f"{file} is another document than that of the tasks; fetch the one they name")
    return file


if __name__ == "__main__":
    main()
