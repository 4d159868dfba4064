"""Choose the tools to show to the model, when an API has more than it should read.

A tool that wins on words alone is of no use without the tools that provide its identifiers, so those come with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from atc.language.api_words import api_synonyms, with_api_words
from atc.language.question import Question
from atc.language.word_lists import QUESTIONS
from atc.retrieval.embeddings import likeness
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.operations import CURRENT, is_current, is_own
from protocols.model import Tool
from protocols.naming import tool_name
from protocols.text.word_lists import TEXTS
from protocols.text.words import abbreviated_names, stem, words

__all__ = ["Candidates"]

_STOP_WORDS = TEXTS["articles"] | TEXTS["small words"] | TEXTS["stop words"]
_DELETION_WORDS = frozenset(QUESTIONS["deletions"])
_DELETION_PENALTY = 4.0
"""Penalty of a tool that deletes without such a word."""

_FIELD_BONUS = 2.0
"""Weight of a response field of which the question speaks, beside word scores of about 1 to 4."""

_OWN_DATA_PENALTY = 2.0
"""Penalty of a tool that reads the user's own data, where the question has no `I` or `my`."""

_MEANING_WEIGHT = 8.0
"""Highest weight of a description with the meaning of the question."""

_MIN_RELATED, _MIN_LETTERS = 0.25, 3
"""Least similarity of two related words, as `record` and `album`, and fewest letters of such a word.

The weight of a related word goes from 0 at that similarity to 1 for the same word.
"""
_RETURNED_WEIGHT = 0.7
"""Highest weight of a word of the question that only a response field has."""


def _tool_text(tool: Tool) -> str:
    """The words of a tool. Name and path say most in the fewest words, so they count beside the description."""
    own_name = "" if tool.name.startswith(tool_name(tool.method, tool.path)) else tool.name
    return f"{own_name or tool.path} {tool.path} {tool.summary} {tool.description}"


class Candidates:
    """The tools of a protocol, searchable by question; built once, asked often.

    Hybrid retrieval: words count (BM25) and, with `meaning`, the similarity of the whole question and of its words,
    too.
    """

    def __init__(self, graph: ProtocolGraph, *, meaning: bool = True) -> None:
        from rank_bm25 import BM25Plus

        self.graph = graph
        self.meaning = meaning
        self._texts = [
            f"{' '.join(words(tool.name))}. {tool.summary}. {tool.description}" for tool in graph.protocol.tools
        ]
        tool_words = [words(_tool_text(tool)) for tool in graph.protocol.tools]
        field_words = [
            {word for key in graph.response_fields(tool.name) for word in words(key)} for tool in graph.protocol.tools
        ]
        self._fields = {
            tool.name: set(map(stem, returned)).difference(map(stem, own))
            for tool, returned, own in zip(graph.protocol.tools, field_words, tool_words, strict=True)
        }
        times = Counter(word for stems in self._fields.values() for word in stems)
        most = len(graph.protocol.tools)
        self._rarity = {word: _RETURNED_WEIGHT * (1 - (count / most) ** 0.5) for word, count in times.items()}
        self._synonyms = api_synonyms(graph.protocol)
        self._dated_tools = {
            tool.name
            for tool in graph.protocol.tools
            for parameter in tool.arguments
            if parameter.required and not {"date", "day"}.isdisjoint(words(parameter.argument))
        }
        self._index = BM25Plus([list(map(stem, own)) for own in tool_words])
        vocabulary = {word for every_word in (*tool_words, *field_words) for word in every_word}
        self._vocabulary = tuple(sorted(word for word in vocabulary - _STOP_WORDS if len(word) >= _MIN_LETTERS))
        self._word_scores: dict[str, Any] = {}

    def rank(self, question: Question, speaks_of: Collection[str] = ()) -> tuple[str, ...]:
        """The names of all tools, the best for a question first; see `scores`."""
        return tuple(self.scores(question, speaks_of))

    def scores(self, question: Question, speaks_of: Collection[str] = ()) -> dict[str, float]:
        """The score of each tool for a question, in words and in meaning; the best first.

        Args:
            speaks_of: Fields of which the question has a value (see `atc.language.api_words`).
        Equal ones keep the order of the document.
        """
        tools = self.graph.protocol.tools
        question = self.in_api_words(question)
        telling = [word for word in question.words if word not in _STOP_WORDS]
        query_stems = {stem(word) for word in telling}
        short = {cut for word in query_stems for cut in abbreviated_names(word, self._rarity)} - query_stems
        scores = self._by_words(telling)
        is_ongoing = question.now and query_stems.isdisjoint(map(stem, CURRENT))  # else the words count
        removes = not _DELETION_WORDS.isdisjoint(question.words)
        similarities = likeness(question.text, self._texts) if self.meaning else [0.0] * len(tools)
        for place, tool in enumerate(tools):
            scores[place] -= _DELETION_PENALTY * (tool.method == "DELETE" and not removes)
            scores[place] += _FIELD_BONUS * (not self.graph.response_fields(tool.name).keys().isdisjoint(speaks_of))
            scores[place] += _MEANING_WEIGHT * similarities[place]
            scores[place] += _FIELD_BONUS * (question.dated and tool.name in self._dated_tools)
            scores[place] += _FIELD_BONUS * (is_ongoing and is_current(tool))
            wants_own = tool.writes or question.personal or question.now
            scores[place] -= _OWN_DATA_PENALTY * (is_own(tool) and not wants_own)
            scores[place] += sum(self._rarity.get(word, 0.0) for word in self._fields[tool.name] & short)
        order = sorted(range(len(tools)), key=lambda place: (-scores[place], place))
        return {tools[place].name: float(scores[place]) for place in order}

    def in_api_words(self, question: Question) -> Question:
        """A question in the API's own words (see `atc.language.api_words`)."""
        return Question(with_api_words(self._synonyms, question.text))

    def _by_words(self, query_words: Sequence[str]) -> list[float]:
        """The word score of each tool, in the order of the document; a related word counts where it is worth more."""
        total = np.zeros(len(self.graph.protocol.tools))
        for word in query_words:
            best = self._worth_of(stem(word))
            akin = likeness(word, self._vocabulary) if self.meaning and len(word) >= _MIN_LETTERS else []
            for vocabulary_word, alike in zip(self._vocabulary, akin, strict=False):
                if alike > _MIN_RELATED:
                    weight = (alike - _MIN_RELATED) / (1 - _MIN_RELATED)
                    best = np.maximum(best, weight * self._worth_of(stem(vocabulary_word)))
            total += best
        return [float(score) for score in total]

    def _worth_of(self, word: str) -> Any:
        """The score of each tool for the stem of a word; less where only a response has it."""
        if word not in self._word_scores:
            scores = self._index.get_scores([word])
            scores -= scores.min()  # BM25+ gives every tool something for every word
            returned = np.array([word in self._fields[tool.name] for tool in self.graph.protocol.tools])
            self._word_scores[word] = scores + self._rarity.get(word, 0.0) * returned
        return self._word_scores[word]

    def choose(
        self, question: Question, most: int, speaks_of: Collection[str] = (), *, closed: bool = True
    ) -> tuple[str, ...]:
        """The names of the `most` best tools, then (`closed`) the providers of their required identifiers.

        With no more than `most` tools in the protocol it is all of them, in document order.
        """
        tools = self.graph.protocol.tools
        if len(tools) <= most:
            return tuple(tool.name for tool in tools)
        best = self.rank(question, speaks_of)[:most]
        return self.graph.closure(best) if closed else best
