"""The constants of a retriever's confidence, and how well it tells whether an index has what a question needs.

`python -m benchmarks.micro.confidence [--encoder NAME]` reads the shared query files (`ATC_DATA`). Small indexes are
made of the documents of some questions and of others at random. A question is asked of an index with its documents and
of one without any document of its tools. A logistic regression over all of them gives the constants of
`atc.retrieval.confidence`; five regressions, each over four fifths of the questions, are measured on the rest.

An encoder that `python -m benchmarks.micro.retriever` trained is asked only what it was not trained on:
`--encoder [hybrid:]runs/retriever/fold-0.encoder --fold 0`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np

from atc.apps.cli import print_json
from atc.retrieval.tool_index import RetrievalQuery, ToolDocument, ToolIndex, build_index
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.micro.retriever import FILES, FOLDS, query_file
from benchmarks.toolbench.retrieval.experiment import read_corpus
from benchmarks.toolbench.retrieval.hold_out import hold_out

__all__ = ["main"]

SIZES = (20, 60, 200, 600, 1755)
_GROUP = 3
"""Questions with their documents in an index, at least, and as many without."""


@click.command(cls=Measurement)
@click.option("--encoder", default="bm25", show_default=True, help="Of the indexes, as `atc retrieve build` takes it.")
@click.option("--fold", type=click.IntRange(0, FOLDS - 1), help="Ask only the questions that this fold held out.")
@click.option("--indexes", default=25, show_default=True, help="Indexes of each size.")
@click.option("--seed", default=0, show_default=True)
@json_option()
def main(encoder: str, fold: int | None, indexes: int, seed: int, as_json: bool) -> None:
    """Fit the confidence of a retriever, and measure it on questions that it was not fitted on."""
    documents, judged = read_corpus([query_file(name) for name in FILES])
    if fold is not None:
        judged = list(hold_out(documents, judged, "query", fold=fold, folds=FOLDS).test)
    rows = list(_observed(documents, judged, encoder, indexes, random.Random(seed)))
    figures = fitted(np.array([row[1] for row in rows]), np.array([row[2] for row in rows]), [row[0] for row in rows])
    if as_json:
        print_json({"encoder": encoder, "sizes": list(SIZES), **figures})
        return
    print_table(["figure", encoder], [(name, f"{value:.5g}") for name, value in figures.items()], figures_from=1)


def _observed(
    documents: Sequence[ToolDocument],
    judged: Sequence[RetrievalQuery],
    encoder: str,
    indexes: int,
    generator: random.Random,
) -> Iterator[tuple[str, tuple[float, float, float], bool]]:
    """A question, the evidence of an index for it, and whether the index has its documents."""
    tools = {document.id: (document.category, document.tool) for document in documents}
    for size in SIZES * indexes:
        group = min(max(_GROUP, size // 20), len(judged) // 2)
        drawn = generator.sample(judged, 2 * group)
        answered, absent = drawn[:group], drawn[group:]
        shut_out = {tools[name] for question in absent for name in question.relevant}
        allowed = [document for document in documents if tools[document.id] not in shut_out]
        needed = {name for question in answered for name in question.relevant}
        chosen = [document for document in allowed if document.id in needed]
        others = [document for document in allowed if document.id not in needed]
        chosen += generator.sample(others, max(0, min(size - len(chosen), len(others))))
        inside = {document.id for document in chosen}
        with TemporaryDirectory() as scratch:
            folder = Path(scratch) / "index"
            build_index(folder, chosen, encoder)
            index = ToolIndex(folder)
            for question in drawn:
                present = question.relevant <= inside
                seen = index.evidence(question.text)
                if seen is not None and (present or question in absent):
                    yield question.id, seen, present


def fitted(features: Any, labels: Any, questions: Sequence[str]) -> dict[str, float]:
    """The constants, and how well such constants do on questions that they were not fitted on.

    Args:
        features: n x 3, as `evidence` gives them. labels: n truth values. questions: The id of each row's question.
    Returns: The four constants; the area under the ROC curve; the expected calibration error in ten bins; both over
        five folds by question.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold, cross_val_predict

    model = LogisticRegression(C=1e4, max_iter=1000, class_weight="balanced")
    folds = GroupKFold(n_splits=5)
    predicted = cross_val_predict(model, features, labels, groups=questions, cv=folds, method="predict_proba")[:, 1]
    weights = np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())
    bins = np.minimum((predicted * 10).astype(int), 9)
    error = sum(
        abs(float((weights[bins == bin] * (predicted[bins == bin] - labels[bins == bin])).sum())) for bin in range(10)
    )
    model.fit(features, labels)
    names = ("words", "vectors", "log of documents", "constant")
    constants = zip(names, (*model.coef_[0], model.intercept_[0]), strict=True)
    return {
        **{name: float(value) for name, value in constants},
        "AUROC, unseen questions": float(roc_auc_score(labels, predicted)),
        "calibration error, unseen questions": error,
        "n": len(labels),
    }


if __name__ == "__main__":
    main()
