"""`atc bench manipulation`: the action generator, the modes of an agent, records, failures, tables; samples as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from atc.models import Completion, Message, Model, Usage
from benchmarks.harness.engines import thread_engine
from benchmarks.harness.runner import Runner
from benchmarks.manipulation.environment import Environment, ManipulationTest
from benchmarks.manipulation.generator import ACTION, ActionGenerator, alignment_data
from benchmarks.manipulation.prompt_selection import Selection
from benchmarks.manipulation.suite import open_environment
from benchmarks.manipulation.suite_run import (
    ManipulationSettings,
    SuiteEnvironment,
    SuiteScorer,
    SuiteTask,
    TestFigures,
    TestRunner,
)
from benchmarks.report.manipulation_tables import manipulation_tables
from benchmarks.report.runs import read_runs
from protocols.errors import PromptRefused, UsageError
from tests.benchmarks.manipulation.suite_tasks import SUITE, LabelModel
from tests.benchmarks.manipulation.tiny_environment import TinyEnvironment, TinySteps
from tests.benchmarks.report_runs import metrics, task, write_run
from tests.scripted import ScriptedModel

SETTINGS = ManipulationSettings("manipulation", "scripted", "action", 3, 0, "paper", "bm25", False)
SMALL = ("--profile", "small")
"""The answers were recorded from a model that continues a text."""


class GoalModel:
    """Answers each goal with a text of its own, whatever else the prompt says."""

    name = "goals"

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.answers = answers
        self.asked: list[Sequence[Message]] = []

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        self.asked.append(list(messages))
        text = "\n".join(message.content for message in messages)
        answer = next((answer for goal, answer in self.answers.items() if goal in text), "")
        return Completion(answer, Usage(100, 20, 0, 1, 0.01), "stop")

    def close(self) -> None:
        """Nothing to close."""


@pytest.fixture
def tiny() -> Iterator[TinyEnvironment]:
    """The environment of three functions."""
    with closing(TinyEnvironment()) as environment:
        yield environment


def generator(environment: Environment, **options: object) -> ActionGenerator:
    return ActionGenerator(environment, Selection(environment, **options))  # type: ignore[arg-type]


def user_text(messages: Sequence[Message]) -> str:
    return next(message.content for message in messages if message.role == "user")


def perfect(environment: Environment) -> dict[str, str]:
    return {test.goal: test.labels[0] for test in environment.tests}


# The prompt


def test_the_plain_prompt_has_documents_a_rule_demonstrations_a_rule_and_the_goal(tiny: TinyEnvironment) -> None:
    """The order is the published one, and the answer goes on after `Action:`."""
    messages = generator(tiny, shots=2).messages("Look around in Bonn.", tiny.tests[0])

    text = user_text(messages)
    parts = text.split("-------------\n")
    assert len(parts) == 3
    assert "# Choose the place to look at.\nPOST_place(name: str)" in parts[0]
    assert parts[1].count("Task: ") == parts[1].count("Action:\nPOST_place") == 2
    assert parts[2].strip() == "Task: Look around in Bonn."
    assert messages[-1] == Message("assistant", ACTION)


def test_the_system_prompt_comes_before_the_goal(tiny: TinyEnvironment) -> None:
    """Role, functions, a rule, the form of the answer, examples and a rule are shared; the goal is the user's."""
    prompt = ActionGenerator(tiny, Selection(tiny, shots=1), system_prompt=True, prefill=False)

    system, user = prompt.messages("Look around.", tiny.tests[0])

    places = [system.content.index(text) for text in ("API", "POST_place(name", "---", "```", "Action:\nPOST_place")]
    assert places == sorted(places)
    assert system.content.endswith("-------------")
    assert user.content == "Task: Look around.\nAction:"


def test_demonstrations_are_the_nearest_and_a_seed_orders_equal_ones(tiny: TinyEnvironment) -> None:
    """Words of goal and action count; of equally near demonstrations the seed says which comes first."""
    near = Selection(tiny, shots=2).demonstrations("Search Kiel, at most 9 hits", tiny.tests[0])
    assert [shown.goal for shown in near] == ["Look around in Kiel, at most 4 hits."] * 2

    orders = {
        tuple(shown.goal for shown in Selection(tiny, shots=7, seed=seed).demonstrations("zzz", tiny.tests[0]))
        for seed in range(8)
    }
    assert len(orders) > 1


def test_vectors_compare_goals(tiny: TinyEnvironment) -> None:
    """Dense vectors find the goal that means the same; a name that is no encoder is refused with those that are."""
    near = Selection(tiny, shots=1, retriever="wordllama").demonstrations("Look around in Nice", tiny.tests[0])
    assert near[0].goal == "Look around in Nice."

    with pytest.raises(UsageError, match="bm25, wordllama, base or the folder"):
        Selection(tiny, shots=1, retriever="nowhere").demonstrations("x", tiny.tests[0])


def test_the_oracle_shows_the_demonstration_with_the_calls_of_the_label(tiny: TinyEnvironment) -> None:
    """Whatever the goal says, the functions of the label decide."""
    for test in tiny.tests:
        [shown] = Selection(tiny, oracle=True).demonstrations("at most", test)
        assert shown.names == test.names[0]


class RefusingModel(GoalModel):
    """Takes no prompt."""

    def complete(self, messages: Sequence[Message], *, stop: Sequence[str] = (), max_tokens: int = 1024) -> Completion:
        raise PromptRefused("too long")


@pytest.mark.parametrize("name", ["virtualhome", "home"])
def test_a_test_whose_prompt_is_refused_counts_in_every_figure(name: str) -> None:
    """It is not executable, and its figures are 0; left out, they would be those of the other tests."""
    with closing(open_environment(name)) as environment:
        test = environment.tests[0]
        refused = TestRunner(environment, SETTINGS, RefusingModel({})).run(test)
        answered = TestRunner(environment, SETTINGS, GoalModel({test.goal: "nothing"})).run(test)

    assert refused["details"] and set(refused["details"].values()) == {0.0}
    assert refused["details"].keys() <= answered["details"].keys()


# What becomes of an answer


def test_an_answer_is_cut_at_a_stop_and_nothing_else_is_cleaned(tiny: TinyEnvironment) -> None:
    """Engines that ignore stop sequences do no harm; a code fence stays, and is a failure."""
    label = tiny.tests[0].labels[0]
    episode = generator(tiny).run(
        ScriptedModel(f"{label}\n\nTask: another\nAction:\nPOST_place('x')"), tiny.tests[0], 0
    )
    assert episode.steps[0].action == label
    assert episode.steps[0].cut.startswith("Task: another")
    assert tiny.score().value == 1

    generator(tiny).run(ScriptedModel(f"```python\n{label}\n```"), tiny.tests[0], 0)
    assert tiny.score().failure == "non-executable"


def test_step_by_step_the_observation_takes_the_place_of_the_goal() -> None:
    """The next prompt has what the tool shows and no earlier action; the episode ends when the tool is done."""
    with closing(TinySteps()) as environment:
        test = environment.tests[1]
        model = ScriptedModel(*test.labels[0].splitlines(), "POST_search()")

        episode = generator(environment).run(model, test, 0)

        assert environment.score().value == 1
        assert len(episode.steps) == 3
        assert user_text(model.asked[2]).endswith(f"Task: {test.goal} So far: 2 calls.")
        assert "POST_place(name=" + '"' not in user_text(model.asked[2])


# The runner


def run_suite(
    tool: Environment, settings: ManipulationSettings, model: Model, tests: Sequence[ManipulationTest], out: Path
) -> list[TestFigures]:
    """The figures of some tests of a tool, run by the harness into a folder."""
    suite = SuiteEnvironment({tool.name: tool}, settings, model)
    runner = Runner(settings, suite, SuiteScorer(), thread_engine(suite))
    return [result.figures for result in runner.run([SuiteTask(tool.name, test) for test in tests], out)]


def ended(environment: Environment, settings: ManipulationSettings, model: object, out: Path) -> list[str | None]:
    tests = environment.tests
    return [figures.metrics.error for figures in run_suite(environment, settings, model, tests, out)]  # type: ignore[arg-type]


def test_a_perfect_generator_solves_everything_and_mutants_fail_in_the_published_order(
    tiny: TinyEnvironment, tmp_path: Path
) -> None:
    """Prose around the code is non-executable, another function a wrong API, another value wrong arguments."""
    right = perfect(tiny)
    assert ended(tiny, SETTINGS, GoalModel(right), tmp_path / "right") == [None] * 8

    mutants: Mapping[str, Callable[[str], str]] = {
        "non-executable": lambda label: f"Here you are: {label}",
        "wrong API": lambda label: f"{label}\nPOST_limit(count=9)",
        "wrong arguments": lambda label: label.replace('name="', 'name="New '),
    }
    for failure, mutate in mutants.items():
        answers = {goal: mutate(label) for goal, label in right.items()}
        assert ended(tiny, SETTINGS, GoalModel(answers), tmp_path / failure.replace(" ", "-")) == [failure] * 8


# The modes of an agent


def test_a_revision_does_not_act_on_what_a_failed_program_left(tiny: TinyEnvironment) -> None:
    """The first program sets a limit that the goal does not ask for, and fails; only the second one counts."""
    test = tiny.tests[0]
    wrong = "POST_limit(count=5)\nPOST_search()\nprint(1 / 0)\n```"
    right = f"{test.labels[0]}\nprint('done')\n```"
    settings = replace(SETTINGS, mode="naive")

    record = TestRunner(tiny, settings, ScriptedModel(wrong, right)).run(test)

    assert [attempt["stage"] for attempt in record["solution"]["attempts"]] == ["run", "done"]
    assert record["metrics"]["success"] == 1
    assert record["metrics"]["reflections"] == 1


def test_a_program_that_breaks_off_has_no_figures() -> None:
    """F1 is that of what was executed, and nothing counts as that."""
    with closing(open_environment("home")) as environment:
        test = environment.tests[0]
        model = ScriptedModel(f"{test.programs[0]}\nprint(missing)\n```")
        record = TestRunner(environment, replace(SETTINGS, mode="none"), model).run(test)

    assert record["details"] == {"f1": 0.0, "precision": 0.0, "recall": 0.0}


def test_demonstrations_are_shown_to_an_agent_as_solved_questions(tiny: TinyEnvironment) -> None:
    """`--shots 1` puts the nearest demonstration into the prompt, without a store."""
    model = ScriptedModel("POST_search()\nprint('x')\n```")

    TestRunner(tiny, replace(SETTINGS, mode="none", shots=1), model).run(tiny.tests[1])

    text = "\n".join(message.content for message in model.asked[0])
    assert "Look around in Kiel, at most 4 hits." in text
    assert "POST_limit(count=4)" in text


@pytest.mark.parametrize(
    ("mode", "answers"),
    [
        ("react", ['Action: POST_place(name="Graz")', "Action: POST_limit(count=1)", "Action: POST_search()"]),
        ("codeact", ['```python\nPOST_place(name="Graz")\nPOST_limit(count=1)\n```', "```python\nPOST_search()\n```"]),
    ],
)
def test_single_calls_and_snippets_act_on_one_state(mode: str, answers: Sequence[str], tiny: TinyEnvironment) -> None:
    """What an earlier step did stays done, and no step is done twice."""
    model = ScriptedModel(*answers, "Answer: done")

    record = TestRunner(tiny, replace(SETTINGS, mode=mode), model).run(tiny.tests[1])

    assert record["metrics"]["success"] == 1
    assert tiny.score().details == {"calls": 3.0}


# The command and the report


def recorded(folder: Path, shots: int = 0) -> str:
    """The name of a model that plays the labels of the first tests of Home back."""
    from atc.models.replay import Recorder

    file = folder / f"answers-{shots}.jsonl"
    with closing(open_environment("home")) as environment:
        model = Recorder(GoalModel(perfect(environment)), file)
        for test in environment.tests[:4]:
            generator(environment, shots=shots).run(model, test, 0)
    return f"replay:{file}"


def run_home(out: Path, *options: str) -> Result:
    """Run the first tests of Home."""
    arguments = ["bench", "manipulation", "--task", "home", "--limit", "4", *SMALL, *options]
    return CliRunner().invoke(main, [*arguments, "--out", str(out)])


def test_the_command_runs_and_the_report_compares(tmp_path: Path) -> None:
    """Tables of techniques and failures; `--json` has the summary; the page of the report is made of the same."""
    for shots, name in ((0, "zero"), (1, "one")):
        done = run_home(tmp_path / name, "--shots", str(shots), "--model", recorded(tmp_path, shots), "--json")
        assert done.exit_code == 0, done.output
        summary = json.loads(done.stdout)
        assert summary["tasks"]["home"]["mean"] == 100
        assert summary.items() <= json.loads((tmp_path / name / "summary.json").read_text()).items()

    files = ["--markdown", str(tmp_path / "report.md"), "--html", str(tmp_path / "report.html")]
    done = CliRunner().invoke(main, ["report", str(tmp_path / "zero"), str(tmp_path / "one"), "--paper", *files])

    assert done.exit_code == 0, done.output
    text = (tmp_path / "report.md").read_text()
    assert "Tool manipulation (as in Table 12)" in text
    assert "Failures (as in Table 3)" in text
    assert "Published, Xu et al., Table 12" in text
    assert "API.search" in (tmp_path / "report.html").read_text()


def run_of(folder: Path, name: str, count: int, right: int, **config: object) -> None:
    """Write a run of the first tests of a task, of which some are right."""
    figures = [metrics(success=float(place < right)) for place in range(count)]
    records = [task(f"{name}-{place:03}", dataset=name, metrics=entry) for place, entry in enumerate(figures)]
    settings: dict[str, Any] = {"mode": "action", "shots": 0, "files": {}, "retriever": "bm25", **config}
    write_run(folder, records, benchmark="manipulation", **settings)


def test_runs_of_different_tests_are_kept_apart(tmp_path: Path) -> None:
    """Of two tasks in two folders each has its interval; gains are of tests that both runs have, on the same files."""
    run_of(tmp_path / "home", "home", 10, 3)
    run_of(tmp_path / "trip", "trip", 10, 0)
    run_of(tmp_path / "short", "home", 3, 3, shots=3)
    run_of(tmp_path / "vectors", "home", 10, 5, shots=3, retriever="base")
    run_of(tmp_path / "original", "home", 10, 5, shots=3, files={"original": {"sha256": "abcdef0123"}})
    encoder = {"retriever": {"file": "encoder", "sha256": "0123456789"}}
    run_of(tmp_path / "trained", "home", 10, 6, shots=3, retriever="encoder", files=encoder)
    [ablation, *_] = manipulation_tables(read_runs(sorted(tmp_path.iterdir())))
    rows = {row[0]: row[2:] for row in ablation.rows}

    assert rows == {
        "zero-shot": ("30.0\n[0, 60] of 10", "0.0\n[0, 31] of 10", ""),
        "3-shot (files no original no retriever, retriever bm25)": ("100.0\n[29, 100] of 3", "-", "0 / 0 of 1"),
        "3-shot (files no original no retriever, retriever base)": ("50.0\n[20, 80] of 10", "-", "1 / 0 of 1"),
        "3-shot (files original abcdef01 no retriever, retriever bm25)": ("50.0\n[20, 80] of 10", "-", ""),
        "3-shot (files no original retriever 01234567, retriever encoder)": ("60.0\n[30, 90] of 10", "-", "1 / 0 of 1"),
    }
    assert len(ablation.remarks) == 1


def test_repeats_are_one_row(tmp_path: Path) -> None:
    """Three seeds are three folders, whose least and greatest figures stand below the mean."""
    done = run_home(tmp_path / "runs", "--repeat", "3", "--model", recorded(tmp_path))

    assert done.exit_code == 0, done.output
    [ablation, *_] = manipulation_tables(read_runs([tmp_path / "runs"]))
    assert len(ablation.rows) == 1
    assert ablation.rows[0][2] == "100.0\n[100.0, 100.0] in 3 runs"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "nothing"], "there is no task 'nothing'"),
        (["--docs", "some"], "neither a number from 1"),
        (["--oracle", "--shots", "2"], "leave out --shots"),
        (["--mode", "attribute", "--system-prompt"], "are of --mode action"),
        (["--mode", "attribute", "--docs", "none"], "an agent knows the functions"),
        (["--max-reflections", "2"], "the action generator corrects nothing"),
        (["--mode", "dance"], "unknown mode 'dance'"),
        (["--mode", "dfsdt"], "a tool of the suite keeps what was done to it"),
        (["--retriever", "fooo"], "not 'fooo'"),
    ],
)
def test_bad_input_is_named(arguments: Sequence[str], message: str, tmp_path: Path) -> None:
    """Whatever cannot be run is said in a line."""
    file = tmp_path / "answers.jsonl"
    file.write_text("")
    options = ["--model", f"replay:{file}", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, ["bench", "manipulation", *arguments, *options])

    assert done.exit_code != 0
    assert message in done.output
    assert not (tmp_path / "out" / "config.json").exists()  # the corrected command may write there


@pytest.mark.parametrize("name", SUITE)
def test_a_perfect_model_solves_the_tasks_in_both_ways(name: str, tmp_path: Path) -> None:
    """The first and the last test of each task, by labels with the generator and by programs with an agent."""
    with closing(open_environment(name)) as environment:
        assert environment.name == name
        for mode in ("action", "none"):
            settings = replace(SETTINGS, mode=mode, shots=1)
            model = LabelModel(environment, programs=mode != "action")
            runner = TestRunner(environment, settings, model)
            for test in (environment.tests[0], environment.tests[-1]):
                model.expect(test)
                assert runner.run(test)["metrics"]["success"] == 1


def test_a_conversation_is_a_prompt_of_the_action_generator_with_its_answer() -> None:
    """Functions, three examples whose actions are marked, the goal; the answer begins with `Action:`."""
    with closing(TinyEnvironment()) as environment:
        conversations = alignment_data(environment, 10, 4, 0)

    question, answer = conversations[0]["messages"]
    marked = [question["content"][first:end] for first, end in question["learn"]]
    assert len(marked) == 3
    assert all(action.startswith("POST_place(") and action.endswith("POST_search()") for action in marked)
    assert question["content"].count("Action:\n") == 3
    assert answer["content"].startswith("Action:\nPOST_place(")
    assert [len(conversation["names"]) for conversation in conversations] == [4, 4, 2]


def test_the_command_writes_the_same_file_again(tmp_path: Path) -> None:
    """One seed, one file; `--json` has the number of conversations, and another seed another order."""
    texts = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        arguments = ["--from-task", "home", "--count", "12", "--seed", seed, "--out", str(tmp_path / name), "--json"]
        done = CliRunner().invoke(main, ["train", "data", *arguments])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["written"] == 3
        texts.append((tmp_path / name).read_text())

    assert texts[0] == texts[1] != texts[2]
    assert all(json.loads(line)["task"] == "home" for line in texts[0].splitlines())


def test_samples_do_not_replace_something_else(tmp_path: Path) -> None:
    """A file with other lines stays as it is."""
    out = tmp_path / "notes.jsonl"
    out.write_text('{"question": "Which films?"}\n')
    refused = CliRunner().invoke(main, ["train", "data", "--from-task", "home", "--count", "4", "--out", str(out)])

    assert refused.exit_code == 2
    assert "line 1: this is no sample of `atc train data --from-task`" in " ".join(refused.stderr.split())
    assert out.read_text() == '{"question": "Which films?"}\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Missing option '--from-task'"),
        (["--from-task", "other"], "there is no task 'other'"),
        (["--from-task", "home", "--count", "1801"], "home has 1800 samples: ask for no more of them"),
    ],
)
def test_samples_that_there_are_not_are_named(arguments: list[str], message: str, tmp_path: Path) -> None:
    """What is missing or unknown is said."""
    done = CliRunner().invoke(main, ["train", "data", *arguments, "--out", str(tmp_path / "out.jsonl")])

    assert done.exit_code != 0
    assert message in done.output
