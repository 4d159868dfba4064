"""Train an encoder that puts a question near the documented tools which it needs.

The encoder is a small sentence transformer. A batch is some questions with all their tools, and tools that the current
encoder or BM25 confuses with them. A question is drawn to each of its tools, away from all tools of the batch that are
none of its own: the tools of the other questions and the confused ones.

Source: ToolLLM (arXiv:2307.16789), section 3.1: Sentence-BERT with in-batch negatives. There a question's second tool
counts as a negative of its first; here it does not.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.files import make_folder
from atc.retrieval.encoder import encode, load_encoder
from atc.retrieval.tool_index import RetrievalQuery, ToolDocument
from benchmarks.learning.memory import keep_freed_memory
from protocols.errors import UsageError

__all__ = ["EncoderTraining", "train_encoder"]

OnStep = Callable[[int, float], None]
"""Called with the steps that are done, and the loss."""

_CONFUSED = 20
"""The nearest documents of a question; those that are none of its own may be added to a batch."""


@dataclass(frozen=True, slots=True)
class EncoderTraining:
    """Settings of a training.

    Texts are cut to `tokens` in it; `confused` is the number of wrong tools that each question adds to a batch, and
    `frozen` the number of layers, from the first, that stay as they are, with the word embeddings. There is no dropout.
    """

    epochs: int = 4
    batch: int = 32
    rate: float = 1e-4
    warm_up: float = 0.1
    temperature: float = 0.05
    confused: int = 1
    tokens: int = 96
    frozen: int = 3
    seed: int = 0


def train_encoder(
    documents: Sequence[ToolDocument],
    judged: Sequence[RetrievalQuery],
    out: Path,
    settings: EncoderTraining,
    base: str = "base",
    on_step: OnStep | None = None,
) -> list[float]:
    """Train on questions with their relevant documents, and write the encoder into `out`; returns the losses.

    Args:
        base: A folder or hub name of a sentence transformer; `base` is the packaged one.
    Raises: UsageError: A package is missing, the base cannot be read, no question has a document of `documents`, or
        the folder cannot be made.
    """
    places = {document.id: place for place, document in enumerate(documents)}
    questions = [
        (question.text, sorted({places[id] for id in question.relevant if id in places})) for question in judged
    ]
    questions = [(text, relevant) for text, relevant in questions if relevant]
    if not questions:
        raise UsageError("no question has a relevant document: there is nothing to train on")
    encoder = load_encoder(base)
    make_folder(out)
    longest, encoder.max_seq_length = encoder.max_seq_length, settings.tokens
    losses = _Trainer(encoder, [document.text for document in documents], questions, settings).run(on_step)
    encoder.max_seq_length = longest
    encoder.save(str(out), create_model_card=False)
    return losses


class _Trainer:
    def __init__(
        self,
        encoder: Any,
        texts: Sequence[str],
        questions: Sequence[tuple[str, Sequence[int]]],
        settings: EncoderTraining,
    ) -> None:
        self.encoder, self.texts, self.questions, self.settings = encoder, texts, questions, settings
        self.draw = random.Random(settings.seed)
        self.candidates = self._confused_by_words()

    def run(self, on_step: OnStep | None) -> list[float]:
        import torch

        keep_freed_memory()
        torch.manual_seed(self.settings.seed)
        _freeze(self.encoder, self.settings.frozen)
        trained = [weight for weight in self.encoder.parameters() if weight.requires_grad]
        optimizer = torch.optim.AdamW(trained, lr=self.settings.rate, weight_decay=0.01)
        steps = self.settings.epochs * math.ceil(len(self.questions) / self.settings.batch)
        warm = max(1, round(self.settings.warm_up * steps))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
        )
        losses = []
        for batch in self._batches():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = self._loss(batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            schedule.step()
            losses.append(float(loss.detach()))
            if on_step:
                on_step(len(losses), losses[-1])
        return losses

    def _batches(self) -> Iterator[list[int]]:
        for epoch in range(self.settings.epochs):
            if epoch and epoch % 2 == 0:
                self.candidates = self._confused_by_vectors()
            order = list(range(len(self.questions)))
            self.draw.shuffle(order)
            for start in range(0, len(order), self.settings.batch):
                yield order[start : start + self.settings.batch]

    def _loss(self, batch: Sequence[int]) -> Any:
        """Mean over all (question, tool): minus the log-probability of the tool among the tools that are no other
        tool of the question."""
        import torch

        rows: set[int] = set()
        for number in batch:
            rows.update(self.questions[number][1])
            confused = self.candidates[number]
            rows.update(self.draw.sample(confused, min(self.settings.confused, len(confused))))
        order = sorted(rows)
        places = {row: place for place, row in enumerate(order)}
        asked = self._embed([self.questions[number][0] for number in batch])
        tools = self._embed([self.texts[row] for row in order])
        scores = (asked @ tools.T).float() / self.settings.temperature
        own = torch.zeros_like(scores, dtype=torch.bool)
        for line, number in enumerate(batch):
            own[line, [places[row] for row in self.questions[number][1]]] = True
        wrong = scores.masked_fill(own, -torch.inf).logsumexp(1, keepdim=True)
        return (torch.logaddexp(wrong, scores) - scores)[own].mean()

    def _embed(self, texts: Sequence[str]) -> Any:
        import torch

        features = self.encoder.preprocess(list(texts))
        vectors = self.encoder(features)["sentence_embedding"]
        return torch.nn.functional.normalize(vectors, dim=1)

    def _confused_by_words(self) -> list[list[int]]:
        import bm25s

        words = bm25s.BM25()
        words.index(bm25s.tokenize(list(self.texts), stopwords="en", show_progress=False), show_progress=False)
        asked = bm25s.tokenize([text for text, _ in self.questions], stopwords="en", show_progress=False)
        nearest, _ = words.retrieve(asked, k=min(_CONFUSED, len(self.texts)), show_progress=False)
        return self._without_own(nearest)

    def _confused_by_vectors(self) -> list[list[int]]:
        asked = encode(self.encoder, [text for text, _ in self.questions])
        scores = asked @ encode(self.encoder, self.texts).T
        return self._without_own((-scores).argsort(axis=1)[:, :_CONFUSED])

    def _without_own(self, nearest: Any) -> list[list[int]]:
        return [
            [int(row) for row in rows if int(row) not in relevant]
            for rows, (_, relevant) in zip(nearest, self.questions, strict=True)
        ]


def _freeze(encoder: Any, count: int) -> None:
    """Keep the first layers of a transformer and its embeddings as they are; without such layers nothing is frozen."""
    model = encoder[0].auto_model
    layers = getattr(getattr(model, "encoder", None), "layer", None)
    if layers is None or not count:
        return
    for module in (model.embeddings, *layers[:count]):
        module.requires_grad_(False)
