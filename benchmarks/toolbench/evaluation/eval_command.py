"""`atc eval`: convert answers, judge them one by one (pass rate), and in pairs (win rate)."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from atc.apps.cli import print_json, say
from atc.apps.cli.help_pages import HelpGroup
from atc.apps.cli.options import (
    announced,
    argument,
    json_option,
    option,
    out_file,
    record_option,
    reuse_option,
    takes,
    workers_option,
)
from protocols.errors import UsageError
from protocols.private_files import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchmarks.toolbench.evaluation.judge import Judge
    from benchmarks.toolbench.evaluation.sources import JudgedRun

__all__ = ["evaluate"]

Row = TypeVar("Row")

_UNREADABLE = 0.1
"""More unreadable replies for each judgement are a reason to doubt the judge."""

_place = click.Path(exists=True, path_type=Path)
_file = click.Path(exists=True, dir_okay=False, path_type=Path)

_EPILOG = """\b
In DIR:
  verdicts.jsonl   each verdict of the judge; what is there is not asked again
  summary.json     the rate with its interval, ties, unsure, missing; judge, edition and a hash of the prompts
  SUBSET_NAME.json and .csv, in the published form (.csv is separated by TAB)"""


@click.group(cls=HelpGroup, name="eval")
def evaluate() -> None:
    """Judge answers of `atc bench toolbench` or published ones as ToolEval does."""


@evaluate.command()
@click.argument("answers", type=_place, metavar="ANSWERS")
@click.option("--method", metavar="TEXT", help="Only files whose name has TEXT, such as DFS_woFilter_w2.")
@click.option("--out", required=True, type=out_file, metavar="FILE", help="The converted answers, by query id.")
@announced
def convert(answers: Path, method: str | None, out: Path) -> None:
    """Convert ANSWERS, a run of `atc bench toolbench` or a folder of `<query_id>_<method>.json`, into one file."""
    from benchmarks.toolbench.evaluation.judged import write_converted
    from benchmarks.toolbench.evaluation.sources import open_answers

    run = open_answers(answers, method)
    write_converted(out, run.answers)
    say(f"{len(run.answers)} answers are in {out}")


@dataclass(frozen=True, kw_only=True)
class _JudgeOptions:
    """The judge, and what it judges."""

    judge: str = option(
        "--judge", required=True, metavar="MODEL", help="local:NAME, openvino:NAME, openai:NAME, hf:NAME or replay:FILE"
    )
    out: Path = option(
        "--out",
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Verdicts and results; to go on after a stop, repeat the command.",
    )
    ids: Path | None = option(
        "--ids",
        type=_file,
        metavar="FILE",
        help="The queries that count, answered or not: an object with their ids as keys, or a list  [default: all that "
        "are there]",
    )
    compat: bool = option("--compat", is_flag=True, help="Judge as the released code does, with its defects.")
    workers: int = workers_option("Queries")
    record: Path | None = record_option("judge's replies", "judge")
    reuse: Path | None = reuse_option("judge's replies")
    as_json: bool = json_option("Print summary.json instead of the table.")


@dataclass(frozen=True, kw_only=True)
class _PassOptions(_JudgeOptions):
    """The command line of `atc eval pass-rate`."""

    run: Path = argument(type=_place, metavar="RUN|FILE")
    edition: Literal["2", "sopr", "fac"] = option(
        "--edition",
        type=click.Choice(["2", "sopr", "fac"]),
        default="2",
        show_default=True,
        help="2: status of answer and task; sopr: of the answer; fac: is it complete.",
    )
    times: int | None = option(
        "--times",
        type=click.IntRange(min=1),
        metavar="N",
        help="Judgements of each answer  [default: 4; 3 for sopr, 1 for fac]",
    )


@dataclass(frozen=True, kw_only=True)
class _WinOptions(_JudgeOptions):
    """The command line of `atc eval win-rate`."""

    reference: Path = argument(type=_place, metavar="REFERENCE")
    candidate: Path = argument(type=_place, metavar="CANDIDATE")
    edition: Literal["2", "sowr"] = option(
        "--edition",
        type=click.Choice(["2", "sowr"]),
        default="2",
        show_default=True,
        help="2: pass labels, status, then the better answer; sowr: status, then the better answer.",
    )
    times: int | None = option(
        "--times", type=click.IntRange(min=1), metavar="N", help="Comparisons of each pair  [default: 4]"
    )


@evaluate.command("pass-rate", epilog=_EPILOG)
@takes(_PassOptions)
def pass_rate(options: _PassOptions) -> None:
    """Judge each answer of RUN, a folder of `atc bench toolbench --out`, or FILE, one of `atc eval convert`.

    The rate is the mean over all queries with its 95 % interval: 1 for passed, a half where the judge cannot tell, 0
    for failed and for a query without an answer.
    """
    from benchmarks.toolbench.evaluation.evaluate import judge_run
    from benchmarks.toolbench.evaluation.pass_rate import TIMES, flip_coins, pass_prompts
    from benchmarks.toolbench.evaluation.results import judged_summary, write_judgements
    from benchmarks.toolbench.evaluation.sources import open_answers

    run = open_answers(options.run)
    ids = _ids(options.ids, [run])
    times = options.times or TIMES[options.edition]
    with _opened_judge(options) as judge:
        steps = judge_run(run, ids, judge, options.edition, times, options.compat, options.workers)
        queries = _watched(steps, len(ids))
    if options.compat:
        queries = flip_coins(queries)
    write_judgements(options.out, run.subset, run.method, queries, options.compat)
    names = {"method": run.method, "subset": run.subset, "edition": options.edition, "times": times}
    figures = judged_summary(queries, options.compat)
    _finish(options, {**figures, **names, "measure": "PassRate"}, pass_prompts(options.edition))


@evaluate.command("win-rate", epilog=_EPILOG)
@takes(_WinOptions)
def win_rate(options: _WinOptions) -> None:
    """Compare the answers of CANDIDATE with those of REFERENCE; each is a RUN or a FILE as in `atc eval pass-rate`.

    Each pair is judged in both orders, and a disagreement is a tie. The rate is the candidate's: its wins and half of
    the ties, over all queries; a side without an answer loses.
    """
    from benchmarks.toolbench.evaluation.evaluate import compare_runs
    from benchmarks.toolbench.evaluation.results import compared_summary, write_comparisons
    from benchmarks.toolbench.evaluation.sources import open_answers
    from benchmarks.toolbench.evaluation.win_rate import WIN_TIMES, win_prompts

    reference, candidate = open_answers(options.reference), open_answers(options.candidate)
    if reference.method == candidate.method:
        raise UsageError(
            f"both are called {candidate.method!r}: rename a folder (a converted file is called after its folder)"
        )
    ids = _ids(options.ids, [reference, candidate])
    times = options.times or WIN_TIMES
    with _opened_judge(options) as judge:
        steps = compare_runs(reference, candidate, ids, judge, options.edition, times, options.compat, options.workers)
        compared = _watched(steps, len(ids))
    write_comparisons(options.out, candidate.subset, (reference.method, candidate.method), compared)
    names = {"method": candidate.method, "reference": reference.method, "subset": candidate.subset}
    figures = {**compared_summary(compared, options.compat), **names, "edition": options.edition, "times": times}
    _finish(options, {**figures, "measure": "WinRate"}, win_prompts(options.edition))


def _ids(file: Path | None, runs: Sequence[JudgedRun]) -> tuple[str, ...]:
    """The queries that count. What `file` leaves out is told, also if that is everything."""
    from benchmarks.toolbench.evaluation.judged import by_id
    from benchmarks.toolbench.evaluation.sources import read_ids

    answered = {query_id for run in runs for query_id in run.answers}
    if file is None:
        return tuple(sorted(answered, key=by_id))
    ids = read_ids(file)
    if not answered & set(ids):
        raise UsageError(f"none of the ids in {file} has an answer: is it of another subset?")
    if ignored := answered - set(ids):
        say(f"warning: {len(ignored)} answers are to queries that are not in {file}; they do not count")
    return ids


@contextmanager
def _opened_judge(options: _JudgeOptions) -> Iterator[Judge]:
    """The judge, with its verdicts in the folder of the results."""
    from atc.models import open_model
    from benchmarks.toolbench.evaluation.judge import Judge

    try:
        make_private_folder(options.out)
    except OSError as error:
        raise UsageError(f"{options.out} cannot hold the results: {error.strerror or error}") from None
    with closing(open_model(options.judge, record=options.record, reuse=options.reuse)) as model:
        yield Judge(model, options.out, options.compat)


def _watched(steps: Iterable[Row], total: int) -> list[Row]:
    """Collect the judged queries; a bar on stderr shows how many there are."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return list(track(steps, "judged", total, console=console, disable=not console.is_terminal))


def _finish(options: _JudgeOptions, figures: Mapping[str, Any], prompts: Sequence[str]) -> None:
    """Write the summary, and show it."""
    from atc.files import write_json
    from benchmarks.report.render import show
    from benchmarks.toolbench.evaluation.judge import prompts_hash
    from benchmarks.toolbench.evaluation.results import summary_table

    settings = {"judge": options.judge, "compat": options.compat, "prompt_sha256": prompts_hash(prompts)}
    summary = {**figures, **settings, "date": datetime.now(UTC).date().isoformat()}
    if figures["unparsed"] > _UNREADABLE * max(figures["n"] * figures["times"], 1):
        say(f"warning: {figures['unparsed']} replies of the judge cannot be read: is it able to judge?")
    write_json(options.out / "summary.json", summary)
    if options.as_json:
        print_json(summary)
    else:
        show([summary_table(summary)])
