"""The tasks of the suite by name, with tests, demonstrations and functions of ours or of the original release.

A folder of that has `functions/NAME`, a comment that says what a function does and then its signature;
`examples/I_J.txt`, a demonstration with `Task:` and `Action:`; and `test.jsonl`, a test in each line with its goal in
`prompt` and the accepted actions in `completion`. What a test starts from is in no file, so that only those tools can
be asked whose tests are texts alone.

Source: the layout of github.com/sambanova/toolbench.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from atc.files import read_lines
from benchmarks.manipulation.environment import Environment, FunctionDocument, GoalAction, ManipulationTest
from protocols.bounded_files import read_bounded
from protocols.errors import UsageError

__all__ = ["TASKS", "open_environment", "open_original", "original_digest"]

TASKS: Mapping[str, str] = {
    "weather": "benchmarks.manipulation.weather.open_weather:OpenWeather",
    "cat": "benchmarks.manipulation.cat.cat_api:CatAPI",
    "home": "benchmarks.manipulation.home.home_search:HomeSearch",
    "trip": "benchmarks.manipulation.trip.trip_booking:TripBooking",
    "sheets": "benchmarks.manipulation.sheets.sheets_environment:SheetsEnvironment",
    "virtualhome": "benchmarks.manipulation.virtualhome.virtual_home:VirtualHome",
    "webshop": "benchmarks.manipulation.webshop.webshop_environment:WebShop",
    "tabletop": "benchmarks.manipulation.tabletop.tabletop_environment:Tabletop",
}
"""Module and class of each task, `module:Class`, in the order of the paper's tables."""

_EXAMPLE = re.compile(r"\s*Task:(?P<goal>.*?)^[ \t]*Action:[ \t]*\n?(?P<action>.*)", re.DOTALL | re.MULTILINE)
_TESTS = "test.jsonl"


def open_environment(name: str, *, compat: bool = False) -> Environment:
    """The environment of a task; close it in the end. Raises: UsageError: There is no such task."""
    if name not in TASKS:
        raise UsageError(f"there is no task {name!r}; the tasks are {', '.join(TASKS)}")
    module, _, class_name = TASKS[name].partition(":")
    environment = getattr(import_module(module), class_name)(compat=compat)
    if not isinstance(environment, Environment):
        raise TypeError(f"{TASKS[name]} is no Environment")
    return environment


def open_original(name: str, folder: Path | None, *, compat: bool = False) -> Environment:
    """The environment of a task with the files of a folder; with its own where there is none. Close it in the end.

    Raises: UsageError: There is no such task, its tests are more than texts, or a file is in another form.
    """
    environment = open_environment(name, compat=compat)
    if folder is not None:
        with ExitStack() as unread:
            unread.callback(environment.close)
            _read_into(environment, folder)
            unread.pop_all()
    return environment


def _read_into(environment: Environment, folder: Path) -> None:
    """Raises: UsageError: The tests of the task are more than texts, or a file is in another form."""
    if not environment.readable:
        raise UsageError(
            f"the tests of {environment.name} need scene files, which are not read; leave out --files, or name home, "
            "trip, weather, cat or virtualhome"
        )
    functions = _read_functions(folder / "functions")
    demonstrations = [_demonstration(environment, *example) for example in _read_examples(folder / "examples")]
    records = enumerate(_read_records(folder / _TESTS), 1)
    tests = [_test_of(environment, number, place, record) for number, (place, record) in records]
    environment.replace_content(functions, demonstrations, tests)


def _demonstration(environment: Environment, file: Path, line: int, goal: str, action: str) -> GoalAction:
    try:
        return environment.read_action(goal, action)
    except UsageError as error:
        raise UsageError(f"{file}, line {line}: {error}") from None


def _test_of(environment: Environment, number: int, place: str, record: Mapping[str, Any]) -> ManipulationTest:
    """A test with those of its labels that score full marks; it needs one."""
    goal, labels = record["prompt"].strip(), record["completion"]
    actions, errors = [], []
    state: Mapping[str, Any] = {}
    for label in [labels] if isinstance(labels, str) else labels:
        try:
            action = environment.read_action(goal, label)
            state = state or environment.state_of(number, action)
            _run(environment, action, state)
        except UsageError as error:
            errors.append(str(error))
        else:
            actions.append(action)
    if not actions:
        raise UsageError(f"{place}: no label runs: {errors[0] if errors else '`completion` is empty'}")
    return ManipulationTest(
        f"{number:03}",
        goal,
        tuple(action.action for action in actions),
        tuple(action.names for action in actions),
        tuple(action.program for action in actions),
        state,
    )


def _run(environment: Environment, action: GoalAction, state: Mapping[str, Any]) -> None:
    """Raises: UsageError: The action does not run, or does not solve the test whose label it is."""
    environment.reset(ManipulationTest("label", action.goal, (action.action,), (action.names,), state=state))
    result = environment.act(action.action)
    try:
        score = environment.score()
    except ValueError as error:  # the environment does not take it as a label
        raise UsageError(result.error or str(error)) from None
    if result.error or score.value < 1:
        raise UsageError(result.error or f"it is {score.failure} by the rules of {environment.name}")


def original_digest(folder: Path) -> dict[str, str]:
    """Name and SHA-256 of a folder: of the names and contents of all files that are read."""
    digest = hashlib.sha256()
    for file in [*_files(folder / "functions"), *_files(folder / "examples", "*.txt"), folder / _TESTS]:
        digest.update(f"{file.relative_to(folder)}\0{_read_text(file)}\0".encode())
    return {"file": folder.resolve().name, "sha256": digest.hexdigest()}


def _read_text(file: Path) -> str:
    """The text of a file. Raises: UsageError."""
    try:
        return read_bounded(file, 1 << 26)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None


def _read_examples(folder: Path) -> Iterator[tuple[Path, int, str, str]]:
    """File, line of the action, goal and action of each text in a folder, by the numbers in their names.

    Raises: UsageError: There is no text, or one of another form.
    """
    for file in _files(folder, "*.txt"):
        text = _read_text(file)
        example = _EXAMPLE.match(text)
        if example is None or not example["goal"].strip() or not example["action"].strip():
            raise UsageError(f"{file}, line 1: no demonstration; write `Task:` with a goal, then a line `Action:`")
        line = text.count("\n", 0, example.start("action")) + 1
        yield file, line, example["goal"].strip(), example["action"].strip()


def _files(folder: Path, pattern: str = "*") -> list[Path]:
    """The files of a folder, by the numbers in their names. Raises: UsageError: There is none."""
    listed = [file for file in folder.glob(pattern) if file.is_file() and not file.name.startswith(".")]
    if not listed:
        raise UsageError(
            f"there is no file {folder / pattern}; the folder to name has functions, examples and {_TESTS}"
        )
    return sorted(listed, key=lambda file: ([int(number) for number in re.findall(r"\d+", file.stem)], file.name))


def _read_functions(folder: Path) -> list[FunctionDocument]:
    """Raises: UsageError: There is no file, or one without a signature."""
    documents = []
    for file in _files(folder):
        lines = [line.strip() for line in _read_text(file).splitlines() if line.strip()]
        comment = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
        signature = [line for line in lines if not line.startswith("#")]
        if not signature:
            raise UsageError(f"{file}, line {len(lines) + 1}: no signature; write it in the line below the description")
        name = re.sub(r"\.(txt|md|py|json|ya?ml)$", "", file.name)  # which may have dots of its own: `API.search`
        documents.append(FunctionDocument(name, "\n".join(signature), "\n".join(comment)))
    return documents


def _read_records(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Place and data of each test. Raises: UsageError: The file cannot be read, or a line is in another form."""
    if not _read_text(file).strip():
        raise UsageError(f"{file} has no test")
    for line_place, record in read_lines(file, growing=False):
        match record:
            case {"prompt": str(), "completion": str()}:
                yield line_place, record
            case {"prompt": str(), "completion": [*labels]} if all(isinstance(label, str) for label in labels):
                yield line_place, record
            case _:
                raise UsageError(
                    f"{line_place}: no test; it has its goal in `prompt` and a list of labels in `completion`"
                )
