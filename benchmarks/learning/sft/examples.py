"""Conversations become token ids and labels, and those the rows of a training in their order, known before it begins.

A label other than -100 stands at each token that the model should write. A conversation is rendered turn by turn. The
text up to an assistant turn, open for an answer, is what the model reads at inference; what the next rendering adds to
it is what the model should write, end-of-turn token included. Templates need no marks for that.

A turn of another role may hold solved examples, whose answers are learned as well. `learn` lists where they stand in
its content: `[[first, end], …]`, in characters.

All epochs are one list of rows. So a run that is continued reads on at a place in that list, whatever had been drawn.
"""

from __future__ import annotations

import itertools
import random
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.learning.sft.conversations import Render, TrainingConversation, read_conversation, read_data, renderer
from benchmarks.learning.sft.settings import TuningConfig
from protocols.errors import UsageError

__all__ = ["IGNORED", "ExampleCounts", "TokenizedExample", "TrainingPlan", "make_plan", "read_examples", "split_dev"]

IGNORED = -100
"""The label of a token that no loss is taken of."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TokenizedExample:
    """One row of training: its tokens, and the spans of them that are learned.

    Tokens have four bytes each: the released data has 0.5 billion. Examples of one `group` come from one line, or from
    lines of one query; with an empty one from any.
    """

    tokens: array[int]
    targets: tuple[Span, ...]
    group: str = ""

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def ids(self) -> list[int]:
        """The tokens."""
        return self.tokens.tolist()

    @property
    def labels(self) -> list[int]:
        """For each token itself, or IGNORED."""
        labels = [IGNORED] * len(self)
        for first, last in self.targets:
            labels[first:last] = self.tokens[first:last].tolist()
        return labels


@dataclass(slots=True)
class ExampleCounts:
    """What became of the lines of the data."""

    conversations: int = 0
    examples: int = 0
    truncated: int = 0
    dropped: int = 0
    """Assistant turns that are longer than an example may be."""
    target_tokens: int = 0
    tokens: int = 0
    files: list[str] = field(default_factory=list)


def read_examples(
    files: Iterable[str],
    tokenizer: Any,
    max_length: int,
    loss_on: str = "all",
    layout: str = "chat",
    wrap: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> tuple[list[TokenizedExample], ExampleCounts]:
    """Read conversations from files, lines or arrays, and tokenize them as they are read.

    Args:
        layout: As the field of the configuration.
        wrap: Shows the progress over the conversations of a file.
    Raises: UsageError: A file is missing, a line has no conversation, a part of one would not be rendered, or no
        example is left.
    """
    examples: list[TokenizedExample] = []
    counts = ExampleCounts()
    render = renderer(tokenizer, layout)
    for name in files:
        if not Path(name).is_file():
            raise UsageError(f"there is no data file {name}; name another with --set data=FILE")
        counts.files.append(name)
        file = Path(name).resolve()  # whatever way it is named, its lines have the same groups
        for where, line in wrap(read_data(Path(name))):
            conversation = read_conversation(where, line)
            counts.conversations += 1
            group = f"{file}, {conversation.group}" if conversation.group else f"{file}{where.removeprefix(name)}"
            try:
                rendered = render(where, conversation)
                examples += _tokenized(tokenizer, conversation, rendered, max_length, loss_on, group, counts)
            except UsageError as error:
                text = str(error)
                raise UsageError(text if text.startswith(where) else f"{where}: {text}") from None
    counts.examples = len(examples)
    counts.tokens = sum(map(len, examples))
    counts.target_tokens = sum(last - first for example in examples for first, last in example.targets)
    if not examples:
        lost = f"; {counts.dropped} answers are longer than max_length, {max_length}" if counts.dropped else ""
        raise UsageError(f"no example to train on in {', '.join(files)}{lost}")
    return examples, counts


def _tokenized(
    tokenizer: Any,
    conversation: TrainingConversation,
    render: Render,
    max_length: int,
    loss_on: str,
    group: str,
    counts: ExampleCounts,
) -> list[TokenizedExample]:
    """Token ids and labels of a conversation: one example, or several where it is too long for one.

    A conversation that is too long loses the left of its context, never a part of an answer. Turns that then fit into
    no common example get one each. So do those of a template that renders earlier turns in another way than the last.

    Args:
        loss_on: "all" assistant turns and what other turns have to `learn`, or the "last" assistant turn.
    Raises: UsageError: The conversation cannot be rendered, or not turn by turn.
    """
    turns = conversation.turns
    answers = [place for place, turn in enumerate(turns) if turn["role"] == "assistant"]
    text, spans = _render_spans(render, turns[: answers[-1] + 1], answers)
    if text is None:
        if any(turn.get("learn") for turn in turns):
            raise UsageError(
                "its `learn` cannot be found, since the text of a turn changes with those after it; write a line for "
                "each answer"
            )
        parts = [_render_spans(render, turns[: place + 1], [place]) for place in answers]
    else:
        parts = [(text, sorted([*_learned_spans(text, turns[: answers[-1]]), *spans]))]
    if loss_on == "last":
        parts = [(parts[-1][0], parts[-1][1][-1:])]
    return [
        example
        for rendered, targets in parts
        for example in _fit(*_tokenize(tokenizer, rendered or "", targets), max_length, group, counts)
    ]


def _render_spans(
    render: Render, turns: Sequence[Mapping[str, Any]], answers: Sequence[int]
) -> tuple[str | None, list[Span]]:
    """The text of a conversation, and where in it the answers stand; no text if it is not rendered turn by turn."""
    text = render(turns, False)
    spans: list[Span] = []
    for place in answers:
        through = text if place == len(turns) - 1 else render(turns[: place + 1], False)
        before = render(turns[:place], True) if place else through[: through.find(turns[0]["content"].strip())]
        if not (through.startswith(before) and text.startswith(through)):
            if len(answers) == 1:
                raise UsageError(
                    "the chat template does not begin an answer as it asks for one: its text with "
                    "add_generation_prompt is no beginning of the text with the answer; use another chat template"
                )
            return None, []
        written = through[len(before) :]
        # White space after an end-of-turn token belongs to the template; after a bare answer it is the end of turn.
        if written.strip() != turns[place]["content"].strip():
            written = written.rstrip()
        spans.append((len(before), len(before) + len(written)))
    return text, spans


def _learned_spans(text: str, turns: Sequence[Mapping[str, Any]]) -> Iterator[Span]:
    """Where in the text of a conversation stands what its turns have to `learn`.

    Raises: UsageError: The chat template changes a content.
    """
    end = 0
    for turn in turns:
        content = turn["content"].strip()
        start = text.find(content, end)
        if start >= 0:
            end = start + len(content)
        elif turn.get("learn"):
            raise UsageError("the chat template changes the content of a turn, so its `learn` cannot be found")
        shift = start - turn["content"].index(content)
        for first, last in turn.get("learn", ()):
            span = max(first + shift, start), min(last + shift, end)  # without white space around the content
            if span[0] < span[1]:
                yield span


def _tokenize(tokenizer: Any, text: str, spans: Sequence[Span]) -> tuple[list[int], list[Span]]:
    """Token ids of a text, and the spans as places among them.

    The whole text is tokenized at once if every span then begins and ends between two tokens; a tokenizer that knows no
    offsets is asked for the text before each border. Else the pieces between the borders are, as they are at inference:
    there the prompt ends before the answer exists.
    """
    borders = [border for span in spans for border in span]
    if getattr(tokenizer, "is_fast", False):
        read = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        starts = {start: place for place, (start, _) in reversed(list(enumerate(read["offset_mapping"])))}
        starts[len(text)] = len(read["input_ids"])
        if all(border in starts for border in borders):
            return read["input_ids"], [(starts[first], starts[last]) for first, last in spans]
    else:
        whole = tokenizer(text, add_special_tokens=False)["input_ids"]
        heads = {border: tokenizer(text[:border], add_special_tokens=False)["input_ids"] for border in borders}
        if all(whole[: len(head)] == head for head in heads.values()):
            return whole, [(len(heads[first]), len(heads[last])) for first, last in spans]
    ids: list[int] = []
    places = {}
    for first, last in zip([0, *borders], [*borders, len(text)], strict=True):
        places[first] = len(ids)
        if last > first:
            ids += tokenizer(text[first:last], add_special_tokens=False)["input_ids"]
        places.setdefault(last, len(ids))
    return ids, [(places[first], places[last]) for first, last in spans]


def _fit(
    ids: list[int], spans: Sequence[Span], max_length: int, group: str, counts: ExampleCounts
) -> Iterator[TokenizedExample]:
    """Examples of at most `max_length` tokens: the turns that fit from the beginning, then each later one by itself."""
    fitting = [span for span in spans if span[1] <= max_length]
    if fitting:
        yield _example(ids, 0, fitting[-1][1], fitting, group)
    for first, last in spans[len(fitting) :]:
        if last - first > max_length - 1:
            counts.dropped += 1
            continue
        counts.truncated += 1
        yield _example(ids, last - max_length, last, [(first, last)], group)


def _example(ids: list[int], start: int, end: int, spans: Sequence[Span], group: str) -> TokenizedExample:
    return TokenizedExample(
        array("i", ids[start:end]), tuple((first - start, last - start) for first, last in spans), group
    )


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Rows in the order of training; update k (from 0) takes `order[k * batch : (k + 1) * batch]`."""

    rows: Sequence[TokenizedExample]
    order: Sequence[int]
    steps: int
    tokens_after: Sequence[int]
    """Tokens seen after each update, padding left out."""


def split_dev(
    examples: Sequence[TokenizedExample], share: float, seed: int
) -> tuple[list[TokenizedExample], list[TokenizedExample]]:
    """Training and held-out examples: whole groups, so that no dialogue is on both sides.

    No more than the share is held out, but one group at least where there are two and the share is not 0.
    """
    groups: dict[str, list[int]] = {}
    for place, example in enumerate(examples):
        groups.setdefault(example.group or f"example {place}", []).append(place)
    count = max(round(share * len(examples)), 1 if share else 0)
    held_out: set[int] = set()
    order = random.Random(f"{seed} dev").sample(list(groups), len(groups))[:-1]
    for group in order:
        if len(held_out) + len(groups[group]) <= count:
            held_out.update(groups[group])
    if count and order and not held_out:  # each is larger than the share
        held_out.update(groups[min(order, key=lambda group: len(groups[group]))])
    training = [example for place, example in enumerate(examples) if place not in held_out]
    return training, [examples[place] for place in sorted(held_out)]


def make_plan(rows: Sequence[TokenizedExample], config: TuningConfig) -> TrainingPlan:
    """Decide which rows each update takes.

    Rows are shuffled anew in each epoch, and sorted by length within an update, so that little is padded. Training
    ends with the first limit: epochs, `max_steps`, or `max_tokens`. Rows that would fill only a part of the last
    update are left out, unless there is no other.
    """
    planned_rows = max(round(config.epochs * len(rows)), 1)
    stream = itertools.islice(_epochs(len(rows), config.seed), planned_rows)
    order: list[int] = []
    tokens_after: list[int] = []
    seen = 0
    while members := list(itertools.islice(stream, config.batch)):
        if len(members) < config.batch and order:
            break
        order += sorted(members, key=lambda place: len(rows[place]), reverse=True)
        seen += sum(len(rows[place]) for place in members)
        tokens_after.append(seen)
        if len(tokens_after) == config.max_steps or 0 < config.max_tokens <= seen:
            break
    return TrainingPlan(rows, order, len(tokens_after), tokens_after)


def _epochs(count: int, seed: int) -> Iterator[int]:
    for epoch in itertools.count():
        places = list(range(count))
        random.Random(f"{seed} epoch {epoch}").shuffle(places)
        yield from places
