"""How much better a trained encoder finds tools than words do, on questions that it was not trained on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from atc.retrieval.tool_index import RetrievalQuery, ToolDocument, ToolIndex, build_index
from benchmarks.toolbench.retrieval.documents import read_documents, read_judged
from benchmarks.toolbench.retrieval.ranking import ndcg

__all__ = ["measure_encoder", "read_corpus"]

_CUT = 5
_WAYS = {"words": "bm25", "vectors": "encoder", "fused": "hybrid", "ranks": "hybrid by ranks"}


def read_corpus(files: Iterable[Path]) -> tuple[list[ToolDocument], list[RetrievalQuery]]:
    """All different documents of query files, and their questions, whose ids get the name of the file in front."""
    documents: dict[str, ToolDocument] = {}
    judged = []
    for file in files:
        documents.update((document.id, document) for document in read_documents(str(file)))
        judged += [
            RetrievalQuery(f"{file.stem}:{question.id}", question.text, question.relevant)
            for question in read_judged(file)
        ]
    return list(documents.values()), judged


def measure_encoder(
    documents: Sequence[ToolDocument], questions: Sequence[RetrievalQuery], encoder: str
) -> Mapping[str, float]:
    """The mean NDCG@5 (from 0 to 1) of words, the encoder and both on questions that it was not trained on.

    Args:
        encoder: `base`, or the folder of a trained one.
    """
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "index"
        build_index(folder, documents, f"hybrid:{encoder}")
        index = ToolIndex(folder)
        return {
            f"ndcg@{_CUT} {name}": fmean(
                ndcg([hit.document.id for hit in index.search(question.text, _CUT, way)], question.relevant, _CUT)
                for question in questions
            )
            for way, name in _WAYS.items()
        }
