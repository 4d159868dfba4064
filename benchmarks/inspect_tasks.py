"""The benchmarks as tasks of Inspect AI, with its models, its viewer and its retries.

    inspect eval benchmarks/tiny --model openai/gpt-4.1
    inspect eval benchmarks/restbench_tmdb --model openai/gpt-4.1 -T mode=react

In a checkout they are named by this file: `benchmarks/inspect_tasks.py@tiny`.

A sample is a task of a benchmark. Its solver is an agent of ours in a simulated world of its own, which asks the model
that Inspect evaluates. Its scores are those of `atc bench`: Success, Path (recall of the listed calls), Precision, and
whether the answer agrees with the reference program, where there is one. The whole solution is in the sample's store.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.from_thread
import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from atc.agent import SIMULATED_NOW
from atc.models.base import TEMPERATURE, Completion, ModelBase, ModelRequest, Usage, check_text_only, cut_at_stop
from atc.models.chat_format import after_prefill, without_prefill
from atc.profile import open_profile
from benchmarks.harness.registry import BENCHMARKS
from benchmarks.run.agent_environment import BEST, AgentEnvironment, RunSettings
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.task_files import OfferedTask, offered_tasks
from benchmarks.worlds import find_worlds
from protocols.errors import ModelError

if TYPE_CHECKING:
    from atc.models import Model
    from atc.models.base import Message

__all__ = ["own", "restbench_spotify", "restbench_tmdb", "tiny", "toolbench", "toolflow"]

_SCORES = ("success", "path", "precision")
_FINISH = {"max_tokens": "length", "model_length": "length"}


class InspectModel(ModelBase):
    """The model under evaluation, asked from the thread of a solve. It takes no functions: calls are text."""

    name = "inspect"

    def answer(self, request: ModelRequest) -> Completion:
        """Answer a request with the model that Inspect evaluates. Raises: ModelError: It failed."""
        check_text_only("a model of Inspect", request)
        messages, prefill = without_prefill(request.messages)
        config = GenerateConfig(
            max_tokens=request.max_tokens,
            temperature=0.0 if request.seed is None else TEMPERATURE,
            seed=request.seed,
            stop_seqs=[text for text in request.stop if text.strip() not in prefill] or None,
        )
        output = anyio.from_thread.run(_generate, [_chat_message(message) for message in messages], config)
        if output.error is not None:
            raise ModelError(f"the model of Inspect failed: {output.error}")
        text, stopped = cut_at_stop(after_prefill(output.completion, prefill), request.stop)
        used = output.usage
        usage = Usage(
            prompt_tokens=(used.input_tokens + (used.input_tokens_cache_read or 0)) if used else 0,
            completion_tokens=used.output_tokens if used else 0,
            cached_tokens=(used.input_tokens_cache_read or 0) if used else 0,
            model_calls=1,
            seconds=output.time or 0.0,
        )
        return Completion(text, usage, "stop" if stopped else _FINISH.get(output.stop_reason, output.stop_reason))

    def close(self) -> None:
        """Nothing is held: the model is Inspect's."""


async def _generate(messages: list[ChatMessage], config: GenerateConfig) -> ModelOutput:
    return await get_model().generate(messages, config=config)


def _chat_message(message: Message) -> ChatMessage:
    if message.role == "assistant":
        return ChatMessageAssistant(content=message.content)
    return (ChatMessageSystem if message.role == "system" else ChatMessageUser)(content=message.content)


class InspectEnvironment(AgentEnvironment):
    """Solves the tasks with the model of Inspect."""

    @cached_property
    def model(self) -> Model:
        """The model under evaluation."""
        return InspectModel()


@cache
def _opened(
    name: str, mode: str, seed: int, profile: str, tasks: str | None, api: str | None
) -> tuple[InspectEnvironment, dict[str, OfferedTask]]:
    """What solves the tasks of a benchmark, and the tasks by id, each with the tools that it offers.

    Raises: UsageError: The files of the benchmark are not there.
    """
    benchmark = BENCHMARKS[name]
    dataset = open_dataset(name, Path(tasks) if tasks else None, [api] if api else [])
    if benchmark.tools and not tasks:
        dataset = replace(dataset, tasks=tuple(replace(entry, candidates=()) for entry in dataset.tasks))
    settings = RunSettings(
        benchmark=name,
        model=InspectModel.name,
        mode=mode,
        max_reflections=open_profile(profile).reflections,
        candidates=f"{BEST}{benchmark.tools}" if benchmark.tools else dataset.candidates,
        seed=seed,
        now=SIMULATED_NOW.isoformat(),
        api="simulated",
        files=dataset.files,
        profile=profile,
    )
    worlds = {} if dataset.own_protocols else find_worlds(dataset.protocols)
    runner = InspectEnvironment(settings, dataset, worlds=worlds)
    return runner, {entry.id: entry for entry in offered_tasks(dataset.tasks, dataset.protocols)}


@solver
def atc_agent(
    name: str, mode: str, seed: int, profile: str, tasks: str | None = None, api: str | None = None
) -> Solver:
    """Solve a sample of the benchmark `name` by an agent of ours, in a thread of its own."""
    runner, offered = _opened(name, mode, seed, profile, tasks, api)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        outcome = await anyio.to_thread.run_sync(
            partial(runner.run, offered[str(state.sample_id)]), abandon_on_cancel=True
        )
        metrics = outcome.record["metrics"]
        for field in (*_SCORES, "correct", "standing", "reflections", "error"):
            state.store.set(field, metrics[field])
        solution: Any = outcome.record["solution"]
        state.store.set("solution", solution)
        for attempt in solution["attempts"]:
            state.messages.append(ChatMessageAssistant(content=f"```python\n{attempt['program']}\n```"))
        state.output = ModelOutput.from_content(str(get_model()), solution["answer"] or "")
        state.completed = True
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def calls() -> Scorer:
    """Success, Path and Precision: the calls of the final program against the listed ones."""

    async def score(state: TaskState, target: Target) -> Score:
        values = {name: float(state.store.get(name) or 0.0) for name in _SCORES}
        return Score(value=values, answer=state.output.completion, explanation=str(state.store.get("error") or ""))

    return score


@scorer(metrics=[mean(), stderr()])
def answer_right() -> Scorer:
    """Whether the answer agrees with the reference program; a sample without one is not scored."""

    async def score(state: TaskState, target: Target) -> Score | None:
        correct = state.store.get("correct")
        return None if correct is None else Score(value=float(correct), answer=state.output.completion)

    return score


def _inspect_task(
    name: str, mode: str, seed: int, profile: str, tasks: str | None = None, api: str | None = None
) -> Task:
    """A benchmark as a task of Inspect. Raises: UsageError: Its files are not there."""
    _, offered = _opened(name, mode, seed, profile, tasks, api)
    samples = [
        Sample(
            id=id,
            input=entry.task.query,
            target=sorted(entry.task.gold.needed),
            metadata={"domain": entry.task.domain},
        )
        for id, entry in offered.items()
    ]
    scorers = [calls(), answer_right()]
    return Task(
        MemoryDataset(samples, name=name),
        solver=atc_agent(name, mode, seed, profile, tasks, api),
        scorer=scorers,
        name=name,
    )


@task
def tiny(mode: str = "attribute", seed: int = 0, profile: str = "large") -> Task:
    """24 tasks of our own with two made-up APIs; needs no other file."""
    return _inspect_task("tiny", mode, seed, profile)


@task
def restbench_tmdb(mode: str = "attribute", seed: int = 0, profile: str = "large") -> Task:
    """RestBench over TMDB; its files are those of `atc bench restbench-tmdb`."""
    return _inspect_task("restbench-tmdb", mode, seed, profile)


@task
def restbench_spotify(mode: str = "attribute", seed: int = 0, profile: str = "large") -> Task:
    """RestBench over Spotify; its files are those of `atc bench restbench-spotify`."""
    return _inspect_task("restbench-spotify", mode, seed, profile)


@task
def toolflow(mode: str = "attribute", seed: int = 0, profile: str = "large") -> Task:
    """ToolFlow; its files are those of `atc bench toolflow`."""
    return _inspect_task("toolflow", mode, seed, profile)


@task
def toolbench(mode: str = "attribute", seed: int = 0, profile: str = "large") -> Task:
    """ToolBench's queries of G1_instruction; its files are those of `atc bench toolbench`."""
    return _inspect_task("toolbench", mode, seed, profile)


@task
def own(
    mode: str = "attribute", seed: int = 0, profile: str = "large", tasks: str | None = None, api: str | None = None
) -> Task:
    """200 tasks over eight real documents, or yours: `-T tasks=FILE -T api=SPEC`."""
    return _inspect_task("own", mode, seed, profile, tasks, api)
