"""Goals with programs, composed of phrases, and filled from pools of values.

A goal is an opening, which says all that is needed, and a clause for each further criterion. A template is a goal with
placeholders and the calls that share them; a value has a form in the goal and one in the call.

Source: Xu et al. (arXiv:2305.16504), section 4.1 and appendix C.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import yaml

from benchmarks.manipulation.environment import GoalAction
from benchmarks.manipulation.function_environment import called_functions

__all__ = ["CriteriaTemplates", "GoalTemplate", "Part", "demonstration"]

Part = Literal["tests", "training"]
"""What a template is for; each has phrases of its own."""

_PLACEHOLDER = re.compile(r"{(\w+)(?:@(\w+))?(?::([\w -]+)(?:\|([\w -]+))?)?}")
"""`{name}`; `{name@pool}` where the pool has another name; `{name:garage}` and `{name:child|children}` where a noun
follows the number."""

_DATE_FORMS = ("%Y/%m/%d", "%B {day}, %Y", "{day} %B %Y", "%Y-%m-%d")
_ATTEMPTS = 10_000
"""Draws of a combination or of values, before the pools count as too small."""


@dataclass(frozen=True, slots=True)
class _Scenario:
    """One kind of goal: `calls` come first, `parts` are the criteria that may be added, `pools` those of its own.

    `distinct` is the most combinations for either part, `sizes` how many criteria are added.
    """

    id: str
    calls: tuple[str, ...]
    parts: Mapping[str, int]
    sizes: tuple[int, ...]
    distinct: int
    openings: Mapping[str, Sequence[Mapping[str, str]]]
    pools: Mapping[str, Sequence[object]]


@dataclass(frozen=True, slots=True)
class GoalTemplate:
    """A goal with placeholders, and the calls that have the same ones."""

    scenario: str
    goal: str
    calls: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The functions of its calls."""
        return called_functions(_PLACEHOLDER.sub("0", "\n".join(self.calls)))

    @property
    def pools(self) -> dict[str, str]:
        """The pool of each value by its name, in the order of the goal."""
        return {match[1]: match[2] or match[1] for match in _PLACEHOLDER.finditer(self.goal)}


@dataclass(frozen=True, slots=True)
class CriteriaTemplates:
    """All that a task's tests, demonstrations and samples are made of.

    `clauses` lead from the criteria of a clause to its phrases, the longest first; `calls` from a criterion to its
    call. `link` stands before the first clause, `joints` between two and before the last one. Of the names in a chain
    of `rising` each has a greater value than the one before it, and so have those of `days`; no two of `different` are
    equal.
    """

    scenarios: Sequence[_Scenario]
    clauses: Mapping[tuple[str, ...], Mapping[str, Sequence[str]]]
    calls: Mapping[str, str]
    last_call: str
    link: str
    joints: tuple[str, str]
    pools: Mapping[str, Sequence[object]]
    rising: Sequence[Sequence[str]]
    days: Sequence[str]
    different: Sequence[str]
    demonstrations: Sequence[GoalAction]

    @classmethod
    def read(cls, file: Path) -> CriteriaTemplates:
        """Read a file of templates; the two of the suite show its form."""
        content: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
        clauses = {tuple(parts.split()): phrases for parts, phrases in content["clauses"].items()}
        return cls(
            [_scenario(id, record) for id, record in content["scenarios"].items()],
            dict(sorted(clauses.items(), key=lambda clause: -len(clause[0]))),
            content["calls"],
            content["last_call"],
            content["link"],
            (content["joints"][0], content["joints"][1]),
            content["pools"],
            content.get("rising", []),
            content.get("days", []),
            content.get("different", []),
            [demonstration(record["goal"], record["action"].strip()) for record in content["demonstrations"]],
        )

    def compose(
        self, part: Part, count: int, rng: random.Random, excluded: Collection[tuple[str, ...]]
    ) -> list[GoalTemplate]:
        """As many templates, of one scenario after another.

        Args:
            excluded: Sorted names of functions that none of them may call. What one calls is not called by another
                one, until a scenario has as many combinations as it is to have.
        """
        used = set(excluded)
        parts_of: dict[str, list[list[str]]] = {scenario.id: [] for scenario in self.scenarios}
        templates = []
        for number in range(count):
            scenario = self.scenarios[number % len(self.scenarios)]
            drawn = parts_of[scenario.id]
            if len(drawn) < scenario.distinct:
                drawn.append(self._new_parts(scenario, rng, used))
            parts = drawn[number // len(self.scenarios) % len(drawn)]
            templates.append(self._template(scenario, parts, part, rng))
        return templates

    def _new_parts(self, scenario: _Scenario, rng: random.Random, used: set[tuple[str, ...]]) -> list[str]:
        """Criteria whose calls, with those of the scenario, are not used; they are from now on."""
        for _ in range(_ATTEMPTS):
            keys = {name: rng.random() ** (1 / weight) for name, weight in scenario.parts.items()}
            parts = sorted(keys, key=lambda name: -keys[name])[: rng.choice(scenario.sizes)]
            names = tuple(sorted(GoalTemplate("", "", self._calls(scenario, parts)).names))
            if names not in used:
                used.add(names)
                return parts
        raise ValueError(f"the scenario {scenario.id!r} has no further combination of criteria")

    def _calls(self, scenario: _Scenario, parts: Sequence[str]) -> tuple[str, ...]:
        return (*scenario.calls, *(self.calls[name] for name in parts), self.last_call)

    def _template(self, scenario: _Scenario, parts: Sequence[str], part: Part, rng: random.Random) -> GoalTemplate:
        openings = scenario.openings[part]
        plain = [entry for entry in openings if not entry["with"]]
        opening = rng.choice([entry for entry in openings if entry["with"] in parts] or plain)
        clauses = [clause for clause in self._clauses(parts) if clause != (opening["with"],)]
        rng.shuffle(clauses)
        phrases = [rng.choice(self.clauses[clause][part]) for clause in clauses]
        order = [opening["with"]] * bool(opening["with"]) + [name for clause in clauses for name in clause]
        return GoalTemplate(scenario.id, self._joined(opening, phrases), self._calls(scenario, order))

    def _clauses(self, parts: Sequence[str]) -> list[tuple[str, ...]]:
        """The clauses that say the criteria, each of them once."""
        remaining, clauses = set(parts), []
        for clause in self.clauses:
            if remaining.issuperset(clause):
                clauses.append(clause)
                remaining -= set(clause)
        return clauses

    def _joined(self, opening: Mapping[str, str], phrases: Sequence[str]) -> str:
        if not phrases:
            return opening["text"] + opening["end"]
        between, last = self.joints
        listed = between.join(phrases[:-1]) + last * (len(phrases) > 1) + phrases[-1]
        return opening["text"] + opening.get("link", self.link) + listed + opening["end"]

    def fill(self, template: GoalTemplate, rng: random.Random) -> tuple[str, str]:
        """The goal and the program of a template with values from the pools."""
        values = self._values(template, rng)

        def goal_form(match: re.Match[str]) -> str:
            form = values[match[1]][0]
            singular, plural = match[3], match[4] or f"{match[3]}s"
            return form if singular is None else f"{form} {singular if form == '1' else plural}"

        goal = _PLACEHOLDER.sub(goal_form, template.goal)
        action = _PLACEHOLDER.sub(lambda match: _literal(values[match[1]][1]), "\n".join(template.calls))
        return goal, action

    def _values(self, template: GoalTemplate, rng: random.Random) -> dict[str, tuple[str, Any]]:
        """The values of a template by name, each as its form in the goal and the value itself."""
        scenario = next(scenario for scenario in self.scenarios if scenario.id == template.scenario)
        pools = {**self.pools, **scenario.pools}
        pool_of = template.pools
        days = dict(_drawn_days([name for name in self.days if name in pool_of], pools, rng))
        for _ in range(_ATTEMPTS):
            values = {
                name: days[name] if name in days else _value(rng.choice(pools[pool])) for name, pool in pool_of.items()
            }
            places = [values[name][1] for name in self.different if name in values]
            chains = [[values[name][1] for name in chain if name in values] for chain in self.rising]
            if len(set(places)) == len(places) and all(low < high for chain in chains for low, high in pairwise(chain)):
                return values
        raise ValueError(f"the pools have no values for {template.goal!r}")


def _drawn_days(
    names: Sequence[str], pools: Mapping[str, Sequence[object]], rng: random.Random
) -> Iterator[tuple[str, tuple[str, date]]]:
    """Days in rising order, a few days apart, all in one form. The pool `days` has the first day and the last one."""
    if not names:
        return
    first, last = pools["days"]
    assert isinstance(first, date)
    assert isinstance(last, date)
    day = date.fromordinal(rng.randint(first.toordinal(), last.toordinal()))
    form = rng.choice(_DATE_FORMS)
    for name in names:
        yield name, (day.strftime(form).replace("{day}", str(day.day)), day)
        day += timedelta(rng.randint(1, 9))


def _value(entry: object) -> tuple[str, Any]:
    """A value of a pool: `goal form: value`, or a value that a goal has as it is."""
    if isinstance(entry, Mapping):
        ((form, value),) = entry.items()
        return str(form), value
    return str(entry), entry


def _literal(value: object) -> str:
    """A value as programs write it; a date is three arguments."""
    if isinstance(value, date):
        return f"{value.month}, {value.day}, {value.year}"
    return json.dumps(value, ensure_ascii=False)


def _scenario(id: str, record: Mapping[str, Any]) -> _Scenario:
    return _Scenario(
        id,
        tuple(record["calls"]),
        record["parts"],
        tuple(record["sizes"]),
        record["distinct"],
        {part: [{"with": "", **opening} for opening in record["openings"][part]] for part in ("tests", "training")},
        record.get("pools", {}),
    )


def demonstration(goal: str, action: str) -> GoalAction:
    """A goal with its calls; as a program of `atc` it prints what its last call returns."""
    before, _, last = action.rpartition("\n")
    return GoalAction(goal, action, called_functions(action), f"{before}\nprint({last})")
