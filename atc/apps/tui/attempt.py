"""An attempt on a screen: its program or the diff to the one before, its calls, its fault and the tool to blame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.rule import Rule
from rich.text import Text

from atc.apps.tui.code import program_code, revision_code
from atc.apps.tui.parts import ATTRIBUTION_REASONS, attribution_text, call_row, fault_text
from atc.fault import Attribution, Fault
from protocols.quoting import visible
from sandbox.records import CallRecord

__all__ = ["attempt_parts", "revision_reason"]


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
