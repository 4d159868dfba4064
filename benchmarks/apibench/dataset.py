"""The TorchHub part of APIBench: a catalogue of APIs, and questions with the API that answers each; calls are compared.

A call names its function, a repository and models in it. A listed call is the same API if it names the same function
and repository, and no model that the written call lacks. A written repository may add a version (`owner/name:v1`).

Source: Gorilla (arXiv:2305.15334), section 4, for the matching of syntax trees; its released script searches the values
of `repo_or_dir` and `model` in the text of the written call instead. The files are `torchhub_api.jsonl` and
`torchhub_eval.json` of its repository.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from atc.files import read_lines
from atc.retrieval.tool_index import ToolDocument
from benchmarks.tasks.datasets import file_digest
from benchmarks.tasks.download import folders
from benchmarks.toolbench.retrieval.documents import document_text
from protocols.errors import UsageError

__all__ = ["APIBenchData", "APIQuestion", "CatalogueEntry", "matching_call", "read_apibench", "read_calls_in", "shown"]

_REPOSITORY, _MODEL = "repo_or_dir", "model"
_BARE_TEXT = re.compile(r"(?<=[(,])\s*(['\"][^'\"]*['\"])\s*(?=[,)])")

FILES = ("torchhub_api.jsonl", "torchhub_eval.json")
"""The catalogue, and the questions with their references; both have a JSON object a line."""
_QUESTION, _OUTPUT = "###Instruction:", "###Output:"


@dataclass(frozen=True, slots=True)
class APICall:
    """A call as data: the dotted name of its function, repository, model names, and its other arguments as Python."""

    function: str
    repository: str
    models: frozenset[str]
    arguments: Mapping[str, str]

    def is_api(self, listed: APICall) -> bool:
        """Whether this is a call of the API that a listed call stands for."""
        repositories = (self.repository, self.repository.partition(":")[0])
        return self.function == listed.function and listed.repository in repositories and listed.models <= self.models

    def has_arguments(self, listed: APICall) -> bool:
        """Whether all arguments of a listed call are here, with equal values."""
        return listed.arguments.items() <= self.arguments.items()


def read_calls_in(code: str) -> list[APICall]:
    """All calls in a piece of code, in the order of the text; none where it is no Python.

    Some listed calls have a positional argument after a named one, which Python refuses; they are read all the same.
    """
    for text in (code, _named(code)):
        try:
            tree = ast.parse(text.strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return [_read(call) for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset))]
    return []


def _named(code: str) -> str:
    """The code with a name before each bare string that is an argument."""
    numbers = count(1)
    return _BARE_TEXT.sub(lambda match: f"_{next(numbers)}={match[1]}", code)


def _read(call: ast.Call) -> APICall:
    named = dict(_keywords(call))
    bare = [*call.args, *(named.pop(name) for name in list(named) if re.fullmatch(r"_\d+", name))]
    repository = named.pop(_REPOSITORY, None) or (bare.pop(0) if bare else None)
    models = [*bare, *([named.pop(_MODEL)] if _MODEL in named else [])]
    return APICall(
        ast.unparse(call.func),
        next(_texts([repository] if repository else []), ""),
        frozenset(_texts(models)),
        {name: ast.unparse(value) for name, value in named.items()},
    )


def _keywords(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The named arguments, those of a literal `**{...}` included."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
        elif isinstance(keyword.value, ast.Dict):
            for name, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if isinstance(name, ast.Constant):
                    yield str(name.value), value


def _texts(values: Sequence[ast.expr]) -> Iterator[str]:
    return (value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str))


def matching_call(calls: Sequence[APICall], listed: Sequence[APICall]) -> tuple[int, APICall] | None:
    """The first call that is of a listed API, with the place of that API; None if there is none.

    Where several listed calls fit, it is the one that names the most models.
    """
    for call in calls:
        places = [place for place, entry in enumerate(listed) if call.is_api(entry)]
        if places:
            return max(places, key=lambda place: len(listed[place].models)), call
    return None


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """An API of the catalogue: its record as published, its domain, its call as text and as data."""

    record: Mapping[str, Any]
    domain: str
    text: str
    call: APICall

    def document(self, place: int) -> ToolDocument:
        """What a retriever reads, in ToolBench's form; the id is the place in the catalogue."""
        names = {
            "category_name": self.domain,
            "tool_name": self.record.get("functionality", ""),
            "api_name": self.record.get("api_name", ""),
            "api_description": self.record.get("description", ""),
            "optional_parameters": self.record.get("api_arguments", ""),
        }
        return ToolDocument(
            str(place), self.domain, str(names["tool_name"]), str(names["api_name"]), document_text(names)
        )


@dataclass(frozen=True, slots=True)
class APIQuestion:
    """A question; `reference` is the place in the catalogue of the API that answers it."""

    id: str
    text: str
    reference: int


@dataclass(frozen=True, slots=True)
class APIBenchData:
    """Catalogue and questions, with the name and SHA-256 of each file."""

    catalogue: tuple[CatalogueEntry, ...]
    questions: tuple[APIQuestion, ...]
    files: Mapping[str, Mapping[str, str]]


def read_apibench() -> APIBenchData:
    """Read the files from `apibench/` under `$ATC_DATA`, or in the cache folder.

    Raises: UsageError: They are not there, or a line is no entry.
    """
    places = [folder / "apibench" for folder in folders()]
    folder = next((place for place in places if all((place / name).is_file() for name in FILES)), None)
    if folder is None:
        raise UsageError(
            f"APIBench needs {' and '.join(FILES)} in {' or '.join(map(str, places))}; they are in the folder "
            "data/ of github.com/ShishirPatil/gorilla"
        )
    catalogue = tuple(_entry(place, data) for place, data in read_lines(folder / FILES[0], growing=False))
    if not catalogue:
        raise UsageError(f"{folder / FILES[0]} lists no API; fetch it again")
    places_by_call = {entry.text: place for place, entry in enumerate(catalogue)}
    questions = []
    for number, (place, data) in enumerate(read_lines(folder / FILES[1], growing=False), 1):
        questions.append(_question(place, data, f"q{number}", places_by_call))
    digests = {name: file_digest(folder / name) for name in FILES}
    return APIBenchData(catalogue, tuple(questions), digests)


def _entry(place: str, data: Any) -> CatalogueEntry:
    text = data.get("api_call") if isinstance(data, dict) else None
    calls = read_calls_in(text) if isinstance(text, str) else []
    if text is None or not calls:
        raise UsageError(f"{place}: this is no API with an `api_call` in Python; fetch the file again")
    return CatalogueEntry(data, str(data.get("domain", "")), text, calls[0])


def _question(place: str, data: Any, question_id: str, places_by_call: Mapping[str, int]) -> APIQuestion:
    try:
        before, _, rest = data["code"].partition(_QUESTION)
        text, output, _ = rest.partition(_OUTPUT)
        if before.strip() or not output or not text.strip():
            raise ValueError(f"`code` is not {_QUESTION} … {_OUTPUT} …")
        return APIQuestion(question_id, text.strip(), places_by_call[data["api_call"]])
    except KeyError as error:
        raise UsageError(f"{place}: {error} is neither there nor in the catalogue; fetch both files again") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{place}: this is no question ({error}); fetch the file again") from None


def shown(entry: CatalogueEntry) -> str:
    """The record of an API as a model reads it."""
    return json.dumps(entry.record, ensure_ascii=False)
