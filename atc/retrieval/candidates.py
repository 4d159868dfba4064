"""Choose the tools to show to the model, when an API has more than it should read.

One ranking: the words of a question in a tool's name, path and texts (BM25+), less in its response fields, and the
meaning of the whole. On 359 questions over 11 APIs the best 20 have 93 % of the tools that are needed; two rankings
more, of contents and by the fusion of ranks, had 94 %. A tool that wins is of no use without the tools that provide
its identifiers, so those come with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from protocols.dataflow.graph import ProtocolGraph
from protocols.errors import UsageError
from protocols.extras import load
from protocols.model import Tool
from protocols.naming import tool_name
from protocols.text.words import TEXTS, abbreviated_names, stem, words

if TYPE_CHECKING:
    from atc.retrieval.tool_index import ToolIndex

__all__ = ["Candidates", "WordIndex", "with_providers"]

_STOP_WORDS = TEXTS["articles"] | TEXTS["small words"] | TEXTS["stop words"]
_MEANING_WEIGHT = 8.0
"""Highest weight of a description with the meaning of the question, beside word scores of about 1 to 4."""
_MIN_RELATED, _MIN_LETTERS = 0.25, 3
"""Least similarity of two related words, as `record` and `album`, and fewest letters of such a word.

The weight of a related word goes from 0 at that similarity to 1 for the same word.
"""
_RETURNED_WEIGHT = 0.7
"""Highest weight of a word of the question that only a response field has."""
_SEGMENT_PENALTY = 0.2
"""Penalty of each segment of a path, where tools are left out: the plain list before what lies below one item."""
_VALUES = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|\S*\d\S*")
"""What is quoted, and numbers: they tell nothing of a tool."""


class Candidates:
    """The tools of a protocol, searchable by the text of a question; an index is made at the first search.

    With `meaning`, the similarity of the whole text and of its words counts beside the words themselves. With a
    `retriever` its order alone decides which tools are chosen.

    Raises: UsageError: The retriever has no document of the protocol's tools.
    """

    def __init__(self, graph: ProtocolGraph, *, meaning: bool = True, retriever: ToolIndex | None = None) -> None:
        self.graph = graph
        self.meaning = meaning
        self.retriever = retriever
        if retriever is not None and not any(document.api in graph.protocol for document in retriever.documents):
            raise UsageError(
                f"{retriever.folder} has no tool of {graph.protocol.title}; make an index of its document with "
                "atc retrieve build"
            )

    def scores(self, text: str, offsets: Mapping[str, float] | None = None) -> dict[str, float]:
        """The score of each tool for a text, in words and in meaning; the best first.

        Args:
            offsets: What is added to the scores of tools, by name.
        Equal ones keep the order of the document.
        """
        tools = self.graph.protocol.tools
        scores = self._ranking.scores(text)
        total = [float(score) + (offsets or {}).get(tool.name, 0.0) for tool, score in zip(tools, scores, strict=True)]
        order = sorted(range(len(tools)), key=lambda place: (-total[place], place))
        return {tools[place].name: total[place] for place in order}

    def choose(
        self, text: str, most: int, offsets: Mapping[str, float] | None = None, *, closed: bool = True
    ) -> tuple[str, ...]:
        """The names of the `most` best tools, then (`closed`) those that they are of no use without.

        With no more than `most` tools in the protocol it is all of them, in document order.
        """
        tools = self.graph.protocol.tools
        if len(tools) <= most:
            return tuple(tool.name for tool in tools)
        if self.retriever is not None:
            hits = self.retriever.search(text, len(self.retriever.documents))
            names = dict.fromkeys(hit.document.api for hit in hits if hit.document.api in self.graph.protocol)
            best = tuple(islice(names, most))
        else:
            deep = {tool.name: -_SEGMENT_PENALTY * tool.path.strip("/").count("/") for tool in tools}
            added = {name: value + (offsets or {}).get(name, 0.0) for name, value in deep.items()}
            plain = _VALUES.sub(" ", text)
            best = tuple(islice(self.scores(plain if _telling(plain) else text, added), most))
        return with_providers(self.graph, best) if closed else best

    @cached_property
    def _ranking(self) -> _Ranking:
        return _Ranking(self.graph, self.meaning)


class _Ranking:
    """The words of the tools, and what a text is worth for each of them."""

    def __init__(self, graph: ProtocolGraph, meaning: bool) -> None:
        tools = graph.protocol.tools
        self._meaning = meaning
        self._texts = [f"{' '.join(words(tool.name))}. {tool.summary}. {tool.description}" for tool in tools]
        tool_words = [words(_tool_text(tool)) for tool in tools]
        field_words = [{word for key in graph.response_fields(tool.name) for word in words(key)} for tool in tools]
        self._fields = [
            set(map(stem, returned)).difference(map(stem, own))
            for returned, own in zip(field_words, tool_words, strict=True)
        ]
        times = Counter(word for stems in self._fields for word in stems)
        self._rarity = {word: _RETURNED_WEIGHT * (1 - (count / len(tools)) ** 0.5) for word, count in times.items()}
        self._index = WordIndex([list(map(stem, own)) for own in tool_words])
        found_words = {word for every_word in (*tool_words, *field_words) for word in every_word}
        self._vocabulary = tuple(sorted(word for word in found_words - _STOP_WORDS if len(word) >= _MIN_LETTERS))
        self._worth: dict[str, Any] = {}

    def scores(self, text: str) -> Any:
        """The score of each tool, in the order of the document; a related word counts where it is worth more."""
        import numpy as np

        telling = _telling(text)
        total = np.zeros(len(self._texts))
        for word in telling:
            best = self._worth_of(stem(word))
            for related, weight in self._related(word):
                best = np.maximum(best, weight * self._worth_of(stem(related)))
            total += best
        query_stems = {stem(word) for word in telling}
        short = {cut for word in query_stems for cut in abbreviated_names(word, self._rarity)} - query_stems
        total += [sum(self._rarity[word] for word in stems & short) for stems in self._fields]
        if self._meaning:
            total += _MEANING_WEIGHT * np.array(_likeness(text, self._texts))
        return total

    def _related(self, word: str) -> list[tuple[str, float]]:
        """The words of the tools that are related to a word, each with its weight above 0."""
        if not self._meaning or len(word) < _MIN_LETTERS:
            return []
        akin = zip(self._vocabulary, _likeness(word, self._vocabulary), strict=False)
        return [
            (related, (alike - _MIN_RELATED) / (1 - _MIN_RELATED)) for related, alike in akin if alike > _MIN_RELATED
        ]

    def _worth_of(self, word: str) -> Any:
        """The score of each tool for the stem of a word; less where only its response has it."""
        import numpy as np

        if word not in self._worth:
            returned = np.array([word in stems for stems in self._fields])
            self._worth[word] = self._index.worth(word) + self._rarity.get(word, 0.0) * returned
        return self._worth[word]


def _likeness(text: str, texts: Sequence[str]) -> list[float]:
    from atc.retrieval.embeddings import likeness

    return likeness(text, texts)


def _telling(text: str) -> list[str]:
    return [word for word in words(text) if word not in _STOP_WORDS]


def _tool_text(tool: Tool) -> str:
    """The words of a tool. Name and path say most in the fewest words, so they count beside the description."""
    own_name = tool.namespace if tool.local_name.startswith(tool_name(tool.method, tool.path)) else tool.name
    return f"{own_name or tool.path} {tool.path} {tool.summary} {tool.description}"


class WordIndex:
    """Scores of the words of texts; each text is given as its stems."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        bm25s = load("bm25s", "the choice of tools")
        self._size = len(texts)
        self._index: Any = None
        if any(texts):
            self._index = bm25s.BM25(method="bm25+", k1=1.5, b=0.75, delta=1.0)
            self._index.index([list(text) for text in texts], show_progress=False)

    def worth(self, word: str) -> Any:
        """The score of each text for a stem, 0 for the texts with the least."""
        import numpy as np

        if self._index is None or not word or word not in self._index.vocab_dict:
            return np.zeros(self._size)
        scores = self._index.get_scores([word])
        return scores - scores.min()  # BM25+ gives every text something for every word


def with_providers(graph: ProtocolGraph, best: Sequence[str]) -> tuple[str, ...]:
    """The tools, and the providers of the identifiers that they require, transitively.

    Args:
        best: The names of the chosen tools, the best first.
    """
    chosen = dict.fromkeys(best)
    queue = list(chosen)
    for name in queue:
        most = 2 if name == best[0] else 1  # the best tool has a second way to each identifier
        providers = [source.tool for argument in graph.needs(name) for source in graph.providers(name, argument)[:most]]
        queue += [provider for provider in dict.fromkeys(providers) if provider not in chosen]
        chosen |= dict.fromkeys(providers)
    return tuple(chosen)
