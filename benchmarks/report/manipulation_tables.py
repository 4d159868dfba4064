"""Tables of the tool-manipulation suite: the techniques side by side, the failures by class, and what is published.

Source: Xu et al. (arXiv:2305.16504), Tables 3, 6, 7, 9 and 12.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.report.published import published
from benchmarks.report.render import TextTable
from benchmarks.report.runs import RunFolder, TaskRecord
from benchmarks.report.stats import estimate

__all__ = ["MANIPULATION", "manipulation_tables", "published_tables", "technique"]

MANIPULATION = "manipulation"
"""The benchmark in the settings of a run."""

TASKS = ("weather", "cat", "home", "trip", "sheets", "virtualhome", "webshop", "tabletop")
"""The order of the paper's columns."""

CLASSES = ("non-executable", "wrong API", "wrong arguments")
_EXECUTABLE = "executable"
"""The detail of a score that stands before the measure of a task that is not scored by success."""

_POINT = 0.01
"""From this on, a change of a measure counts as a gain or a loss."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """Runs that differ in nothing but the repeat; `label` is their technique, and what tells them from others of it."""

    label: str
    config: Mapping[str, Any]
    runs: tuple[RunFolder, ...]

    @property
    def name(self) -> str:
        """Label and model."""
        return f"{self.label}, {self.config.get('model', '?')}"

    def tasks(self, task: str) -> list[TaskRecord]:
        """The records of a task, of all runs."""
        return [record for run in self.runs for record in run.tasks if record.dataset == task]

    def means(self, task: str) -> dict[str, float]:
        """The mean of a task's measure over the runs, from 0 to 1, by test."""
        values: dict[str, list[float]] = {}
        for record in self.tasks(task):
            values.setdefault(record.id, []).append(record.metrics.success)
        return {test: statistics.fmean(measures) for test, measures in values.items()}


def technique(config: Mapping[str, Any]) -> str:
    """The techniques of a run in the paper's words: `zero-shot`, `prompt + 3-shot + alignment`, and so on."""
    parts = ["prompt"] * bool(config.get("system_prompt"))
    shots = config.get("shots", 0)
    parts += ["oracle shot"] if config.get("oracle") else [f"{shots}-shot"] if shots else []
    parts += ["alignment"] * ("+" in str(config.get("model", "")))
    parts = parts or ["zero-shot"]
    documents, mode = config.get("documents", "paper"), config.get("mode", "action")
    parts += [] if documents == "paper" else ["no documents" if documents == "none" else f"{documents} documents"]
    parts += ["compat"] * bool(config.get("compat"))
    return " + ".join([*([] if mode == "action" else [str(mode)]), *parts])


def manipulation_tables(runs: Iterable[RunFolder]) -> list[TextTable]:
    """The tables of the runs of the suite; none without such runs."""
    settings = _settings([run for run in runs if run.config.get("benchmark") == MANIPULATION])
    names = {record.dataset for setting in settings for run in setting.runs for record in run.tasks}
    tasks = [task for task in TASKS if task in names] + sorted(names.difference(TASKS))
    return [_ablation(settings, tasks), _failures(settings, tasks), *_details(settings, tasks)] if settings else []


def _settings(runs: Sequence[RunFolder]) -> list[_Setting]:
    groups: dict[str, list[RunFolder]] = {}
    for run in runs:
        config = {name: value for name, value in run.config.items() if name != "repeat"}
        groups.setdefault(json.dumps(config, sort_keys=True), []).append(run)
    configs = [group[0].config for group in groups.values()]
    return [
        _Setting(_label(config, configs), config, tuple(group))
        for config, group in zip(configs, groups.values(), strict=True)
    ]


def _label(config: Mapping[str, Any], configs: Sequence[Mapping[str, Any]]) -> str:
    """The technique, and each setting in which others of the same technique and model differ."""
    name = technique(config)
    rivals = [rival for rival in configs if technique(rival) == name and rival.get("model") == config.get("model")]
    differing = [key for key in config if key != "repeat" and any(rival.get(key) != config[key] for rival in rivals)]
    values = {key: config[key] for key in differing}
    if "files" in values:
        values["files"] = _differing_files(values["files"], [rival.get("files") or {} for rival in rivals])
    return f"{name} ({', '.join(f'{key} {value}' for key, value in values.items())})" if values else name


def _differing_files(files: Mapping[str, Any], rivals: Sequence[Mapping[str, Any]]) -> str:
    """The files in which settings differ, each with the first digits of its hash."""
    names = sorted(set().union(files, *rivals))
    differing = [name for name in names if any(rival.get(name) != files.get(name) for rival in rivals)]
    return " ".join(f"{name} {str(files[name]['sha256'])[:8]}" if name in files else f"no {name}" for name in differing)


def _ablation(settings: Sequence[_Setting], tasks: Sequence[str]) -> TextTable:
    """As Table 12, with the counts of Table 7 in the last column."""
    rows = [
        (
            setting.label,
            str(setting.config.get("model", "?")),
            *(_cell(setting, task) for task in tasks),
            _gains(setting, settings, tasks),
        )
        for setting in settings
    ]
    remark = (
        "Success in %, of virtualhome executability / longest common subsequence, of webshop reward x 100. Below it is "
        "the 95 % interval over the tests, or the least and the greatest of several runs. Each run is shown with all "
        "its tests. Better / worse: tasks that gain or lose at least a point against the zero-shot run of the same "
        "model and mode, in the tests that both have."
    )
    columns = ("technique", "model", *tasks, "better / worse")
    return TextTable("Tool manipulation (as in Table 12)", columns, tuple(rows), (remark,), text_columns=2)


def _cell(setting: _Setting, task: str) -> str:
    records = setting.tasks(task)
    if not records:
        return "-"
    values = [record.metrics.success for record in records]
    means = [
        100 * statistics.fmean(record.metrics.success for record in run.tasks if record.dataset == task)
        for run in setting.runs
        if any(record.dataset == task for record in run.tasks)
    ]
    if len(means) > 1:
        below = f"[{min(means):.1f}, {max(means):.1f}] in {len(means)} runs"
    else:
        interval = estimate(values, share=all(value in (0, 1) for value in values))
        below = f"[{100 * (interval.low or 0):.0f}, {100 * (interval.high or 0):.0f}] of {len(values)}"
    executable = [record.details[_EXECUTABLE] for record in records if _EXECUTABLE in record.details]
    before = f"{100 * statistics.fmean(executable):.1f}/" if executable else ""
    return f"{before}{100 * statistics.fmean(values):.1f}\n{below}"


def _gains(setting: _Setting, settings: Sequence[_Setting], tasks: Sequence[str]) -> str:
    """How many tasks gain and lose against the zero-shot run; empty for that itself, and without one."""
    base = next((candidate for candidate in settings if _is_base(candidate.config, setting.config)), None)
    if base is None or base is setting:
        return ""
    changes = [
        statistics.fmean(mean - before[test] for test, mean in after.items() if test in before)
        for before, after in ((base.means(task), setting.means(task)) for task in tasks)
        if before.keys() & after.keys()
    ]
    better, worse = sum(change >= _POINT for change in changes), sum(change <= -_POINT for change in changes)
    return f"{better} / {worse} of {len(changes)}"


def _is_base(config: Mapping[str, Any], of: Mapping[str, Any]) -> bool:
    """Whether these are the settings of the zero-shot run that another one is compared with."""
    alike = ("mode", "documents", "compat", "max_steps", "profile", "prefill", "seed")
    same = all(config.get(name) == of.get(name) for name in alike)
    bare = not (config.get("shots") or config.get("oracle") or config.get("system_prompt"))
    original, of_original = ((settings.get("files") or {}).get("original") for settings in (config, of))
    return same and bare and original == of_original and config.get("model") == str(of.get("model")).partition("+")[0]


def _failures(settings: Sequence[_Setting], tasks: Sequence[str]) -> TextTable:
    """As Table 3, for each task and for all."""
    rows = []
    for setting in settings:
        groups = [(task, setting.tasks(task)) for task in tasks]
        groups = [(task, records) for task, records in groups if records]
        if len(groups) > 1:
            groups.append(("all", [record for _, records in groups for record in records]))
        name = setting.name
        for task, records in groups:
            counts = Counter(record.metrics.error for record in records if record.metrics.error)
            shares = (sum(counts.values()), *(counts[kind] for kind in CLASSES))
            rows.append((name, task, str(len(records)), *(f"{100 * share / len(records):.0f}" for share in shares)))
            name = ""
    remark = "In % of the tests. A test has the first class that applies: non-executable, wrong API, wrong arguments."
    return TextTable(
        "Failures (as in Table 3)", ("run", "task", "tests", "failed", *CLASSES), tuple(rows), (remark,), text_columns=2
    )


def _details(settings: Sequence[_Setting], tasks: Sequence[str]) -> list[TextTable]:
    """The further figures of the scores, where there are any: their means."""
    groups = [(setting, task, setting.tasks(task)) for setting in settings for task in tasks]
    names = list(dict.fromkeys(name for _, _, records in groups for record in records for name in record.details))
    rows = [
        (
            setting.name,
            task,
            *(_mean([record.details[name] for record in records if name in record.details]) for name in names),
        )
        for setting, task, records in groups
        if any(record.details for record in records)
    ]
    if not rows:
        return []
    return [TextTable("Further figures of the scores (means)", ("run", "task", *names), tuple(rows), (), 2)]


def _mean(values: Sequence[float]) -> str:
    return f"{statistics.fmean(values):.3f}" if values else "-"


def published_tables() -> list[TextTable]:
    """The published figures, labelled as published."""
    data = published("manipulation")
    tables = [
        TextTable(
            _title(table),
            ("technique", "model", *data["columns"]),
            tuple(
                (technique_name, model, *map(str, cells))
                for technique_name, models in table["rows"].items()
                for model, cells in models.items()
            ),
            (*table.get("remarks", ()), *data["remarks"]),
            text_columns=2,
        )
        for table in data["tables"]
    ]
    return [*tables, *(_by_model(data[name]) for name in ("improved", "failures"))]


def _by_model(table: Mapping[str, Any]) -> TextTable:
    rows = tuple((name, *map(str, cells)) for name, cells in table["rows"].items())
    return TextTable(_title(table), ("", *table["columns"]), rows)


def _title(table: Mapping[str, Any]) -> str:
    return f"Published, Xu et al., {table['source']}: {table['title']}"
