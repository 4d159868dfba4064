"""Show a program with line numbers, colours, and a mark at one line; the lines of a diff have signs besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.syntax import Syntax
from rich.text import Text

from atc.apps.tui.text import visible

__all__ = ["NumberedLine", "NumberedLines", "highlighted_lines", "program_code"]

_SYNTAX = Syntax("", "python", theme="ansi_dark", background_color="default")


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line of a listing. `number` is None for one that is not in the program; `sign` is that of a diff."""

    text: Text
    number: int | None = None
    sign: str = ""
    style: str = ""


@dataclass(frozen=True)
class NumberedLines:
    """A listing that is drawn for the width that it is given; `marked` is the number of a line with a mark.

    Long lines are wrapped, or cut at the edge with `cut`.
    """

    lines: Sequence[NumberedLine]
    marked: int | None = None
    cut: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        digits = max((len(str(line.number)) for line in self.lines if line.number is not None), default=1)
        for line in self.lines:
            mark = "❱ " if line.number is not None and line.number == self.marked else "  "
            number = ("" if line.number is None else str(line.number)).rjust(digits)
            sign = f"{line.sign} " if line.sign else ""
            gutter = Text.assemble((mark, "bold red"), (f"{number} ", "dim"), (sign, line.style), end="")
            width = max(options.max_width - gutter.cell_len, 1)
            if self.cut:
                code = line.text.copy()
                code.truncate(width, overflow="ellipsis")
                yield Text.assemble(gutter, code, no_wrap=True, overflow="crop")
            else:
                first, *rest = line.text.wrap(console, width, overflow="fold") or [Text()]
                yield Text.assemble(gutter, first)
                yield from (Text.assemble(" " * gutter.cell_len, text) for text in rest)


def program_code(program: str, marked: int | None = None, lines: tuple[int, int] | None = None) -> RenderableType:
    """The program with line numbers and colours; the marked line has a sign that is visible without colours too.

    `lines` are the first and last line to show, from 1; each then takes one line of the terminal, cut at its edge, and
    a further line says how many come after them.
    """
    texts = visible(program).rstrip("\n").split("\n")
    first, last = lines or (1, len(texts))
    shown = highlighted_lines("\n".join(texts[first - 1 : last]))
    code = NumberedLines([NumberedLine(text, first + place) for place, text in enumerate(shown)], marked, bool(lines))
    if last < len(texts):
        rest = Text(f"  … {len(texts) - last} more lines", style="dim", no_wrap=True, overflow="ellipsis")
        return Group(code, rest)
    return code


@lru_cache(maxsize=8)
def highlighted_lines(program: str) -> tuple[Text, ...]:
    """The lines of Python text with colours; a reader must not change them."""
    code = _SYNTAX.highlight(visible(program).rstrip("\n"))
    code.right_crop(1)  # the line end that the highlighter adds
    code.expand_tabs(4)
    return tuple(Text(line.plain, spans=line.spans) for line in code.split("\n", allow_blank=True))
