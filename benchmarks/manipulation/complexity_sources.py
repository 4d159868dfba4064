"""What the API-complexity score is computed from: the tests and demonstrations of a task, or those in files."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from atc.files import read_lines
from benchmarks.harness.registry import BENCHMARKS
from benchmarks.manipulation.combinations import combination, request_parameters
from benchmarks.manipulation.complexity import Combination, Complexity, ComplexityTest, complexity
from benchmarks.manipulation.curl import CurlError, curl_line, parse_curl
from benchmarks.manipulation.environment import Environment
from benchmarks.manipulation.function_environment import called_functions
from benchmarks.manipulation.original import function_of, open_original, original_digest, read_examples, read_text
from benchmarks.manipulation.suite import TASKS
from benchmarks.report.complexity_tables import published_complexity
from benchmarks.report.runs import RunFolder
from benchmarks.tasks.datasets import open_dataset
from benchmarks.tasks.task_files import Task
from protocols.errors import UsageError

__all__ = ["SUITE", "Watch", "file_complexity", "named_complexity", "names", "run_errors"]

SUITE = "manipulation"
"""The benchmark whose tasks are named `manipulation-TASK`."""

Watch = Callable[[Sequence[Task]], Iterable[Task]]
"""Goes through tasks, and may show how far it is."""

_NAME_LISTS = ("calls", "names", "tools", "solution")
_TEXTS = ("completion", "action", "program")
_LINE_CALL = re.compile(r"^\s*([A-Za-z_][\w.]*)[\[(]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Functions:
    """The functions of a task, and how the calls of a text are found; without `pool` every name is a function."""

    pool: frozenset[str] | None
    calls: Callable[[str], tuple[str, ...]]


def names() -> tuple[str, ...]:
    """The names that a complexity can be asked of."""
    return (*(f"{SUITE}-{task}" for task in TASKS), *(name for name, benchmark in BENCHMARKS.items() if benchmark.apis))


def named_complexity(
    name: str,
    demonstrations: Path | None = None,
    samples: int | None = None,
    watch: Watch = iter,
    files: Path | None = None,
) -> Complexity:
    """The complexity of a task of the suite, or of a benchmark with the worked examples that its prompts show.

    Args:
        demonstrations: A file or folder in place of the task's own.
        samples: So many training samples of a task of the suite in their place.
        files: Tests, demonstrations and functions of a task of the suite, in the original layout.
    Raises: UsageError: There is no such name, or a file that it needs is not there or in another form.
    """
    if name not in names():
        raise UsageError(f"there is no {name!r} to compute a complexity of; there are {', '.join(names())}")
    if name.startswith(f"{SUITE}-"):
        return _suite_complexity(name, demonstrations, samples, files)
    if samples or files:
        option, lacking = ("--samples", "training samples") if samples else ("--files", "original files")
        raise UsageError(f"{name} has no {lacking}; {option} is for {SUITE}-TASK")
    dataset = open_dataset(name, None, ())
    tests = [
        ComplexityTest(
            task.id,
            (tuple(task.gold.needed.elements()),),
            len(dataset.protocols[task.domain].tools),
            (),
        )
        for task in dataset.tasks
    ]
    if demonstrations is not None:
        tools = (tool.name for protocol in dataset.protocols.values() for tool in protocol.tools)
        return complexity(name, _with(tests, _read_demonstrations(demonstrations, _functions(tools))))
    from atc import Agent

    agents = {
        domain: Agent(protocol, "openai:nobody", profile="small") for domain, protocol in dataset.protocols.items()
    }
    sketched = (_worked_examples(agents[task.domain], task) for task in watch(dataset.tasks))
    return complexity(
        name, [replace(test, demonstrations=examples) for test, examples in zip(tests, sketched, strict=True)]
    )


def file_complexity(tests: Path, demonstrations: Path, functions: Path | None = None) -> Complexity:
    """The complexity of the tests in a file with the demonstrations in another one, or in a folder of texts.

    Args:
        functions: A list of all functions, as JSON, YAML or lines, or a folder with a file of each; without it, those
            that are called.
    Raises: UsageError: A file is not there or in another form, or an entry calls no function; it says which.
    """
    reading = _functions(_read_functions(functions) if functions is not None else None)
    programs = [(name, _programs(entry, place, reading)) for name, place, entry in _entries(tests)]
    entries = _read_demonstrations(demonstrations, reading)
    called = {call for _, accepted in programs for calls in accepted for call in calls}
    size = len(reading.pool or called.union(*(entry.calls for entry in entries)))
    return complexity(tests.stem, [ComplexityTest(name, accepted, size, entries) for name, accepted in programs])


def run_errors(run: RunFolder, task: Complexity) -> dict[str, float]:
    """The error in percent, by test, of those tests of a task that a run has; none of a run on other files."""
    ids = {near.test for near in task.nearest}
    if (run.config.get("files") or {}).get("original", {}).get("sha256", "") != task.original:
        return {}
    benchmark = SUITE if task.name.startswith(f"{SUITE}-") else task.name
    if run.config["benchmark"] != benchmark:
        return {}
    return {record.id: 100 * (1 - record.metrics.success) for record in run.tasks if record.id in ids}


def _suite_complexity(name: str, demonstrations: Path | None, samples: int | None, files: Path | None) -> Complexity:
    data = published_complexity()
    with closing(open_original(name.removeprefix(f"{SUITE}-"), files)) as environment:
        functions = data["options"].get(environment.name, len(environment.functions))
        programs = {
            f"{environment.name}-{test.id}": tuple(map(combination, test.labels, test.names))
            for test in environment.tests
        }
        combinations: Sequence[Combination]
        if demonstrations is not None:
            combinations = _read_demonstrations(demonstrations, _functions_of(environment))
            _check_parameters(demonstrations, combinations, programs.values())
        else:
            entries = environment.samples(samples, 0) if samples else environment.demonstrations
            combinations = [
                Combination(f"{place}: {entry.goal.strip().splitlines()[0]}", combination(entry.action, entry.names))
                for place, entry in enumerate(entries, 1)
            ]
        tests = [ComplexityTest(test, accepted, functions, combinations) for test, accepted in programs.items()]
        demonstrated = {call for entry in combinations for call in entry.calls}
        covered = environment.name in data["covered"] and {f.name for f in environment.functions} <= demonstrated
    scored = complexity(name, tests)
    if covered:
        nearest = tuple(replace(near, distance=0.0) for near in scored.nearest)
        scored = replace(scored, score=0.0, nearest=nearest)
    return replace(scored, original=original_digest(files)["sha256"]) if files else scored


def _check_parameters(
    place: Path, demonstrations: Sequence[Combination], programs: Iterable[tuple[tuple[str, ...], ...]]
) -> None:
    """Raises: UsageError: A demonstration lists a request without the parameters by which the tests count it."""
    called = {call for accepted in programs for calls in accepted for call in calls}
    counted = {call.partition("?")[0]: call for call in sorted(called) if "?" in call}
    for entry in demonstrations:
        for call in entry.calls:
            if call in counted and call not in called:
                raise UsageError(
                    f"{place}, entry {entry.id}: {call!r} has no parameters, by which requests are counted; write it "
                    f"as in {counted[call]!r}, or give the request as `action`"
                )


def _functions_of(environment: Environment) -> _Functions:
    """The functions of a task of the suite, whose texts are read as those of its tests are."""
    called = [*(option for test in environment.tests for option in test.names)]
    called += [demonstration.names for demonstration in environment.demonstrations]
    functions = _functions({document.name for document in environment.functions}.union(*called))
    if not environment.readable:
        return functions

    def calls(text: str) -> tuple[str, ...]:
        action = environment.read_action("", text)
        return combination(action.action, action.names)

    return replace(functions, calls=calls)


def _with(tests: Iterable[ComplexityTest], demonstrations: Sequence[Combination]) -> list[ComplexityTest]:
    return [replace(test, demonstrations=demonstrations) for test in tests]


def _worked_examples(agent: Any, task: Task) -> list[Combination]:
    """The sketches of plans in the first prompt of a task."""
    from atc.program.sketch import sketch

    opened = agent.opening(task.query, tools=task.candidates or None, today="2024-06-01")
    offered = set(opened.tools)
    return [
        Combination(f"sketch {place} for {task.id}", _calls(sketch(plan), offered))
        for place, plan in enumerate(opened.plans, 1)
    ]


def _request(line: str) -> str:
    """A curl line as the function that it calls: method, path without numbers in it, and parameters."""
    try:
        request = parse_curl(curl_line(line, anywhere=True))
        method, path = request.method, request.path
    except CurlError:  # it could not be sent, but tells what it calls
        option = re.search(r"(?:-X|--request)[\s='\"]*([A-Z]+)", line)
        address = re.search(r"https?://[^\s'\"]+", line)
        method, path = option[1] if option else "GET", urlsplit(address[0]).path if address else ""
    path = re.sub(r"/\d+(?=/|$)", "/*", path)
    return f"{method} {path}?{request_parameters(line)}"


def _functions(pool: Iterable[str] | None) -> _Functions:
    names_of_functions = frozenset(pool) if pool is not None else None
    return _Functions(names_of_functions, lambda text: _calls(text, names_of_functions))


def _calls(text: str, pool: Collection[str] | None) -> tuple[str, ...]:
    """The functions that a text calls, those of a pool alone where one is given.

    A text without a call of Python counts by the words that its lines begin with, as in `search[red shoes]`.
    """
    if text.lstrip().startswith("curl"):
        return (_request(text.strip().splitlines()[0]),)
    try:
        called = called_functions(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        called = ()
    shortened = [(name, name.rpartition(".")[2]) for name in called or _LINE_CALL.findall(text)]
    if pool is None:
        return tuple(last for name, last in shortened if not hasattr(builtins, name))
    return tuple(name if name in pool else last for name, last in shortened if name in pool or last in pool)


def _read_demonstrations(place: Path, functions: _Functions) -> list[Combination]:
    demonstrations = [
        Combination(name, calls)
        for name, where, entry in _entries(place)
        for calls in _programs(entry, where, functions)
    ]
    if not demonstrations:
        raise UsageError(f"{place} has no demonstration; name a file of JSON lines, or a folder of texts")
    return demonstrations


def _entries(place: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Name, place in words and data of each entry of a file, JSON or JSON lines, or of a folder of texts."""
    if place.is_dir():
        for file, number, _, action in read_examples(place):
            yield file.stem, f"{file}, line {number}", {"action": action}
        return
    text = read_text(place)
    if text.lstrip().startswith("["):
        try:
            listed = [(f"{place}, entry {number}", entry) for number, entry in enumerate(json.loads(text), 1)]
        except ValueError as error:
            raise UsageError(f"{place} cannot be read as JSON: {error}") from None
    else:
        listed = list(read_lines(place, growing=False))
    if not listed:
        raise UsageError(f"{place} is empty: there is nothing to compute a complexity of")
    for number, (where, entry) in enumerate(listed, 1):
        if not isinstance(entry, Mapping):
            raise UsageError(f"{where}: an entry is an object with `calls`, the names of the functions called")
        yield str(entry.get("id", number)), where, entry


def _programs(entry: Mapping[str, Any], where: str, functions: _Functions) -> tuple[tuple[str, ...], ...]:
    """The calls of each program of an entry. Raises: UsageError: It has none, or one without a call."""
    pool = functions.pool
    listed = next((entry[name] for name in _NAME_LISTS if isinstance(entry.get(name), list)), None)
    written = next((entry[name] for name in _TEXTS if name in entry), None)
    if listed is not None:
        several = bool(listed) and all(_is_list_of_names(item) for item in listed)
        programs = [_listed(item, where) for item in (listed if several else [listed])]
    elif isinstance(written, str | list):
        texts = [written] if isinstance(written, str) else written
        try:
            programs = [functions.calls(str(text)) for text in texts]
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from None
    else:
        raise UsageError(
            f"{where}: no calls; an entry has `calls` (names, or a list of names for each accepted program) or a text "
            f"in {', '.join(f'`{name}`' for name in _TEXTS)}"
        )
    if not programs or not all(programs):
        raise UsageError(f"{where}: it calls no function{'' if pool is None else ' that there is'}")
    if (
        pool is not None
        and listed is not None
        and (strange := {name.partition("?")[0] for name in sum(programs, ())} - pool)
    ):
        raise UsageError(f"{where}: {sorted(strange)[0]!r} is no function; is the list of functions complete?")
    return tuple(programs)


def _is_list_of_names(item: object) -> bool:
    return isinstance(item, list) and all(isinstance(name, str) for name in item)


def _listed(items: Sequence[object], where: str) -> tuple[str, ...]:
    """The names in a list; one with a number is called so often."""
    calls: list[str] = []
    for item in items:
        match item:
            case str(name):
                calls.append(name)
            case [str(name), int(number)] if number > 0:
                calls += [name] * number
            case _:
                raise UsageError(f"{where}: {item!r} is no name of a function")
    return tuple(calls)


def _read_functions(place: Path) -> frozenset[str]:
    """The names of all functions: those of the files in a folder, or those that a file lists."""
    if place.is_dir():
        listed: Any = [
            function_of(file) for file in place.iterdir() if file.is_file() and not file.name.startswith(".")
        ]
    else:
        try:
            listed = yaml.safe_load(read_text(place))
        except yaml.YAMLError as error:
            raise UsageError(f"{place} is no list of names: {error}") from None
        listed = listed.split() if isinstance(listed, str) else listed
    if not isinstance(listed, list | dict) or not listed or not all(isinstance(name, str) for name in listed):
        raise UsageError(f"{place} is no list of the names of functions; write JSON, YAML, or a name on each line")
    return frozenset(listed)
