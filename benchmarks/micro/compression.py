"""What is lost when long replies are shortened: tokens, and values that the final answers rest on.

`python -m benchmarks.micro.compression` reads the shared answer files (`ATC_DATA`). A value of a reply counts if the
final answer quotes it: a text of four characters or more, or a number of three digits or more. Compared are the
published cut of the text at 1,024 characters, and ours inside values at so many tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from atc.apps.cli import print_json
from atc.modes.observations import published_observation, render_value
from benchmarks.micro.frame import Measurement, json_option, print_table
from benchmarks.tasks.download import folders
from benchmarks.toolbench.corpus.answers import Answer, read_answer
from protocols.calls.envelope import literal
from protocols.errors import UsageError
from protocols.json_path import leaves
from protocols.render import estimate

__all__ = ["main", "measure", "quoted_values"]

_ANSWERS = ("toolbench/data_example/answer", "stabletoolbench/data_example/answer")
_BUDGETS = (100, 200, 400, 1024)
_SHORTEST_TEXT, _SHORTEST_NUMBER = 4, 3


def quoted_values(reply: object, answer: str) -> set[str]:
    """The values of a reply that an answer quotes, as texts."""
    folded = answer.casefold()
    values: set[str] = set()
    for _, value in leaves(reply):
        text = str(value).strip()
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        shortest = _SHORTEST_NUMBER if is_number else _SHORTEST_TEXT
        if len(text) >= shortest and re.search(rf"(?<!\w){re.escape(text.casefold())}(?!\w)", folded):
            values.add(text)
    return values


def measure(answers: list[Answer]) -> list[dict[str, object]]:
    """By way of shortening: tokens of all replies, and quoted values still in them; `all` leaves them whole."""
    replies = [(reply, answer.final_answer) for answer in answers for reply in _replies(answer)]
    quoted = [quoted_values(reply, answer) for reply, answer in replies]
    ways: dict[str, Callable[[object], str]] = {
        "all": lambda reply: json.dumps(reply, ensure_ascii=False),
        "published: 1,024 characters": published_observation,
    }
    for budget in _BUDGETS:
        ways[f"ours: {budget:,} tokens"] = lambda reply, budget=budget: render_value(reply, budget)  # type: ignore[misc]
    rows = []
    for name, shorten in ways.items():
        texts = [shorten(reply) for reply, _ in replies]
        kept = sum(
            value in text or json.dumps(value, ensure_ascii=False)[1:-1] in text
            for text, values in zip(texts, quoted, strict=True)
            for value in values
        )
        row = {"way": name, "tokens": sum(map(estimate, texts)), "values": kept, "of": sum(map(len, quoted))}
        rows.append({**row, "replies": len(replies)})
    return rows


def _replies(answer: Answer) -> Iterator[object]:
    """The replies that are data, as far as the released files have them whole: they are cut as text, too."""
    for node in answer.nodes:
        if node.kind != "Action Input" or not node.observation:
            continue
        try:
            data = json.loads(node.observation)
        except ValueError:
            continue
        value = data.get("response") if isinstance(data, Mapping) else None
        value = literal(value) if isinstance(value, str) else value
        if isinstance(value, dict | list) and value:
            yield value


@click.command(cls=Measurement)
@click.option(
    "--answers", type=click.Path(exists=True, path_type=Path), metavar="DIR", help="[default: those under $ATC_DATA]"
)
@json_option()
def main(answers: Path | None, as_json: bool) -> None:
    """Measure what shortening the replies of released answers costs."""
    places = [answers] if answers else [folder / name for folder in folders() for name in _ANSWERS]
    files = [file for place in places if place.is_dir() for file in sorted(place.rglob("*.json"))]
    if not files:
        raise UsageError("no answer file is there: atc data pull toolbench fetches some (or set ATC_DATA)")
    rows = measure([read_answer(file) for file in files])
    if as_json:
        print_json(rows)
        return
    whole = rows[0]["tokens"]
    assert isinstance(whole, int)
    shown = [
        (
            row["way"],
            f"{row['tokens']:,}",
            f"{100 - 100 * int(str(row['tokens'])) / whole:.0f} %",
            f"{row['values']} of {row['of']}",
        )
        for row in rows
    ]
    title = f"{rows[0]['replies']} replies in {len(files)} answers"
    print_table(("replies", "tokens", "saved", "quoted values kept"), shown, title=title, figures_from=1)


if __name__ == "__main__":
    main()
