"""The page of one solution, as `atc trace` writes it."""

from __future__ import annotations

from atc.apps.page.environment import page_environment
from atc.solution import Solution

__all__ = ["trace_page"]

MAX_CHARACTERS = 20_000
"""Characters that are shown of a response; a page of one solution has room for them."""


def trace_page(solution: Solution) -> str:
    """The page as text: one file that loads nothing and runs no script."""
    template = page_environment(max_characters=MAX_CHARACTERS).get_template("trace.html")
    calls = sum(len(attempt.calls) for attempt in solution.attempts)
    return template.render(solution=solution.to_json(), calls=calls)
