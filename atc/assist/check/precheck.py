"""Looks at a program before it is run: what is wrong in any case costs no call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from atc.assist.check import Diagnostic, apply_edits, check, fix_syntax
from atc.assist.language.question import Question
from atc.fault import Attribution, Fault
from atc.program.plan import Literal, Plan, Step, sketch
from atc.program.source import called
from atc.prompting import Offer
from protocols.errors import DoubtfulCall
from protocols.text.words import stem, words
from sandbox.failures import snippet

__all__ = ["Precheck", "fault_of", "further_problems"]

_TAKES = "; it takes "
"""The part of a message before the arguments of a tool."""

_MAX_ROUNDS = 5
"""Rounds of fixes; a name that is fixed may show what else is wrong."""
_RULES = {
    "syntax": "SyntaxError",
    "unknown-tool": "NameError",
    "unknown-name": "NameError",
    "possibly-unbound": "NameError",
    "unknown-key": "KeyError",
}
"""What Python would say of a diagnostic, in a word that every model knows; of the others, TypeError."""


class Precheck:
    """Holds back what would fail; a function that a program may call and that was not offered is checked as well.

    Args:
        question: What it says need not come from a call.
        plans: Those that the model was shown; it may take their variables for set.
        reported: Messages that the model was told before.
    """

    def __init__(self, offer: Offer, question: Question, plans: Sequence[Plan], reported: Iterable[str]) -> None:
        self._offer = offer
        self._question = question
        self._plans = plans
        self._reported = frozenset(reported)

    def diagnose(self, program: str) -> list[Diagnostic]:
        """What is wrong with a program, without what was told before: the document may be the one that is wrong.

        What can be put right is looked at again, for then nobody need be told.
        """
        offer = self._offer
        tools = dict.fromkeys([*offer.tools, *called(program, offer.callable_tools)])
        diagnostics = check(program, offer.contract(), tuple(tools), self._question, offer.graph)
        ignored = "syntax" if fix_syntax(program) is None else ""  # the policy says where the slip is
        return [
            diagnostic
            for diagnostic in diagnostics
            if (diagnostic.edit is not None or self._is_unreported(diagnostic)) and diagnostic.rule != ignored
        ]

    def all_reported(self, diagnostics: Sequence[Diagnostic]) -> bool:
        """Whether the model was told all of it before."""
        return not any(map(self._is_unreported, diagnostics))

    def _is_unreported(self, diagnostic: Diagnostic) -> bool:
        """False for what was told; that a program would write to what somebody made up is told each time."""
        return diagnostic.message not in self._reported or self._is_harmful(diagnostic)

    def fixed(self, program: str, diagnostics: Sequence[Diagnostic]) -> str | None:
        """A program with all of its mistakes fixed, also those that show only then; None where that needs the model."""
        for _ in range(_MAX_ROUNDS):
            diagnostics = diagnostics or self.diagnose(program)
            if not diagnostics:
                return program
            better = apply_edits(program, diagnostics) or self.completed(program, diagnostics)
            if better is None:
                return None
            program, diagnostics = better, ()
        return None

    def completed(self, program: str, diagnostics: Sequence[Diagnostic]) -> str | None:
        """The program with its syntax fixed, or after the steps of a plan that set the names which it takes as set.

        None where no plan sets the first of them, the steps leave a value to the question, or it does not lead to them.
        """
        if diagnostics[0].rule == "syntax":
            return fix_syntax(program)
        needed = list(map(self._missing_steps, diagnostics))
        missing = Plan(tuple(dict.fromkeys(step for steps in needed for step in steps)))
        if not needed[0] or missing.has_placeholder or not self._is_led_to(missing):
            return None
        lines = sketch(missing).split("\n")
        return "\n".join([*lines, *(line for line in program.split("\n") if line not in lines)])

    def _missing_steps(self, diagnostic: Diagnostic) -> tuple[Step, ...]:
        """The steps of a plan that set an undefined name; none where one of them writes, as nobody asked for that."""
        if diagnostic.rule != "unknown-name" or diagnostic.key is None:
            return ()
        for plan in self._plans:
            needed = plan.needed_for(diagnostic.key)
            if needed and not self._any_writes(Plan(needed)):
                return needed
        return ()

    def _is_led_to(self, plan: Plan) -> bool:
        """True if a step has a text of the question, or calls a tool with a word of it."""
        texts = [part.value for part in plan.parts if isinstance(part, Literal) and isinstance(part.value, str)]
        tool_stems = {stem(word) for name in plan.tools for word in words(name)[1:]}
        return any(map(self._question.says, texts)) or not tool_stems.isdisjoint(self._question.stems)

    def _any_writes(self, plan: Plan) -> bool:
        return any(self._offer.graph.protocol.tool(name).writes for name in plan.tools)

    def any_harmful(self, diagnostics: Sequence[Diagnostic]) -> bool:
        """Whether a program would write to what somebody made up."""
        return any(map(self._is_harmful, diagnostics))

    def _is_harmful(self, diagnostic: Diagnostic) -> bool:
        tool = diagnostic.tool if diagnostic.rule == "made-up-identifier" else None
        return tool is not None and self._offer.graph.protocol.tool(tool).writes


def fault_of(program: str, diagnostics: Sequence[Diagnostic]) -> tuple[Fault, Attribution]:
    """What is wrong with a program as a fault of the loop, and the tool that the first of it is about."""
    first = diagnostics[0]
    message = f"{first.message}; {DoubtfulCall.REMEDY}" if first.doubtful else first.message
    fault = Fault("check", _RULES.get(first.rule, "TypeError"), message, first.line, snippet(program, first.line))
    tools = tuple(dict.fromkeys(diagnostic.tool for diagnostic in diagnostics if diagnostic.tool))
    return fault, Attribution(first.tool, None, None, "check" if first.tool else "none", tools)


def further_problems(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """The messages after the first one, each once; the arguments of a tool are listed once, too, and what helps."""
    helped = diagnostics[0].doubtful
    messages: set[str] = set()
    listed: set[tuple[str | None, str]] = set()
    facts = []
    for diagnostic in diagnostics:
        if diagnostic.message in messages:
            continue
        messages.add(diagnostic.message)
        problem, _, rest = diagnostic.message.partition(_TAKES)
        takes, _, remainder = rest.partition("; ")
        is_listed = takes and (diagnostic.tool, takes) in listed
        listed.add((diagnostic.tool, takes))
        message = "; ".join(filter(None, (problem, remainder))) if is_listed else diagnostic.message
        if diagnostic.doubtful and not helped:
            message, helped = f"{message}; {DoubtfulCall.REMEDY}", True
        facts.append(f"line {diagnostic.line}: {message}")
    return facts[1:]
