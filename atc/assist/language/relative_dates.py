"""Relative dates in a question: `yesterday`, `on this day last year`."""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta

from atc.assist.language.word_lists import QUESTIONS

__all__ = ["with_dates"]

_COUNTS = {"a": 1, "an": 1} | {word: number for number, word in enumerate(QUESTIONS["counts"], 1)}
_DAY = re.compile(
    r"\b(?:(?P<before>(?:the day before )?yesterday)|(?P<after>(?:the day after )?tomorrow)"
    r"|(?P<again>th(?:is|e same) (?:day|date|time) last (?P<last>week|month|year))"
    rf"|(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)}) (?P<unit>day|week|month|year)s? ago)\b(?! \()",
    re.IGNORECASE,
)


def with_dates(text: str, today: str) -> str:
    """A text with the date behind each relative one, as in `yesterday (2024-05-31)`.

    Args:
        today: As YYYY-MM-DD.
    """
    now = date.fromisoformat(today)

    def dated(match: re.Match[str]) -> str:
        if match["before"] or match["after"]:
            far = 2 if " " in match[0] else 1
            day = now + timedelta(days=far if match["after"] else -far)
        elif match["again"]:
            day = _earlier(now, 1, match["last"].lower())
        else:
            numeral = match["count"].lower()
            day = _earlier(now, int(numeral) if numeral.isdigit() else _COUNTS[numeral], match["unit"].lower())
        return f"{match[0]} ({day.isoformat()})"

    return _DAY.sub(dated, text)


def _earlier(day: date, count: int, unit: str) -> date:
    """The day so many units before; the last one of a month that is too short for it."""
    if unit in ("day", "week"):
        return day - timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
