"""Words for objects, places and questions, understood from the scene by patterns, without a model.

In the original these are programs that a model writes on demand; here the same phrases always mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from benchmarks.manipulation.tabletop.scene import (
    ANCHORS,
    COLOURS,
    CORNERS,
    MIDDLE,
    SIDES,
    Point,
    Scene,
    along,
    distance,
    polygon,
)

__all__ = ["Phrases", "in_direction"]

DIRECTIONS: dict[str, Point] = {"left": (-1.0, 0.0), "right": (1.0, 0.0), "top": (0.0, 1.0), "bottom": (0.0, -1.0)}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
NEAR = 0.1
"""How far "to the left of" is where no distance is said."""
_SYNONYMS: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"\bcent(er|re)\b": "middle",
    r"\b(closest|nearest|farthest|furthest) (blocks?|bowls?|objects?|corners?|sides?) (to|from)\b": r"\2 \1 \3",
    r"\b(nearest|closest)( to)?\b": "closest to",
    r"\b(farthest|furthest)( (from|to|away from))?\b": "farthest from",
    r"\b(over|above|north of|to the top of|at the top of)\b": "above",
    r"\b(under|below|beneath|south of|to the bottom of|at the bottom of)\b": "below",
    r"\bupper\b": "top",
    r"\blower\b": "bottom",
    r"\b(left|right)most\b": r"\1-most",
    r"\btopmost\b": "top-most",
    r"\bbottommost\b": "bottom-most",
    r"\bother (blocks?|bowls?|objects?) than\b": r"\1 other than",
    r"\b(blocks?|bowls?|objects?) (?:on|at) the (?:far |very )?(left|right|top|bottom)$": r"\2-most \1",
    rf"\b({'|'.join(COLOURS)}) (one)(s?)\b": r"\1 block\3",
    r"\bcolor\b": "colour",
    r"\bedge\b": "side",
    r"\b(that|which) (are|is)\b": "",
    r"\b(except|besides|but|apart from)( for)?\b": "other than",
    r"\b(1st|2nd|3rd|4th)\b": lambda match: ORDINALS[int(match[1][0]) - 1],
}
_RELATION = r"(?:(?:to |on )?the (left|right) (?:side )?of|(?:(left|right) of)|(above|below))"
_VERTICAL = {"above": "top", "below": "bottom"}
_LENGTH = r"(\d+(?:\.\d+)?) ?(cm|m|mm|centimet(?:er|re)s?|met(?:er|re)s?)"
_SCALE = {"m": 1.0, "c": 0.01, "mm": 0.001}


def in_direction(place: Sequence[float], origin: Sequence[float], direction: str) -> bool:
    """Whether a point lies left, right, top or bottom of another one, however far beside it."""
    x, y = DIRECTIONS[direction]
    return (place[0] - origin[0]) * x + (place[1] - origin[1]) * y > 0


def _plain(text: str) -> str:
    text = re.sub(r"\s+", " ", text.lower().strip().rstrip(".?!"))
    for pattern, word in _SYNONYMS.items():
        text = re.sub(pattern, word, text)
    text = re.sub(r"\bof the table\b|\bon the table\b", "", text)
    return re.sub(r"\s+", " ", text).strip()


def _metres(number: str, unit: str) -> float:
    return float(number) * _SCALE["mm" if unit == "mm" else unit[0]]


def _direction(match: re.Match[str], first: int = 1) -> str:
    word = next(group for group in match.groups()[first - 1 : first + 2] if group)
    return _VERTICAL.get(word, word)


class _NotUnderstoodError(Exception):
    """A part of a phrase means nothing on this table; another pattern may fit."""


@contextmanager
def _understood(message: str) -> Iterator[None]:
    """Say what is not understood, and how to say it. Raises: ValueError."""
    try:
        yield
    except _NotUnderstoodError:
        raise ValueError(message) from None


class Phrases:
    """Finds what is meant by a phrase in a scene.

    Objects: a name; `the blocks`; `the red and blue blocks`; `the block closest to X`; `the blocks to the left of X`;
    `the second block from the left`; `the leftmost bowl`; `the blocks from left to right`; `the blocks other than X`;
    `the bowl with the same colour as X`. Places: a corner, a side, the middle; `the corners`; `the
    corner closest to X`; `10 cm to the left of X`; `between X and Y`; `a horizontal line of 4 points`; `a triangle of
    size 20 cm around X`; an object.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def objects(self, text: str) -> str | list[str]:
        """The name that a phrase in the singular means, or the list of a phrase in the plural.

        Raises: ValueError: The phrase is not understood, or nothing is meant by it in the singular.
        """
        with _understood(f"no object is understood by {text!r}; say it like: the block closest to the red bowl"):
            return self._objects(_plain(text))

    def position(self, text: str) -> Any:
        """A point, or the list of points of a phrase in the plural, a line or a shape.

        Raises: ValueError: The phrase is not understood.
        """
        with _understood(f"no place is understood by {text!r}; say it like: 10 cm to the left of the red bowl"):
            return self._position(_plain(text))

    def answer(self, text: str) -> Any:
        """The answer to a question: how many objects there are, or whether one lies beside another one.

        Raises: ValueError: The question is not understood.
        """
        with _understood(f"{text!r} is not understood; ask like: how many blocks are to the left of the red bowl?"):
            return self._read(_QUESTIONS, _plain(text))

    def _read(self, patterns: Sequence[tuple[str, _Find]], text: str) -> Any:
        """What the first pattern finds that understands all parts of a phrase."""
        for pattern, find in patterns:
            if match := re.fullmatch(pattern, text):
                with suppress(_NotUnderstoodError):
                    return find(self, match)
        raise _NotUnderstoodError

    def _objects(self, text: str) -> str | list[str]:
        text = re.sub(r"^(all of |all |both |any of |any )?(the |a |an |its )?", "", text).strip()
        names: str | list[str] = text if text in self._scene.names else self._read(_OBJECTS, text)
        return names

    def _kind(self, noun: str) -> list[str]:
        word = noun.removesuffix("s")
        return [name for name in self._scene.names if word in ("object", "thing") or name.endswith(word)]

    def _chosen(self, noun: str, names: list[str]) -> str | list[str]:
        """All, where the noun is in the plural; else the first."""
        if noun.endswith("s"):
            return names
        if not names:
            raise ValueError(f"there is no such {noun} on the table; there are {', '.join(self._scene.names)}")
        return names[0]

    def _point(self, name: str) -> Point:
        return self._scene.place(name).point

    def _coloured(self, match: re.Match[str]) -> str | list[str]:
        colours = re.findall(r"[a-z]+", re.sub(r"\band\b", " ", match[1]))
        if not set(colours) <= set(COLOURS):
            raise _NotUnderstoodError
        names = [f"{colour} {match[2].removesuffix('s')}" for colour in colours]
        for name in names:
            self._scene.place(name)
        return names if match[2].endswith("s") else names[0]

    def _every(self, match: re.Match[str]) -> list[str]:
        return [name for noun in re.findall(r"blocks|bowls|objects|things", match[0]) for name in self._kind(noun)]

    def _extreme(self, match: re.Match[str]) -> str | list[str]:
        """`block closest to X`, and `blocks closest to X`, then in the order of their distance."""
        noun, word, text = match.groups()
        point = self._near(text)
        names = [name for name in self._kind(noun) if name != text.removeprefix("the ")]
        names.sort(key=lambda name: distance(self._point(name), point), reverse=word == "farthest from")
        return self._chosen(noun, names)

    def _beside(self, match: re.Match[str]) -> str | list[str]:
        """`blocks to the left of X`, the nearest first."""
        point, direction = self._near(match[5]), _direction(match, 2)
        names = [name for name in self._kind(match[1]) if in_direction(self._point(name), point, direction)]
        return self._chosen(match[1], sorted(names, key=lambda name: distance(self._point(name), point)))

    def _sorted(self, noun: str, direction: str) -> list[str]:
        """From the direction on: those that are farthest to it come first."""
        x, y = DIRECTIONS[direction]
        return sorted(self._kind(noun), key=lambda name: -(self._point(name)[0] * x + self._point(name)[1] * y))

    def _ordinal(self, match: re.Match[str]) -> str:
        number, noun = ORDINALS.index(match[1]) + 1, match[2]
        names = self._sorted(noun, match[3])
        if number > len(names):
            raise ValueError(f"there are only {len(names)} {noun}s on the table")
        return names[number - 1]

    def _most(self, match: re.Match[str]) -> str | list[str]:
        return self._chosen(match[2], self._sorted(match[2], match[1]))

    def _ordered(self, match: re.Match[str]) -> list[str]:
        return self._sorted(match[1], match[2])

    def _others(self, match: re.Match[str]) -> str | list[str]:
        left_out = _listed(self._objects(match[2]))
        return self._chosen(match[1], [name for name in self._kind(match[1]) if name not in left_out])

    def _colour_of(self, match: re.Match[str]) -> str | list[str]:
        name = self._objects(match[3])
        if not isinstance(name, str):
            raise _NotUnderstoodError
        equal, colour = match[2] in ("same", "matching"), name.split(" ")[0]
        names = [other for other in self._kind(match[1]) if other != name and other.startswith(colour) is equal]
        return self._chosen(match[1], names)

    def _several(self, match: re.Match[str]) -> list[str]:
        parts = re.split(r", and | and |, ?", match[0])
        return [name for part in parts for name in _listed(self._objects(part))]

    def _position(self, text: str) -> Any:
        text = re.sub(
            r"^(at |in |on |to )?(all |a |an )?(the )?(point |place |position |spot |two |three |four )?", "", text
        )
        for name in (text, f"{text} corner", f"{text} side"):
            if name in ANCHORS:
                return list(ANCHORS[name])
        with suppress(_NotUnderstoodError):
            return self._read(_POSITIONS, text)
        names = self._objects(text)
        return list(self._point(names)) if isinstance(names, str) else [list(self._point(name)) for name in names]

    def _near(self, text: str | None) -> Point:
        """The point that a part of a phrase means; the middle where it is left out."""
        if not text:
            return MIDDLE
        point = self._position(text.strip())
        if not point or isinstance(point[0], list):
            raise _NotUnderstoodError
        return point[0], point[1]

    def _anchor(self, match: re.Match[str]) -> list[Any]:
        """`corner closest to X`; the plural has all, in the order of their distance."""
        noun, word, text = match.groups()
        anchors = list((CORNERS if noun.startswith("corner") else SIDES).values())
        point = self._near(text)
        if word:
            anchors.sort(key=lambda anchor: distance(anchor, point), reverse=word == "farthest from")
        return [list(anchor) for anchor in anchors] if noun.endswith("s") else list(anchors[0])

    def _shifted(self, match: re.Match[str]) -> list[float]:
        point = self._near(match[6])
        length = _metres(match[1], match[2]) if match[1] else NEAR
        x, y = DIRECTIONS[_direction(match, 3)]
        return [point[0] + x * length, point[1] + y * length]

    def _between(self, match: re.Match[str]) -> list[float]:
        return along(self._near(match[1]), self._near(match[2]), 3)[1]

    def _line(self, match: re.Match[str]) -> list[list[float]]:
        """From side to side, or with a length and around a point."""
        kind, count, length, unit, text = match.groups()
        centre = self._near(text)
        half = _metres(length, unit) / 2 if length else 0.25
        x, y = {"horizontal": (half, 0.0), "vertical": (0.0, half), "diagonal": (half, half)}[kind]
        return along((centre[0] - x, centre[1] - y), (centre[0] + x, centre[1] + y), int(count or 2))

    def _shape(self, match: re.Match[str]) -> list[list[float]]:
        corners = {"triangle": 3, "square": 4, "pentagon": 5, "hexagon": 6, "circle": 8}[match[1]]
        return polygon(self._near(match[4]), _metres(match[2] or "20", match[3] or "cm"), corners)

    def _number(self, match: re.Match[str]) -> int:
        return len(_listed(self._objects(re.sub(r" (are|is)( there)?\b", "", match[1]).strip())))

    def _is_beside(self, match: re.Match[str]) -> bool:
        return in_direction(self._near(match[1]), self._near(match[5]), _direction(match, 2))


def _listed(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


_Find = Callable[[Phrases, re.Match[str]], Any]
_NOUN = r"(blocks?|bowls?|objects?|things?)"

_OBJECTS: tuple[tuple[str, _Find], ...] = (
    (r"(.+) (blocks?|bowls?)", Phrases._coloured),
    (r"(blocks|bowls|objects|things)( and (the )?(blocks|bowls))?", Phrases._every),
    (rf"{_NOUN} (closest to|farthest from) (.+)", Phrases._extreme),
    (rf"{_NOUN} {_RELATION} (.+)", Phrases._beside),
    (rf"({'|'.join(ORDINALS)}) (block|bowl|object) from the (left|right|top|bottom)", Phrases._ordinal),
    (rf"(left|right|top|bottom)-most {_NOUN}", Phrases._most),
    (rf"{_NOUN} (?:sorted |ordered )?from (?:the )?(left|right|top|bottom) to .+", Phrases._ordered),
    (rf"(?:other )?{_NOUN} other than (.+)", Phrases._others),
    (
        rf"{_NOUN} (?:with|of|in) (?:the |a )?(same|matching|different|other) colour (?:as|than|from|of|to) (.+)",
        Phrases._colour_of,
    ),
    (r".+(?:,| and ).+", Phrases._several),
)
_POSITIONS: tuple[tuple[str, _Find], ...] = (
    (r"(?:different )?(corners?|sides?)(?: (closest to|farthest from) (.+))?", Phrases._anchor),
    (rf"(?:{_LENGTH} )?{_RELATION} (.+)", Phrases._shifted),
    (r"(?:mid-?way |half-? ?way |in the middle )?between (.+) and (.+)", Phrases._between),
    (
        r"(horizontal|vertical|diagonal) line(?: (?:of|with) (\d+) points)?"
        rf"(?: (?:of length |of |that is )?{_LENGTH}(?: long)?)?(?: (?:in|through|around|at|centred at) (.+))?",
        Phrases._line,
    ),
    (
        rf"(triangle|square|pentagon|hexagon|circle)(?: (?:of|with)(?: a)? size {_LENGTH})?(?: (?:in|around|at) (.+))?",
        Phrases._shape,
    ),
)
_QUESTIONS: tuple[tuple[str, _Find], ...] = (
    (r"(?:how many|what is the number of) (.+)", Phrases._number),
    (rf"is (.+?) {_RELATION} (.+)", Phrases._is_beside),
)
