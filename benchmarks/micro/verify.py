"""How many wrong answers a second look finds (`--verify`), and how many right ones it disturbs.

`python -m benchmarks.micro.verify RUN… --model NAME` takes the right programs of runs of `atc bench` (`--simulate --out
RUN`) and those of `data/acceptance`. Some stay right, others get a mistake each (benchmarks/injection/mutations): a
mutant counts if it runs to its end, and prints another answer that the reference of its task refuses; where the
replies are canned there is no reference, and any other answer is wrong. The wrong answers of the runs come besides.

A program stands for the model's first answer; then the model looks at it as `--verify` does. Its revisions are not
asked for. Which programs get which mistake is drawn by `--seed`. `--pilot N` takes the first N right and N wrong ones
alone, to work on the prompt with; without it these are left out.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track

from atc import Agent
from atc.agent import SIMULATED_NOW
from atc.evidence import failed
from atc.files import to_json
from atc.models import Completion, Message, Model, Usage, open_model
from benchmarks.injection.mutations import mutants, plain
from benchmarks.micro.acceptance import FOLDER, RightProgram, StandIn, read_file, run_directly, serving
from benchmarks.micro.frame import Measurement, json_option
from benchmarks.report.render import print_table
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.run.right_programs import simulated_settings
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.download import folders
from benchmarks.tasks.references import find_reference, is_correct
from benchmarks.tasks.task_files import Task
from benchmarks.worlds import find_worlds
from protocols import Protocol, UsageError, load
from sandbox import Run

__all__ = ["Answer", "main"]

_MISTAKES = 4
"""Most mutants of one program."""
PILOT = 15
"""Right and wrong answers each that the prompt may be worked on with."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A program that gives an answer; `kind` is the mistake in it, or right, or own for a wrong one of the model's."""

    name: str
    kind: str
    program: str
    place: Place = field(repr=False)


@dataclass(slots=True)
class _Scripted:
    """Answers with the program; the question after that is the model's own."""

    program: str
    model: Model
    requests: int = 0
    name: str = "scripted"

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        self.requests += 1
        if self.requests == 2:
            return self.model.complete(messages, stop=stop, max_tokens=max_tokens)
        return Completion(f"```python\n{self.program}\n```", Usage(0, 0, 0, 1, 0.0), "stop")

    def close(self) -> None:
        """The model is closed by its owner."""


class _TaskPlace:
    """A task in its simulated world."""

    def __init__(self, environment: AgentEnvironment, task: Task) -> None:
        self.environment = environment
        self.task = task
        self.protocol: Protocol = environment.dataset.protocols[task.domain]
        self.reference = find_reference(environment.settings.benchmark, task.query)

    def run(self, program: str) -> Run:
        """Run a program in a fresh world."""
        with self.environment.world(self.task) as world:
            return world.run(program)

    def is_wrong(self, answer: str) -> bool:
        """True if the reference refuses an answer; a reference that looks at changes knows no answer."""
        if self.reference is None or self.reference.after:
            return False
        with self.environment.world(self.task) as world:
            return not is_correct(answer, self.environment.claim(self.reference, self.task, world))

    def look(self, model: Model) -> Any:
        """The verification of a solve in which the model answers so."""
        with self.environment.world(self.task) as world:
            return _verified(world.agent.within(model), self.task.query)


class _CannedPlace:
    """A question to a service whose replies are canned."""

    def __init__(self, protocol: Protocol, task: RightProgram) -> None:
        self.protocol = protocol
        self.task = task

    def run(self, program: str) -> Run:
        """Run a program against the replies; one that there is no reply for fails."""
        run = run_directly(self.protocol, replace(self.task, program=program), SIMULATED_NOW)
        return replace(run, outcome="error") if any(map(failed, run.calls)) else run

    def is_wrong(self, answer: str) -> bool:
        """Any other answer is."""
        return True

    def look(self, model: Model) -> Any:
        """As of a task."""
        with (
            serving(StandIn(self.task.replies).answer) as url,
            Agent(
                self.protocol, model, base_url=f"{url}/", profile="large", writes="allow", now=SIMULATED_NOW
            ) as agent,
        ):
            return _verified(agent, self.task.question)


Place = _TaskPlace | _CannedPlace


def _verified(agent: Agent, question: str) -> Any:
    """Solve with a second look."""
    agent.settings = replace(agent.settings, options=replace(agent.settings.options, verify=True))
    return agent.solve(question).verification


def _of_run(folder: Path, stack: ExitStack) -> Iterator[Answer]:
    """The answers of a run of `atc bench`. Raises: UsageError: The folder holds none."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        records = [json.loads(file.read_text("utf-8")) for file in sorted((folder / "tasks").glob("*.json"))]
    except (OSError, ValueError) as error:
        raise UsageError(f"{folder} is no folder of `atc bench --out`: {error}") from None
    dataset = open_dataset(config["benchmark"], None, ())
    settings = replace(simulated_settings(dataset), profile="large")
    settings = settings if dataset.candidates != "all" else replace(settings, candidates="best 20")
    worlds = find_worlds(dataset.protocols)
    environment = stack.enter_context(closing(AgentEnvironment(settings, dataset, worlds=worlds)))
    tasks = {task.id: task for task in dataset.tasks}
    for record in records:
        if (correct := record["metrics"]["correct"]) is not None and (program := record["solution"]["program"]):
            place = _TaskPlace(environment, tasks[record["id"]])
            name = f"{dataset.benchmark} {record['id']}"
            yield Answer(name, "right" if correct else "own", plain(program), place)


def _canned() -> Iterator[Answer]:
    """The right programs over canned replies whose documents are there."""
    for file in sorted(FOLDER.glob("*.yaml")):
        name, programs = read_file(file)
        document = next((place / "openapi" / name for place in folders() if (place / "openapi" / name).is_file()), None)
        if document is not None:
            protocol = load(document)
            for number, task in enumerate(programs, 1):
                yield Answer(f"{file.stem} {number}", "right", plain(task.program), _CannedPlace(protocol, task))


def _wrong(answer: Answer, chance: random.Random, counts: Counter[str], most: int) -> Iterator[Answer]:
    """Mutants of a right answer, of kinds that there are few of so far."""
    right = answer.place.run(answer.program)
    if right.outcome != "ok" or not right.stdout.strip():
        return
    candidates = list(mutants(answer.program, answer.place.protocol, right.calls))
    chance.shuffle(candidates)
    kinds = Counter[str]()
    for mutant in sorted(candidates, key=lambda mutant: counts[mutant.kind]):
        if kinds[mutant.kind] == 2 or kinds.total() == most:
            continue
        run = answer.place.run(mutant.program)
        output = run.stdout.strip()
        differs = sorted(output.split()) != sorted(right.stdout.split())  # another order of lines may be as right
        if run.outcome == "ok" and output and differs and answer.place.is_wrong(output):
            kinds[mutant.kind] += 1
            counts[mutant.kind] += 1
            yield Answer(f"{answer.name} {kinds.total()}", mutant.kind, mutant.program, answer.place)


def _drawn(answers: Sequence[Answer], seed: int, most: int) -> list[Answer]:
    """Right answers, as many wrong ones, and the model's own wrong ones.

    No program is among the right and the wrong ones, so that who sees one does not know the other.
    """
    chance, counts = random.Random(seed), Counter[str]()
    right = [answer for answer in answers if answer.kind == "right"]
    chance.shuffle(right)
    wrong: list[Answer] = []
    for answer in track(right[most:], "mistakes", console=Console(stderr=True)):
        wrong += _wrong(answer, chance, counts, _MISTAKES)
    chance.shuffle(wrong)
    return [*right[:most], *wrong[:most], *(answer for answer in answers if answer.kind == "own")]


def _look(answer: Answer, model: Model) -> dict[str, Any]:
    """What a second look says of an answer."""
    verification = answer.place.look(_Scripted(answer.program, model))
    said = asdict(verification) if verification is not None else {"outcome": "none", "fault": "", "message": ""}
    return {"name": answer.name, "kind": answer.kind, **said}


def _rows(results: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Kinds with their number, and those in which a fault was named."""
    kinds = sorted({result["kind"] for result in results} - {"right", "own"})
    groups = {"all mistakes": kinds, "right": ["right"], "own wrong answers": ["own"]}
    for name, members in ({kind: [kind] for kind in kinds} | groups).items():
        group = [result for result in results if result["kind"] in members]
        named = sum(bool(result["fault"]) for result in group)
        unread = sum(result["outcome"] in ("unverified", "none") for result in group)
        yield name, len(group), named, f"{100 * named / len(group):.1f} %" if group else "-", unread


@click.command(cls=Measurement)
@click.argument("runs", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="RUN…")
@click.option("--model", required=True, help="The model that looks, as `atc solve` takes it.")
@click.option("--record", type=click.Path(dir_okay=False, path_type=Path), help="Append the model's answers to FILE.")
@click.option("--most", default=165, show_default=True, help="Right answers, and wrong ones.")
@click.option("--seed", default=0, show_default=True, help="Of what is drawn.")
@click.option("--pilot", is_flag=True, help=f"The first {PILOT} right and wrong answers, else all others.")
@click.option("--workers", default=4, show_default=True, help="Looks at a time.")
@json_option("Print each look as JSON.")
def main(
    runs: tuple[Path, ...],
    model: str,
    record: Path | None,
    most: int,
    seed: int,
    pilot: bool,
    workers: int,
    as_json: bool,
) -> None:
    """Measure the second look on right answers, on injected mistakes, and on a model's own wrong answers."""
    with ExitStack() as stack:
        answers = [*(answer for run in runs for answer in _of_run(run, stack)), *_canned()]
        drawn = _drawn(answers, seed, most)
        groups = [[answer for answer in drawn if test(answer.kind)] for test in _GROUPS]
        pilots = [answer for group in groups[:2] for answer in group[:PILOT]]
        measured = pilots if pilot else [answer for answer in drawn if answer not in pilots]
        random.Random(seed).shuffle(measured)
        opened = stack.enter_context(closing(open_model(model, record=record, reuse=record)))
        look = partial(_look, model=opened)
        with ThreadPoolExecutor(workers) as pool:
            looks = track(pool.map(look, measured), "looks", len(measured), console=Console(stderr=True))
            results = list(looks)
    if as_json:
        click.echo(to_json(results), nl=False)
        return
    print_table("Second looks", ("mistake", "answers", "a fault is named", "", "not verified"), _rows(results))


_GROUPS = (lambda kind: kind == "right", lambda kind: kind not in ("right", "own"))

if __name__ == "__main__":
    main()
