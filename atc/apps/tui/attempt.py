"""An attempt on a screen: its program or the diff to the one before, its calls, its fault and the tool to blame.

A program has line numbers, colours, and a mark at one line; a revision shows the lines that changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from atc.apps.tui.parts import ATTRIBUTION_REASONS, attribution_text, call_row, fault_text
from atc.fault import Attribution, Fault
from protocols.quoting import visible
from sandbox.records import CallRecord

__all__ = ["attempt_parts", "program_code", "revision_code", "revision_lines", "revision_reason"]

CONTEXT = 3
"""Unchanged lines shown on either side of a change in a long program."""

WHOLE = 30
"""Lines of a program up to which all unchanged ones are shown."""

LEAST_SHARED = 0.3
"""Of two programs that share less the second is shown alone."""

_MOST_PAIRS = 4_000_000
"""Pairs of lines that are compared: two programs of 2,000 lines take a second at worst."""


def program_code(program: str, marked: int | None = None, lines: tuple[int, int] | None = None) -> RenderableType:
    """The program with line numbers and colours; the marked line has a sign that is visible without colours too.

    `lines` are the first and last line to show, from 1; each then takes one line of the terminal, cut at its edge.
    """
    return Syntax(
        visible(program).rstrip("\n"),
        "python",
        theme="ansi_dark",
        background_color="default",
        line_numbers=True,
        highlight_lines={marked} if marked is not None else set(),
        line_range=lines,
        word_wrap=lines is None,
    )


def revision_lines(before: str, after: str) -> list[str]:
    """The diff of two programs; of a long one with `@@` and line numbers in the place of what stayed.

    A program that has little in common with the one before it, or is the same, comes without signs.
    """
    old, new = (visible(program).rstrip("\n").split("\n") for program in (before, after))
    if old == new or len(old) * len(new) > _MOST_PAIRS:
        return new
    if SequenceMatcher(None, old, new, autojunk=False).ratio() < LEAST_SHARED:
        return new
    is_long = len(new) > WHOLE
    diff = list(unified_diff(old, new, n=CONTEXT if is_long else len(old) + len(new), lineterm=""))
    return [line if line.startswith("@@") else f"{line[0]} {line[1:]}".rstrip() for line in diff[2 if is_long else 3 :]]


def revision_code(before: str, after: str, failed: int | None = None) -> RenderableType:
    """The same with colours; a program that stands alone as in `program_code`, with a mark at the failing line."""
    lines = revision_lines(before, after)
    if lines == visible(after).rstrip("\n").split("\n"):
        return program_code(after, failed)
    return Syntax("\n".join(lines), "diff", theme="ansi_dark", background_color="default", word_wrap=True)


@dataclass(frozen=True, slots=True)
class _Heading:
    """A rule with a title; where the title does not fit, the title alone, since a rule would cut it."""

    title: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        fits = self.title.cell_len + 2 <= options.max_width
        yield Rule(self.title, style="dim", align="left") if fits else self.title


def attempt_parts(
    number: int,
    program: str,
    calls: Sequence[CallRecord],
    output: str,
    fault: Fault | None,
    attribution: Attribution | None,
    *,
    before: str = "",
    reason: str = "",
) -> list[RenderableType]:
    """An attempt from its heading to the tool to blame.

    Args:
        number: From 1.
        program: Empty where the model wrote none; then there is only the fault.
        output: Shown where the attempt failed; of one that answered it is the answer.
        before: The failed program that this one revises; then it is shown as a diff.
        reason: What this one was revised for; see `revision_reason`.
    """
    parts: list[RenderableType] = []
    if program:
        failed = fault.line if fault else None
        title = Text(f"program {number}")
        title.append(f" · {reason}" if reason else "", style="yellow")
        parts.append(_Heading(title))
        parts.append(revision_code(before, program, failed) if before else program_code(program, failed))
        parts += map(call_row, calls)
        if fault and output.strip():
            parts.append(Text(visible(output).rstrip("\n"), style="dim"))
    if fault:
        parts.append(Text(f"✗ {fault_text(fault)}", style="red"))
    if attribution and (blamed := attribution_text(attribution)):
        parts.append(Text(f"  {blamed}", style="yellow"))
    return parts


def revision_reason(attribution: Attribution | None) -> str:
    """Why the program after a failed one differs: the tool to blame; empty without one."""
    if attribution is None or attribution.tool is None:
        return ""
    return f"after {visible(attribution.tool)}: {ATTRIBUTION_REASONS[attribution.how]}"
