"""What the model is told: the question with the functions, and after a failure what a revision needs (Eq. 2).

Source: ATC paper (arXiv:2405.16533), Eq. 2, where the model reads all earlier programs and results. A small model does
better, and for a fraction of the tokens, with the last program alone and its functions (feature `focus`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from atc.fault import Fault
from atc.models import Message
from atc.profile import Profile
from atc.prompting import templates
from atc.prompting.prompt import Opening
from protocols.dataflow.graph import ProtocolGraph
from protocols.render import estimate, render

__all__ = ["PREFILL", "Conversation"]

PREFILL = "```python\n"
_SHORT = 600
_LONG = 3000
"""Characters of a program that a revision shows; no question here needs half as many."""
_ERROR = 1000
"""Characters of an error, with the reason of a service in it, which has up to 600."""
_SHOWN = 7
"""Functions that a revision is shown at most, beside those that they need."""
_WHOLE = 1500
"""Tokens up to which functions of this process are shown again as a whole: a goal may take many of them."""
_LIKELIEST = 2
"""Functions that it is shown because of the question alone."""


class Conversation:
    """The conversation of one try at a question.

    `messages` is what the model reads next. `facts` are what has become known from failures. `tools` are the functions
    that the messages show.
    """

    def __init__(self, opened: Opening, graph: ProtocolGraph, profile: Profile) -> None:
        self._opened = opened
        self._graph = graph
        self._profile = profile
        self.messages: list[Message] = opened.messages()
        self._first = len(self.messages)
        self.tools: Sequence[str] = opened.tools
        self._offered_later: dict[str, None] = {}
        self.facts: list[str] = []

    def offer(self, tools: Iterable[str]) -> None:
        """Have revisions document tools that were not offered at first, where they concern them."""
        self._offered_later.update(dict.fromkeys(name for name in tools if name not in self._opened.tools))

    def wrote(self, program: str) -> None:
        """The model wrote a program, or one was put right for it."""
        self.messages.append(Message("assistant", f"{PREFILL}{program}\n```"))

    def restart(self) -> None:
        """Begin anew, with the facts but without any program: a small model tends to repeat what it reads."""
        if self._profile.focus:
            tools = self._opened.with_plans(self._related(*self.facts, *self._opened.sketches))
            tools = self._opened.with_earlier(tools)
            facts = "\n".join(self.facts)
            self._show(self._rendered("afresh", tools=tools, facts=facts))
            return
        self.messages = self._opened.messages(self.facts)
        self._first = len(self.messages)

    def naive(self, fault: Fault) -> None:
        """Tell the error text alone."""
        self._add(self._rendered("reflect_naive", error=said(fault)))

    def challenged(self, program: str, fault: Fault, tool: str | None) -> None:
        """Tell why an answer is to be looked at again; `tool` is whose response speaks against it."""
        if self._profile.focus:
            self._revise(program, f"It ran, but its answer is doubtful:\n{said(fault)}", tool)
            return
        self._add(self._rendered("reflect_answer", finding=said(fault), documentation=self._documented(tool)))

    def failed(self, program: str, fault: Fault, tool: str | None, known: Sequence[str]) -> None:
        """Tell what went wrong with a tool, or with the program itself, and what is known about it."""
        message = [fault.message[:_SHORT]] if fault.stage == "check" or tool is None else []
        new = [line for line in (*message, *known) if line not in self.facts]
        if self._profile.focus:
            blamed = f", and the fault comes from the call of {tool}" if tool is not None else ""
            self._revise(program, "\n".join([f"It failed{blamed}:\n{said(fault)}", *known]), tool)
        elif tool is None:
            self._add(self._rendered("reflect_program", error=said(fault)))
        else:
            values = {"documentation": self._documented(tool), "known": "\n".join(known)}
            self._add(self._rendered("reflect", error=said(fault), tool=tool, **values))
        self.facts.extend(new)

    def _revise(self, program: str, problem: str, tool: str | None) -> None:
        """Ask with nothing but the functions concerned, the program, and what is wrong with it."""
        earlier = [line for line in self.facts if line not in problem]
        earlier_facts = "\n".join(["Known from earlier programs:", *earlier]) if earlier else ""
        tools = self._opened.with_earlier(self._related(program, problem, earlier_facts, tool or ""))
        shortened = _cut(program, _LONG, "\n…")
        self._show(self._rendered("revise", tools=tools, program=shortened, problem=problem, known=earlier_facts))

    def _rendered(self, name: str, **values: str) -> str:
        """A template with the question filled in."""
        return templates.render(name, query=self._opened.asked, **values)

    def _related(self, *texts: str) -> str:
        """The functions that texts name, those that the question is likeliest about, and those that these need."""
        if self._graph.protocol.of_functions and estimate(self._opened.functions) <= _WHOLE:
            self.tools = self._opened.tools
            return self._opened.functions
        text = " ".join(texts)
        named_words = {*re.findall(r"\w+", text), *re.findall(r"\w+\.\w+", text)}
        opened, ranked = self._opened, list(dict.fromkeys([*self._opened.ranked, *self._offered_later]))
        likely = dict.fromkeys([*ranked[:_LIKELIEST], *(name for name in ranked if name in named_words)])
        names = self._graph.closure(list(likely)[:_SHOWN], (*opened.tools, *self._offered_later))
        self.tools = [name for name in ranked if name in names]
        return render(
            map(self._graph.protocol.tool, self.tools),
            self._graph,
            speaks_of=opened.speaks_of,
            preferred=opened.question.stems,
            whole=False,
            hints=self._profile.hints,
        )

    def _show(self, text: str) -> None:
        name = "function_revise_examples" if self._graph.protocol.of_functions else "revise_examples"
        examples = templates.turns(name, self._opened.tools)
        self.messages = [self.messages[0], *examples, Message("user", text.strip())]

    def _add(self, text: str) -> None:
        """Go on with the conversation, and cut its oldest turns where it has become too long."""
        self.messages.append(Message("user", text))
        turn, most = self._first, self._profile.prompt_tokens
        while turn < len(self.messages) - 2 and estimate("".join(m.content for m in self.messages)) > most:
            old = self.messages[turn]
            self.messages[turn] = Message(old.role, _cut(old.content, _SHORT, "\n…"))
            turn += 1

    def _documented(self, tool: str | None) -> str:
        """A tool as the model reads it; empty without one."""
        return render([self._graph.protocol.tool(tool)], self._graph, budget=800) if tool else ""


def said(fault: Fault) -> str:
    """The error as the model reads it; what a program can make as long as it likes is cut."""
    message = _cut(fault.message, _ERROR, "…")
    snippet = [_cut(line, _SHORT, "…") for line in fault.snippet.rstrip().split("\n")]
    text = f"{fault.type}: {message}" if message else fault.type
    return "\n".join([*snippet, text]) if fault.snippet else text


def _cut(text: str, limit: int, mark: str) -> str:
    return text if len(text) <= limit else text[:limit].rstrip() + mark
