"""Ask all questions of APIBench and grade each answer, so that a run that was stopped goes on where it was.

Each question is one JSON file in `tasks/`, which is taken again only for the very same request to the same model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from atc.files import write_json
from atc.models.base import Model, calls_functions
from atc.retrieval.tool_index import ToolIndex, build_index
from benchmarks.apibench.ask import api_request, ask
from benchmarks.apibench.calls import matching_call, read_calls_in
from benchmarks.apibench.dataset import APIBenchData, APIQuestion
from protocols.errors import UsageError

__all__ = ["APIBenchSettings", "GradedReply", "answer_questions", "grade", "rankings"]

_GOLD, _NO_DOCUMENTS = "gold", "none"
"""Sources of documents beside the encoders of an index."""

Outcome = Literal["correct", "wrong", "hallucinated", "unparseable"]


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

    id: str
    outcome: Outcome
    exact: bool
    same_domain: bool
    rank: int | None
    prompt_tokens: int
    completion_tokens: int


def rankings(data: APIBenchData, questions: Sequence[APIQuestion], documents: str) -> list[list[int]]:
    """For each question the places of all APIs, the nearest first; none without a retriever.

    Raises: UsageError: `documents` is neither an encoder nor gold nor none.
    """
    if documents in (_GOLD, _NO_DOCUMENTS):
        return [[] for _ in questions]
    with TemporaryDirectory(prefix="atc-apibench-") as scratch:
        folder = Path(scratch) / "index"
        build_index(folder, (entry.document(place) for place, entry in enumerate(data.catalogue)), documents)
        index = ToolIndex(folder)
        total = len(data.catalogue)
        return [[int(hit.document.id) for hit in index.search(question.text, total)] for question in questions]


def grade(data: APIBenchData, reference: int, call: str) -> tuple[Outcome, bool, bool]:
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


def answer_questions(
    data: APIBenchData, ranked: Sequence[Sequence[int]], settings: APIBenchSettings, out: Path, model: Model
) -> Iterator[GradedReply]:
    """Yield the graded answer to each question that has a ranking, in order; what is stored is not asked again.

    Args:
        ranked: As `rankings` gives them, for the first questions or for all.
        out: A folder that `prepare_folder` made.
    Raises:
        ModelError: The model cannot be had; what it answered before is stored.
        UsageError: A stored answer is damaged, or one cannot be written.
    """
    for question, ranking in zip(data.questions[: len(ranked)], ranked, strict=True):
        places = [question.reference] if settings.documents == _GOLD else ranking[: settings.top_k]
        documents = [data.catalogue[place] for place in places]
        request = api_request(question.text, documents, calls_functions(model))
        key = _key(settings, [message.to_json() for message in request.messages], question.reference)
        file = out / "tasks" / f"{question.id}.json"
        stored = _read(file, key)
        if stored is not None:
            yield stored
            continue
        reply = ask(model, question.text, documents)
        outcome, exact, same_domain = grade(data, question.reference, reply.call)
        graded = GradedReply(
            id=question.id,
            outcome=outcome,
            exact=exact,
            same_domain=same_domain,
            rank=ranking.index(question.reference) + 1 if ranking else None,
            prompt_tokens=reply.usage.prompt_tokens,
            completion_tokens=reply.usage.completion_tokens,
        )
        record = {name: value for name, value in asdict(reply).items() if name != "usage"}
        texts = {
            "question": question.text,
            "reference": data.catalogue[question.reference].text,
            "shown": [entry.text for entry in documents],
        }
        write_json(file, {"key": key, **texts, "reply": record, "grade": asdict(graded)})
        yield graded


def _key(settings: APIBenchSettings, messages: Sequence[Mapping[str, Any]], reference: int) -> str:
    parts = [asdict(settings), messages, reference]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _read(file: Path, key: str) -> GradedReply | None:
    """The answer in a file, if it is one to this very request."""
    try:
        data = json.loads(file.read_text("utf-8"))
        if data.get("key") != key:
            return None
        return GradedReply(**{field.name: data["grade"][field.name] for field in fields(GradedReply)})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} cannot be read ({error}); remove it to have the question asked again") from None
