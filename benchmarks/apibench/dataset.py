"""The TorchHub part of APIBench: a catalogue of APIs, and questions with the API that answers each.

Source: Gorilla (arXiv:2305.15334); the files are `torchhub_api.jsonl` and `torchhub_eval.json` of its repository.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from atc.files import read_lines
from atc.retrieval.tool_index import ToolDocument
from benchmarks.apibench.calls import APICall, read_calls_in
from benchmarks.tasks.datasets import file_digest
from benchmarks.tasks.download import folders
from benchmarks.toolbench.retrieval.documents import document_text
from protocols.errors import UsageError

__all__ = ["APIBenchData", "APIQuestion", "CatalogueEntry", "read_apibench", "shown"]

FILES = ("torchhub_api.jsonl", "torchhub_eval.json")
"""The catalogue, and the questions with their references; both have a JSON object a line."""

_QUESTION, _OUTPUT = "###Instruction:", "###Output:"


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
