"""What a small model is asked a revision with: a small model repeats what it reads, so it reads little.

It does better, and for a fraction of the tokens, with the last program alone and its functions than with the whole
conversation of Eq. 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from atc.models import Message
from atc.program.source import called
from atc.prompting import Offer, example_turns, fill
from atc.prompting.conversation import blamed_tool, cut, described, seen_attempts
from atc.solution import Attempt
from protocols.quoting import estimate, one_line
from protocols.render import render
from protocols.text.words import stem, words

__all__ = ["revision"]

_MESSAGE, _PROGRAM = 600, 3000
"""Characters of a message, and of a program; no question of ours needs half as many."""
_SHOWN = 7
"""Functions that a revision is shown at most, beside those that they need."""
_WHOLE = 1500
"""Tokens up to which functions of this process are shown again as a whole: a goal may take many of them."""
_LIKELIEST = 2
"""Functions that it is shown because of the question alone."""


def revision(offer: Offer, attempts: Sequence[Attempt]) -> list[Message]:
    """The functions concerned, the last program, what is wrong with it, and what earlier ones made known."""
    last, tool = attempts[-1], blamed_tool(attempts[-1])
    assert last.fault is not None, "an attempt without a fault is not revised"
    error = described(last.fault)
    blamed = f", and the fault comes from the call of {tool}" if tool is not None else ""
    problem = "\n".join([f"It failed{blamed}:\n{error}", *map(one_line, last.details)])
    earlier = [line for line in _facts(seen_attempts(attempts)[:-1]) if line not in problem]
    earlier_facts = "\n".join(["Known from earlier programs:", *earlier]) if earlier else ""
    functions = _related(offer, attempts, last.program, problem, earlier_facts, tool or "")
    text = fill(
        "revise",
        query=offer.asked,
        tools=f"{functions}\n\n{offer.earlier}" if offer.earlier else functions,
        program=cut(last.program, _PROGRAM, "\n…"),
        problem=problem,
        known=earlier_facts,
    )
    examples = "function_revise_examples" if offer.graph.protocol.of_functions else "revise_examples"
    return [offer.system, *example_turns(examples, offer.tools), Message("user", text.strip())]


def _facts(attempts: Sequence[Attempt]) -> list[str]:
    """What failures made known, each line once; of the programs that the model read."""
    lines: dict[str, None] = {}
    for attempt in attempts:
        fault = attempt.fault
        if fault is None:
            continue
        message = [one_line(fault.message)[:_MESSAGE]] if fault.stage == "check" or blamed_tool(attempt) is None else []
        lines |= dict.fromkeys([*message, *map(one_line, attempt.details)])
    return list(lines)


def _related(offer: Offer, attempts: Sequence[Attempt], *texts: str) -> str:
    """The functions that texts name, those that the question is likeliest about, and those that these need."""
    graph = offer.graph
    if graph.protocol.of_functions and estimate(offer.functions) <= _WHOLE:
        return offer.functions
    text = " ".join(texts)
    names = {*re.findall(r"\w+", text), *re.findall(r"\w+\.\w+", text)}
    later = [name for attempt in attempts for name in called(attempt.program, offer.callable_tools)]
    later = [name for name in dict.fromkeys(later) if name not in offer.tools]
    ranked = list(dict.fromkeys([*offer.ranked, *later]))
    likely = dict.fromkeys([*ranked[:_LIKELIEST], *(name for name in ranked if name in names)])
    closed = graph.closure(list(likely)[:_SHOWN], (*offer.tools, *later))
    return render(
        map(graph.protocol.tool, [name for name in ranked if name in closed]),
        graph,
        speaks_of=offer.speaks_of,
        preferred=tuple(map(stem, words(offer.query.text))),
        hints=offer.profile.hints,
    )
