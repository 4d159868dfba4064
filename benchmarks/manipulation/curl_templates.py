"""Goals with curl lines, from templates and value pools: the tests, demonstrations and training samples of a service.

A template is a goal with placeholders. Its call follows from its kind: the parameters that the kind needs, and those
options whose placeholders the goal has. A value has two forms, that of the goal and that of the call.

Source: Xu et al. (arXiv:2305.16504), section 4.1 and appendix C.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import yaml

from benchmarks.manipulation.environment import FunctionDocument, GoalAction
from protocols.naming import argument_name, tool_name

__all__ = ["CallKind", "CallTemplate", "TaskTemplates", "Value", "program_of", "read_templates"]

_PLACEHOLDER = re.compile(r"{(\w+)}")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_ATTEMPTS = 100
"""Draws from a template, after which it has nothing new."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value as a goal has it, and as a call has it: `Palo Alto` and `palo+alto`."""

    goal: str
    action: str

    @classmethod
    def read(cls, record: object) -> Value:
        """Both forms of `Palo Alto / palo+alto`; a value without a stroke has the same form in both."""
        goal, _, action = str(record).partition(" / ")
        return cls(goal, action or goal)


@dataclass(frozen=True, slots=True)
class CallKind:
    """One function of a service: a call with the parameters that it needs, those it may have, and fixed ones.

    `name` is method and path. The members of `required` and `optional` lead from a parameter to its pool.
    """

    id: str
    name: str
    origin: str
    key_parameter: str
    document: FunctionDocument
    required: Mapping[str, str]
    optional: Mapping[str, str]
    fixed: Mapping[str, Any]
    in_body: bool

    def arguments(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The values by parameter, without those in the path."""
        pools = {**self.required, **self.optional}
        return {parameter: values[pool] for parameter, pool in pools.items() if pool in values}

    def action(self, values: Mapping[str, Value]) -> str:
        """The curl line for values by pool."""
        method, path = self.name.split(" ")
        for pool, value in values.items():
            path = path.replace(f"{{{pool}}}", value.action)
        placed = _PLACEHOLDER.findall(self.name)
        arguments = {name: value.action for name, value in self.arguments(values).items() if name not in placed}
        if self.in_body:
            return f"curl -X {method} '{self.origin}{path}' -d '{json.dumps(arguments | dict(self.fixed))}'"
        needed = [f"{name}={value}" for name, value in arguments.items() if name in self.required]
        chosen = [f"{name}={value}" for name, value in arguments.items() if name in self.optional]
        key = [f"{self.key_parameter}={{API_KEY}}"] if self.key_parameter else []
        query = "&".join([*needed, *key, *chosen])
        return f"curl -X {method} '{self.origin}{path}{'?' if query else ''}{query}'"

    def program(self, values: Mapping[str, Value]) -> str:
        """The same call as a program over the tools of the service's document."""
        texts = {name: unquote_plus(value.action) for name, value in self.arguments(values).items()}
        return program_of(self.name, {**texts, **self.fixed})


@dataclass(frozen=True, slots=True)
class CallTemplate:
    """A goal with placeholders for values of pools, and the kind of its call."""

    kind: CallKind
    goal: str

    @property
    def pools(self) -> list[str]:
        """The pools of its placeholders, in their order."""
        return _PLACEHOLDER.findall(self.goal)

    def fill(self, values: Mapping[str, Value]) -> GoalAction:
        """The goal and its call for values by pool."""
        goal = _PLACEHOLDER.sub(lambda match: values[match[1]].goal, self.goal)
        return GoalAction(goal, self.kind.action(values), (self.kind.name,), self.kind.program(values))


@dataclass(frozen=True)
class TaskTemplates:
    """All that a service's tests, demonstrations and samples are made of.

    `demonstrations` are finished; `training` and `tests` are templates by kind, in the order of the kinds.
    """

    pools: Mapping[str, Sequence[Value]]
    kinds: Sequence[CallKind]
    demonstrations: Sequence[GoalAction]
    training: Mapping[str, Sequence[CallTemplate]]
    testing: Mapping[str, Sequence[CallTemplate]]

    def make_tests(self, count: int, seed: int) -> list[GoalAction]:
        """As many tests, of one kind after another; no two goals are equal, and no call is a demonstration's.

        Where a template has no call besides, it may be a demonstration's.
        """
        demonstrated = {demonstration.action for demonstration in self.demonstrations}
        goals: set[str] = set()
        rng = random.Random(f"tests/{seed}")
        tests = []
        for number in range(count):
            templates = self.testing[self.kinds[number % len(self.kinds)].id]
            first = number // len(self.kinds)
            drawn = (
                self._draw(templates[place % len(templates)], rng, goals, demonstrated)
                for place in range(first, first + len(templates))
            )
            tests.append(next(action for action in drawn if action is not None))
            goals.add(tests[-1].goal)
        return tests

    def samples(self, count: int, seed: int, tests: Sequence[GoalAction]) -> list[GoalAction]:
        """Training samples, of all templates equally often; none has a test's goal, or its call if there are others."""
        rng = random.Random(f"samples/{seed}")
        templates = [template for kind in self.kinds for template in self.training[kind.id]]
        goals, actions = {test.goal for test in tests}, {test.action for test in tests}
        drawn = (self._draw(templates[number % len(templates)], rng, goals, actions) for number in range(count))
        samples = [action for action in drawn if action is not None]
        rng.shuffle(samples)
        return samples

    def _draw(
        self, template: CallTemplate, rng: random.Random, goals: set[str], actions: set[str]
    ) -> GoalAction | None:
        """A goal that is not in `goals`, with a call that is not in `actions` unless the template has no such call."""
        action = None
        for _ in range(_ATTEMPTS):
            filled = template.fill({pool: rng.choice(self.pools[pool]) for pool in template.pools})
            if filled.goal not in goals:
                action = filled
                if filled.action not in actions:
                    break
        return action


def program_of(name: str, arguments: Mapping[str, object]) -> str:
    """A call as a program over the tools of a service's document; a text of digits is written as a number.

    Args:
        name: Method and path of the operation.
    """
    written = ", ".join(f"{argument_name(argument)}={_literal(value)}" for argument, value in arguments.items())
    return f"print({tool_name(*name.split(' '))}({written}))"


def _literal(value: object) -> str:
    return value if isinstance(value, str) and _NUMBER.fullmatch(value) else repr(value)


def read_templates(file: Path, pools: Mapping[str, Sequence[Value]] | None = None) -> TaskTemplates:
    """Read a file of templates: `origin`, `key_parameter`, `pools`, `phrases` and `kinds`.

    A kind has `call`, `title`, `description`, `required`, `optional`, `fixed`, `demonstrations`, its own `place` for
    the phrases that it shares with others (`phrases: NAME`), and further goals under `training` and `tests`.

    Args:
        pools: Further pools by name.
    """
    content = yaml.safe_load(file.read_text("utf-8"))
    kinds, demonstrations = [], []
    training: dict[str, list[CallTemplate]] = {}
    testing: dict[str, list[CallTemplate]] = {}
    for id, record in content["kinds"].items():
        kind = _kind(id, record, content["origin"], content.get("key_parameter", ""))
        kinds.append(kind)
        for entry in record["demonstrations"]:
            values = {pool: Value.read(value) for pool, value in entry.get("values", {}).items()}
            demonstrations.append(CallTemplate(kind, entry["goal"]).fill(values))
        phrases = content.get("phrases", {}).get(record.get("phrases"), {})
        for part, templates in (("training", training), ("tests", testing)):
            places = record.get("place", {}).get(part, [""])
            shared = [
                phrase.replace("{place}", places[number % len(places)])
                for number, phrase in enumerate(phrases.get(part, []))
            ]
            templates[id] = [CallTemplate(kind, goal) for goal in (*shared, *record.get(part, []))]
    own = {name: [Value.read(value) for value in values] for name, values in content["pools"].items()}
    return TaskTemplates({**own, **(pools or {})}, kinds, demonstrations, training, testing)


def _kind(id: str, record: Mapping[str, Any], origin: str, key_parameter: str) -> CallKind:
    required, optional, fixed = (record.get(part, {}) for part in ("required", "optional", "fixed"))
    method, path = record["call"].split(" ")
    in_body = method == "POST"
    if in_body:
        body = json.dumps({**{name: f"{{{name}}}" for name in required}, **fixed})
        signature = f"curl -X {method} '{origin}{path}' -d '{body}'"
    else:
        needed = [f"{name}={{{name}}}" for name in required if f"{{{name}}}" not in path]
        key = [f"{key_parameter}={{API_KEY}}"] if key_parameter else []
        query = "&".join([*needed, *key, *(f"{name}={{{name}}}" for name in optional)])
        signature = f"curl -X {method} '{origin}{path}{'?' if query else ''}{query}'"
    document = FunctionDocument(f"{record['call']} {record['title']}", signature, record["description"].strip())
    return CallKind(id, record["call"], origin, key_parameter, document, required, optional, fixed, in_body)
