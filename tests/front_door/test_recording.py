"""The picture of README: a real run shows what README says of it."""

from __future__ import annotations

from xml.etree import ElementTree

from docs.recording import recorded


def test_the_recording_shows_a_failing_call_its_repair_and_a_question_about_a_write() -> None:
    """In this order: the call, its tool, the question before the write, and the repaired line with the answer."""
    frames = [
        " ".join(text.text or "" for text in frame.iter("{http://www.w3.org/2000/svg}text"))
        for frame in ElementTree.fromstring(recorded()).iter("{http://www.w3.org/2000/svg}g")
    ]
    parts = ("pageSize must be at most 50", "to blame: GET_customers", "Send it? Type", "supported")
    firsts = [next(number for number, frame in enumerate(frames) if part in frame) for part in parts]

    assert firsts == sorted(firsts)
    assert "+ found = GET_customers(" in " ".join(frames[-1].split())
