"""What the model is asked: with which tools, and in which words.

The first prompt has the tools that come into question, written down, and the question last (Eq. 1). What is the same
for every question comes first, so that an engine that keeps what it has read reads it once. What is asked after a
failure is in atc.prompting.conversation. The texts are files in `templates/`, which read from top to bottom.

Source: ATC paper (arXiv:2405.16533), Eq. 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, TypeAlias

from atc.knowledge import Knowledge
from atc.models import Message
from atc.profile import Profile
from atc.query import Query
from protocols.dataflow.graph import ProtocolGraph
from protocols.documentation import documentation
from protocols.model import Tool
from protocols.quoting import estimate
from protocols.text.words import stem, words
from sandbox import Limits

if TYPE_CHECKING:
    from atc.retrieval.demonstrations import Demonstration
    from protocols.contracts.contract import Contract

__all__ = [
    "PREFILL",
    "Leanings",
    "Offer",
    "Ranking",
    "example_turns",
    "fill",
    "make_offer",
    "requests_tools",
    "tools_text",
]

_FOLDER = Path(__file__).parent / "templates"


@cache
def _template(file: Path) -> Template:
    return Template(file.read_text("utf-8"))


def fill(name: str, folder: Path = _FOLDER, /, **values: str) -> str:
    """Fill `<name>.txt`. A placeholder left without a value is a KeyError, never a hole in the text."""
    return _template(folder / f"{name}.txt").substitute(values)


_OBJECT = "desk."
"""The object whose methods the examples of functions call."""


def example_turns(name: str, tools: Iterable[str] = ()) -> tuple[Message, ...]:
    """The conversation in `<name>.txt`; a line `=== user` or `=== assistant` begins a turn.

    Args:
        tools: Those of the prompt; where none is a method of an object, an example of functions has plain ones, too.
    """
    return _example(name, any("." in tool for tool in tools))


@cache
def _example(name: str, objects: bool) -> tuple[Message, ...]:
    text = (_FOLDER / f"{name}.txt").read_text("utf-8")
    text = text if objects else text.replace(_OBJECT, "")
    parts = [part.partition("\n") for part in text.split("=== ") if part]
    return tuple(Message("user" if role == "user" else "assistant", text.strip()) for role, _, text in parts)


_BEFORE = 0.5
"""Weight of the question before, in a chat."""
_SPOKEN = 2.0
"""What a response field counts of which the question has a value, beside word scores of 1 to 4."""
_SMALL = {"compact": 1_500, "full": 6_000}
"""Tokens up to which an API is written down whole, the same for all questions, by the form of its documentation."""
_HINT = re.compile(r"^[ #].*(?: — |: )from \w+\(")
_SHOW = re.compile(r"^\W*SHOW:(.+)", re.MULTILINE)
_LEAST = 20
"""Tokens that a described tool has at least."""

Leanings: TypeAlias = "Callable[[str, ProtocolGraph, bool], Mapping[str, float]]"
"""What is added to the scores of tools for a text; True where some tools are left out."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The search for tools, with what is added to their scores: for values that the question has, and by a help."""

    knowledge: Knowledge
    stems: tuple[str, ...]
    leanings: Leanings

    @cached_property
    def speaks_of(self) -> Mapping[str, str]:
        """Fields of which the question names a value."""
        from protocols.dataflow.enum_values import mentioned_values

        return mentioned_values(self.stems, self.knowledge.vocabulary)

    @cached_property
    def spoken(self) -> Mapping[str, float]:
        """What tools count whose responses have a field of which the question has a value."""
        graph = self.knowledge.graph
        names = [tool.name for tool in graph.protocol.tools]
        return {name: _SPOKEN for name in names if not graph.response_fields(name).keys().isdisjoint(self.speaks_of)}

    def scores(self, text: str) -> dict[str, float]:
        """The score of each tool for a text, the best first."""
        return self.knowledge.candidates.scores(text, self._added(text, False))

    def choose(self, text: str, most: int, *, closed: bool) -> tuple[str, ...]:
        """As `Candidates.choose`."""
        return self.knowledge.candidates.choose(text, most, self._added(text, True), closed=closed)

    def _added(self, text: str, choosing: bool) -> dict[str, float]:
        leanings = self.leanings(text, self.knowledge.graph, choosing)
        return {name: self.spoken.get(name, 0.0) + leanings.get(name, 0.0) for name in {**self.spoken, **leanings}}


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """What a question is asked with: the tools that it may use, and the parts of its first prompt.

    Args:
        tools: Those that the program may use. ranked: The same, the best for the question first.
        scores: Of all tools, the best first. details: The tools that are described.
        functions: The text of the tools.
        ranking: Scores tools for any text.
        contract: Gives what is known of the responses.
        callable_tools: Those that a program may call although they were not offered.
        example: The template of a solved question with which the prompt begins, if any.
        sections: The texts of a help. solved: Questions like it that were answered before.
        answer_type: The type of the answer as Python, if any. earlier: What a chat has had before, written down.
        limits: Those of a program, where the model is to know. shown: What the model asked to see, and what it saw.
    """

    query: Query
    tools: tuple[str, ...]
    ranked: tuple[str, ...]
    scores: Mapping[str, float]
    details: tuple[str, ...]
    functions: str
    profile: Profile
    ranking: Ranking
    contract: Callable[[], Contract]
    callable_tools: Collection[str]
    example: str = "examples"
    sections: tuple[str, ...] = ()
    solved: tuple[Demonstration, ...] = ()
    answer_type: str = ""
    earlier: str = ""
    limits: Limits | None = None
    shown: tuple[Message, ...] = ()

    @property
    def graph(self) -> ProtocolGraph:
        """The data flow between the tools."""
        return self.ranking.knowledge.graph

    @property
    def speaks_of(self) -> Mapping[str, str]:
        """Fields of which the question names a value."""
        return self.ranking.speaks_of

    @property
    def asked(self) -> str:
        """The question as the model reads it, with the type of the answer if it has to fit one."""
        if not self.answer_type:
            return self.query.text
        return fill("answer_type", query=self.query.text, type=self.answer_type).strip()

    @property
    def request(self) -> str:
        """The question behind the earlier turns of a chat, for a prompt without functions."""
        return f"{self.earlier}\n\n{self.asked}" if self.earlier else self.asked

    @property
    def hints(self) -> tuple[str, ...]:
        """The lines that say where an identifier comes from."""
        return tuple(line.strip(" #") for line in self.functions.splitlines() if _HINT.search(line))

    def messages(self) -> list[Message]:
        """The prompt."""
        text = fill("question", tools=self.with_context(self.functions), query=self.asked).strip()
        is_whole = len(self.details) == len(self.graph.protocol.tools)
        is_shared = is_whole and self.profile.documentation == "full"
        return [
            self.system,
            *(example_turns(self.example, self.tools) if self.example else ()),
            Message("user", text, shared=text.index(self.functions) + len(self.functions) if is_shared else 0),
            *self.shown,
        ]

    def requested(self, text: str) -> tuple[str, ...]:
        """The tools that a message asks to see; it may do so once in a question."""
        match = requests_tools(text)
        if match is None or self.shown:
            return ()
        aliases = self.graph.protocol.aliases
        named = dict.fromkeys(aliases.get(name, name) for name in re.findall(r"\w+", match[1]))
        return tuple(name for name in named if name in self.callable_tools and f"def {name}(" not in self.functions)

    def showing(self, names: Sequence[str], template: str = "show") -> Offer:
        """The offer behind a request for some tools, which are described in answer to it."""
        tools = map(self.graph.protocol.tool, names)
        most = self.profile.described_tokens
        text = tools_text(tools, self.graph, self.profile, sources=self.callable_tools, budget=most)
        request = Message("assistant", f"SHOW: {', '.join(names)}")
        answer = Message("user", fill(template, functions=text).strip())
        return replace(self, details=(*self.details, *names), shown=(*self.shown, request, answer))

    @property
    def system(self) -> Message:
        """The rules that a program follows."""
        full = self.profile.documentation == "full"
        rules = [fill("solve_full" if full else "solve", today=self.query.today).strip()]
        if self.limits is not None:
            calls, seconds = str(self.limits.calls), f"{self.limits.wall:g}"
            rules.append(fill("limits", calls=calls, seconds=seconds).strip())
        return Message("system", "\n".join(rules))

    def with_context(self, functions: str) -> str:
        """A text of functions, and behind it the sections of a help, the solved questions and the earlier turns."""
        texts = [fill("solved", query=past.query, program=past.program).strip() for past in self.solved]
        solved = ("Answered before:", *texts) if texts else ()
        return "\n\n".join([functions, *self.sections, *solved, *([self.earlier] if self.earlier else [])])

    def tokens(self) -> int:
        """About how many tokens the prompt has."""
        return sum(estimate(message.content) for message in self.messages())


def requests_tools(text: str) -> re.Match[str] | None:
    """The line in which a message asks to see tools; None where there is none, or a program beside it."""
    return None if "```" in text else _SHOW.search(text)


def make_offer(
    query: Query,
    knowledge: Knowledge,
    profile: Profile,
    *,
    most: int,
    tools: Sequence[str] | None,
    called: Sequence[str],
    leanings: Leanings,
) -> Offer:
    """Choose the tools for a question, and write them down.

    Args:
        knowledge: Of the API.
        profile: What the prompt has, and how long it may be.
        most: How many tools are offered, beside the producers of their identifiers.
        tools: Those to offer, and the only ones that may be called; None for the best ones, and any may be called.
        called: Tools that were called for the questions before in a chat; they are offered as well.
        leanings: What is added to the scores of tools.
    """
    graph = knowledge.graph
    stems = tuple(map(stem, words(query.text)))
    ranking = Ranking(knowledge, stems, leanings)
    offered = tools if tools is not None else _chosen(ranking, query, most, profile, called)
    offered = graph.protocol.with_values(offered)
    # What is written down whole is the same for every question, and nothing is ranked.
    text = _described(graph, graph.observations, profile) if len(graph.protocol.tools) == len(offered) else ""
    whole = profile.stable and 0 < estimate(text) <= _SMALL[profile.documentation]
    is_full = profile.documentation == "full"
    scores = dict.fromkeys(offered, 0.0) if whole and is_full else _scores(ranking, query)
    ranked = tuple(name for name in scores if name in offered)
    details = ranked[: profile.described]
    if profile.closure:
        details = graph.closure(details, offered)
    if whole:
        details = tuple(tool.name for tool in graph.protocol.tools)
        functions = text if is_full else _with_values(text, ranking.speaks_of)
    elif is_full:
        among = frozenset(offered if tools is not None else scores)
        described = map(graph.protocol.tool, details)
        functions = tools_text(described, graph, profile, sources=among, budget=profile.described_tokens)
        short = [name for name in (ranked if tools is not None else scores) if name not in details]
        functions = "\n\n".join(filter(None, (functions, _others(graph, tuple(sorted(short)), profile))))
    else:
        listed = map(graph.protocol.tool, dict.fromkeys([*details, *ranked]))
        functions = tools_text(
            listed,
            graph,
            profile,
            details=details,
            speaks_of=ranking.speaks_of,
            preferred=stems,
            budget=profile.prompt_tokens,
        )
    before = knowledge.solved_like(query.text, offered) if profile.demonstrations else ()
    callable_tools = frozenset(offered if tools is not None else (tool.name for tool in graph.protocol.tools))
    fixed = (query, offered, ranked, scores, details, functions, profile, ranking)
    example = _example_name(graph.protocol.of_functions, profile)
    return Offer(*fixed, lambda: knowledge.contract, callable_tools, example=example, solved=before)


def _example_name(of_functions: bool, profile: Profile) -> str:
    """The template of the solved question with which a prompt begins; empty where the profile has none."""
    if not profile.example:
        return ""
    of_operations = "examples_full" if profile.documentation == "full" else "examples"
    return "function_examples" if of_functions else of_operations


def _chosen(ranking: Ranking, query: Query, most: int, profile: Profile, called: Sequence[str]) -> list[str]:
    """The tools to offer; in a chat also those that were called, and the best for the question before."""
    tools = ranking.knowledge.protocol.tools
    if len(tools) <= most and ranking.knowledge.retriever is None:  # nothing is searched, and no index is loaded
        return [tool.name for tool in tools]
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


@lru_cache(maxsize=64)
def _others(graph: ProtocolGraph, names: tuple[str, ...], profile: Profile) -> str:
    """Tools in a line each; as many of them as a quarter of the prompt holds, and how many there are besides."""
    most, listed, lines = profile.prompt_tokens // 4, 0, ""
    text = documentation(map(graph.protocol.tool, names), graph, details=()).split("\n") if names else []
    for listed, line in enumerate(text, start=1):
        if estimate(lines) + estimate(line) > most:
            listed -= 1
            break
        lines += f"{line}\n"
    left = len(text) - listed
    lines += f"# {left:,} more are not listed.\n" if left else ""
    return fill("others", functions=lines).strip() if lines else ""


def tools_text(
    tools: Iterable[Tool],
    graph: ProtocolGraph,
    profile: Profile,
    *,
    details: Collection[str] | None = None,
    speaks_of: Mapping[str, str] | None = None,
    preferred: Collection[str] = (),
    hints: bool = True,
    sources: Collection[str] | None = None,
    budget: int | None = None,
) -> str:
    """Tools in the form of a profile: as Python with all that is known of them, or compact.

    Args: as `documentation` and `render` have them; `speaks_of` and `preferred` are of the compact form alone.
    """
    hints = hints and profile.hints
    if profile.documentation == "full":
        return documentation(tools, graph, details=details, sources=sources if hints else (), budget=budget)
    from protocols.render import render as compact

    return compact(
        tools,
        graph,
        details=details,
        speaks_of=speaks_of,
        preferred=preferred,
        fields=profile.fields,
        hints=hints,
        budget=budget,
    )


def _with_values(text: str, speaks_of: Mapping[str, str]) -> str:
    """The text of an API, and then the values that a question names."""
    from protocols.render import PLAIN_NAMES

    values = [f'"{field}" may be "{value}"' for field, value in speaks_of.items() if field not in PLAIN_NAMES]
    return "\n\n".join([text, *([fill("values", values=", ".join(values)).strip()] if values else [])])


@lru_cache(maxsize=8)
def _described(graph: ProtocolGraph, observations: int, profile: Profile) -> str:
    """All tools of an API: the same text until more is known of it; empty where it would be long."""
    tools = graph.protocol.tools
    return tools_text(tools, graph, profile) if _LEAST * len(tools) <= _SMALL[profile.documentation] else ""


PREFILL = "```python\n"
