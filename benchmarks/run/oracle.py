"""The cost of each mode when nothing goes wrong: a record of answers by a model that knows the calls of every task.

`record_answers` solves the tasks in every mode with the calls of our reference programs, and records what was asked and
said. `atc bench … --model replay:FILE` plays it back, to anybody and with the same bytes.

A mode of programs writes the whole reference program, with the answer printed in place of the claim (or one that chains
and prints the calls it needs, where the reference calls what is not offered). A mode of steps makes no call but those
that the gold solution needs, as far as the reference makes them, each at once and right, and finds all it needs in one
sentence: less than any model could do with. So the tokens of such a mode are a lower bound, and they favour it over
programs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import track

from atc.agent import SIMULATED_NOW
from atc.models import Message
from atc.models.replay import Recorder
from atc.modes import LOOP, modes
from benchmarks.run.agent_environment import AgentEnvironment
from benchmarks.run.scripted_model import ScriptedModel
from benchmarks.run.settings import RunSettings
from benchmarks.tasks.datasets import Dataset
from benchmarks.tasks.references import FOLDER, find_reference
from benchmarks.tasks.task_files import Task, candidate_tools
from benchmarks.worlds import find_worlds
from protocols.errors import ATCError, ModelError
from protocols.json_path import leaves, subscripts
from protocols.text.words import words
from sandbox.records import CallRecord

__all__ = [
    "SOLVED",
    "OracleModel",
    "OracleScript",
    "chained_program",
    "claimed_answer",
    "oracle_script",
    "record_answers",
    "refuse",
    "simulated_settings",
]

SOLVED = FOLDER / "solved"
"""A program for each task whose reference looks at what a solve changed; it does that and nothing else."""


@dataclass(frozen=True, slots=True)
class OracleScript:
    """The solution of a task: one program, the same as lines of Python with one call each, and the answer."""

    program: str
    calls: tuple[tuple[str, str], ...]
    answer: str


class OracleModel(ScriptedModel):
    """A model that follows the script of one task in one mode; `count` gives the tokens of a text."""

    name = "perfect"

    def __init__(self, mode: str, script: OracleScript, count: Callable[[str], int]) -> None:
        reply = _REPLIES[mode](script)
        super().__init__(self.name, lambda messages: reply(messages[0].content), count)


def _program_replies(script: OracleScript) -> Callable[[str], str]:
    return lambda _: script.program


def _step_replies(script: OracleScript) -> Callable[[str], str]:
    lines = iter([f"Thought: {name} yields it.\nAction: {line}" for name, line in script.calls])
    end = f"Thought: that answers it.\nAction: finish(answer={json.dumps(script.answer, ensure_ascii=False)})"
    return lambda _: next(lines, end)


def _compared_replies(script: OracleScript) -> Callable[[str], str]:
    """As the steps, each of which is asked for once more and compared; the first one is the better."""
    step = _step_replies(replace(script, calls=tuple(call for call in script.calls for _ in range(2))))
    asked = 0

    def reply(prompt: str) -> str:
        nonlocal asked
        if prompt.startswith("Two next steps"):
            return "A" if (asked := asked + 1) % 2 else "B"
        return step(prompt)

    return reply


def _snippet_replies(script: OracleScript) -> Callable[[str], str]:
    replies = iter([f"```python\n{script.program}\n```"])
    return lambda _: next(replies, f"Answer: {script.answer}")


def _role_replies(script: OracleScript) -> Callable[[str], str]:
    """RestGPT and ConAgents: the first words of a prompt tell its role."""
    place = -1

    def reply(prompt: str) -> str:
        nonlocal place
        leads = prompt.startswith(("You plan", "You lead"))
        place += leads
        if place >= len(script.calls):
            return f"Answer: {script.answer}"
        name, line = script.calls[place]
        if leads:
            return f"Next: do {line}" if prompt.startswith("You plan") else f"Function: {name}\nTask: do {line}"
        if prompt.startswith("You choose"):
            return name
        if prompt.startswith("You write one call"):
            return line
        following = script.calls[place + 1][1] if place + 1 < len(script.calls) else script.answer
        return f"It has what is needed for {following}"

    return reply


_REPLIES: Mapping[str, Callable[[OracleScript], Callable[[str], str]]] = {
    **dict.fromkeys((*LOOP, "plan"), _program_replies),
    "react": _step_replies,
    "dfsdt": _step_replies,
    "dfs": _compared_replies,
    "codeact": _snippet_replies,
    "restgpt": _role_replies,
    "conagents": _role_replies,
}


def oracle_script(environment: AgentEnvironment, task: Task, offered: Collection[str]) -> OracleScript | None:
    """The solution of a task with the offered tools, from a run of its reference.

    None without one, and where the reference only looks at what a solve changed and no program makes that change.

    Raises: ATCError: The reference does not run to its end.
    """
    reference = find_reference(environment.settings.benchmark, task.query)
    if reference is None:
        return None
    program, answer = reference.program, "It is done."
    if reference.after:
        file = SOLVED / environment.settings.benchmark / f"{task.id}.py"
        if not file.is_file():
            return None
        program = file.read_text("utf-8")
    with environment.world(task) as world:
        run = world.run(program)
        if run.error is not None:
            raise ATCError(f"the reference of {task.id} fails: {run.error.message}")
        if not reference.after:
            claim = environment.claim(reference, task, world)
            program, answer = _printing_answer(program, claim), claimed_answer(claim)
    calls = _needed_calls(task, [call for call in run.calls if call.tool in offered])
    if not {call.tool for call in run.calls} <= {*offered, None}:
        program = chained_program(calls)
    steps = tuple(
        (str(call.tool), _call_text(call.tool, {k: repr(v) for k, v in call.arguments.items()})) for call in calls
    )
    return OracleScript(program.strip(), steps, answer)


def _printing_answer(program: str, claim: Mapping[str, object]) -> str:
    """A reference that prints an answer in place of its claim, where the claim is its last line."""
    head, printed, tail = program.rstrip().rpartition("print(json.dumps(")
    if not printed or not tail.endswith("))"):
        return program
    print_lines = {
        "all": 'print(*claim["all"], sep="; ")',
        "any": f'print(*claim["any"][:{claim.get("n", 1)}], sep="; ")',
        "number": 'print(claim["number"])',
        "yes": 'print("Yes, it is." if claim["yes"] else "No.")',
        "empty": 'print("Nothing was found.")',
    }
    return f"{head}claim = {tail[:-2]}\n{next(line for kind, line in print_lines.items() if kind in claim)}"


def claimed_answer(claim: Mapping[str, object]) -> str:
    """The shortest answer that meets a claim."""
    for kind in ("all", "any"):
        if isinstance(values := claim.get(kind), list):
            least = claim.get("n", 1)
            chosen = values if kind == "all" else values[: least if isinstance(least, int) else 1]
            return "; ".join(str(value[0] if isinstance(value, list) else value) for value in chosen)
    if "number" in claim:
        return f"{claim['number']}"
    return "Nothing was found." if claim.get("empty") else "Yes, it is." if claim.get("yes") else "No."


def _needed_calls(task: Task, calls: Sequence[CallRecord]) -> list[CallRecord]:
    """The first calls of each tool, as many as the gold solution makes; of a tool that it does without, one."""
    counts: Counter[str] = Counter()
    needed = []
    for call in calls:
        if call.tool is not None and counts[call.tool] < max(task.gold.needed[call.tool], 1):
            counts[call.tool] += 1
            needed.append(call)
    return needed


def chained_program(calls: Sequence[CallRecord]) -> str:
    """A program of calls, each of which takes from the replies before it what it does not take from the question."""
    lines: list[str] = []
    for number, call in enumerate(calls):
        arguments = {}
        for name, value in call.arguments.items():
            sources = (
                f"reply{n}{path}" for n in range(number) if (path := _value_path(calls[n].response, value)) is not None
            )
            arguments[name] = next(sources, repr(value)) if _is_identifier(name) else repr(value)
        lines += [f"reply{number} = {_call_text(call.tool, arguments)}", f"print(reply{number})"]
    return "\n".join(lines)


def _is_identifier(name: str) -> bool:
    return bool({"id", "ids"}.intersection(words(name)))


def _value_path(reply: object, value: object) -> str | None:
    """The path to a value in a reply, as Python's subscripts; None without one."""
    steps = next((path for path, leaf in leaves(reply) if leaf == value), None)
    return subscripts(steps) if steps is not None else None


def _call_text(tool: str | None, arguments: Mapping[str, str]) -> str:
    return f"{tool}({', '.join(f'{name}={value}' for name, value in arguments.items())})"


def simulated_settings(dataset: Dataset, model: str, mode: str) -> RunSettings:
    """The settings of a run over simulated services with known answers."""
    return RunSettings(
        benchmark=dataset.benchmark,
        model=model,
        mode=mode,
        max_reflections=3,
        candidates="listed" if dataset.listed else "all",
        seed=0,
        now=SIMULATED_NOW.isoformat(),
        api="simulated",
        files=dataset.files,
    )


def record_answers(
    dataset: Dataset, file: Path, count: Callable[[str], int], names: Sequence[str] | None = None
) -> int:
    """Solve the tasks in all modes, and append the answers to a file; returns the number of tasks with a reference."""
    settings = simulated_settings(dataset, "perfect", "none")
    recorded = 0
    with closing(AgentEnvironment(settings, dataset.protocols, worlds=find_worlds(dataset.protocols))) as environment:
        for task in track(dataset.tasks, "tasks", console=Console(stderr=True)):
            environment.model = ScriptedModel("nobody", refuse)
            offered = candidate_tools(task, dataset.protocols[task.domain], None, settings.seed)
            solution = oracle_script(environment, task, offered)
            if solution is None:
                continue
            recorded += 1
            for mode in names or modes():
                environment.settings = replace(settings, mode=mode)
                environment.model = Recorder(OracleModel(mode, solution, count), file)
                environment.solve(task, offered)
    return recorded


def refuse(messages: Sequence[Message]) -> str:
    """The answer of a model that nobody asks. Raises: ModelError."""
    raise ModelError("a reference asks no model")
