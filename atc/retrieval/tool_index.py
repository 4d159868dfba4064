"""An index of documented tools on disk: the nearest to a question by words, by vectors, or by both.

An index is a folder: the documents, a BM25 index and the vectors as memory-mapped arrays. It is opened in milliseconds
and grows: documents that it has are not embedded again.

Source: the API retriever of ToolLLM (arXiv:2307.16789), section 3.1; that adding scores is better than the fusion of
ranks if both rankings differ in quality is Bruch et al. (arXiv:2210.11934).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from atc.files import write_json
from atc.retrieval.embeddings import embed
from atc.retrieval.encoder import encode, encoder_digest, trained
from protocols.bounded_files import read_bounded, read_whole, refuse_pipe
from protocols.errors import UsageError
from protocols.private_files import make_private_folder

__all__ = ["ENCODERS", "Hit", "RetrievalQuery", "ToolDocument", "ToolIndex", "build_index"]

ENCODERS = ("bm25", "wordllama", "hybrid")
"""By words; by word vectors; by both, whose scores are added. A folder names a trained encoder (sentence-transformers),
`base` the packaged one, and `hybrid:FOLDER` adds its scores to those of the words."""

_VECTOR_WEIGHT = 2.0
"""What the score of the vectors counts beside that of the words, both standardized."""

_VERSION = 4
_BATCH = 512
_DOCUMENTS = "documents.jsonl.gz"
_MOST_BYTES = 1 << 27
"""Of the documents, unpacked; those of ToolBench's 16,000 APIs are a quarter of it."""


@dataclass(frozen=True, slots=True)
class ToolDocument:
    """A documented API: its names as its source has them, and the text that is searched.

    Args:
        id: Unique in an index.
        record: The API as its source describes it, as JSON; empty if the source is a document that is loaded anyway.
        source: The document that it is a tool of: one that is indexed again replaces its earlier state. Empty if the
            records of a source stand for themselves.
    """

    id: str
    category: str
    tool: str
    api: str
    text: str
    record: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """A question, and the documents that are relevant to it."""

    id: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Hit:
    """A document and its score; scores of one encoder can be compared."""

    document: ToolDocument
    score: float


def build_index(folder: Path, documents: Iterable[ToolDocument], encoder: str) -> int:
    """Write an index of documents, with those that the folder already has; returns how many it then has.

    What the folder has of the same source is left out: the source may have changed.

    The folder is replaced as a whole at the end; whatever stops that, the earlier index stays.

    Raises: UsageError: There is no document, the encoder is unknown, the folder holds another kind of index, or it
        cannot be written.
    """
    encoder = _named(encoder)
    earlier = ToolIndex(folder) if (folder / "index.json").is_file() else None
    if earlier is not None and earlier.encoder != encoder:
        raise UsageError(f"{folder} is an index of the encoder {earlier.encoder}; choose another folder for {encoder}")
    if folder.exists() and earlier is None and any(folder.iterdir()):
        raise UsageError(f"{folder} is a folder of something else; choose another one")
    fresh = {document.id: document for document in documents}
    sources = {document.source for document in fresh.values()} - {""}
    kept = (document for document in (earlier.documents if earlier else ()) if document.source not in sources)
    listed = {**{document.id: document for document in kept}, **fresh}
    if not listed:
        raise UsageError("there is no document to index")
    try:
        make_private_folder(folder.parent)
        beside = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}; name another folder") from None
    written, replaced = beside / "written", beside / "replaced"
    try:
        written.mkdir(mode=0o700)
        _write(written, list(listed.values()), encoder, earlier)
        if folder.exists():
            folder.rename(replaced)
        written.rename(folder)
    finally:
        if replaced.exists() and not folder.exists():
            replaced.rename(folder)
        shutil.rmtree(beside, ignore_errors=True)
    return len(listed)


def _named(encoder: str) -> str:
    """An encoder by a name that holds in every folder. Raises: UsageError: There is none of that name."""
    kind, colon, name = encoder.partition(":") if encoder.startswith("hybrid:") else ("", "", encoder)
    if encoder in ENCODERS or name == "base":
        return encoder
    if not Path(name).is_dir():
        raise UsageError(
            f"unknown encoder {encoder!r}: choose one of {', '.join(ENCODERS)}, base, or the folder of a trained one"
        )
    return f"{kind}{colon}{Path(name).resolve()}"


def _weights(encoder: str) -> str:
    """The digest of a trained encoder's files; empty for one without any."""
    return "" if encoder in ENCODERS else encoder_digest(encoder.removeprefix("hybrid:"))


def _write(folder: Path, documents: Sequence[ToolDocument], encoder: str, earlier: ToolIndex | None) -> None:
    digest = hashlib.sha256(encoder.encode())
    with gzip.open(folder / _DOCUMENTS, "wt", encoding="utf-8") as file:
        for document in documents:
            file.write(f"{json.dumps(asdict(document), ensure_ascii=False)}\n")
            digest.update(json.dumps(asdict(replace(document, source="")), ensure_ascii=False).encode())
    if encoder.startswith(("bm25", "hybrid")):
        import bm25s

        words = bm25s.BM25()
        tokens = bm25s.tokenize([document.text for document in documents], stopwords="en", show_progress=False)
        words.index(tokens, show_progress=False)
        words.save(folder / "bm25")
    weights = _weights(encoder)
    if encoder != "bm25":
        same = earlier is not None and earlier.weights == weights
        vectors = _vectors(documents, encoder, weights, earlier if same else None)
        digest.update(vectors.tobytes())
        np.save(folder / "vectors.npy", vectors)
    facts = {"version": _VERSION, "encoder": encoder, "weights": weights, "documents": len(documents)}
    write_json(folder / "index.json", {**facts, "digest": digest.hexdigest()})


def _vectors(documents: Sequence[ToolDocument], encoder: str, weights: str, earlier: ToolIndex | None) -> Any:
    """The vectors of documents as half-precision rows; those of unchanged documents are taken over."""
    kept = {}
    if earlier is not None and earlier.vectors is not None:
        kept = {
            (entry.id, entry.text): vector for entry, vector in zip(earlier.documents, earlier.vectors, strict=True)
        }
    missing = [entry.text for entry in documents if (entry.id, entry.text) not in kept]
    batches = [_encode(missing[start : start + _BATCH], encoder, weights) for start in range(0, len(missing), _BATCH)]
    fresh = iter(np.concatenate(batches)) if batches else iter(())
    rows = [vector if (vector := kept.get((entry.id, entry.text))) is not None else next(fresh) for entry in documents]
    return np.stack(rows).astype(np.float16)


def _encode(texts: Sequence[str], encoder: str, weights: str) -> Any:
    """Unit vectors of texts. Raises: UsageError: A trained encoder needs a library that is not installed."""
    if encoder in ENCODERS:
        return embed(texts)
    return encode(trained(encoder.removeprefix("hybrid:"), weights), texts)


class ToolIndex:
    """An index on disk; `digest` is that of its documents, encoder and vectors.

    Raises: UsageError: The folder holds none, or a damaged one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._checked = False
        try:
            data = json.loads(read_bounded(folder / "index.json"))
            if data["version"] != _VERSION:
                raise UsageError(f"{folder} is an index of version {data['version']}; build it again in another folder")
            self.encoder, self.digest, self.weights = (str(data[name]) for name in ("encoder", "digest", "weights"))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise UsageError(f"{folder} is no index: {error}; atc retrieve build makes one") from None

    @cached_property
    def documents(self) -> tuple[ToolDocument, ...]:
        """All documents, in the order of the rows. Raises: UsageError."""
        try:
            refuse_pipe(self.folder / _DOCUMENTS)
            with gzip.open(self.folder / _DOCUMENTS) as file:
                data = file.read(_MOST_BYTES + 1)
            if len(data) > _MOST_BYTES:
                raise ValueError(f"it unpacks to more than {_MOST_BYTES:,} bytes")
            return tuple(TypeAdapter(ToolDocument).validate_json(line) for line in data.splitlines())
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise self._damaged(_DOCUMENTS, error) from None

    @cached_property
    def vectors(self) -> Any:
        """The vectors of the documents, memory-mapped; None without any. Raises: UsageError."""
        if self.encoder == "bm25":
            return None
        try:
            vectors = np.load(self.folder / "vectors.npy", mmap_mode="r")
        except (OSError, EOFError, ValueError) as error:
            raise self._damaged("vectors.npy", error) from None
        if vectors.ndim != 2 or len(vectors) != len(self.documents):
            raise self._damaged("vectors.npy", f"{vectors.shape} for {len(self.documents)} documents")
        return vectors

    @cached_property
    def _matrix(self) -> Any:
        return np.asarray(self.vectors, dtype=np.float32)

    @cached_property
    def _words(self) -> Any:
        import bm25s

        try:
            for file in (self.folder / "bm25").iterdir():
                read_whole(file, _MOST_BYTES)
            words = bm25s.BM25.load(self.folder / "bm25", mmap=True)
            documents = int(words.scores["num_docs"])
            if max(words.vocab_dict.values(), default=0) >= len(words.scores["indptr"]):
                raise ValueError("its vocabulary has more words than its scores")
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._damaged("bm25", error) from None
        if documents != len(self.documents):
            raise self._damaged("bm25", f"{documents} of {len(self.documents)} documents")
        return words

    def _damaged(self, name: str, reason: object) -> UsageError:
        return UsageError(f"{self.folder / name} is damaged: {reason}; build the index again in another folder")

    def search(self, query: str, k: int = 5) -> list[Hit]:
        """The k nearest documents, the nearest first."""
        scores = self._scores(query)
        best = np.argsort(-scores, kind="stable")[:k]
        return [Hit(self.documents[place], float(scores[place])) for place in best]

    def _scores(self, query: str) -> Any:
        """The score of each document: by words, by vectors, or the sum of both."""
        if self.encoder == "bm25":
            return self._word_scores(query)
        if not self.encoder.startswith("hybrid"):
            return self._vector_scores(query)
        return _standardized(self._word_scores(query)) + _VECTOR_WEIGHT * _standardized(self._vector_scores(query))

    def _word_scores(self, query: str) -> Any:
        import bm25s

        [tokens] = bm25s.tokenize([query], stopwords="en", return_ids=False, show_progress=False)
        known = [token for token in tokens if token in self._words.vocab_dict]
        return self._words.get_scores(known) if known else np.zeros(len(self.documents), dtype=np.float32)

    def _check_weights(self) -> None:
        """See that the encoder is still the one of the vectors. Raises: UsageError."""
        if not self._checked and _weights(self.encoder) != self.weights:
            raise UsageError(
                f"the encoder {self.encoder.removeprefix('hybrid:')} has other weights than when {self.folder} was "
                "built; repeat atc retrieve build"
            )
        self._checked = True

    def _vector_scores(self, query: str) -> Any:
        self._check_weights()
        [vector] = _encode([query], self.encoder, self.weights)
        # By one thread: those of a matrix product would wait for the encoder's, which spin for a while when done.
        return np.einsum("ij,j->i", self._matrix, np.asarray(vector, dtype=np.float32))


def _standardized(scores: Any) -> Any:
    """Scores with mean 0 and deviation 1; all 0 if they are the same."""
    deviation = scores.std()
    return (scores - scores.mean()) / deviation if deviation else np.zeros_like(scores)
