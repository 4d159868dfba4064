"""Answers are judged by what a reference says must hold, however they are worded."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.tasks.references import find_reference, is_correct, query_hash, read_claim, sibling_texts
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
    ("1 2 3 4 5 6 7 8 9 10 11 12 13", {"number": 12}, False),
    ("12 films from 2001-05-06 on", {"number": 12}, True),
    ("[{'title': 'The Tide', 'poster_path': None}]", {"empty": True}, False),
    ("Nothing was found for {'name': 'The Tide'}", {"empty": True}, True),
    ("Yes: {'name': 'The Tide', 'end': None}", {"yes": True}, True),
    ("The Tide, Ash, Fern, Moss, Oak", {"all": ["The Tide"], "others": ["Ash", "Fern", "Moss", "Oak"]}, False),
]


@pytest.mark.parametrize(("answer", "claim", "verdict"), JUDGED)
def test_answers_judged_by_hand(answer: str, claim: dict[str, object], verdict: bool) -> None:
    """The verdict that a person gave; lists of numbers, and what stands inside printed objects, answer nothing."""
    assert is_correct(answer, claim) is verdict


def test_a_reference_belongs_to_the_wording_of_its_task(tmp_path: Path) -> None:
    """For another wording there is none; a file that does not say what it is for is an error."""
    (tmp_path / "b").mkdir()
    file = tmp_path / "b" / "t-1.py"
    file.write_text(f"# {query_hash('Who?')} after\nprint(1)\n")
    reference = find_reference("b", " Who? ", tmp_path)

    assert reference is not None
    assert (reference.program, reference.after) == ("print(1)\n", True)
    assert find_reference("b", "What?", tmp_path) is None
    assert find_reference("a", "Who?", tmp_path) is None
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "t-1.py").write_text("print(1)\n")
    with pytest.raises(UsageError, match="does not say which task"):
        find_reference("c", "Who?", tmp_path)


def test_the_other_members_of_a_field_are_found_in_the_responses() -> None:
    """Those of the same tool in the same place, without what is claimed."""
    cast = {"cast": [{"name": "Ada", "role": "Eve"}, {"name": "Bo", "role": "Ada"}], "name": "Cy"}
    responses = [("GET_credits", cast), ("GET_credits", {"cast": [{"name": "Di"}]}), ("GET_people", [{"name": "Flo"}])]

    assert sibling_texts({"all": [["Bo", "Bob"]]}, responses) == ["Ada", "Di"]
    assert sibling_texts({"number": 3}, responses) == []


@pytest.mark.parametrize("printed", ["", "3", '{"all": [], "yes": true}', '{"some": 1}'])
def test_a_reference_must_claim_one_thing(printed: str) -> None:
    """Anything else is a mistake in the reference."""
    with pytest.raises(ValueError, match="must print one of"):
        read_claim(printed)
