"""An answer that found nothing deserves a second look; an answer that only sounds like it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atc.verify import doubt, judge, rests_on_nothing
from sandbox import CallRecord, Resources, Run
from sandbox.records import Provenance


def printed(text: str, *statuses: int, method: str = "GET") -> Run:
    calls = tuple(
        CallRecord(n, f"{method}_films", method, "https://api.test/films", {}, 1, status, 1.0, 1, "function", {})
        for n, status in enumerate(statuses)
    )
    return Run("ok", text, "", None, calls, Resources(0.1, 0.1, 10.0, len(text)))


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "None",
        "{}",
        "No movies found.",
        "Nothing",
        "The director could not be found",
        "Cast: []",
        "Director: None",
    ],
)
def test_nothing_is_doubted(text: str) -> None:
    found = doubt(printed(text + "\n", 200), "Who made it?")

    assert found is not None
    assert found.type == "NothingFound"


@pytest.mark.parametrize(
    "text",
    ["Fail Safe (1964)", "No Country for Old Men was directed by Joel Coen", "7", "0", "['a']", "No one: 3\nHim: 2"],
)
def test_answers_are_taken(text: str) -> None:
    assert doubt(printed(text + "\n", 200), "Who made it?") is None


@pytest.mark.parametrize(
    ("query", "text", "doubted"),
    [
        ("shows that are similar to House of Cards", "House of Cards", True),
        ("shows that are similar to House of Cards", "House of Cards\nBillions", False),
        ("Which is older, Dune or Solaris?", "Solaris", False),
        ("Does it rain in Oslo?", "rain", False),
        ("How often do 2 Lost Sailors appear?", "2", False),
    ],
)
def test_the_words_of_the_question_are_no_answer(query: str, text: str, doubted: bool) -> None:
    found = doubt(printed(text + "\n", 200), query)

    assert (found.type if found else None) == ("NothingNew" if doubted else None)


def test_an_answer_without_any_reply_is_doubted() -> None:
    """A program that prints what the model believes to know is not evidence."""
    for run in (printed("Paris"), printed("Paris", 404)):
        found = doubt(run, "What is the capital of France?")
        assert found is not None
        assert found.type == "NoEvidence"


@pytest.mark.parametrize("text", ["done", "None", "Dune was added"])
def test_what_was_done_needs_no_data(text: str) -> None:
    """After a write that the service took, any words will do; after one that it refused, they will not."""
    assert doubt(printed(text, 200, 204, method="POST"), "add Dune") is None
    assert doubt(printed(text, 404, method="POST"), "add Dune") is not None
    assert not rests_on_nothing(replace(printed(text, 204, method="PUT"), provenance=Provenance()))
    assert rests_on_nothing(replace(printed(text, 200), provenance=Provenance()))


def test_silence_is_no_answer() -> None:
    fault = judge("x = 1", printed("  \n", 200))

    assert fault is not None
    assert (fault.stage, fault.type) == ("answer", "NoOutput")


def test_a_print_that_was_never_reached_is_named() -> None:
    fault = judge("for one in []:\n    print(one)", printed("", 200))

    assert fault is not None
    assert "the print() on line 2 was never reached" in fault.message
