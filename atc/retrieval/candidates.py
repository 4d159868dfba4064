"""Choose the tools to show to the model, when an API has more than it should read.

Where tools are left out, three rankings count: by what a question says of a tool, by what it says of the tool's
arguments and response fields, and by the length of the tool's path. A tool that wins is of no use without the tools
that provide its identifiers, so those come with it (see `atc.retrieval.companions`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from atc.assist.language.api_words import api_synonyms, with_api_words
from atc.assist.language.question import Question
from atc.assist.language.word_lists import QUESTIONS
from atc.retrieval.companions import Companions
from atc.retrieval.embeddings import likeness
from atc.retrieval.tool_index import ToolIndex
from atc.retrieval.word_index import WordIndex
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.operations import CURRENT, is_current, is_own, looks_like_read
from protocols.errors import UsageError
from protocols.model import Protocol, Schema, Tool
from protocols.naming import tool_name
from protocols.schema_fields import fields, items_of
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

_WRITE_PENALTY = 4.0
"""Penalty of a tool that writes, where the question only asks for information and tools are left out."""
_SEGMENT_PENALTY = 0.2
"""Penalty of each segment of a path, where tools are left out: the plain list before what lies below one item."""
_RANK_OFFSET, _CONTENT_WEIGHT = 20, 0.5
"""Reciprocal rank fusion: each ranking counts 1 / (offset + rank), that of the contents with this weight."""
_LEADING = 3
"""Tools that are chosen by the scores alone, before the rankings count."""
_MIN_RELATED_CONTENT = 0.5
"""Least similarity of a word of the question and one of a tool's contents."""
_FIELD_DEPTH, _MAX_FIELDS, _DESCRIBING_WORDS = 4, 150, 12
"""Depth and number of the response fields of a tool, and words of an argument's description, among its contents."""
_QUOTED_TEXT = re.compile(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d")
_ADDRESS, _ADDRESS_WORD = re.compile(r"\S+@\S+"), "email"
_WITH_DIGIT = re.compile(r"\S*\d\S*")
_ACRONYMS = re.compile(r"\b([A-Z]{2,})s\b")
"""The plural of an acronym, as in `URLs`."""
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_COMMON_SHARE = 0.5
"""Part of all tools that require an argument from which its words do not tell one tool from another."""


def _tool_text(tool: Tool) -> str:
    """The words of a tool. Name and path say most in the fewest words, so they count beside the description."""
    own_name = tool.namespace if tool.local_name.startswith(tool_name(tool.method, tool.path)) else tool.name
    return f"{own_name or tool.path} {tool.path} {tool.summary} {tool.description}"


def _content_words(tool: Tool, protocol: Protocol) -> Iterator[str]:
    """The words of a tool's arguments, of their fixed values, and of its response fields."""
    for parameter in tool.arguments:
        yield from words(parameter.argument)
        for schema in (parameter.schema, items_of(parameter.schema, protocol) or {}):
            yield from _value_words(schema)
        yield from islice(words(parameter.description), _DESCRIBING_WORDS)
    if tool.response_schema is not None:
        for field in islice(fields(tool.response_schema, protocol, _FIELD_DEPTH), _MAX_FIELDS):
            yield from words(field.name)


def _value_words(schema: Schema) -> Iterator[str]:
    values = schema.get("enum")
    for value in values if isinstance(values, list) else ():
        if isinstance(value, str):
            yield from words(value)


def _vocabulary(all_words: Collection[str]) -> tuple[str, ...]:
    """The words to which a word of a question may be related."""
    return tuple(sorted(word for word in set(all_words) - _STOP_WORDS if len(word) >= _MIN_LETTERS))


def _telling(query_words: Sequence[str]) -> list[str]:
    return [word for word in query_words if word not in _STOP_WORDS]


class Candidates:
    """The tools of a protocol, searchable by question; built once, asked often.

    Hybrid retrieval: words count (BM25) and, with `meaning`, the similarity of the whole question and of its words,
    too. With a `retriever` its order alone decides which tools are chosen.

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
        self._index = WordIndex([list(map(stem, own)) for own in tool_words])
        self._vocabulary = _vocabulary({word for every_word in (*tool_words, *field_words) for word in every_word})
        self._word_scores: dict[str, Any] = {}

    def rank(self, question: Question, speaks_of: Collection[str] = ()) -> tuple[str, ...]:
        """The names of all tools, the best for a question first; see `scores`."""
        return tuple(self.scores(question, speaks_of))

    def scores(self, question: Question, speaks_of: Collection[str] = ()) -> dict[str, float]:
        """The score of each tool for a question, in words and in meaning; the best first.

        Args:
            speaks_of: Fields of which the question has a value (see `atc.assist.language.api_words`).
        Equal ones keep the order of the document.
        """
        tools = self.graph.protocol.tools
        question = self.in_api_words(question)
        scores = self._tool_scores(question, question, speaks_of)
        order = sorted(range(len(tools)), key=lambda place: (-scores[place], place))
        return {tools[place].name: float(scores[place]) for place in order}

    def _tool_scores(self, question: Question, wording: Question, speaks_of: Collection[str]) -> list[float]:
        """The score of each tool, in the order of the document, by the words and the meaning of `wording`."""
        tools = self.graph.protocol.tools
        telling = _telling(wording.words)
        query_stems = {stem(word) for word in telling}
        short = {cut for word in query_stems for cut in abbreviated_names(word, self._rarity)} - query_stems
        scores = self._by_words(telling)
        is_ongoing = question.now and query_stems.isdisjoint(map(stem, CURRENT))  # else the words count
        removes = not _DELETION_WORDS.isdisjoint(question.words)
        similarities = likeness(wording.text, self._texts) if self.meaning else [0.0] * len(tools)
        for place, tool in enumerate(tools):
            scores[place] -= _DELETION_PENALTY * (tool.method == "DELETE" and not removes)
            scores[place] += _FIELD_BONUS * (not self.graph.response_fields(tool.name).keys().isdisjoint(speaks_of))
            scores[place] += _MEANING_WEIGHT * similarities[place]
            scores[place] += _FIELD_BONUS * (question.dated and tool.name in self._dated_tools)
            scores[place] += _FIELD_BONUS * (is_ongoing and is_current(tool))
            wants_own = tool.writes or question.personal or question.now
            scores[place] -= _OWN_DATA_PENALTY * (is_own(tool) and not wants_own)
            scores[place] += sum(self._rarity.get(word, 0.0) for word in self._fields[tool.name] & short)
        return scores

    def in_api_words(self, question: Question) -> Question:
        """A question in the API's own words (see `atc.assist.language.api_words`)."""
        return Question(with_api_words(self._synonyms, question.text))

    def _by_words(self, query_words: Sequence[str]) -> list[float]:
        """The word score of each tool, in the order of the document; a related word counts where it is worth more."""
        total = np.zeros(len(self.graph.protocol.tools))
        for word in query_words:
            best = self._worth_of(stem(word))
            for related, weight in self._related(word, self._vocabulary, _MIN_RELATED):
                best = np.maximum(best, weight * self._worth_of(stem(related)))
            total += best
        return [float(score) for score in total]

    def _related(self, word: str, vocabulary: tuple[str, ...], least: float) -> list[tuple[str, float]]:
        """The words of a vocabulary that are related to a word, each with its weight above 0."""
        if not self.meaning or len(word) < _MIN_LETTERS:
            return []
        akin = zip(vocabulary, likeness(word, vocabulary), strict=False)
        return [(related, (alike - least) / (1 - least)) for related, alike in akin if alike > least]

    def _worth_of(self, word: str) -> Any:
        """The score of each tool for the stem of a word; less where only a response has it."""
        if word not in self._word_scores:
            returned = np.array([word in self._fields[tool.name] for tool in self.graph.protocol.tools])
            self._word_scores[word] = self._index.worth(word) + self._rarity.get(word, 0.0) * returned
        return self._word_scores[word]

    def choose(
        self, question: Question, most: int, speaks_of: Collection[str] = (), *, closed: bool = True
    ) -> tuple[str, ...]:
        """The names of the `most` best tools, then (`closed`) those that they are of no use without.

        With no more than `most` tools in the protocol it is all of them, in document order.
        """
        tools = self.graph.protocol.tools
        if len(tools) <= most:
            return tuple(tool.name for tool in tools)
        asks_only = self._without_common_sentences(question).is_information_request
        if self.retriever is not None:
            best = self._retrieved(self.retriever, question, most)
            return self._companions.complete(best, changes=not asks_only) if closed else best
        leading = self.rank(question, speaks_of)[:_LEADING]
        best = tuple(dict.fromkeys([*leading, *self._fused(question, speaks_of, asks_only)]))[:most]
        return self._companions.complete(best, changes=not asks_only) if closed else best

    def _retrieved(self, retriever: ToolIndex, question: Question, most: int) -> tuple[str, ...]:
        """The names of the `most` nearest documents that are tools of the protocol."""
        hits = retriever.search(question.text, len(retriever.documents))
        names = dict.fromkeys(hit.document.api for hit in hits if hit.document.api in self.graph.protocol)
        return tuple(islice(names, most))

    # The choice where tools are left out -------------------------------------------------------------------------

    def _fused(self, question: Question, speaks_of: Collection[str], asks_only: bool) -> tuple[str, ...]:
        """The names of all tools by reciprocal rank fusion of their words and their contents.

        Values tell nothing of a tool, so only the other words of the question count.
        """
        tools = self.graph.protocol.tools
        spoken = self.in_api_words(question)
        wording = self._without_values(spoken.text)
        wording = wording if _telling(wording.words) else spoken
        writing = np.array([tool.writes and not looks_like_read(tool) for tool in tools])
        penalties = _WRITE_PENALTY * writing * asks_only
        segments = np.array([tool.path.strip("/").count("/") for tool in tools])
        by_tool = np.array(self._tool_scores(spoken, wording, speaks_of)) - _SEGMENT_PENALTY * segments
        fused = _reciprocal_ranks(by_tool - penalties)
        fused += _CONTENT_WEIGHT * _reciprocal_ranks(self._by_contents(_telling(wording.words)) - penalties)
        return tuple(tools[place].name for place in np.argsort(-fused, kind="stable"))

    def _by_contents(self, query_words: Sequence[str]) -> Any:
        """The score of each tool by the words of its arguments and response fields, in the order of the document."""
        index, vocabulary = self._contents
        total = np.zeros(len(self.graph.protocol.tools))
        for word in dict.fromkeys(query_words):
            best = index.worth(stem(word))
            for related, weight in self._related(word, vocabulary, _MIN_RELATED_CONTENT):
                best = np.maximum(best, weight * index.worth(stem(related)))
            total += best
        return total

    def _without_values(self, text: str) -> Question:
        """A question without what is quoted, numbers, and the words of arguments that most tools require.

        An address becomes the word for it.
        """
        text = _WITH_DIGIT.sub(" ", _ADDRESS.sub(f" {_ADDRESS_WORD} ", _QUOTED_TEXT.sub(" ", text)))
        text = _ACRONYMS.sub(lambda match: f"{match[1].lower()}s", text)
        return Question(" ".join(part for part in text.split() if not self._is_common(part)))

    def _without_common_sentences(self, question: Question) -> Question:
        """A question without the sentences that only say what most tools require."""
        sentences = _SENTENCE_END.split(question.text)
        telling = [sentence for sentence in sentences if self._without_values(sentence).words]
        return Question(" ".join(telling)) if telling else question

    def _is_common(self, part: str) -> bool:
        part_words = words(part)
        return bool(part_words) and self._common_words.issuperset(map(stem, part_words))

    @cached_property
    def _common_words(self) -> frozenset[str]:
        """The stems of the names of arguments outside of paths that most tools require."""
        tools = self.graph.protocol.tools
        counts = Counter(
            word
            for tool in tools
            for word in {
                stem(word)
                for parameter in tool.arguments
                if parameter.required and parameter.location in ("header", "query")
                for word in words(parameter.argument)
            }
        )
        return frozenset(word for word, count in counts.items() if count > _COMMON_SHARE * len(tools))

    @cached_property
    def _contents(self) -> tuple[WordIndex, tuple[str, ...]]:
        """The words of the tools' arguments and responses, each once a tool, and all of them."""
        protocol = self.graph.protocol
        contents = [tuple(dict.fromkeys(_content_words(tool, protocol))) for tool in protocol.tools]
        index = WordIndex([list(map(stem, content)) for content in contents])
        return index, _vocabulary({word for content in contents for word in content})

    @cached_property
    def _companions(self) -> Companions:
        return Companions(self.graph)


def _reciprocal_ranks(scores: Any) -> Any:
    """1 / (offset + rank) of each score, the best having rank 0; equal ones have their mean rank."""
    ordered = np.sort(-scores)
    before = np.searchsorted(ordered, -scores, side="left")
    until = np.searchsorted(ordered, -scores, side="right")
    return 1 / (_RANK_OFFSET + (before + until - 1) / 2)
