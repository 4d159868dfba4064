"""Success at equal model calls of DFSDT, its ranked ancestor and restarts: ToolLLM's Table 3 as a simulation.

`python -m benchmarks.micro.search` has a simulated model walk trails of a service on this machine. A trail is a chain
of `LENGTH` calls; each reply names three stops, one of which leads on, and the last one has the number that is asked
for.
The modes, the broker and the journal are the real ones; only the model is simulated:

- At each step it errs with probability `error`: it takes a stop from which no way leads to the goal.
- Past such a step it notices at each message with probability `notice`, and gives up if the mode has a function for
  that. Else it goes on until the path is as long as it may be. It never goes back within a path by itself.
- On the right way it gives up with probability `despair`, which is 0 but where `compat` is compared.
- Told what was tried from a stop, it takes another one, and errs independently.
- A restart repeats a decision with probability `habit`, and else takes it anew. With 1 restarts are no use, with 0 they
  are independent chances. The paper says nothing about it; with the usual 0.75 restarts are worth what they are there.
- Of two steps it ranks the wrong one first with probability `error`.

All draws are hashes of the task, the path and the number of siblings, so that a run can be repeated, and all modes and
errors meet the same luck. One search with `BUDGETS[-1]` model calls gives the success at every smaller budget, because
a budget only ends it; tests/benchmarks/toolbench/test_search_bench.py compares that with searches of smaller budgets.

Source: ToolLLM (arXiv:2307.16789), section 2.3 and Table 3.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from statistics import fmean
from typing import Any

import click
import yaml
from rich.console import Console
from rich.progress import Progress

from atc import Agent
from atc.files import to_json
from atc.models import Completion, Message, Usage
from atc.models.base import ModelBase, ModelRequest
from atc.options import SearchSettings
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.report.stats import Estimate, difference, estimate
from protocols import Protocol, load
from protocols.simulator.http.connection import ConnectionServer

__all__ = ["BUDGETS", "MODES", "Habits", "Walk", "Walker", "main", "measure", "trails", "walk"]

MODES = ("react", "react@99", "dfsdt", "dfs")
"""`react@99` is the paper's ReACT@N: it starts again until the model calls are used up."""

LENGTH = 4
"""Calls of a trail."""

BRANCHES = 3
"""Stops that a reply names."""

DEPTH = 6
"""Messages on a path, in all modes; the published 12 tree nodes are as many where a message is a call alone."""

BUDGETS = (5, 10, 20, 40, 60, 100, 200)
"""Model calls; 200 are the published limit."""

ERRORS = (0.05, 0.1, 0.2, 0.35, 0.5)
COMPAT_ERRORS = (0.1, 0.5)
NOTICES = (0.1, 0.25, 0.5, 0.75)
HABITS = (0.0, 0.5, 0.75, 1.0)
DESPAIR = 0.1
PUBLISHED = {"react": 0.2934, "react@99": 0.3994, "dfsdt": 0.4875}
"""Table 3: pass rates of ChatGPT, the mean of its three kinds of instructions."""

PUBLISHED_COST = 4.0
"""Model calls of DFSDT in multiples of ReACT's, about, as the paper says."""

PUBLISHED_ERROR = 1 - PUBLISHED["react"] ** (1 / LENGTH)
"""The error per step at which one chain succeeds as often as the published ReACT."""

SEED = 3
"""The first one with which single chains succeed as often on the 120 tasks as on the mean of all, within 2 points."""

DOCUMENT = """
openapi: 3.1.0
info: {title: trails, version: "1"}
paths:
  /stops/{stop}:
    get:
      summary: A stop of a trail. It names the stops that may come next, or has the number at the end.
      parameters: [{name: stop, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok, content: {application/json: {schema: {type: object, properties: {
        stop: {type: string}, next: {type: array, items: {type: string}}, goal: {type: integer}}}}}}}
"""

_STOP = re.compile(r"\bstop\W{1,9}(\d+(?:-\d)+)")
"""The stop of a call or a reply, as Python or as JSON within JSON."""

_GOAL = re.compile(r'"goal": (\d+)')
_TRAIL = re.compile(r"trail (\d+)")


@cache
def _chance(*path: object) -> float:
    """A number from 0 to 1 that belongs to a path."""
    digest = hashlib.blake2b(repr(path).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


# The service


def _is_right(stop: str) -> bool:
    """True if the way from the start of its trail to a stop is the one to the goal."""
    before, dash, place = stop.rpartition("-")
    return not dash or (int(place) == int(_chance("right", before) * BRANCHES) and _is_right(before))


def _has_goal(stop: str) -> bool:
    return stop.count("-") == LENGTH and _is_right(stop)


def _goal(trail: str) -> int:
    return 100 + int(_chance("goal", trail) * 900)


def _next_stops(stop: str) -> list[str]:
    return [f"{stop}-{place}" for place in range(BRANCHES)]


def _handle(
    method: str, target: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, bytes, str, Mapping[str, str]]:
    """Answer one request; a wrong way never ends."""
    stop = target.rpartition("/")[2]
    content = {"goal": _goal(stop.partition("-")[0])} if _has_goal(stop) else {"next": _next_stops(stop)}
    return 200, json.dumps({"stop": stop, **content}).encode(), "application/json", {}


def trails() -> tuple[ConnectionServer, Protocol]:
    """The running service, to be closed, and its protocol."""
    server = ConnectionServer(0, _handle, datetime.now(UTC))
    return server, load({**yaml.safe_load(DOCUMENT), "servers": [{"url": server.url}]})


# The model


@dataclass(frozen=True, slots=True)
class Habits:
    """How a simulated model behaves: probabilities, which the docstring of this module explains, and a seed."""

    error: float = PUBLISHED_ERROR
    notice: float = 0.25
    habit: float = 0.75
    despair: float = 0.0
    seed: int = SEED


class Walker(ModelBase):
    """The simulated model: it reads its place from the conversation, and what it may do from the instruction."""

    name = "walker"

    def __init__(self, habits: Habits) -> None:
        self.habits = habits
        self.comparisons = 0

    def answer(self, request: ModelRequest) -> Completion:
        """The next message."""
        messages = request.messages
        if messages[0].role == "system":
            text = self._step(messages, request.seed or 0)
        else:
            self.comparisons += 1
            text = self._better(messages[0].content)
        return Completion(text, Usage(sum(len(message.content) for message in messages) // 4, 20, 0, 1, 0.0), "stop")

    def close(self) -> None:
        """Nothing is held."""

    def _step(self, messages: Sequence[Message], trial: int) -> str:
        """A call, an answer or a give-up. In a published search it is alone, else with a thought."""
        published = "give_up_and_restart" in messages[0].content
        can_give_up = published or "give_up(" in messages[0].content
        here = _place(messages)
        if (goal := _GOAL.search(messages[-1].content)) and _has_goal(here):
            answer = f'Finish(return_type="give_answer", final_answer="{goal[1]}")'
            return _message(answer if published else f'finish(answer="{goal[1]}")', published)
        tried = {stop for stop in _STOP.findall(messages[-1].content) if stop.rpartition("-")[0] == here}
        doubt = self.habits.despair if _is_right(here) else self.habits.notice
        if can_give_up and self._draw("notice", here, len(tried), trial) < doubt:
            give_up = 'Finish(return_type="give_up_and_restart")'
            return _message(give_up if published else 'give_up(reason="a dead end")', published)
        untried = [stop for stop in _next_stops(here) if stop not in tried] or _next_stops(here)
        wrong = [stop for stop in untried if not _is_right(stop)]
        errs = self._draw("error", here, len(tried), trial) < self.habits.error
        if len(wrong) < len(untried) and not (errs and wrong):
            stop = next(stop for stop in untried if stop not in wrong)
        else:
            stop = wrong[int(self._draw("wrong", here, len(tried), trial) * len(wrong))]
        return _message(f'GET_stops_stop(stop="{stop}")', published)

    def _draw(self, subject: str, stop: str, siblings: int, trial: int) -> float:
        """The chance of a decision; a restart finds the earlier one again where it is a habit."""
        where = (self.habits.seed, subject, stop, siblings)
        return _chance(*where, 0 if _chance("habit", *where) < self.habits.habit else trial)

    def _better(self, prompt: str) -> str:
        """Rank two steps."""
        first, _, second = prompt.partition("\nA:\n")[2].partition("\nB:\n")
        stops = _STOP.findall(first)[0], _STOP.findall(second)[0]
        luck = _chance(self.habits.seed, "rank", *stops)
        if _is_right(stops[0]) == _is_right(stops[1]):
            return "A" if luck < 0.5 else "B"
        return "A" if _is_right(stops[0]) != (luck < self.habits.error) else "B"


def _place(messages: Sequence[Message]) -> str:
    """The stop of the last call on the path; the number of the trail at its start."""
    for message in reversed(messages):
        if message.role == "assistant" and (stops := _STOP.findall(message.content)):
            return str(stops[-1])
    starts: list[str] = [trail for message in messages for trail in _TRAIL.findall(message.content)]
    return starts[-1]


def _message(action: str, alone: bool) -> str:
    return f"Action: {action}" if alone else f"Thought: on along the trail.\nAction: {action}"


# One mode on all tasks


@dataclass(frozen=True, slots=True)
class Walk:
    """One task in one mode.

    Args:
        calls: Completions, comparisons included; in tries that led to no answer, too.
        last_calls: Those of the last try.
        nodes: Messages in the tree of the search.
    """

    solved: bool
    calls: int
    last_calls: int
    nodes: int
    comparisons: int
    compat: bool

    def solved_within(self, budget: int) -> bool:
        """True if a search with so many model calls finds the answer. A published one loses the last of a try."""
        return self.solved and self.calls <= budget and (not self.compat or self.last_calls < budget)


@dataclass(frozen=True, slots=True)
class _Setting:
    mode: str
    habits: Habits
    compat: bool = False


def walk(
    protocol: Protocol, mode: str, habits: Habits, tasks: Iterable[int], *, compat: bool = False, budget: int = 200
) -> list[Walk]:
    """Solve tasks in one mode, each with at most `budget` model calls."""
    model = Walker(habits)
    search = SearchSettings(depth=None if compat else DEPTH, max_model_calls=budget, compat=compat)
    walks = []
    with Agent(protocol, model, mode=mode, search=search) as agent:
        for task in tasks:
            model.comparisons = 0
            solution = agent.solve(f"Which number is at the end of trail {task}?")
            calls, nodes = solution.usage.model_calls, len(solution.tree)
            last_try = solution.tree[-1].trial if solution.tree else 1
            earlier = sum(node.trial < last_try for node in solution.tree)
            solved = solution.status == "answered" and solution.answer == str(_goal(str(task)))
            walks.append(Walk(solved, calls, calls - earlier, nodes, model.comparisons, compat))
    return walks


# The figures

_Walks = Mapping[_Setting, Sequence[Walk]]


def _settings(seed: int, quick: bool) -> list[_Setting]:
    """Everything that is measured."""
    usual = Habits(seed=seed)
    ours = (0.1,) if quick else ERRORS
    published = (0.1,) if quick else COMPAT_ERRORS
    settings = [
        _Setting(mode, replace(usual, error=error), compat)
        for compat, errors in ((False, ours), (True, published))
        for error in sorted([*errors, PUBLISHED_ERROR])
        for mode in MODES
    ]
    if not quick:
        settings += [_Setting("react@99", replace(usual, habit=habit)) for habit in HABITS]
        settings += [_Setting(mode, replace(usual, notice=notice)) for notice in NOTICES for mode in ("react", "dfsdt")]
        settings += [_Setting("dfsdt", replace(usual, despair=DESPAIR), compat) for compat in (False, True)]
    return list(dict.fromkeys(settings))


def measure(
    tasks: int,
    *,
    seed: int = SEED,
    quick: bool = False,
    report: Callable[[int, int], None] = lambda finished, total: None,
) -> dict[str, Any]:
    """All figures; shares are from 0 to 1 and have 95 % intervals, costs are means over the tasks.

    Args:
        report: Told after each mode how many of all are measured.
    """
    settings = _settings(seed, quick)
    walks: dict[_Setting, Sequence[Walk]] = {}
    server, protocol = trails()
    with closing(server):
        for setting in settings:
            walks[setting] = walk(protocol, setting.mode, setting.habits, range(tasks), compat=setting.compat)
            report(len(walks), len(settings))
    usual = Habits(seed=seed)
    by_error = _varied(walks, usual, "error")
    places = list(dict.fromkeys((key.habits, key.compat) for key in by_error))
    both = [key for key in [*by_error, *_varied(walks, usual, "despair")] if replace(key, compat=True) in walks]
    return {
        "tasks": tasks,
        "seed": seed,
        "length": LENGTH,
        "depth": DEPTH,
        "budgets": BUDGETS,
        "habits": asdict(usual),
        "success": [_success(key, walks[key]) for key in by_error],
        "cost": [_cost(walks, *place) for place in places],
        "ranking": [_ranking(walks, *place) for place in places],
        "published": {**PUBLISHED, "times_react": PUBLISHED_COST},
        "as_published": [_as_published(walks, usual, compat) for compat in (False, True)],
        "by_habit": [
            _as_published(walks, key.habits, False)
            for key in _varied(walks, usual, "habit")
            if key.mode == "react@99" and not key.compat
        ],
        "by_notice": [
            _cost(walks, key.habits, False)
            for key in _varied(walks, usual, "notice")
            if key.mode == "dfsdt" and not key.compat
        ],
        "compat": [_compat(walks, key) for key in dict.fromkeys(both) if not key.compat],
    }


def _varied(walks: _Walks, usual: Habits, field: str) -> list[_Setting]:
    """The settings whose habits are the usual ones but for one field, in the order of its value."""
    kept = [key for key in walks if replace(key.habits, **{field: getattr(usual, field)}) == usual]
    return sorted(kept, key=lambda key: (key.compat, getattr(key.habits, field)))


def _success(setting: _Setting, walks: Sequence[Walk]) -> dict[str, Any]:
    """Success against the budget."""
    rates = {str(budget): asdict(_rate(walks, budget)) for budget in BUDGETS}
    return {"mode": setting.mode, "error": setting.habits.error, "compat": setting.compat, "budget": rates}


def _rate(walks: Sequence[Walk], budget: int) -> Estimate:
    return estimate([float(result.solved_within(budget)) for result in walks], share=True)


def _ratio(above: Sequence[int], below: Sequence[int]) -> Estimate:
    """A ratio of means over the same tasks; the interval is that of its linear approximation."""
    ratio, mean = fmean(above) / fmean(below), fmean(below)
    return estimate([ratio + (a - ratio * b) / mean for a, b in zip(above, below, strict=True)])


def _cost(walks: _Walks, habits: Habits, compat: bool) -> dict[str, Any]:
    """What ReACT and DFSDT cost at the largest budget; `times_react` is the ratio of their model calls."""
    react, dfsdt = (walks[_Setting(mode, habits, compat)] for mode in ("react", "dfsdt"))
    return {
        **asdict(habits),
        "compat": compat,
        "react": asdict(estimate([result.calls for result in react])),
        "dfsdt": asdict(estimate([result.calls for result in dfsdt])),
        "times_react": asdict(_ratio([result.calls for result in dfsdt], [result.calls for result in react])),
        "success": {"react": asdict(_rate(react, BUDGETS[-1])), "dfsdt": asdict(_rate(dfsdt, BUDGETS[-1]))},
    }


def _ranking(walks: _Walks, habits: Habits, compat: bool) -> dict[str, Any]:
    """What the ranking of `dfs` costs: its nodes and comparisons, and DFSDT's nodes and calls as shares of its own."""
    dfsdt, dfs = (walks[_Setting(mode, habits, compat)] for mode in ("dfsdt", "dfs"))
    return {
        **asdict(habits),
        "compat": compat,
        "dfsdt_nodes": fmean(result.nodes for result in dfsdt),
        "dfs_nodes": fmean(result.nodes for result in dfs),
        "dfs_comparisons": fmean(result.comparisons for result in dfs),
        "nodes_of_dfs": asdict(_ratio([result.nodes for result in dfsdt], [result.nodes for result in dfs])),
        "calls_of_dfs": asdict(_ratio([result.calls for result in dfsdt], [result.calls for result in dfs])),
        "success": {"dfsdt": asdict(_rate(dfsdt, BUDGETS[-1])), "dfs": asdict(_rate(dfs, BUDGETS[-1]))},
    }


def _as_published(walks: _Walks, habits: Habits, compat: bool) -> dict[str, Any]:
    """The rows of Table 3; restarts get the budget with which they cost on the mean what DFSDT costs."""
    dfsdt_habits = replace(habits, habit=Habits().habit)  # without restarts it is never asked about
    react, dfsdt = (walks[_Setting(mode, dfsdt_habits, compat)] for mode in ("react", "dfsdt"))
    restarts = walks[_Setting("react@99", habits, compat)]
    budget = _equal_budget(restarts, fmean(result.calls for result in dfsdt))
    again = [float(result.solved_within(budget)) for result in restarts]
    return {
        **asdict(habits),
        "compat": compat,
        "react": asdict(_rate(react, BUDGETS[-1])),
        "react@99": asdict(_rate(restarts, budget)),
        "dfsdt": asdict(_rate(dfsdt, BUDGETS[-1])),
        "restarts_budget": budget,
        "restarts_at_200": asdict(_rate(restarts, BUDGETS[-1])),
        "dfsdt_minus_restarts": asdict(difference(again, [float(result.solved) for result in dfsdt])),
    }


def _equal_budget(walks: Sequence[Walk], cost: float) -> int:
    """The least budget at which the mean of the model calls is not below a cost; the largest where none is."""
    reached = (budget for budget in range(1, BUDGETS[-1]) if fmean(min(w.calls, budget) for w in walks) >= cost)
    return next(reached, BUDGETS[-1])


def _compat(walks: _Walks, setting: _Setting) -> dict[str, Any]:
    """Success and calls under `compat` beside ours; differences are `compat` minus ours."""
    ours, published = walks[setting], walks[replace(setting, compat=True)]
    return {
        "mode": setting.mode,
        "error": setting.habits.error,
        "despair": setting.habits.despair,
        "success": [asdict(_rate(results, BUDGETS[-1])) for results in (ours, published)],
        "calls": [fmean(result.calls for result in results) for results in (ours, published)],
        "success_difference": asdict(
            difference([float(result.solved) for result in ours], [float(result.solved) for result in published])
        ),
        "calls_difference": asdict(difference([result.calls for result in ours], [w.calls for w in published])),
    }


# The tables


def _percent(figures: Mapping[str, Any]) -> str:
    """A share in percent, and how far its interval reaches on its longer side."""
    return f"{100 * figures['mean']:.0f} ±{100 * _reach(figures):.0f}"


def _number(figures: Mapping[str, Any]) -> str:
    """A mean, and how far its interval reaches on its longer side."""
    return f"{figures['mean']:.2f} ±{_reach(figures):.2f}"


def _reach(figures: Mapping[str, Any]) -> float:
    return float(max(figures["high"] - figures["mean"], figures["mean"] - figures["low"]))


def _kind(row: Mapping[str, Any]) -> str:
    return "compat" if row["compat"] else "ours"


def _print_success(figures: Mapping[str, Any]) -> None:
    for compat in (False, True):
        rows = [
            (f"{row['error']:.3g}", row["mode"], *map(_percent, row["budget"].values()))
            for row in figures["success"]
            if row["compat"] is compat
        ]
        title = f"success in % within so many model calls, {figures['tasks']} tasks{', compat' if compat else ''}"
        print_table(("error", "mode", *map(str, figures["budgets"])), rows, title=title, figures_from=2)


def _print_published(figures: Mapping[str, Any]) -> None:
    published = figures["published"]
    rows = [("published", "", *(f"{100 * published[mode]:.2f}" for mode in PUBLISHED), "", "", "")]
    usual = figures["habits"]
    for row in [*figures["as_published"], *(row for row in figures["by_habit"] if row["habit"] != usual["habit"])]:
        cells = [_percent(row[mode]) for mode in PUBLISHED]
        apart = row["dfsdt_minus_restarts"]
        rows.append(
            (
                _kind(row),
                f"{row['habit']:.2f}",
                *cells,
                str(row["restarts_budget"]),
                _percent(apart),
                _percent(row["restarts_at_200"]),
            )
        )
    columns = ("", "habit", "ReACT", "ReACT@N", "DFSDT", "N", "DFSDT - ReACT@N", "ReACT@200")
    title = f"Table 3, at an error of {PUBLISHED_ERROR:.3f} a step: success in %, N such that the mean costs are equal"
    print_table(columns, rows, title=title, figures_from=2)


def _print_costs(figures: Mapping[str, Any]) -> None:
    by_notice = [row for row in figures["by_notice"] if row["notice"] != figures["habits"]["notice"]]
    rows = [
        (
            _kind(row),
            f"{row['error']:.3g}",
            f"{row['notice']:.2f}",
            f"{row['react']['mean']:.1f}",
            f"{row['dfsdt']['mean']:.1f}",
            _number(row["times_react"]),
        )
        for row in [*figures["cost"], *by_notice]
    ]
    rows.append(("published", "", "", "", "", f"about {figures['published']['times_react']:.0f}"))
    columns = ("", "error", "notice", "ReACT", "DFSDT", "DFSDT / ReACT")
    print_table(columns, rows, title="model calls a task", figures_from=1)
    ranking = [
        (
            _kind(row),
            f"{row['error']:.3g}",
            f"{row['dfsdt_nodes']:.1f}",
            f"{row['dfs_nodes']:.1f}",
            f"{row['dfs_comparisons']:.1f}",
            _percent(row["nodes_of_dfs"]),
            _percent(row["calls_of_dfs"]),
        )
        for row in figures["ranking"]
    ]
    names = ("", "error", "nodes, DFSDT", "nodes, dfs", "comparisons, dfs", "nodes, % of dfs", "calls, % of dfs")
    print_table(names, ranking, title="what ranking costs, a task", figures_from=1)


def _print_compat(figures: Mapping[str, Any]) -> None:
    rows = [
        (
            row["mode"],
            f"{row['error']:.3g}",
            f"{row['despair']:.2f}",
            *map(_percent, row["success"]),
            _percent(row["success_difference"]),
            *(f"{calls:.1f}" for calls in row["calls"]),
            _number(row["calls_difference"]),
        )
        for row in figures["compat"]
        if any(row[name]["more"] or row[name]["fewer"] for name in ("success_difference", "calls_difference"))
    ]
    columns = ("mode", "error", "despair", "success", "compat", "apart", "calls", "compat", "apart")
    print_table(columns, rows, title="where compat differs, at 200 model calls", figures_from=1)


@click.command(cls=Measurement)
@click.option("--tasks", type=click.IntRange(min=2), default=None, help="Trails  [default: 120, 25 with --quick]")
@click.option("--seed", default=SEED, show_default=True, help="Of the model's luck.")
@click.option("--quick", is_flag=True, help="Two errors and fewer trails, in about 20 seconds.")
@json_option()
def main(tasks: int | None, seed: int, quick: bool, as_json: bool) -> None:
    """Measure success against model calls of react, react@99, dfsdt and dfs with a model that errs."""
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("modes")
        figures = measure(
            tasks or (25 if quick else 120),
            seed=seed,
            quick=quick,
            report=lambda finished, total: progress.update(bar, completed=finished, total=total),
        )
    if as_json:
        click.echo(to_json(figures), nl=False)
        return
    for print_part in (_print_success, _print_published, _print_costs, _print_compat):
        print_part(figures)


if __name__ == "__main__":
    main()
