"""The tools that chosen tools are of no use without, by the paths and the identifiers of a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.operations import looks_like_read
from protocols.model import Parameter, Tool
from protocols.schema_fields import fields
from protocols.text.words import ID_WORDS, attribute_of, singular, words

__all__ = ["Companions"]

_GENERALIZED = 10
"""Tools, the best first, of which the plainer forms are offered, too."""
_WRITES, _LISTS, _BODY_DEPTH = 3, 6, 4
"""Writing tools of which the identifiers inside bodies are looked up, lists for these, and the depth of a body."""


class Companions:
    """Completes a choice of tools; built once for a protocol.

    A plain list is a GET whose path ends in the name of a collection; of several with that name it is the shortest.
    """

    def __init__(self, graph: ProtocolGraph) -> None:
        self._graph = graph
        self._reads = {
            tuple(_segments(tool)): tool.name for tool in reversed(graph.protocol.tools) if tool.method == "GET"
        }
        self._lists: dict[tuple[str, ...], str] = {}
        for segments in sorted(self._reads, key=lambda path: (_placeholders(path), len(path))):
            if segments and not segments[-1].startswith("{"):
                self._lists.setdefault(_singular_words(segments[-1]), self._reads[segments])
        self._body_lists: dict[str, tuple[str, ...]] = {}

    def complete(self, best: Sequence[str], *, changes: bool) -> tuple[str, ...]:
        """The tools, then their plainer forms, the lists for their bodies, and providers, transitively.

        Args:
            best: The names of the chosen tools, the best first.
            changes: The question wants something changed, so that bodies matter.
        """
        chosen = dict.fromkeys(best)
        chosen |= dict.fromkeys(name for tool in best[:_GENERALIZED] for name in self._plainer(tool))
        if changes:
            chosen |= dict.fromkeys(self._for_bodies(best, chosen))
        queue = list(chosen)
        for name in queue:
            providers = dict.fromkeys(self._providers(name, most=2 if name == best[0] else 1))
            queue += [provider for provider in providers if provider not in chosen]
            chosen |= providers
        return tuple(chosen)

    def _plainer(self, name: str) -> list[str]:
        """The reads with the path of a tool less a part of it: `/files/{id}` of `/stores/{store}/files/{id}`."""
        segments = _segments(self._graph.protocol.tool(name))
        shorter = (
            (*segments[:start], *segments[end:])
            for start in range(len(segments))
            for end in range(start + 1, len(segments))
            if not segments[end].startswith("{")
        )
        return [self._reads[path] for path in shorter if path in self._reads]

    def _providers(self, name: str, most: int) -> list[str]:
        """The providers of the required identifiers of a tool.

        For each: the `most` best ones, the list on the tool's own path, and the list of the identifier's whole name.
        """
        tool = self._graph.protocol.tool(name)
        providers: list[str] = []
        for argument in self._graph.needs(name):
            parameter = tool.argument(argument)
            inferred = [source.tool for source in self._graph.providers(name, argument)]
            providers += inferred[:most]
            if parameter is not None and parameter.location == "path":
                before = tool.path.partition(f"{{{parameter.name}}}")[0]
                providers += [read for read in [self._reads.get(_split(before))] if read in inferred]
            *noun, attribute = _singular_words(argument)
            if len(noun) > 1 and attribute in ID_WORDS and tuple(noun) in self._lists:
                providers.append(self._lists[tuple(noun)])
        return [provider for provider in providers if provider != name]

    def _for_bodies(self, best: Iterable[str], chosen: Iterable[str]) -> list[str]:
        """The plain lists of the identifiers inside the bodies of the best writing tools."""
        paths: list[str] = []
        lists: dict[str, None] = {}
        for tool in map(self._graph.protocol.tool, best):
            body_lists = self._body_lists_of(tool) if tool.writes and not looks_like_read(tool) else ()
            if body_lists and tool.path not in paths and len(paths) < _WRITES:
                paths.append(tool.path)
                lists |= dict.fromkeys(body_lists)
        return [name for name in lists if name not in set(chosen)][:_LISTS]

    def _body_lists_of(self, tool: Tool) -> tuple[str, ...]:
        if tool.name not in self._body_lists:
            names = (name for parameter in tool.arguments for name in self._named_in(tool, parameter))
            self._body_lists[tool.name] = tuple(dict.fromkeys(names))
        return self._body_lists[tool.name]

    def _named_in(self, tool: Tool, parameter: Parameter) -> Iterable[str]:
        """The plain lists of what a body refers to: `invoice_id`, or `id` in an object `invoice`."""
        own = _singular_words(next((part for part in reversed(_segments(tool)) if not part.startswith("{")), ""))
        if parameter.location != "body":
            return
        body = {"type": "object", "properties": {parameter.name: parameter.schema}}
        for field in fields(body, self._graph.protocol, _BODY_DEPTH):
            around = [key for key in map(_singular_words, field.container) if key != own]
            if attribute_of(field.name) != "id" or field.schema.get("readOnly") or len(around) > 1:
                continue
            named = _singular_words(field.name)
            named = named[:-1] if named[-1] in ID_WORDS else named
            if named and around and named != around[-1]:
                continue  # it belongs to the object around it
            name = self._list_of(named or (around or [()])[-1])
            if name is not None and name != self._lists.get(own):
                yield name

    def _list_of(self, noun: tuple[str, ...]) -> str | None:
        """The plain list of the longest end of a noun's words that names a collection."""
        ends = (noun[start:] for start in range(len(noun)))
        return next((self._lists[end] for end in ends if end in self._lists), None)


def _split(path: str) -> tuple[str, ...]:
    return tuple(segment for segment in path.split("/") if segment)


def _segments(tool: Tool) -> tuple[str, ...]:
    return _split(tool.path)


def _placeholders(path: Sequence[str]) -> int:
    return sum(segment.startswith("{") for segment in path)


def _singular_words(name: str) -> tuple[str, ...]:
    return tuple(map(singular, words(name)))
