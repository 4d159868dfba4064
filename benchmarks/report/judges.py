"""How far the judges of a report agree, as the ATC paper has it of the people who graded its solutions (A.1.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from benchmarks.report.grades import Grades, read_judges, solution_key
from benchmarks.report.runs import RunFolder
from benchmarks.report.stats import cohens_kappa
from benchmarks.report.text_table import TextTable

__all__ = ["JudgeAgreement", "agreement_tables", "judge_agreement"]

_RUBRIC = ("executability", "utility")


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """Two judges on one part of the rubric, over the solutions that both graded.

    `same` is the share with equal grades, and `kappa` Cohen's kappa, which is 0 for agreement by chance. Both are None
    where no solution has both grades, and kappa where chance alone would give full agreement.
    """

    first: str
    second: str
    measure: str
    solutions: int
    same: float | None
    kappa: float | None


def judge_agreement(runs: Sequence[RunFolder], judges: Sequence[str]) -> list[JudgeAgreement]:
    """Each pair of judges, by the names of their models, on each part of the rubric.

    Raises: UsageError: A file holds no grades.
    """
    solutions: list[dict[str, Grades]] = []
    for run in runs:
        grades = read_judges(run.folder)
        keys = dict.fromkeys(solution_key(task.query, task.solution) for task in run.tasks)
        solutions += [{judge: grades[judge][key] for judge in judges if key in grades.get(judge, {})} for key in keys]
    rows = []
    for first, second in combinations(dict.fromkeys(judges), 2):
        for measure in _RUBRIC:
            both = [
                (getattr(graded[first], measure), getattr(graded[second], measure))
                for graded in solutions
                if first in graded and second in graded
            ]
            pairs = [pair for pair in both if None not in pair]
            same = sum(a == b for a, b in pairs) / len(pairs) if pairs else None
            kappa = cohens_kappa(pairs)
            rows.append(JudgeAgreement(first, second, measure, len(pairs), same, kappa))
    return rows


def agreement_tables(rows: Sequence[JudgeAgreement]) -> list[TextTable]:
    """The same as a table; none for a single judge."""
    if not rows:
        return []
    lines = [
        (
            *(row.first, row.second, row.measure, str(row.solutions)),
            f"{100 * row.same:.1f} %" if row.same is not None else "-",
            f"{row.kappa:.2f}" if row.kappa is not None else "-",
        )
        for row in rows
    ]
    remarks = (
        "Cohen's kappa, unweighted; - where both gave all solutions one and the same grade. The figures of the runs "
        "are the means over the judges.",
        "The paper's people had a kappa of 0.70 (executability) and 0.69 (utility).",
    )
    columns = ("judge", "other judge", "graded", "solutions", "equal grades", "kappa")
    return [TextTable("Agreement of the judges", columns, tuple(lines), remarks, 3)]
