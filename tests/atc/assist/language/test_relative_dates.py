"""Days that a question names by how far away they are get their dates."""

from __future__ import annotations

import pytest

from atc import Agent
from atc.assist.language.question import Question
from atc.assist.language.relative_dates import with_dates
from protocols import load


@pytest.mark.parametrize(
    ("phrase", "date"),
    [
        ("yesterday", "2024-02-28"),
        ("the day before yesterday", "2024-02-27"),
        ("Tomorrow", "2024-03-01"),
        ("the day after tomorrow", "2024-03-02"),
        ("on this day last year", "2023-02-28"),
        ("at the same time last month", "2024-01-29"),
        ("three days ago", "2024-02-26"),
        ("nine days ago", "2024-02-20"),
        ("2 weeks ago", "2024-02-15"),
        ("a month ago", "2024-01-29"),
        ("a year ago", "2023-02-28"),
    ],
)
def test_a_day_gets_its_date(phrase: str, date: str) -> None:
    """Behind it, so that the question stays as it was; a month that is too short ends earlier."""
    assert with_dates(f"Was it cold {phrase}?", "2024-02-29") == f"Was it cold {phrase} ({date})?"
    assert Question(with_dates(f"Was it cold {phrase}?", "2024-02-29")).day == date


@pytest.mark.parametrize("phrase", ["today", "every year", "last year's films", "yesterday (2020-01-01)", "long ago"])
def test_other_words_get_none(phrase: str) -> None:
    """A year is no day, and a date that is there stays."""
    assert with_dates(f"Tell me about {phrase}", "2024-02-29") == f"Tell me about {phrase}"


def test_plan_sketches_have_the_date() -> None:
    """An argument that takes a date is told it, by the day on which the question is asked."""
    text, day = {"type": "string"}, {"name": "date", "in": "query", "required": True, "schema": {"type": "string"}}
    tides_schema = {"type": "object", "properties": {"high": text, "low": text}}
    responses = {"200": {"description": "", "content": {"application/json": {"schema": tides_schema}}}}
    tides = {"get": {"summary": "The tides of a day", "parameters": [day], "responses": responses}}
    document = {"openapi": "3.0.3", "info": {"title": "Sea", "version": "1"}, "paths": {"/tides": tides}}
    agent = Agent(load(document), "openai:none", profile="small")

    (section,) = agent.opening("What were the tides a week ago?", today="2024-06-01").sections
    assert section.endswith('tides = GET_tides(date="2024-05-25")')
