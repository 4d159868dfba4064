"""Record a solve in a real terminal as an animated SVG: `python docs/recording.py`.

The service is the shop of `docs/examples/shop.yaml` on this machine, and the model's answers are those of a recorded
strong model. The service takes smaller pages than its document says, so the first call fails.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import pexpect
import pyte

from atc.files import write_text
from tests.front_door.pages import recorded_endpoint
from tests.shop import TOKEN, serving_shop

__all__ = ["Frame", "drawn", "filmed", "recorded"]

DOCS = Path(__file__).resolve().parent
QUESTION = "Refund what Ewa Nowak paid in March for orders that were not shipped: out of stock."
SHOWN = f'$ atc solve "{QUESTION}"'
OPTIONS = ["--api", "openapi.yaml", "--auth", "bearer:env:SHOP_TOKEN", "--model", "openai:recorded"]
COLUMNS, LINES, WINDOW = 112, 120, 46
"""Of the terminal, which is high enough that nothing scrolls off; the picture shows the lines up to the last one."""
COLOURS = {"black": "#9ca3af", "red": "#f87171", "green": "#4ade80", "brown": "#facc15", "blue": "#60a5fa"}
COLOURS |= {"magenta": "#c084fc", "cyan": "#22d3ee", "white": "#e5e7eb", "default": "#d1d5db"}
SHORTEST, LONGEST, LAST = 0.9, 2.0, 4.0
"""Seconds that a screen stands: at least, so that it can be read; at most; and the last one."""

_Part = tuple[str, str, bool]
"""A text of one colour, its colour, and whether it is bold."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A screen, line by line, and the seconds that it stands."""

    lines: tuple[tuple[_Part, ...], ...]
    seconds: float


def filmed(command: Sequence[str], folder: Path, env: dict[str, str]) -> Iterator[Frame]:
    """Run a command on a terminal, say yes where it asks, and yield each screen that stood for a moment."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    stream.feed(f"{SHOWN}\r\n".encode())
    child = pexpect.spawn(
        command[0], list(command[1:]), cwd=str(folder), env=env, dimensions=(LINES, COLUMNS), timeout=60
    )
    since, running, answered = time.monotonic(), True, False
    while running:
        before = _lines(screen)
        try:
            stream.feed(child.read_nonblocking(65536, timeout=0.25))
        except pexpect.TIMEOUT:
            pass
        except pexpect.EOF:
            running = False
        word = re.search(r"Type (\w+) for yes", "\n".join(screen.display))
        if (now := _lines(screen)) != before:
            stood = time.monotonic() - since
            if stood > 0.3:
                yield Frame(before, min(max(stood, SHORTEST), LONGEST))
            since = time.monotonic()
        elif word and not answered:
            answered = True
            yield Frame(now, LONGEST)
            child.send(f"{word[1]}\r")
    child.wait()
    child.close()
    yield Frame(_lines(screen), LAST)


def _lines(screen: pyte.Screen) -> tuple[tuple[_Part, ...], ...]:
    last = max((row for row, line in enumerate(screen.display) if line.strip()), default=0)
    first = max(0, last + 1 - WINDOW)
    rows = ([screen.buffer[row][column] for column in range(COLUMNS)] for row in range(first, last + 1))
    return tuple(
        tuple(
            (
                "".join(cell.data for cell in cells),
                COLOURS.get(colour.removeprefix("bright"), f"#{colour}"),
                bold,
            )
            for (colour, bold), cells in groupby(row, lambda cell: (cell.fg, cell.bold))
        )
        for row in rows
    )


def drawn(frames: Sequence[Frame]) -> str:
    """The frames as one SVG that plays them again and again."""
    width, height, total = COLUMNS * 8.43 + 24, WINDOW * 18 + 24, sum(frame.seconds for frame in frames)
    styles, groups, start = [], [], 0.0
    for number, frame in enumerate(frames):
        begin, end = (f"{100 * moment / total:.2f}%" for moment in (start, start + frame.seconds))
        hidden = "" if number == len(frames) - 1 else f"{end}{{visibility:hidden}}"
        first = "" if number == 0 else "0%{visibility:hidden}"
        styles.append(f"@keyframes f{number}{{{first}{begin}{{visibility:visible}}{hidden}}}")
        rows = "".join(_row(row, parts) for row, parts in enumerate(frame.lines))
        groups.append(f'<g style="animation:f{number} {total:.1f}s step-end infinite">{rows}</g>')
        start += frame.seconds
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">'
        f"<title>{escape(SHOWN)}</title><style>text{{font:14px/18px ui-monospace,Menlo,Consolas,monospace;"
        f"white-space:pre}}g{{visibility:hidden}}{''.join(styles)}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="#111827"/>\n' + "\n".join(groups) + "\n</svg>\n"
    )


def _row(row: int, parts: Sequence[_Part]) -> str:
    spans, column = [], 0
    for text, colour, bold in parts:
        if text.strip():
            weight = ' font-weight="bold"' if bold else ""
            length = f'textLength="{len(text.rstrip()) * 8.43:.1f}"'
            spans.append(
                f'<text x="{12 + column * 8.43:.1f}" y="{28 + row * 18}" fill="{colour}" {length}{weight}>'
                f"{escape(text.rstrip())}</text>"
            )
        column += len(text)
    return "".join(spans)


def recorded() -> str:
    """The question answered on a terminal, as an animated SVG."""
    with TemporaryDirectory() as name, serving_shop(Path(name)), recorded_endpoint(pause=2.0) as url:
        command = [str(Path(sys.executable).with_name("atc")), "solve", QUESTION, *OPTIONS]
        env = {"PATH": "/usr/bin:/bin", "SHOP_TOKEN": TOKEN, "TERM": "xterm-256color", "HOME": name, "LANG": "C.UTF-8"}
        env |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "PYTHONPATH": str(DOCS.parent)}
        return drawn(list(filmed(command, Path(name), env)))


if __name__ == "__main__":
    write_text(DOCS / "recording.svg", recorded())
