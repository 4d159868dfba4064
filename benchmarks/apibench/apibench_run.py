"""Ask the questions of APIBench, and grade each answer by the call in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from atc.models.base import Model, calls_functions
from atc.retrieval.tool_index import ToolIndex, build_index
from benchmarks.apibench.ask import api_request, ask
from benchmarks.apibench.calls import matching_call, read_calls_in
from benchmarks.apibench.dataset import APIBenchData, APIQuestion, CatalogueEntry
from benchmarks.harness.parts import Outcome

__all__ = ["APIBenchEnvironment", "APIBenchSettings", "GradedReply", "grade", "rankings"]

_GOLD, _NO_DOCUMENTS = "gold", "none"
"""Sources of documents beside the encoders of an index."""

Grade = Literal["correct", "wrong", "hallucinated", "unparseable"]


@dataclass(frozen=True, slots=True)
class APIBenchSettings:
    """All that decides an answer; `files` has name and SHA-256 of each file."""

    benchmark: str
    model: str
    documents: str
    top_k: int
    files: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedReply:
    """An answer with its grade.

    `outcome`: the reference API is called, another one of the catalogue, none of it, or there is no call to read.
    `exact`: the call has also all other arguments of the reference. `same_domain`: the API called is of the domain of
    the reference, which is all that Gorilla's released script asks. `rank`: the place of the reference among the
    retrieved documents, from 1; None where nothing is retrieved.
    """

    outcome: Grade
    exact: bool
    same_domain: bool
    rank: int | None
    prompt_tokens: int
    completion_tokens: int


def rankings(data: APIBenchData, questions: Sequence[APIQuestion], documents: str) -> dict[str, list[int]]:
    """For each question, by its id, the places of all APIs, the nearest first; none without a retriever.

    Raises: UsageError: `documents` is neither an encoder nor gold nor none.
    """
    if documents in (_GOLD, _NO_DOCUMENTS):
        return {question.id: [] for question in questions}
    with TemporaryDirectory(prefix="atc-apibench-") as scratch:
        folder = Path(scratch) / "index"
        build_index(folder, (entry.document(place) for place, entry in enumerate(data.catalogue)), documents)
        index = ToolIndex(folder)
        total = len(data.catalogue)
        return {
            question.id: [int(hit.document.id) for hit in index.search(question.text, total)] for question in questions
        }


def grade(data: APIBenchData, reference: int, call: str) -> tuple[Grade, bool, bool]:
    """Outcome of a call, whether it is exact, and whether its API is of the domain of the reference."""
    calls = read_calls_in(call)
    match = matching_call(calls, [entry.call for entry in data.catalogue])
    if match is None:
        return ("hallucinated" if calls else "unparseable"), False, False
    place, written = match
    same_domain = data.catalogue[place].domain == data.catalogue[reference].domain
    if place != reference:
        return "wrong", False, same_domain
    return "correct", written.has_arguments(data.catalogue[reference].call), same_domain


@dataclass(frozen=True)
class APIBenchEnvironment:
    """Asks a model each question, with the documents that the settings name.

    Args:
        ranked: As `rankings` gives them, by question.
    """

    data: APIBenchData
    settings: APIBenchSettings
    ranked: Mapping[str, Sequence[int]]
    model: Model

    def key(self, task: APIQuestion) -> object:
        """The request, and the reference that its answer is graded by."""
        request = api_request(task.text, self._documents(task), calls_functions(self.model))
        return [[message.to_json() for message in request.messages], task.reference]

    def run(self, task: APIQuestion) -> Outcome:
        """Ask one question, and grade the answer. Raises: ModelError: The model cannot be had."""
        documents, ranking = self._documents(task), self.ranked[task.id]
        reply = ask(self.model, task.text, documents)
        outcome, exact, same_domain = grade(self.data, task.reference, reply.call)
        graded = GradedReply(
            outcome=outcome,
            exact=exact,
            same_domain=same_domain,
            rank=ranking.index(task.reference) + 1 if ranking else None,
            prompt_tokens=reply.usage.prompt_tokens,
            completion_tokens=reply.usage.completion_tokens,
        )
        record = {
            "id": task.id,
            "question": task.text,
            "reference": self.data.catalogue[task.reference].text,
            "shown": [entry.text for entry in documents],
            "reply": {name: value for name, value in asdict(reply).items() if name != "usage"},
            "grade": asdict(graded),
        }
        return Outcome(record)

    def stop(self) -> None:
        """Nothing is under way: one question is asked after another."""

    def _documents(self, task: APIQuestion) -> list[CatalogueEntry]:
        gold = self.settings.documents == _GOLD
        places = [task.reference] if gold else self.ranked[task.id][: self.settings.top_k]
        return [self.data.catalogue[place] for place in places]
