"""Make one value for one field: like the document's examples, or plausible by the name of the field.

A value must be valid at its place, so every way of making one ends in the same check.
"""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from typing import cast

from protocols.model import Schema
from protocols.simulator.analysis.response_shape import ResponseShape, fits, type_name
from protocols.simulator.analysis.world_schema import slug
from protocols.simulator.world import invented_words
from protocols.simulator.world.seeded_rng import SeededRNG
from protocols.text.words import singular, words

__all__ = ["UUID_FORM", "is_date", "leading_number", "make_value", "mimic", "number", "restyled"]

UUID_FORM = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:?\d{2})?")
_TOKEN = re.compile(r"^(?=.*\d)[A-Za-z0-9_\-]{8,}$")
_FILE = re.compile(r"^/?[A-Za-z0-9_\-]{12,}\.[a-z]{3,4}$")
_PLACES = frozenset("headquarters headquarter birthplace birth hometown location".split())
_PERSONS = frozenset("author reviewer character director narrator composer host guest seller owner".split())
_MAKERS = frozenset("author director artist owner actor character".split())
_PROSE = frozenset("description overview summary content text biography bio review comment note".split())
_USUALLY_FALSE = frozenset("restricted locked deleted disabled banned adult private explicit local".split())
_USUALLY_TRUE = frozenset("playable active enabled available playing public verified".split())
_LANGUAGES = ("en", "fr", "de", "es", "ja", "it", "pt")
_ALPHABETS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)


def is_date(value: object) -> bool:
    """True if a value is an ISO 8601 date or date-time."""
    return isinstance(value, str) and bool(_DATE.fullmatch(value) or _MOMENT.fullmatch(value))


_QUOTED = re.compile(r"[`\"']([A-Za-z][\w.-]{0,30})[`\"']")
_LISTED = re.compile(rf"(?:{_QUOTED.pattern},?\s*)+(?:and|or)\s+{_QUOTED.pattern}")
"""Two or more quoted words, with `or` or `and` before the last."""


def mimic(text: str, rng: SeededRNG) -> str:
    """Another text of the same form: digits for digits, letters for letters; hexadecimal stays hexadecimal."""
    if numbered := re.fullmatch(r"([A-Za-z]{1,5}[-_]?)(\d+)", text):
        return numbered[1] + "".join(rng.choose(string.digits) for _ in numbered[2])
    if prefixed := re.fullmatch(r"((?:[A-Za-z]{1,8}_)+)([A-Za-z]*\d\w*)", text):
        return prefixed[1] + mimic(prefixed[2], rng)
    stem, dot, ending = text.rpartition(".") if _FILE.match(text) else (text, "", "")
    if stem.isascii() and stem.isdecimal():
        text_like = "".join(rng.choose(string.digits) for _ in stem)
    elif re.fullmatch(r"[0-9a-f]+", stem):
        text_like = "".join(f"{rng.below(1 << 32):08x}" for _ in range(-(-len(stem) // 8)))[: len(stem)]
    elif re.fullmatch(r"[0-9a-f]+(-[0-9a-f]+)+", stem):
        text_like = "".join(c if c == "-" else rng.choose("0123456789abcdef") for c in stem)
        if UUID_FORM.fullmatch(stem):  # of the same version and variant
            text_like = text_like[:14] + stem[14] + text_like[15:19] + stem[19] + text_like[20:]
    else:
        text_like, mixed = "", len(stem) >= 16 and any(c.isdigit() for c in stem)
        for character in stem:
            alphabet = next((letters for letters in _ALPHABETS if character in letters), "")
            if not alphabet:
                text_like += character
            elif mixed and character.isalpha():
                text_like += rng.choose(string.ascii_letters + string.digits)
            else:
                text_like += rng.choose(alphabet)
    if text_like[:1] == "0" and stem[:1] != "0":
        text_like = "1" + text_like[1:]
    return text_like + dot + ending


def _enumeration(shape: ResponseShape) -> list[object]:
    values = [*shape.enumerated, *(check["const"] for check in shape.checks if "const" in check)]
    return [value for value in values if value is not None and fits(value, shape)]


def _described_values(shape: ResponseShape) -> list[object]:
    """The values that a description lists instead of an enumeration: `"TEAM", "PROJECT", or "FILE"`."""
    for check in shape.checks:
        description = check.get("description")
        if "format" not in check and isinstance(description, str) and (listed := _LISTED.search(description)):
            values: list[object] = list(dict.fromkeys(_QUOTED.findall(listed[0])))
            if fitting := [value for value in values if fits(value, shape)]:
                return fitting
    return []


def _bound(checks: Sequence[Schema], word: str) -> float | None:
    bounds = [check[word] for check in checks if isinstance(check.get(word), (int, float))]
    return float(cast("float", bounds[0])) if bounds else None


@dataclass(slots=True)
class _PoolSummary:
    """The values of a pool that fit a place, without null and empty texts; their JSON type and their range."""

    values: list[object]
    kind: str
    texts: list[str]
    codes: list[int]
    positive: tuple[float, float] | None
    decimals: int
    few: bool


def _summarize_pool(shape: ResponseShape, pool: Sequence[object]) -> _PoolSummary:
    fitting = shape.fitting_values(pool)
    values = [value for value in fitting if value not in (None, "")]
    if not values and shape.types and shape.types <= {"string", "null"}:
        values = [str(value) for value in pool if isinstance(value, (int, float)) and not isinstance(value, bool)]
    kinds = [type_name(value) for value in values] or [kind for kind in _ORDER if kind in shape.types] or ["string"]
    kind = "number" if kinds[0] == "integer" and "number" in kinds else kinds[0]
    if not values and fitting and fitting[0] is None:
        kind = "null"
    numbers = [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    different = {int(number) for number in numbers if number.is_integer()}
    coded = 3 < len(different) <= 8 and len(set(numbers)) == len(different) and max(numbers) <= 10
    tails = [len(str(v).rpartition(".")[2]) if "." in str(v) else 0 for v in values if isinstance(v, float)]
    positive = [number for number in numbers if number] or numbers
    return _PoolSummary(
        values=values,
        kind=kind,
        texts=[value for value in values if isinstance(value, str)],
        codes=sorted(different) if coded else [],
        positive=(min(positive), max(positive)) if positive else None,
        few=len(set(map(str, values))) < 3,
        decimals=0 if kind == "integer" else min(max(tails, default=1) or 1, 3),
    )


def make_value(name: str, shape: ResponseShape, pool: Sequence[object], rng: SeededRNG, now: datetime) -> object:
    """Make a value for a field that may stand at `shape`.

    Args:
        name: The field's name; it decides where there is no example.
        pool: The documented values, as often as they occur.
        rng: The randomness of this field of this entity.
    """
    if ("choices",) not in shape.cache:
        shape.cache["choices",] = (_enumeration(shape), _described_values(shape))
    choices, described = cast("tuple[list[object], list[object]]", shape.cache["choices",])
    if not choices and not pool and shape.types <= {"string", "null"}:
        choices = described
    if choices:
        return rng.choose(choices)
    key = ("summary", id(pool))
    if key not in shape.cache:
        shape.cache[key] = _summarize_pool(shape, pool)
    summary = cast("_PoolSummary", shape.cache[key])
    values, kind = summary.values, summary.kind
    if kind == "null":
        return None
    value: object
    if kind == "boolean":
        parts = set(words(name))
        usual = not parts & _USUALLY_FALSE if parts & (_USUALLY_FALSE | _USUALLY_TRUE) else None
        value = rng.choose(values) if values else usual if usual is not None else rng.below(2) == 1
    elif kind in {"integer", "number"}:
        value = _number(name, kind, shape, summary, rng, now)
    else:
        value = _text(name, shape, summary.texts, rng, now)
    if fits(value, shape):
        return value
    return next((v for v in (*values, *_fallbacks(shape, rng)) if fits(v, shape)), None if shape.nullable else value)


_ORDER = ("string", "integer", "number", "boolean", "null")


def _fallbacks(shape: ResponseShape, rng: SeededRNG) -> list[object]:
    low, high = _bound(shape.checks, "minimum"), _bound(shape.checks, "maximum")
    least = int(_bound(shape.checks, "minLength") or 1)
    most = int(_bound(shape.checks, "maxLength") or max(least, 12))
    text = "".join(rng.choose(string.ascii_lowercase) for _ in range(min(max(least, 1), most)))
    formed: list[object] = []
    for pattern in (str(check["pattern"]) for check in shape.checks if "pattern" in check):
        size = min(max(least, 2), most, 15)
        formed += [f"{text}@example.com"] if "@" in pattern else [str(rng.between(10 ** (size - 1), 10**size - 1))]
    return [*formed, low, low and int(low), high and int(high), text, text.upper(), 1, 0, 1.5, True, "", None]


def _number(
    name: str, kind: str, shape: ResponseShape, summary: _PoolSummary, rng: SeededRNG, now: datetime
) -> float | int:
    if summary.codes:
        return rng.choose(summary.codes)
    low, high = _bound(shape.checks, "minimum"), _bound(shape.checks, "maximum")
    if words(name)[-1:] == ("id",) and not summary.values and low is None and high is None and kind == "number":
        return rng.between(1_000, 9_999_999)
    parts = set(words(name))
    positive, decimals = summary.positive, summary.decimals
    if positive:
        floor, ceiling = positive
        if summary.few:
            floor, ceiling = _widened(floor, ceiling, parts, whole=decimals == 0)
    else:
        floor, ceiling = _range(parts, now)
    floor = max(floor, low) if low is not None else floor
    ceiling = min(ceiling, high) if high is not None else ceiling
    spread, value = rng.fraction(), 0.0
    if floor >= 0 and ceiling > 1000 * max(floor, 1):
        value = max(floor, 1.0) * float((ceiling / max(floor, 1.0)) ** spread)
    else:
        value = floor + (ceiling - floor) * spread
    return round(value) if decimals == 0 else round(value, decimals)


def _widened(floor: float, ceiling: float, parts: set[str], whole: bool) -> tuple[float, float]:
    """A plausible range around one or two examples, within the limits of the name."""
    if whole and floor >= 1800 and ceiling <= 2100:
        return floor - 30, ceiling + 5
    if floor < 0:
        return floor, ceiling
    top = 1.4 * ceiling
    if parts & {"rating", "average", "score", "vote", "stars"} and ceiling <= 10:
        top = min(top, 10 if ceiling > 5 else 5)
    elif parts & {"percent", "percentage", "humidity", "probability", "cover", "popularity"} and ceiling <= 100:
        top = min(top, 100)
    elif parts & {"angle", "direction", "degrees", "bearing"}:
        top = min(top, 359)
    return 0.6 * floor, top


_MOMENTS = frozenset("start end created updated modified expiry".split())


def _range(parts: set[str], now: datetime) -> tuple[float, float]:
    moment = now.timestamp() * 1000
    seconds = now.timestamp()
    if "at" in parts or ("time" in parts and parts & _MOMENTS):
        return seconds - 400 * 86_400, seconds
    shares = set() if "ms" in parts else {"percent", "percentage", "popularity", "score", "volume", "progress"}
    ranges: tuple[tuple[set[str], tuple[float, float]], ...] = (
        (shares, (5, 95)),
        ({"timestamp", "epoch"}, (moment, moment)),
        ({"year"}, (now.year - 40, now.year)),
        ({"rating", "stars", "average"}, (1, 5)),
        ({"lat", "latitude"}, (-60, 70)),
        ({"lon", "lng", "longitude"}, (-170, 170)),
        ({"ms", "milliseconds"}, (120_000, 330_000)),
        ({"price", "cost", "amount", "fee"}, (3, 120)),
        ({"followers", "likes", "views", "plays", "votes", "total", "count"}, (10, 9_000)),
        ({"minutes", "duration", "runtime", "length"}, (20, 180)),
        ({"width", "height", "size"}, (300, 640)),
        ({"disc", "chapter", "version"}, (1, 1)),
    )
    return next((limits for names, limits in ranges if parts & names), (1, 100))


def restyled(example: str, moment: datetime) -> str:
    """A moment in the form of an example."""
    match = _MOMENT.fullmatch(example)
    if match is None:
        return moment.strftime("%Y-%m-%d")
    text = moment.strftime("%Y-%m-%dT%H:%M") + (moment.strftime(":%S") if match[1] else "")
    fraction = "." + "0" * (len(match[2]) - 1) if match[2] else ""
    return text.replace("T", example[10]) + fraction + ("Z" if match[3] == "Z" else match[3] or "")


def _days(examples: list[str], rng: SeededRNG, now: datetime) -> datetime:
    days: list[date] = []
    for text in examples:
        with suppress(ValueError):
            days.append(date.fromisoformat(text[:10]))
    days.sort()
    if not days:
        return now
    first, last = days[0], days[-1]
    if (last - first).days < 400:
        first, last = first - timedelta(days=3650), min(last + timedelta(days=3650), max(last, now.date()))
    chosen = first + timedelta(days=rng.below((last - first).days + 1))
    return datetime(chosen.year, chosen.month, chosen.day, rng.below(24), rng.below(60))


def _text(name: str, shape: ResponseShape, examples: list[str], rng: SeededRNG, now: datetime) -> str:
    form = next((str(check["format"]) for check in shape.checks if "format" in check), "")
    parts = words(name)
    last = parts[-1] if parts else ""
    if form in {"date", "date-time"} or (examples and all(is_date(text) for text in examples)):
        dated = [text for text in examples if is_date(text)]
        example = dated[0] if dated else "2024-01-01" if form == "date" else "2024-01-01T00:00:00Z"
        if dated:
            return restyled(example, _days(dated, rng, now))
        back = timedelta(days=rng.below(400), minutes=rng.below(1440))
        return restyled(example, now.replace(tzinfo=None, microsecond=0) - back)
    if 0 < len(examples) < 6 and len(set(examples)) < 4 and (fresh := _novel_text(parts, examples, rng)):
        return fresh
    if examples:
        example = rng.choose(examples)
        if re.fullmatch(r"\d{4}(-\d{2})?", example) and last in {"date", "year"}:
            return str(rng.between(now.year - 40, now.year)) + example[4:]
        coded = last in {"id", "uuid", "key", "code", "path", "hash", "token"}
        if _FILE.match(example) or (_TOKEN.match(example) and (coded or len(set(examples)) == len(examples))):
            return mimic(example, rng)
        return example
    return _text_by_name(name, parts, last, form, rng, now)


def _novel_text(parts: tuple[str, ...], examples: list[str], rng: SeededRNG) -> str:
    """A new text where the document has too few that should differ: people, places, prose; else empty."""
    if set(parts) & _PLACES:
        return invented_words.place(rng) if rng.below(3) else ""
    if min(map(len, examples)) > 40 and " " in examples[0]:
        return invented_words.sentence(rng, 1 + rng.below(2)) if rng.below(4) or len(examples) == 1 else ""
    if set(parts) & _PERSONS and rng.below(4) and not set(parts) & {"id", "key", "department", "type"}:
        return invented_words.person(rng)
    if len(parts) > 1 and parts[-1] == "name" and invented_words.is_venue(parts[0]) and rng.below(4):
        return invented_words.invent_name(parts[0], rng)
    return ""


def _text_by_name(name: str, parts: tuple[str, ...], last: str, form: str, rng: SeededRNG, now: datetime) -> str:
    last = singular(last)
    if form == "uuid" or last in {"uuid", "guid"}:
        return mimic("4f1c9a7e-8b2d-4c3e-9f60-1a2b3c4d5e6f", rng)
    if form == "email" or last == "email":
        return invented_words.person(rng).lower().replace(" ", ".") + "@example.com"
    if form in {"uri", "url"} or last in {"url", "uri", "link", "href", "homepage", "website"}:
        return f"https://example.com/{slug(invented_words.title(rng))}"
    if form.endswith("rfc-2822"):
        return format_datetime((now - timedelta(minutes=rng.below(500_000))).astimezone(UTC))
    if last in {"date", "birthday", "day"} or form == "date":
        return (now - timedelta(days=rng.below(9000))).strftime("%Y-%m-%d")
    if last in {"at", "timestamp", "time", "heartbeat"} or (len(parts) > 1 and last == "on"):
        return (now - timedelta(minutes=rng.below(500_000))).strftime("%Y-%m-%dT%H:%M:%SZ")
    if _PROSE & set(parts):
        return invented_words.sentence(rng, 2)
    if last in {"country", "region", "market"}:
        return invented_words.country(rng)
    if last in {"language", "locale", "lang"}:
        return rng.choose(_LANGUAGES)
    if last in {"city", "place", "town"}:
        return invented_words.city(rng)
    if (last in {"name", "title"} and len(parts) > 1) or last in _MAKERS:
        return invented_words.invent_name(parts[0], rng)
    if last in {"name", "title", "label"}:
        return invented_words.title(rng)
    if last in {"id", "code", "key", "token", "isrc", "upc", "ean", "ref", "number"}:
        return "".join(rng.choose("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(12))
    if last in {"quantity", "amount", "price", "size", "count"}:
        return str(rng.between(1, 60))
    return invented_words.title(rng).lower() if last not in {"type", "status", "state"} else "standard"


def number(value: object) -> float | None:
    """The finite number in a value, also in a text."""
    try:
        plain = float(cast("str", value)) if value is not None else math.nan
    except (TypeError, ValueError, OverflowError):
        return None
    return plain if math.isfinite(plain) else None


def leading_number(value: object) -> float | None:
    """The number at the start of a value: `12g` is 12."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    match = re.match(r"\s*(-?\d+(?:\.\d+)?)", str(value))
    return float(match[1]) if match else None
