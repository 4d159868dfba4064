"""Documents for the API retriever: from query files, published corpora, and any API document.

Source: ToolLLM's released preprocessing; the text of a document is byte for byte the published one.
"""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.retrieval.tool_index import RetrievalQuery, ToolDocument
from benchmarks.toolbench.corpus.queries import ToolQuery, read_queries
from protocols import load
from protocols.errors import UsageError
from protocols.model import Protocol

__all__ = ["document_text", "read_documents", "read_judged"]


_FILE_SCHEMES = ("functions", "saved")
"""The schemes of API documents that stand before the path of a file or folder."""


def document_text(record: Mapping[str, Any]) -> str:
    """The published text of an API record."""
    heading = [str(record.get(key) or "") for key in ("category_name", "tool_name", "api_name", "api_description")]
    required, optional = (json.dumps(record.get(f"{kind}_parameters", "")) for kind in ("required", "optional"))
    schema = json.dumps(record.get("template_response", ""))
    return f"{', '.join(heading)}, required_params: {required}, optional_params: {optional}, return_schema: {schema}"


def record_document(record: Mapping[str, Any]) -> ToolDocument:
    """The document of an API record; two records that differ anywhere are two documents, as published."""
    key = hashlib.sha256(json.dumps(record, sort_keys=True, default=str).encode()).hexdigest()[:16]
    category, tool, api = (str(record.get(name) or "") for name in ("category_name", "tool_name", "api_name"))
    return ToolDocument(key, category, tool, api, document_text(record), json.dumps(record, ensure_ascii=False))


def read_documents(source: str) -> list[ToolDocument]:
    """The documents of a query file, of a published `corpus.tsv`, or of an API document (file or URL).

    Raises: UsageError, ProtocolError: It is none of these.
    """
    file = Path(source)
    if file.suffix == ".tsv":
        return list({document.id: document for document in _corpus(file)}.values())
    if file.suffix == ".json" and file.is_file() and file.read_bytes()[:64].lstrip()[:1] == b"[":
        records = (record for query in read_queries(file) for record in query.records)
        return list({document.id: document for document in map(record_document, records)}.values())
    scheme, colon, rest = source.partition(":")
    place = Path(rest if colon and scheme in _FILE_SCHEMES else source).expanduser()
    identity = str(place.resolve()) if place.exists() else source
    return [replace(document, source=identity) for document in protocol_documents(load(source))]


def protocol_documents(protocol: Protocol) -> list[ToolDocument]:
    """A document for each tool of a protocol."""
    return [
        ToolDocument(
            f"{protocol.digest[:8]}:{tool.name}",
            protocol.title,
            tool.tags[0] if tool.tags else protocol.title,
            tool.name,
            f"{tool.method} {tool.path}: {tool.summary}. {tool.description} "
            f"({', '.join(parameter.name for parameter in tool.arguments)})",
        )
        for tool in protocol.tools
    ]


def _rows(file: Path) -> Iterator[list[str]]:
    """The rows of a published file with tabs, in which a text may be quoted. Raises: OSError, ValueError, csv.Error."""
    csv.field_size_limit(sys.maxsize)
    with file.open(encoding="utf-8", newline="") as lines:
        yield from (row for row in csv.reader(lines, delimiter="\t", strict=True) if row)


def _corpus(file: Path) -> Iterator[ToolDocument]:
    """The rows of a published corpus, which repeat. Raises: UsageError."""
    try:
        for number, row in enumerate(_rows(file), 1):
            if row[0] != "docid":
                yield _corpus_document(f"{file}, row {number}", row)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{file} is no corpus (docid TAB record as JSON): {error}") from None


def _corpus_document(where: str, row: Sequence[str]) -> ToolDocument:
    """The document in a row. Raises: UsageError: It has none."""
    try:
        record = json.loads(row[1])
    except IndexError:
        problem = "it has one column"
    except (ValueError, RecursionError) as error:
        problem = f"its second column is no JSON ({error})"
    else:
        if isinstance(record, dict):
            return replace(record_document(record), id=row[0])
        problem = "its second column is no JSON object"
    raise UsageError(f"{where}: {problem}; a row of a corpus is a docid, a tab, and a record as a JSON object")


def read_judged(file: Path) -> list[RetrievalQuery]:
    """Questions with their relevant documents: of a query file, or of `*.query.txt` with the `qrels.*.tsv` beside it.

    Raises: UsageError: It is neither; or no question has a relevant document.
    """
    judged = _published(file) if file.suffix == ".txt" else list(_from_queries(read_queries(file)))
    if not judged:
        raise UsageError(f"{file}: no question has a relevant document (`relevant APIs` that its `api_list` has)")
    return judged


def _from_queries(queries: Iterable[ToolQuery]) -> Iterator[RetrievalQuery]:
    for query in queries:
        wanted = set(query.relevant)
        records = (entry for entry in query.records if (entry.get("tool_name"), entry.get("api_name")) in wanted)
        relevant = frozenset(record_document(entry).id for entry in records)
        if relevant:
            yield RetrievalQuery(str(query.id), query.text, relevant)


def _published(file: Path) -> list[RetrievalQuery]:
    split = file.name.removesuffix(".query.txt")
    pairs: dict[str, set[str]] = {}
    try:
        for query_id, _, document_id, relevance in _rows(file.parent / f"qrels.{split}.tsv"):
            if int(relevance) > 0:
                pairs.setdefault(query_id, set()).add(document_id)
        texts = dict(_rows(file))
    except (OSError, ValueError, csv.Error) as error:
        raise UsageError(
            f"{file} (id TAB text) and qrels.{split}.tsv (id TAB 0 TAB docid TAB relevance) beside it are no judged "
            f"questions: {error}"
        ) from None
    return [RetrievalQuery(id, text, frozenset(pairs[id])) for id, text in texts.items() if id in pairs]
