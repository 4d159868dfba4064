"""What the model is asked with first: the tools that come into question, written down, and the question last.

What is the same for every question comes first, so that an engine that keeps what it has read reads it once.
Source: ATC paper (arXiv:2405.16533), Eq. 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from atc.knowledge import Knowledge
from atc.models import Message
from atc.profile import Profile
from atc.prompting import templates
from atc.query import Query
from atc.retrieval.candidates import Candidates
from protocols.dataflow.enum_values import mentioned_values
from protocols.dataflow.graph import ProtocolGraph
from protocols.render import PLAIN_NAMES, estimate, render
from protocols.text.words import stem, words

if TYPE_CHECKING:
    from atc.retrieval.demonstrations import Demonstration
    from protocols.contracts.contract import Contract

__all__ = ["Leanings", "Offer", "Ranking", "make_offer"]

_BEFORE = 0.5
"""Weight of the question before, in a chat."""
_SPOKEN = 2.0
"""What a response field counts of which the question has a value, beside word scores of 1 to 4."""
_SMALL = 1500
"""Tokens up to which an API is written down as a whole, once for all questions."""


Leanings: TypeAlias = "Callable[[str, ProtocolGraph, bool], Mapping[str, float]]"
"""What is added to the scores of tools for a text; True where some tools are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The search for tools, with what is added to their scores: for values that the question has, and by a help."""

    candidates: Candidates
    spoken: Mapping[str, float]
    leanings: Leanings | None

    def scores(self, text: str) -> dict[str, float]:
        """The score of each tool for a text, the best first."""
        return self.candidates.scores(text, self._added(text, False))

    def choose(self, text: str, most: int, *, closed: bool) -> tuple[str, ...]:
        """As `Candidates.choose`."""
        return self.candidates.choose(text, most, self._added(text, True), closed=closed)

    def _added(self, text: str, choosing: bool) -> dict[str, float]:
        leanings = self.leanings(text, self.candidates.graph, choosing) if self.leanings is not None else {}
        return {name: self.spoken.get(name, 0.0) + leanings.get(name, 0.0) for name in {**self.spoken, **leanings}}


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """What a question is asked with: the tools that it may use, and the parts of its first prompt.

    Args:
        tools: Those that the program may use. ranked: The same, the best for the question first.
        scores: Of all tools, the best first. details: The tools that are described.
        speaks_of: Fields of which the question names a value.
        functions: The text of the tools.
        ranking: Scores tools for any text.
        contract: Gives what is known of the responses.
        callable_tools: Those that a program may call although they were not offered.
        elsewhere: It may reach other services, too.
        example: The template of a solved question with which the prompt begins, if any.
        sections: The texts of a help. solved: Questions like it that were answered before.
        answer_schema: The JSON Schema of the answer, if any. earlier: What a chat has had before, written down.
        most_calls: Those that a program may make, where the model is to know.
    """

    query: Query
    tools: tuple[str, ...]
    ranked: tuple[str, ...]
    scores: Mapping[str, float]
    details: tuple[str, ...]
    speaks_of: Mapping[str, str]
    functions: str
    profile: Profile
    ranking: Ranking
    contract: Callable[[], Contract]
    callable_tools: Collection[str]
    elsewhere: bool = False
    example: str = "examples"
    sections: tuple[str, ...] = ()
    solved: tuple[Demonstration, ...] = ()
    answer_schema: str = ""
    earlier: str = ""
    most_calls: int | None = None

    @property
    def graph(self) -> ProtocolGraph:
        """The data flow between the tools."""
        return self.ranking.candidates.graph

    @property
    def asked(self) -> str:
        """The question as the model reads it, with the JSON Schema of the answer if it has to fit one."""
        if not self.answer_schema:
            return self.query.text
        return templates.render("answer_type", query=self.query.text, schema=self.answer_schema).strip()

    @property
    def request(self) -> str:
        """The question behind the earlier turns of a chat, for a prompt without functions."""
        return f"{self.earlier}\n\n{self.asked}" if self.earlier else self.asked

    @property
    def hints(self) -> tuple[str, ...]:
        """The lines that say where an identifier comes from."""
        return tuple(line.strip() for line in self.functions.splitlines() if " — from " in line and line[:1] == " ")

    def messages(self) -> list[Message]:
        """The prompt."""
        text = templates.render("question", tools=self.with_context(self.functions), query=self.asked)
        return [
            self.system,
            *(templates.turns(self.example, self.tools) if self.example else ()),
            Message("user", text.strip()),
        ]

    @property
    def system(self) -> Message:
        """The rules that a program follows."""
        rules = [templates.render("solve", today=self.query.today).strip()]
        if self.most_calls is not None:
            rules.append(templates.render("most_calls", calls=str(self.most_calls)).strip())
        return Message("system", "\n".join(rules))

    def with_context(self, functions: str) -> str:
        """A text of functions, and behind it the sections of a help, the solved questions and the earlier turns."""
        texts = [templates.render("solved", query=past.query, program=past.program).strip() for past in self.solved]
        solved = ("Answered before:", *texts) if texts else ()
        return "\n\n".join([functions, *self.sections, *solved, *([self.earlier] if self.earlier else [])])

    def tokens(self) -> int:
        """About how many tokens the prompt has."""
        return sum(estimate(message.content) for message in self.messages())


def make_offer(
    query: Query,
    knowledge: Knowledge,
    profile: Profile,
    *,
    most: int,
    tools: Sequence[str] | None = None,
    called: Sequence[str] = (),
    leanings: Leanings | None = None,
) -> Offer:
    """Choose the tools for a question, and write them down.

    Args:
        knowledge: Of the API.
        profile: What the prompt has, and how long it may be.
        most: How many tools are offered, beside the producers of their identifiers.
        tools: Those to offer, and the only ones that may be called; by default the best ones, and any may be called.
        called: Tools that were called for the questions before in a chat; they are offered as well.
        leanings: What is added to the scores of tools.
    """
    candidates, graph = knowledge.candidates, knowledge.graph
    stems = tuple(map(stem, words(query.text)))
    speaks_of = mentioned_values(stems, knowledge.vocabulary)
    ranking = Ranking(candidates, _spoken(graph, speaks_of), leanings)
    offered = tuple(tools if tools is not None else _chosen(ranking, query, most, profile, called))
    offered = graph.protocol.with_values(offered)
    # What is offered and described whole stands in the order of the document: its beginning is the same for every
    # question, and nothing is ranked.
    whole = profile.documentation == "full" and len(graph.protocol.tools) == len(offered) <= profile.described
    scores = dict.fromkeys(offered, 0.0) if whole else _scores(ranking, query)
    ranked = tuple(name for name in scores if name in offered)
    details = ranked[: profile.described]
    if profile.closure:
        details = graph.closure(details, offered)
    functions = _unchanging(graph, speaks_of, profile) if profile.stable and set(ranked) == set(scores) else None
    if functions is not None:
        details = tuple(tool.name for tool in graph.protocol.tools)
    else:
        functions = render(
            map(graph.protocol.tool, dict.fromkeys([*details, *ranked])),
            graph,
            details=details,
            speaks_of=speaks_of,
            preferred=stems,
            whole=profile.documentation == "full",
            fields=profile.fields,
            hints=profile.hints,
            budget=profile.prompt_tokens,
        )
    if tools is None and profile.documentation == "full":
        functions = "\n\n".join(filter(None, (functions, _others(graph, frozenset(offered), profile))))
    before: tuple[Demonstration, ...] = ()
    if knowledge.demonstrations is not None and profile.demonstrations:
        before = tuple(knowledge.demonstrations.like(query.text, offered, meaning=candidates.meaning))
    example = ("function_examples" if graph.protocol.of_functions else "examples") if profile.example else ""
    callable_tools = frozenset(offered if tools is not None else (tool.name for tool in graph.protocol.tools))
    fixed = (query, offered, ranked, scores, details, speaks_of, functions, profile, ranking)
    return Offer(*fixed, lambda: knowledge.contract, callable_tools, example=example, solved=before)


def _chosen(ranking: Ranking, query: Query, most: int, profile: Profile, called: Sequence[str]) -> list[str]:
    """The tools to offer; in a chat also those that were called, and the best for the question before."""
    chosen = dict.fromkeys(ranking.choose(query.text, most, closed=profile.closure))
    chosen.update(dict.fromkeys(called))
    for text in query.before[-1:]:
        chosen.update(dict.fromkeys(ranking.choose(text, max(1, most // 2), closed=profile.closure)))
    return list(chosen)


def _scores(ranking: Ranking, query: Query) -> dict[str, float]:
    """The score of each tool, the best first; in a chat the question before counts as well: `and who wrote it?`"""
    scores = ranking.scores(query.text)
    if not query.before:
        return scores
    before = ranking.scores(query.before[-1])
    total = {name: score + _BEFORE * before[name] for name, score in scores.items()}
    return dict(sorted(total.items(), key=lambda item: -item[1]))


def _spoken(graph: ProtocolGraph, speaks_of: Mapping[str, str]) -> dict[str, float]:
    """What tools count whose responses have a field of which the question has a value."""
    return {
        tool.name: _SPOKEN
        for tool in graph.protocol.tools
        if not graph.response_fields(tool.name).keys().isdisjoint(speaks_of)
    }


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
