"""Functions, demonstrations and tests of a tool from files in the layout of the original release."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from atc.models.replay import Recorder
from benchmarks.manipulation.generator import ActionGenerator
from benchmarks.manipulation.prompt_selection import Selection
from benchmarks.manipulation.suite import open_original
from benchmarks.manipulation.suite_run import ManipulationSettings, TestRunner
from protocols.errors import UsageError
from tests.benchmarks.manipulation.suite_tasks import LabelModel

WEATHER = "https://api.openweathermap.org"
CATS = "https://api.thecatapi.com"


@dataclass(frozen=True)
class Files:
    """Contents of a folder: functions by name, demonstrations as goal and action, tests as goal and labels."""

    functions: Mapping[str, str]
    examples: Sequence[tuple[str, str]]
    tests: Sequence[tuple[str, Sequence[str]]]

    def write(self, folder: Path) -> Path:
        (folder / "functions").mkdir(parents=True)
        (folder / "examples").mkdir()
        for name, text in self.functions.items():
            (folder / "functions" / name).write_text(text)
        for number, (goal, action) in enumerate(self.examples):
            (folder / "examples" / f"{number}_0.txt").write_text(f"Task: {goal}\nAction:\n{action}\n")
        records = ({"prompt": goal, "completion": labels} for goal, labels in self.tests)
        (folder / "test.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        return folder


HOME = Files(
    {"set_location": "# Where to look.\nAPI.set_location(place)\n", "search": "# Start.\n# Comes last.\nAPI.search()"},
    [("Rent in Essen", 'API.set_location("Essen")\nAPI.set_buy_or_rent("rent")\nAPI.search()')],
    [
        ("Buy in Ulm", ['API.set_location("Ulm")\nAPI.set_buy_or_rent("buy")\nAPI.search()\n']),
        ("Rent in Ulm", ["API.search(1)", 'API.set_location("Ulm")\nAPI.set_buy_or_rent("rent")\nAPI.search()']),
    ],
)
ALL = {
    "home": HOME,
    "trip": Files(
        {"search": "# Start.\nAPI.search()"},
        [("A hotel", 'API.select_booking_type("hotels")\nAPI.set_hotel_location(Loc("Ulm"))\nAPI.search()')],
        [
            (
                "By train from Ulm to Bern on 2024/07/02",
                [
                    'API.select_booking_type("trip tickets")\nAPI.select_transportation("train")\n'
                    'API.set_origin(Loc("Ulm"))\nAPI.set_destination(Loc("Bern"))\n'
                    "API.set_departure_date(Date(7, 2, 2024))\nAPI.search()"
                ],
            )
        ],
    ),
    "weather": Files(
        {"by_zip": f"# By postal code.\ncurl -X GET '{WEATHER}/data/2.5/weather?zip={{zip}}&appid={{API_KEY}}'"},
        [("Warm?", f"curl -X GET '{WEATHER}/data/2.5/weather?q=Xanadu&appid={{API_KEY}}'")],
        [
            ("Xanadu", [f"curl -X GET '{WEATHER}/data/2.5/weather?q=xan+adu&appid={{API_KEY}}&units=metric'"]),
            ("Where?", [f"curl -X GET '{WEATHER}/geo/1.0/direct?q=Xanadu,KH&appid={{API_KEY}}'"]),
        ],
    ),
    "cat": Files(
        {"remove": f"# Remove one.\ncurl -X DELETE '{CATS}/v1/favourites/{{id}}'"},
        [("Drop 12", f"curl -X DELETE '{CATS}/v1/favourites/12'")],
        [
            ("Drop 99", [f"curl -X DELETE '{CATS}/v1/favourites/99'"]),
            ("Like abc", [f"curl -X POST '{CATS}/v1/favourites' -d '{{\"image_id\": \"abc\"}}'"]),
            ("No cats", [f"curl -X GET '{CATS}/v1/images/search?breed_ids=beng&category_ids=1'"]),
        ],
    ),
    "virtualhome": Files(
        {"Find": "# Look for it.\nAgent.Find(object)", "Read": "# Read it.\nAgent.Read(object)"},
        [("Rest", "Agent.Find(bed)\nAgent.LieOn(bed)")],
        [("Read", ["Agent.Find(novel)\nAgent.Read(novel)", "1. Agent.Find('novel');\n2. Agent.Grab('novel')"])],
    ),
}


@pytest.mark.parametrize("name", ALL)
def test_labels_of_files_solve_their_tests_in_both_ways(name: str, tmp_path: Path) -> None:
    """The task's own environment executes them, for the generator and as programs of an agent; others are wrong."""
    folder = ALL[name].write(tmp_path / "files")
    with closing(open_original(name, folder)) as environment:
        assert [test.goal for test in environment.tests] == [goal for goal, _ in ALL[name].tests]
        assert [shown.goal for shown in environment.demonstrations] == [goal for goal, _ in ALL[name].examples]
        assert {document.name for document in environment.functions} == set(ALL[name].functions)
        for mode in ("action", "none"):
            settings = ManipulationSettings("manipulation", "labels", mode, 3, 1, "paper", "bm25", False)
            model = LabelModel(environment, programs=mode != "action")
            runner = TestRunner(environment, settings, model)
            for test in environment.tests:
                model.expect(test)
                record = runner.run(test)
                assert record["metrics"]["success"] == 1, record["solution"]
        environment.reset(environment.tests[0])
        environment.act(environment.demonstrations[0].action)
        assert environment.score().value < 1


def test_compat_takes_labels_that_the_released_evaluator_takes(tmp_path: Path) -> None:
    """A program without its search is a label for the released evaluator alone."""
    unsent = [("Ulm", ['API.set_location("Ulm")\nAPI.set_buy_or_rent("buy")'])]
    folder = Files(HOME.functions, HOME.examples, unsent).write(tmp_path / "files")

    with closing(open_original("home", folder, compat=True)) as environment:
        assert len(environment.tests) == 1
    with pytest.raises(UsageError, match=r"test\.jsonl, line 1: no label runs: it is non-executable by the rules"):
        open_original("home", folder)


def test_the_commands_read_a_folder(tmp_path: Path) -> None:
    """Run, summary and complexity are those of the files; other files in the same run folder are refused."""
    folder, answers = HOME.write(tmp_path / "files"), tmp_path / "answers.jsonl"
    with closing(open_original("home", folder)) as environment:
        labels = LabelModel(environment)
        model = Recorder(labels, answers)
        for test in environment.tests:
            labels.expect(test)
            ActionGenerator(environment, Selection(environment)).run(model, test, 0)
    arguments = ["bench", "manipulation", "--task", "home", "--model", f"replay:{answers}", "--files", str(folder)]
    arguments += ["--out", str(tmp_path / "run"), "--json", "--profile", "small"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["tasks"]["home"]["mean"] == 100
    assert json.loads((tmp_path / "run" / "config.json").read_text())["files"]["original"]["file"] == "files"

    done = CliRunner().invoke(main, ["complexity", "manipulation-home", "--files", str(folder), "--json"])
    assert done.exit_code == 0, done.output
    [scored] = json.loads(done.stdout)["tasks"]
    assert scored["functions"] == 2
    assert [near["reversed_f1"] for near in scored["nearest"]] == [0, 0]

    (folder / "functions" / "search").write_text("# Another.\nAPI.search()")
    assert CliRunner().invoke(main, arguments).exit_code != 0


@pytest.mark.parametrize(
    ("place", "content", "message"),
    [
        ("functions/search", "# Start.", "functions/search, line 2: no signature"),
        ("examples/0_0.txt", "Rent in Essen", "examples/0_0.txt, line 1: no demonstration"),
        ("examples/0_0.txt", "Task: Go\n\nAction:\ngo()\n", "examples/0_0.txt, line 4: it calls no function of home"),
        ("examples/0_0.txt", "Task: Go\nAction: I go.", "examples/0_0.txt, line 2: no program: invalid syntax"),
        ("test.jsonl", '{"prompt": "a"}', "test.jsonl, line 1: no test; it has its goal in `prompt`"),
        ("test.jsonl", '\n{"prompt": "a", "completion": [1]}', "test.jsonl, line 2: no test"),
        ("test.jsonl", '{"prompt": "a", "compl', "test.jsonl, line 1: no JSON"),
        ("test.jsonl", '{"prompt": "a", "completion": []}', "test.jsonl, line 1: no label runs: `completion` is empty"),
        ("test.jsonl", '{"prompt": "a", "completion": ["API.search(1)"]}', "test.jsonl, line 1: no label runs: "),
        ("test.jsonl", "\n", "test.jsonl has no test"),
        ("test.jsonl", "\xff", "test.jsonl cannot be read: "),
    ],
)
def test_files_in_another_form_are_named(place: str, content: str, message: str, tmp_path: Path) -> None:
    """File and line, and what is expected there."""
    folder = HOME.write(tmp_path / "files")
    (folder / place).write_text(content, "latin-1")

    with pytest.raises(UsageError) as caught:
        open_original("home", folder)
    assert str(caught.value).startswith(f"{folder}/{message}")


@pytest.mark.parametrize("name", [pytest.param("sheets", marks=pytest.mark.manipulation), "webshop", "tabletop"])
def test_tools_with_scenes_are_refused(name: str, tmp_path: Path) -> None:
    """Their tests need more than the texts."""
    with pytest.raises(UsageError, match=f"the tests of {name} need scene files"):
        open_original(name, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "manipulation", "--out", "out"], "say which with one --task"),
        (["complexity", "manipulation-home", "manipulation-cat"], "say which with one manipulation-TASK"),
    ],
)
def test_files_are_those_of_one_tool(arguments: Sequence[str], message: str, tmp_path: Path) -> None:
    """Several tools, or another benchmark, have no such folder."""
    done = CliRunner().invoke(main, [*arguments, "--files", str(tmp_path)])

    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
