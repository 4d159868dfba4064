"""Which tool a value is taken from: providers of an argument, ranked by what the question says."""

from __future__ import annotations

from dataclasses import dataclass, replace

from atc.assist.language.question import Question, is_mentioned
from atc.program.chain import MAX_DEPTH
from protocols.dataflow.graph import ProtocolGraph, ProvidedField, selector_arguments
from protocols.dataflow.identifiers import IdentifierReference, is_current, is_own
from protocols.model import Parameter, Tool
from protocols.schema_fields import type_of
from protocols.text.words import SEARCHES, abbreviated_names, noun_of, stem, words

__all__ = ["ProviderRanking", "path_nouns"]

_COMMON_WORDS = frozenset(words("all by find for from get in list me of on search the to"))
"""Words that a question and a path share by chance."""
_RELATED = 6.0
"""Bonus of a provider that is about another entity type of the question."""
_USELESS = 20.0
"""Penalty of a provider that is of no use, more than it can gain."""
_CALL_COST = 1.0
_LOCATING = frozenset(map(stem, ["barcode", "coordinates", "gps", "latitude", "longitude", "postcode", "zip"]))
"""Words of a description that tell of a lookup by something other than a name."""
_PREFIX = "prefix"
_LEAST, _BOUNDS = frozenset({"min", "minimum"}), frozenset({"max", "maximum", "min", "minimum"})
"""First words of the names of arguments that take the least or the most of something."""


@dataclass(frozen=True)
class ProviderRanking:
    """The providers of each argument, the likeliest first for a question."""

    graph: ProtocolGraph
    callable_tools: frozenset[str]
    question: Question

    def reference(self, tool: Tool, parameter: Parameter) -> IdentifierReference | None:
        """The identifier that an argument takes; of the nouns in its description, the one of the question."""
        reference = self.graph.reference(tool.name, parameter.argument)
        stems = self.question.stems
        if reference is None or stem(reference.noun) in stems or noun_of(parameter.name) == reference.noun:
            return reference
        shared = {stem(word) for word in words(parameter.description)}.intersection(stems)
        nouns = [noun for noun in sorted(self.graph.nouns) if stem(noun) in shared]
        return replace(reference, noun=nouns[0]) if len(nouns) == 1 else reference

    def limit(self, parameter: Parameter) -> str | None:
        """The number that the question gives for an argument: 500 for `maxCalories` in `at most 500 calories`."""
        bound, *of = words(parameter.argument)
        if bound not in _BOUNDS or not of or type_of(parameter.schema) in ("array", "boolean", "object"):
            return None
        for amount, least, most in self.question.limits:
            if (
                stem(amount) == stem(of[-1])
                or abbreviated_names(amount, of[-1:])
                or abbreviated_names(of[-1], [amount])
            ):
                return least if bound in _LEAST else most
        return None

    def providers(self, tool: Tool, parameter: Parameter) -> tuple[ProvidedField, ...]:
        """The response fields that can fill an argument, the likeliest first."""
        reference = self.reference(tool, parameter)
        noun = reference.noun if reference is not None else None
        producers = self.graph.providers(tool.name, parameter.argument, self.callable_tools - {tool.name}, noun)
        providers = [provider for provider in producers if not provider.header and not provider.link]
        if not self.question.text or reference is None or not providers:
            return tuple(providers)
        owned = is_mentioned(reference.noun, self.question.owned) or self._is_elsewhere(reference.noun)

        def worth(provider: ProvidedField) -> float:
            of = owned * self._owner_bonus(provider) + 2 * _RELATED * self._is_whole_list(provider, reference.noun)
            removal = self._removal_bonus(provider, reference.noun, tool)
            useless = _USELESS * self._lists_target(provider, tool)
            return provider.score + self._relevance(provider, reference.noun, tool) + of + (removal - useless)

        return tuple(sorted(providers, key=worth, reverse=True))

    def _removal_bonus(self, provider: ProvidedField, noun: str, target: Tool) -> float:
        """The bonus of a provider that lists the items of the collection from which one is removed."""
        listed = target.method == "DELETE" and self.graph.protocol.tool(provider.tool).path == target.path
        other_kinds = {stem(kind) for kind in self.graph.nouns} - {stem(noun)}
        named = any(other_kinds.isdisjoint(map(stem, name.beside)) for name in self.question.names)
        return 2 * _RELATED if listed and not named else 0.0

    def _lists_target(self, provider: ProvidedField, target: Tool) -> bool:
        """True if a provider lists the target collection itself; adding its own items is a no-op."""
        path = self.graph.protocol.tool(provider.tool).path
        if any(len(self.question.beside(kind)) > 1 for kind in path_nouns(target)):
            return False
        return target.method in ("POST", "PUT") and 0 in provider.path and f"{target.path}/".startswith(f"{path}/")

    def _is_whole_list(self, provider: ProvidedField, noun: str) -> bool:
        """True if a question means a list as a whole, as in `the top rated`, and names nothing to search for."""
        tool = self.graph.protocol.tool(provider.tool)
        path_stems = {stem(word) for word in words(tool.path) if word.isalpha()} - {stem(noun)}
        if self.question.names or 0 not in provider.path or any(p.required for p in tool.arguments):
            return False
        return bool(path_stems) and "search" not in path_stems and path_stems <= set(self.question.stems)

    def _owner_bonus(self, provider: ProvidedField) -> float:
        """The bonus of a provider that reaches an owned entity from its owner, and not by its own name."""
        return _RELATED + _CALL_COST - self._cost(provider.tool) if self.graph.needs(provider.tool) else 0.0

    def _cost(self, tool: str, depth: int = 0) -> float:
        """The penalty of a tool for the calls that have to go before it, the first aside."""
        needs = self.graph.needs(tool) if depth < MAX_DEPTH else ()
        distances = [
            min((self._cost(provider.tool, depth + 1) for provider in self._providers(tool, need)), default=0.0)
            for need in needs
        ]
        return max(distances) + (_CALL_COST if depth else 0.0) if distances else 0.0

    def _providers(self, tool: str, argument: str) -> list[ProvidedField]:
        return [
            provider
            for provider in self.graph.providers(tool, argument, self.callable_tools - {tool})
            if not provider.header
        ][:3]

    def _relevance(self, provider: ProvidedField, noun: str, target: Tool) -> float:
        """The score of a provider by the words of the question, on the scale of the graph's scores.

        Words that describe the target do not count for the provider.
        """
        tool = self.graph.protocol.tool(provider.tool)
        if tool.writes:
            return 10.0 if self._creates(provider, noun) else 0.0
        selectors = " ".join(map(str, selector_arguments(tool, provider).values()))
        path_stems = {stem(word) for word in words(f"{tool.path} {selectors}")}
        hints = _LOCATING.intersection(stem(word) for word in words(f"{tool.summary} {tool.description}"))
        score = 1.0 if is_own(tool) and self.question.personal else 0.0
        if score and self.question.names and self._is_other_kind(tool, noun):
            score -= _RELATED
        if is_own(tool) and self._is_elsewhere(noun):
            score -= _RELATED
        if _PREFIX in path_stems and any(name.prefix for name in self.question.names):
            score += _RELATED
        score += 0.0 if hints.isdisjoint(self.question.stems) else _RELATED
        score += 2 * _RELATED if self.question.now and is_current(tool) else 0.0
        score += _RELATED * self._mentions_path(provider)
        if not self.question.qualifiers(noun) and not self.question.names and any(map(self.limit, tool.arguments)):
            score += 2 * _RELATED
        other_kinds = self.graph.nouns.intersection(path_nouns(tool)).difference(path_nouns(target), {noun})
        if any(p.argument.lower() in SEARCHES for p in tool.arguments):
            named = self.name_of(noun) is not None and not self.question.is_mine(noun)
            inside = {stem(word) for key in (tool.path, *provider.path) for word in words(str(key))}
            named = named or (len(self.question.owners(noun)) == 1 and stem(noun) in inside)
            score += 2 * _RELATED if self.question.qualifiers(noun) else _RELATED * named
        about = 0.0 if {stem(kind) for kind in other_kinds}.isdisjoint(self.question.stems) else _RELATED
        return len(path_stems.intersection(self.question.stems) - _COMMON_WORDS - {stem(noun)}) + score + about

    def _mentions_path(self, provider: ProvidedField) -> bool:
        """True if the question has the last words of a path in their order: `top tracks`."""
        tool = self.graph.protocol.tool(provider.tool)
        *before, last = tool.path.strip("/").split("/")
        if last.startswith("{"):
            last = " ".join([*before[-1:], *map(str, selector_arguments(tool, provider).values())])
        phrase = tuple(map(stem, words(last)))
        stems = self.question.stems
        return len(phrase) > 1 and phrase in [stems[at : at + len(phrase)] for at in range(len(stems))]

    def _is_other_kind(self, tool: Tool, noun: str) -> bool:
        """True if a list of the user's own is of another type than the entity that the question calls `my`.

        For example the songs in `add the songs of Queen to my playlist`.
        """
        path_stems = {stem(word) for word in words(tool.path)} - {stem(noun)} - _COMMON_WORDS - {"me"}
        mine = {kind for kind in self.graph.nouns if self.question.is_mine(kind)}
        return bool(mine and path_nouns(tool)[1:]) and noun not in mine and path_stems.isdisjoint(self.question.stems)

    def _is_elsewhere(self, noun: str) -> bool:
        """True if the names in the question are of other types than `noun`, of which it speaks, too.

        For example the singers in `follow the singers of the song Dusk`.
        """
        names = [name for name in self.question.names if name.text != self.question.new_name]
        if not names or self.question.creates or self.question.is_mine(noun) or stem(noun) not in self.question.stems:
            return False
        other_kinds = {stem(kind) for kind in self.graph.nouns} - {stem(noun)}
        return all(not other_kinds.isdisjoint(map(stem, name.beside)) for name in names)

    def name_of(self, noun: str) -> str | None:
        """The name beside the noun: `parcel Blue`, but not `Ana's best parcel`."""
        if not self.question.beside(noun) or is_mentioned(noun, self.question.owned):
            return None
        name = self.question.name_of(noun)
        return name if name != self.question.new_name else None

    def _creates(self, provider: ProvidedField, noun: str) -> bool:
        """True if a provider creates an entity that the question wants to be created."""
        tool = self.graph.protocol.tool(provider.tool)
        if tool.method != "POST" or len(provider.path) != 1 or not self.question.creates:
            return False
        about = {stem(noun), *map(stem, path_nouns(tool)[-1:])}
        return not about.isdisjoint(self.question.stems)


def path_nouns(tool: Tool) -> list[str]:
    """The nouns of the fixed path segments, in the singular."""
    return [noun_of(segment) for segment in tool.path.split("/") if segment and not segment.startswith("{")]
