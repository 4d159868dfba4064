"""What the tests of the services share: acting and judging, and texts around a right action that spoil it."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.manipulation.environment import ManipulationTest, TestScore
from benchmarks.manipulation.http_environment import HTTPEnvironment

__all__ = ["check_counts", "check_samples", "judged", "spoiled"]


def judged(environment: HTTPEnvironment, test: ManipulationTest, action: str) -> TestScore:
    """The score of an action."""
    environment.reset(test)
    environment.act(action)
    return environment.score()


def spoiled(label: str) -> Iterator[tuple[str, str]]:
    """Kinds of texts that do not execute, each with the label in it."""
    yield "nothing", ""
    yield "prose before", f"You can use this: {label}"
    yield "prose behind", f"{label} This gives the answer."
    yield "prose in lines of its own", f"Here is the call:\n{label}\nIt gives the answer."
    yield "code block", f"```bash\n{label}\n```"
    yield "pipe", f"{label} | python -m json.tool"
    yield "unknown option", label.replace("curl ", "curl -o file ", 1)
    yield "open quote", label[:-1]
    yield "header without a name", f"{label} -H ''"
    yield "header beyond Latin-1", f"{label} -H 'x-note: 你好'"


def check_counts(environment: HTTPEnvironment, functions: int, demonstrations: int, templates: int) -> None:
    """The paper's numbers of functions, demonstrations, tests and templates, two demonstrations of each function."""
    tests = environment.tests
    assert (len(environment.functions), len(environment.demonstrations), len(tests)) == (functions, demonstrations, 100)
    assert sum(map(len, environment.templates.training.values())) == templates
    assert len({test.goal for test in tests}) == len({test.id for test in tests}) == 100
    assert len({document.name for document in environment.functions}) == functions
    for document in environment.functions:
        shown = [entry for entry in environment.demonstrations if document.name.startswith(entry.names[0])]
        assert len(shown) >= 2
    again = type(environment)()
    assert list(again.tests) == list(tests)


def check_samples(environment: HTTPEnvironment) -> None:
    """Training samples follow from the seed, have no goal of a test, and no call of one where there are others."""
    samples = environment.samples(1800, seed=1)
    goals = {test.goal for test in environment.tests}
    labels = {label for test in environment.tests for label in test.labels if "GET /v1/favourites" not in test.names[0]}
    assert len(samples) == 1800
    assert samples == environment.samples(1800, seed=1) != environment.samples(1800, seed=2)
    assert goals.isdisjoint(sample.goal for sample in samples)
    assert labels.isdisjoint(sample.action for sample in samples)
    for number, sample in enumerate(samples[:120]):
        test = ManipulationTest(f"sample-{number}", sample.goal, (sample.action,), (sample.names,))
        assert judged(environment, test, sample.action).value == 1, sample
