"""Answers are judged by what a reference says must hold, however they are worded."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.answers import find_reference, is_correct, query_hash, read_claim
from protocols.errors import UsageError

FILMS = ["Harbour Lights", "The Glass Orchard", "Tide", "A Winter of Kites", "North", "Ember"]

JUDGED: list[tuple[str, dict[str, object], bool]] = [
    ("Director: Ana Bell", {"all": ["Ana Bell"]}, True),
    ("ANA BELL", {"all": ["Ana Bell"]}, True),
    ("Ana Bellini", {"all": ["Ana Bell"]}, False),
    ("Zoë Kravitz and Ana Bell", {"all": ["Zoe Kravitz", "Ana Bell"]}, True),
    ("Ana Bell", {"all": ["Ana Bell", "Bo Carr"]}, False),
    ("['Ana Bell', 'Bo Carr']", {"all": ["Ana Bell", "Bo Carr"]}, True),
    ("", {"all": ["Ana Bell"]}, False),
    ("None", {"all": ["Ana Bell"]}, False),
    ("The movie was released on June 1, 2024.", {"all": ["2024-06-01"]}, True),
    ("2024-06-01T00:00:00Z", {"all": ["2024-06-01"]}, True),
    ("1st of June 2024", {"all": ["2024-06-01"]}, True),
    ("2024-06-02", {"all": ["2024-06-01"]}, False),
    ("{'rise': '2024-06-02T06:55:28'}", {"all": ["2024-06-02", "06:55"]}, True),
    ("2024-06-02T00:00:00.000Z", {"all": ["06:55"]}, False),
    ("It rises at 6:55 on June 2, 2024.", {"all": ["2024-06-02", ["06:55", "6:55"]]}, True),
    ("The sun rises in the morning.", {"all": [["06:55", "6:55"]]}, False),
    ("Harbour Lights, Tide", {"any": FILMS, "n": 2}, True),
    ("Harbour Lights", {"any": FILMS, "n": 2}, False),
    ("Tide" * 600, {"any": FILMS}, False),
    ("Tide " * 600, {"any": FILMS, "longest": 4000}, True),
    ("There are 12 films.", {"number": 12}, True),
    ("There are 112 films.", {"number": 12}, False),
    ("12", {"number": 12}, True),
    ("Revenue: $1,234,567", {"number": 1234567}, True),
    ("7.45 of 10", {"number": 7.45}, True),
    ("7.5", {"number": 7.45}, False),
    ("Yes, it is.", {"yes": True}, True),
    ("True", {"yes": True}, True),
    ("No", {"yes": True}, False),
    ("It is not.", {"yes": False}, True),
    ("[]", {"empty": True}, True),
    ("Nothing was found.", {"empty": True}, True),
    ("Harbour Lights", {"empty": True}, False),
    ("Ana Bell", {"all": ["Ana Bell"], "others": FILMS}, True),
    (f"Tide, Ana Bell, {', '.join(FILMS)}", {"all": ["Ana Bell"], "others": FILMS}, False),
    ("done", {"state": True}, True),
    ("done", {"state": False}, False),
]


@pytest.mark.parametrize(("answer", "claim", "verdict"), JUDGED)
def test_answers_judged_by_hand(answer: str, claim: dict[str, object], verdict: bool) -> None:
    """The verdict that a person gave."""
    assert is_correct(answer, claim) is verdict


def test_a_reference_belongs_to_the_wording_of_its_task(tmp_path: Path) -> None:
    """For another wording there is none; a file that does not say what it is for is an error."""
    (tmp_path / "b").mkdir()
    file = tmp_path / "b" / "t-1.py"
    file.write_text(f"# {query_hash('Who?')} after\nprint(1)\n")
    found = find_reference("b", "t-1", " Who? ", tmp_path)

    assert found is not None
    assert (found.program, found.after) == ("print(1)\n", True)
    assert find_reference("b", "t-2", "Who?", tmp_path) is None
    assert find_reference("b", "t-1", "What?", tmp_path) is None
    file.write_text("print(1)\n")
    with pytest.raises(UsageError, match="does not say which task"):
        find_reference("b", "t-1", "Who?", tmp_path)


@pytest.mark.parametrize("printed", ["", "3", '{"all": [], "yes": true}', '{"some": 1}'])
def test_a_reference_must_claim_one_thing(printed: str) -> None:
    """Anything else is a mistake in the reference."""
    with pytest.raises(ValueError, match="must print one of"):
        read_claim(printed)
