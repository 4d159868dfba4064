"""Looks at a program before it is run: what is wrong in any case costs no call."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from atc.check import Diagnostic, apply_edits, check, fix_syntax
from atc.check.autofix.accumulated_entries import with_entry_key
from atc.fault import Attribution, Fault
from atc.program.source import parsed
from protocols.contracts.contract import Contract
from protocols.dataflow.graph import ProtocolGraph
from sandbox.sandbox import snippet

__all__ = ["Precheck", "fault_of"]

_MENDINGS = 5
"""Rounds of mending; a name that is put right may show what else is wrong."""
_RULES = {
    "syntax": "SyntaxError",
    "unknown-tool": "NameError",
    "unknown-name": "NameError",
    "possibly-unbound": "NameError",
    "unknown-key": "KeyError",
    "unsaid-name": "ValueError",
}
"""What Python would say of a diagnostic, in a word that every model knows; of the others, TypeError."""


class Precheck:
    """Holds back what would fail.

    Args:
        contract: What is known of the responses; asked for each time, for runs add to it.
        tools: The functions that a program may call.
        query: The question: what it says need not come from a call.
        examples: The worked examples that the model was shown; it may take their variables for set.
        elsewhere: Whether programs may reach services that the document does not know.
    """

    def __init__(
        self,
        graph: ProtocolGraph,
        contract: Callable[[], Contract],
        tools: Sequence[str],
        query: str,
        examples: Sequence[str],
        elsewhere: bool,
    ) -> None:
        self._graph = graph
        self._contract = contract
        self._tools = tools
        self._query = query
        self._examples = examples
        self._ignored_rules = {"syntax", "unknown-url"} if elsewhere else {"syntax"}
        self._reported: set[tuple[str, str]] = set()

    def diagnose(self, program: str) -> list[Diagnostic]:
        """What is wrong with a program, without what was told before: the document may be the one that is wrong.

        What can be put right is looked at again, for then nobody need be told.
        """
        diagnostics = check(program, self._contract(), self._tools, self._query, self._graph)
        ignored = self._ignored_rules if fix_syntax(program) is None else self._ignored_rules - {"syntax"}
        return [
            diagnostic
            for diagnostic in diagnostics
            if (diagnostic.edit is not None or self._is_unreported(diagnostic)) and diagnostic.rule not in ignored
        ]

    def all_reported(self, diagnostics: Sequence[Diagnostic]) -> bool:
        """Whether the model was told all of it before."""
        return not any(map(self._is_unreported, diagnostics))

    def _is_unreported(self, diagnostic: Diagnostic) -> bool:
        return (diagnostic.rule, diagnostic.message) not in self._reported

    def mark_reported(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Remember what the model is told; that a program would write to what somebody made up is told each time."""
        self._reported.update(
            (diagnostic.rule, diagnostic.message) for diagnostic in diagnostics if not self._is_harmful(diagnostic)
        )

    def fix(self, program: str, diagnostics: Sequence[Diagnostic]) -> str | None:
        """The program with all that is wrong put right, and what shows only then; None where that needs the model."""
        better = self._fixed(program, diagnostics)
        return self.fixed(better) if better is not None else None

    def fixed(self, program: str) -> str | None:
        """A program with which nothing is wrong, or all of it put right; None where that needs the model."""
        better: str | None = program
        for _ in range(_MENDINGS):
            diagnostics = self.diagnose(better) if better is not None else []
            if better is None or not diagnostics:
                return better
            better = self._fixed(better, diagnostics)
        return None

    def partly_fixed(self, program: str) -> str:
        """A program with all of it put right that can be, so that the model is left with the rest."""
        for _ in range(_MENDINGS):
            fixable = [diagnostic for diagnostic in self.diagnose(program) if diagnostic.edit is not None]
            better = apply_edits(program, fixable) if fixable else None
            if better is None or parsed(better) is None:
                break
            program = better
        return program

    def _fixed(self, program: str, diagnostics: Sequence[Diagnostic]) -> str | None:
        return (
            apply_edits(program, diagnostics)
            or self.completed(program, diagnostics)
            or self.with_missing_key(program, diagnostics)
        )

    def with_missing_key(self, program: str, diagnostics: Sequence[Diagnostic]) -> str | None:
        """The program with what the entries of its own list lack, where it holds that, or a worked example gets it.

        None where that is not the first of what cannot be put right otherwise.
        """
        first = next((diagnostic for diagnostic in diagnostics if diagnostic.edit is None), diagnostics[0])
        if first.rule != "unknown-key" or first.tool is not None or first.key is None:
            return None
        if re.search(rf"^\s*{re.escape(first.key)} = ", program, re.MULTILINE):
            return with_entry_key(program, first.key, None)
        for example in self._examples:
            for line in example.split("\n"):
                called = [name for name in self._tools if f"{name}(" in line]
                reads = set(re.findall(r"\b([a-z_]\w*)\[", line))
                harmless = called and not any(self._graph.protocol.tool(name).writes for name in called)
                all_set = all(f"{name} = " in program for name in reads)
                if harmless and all_set and line.strip().startswith(f"{first.key} = "):
                    return with_entry_key(program, first.key, line)
        return None

    def completed(self, program: str, diagnostics: Sequence[Diagnostic]) -> str | None:
        """The program without the slips that kept it from being Python, or after the lines of a worked example that
        set the names which it takes as set.

        None where they say nothing of the first one, or leave to the question what they look for.
        """
        if diagnostics[0].rule == "syntax":
            return fix_syntax(program)
        sets = [self.sketch_lines(diagnostic) for diagnostic in diagnostics]
        if not sets[0] or any("…" in line for lines in sets for line in lines):
            return None
        lines = list(dict.fromkeys(line for lines in sets for line in lines))
        return "\n".join([*lines, *(line for line in program.split("\n") if line not in lines)])

    def sketch_lines(self, first: Diagnostic) -> list[str]:
        """The line of a worked example that sets a name that is not defined, and those that it needs.

        None where one of them writes: what the model did not write is nobody's wish.
        """
        if first.rule != "unknown-name":
            return []
        for example in self._examples:
            lines = example.split("\n")
            places = [place for place, line in enumerate(lines) if line.startswith(f"{first.key} = ")]
            needed = _needed(lines[: places[0] + 1]) if places else []
            called = [name for name in self._tools if any(f"{name}(" in line for line in needed)]
            if needed and not any(self._graph.protocol.tool(name).writes for name in called):
                return needed
        return []

    def any_harmful(self, diagnostics: Sequence[Diagnostic]) -> bool:
        """Whether a program would write to what somebody made up."""
        return any(map(self._is_harmful, diagnostics))

    def _is_harmful(self, diagnostic: Diagnostic) -> bool:
        hallucinated_identifiers = diagnostic.rule == "made-up-identifier" and diagnostic.tool is not None
        return hallucinated_identifiers and self._graph.protocol.tool(diagnostic.tool or "").writes


def _needed(lines: Sequence[str]) -> list[str]:
    """The last of some lines, and those before it that set what it reads."""
    needed: list[str] = []
    read = {lines[-1].partition(" = ")[0]}
    for line in reversed(lines):
        name, _, value = line.partition(" = ")
        if name in read:
            needed.insert(0, line)
            read |= set(re.findall(r"\b[a-z_]\w*\b", value))
    return needed


def fault_of(program: str, diagnostics: Sequence[Diagnostic]) -> tuple[Fault, Attribution]:
    """What is wrong with a program as a fault of the loop, and the tool that the first of it is about."""
    first = diagnostics[0]
    fault = Fault("check", _RULES.get(first.rule, "TypeError"), first.message, first.line, snippet(program, first.line))
    tools = tuple(dict.fromkeys(diagnostic.tool for diagnostic in diagnostics if diagnostic.tool))
    return fault, Attribution(first.tool, None, None, "check" if first.tool else "none", tools)
