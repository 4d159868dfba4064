"""Ask the questions of APIBench, grade each answer by the call in it, and sum up, beside the published figures.

A model calls one function that selects an API, gives its call and describes the result, or writes a text with these.

Source: ToolLLM (arXiv:2307.16789), appendix "Details for Experiments on APIBench": one function instead of one for each
API. The prompts are our own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any, Literal

import yaml

from atc.models.base import Completion, FunctionSpec, Message, Model, ModelRequest, Usage, answer, calls_functions
from atc.retrieval.tool_index import ToolIndex, build_index
from benchmarks.apibench.dataset import APIBenchData, APIQuestion, CatalogueEntry, matching_call, read_calls_in, shown
from benchmarks.harness import Outcome
from benchmarks.report.stats import estimate
from benchmarks.report.tables import TextTable
from protocols.errors import PromptRefused

__all__ = [
    "APIBenchEnvironment",
    "APIBenchScorer",
    "APIBenchSettings",
    "api_request",
    "apibench_tables",
    "grade",
    "rankings",
    "read_reply",
]

SELECT = FunctionSpec(
    "select_api",
    "Select the API that fits the question, with the code that calls it.",
    {
        "type": "object",
        "properties": {
            "api_name": {"type": "string", "description": "The name of the API."},
            "call": {"type": "string", "description": "The Python call that loads its model."},
            "description": {"type": "string", "description": "What the call returns, in one sentence."},
        },
        "required": ["api_name", "call", "description"],
    },
)

_PREFILL = "API:"
_REPLY_TOKENS = 300
_FENCED = re.compile(r"```\w*\s*(.*?)(?:```|\Z)", re.DOTALL)

_GOLD, _NO_DOCUMENTS = "gold", "none"
"""Sources of documents beside the encoders of an index."""
Grade = Literal["correct", "wrong", "hallucinated", "unparseable"]
_SHARES = {
    "accuracy": "right API",
    "exact": "right API, all arguments right",
    "domain_accuracy": "API of the right domain",
    "wrong": "another API of the catalogue",
    "hallucination": "hallucinated: no API of the catalogue",
    "unparseable": "no call that can be read",
}
_CUTS = (1, 3, 5)
_PUBLISHED = ("domain_accuracy", "hallucination")
"""What the published figures count."""


@dataclass(frozen=True, slots=True)
class APIReply:
    """The answer to a question; `call` is empty where none can be read. `text` is all that the model wrote."""

    text: str
    api_name: str = ""
    call: str = ""
    description: str = ""
    refused: str = ""
    usage: Usage = field(default_factory=Usage)


def api_request(question: str, documents: Sequence[CatalogueEntry], functions: bool) -> ModelRequest:
    """The request for a question, with the documentation of some APIs or of none.

    Args:
        functions: Whether the model calls functions; else it writes a text.
    """
    form = _template("function_form" if functions else "text_form")
    system = f"{_template('role')}\n{form}"
    lines = "\n".join(map(shown, documents))
    template = Template(_template("with_documents" if documents else "without_documents"))
    messages = [Message("system", system), Message("user", template.substitute(documents=lines, question=question))]
    if functions:
        return ModelRequest(messages, max_tokens=_REPLY_TOKENS, functions=(SELECT,))
    return ModelRequest([*messages, Message("assistant", _PREFILL)], max_tokens=_REPLY_TOKENS)


@cache
def _template(name: str) -> str:
    return files(__package__).joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()


def ask(model: Model, question: str, documents: Sequence[CatalogueEntry]) -> APIReply:
    """Ask for an API. A conversation that the model refuses has a reply without a call.

    Raises: ModelError: The model cannot be had.
    """
    request = api_request(question, documents, calls_functions(model))
    try:
        completion = answer(model, request)
    except PromptRefused as error:
        return APIReply("", refused=str(error))
    return read_reply(completion, "" if request.functions else _PREFILL)


def read_reply(completion: Completion, prefill: str = "") -> APIReply:
    """Read a call of the function, or a text: a fenced block after the name, or the function's arguments as JSON."""
    arguments = next((call.arguments for call in completion.calls if call.name == SELECT.name), None)
    text = prefill + completion.text
    fields = _json_fields(text if arguments is None else arguments)
    block = _FENCED.search(text)
    if arguments is None and not fields and block:
        name = text[: block.start()].strip().removeprefix(_PREFILL).strip()
        fields = {"api_name": name, "call": block[1].strip(), "description": text[block.end() :].strip()}
    read = {name: fields.get(name, "") for name in ("api_name", "call", "description")}
    return APIReply(text if arguments is None else arguments, **read, usage=completion.usage)


def _json_fields(text: str) -> dict[str, str]:
    """The fields of the first JSON object in a text that has a `call`; none without one."""
    decoder = json.JSONDecoder(strict=False)
    for start in (match.start() for match in re.finditer(r"\{", text)):
        try:
            data, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict) and isinstance(data.get("call"), str):
            return {name: value for name, value in data.items() if isinstance(value, str)}
    return {}


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


class APIBenchScorer:
    """The scorer of graded answers."""

    def figures(self, record: Mapping[str, Any], seconds: float) -> GradedReply:
        """Its grade, as it is in its file."""
        return GradedReply(**{field.name: record["grade"][field.name] for field in fields(GradedReply)})

    def line(self, figures: GradedReply) -> str:
        """What became of the call."""
        return figures.outcome

    def progress(self, figures: Sequence[GradedReply]) -> tuple[str, str]:
        """How many are right so far."""
        right = sum(reply.outcome == "correct" for reply in figures)
        return f"right {100 * right / len(figures):.1f} %", ""

    def summary(self, figures: Sequence[GradedReply]) -> dict[str, Any]:
        """As `summarize_replies`."""
        return summarize_replies(figures)


def summarize_replies(replies: Sequence[GradedReply]) -> dict[str, Any]:
    """Shares of all questions in percent, each with its 95 % bootstrap interval; the keys are part of the interface.

    `recall@k` is the share of questions whose API is among the k nearest documents; None where nothing is retrieved.
    """
    shares = {
        "accuracy": [reply.outcome == "correct" for reply in replies],
        "exact": [reply.exact for reply in replies],
        "domain_accuracy": [reply.same_domain for reply in replies],
        "hallucination": [reply.outcome == "hallucinated" for reply in replies],
        "wrong": [reply.outcome == "wrong" for reply in replies],
        "unparseable": [reply.outcome == "unparseable" for reply in replies],
    }
    ranks = [reply.rank for reply in replies if reply.rank is not None]
    recall = {f"recall@{cut}": _interval([rank <= cut for rank in ranks]) if ranks else None for cut in _CUTS}
    tokens = {name: sum(getattr(reply, name) for reply in replies) for name in ("prompt_tokens", "completion_tokens")}
    return {
        "n": len(replies),
        **{name: _interval(hits) for name, hits in shares.items()},
        **recall,
        **tokens,
    }


def _interval(hits: Sequence[bool]) -> dict[str, float | None]:
    result = estimate([float(hit) for hit in hits], share=True)
    bounds = {"rate": result.mean, "low": result.low, "high": result.high}
    return {name: None if bound is None else round(100 * bound, 2) for name, bound in bounds.items()}


def apibench_tables(summary: Mapping[str, Any]) -> list[TextTable]:
    """All figures of a run, and then those that are published for other models beside theirs."""
    recalls = {f"recall@{cut}": f"right API among the {cut} nearest documents" for cut in _CUTS}
    documents = Path(summary["documents"]).name
    if summary["recall@1"] is not None:
        documents += f", top {summary['top_k']}"
    figures = tuple(
        (title, f"{interval['rate']:.1f}", f"{interval['low']:.1f} to {interval['high']:.1f}")
        for name, title in {**_SHARES, **recalls}.items()
        if (interval := summary[name]) is not None and interval["rate"] is not None
    )
    title = f"APIBench, TorchHub: {summary['model']}, documents {documents}, {summary['n']} questions"
    published = yaml.safe_load(files(__package__).joinpath("published.yaml").read_text("utf-8"))
    ours = (f"ours: {summary['model']}", documents, *(_rate(summary[name]["rate"]) for name in _PUBLISHED))
    rows = [(row["method"], row["documents"], *(_rate(row[name]) for name in _PUBLISHED)) for row in published["rows"]]
    remark = (
        "Gorilla's released script counts any API of the right domain as right; the paper does not say that it counted "
        "otherwise."
    )
    return [
        TextTable(title, ("share of the questions", "%", "95 %"), figures),
        TextTable(
            f"Beside {published['source']}",
            ("model", "documents", "right domain, %", "hallucinated, %"),
            (ours, *rows),
            (remark,),
            text_columns=2,
        ),
    ]


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
