"""The calls that lead to a call: where the data flow knows a provider of an argument, its response gives the value."""

from __future__ import annotations

from collections.abc import Collection

from atc.program.chain import Chain, is_content, placeholder, stems_of
from atc.program.plan import PLACEHOLDER, Expression, Step
from protocols.dataflow.graph import ProtocolGraph, ProvidedField
from protocols.model import Parameter, Tool
from protocols.text.words import SEARCHES

__all__ = ["steps_to"]


def steps_to(graph: ProtocolGraph, tool: Tool, callable_tools: Collection[str]) -> tuple[Step, ...]:
    """The steps that call a tool, with its arguments from other tools; empty where none provides them.

    A placeholder stands for a value that nothing provides. The last step is the call itself.
    """
    chain = _ProbeChain(graph, frozenset(callable_tools))
    call = chain.call(tool, 0)
    return (*chain.steps, Step("", call)) if call is not None else ()


class _ProbeChain(Chain):
    """The calls before one call."""

    def __init__(self, graph: ProtocolGraph, callable_tools: frozenset[str]) -> None:
        super().__init__(graph)
        self._callable = callable_tools

    def _providers(self, tool: Tool, parameter: Parameter) -> list[ProvidedField]:
        providers = self.graph.providers(tool.name, parameter.argument, self._callable - {tool.name})
        return [provider for provider in providers if not provider.header and not provider.link]

    def chosen_arguments(self, tool: Tool, depth: int) -> list[Parameter]:
        """The required arguments, and an optional one without which the call is of no use."""
        chosen = [parameter for parameter in tool.arguments if parameter.required]
        optional = [parameter for parameter in tool.arguments if not parameter.required]
        provided = [parameter for parameter in optional if self._providers(tool, parameter)]
        if tool.writes and all(parameter.location == "path" for parameter in chosen):
            content = sorted(filter(is_content, optional), key=lambda p: p.argument not in ("name", "title"))
            chosen += (provided or content)[:1]
        elif not chosen:
            searches = [parameter for parameter in optional if parameter.argument.lower() in SEARCHES]
            about = stems_of(tool.path)
            free = [p for p in optional if placeholder(p) == PLACEHOLDER and stems_of(p.argument) <= about]
            unlinked = [p for p in free if self.graph.reference(tool.name, p.argument) is None]
            chosen += (searches or unlinked)[:1]
        leads = any(p.argument.lower() in SEARCHES or self._providers(tool, p) for p in chosen)
        if depth == 0 and not leads:
            chosen += [parameter for parameter in provided if parameter not in chosen][:1]
        return chosen

    def value(self, tool: Tool, parameter: Parameter, depth: int) -> Expression | None:
        """The value of an argument; None where it has providers, and none of them can be called."""
        reference = self.graph.reference(tool.name, parameter.argument)
        providers = self._providers(tool, parameter)
        if reference is None or not providers:
            return placeholder(parameter)
        values = (self.provided(provider, reference.noun, tool, parameter, depth) for provider in providers)
        return next((value for value in values if value is not None), None)
