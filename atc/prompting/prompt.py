"""What the model is asked with first: the tools that come into question, written down, and the question last.

What is the same for every question comes first, so that an engine that keeps what it has read reads it once.
Source: ATC paper (arXiv:2405.16533), Eq. 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from atc.assist.language.api_words import mentioned_values
from atc.assist.language.question import Question
from atc.assist.language.relative_dates import with_dates
from atc.assist.leaning import leanings
from atc.assist.planning.planner import plans
from atc.models import Message
from atc.profile import SMALL, Profile
from atc.program.plan import Plan
from atc.program.sketch import sketch
from atc.prompting import templates
from atc.retrieval.candidates import Candidates
from atc.retrieval.demonstrations import Demonstration, Demonstrations
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.operations import is_called, is_current
from protocols.render import PLAIN_NAMES, estimate, render

__all__ = ["Opening", "opening"]

_MAX_PLANS = 3
"""Tools that read, and tools that write where the question asks for an action, that get a plan."""
_LIKELY, _SURE = 0.3, 0.5
"""Parts of the best tool's score: a tool with less gets no plan (a small model copies what it is shown); one with less
gets none that is its call alone."""
_AS_LIKELY = 0.65
"""Part of the best writing tool's score that another one needs: a small model copies its plan, and writes."""
_FILLS = 0.55
"""Part of that score that a tool needs which adds items to a new entity."""
_MORE = re.compile(r"[,;]|\b(?:and|then)\b", re.IGNORECASE)
"""What more follows to be done, as far as commas and small words tell."""
_EACH, _NEAR = 3, 0.85
"""Tools for each part of a long question, and the part of the best one's score that the second one needs."""
_BEFORE = 0.5
"""Weight of the question before, in a chat."""
_SMALL = 1500
"""Tokens up to which an API is written down as a whole, once for all questions."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The first prompt of a question.

    `tools` are those that the program may use, `ranked` the same with the best for the question first, `details` those
    that are described, `speaks_of` the fields of which the question names a value. `hints` are the lines that say where
    an identifier comes from; `example` is the template of a solved question with which the prompt begins, if any;
    `solved` are questions like it that were answered before, `answer_schema` the JSON Schema of the answer, if any;
    `earlier` is what a chat has had before, written down; `most_calls` are those that a program may make, where the
    model is to know.
    """

    question: Question
    today: str
    tools: tuple[str, ...]
    ranked: tuple[str, ...]
    details: tuple[str, ...]
    speaks_of: Mapping[str, str]
    functions: str
    plans: tuple[Plan, ...] = ()
    example: str = "examples"
    solved: tuple[Demonstration, ...] = ()
    answer_schema: str = ""
    earlier: str = ""
    most_calls: int | None = None

    @property
    def asked(self) -> str:
        """The question as the model reads it, with the JSON Schema of the answer if it has to fit one."""
        if not self.answer_schema:
            return self.question.text
        return templates.render("answer_type", query=self.question.text, schema=self.answer_schema).strip()

    @property
    def hints(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.functions.splitlines() if " — from " in line and line[:1] == " ")

    @property
    def sketches(self) -> tuple[str, ...]:
        """The texts of the plans."""
        return tuple(sketch(plan.with_names) for plan in self.plans)

    def messages(self, facts: Sequence[str] = ()) -> list[Message]:
        """The prompt. With `facts`, what is known from programs that failed, it begins anew."""
        tools = self.with_earlier(self.with_solved(self.with_plans(self.functions)))
        name = "afresh" if facts else "question"
        text = templates.render(name, tools=tools, query=self.asked, facts="\n".join(facts))
        rules = [templates.render("solve", today=self.today).strip()]
        if self.most_calls is not None:
            rules.append(templates.render("most_calls", calls=str(self.most_calls)).strip())
        return [
            Message("system", "\n".join(rules)),
            *(templates.turns(self.example, self.tools) if self.example else ()),
            Message("user", text.strip()),
        ]

    def with_solved(self, functions: str) -> str:
        """Functions, and the solved questions behind them."""
        texts = [templates.render("solved", query=past.query, program=past.program).strip() for past in self.solved]
        return "\n\n".join([functions, "Answered before:", *texts]) if texts else functions

    def with_earlier(self, functions: str) -> str:
        """Functions, and the earlier turns of a chat behind them."""
        return f"{functions}\n\n{self.earlier}" if self.earlier else functions

    @property
    def request(self) -> str:
        """The question behind the earlier turns of a chat, for a prompt without functions."""
        return f"{self.earlier}\n\n{self.asked}" if self.earlier else self.asked

    def with_plans(self, functions: str) -> str:
        """Functions, and the plan sketches behind them."""
        if not self.plans:
            return functions
        return f"{functions}\n\n" + templates.render("chains", chains="\n\n".join(self.sketches)).strip()

    def tokens(self) -> int:
        """About how many tokens the prompt has."""
        return sum(estimate(message.content) for message in self.messages())


def opening(
    question: Question,
    candidates: Candidates,
    vocabulary: Mapping[str, frozenset[str]],
    today: str,
    tools: Sequence[str] | None = None,
    most: int = 20,
    profile: Profile = SMALL,
    solved: Demonstrations | None = None,
    called: Sequence[str] = (),
) -> Opening:
    """Choose the tools for a question, and write them down.

    Args:
        candidates: The tools of the protocol, searchable.
        vocabulary: The fixed words of the API's fields (see protocols.dataflow.enum_values).
        today: As YYYY-MM-DD.
        tools: The tools to offer; without them the `most` best ones, and the producers of their identifiers.
        profile: What the prompt has, and how long it may be.
        solved: Questions that were answered before.
        called: Tools that were called for the questions before in a chat; they are offered as well.
    """
    graph = candidates.graph
    speaks_of = mentioned_values(question.stems, vocabulary)
    offered = tuple(tools if tools is not None else _chosen(candidates, question, most, speaks_of, profile, called))
    offered = graph.protocol.with_values(offered)
    scores = _scores(candidates, question, speaks_of)
    ranked = tuple(name for name in scores if name in offered)
    details = ranked[: profile.described]
    if profile.closure:
        details = graph.closure(details, offered)
    stable = profile.stable and set(ranked) == set(scores)
    functions = _unchanging(graph, speaks_of, profile) if stable else None
    if functions is not None:
        details = tuple(tool.name for tool in graph.protocol.tools)
    else:
        functions = render(
            map(graph.protocol.tool, dict.fromkeys([*details, *ranked])),
            graph,
            details=details,
            speaks_of=speaks_of,
            preferred=question.stems,
            whole=profile.documentation == "full",
            fields=profile.fields,
            hints=profile.hints,
            budget=profile.prompt_tokens,
        )
        if tools is None and profile.documentation == "full":
            functions = "\n\n".join(filter(None, (functions, _others(graph, frozenset(offered), profile))))
    before: tuple[Demonstration, ...] = ()
    if solved is not None and profile.demonstrations:
        before = tuple(solved.like(question.text, offered, meaning=candidates.meaning))
    planned_tools = _planned_tools(candidates, question, speaks_of, scores, ranked) if profile.planner else []
    sure = {name for name in planned_tools if scores[name] >= _SURE * scores[ranked[0]]}
    planned = plans(graph, planned_tools, offered, Question(with_dates(question.in_context.text, today)), sure)
    example = ("function_examples" if graph.protocol.of_functions else "examples") if profile.example else ""
    return Opening(question, today, offered, ranked, details, speaks_of, functions, planned, example, before)


def _chosen(
    candidates: Candidates,
    question: Question,
    most: int,
    speaks_of: Mapping[str, str],
    profile: Profile,
    called: Sequence[str],
) -> list[str]:
    """The tools to offer; in a chat also those that were called, and the best for the question before."""
    offsets = leanings(question, candidates.graph, speaks_of, choosing=True)
    chosen = dict.fromkeys(candidates.choose(question.text, most, offsets, closed=profile.closure))
    chosen.update(dict.fromkeys(called))
    if question.before:
        before = candidates.choose(question.before, max(1, most // 2), closed=profile.closure)
        chosen.update(dict.fromkeys(before))
    return list(chosen)


def _scores(candidates: Candidates, question: Question, speaks_of: Mapping[str, str]) -> dict[str, float]:
    """The score of each tool, the best first; in a chat the question before counts as well: `and who wrote it?`"""
    scores = candidates.scores(question.text, leanings(question, candidates.graph, speaks_of))
    if not question.before:
        return scores
    before = candidates.scores(question.before)
    total = {name: score + _BEFORE * before[name] for name, score in scores.items()}
    return dict(sorted(total.items(), key=lambda item: -item[1]))


@lru_cache(maxsize=64)
def _others(graph: ProtocolGraph, offered: frozenset[str], profile: Profile) -> str:
    """The tools that are not offered, a line each; empty where they take more than a quarter of the prompt."""
    tools = [tool for tool in graph.protocol.tools if tool.name not in offered]
    lines = render(tools, graph, details=(), hints=False) if tools else ""
    if not lines or estimate(lines) > profile.prompt_tokens // 4:
        return ""
    return templates.render("others", functions=lines).strip()


def _unchanging(graph: ProtocolGraph, speaks_of: Mapping[str, str], profile: Profile) -> str | None:
    """All tools of an API, described the same for every question, and then the values that this one names.

    None where that is too long to be read.
    """
    text = _described(graph, graph.observations, profile.hints, profile.documentation == "full")
    if estimate(text) > _SMALL:
        return None
    values = [f'"{field}" may be "{value}"' for field, value in speaks_of.items() if field not in PLAIN_NAMES]
    return "\n\n".join([text, *([templates.render("values", values=", ".join(values)).strip()] if values else [])])


@lru_cache(maxsize=8)
def _described(graph: ProtocolGraph, observations: int, hints: bool, whole: bool) -> str:
    """All tools of an API: the same text until more is known of it."""
    return render(graph.protocol.tools, graph, whole=whole, hints=hints)


def _planned_tools(
    candidates: Candidates,
    question: Question,
    speaks_of: Mapping[str, str],
    scores: Mapping[str, float],
    ranked: Sequence[str],
) -> list[str]:
    """The tools to plan for: the likeliest ones, and for each part of a long question the best that reads."""
    protocol = candidates.graph.protocol
    reads = [name for name in ranked if not protocol.tool(name).writes]
    writes = [] if question.is_information_request else [name for name in ranked if protocol.tool(name).writes]
    writes = _together(candidates.graph, writes, scores, question)
    likely = [
        name for name in (*reads[:_MAX_PLANS], *writes[:_MAX_PLANS]) if scores[name] >= _LIKELY * scores[ranked[0]]
    ]
    likely += [name for name in reads if question.now and is_current(protocol.tool(name))][:1]
    parts = question.parts
    for part in parts if len(parts) > 1 else ():
        part_scores = {
            name: score
            for name, score in candidates.scores(part, leanings(Question(part), candidates.graph, speaks_of)).items()
            if name in reads
        }
        likely += [name for name in list(part_scores)[:_EACH] if part_scores[name] >= _NEAR * max(part_scores.values())]
    return [name for name in ranked if name in likely]


def _together(
    graph: ProtocolGraph, writes: Sequence[str], scores: Mapping[str, float], question: Question
) -> list[str]:
    """Of the tools that write, the best one first, those that are likely beside it.

    First those that are called as the question says (`play` of `/player/play`), and only those where they are all it
    says. What is only now made is filled and not changed.
    """
    if not writes:
        return []
    protocol, best = graph.protocol, scores[writes[0]]
    verbs = question.requested_actions
    called = [name for name in writes if any(is_called(protocol.tool(name), verb) for verb in verbs)]
    if called and _MORE.search(question.text) is None:
        return called
    likely = [name for name in writes if name not in called and scores[name] >= _AS_LIKELY * best]
    maker = next((name for name in likely if question.creates and protocol.tool(name).method == "POST"), None)
    takes = {
        name
        for name in writes
        if any(provider.tool == maker for argument in graph.needs(name) for provider in graph.providers(name, argument))
    }
    fills = [name for name in writes if name in takes and protocol.tool(name).method == "POST"]
    changes = takes.difference(fills)
    beside = [name for name in fills if name not in likely and scores[name] >= _FILLS * best]
    return [*called, *(name for name in [*likely, *beside] if name not in changes)]
