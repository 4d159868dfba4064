"""How well APIs are found: words, word vectors, an encoder before and after training, and both together.

`python -m benchmarks.micro.retriever [--out DIR]` reads the shared query files (`ATC_DATA`). Five times an encoder is
trained on four fifths of the questions and measured on the rest; then once on questions about tools that it has not
seen, and once on the categories of `G1_category`, trained on the two `*_instruction` files. Each training is kept in
`--out`: the command goes on where it was stopped. `--scale N` measures an index of N documents instead.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median

import click
from rich.console import Console
from rich.progress import Progress

from atc.apps.cli import print_json
from atc.files import write_json
from atc.retrieval.tool_index import RetrievalQuery, ToolDocument, ToolIndex, build_index
from benchmarks.learning.retriever import EncoderTraining, train_encoder
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.report.stats import difference
from benchmarks.tasks.download import folders
from benchmarks.toolbench.retrieval.experiment import ranked, read_corpus
from benchmarks.toolbench.retrieval.hold_out import HoldOut, hold_out
from protocols.errors import UsageError

__all__ = ["FILES", "FOLDS", "main", "query_file"]

FILES = ("G1_instruction", "G1_category", "G2_instruction")
FOLDS = 5
_SCALED_QUERIES = 100


@click.command(cls=Measurement)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default="runs/retriever", show_default=True)
@click.option("--epochs", default=4, show_default=True)
@click.option("--scale", type=int, help="Measure an index of so many documents, with the encoder of the first fold.")
@json_option()
def main(out: Path, epochs: int, scale: int | None, as_json: bool) -> None:
    """Compare the ways to find APIs on questions that no encoder was trained on."""
    files = [query_file(name) for name in FILES]
    documents, judged = read_corpus(files)
    if scale:
        print_json(scaled(out, documents, judged, scale))
        return
    out.mkdir(parents=True, exist_ok=True)
    untrained = _untrained(out, documents, judged)
    measured: dict[str, dict[str, dict[str, float]]] = {}
    for name, split in _splits(documents, judged):
        trained = _measured(out, name, split, documents, EncoderTraining(epochs=epochs))
        rest = {way: {question.id: values[question.id] for question in split.test} for way, values in untrained.items()}
        measured[name] = {**trained, **rest}
    rows = list(_rows(measured))
    if as_json:
        print_json(rows)
        return
    print_table(
        ["questions", "n", "way", "NDCG@5", "over bm25", "95 %"],
        [
            (row["questions"], row["n"], row["way"], *(f"{row[key]:.1f}" for key in ("ndcg", "gain")), row["interval"])
            for row in rows
        ],
        figures_from=3,
    )


def query_file(name: str) -> Path:
    for folder in folders():
        if (file := folder / "stabletoolbench" / f"{name}.json").is_file():
            return file
    raise UsageError(f"there is no stabletoolbench/{name}.json: set ATC_DATA, or run `atc data pull stabletoolbench`")


def _splits(documents: Sequence[ToolDocument], judged: Sequence[RetrievalQuery]) -> Iterator[tuple[str, HoldOut]]:
    for fold in range(FOLDS):
        yield f"fold-{fold}", hold_out(documents, judged, "query", fold=fold, folds=FOLDS)
    yield "unseen-tools", hold_out(documents, judged, "tool")
    train = tuple(question for question in judged if "_instruction:" in question.id)
    test = tuple(question for question in judged if question.id.startswith("G1_category:"))
    seen = frozenset[str]().union(*(question.relevant for question in train))
    categories = {document.category for document in documents if document.id in seen}
    read = tuple(document for document in documents if document.category in categories)
    yield "unseen-categories", HoldOut(train, test, read)


def _untrained(
    out: Path, documents: Sequence[ToolDocument], judged: Sequence[RetrievalQuery]
) -> dict[str, dict[str, float]]:
    """NDCG@5 by way and question of the encoders that are not trained here; kept, too."""
    file = out / "untrained.json"
    if file.is_file():
        stored: dict[str, dict[str, float]] = json.loads(file.read_text("utf-8"))
        return stored
    ways = {
        name: ranked(documents, judged, encoder)["encoder"]
        for name, encoder in (("base encoder", "base"), ("wordllama", "wordllama"))
    }
    ids = [question.id for question in judged]
    by_way = {way: dict(zip(ids, values, strict=True)) for way, values in ways.items()}
    write_json(file, by_way)
    return by_way


def _measured(
    out: Path, name: str, split: HoldOut, documents: Sequence[ToolDocument], settings: EncoderTraining
) -> dict[str, dict[str, float]]:
    """NDCG@5 by way and question; a training that is there is not repeated."""
    file = out / f"{name}.json"
    if file.is_file():
        stored: dict[str, dict[str, float]] = json.loads(file.read_text("utf-8"))
        return stored
    encoder = out / f"{name}.encoder"
    begun = time.monotonic()
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task(name)
        train_encoder(
            split.documents,
            split.train,
            encoder,
            replace(settings, seed=0),
            on_step=lambda done, total, loss: progress.update(task, completed=done, total=total),
        )
    seconds = time.monotonic() - begun
    click.echo(f"{name}: trained on {len(split.train)} questions in {seconds:.0f} s", err=True)
    ways = ranked(documents, split.test, str(encoder))
    names = {"encoder": "trained", "hybrid": "trained and bm25", "hybrid by ranks": "trained and bm25, ranks fused"}
    rows = {names.get(way, way): values for way, values in ways.items()}
    ids = [question.id for question in split.test]
    by_way = {way: dict(zip(ids, values, strict=True)) for way, values in rows.items()}
    write_json(file, by_way)
    return by_way


def _rows(measured: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[dict[str, object]]:
    """A row for each group of questions and way; the interval is that of the paired difference from BM25."""
    pooled: dict[str, dict[str, float]] = {}
    for name, by_way in measured.items():
        if name.startswith("fold-"):
            for way, values in by_way.items():
                pooled.setdefault(way, {}).update(values)
    groups: dict[str, Mapping[str, Mapping[str, float]]] = {"five folds": pooled}
    for file in FILES:
        groups[file] = {
            way: {id: value for id, value in values.items() if id.startswith(f"{file}:")}
            for way, values in pooled.items()
        }
    groups.update((name, by_way) for name, by_way in measured.items() if not name.startswith("fold-"))
    for group, by_way in groups.items():
        for way, values in by_way.items():
            apart = difference([by_way["bm25"][id] for id in values], list(values.values()))
            yield {
                "questions": group,
                "n": len(values),
                "way": way,
                "ndcg": 100 * fmean(values.values()),
                "gain": 100 * apart.mean,
                "interval": f"{100 * apart.low:.1f} to {100 * apart.high:.1f}",
            }


def scaled(
    out: Path, documents: Sequence[ToolDocument], judged: Sequence[RetrievalQuery], count: int
) -> dict[str, object]:
    """Seconds, bytes and milliseconds of an index with the encoder of the first fold, filled up with variants.

    A variant of a document has its words in another order, and another name; so it is as long, and no duplicate.
    """
    import resource

    encoder = out / "fold-0.encoder"
    if not encoder.is_dir():
        raise UsageError(f"there is no {encoder}: run the command without --scale first")
    folder = out / f"index-{count}"
    begun = time.monotonic()
    build_index(folder, list(_variants(documents, count)), f"hybrid:{encoder}")
    seconds = time.monotonic() - begun
    index = ToolIndex(folder)
    index.search(judged[0].text)
    times = []
    for question in judged[:_SCALED_QUERIES]:
        begun = time.perf_counter()
        index.search(question.text)
        times.append(1000 * (time.perf_counter() - begun))
    return {
        "documents": count,
        "build seconds": round(seconds, 1),
        "query ms, median": round(median(times), 1),
        "query ms, mean": round(fmean(times), 1),
        "index megabytes": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6,
        "process megabytes, build included": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def _variants(documents: Sequence[ToolDocument], count: int) -> Iterator[ToolDocument]:
    for number in range(count):
        document = documents[number % len(documents)]
        turn = number // len(documents)
        words = document.text.split(" ")
        moved = words[turn * 3 % len(words) :] + words[: turn * 3 % len(words)]
        yield replace(document, id=f"{document.id}-{turn}", text=" ".join(moved))


if __name__ == "__main__":
    main()
