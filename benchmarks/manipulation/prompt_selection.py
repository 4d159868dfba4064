"""What a prompt shows of an environment for a goal: some of its functions and demonstrations, the nearest first.

By words, the whole text of a demonstration is searched, goal and action, as the released code does; by vectors only
the goals are compared, as the paper describes it.

Source: Xu et al. (arXiv:2305.16504), section 4.2; the BM25 is BM25+ with k1 1.5 and b 0.75 over words of two or more
letters or digits.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from benchmarks.manipulation.complexity import combination, distance
from benchmarks.manipulation.environment import Environment, FunctionDocument, GoalAction, ManipulationTest
from benchmarks.report.published import published
from protocols.errors import UsageError

__all__ = ["RETRIEVERS", "DocumentCount", "Selection", "check_retriever", "shown_example", "shown_functions"]

RETRIEVERS = ("bm25", "wordllama", "base")
"""By words; by word vectors; by the packaged sentence transformer. A folder names another one."""

DocumentCount = int | Literal["paper", "all", "none"]
"""How many functions a prompt shows; "paper" is as the paper does for each tool."""

_WORD = re.compile(r"\b\w\w+\b")


def check_retriever(retriever: str) -> None:
    """Raises: UsageError: It is none of RETRIEVERS, and no folder."""
    if retriever not in RETRIEVERS and not Path(retriever).is_dir():
        raise UsageError(
            f"--retriever takes {', '.join(RETRIEVERS)} or the folder of a sentence transformer, not {retriever!r}"
        )


def shown_functions(functions: Sequence[FunctionDocument]) -> str:
    """The documents of functions as a prompt has them: comment lines with the description, then the signature."""
    return "\n".join(
        "\n".join([*(f"# {line}" for line in document.description.splitlines()), document.signature])
        for document in functions
    )


def shown_example(goal: str, action: str) -> str:
    """A demonstration as a prompt has it."""
    return f"Task: {goal}\nAction:\n{action}"


@dataclass(frozen=True)
class Selection:
    """Chooses for the tests of one environment.

    Args:
        shots: Demonstrations in a prompt.
        oracle: Show the one demonstration whose functions are nearest to those of the test, by the distance of the
            API-complexity score, in place of those that a search finds.
        retriever: One of RETRIEVERS, or the folder of a sentence transformer.
        seed: Of the order of demonstrations that are equally near.
    """

    environment: Environment
    shots: int = 0
    documents: DocumentCount = "paper"
    oracle: bool = False
    retriever: str = "bm25"
    seed: int = 0

    @property
    def document_count(self) -> int:
        """The number of functions that a prompt shows."""
        total = len(self.environment.functions)
        count = self.environment.documents_shown if self.documents == "paper" else self.documents
        if count is None or count == "all":
            return total
        return 0 if count == "none" else min(int(count), total)

    def functions(self, goal: str) -> Sequence[FunctionDocument]:
        """The functions for a goal: all in their own order, or the nearest ones, best first."""
        functions = self.environment.functions
        if self.document_count in (0, len(functions)):
            return functions[: self.document_count]
        return [functions[place] for place in self._function_ranking(goal)[: self.document_count]]

    def demonstrations(self, goal: str, test: ManipulationTest) -> Sequence[GoalAction]:
        """The demonstrations for a goal, the nearest first."""
        demonstrations = self.environment.demonstrations
        if self.oracle:
            return [demonstrations[self._oracle(test)]] if demonstrations else []
        if not self.shots:
            return []
        return [demonstrations[place] for place in self._demonstration_ranking(goal)[: self.shots]]

    def _oracle(self, test: ManipulationTest) -> int:
        """The place of the demonstration nearest to any label of a test; of equal ones, the first by the seed."""
        pool = published("complexity")["options"].get(self.environment.name, len(self.environment.functions))
        order = _shuffled(len(self.environment.demonstrations), self.seed)
        distances = [
            min(
                distance(Counter(accepted), Counter(combination(demonstration.action, demonstration.names)), pool)
                for accepted in map(combination, test.labels, test.names)
            )
            for demonstration in self.environment.demonstrations
        ]
        return min(order, key=distances.__getitem__)

    @cached_property
    def _function_ranking(self) -> Callable[[str], list[int]]:
        texts = [shown_functions([document]) for document in self.environment.functions]
        return _ranking(self.retriever, texts, texts, range(len(texts)))

    @cached_property
    def _demonstration_ranking(self) -> Callable[[str], list[int]]:
        demonstrations = self.environment.demonstrations
        whole = [shown_example(demonstration.goal, demonstration.action) for demonstration in demonstrations]
        goals = [demonstration.goal for demonstration in demonstrations]
        return _ranking(self.retriever, whole, goals, _shuffled(len(whole), self.seed))


def _shuffled(count: int, seed: int) -> list[int]:
    places = list(range(count))
    random.Random(f"equal {seed}").shuffle(places)
    return places


def _ranking(
    retriever: str, texts: Sequence[str], goals: Sequence[str], order: Sequence[int]
) -> Callable[[str], list[int]]:
    """A function that ranks texts for a query; equally near ones come in the order given.

    Args:
        texts: What is searched by words. goals: What is compared by vectors.
    Raises: UsageError: The retriever is unknown, or a package is missing.
    """
    check_retriever(retriever)
    score = _by_words(texts) if retriever == "bm25" else _by_vectors(retriever, goals)

    def rank(query: str) -> list[int]:
        scores = score(query)
        return sorted(order, key=lambda place: -scores[place])

    return rank


def _by_words(texts: Sequence[str]) -> Callable[[str], Any]:
    from atc.retrieval.candidates import WordIndex

    worth = cache(WordIndex([_words(text) for text in texts]).worth)
    return lambda query: sum(map(worth, _words(query)), worth(""))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _by_vectors(retriever: str, texts: Sequence[str]) -> Callable[[str], Any]:
    if retriever == "wordllama":
        from atc.retrieval.embeddings import likeness

        return lambda query: likeness(query, texts)
    from atc.retrieval.encoder import encode, trained

    encoder = trained(retriever)
    vectors = encode(encoder, texts)
    return lambda query: vectors @ encode(encoder, [query])[0]
