"""Solve the tasks of services with an agent, each at a server of its own, and judge answer and state."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from atc import Agent
from atc.models import Model
from atc.models.budget import BudgetedModel
from atc.profile import profile_of
from atc.solve import Service
from benchmarks.harness import Outcome
from benchmarks.harness.registry import SHIPPED
from benchmarks.run.agent_environment import raise_if_unavailable, record_of_solution
from benchmarks.services.truth import answer_faults, state_faults
from benchmarks.tasks.service import DataService, ServiceData, read_service

__all__ = ["FOLDER", "ServiceTask", "ServicesEnvironment", "ServicesSettings", "read_services", "service_names"]

FOLDER = SHIPPED / "services"


@dataclass(frozen=True, slots=True)
class ServiceTask:
    """A question or an order to a service, with what a right answer states or what it changes."""

    id: str
    service: str
    query: str
    truth: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServicesSettings:
    """All that decides an answer; `files` has name and SHA-256 of each service and its tasks."""

    benchmark: str
    model: str
    mode: str
    max_reflections: int | None
    profile: str
    seed: int
    files: Mapping[str, Mapping[str, str]]
    repeat: int = 0


def service_names() -> list[str]:
    """The services that come with the package."""
    return sorted(file.parent.name for file in FOLDER.glob("*/tasks.json"))


def read_services(names: list[str]) -> tuple[dict[str, ServiceData], list[ServiceTask]]:
    """Services by name, and their tasks."""
    tasks = [
        ServiceTask(task["id"], name, task["query"], task["truth"])
        for name in names
        for task in json.loads((FOLDER / name / "tasks.json").read_text("utf-8"))
    ]
    return {name: read_service(FOLDER / name) for name in names}, tasks


class ServicesEnvironment:
    """Solves the tasks of one run; may be used from several threads."""

    def __init__(self, services: Mapping[str, ServiceData], settings: ServicesSettings, model: Model) -> None:
        self.services, self.settings, self.model = services, settings, model
        self._lock = threading.Lock()
        self._agents: dict[str, Agent] = {}
        self._stopped = False

    def key(self, task: ServiceTask) -> object:
        """The task, and the service that it is about."""
        return [task, self.services[task.service].digest]

    def stop(self) -> None:
        """Let the solves that are under way in other threads end."""
        self._stopped = True

    def run(self, task: ServiceTask) -> Outcome:
        """Solve one task at a fresh service. Raises: ModelError, APIError: Model or service could not be had."""
        data = self.services[task.service]
        served = DataService(data)
        try:
            model = BudgetedModel(self.model, stopped=lambda: self._stopped)
            with self._agent(task.service).within(model) as agent:
                agent.service = Service(served.url, (), simulated=False)
                solution = agent.solve(task.query)
        finally:
            served.close()
        raise_if_unavailable(solution)
        faults = [*answer_faults(solution.answer, task.truth), *state_faults(data, served.records, task.truth)]
        usage = solution.usage
        record = {
            "id": task.id,
            "service": task.service,
            "query": task.query,
            "truth": task.truth,
            "answer": solution.answer,
            "right": solution.status == "answered" and not faults,
            "faults": faults,
            "model_calls": usage.model_calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "solution": record_of_solution(solution, served.url),
        }
        return Outcome(record, {"seconds": solution.seconds["total"], "model_seconds": solution.seconds["model"]})

    def _agent(self, name: str) -> Agent:
        """The agent of a service, without model and address."""
        settings, data = self.settings, self.services[name]
        with self._lock:
            if name not in self._agents:
                self._agents[name] = Agent.from_openapi(
                    FOLDER / name / "openapi.yaml",
                    mode=settings.mode,
                    max_reflections=settings.max_reflections,
                    seed=settings.seed + settings.repeat,
                    now=data.now,
                    profile=settings.profile or profile_of(settings.model),
                    writes="allow",
                )
            return self._agents[name]
