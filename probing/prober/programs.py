"""Write programs that call a tool with observed values, without a model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from atc.program.chain import Chain, is_content, placeholder, stems_of
from atc.program.plan import (
    PLACEHOLDER,
    Call,
    Expression,
    Items,
    Literal,
    Object,
    Plan,
    Print,
    Ref,
    Step,
    literal,
    parts,
    sketch,
)
from probing.prober.identifiers import name_reference, noun_of_path
from probing.prober.observations import Observations
from probing.prober.permission import WritePermission, created_identifier
from probing.prober.values import documented_value, is_free_text, item_of, own_name, renumbered, value_of
from probing.prober.variants import kept_creation
from probing.redact.redact import FIRST_WORDS
from protocols.dataflow.graph import ProtocolGraph, ProvidedField
from protocols.dataflow.identifiers import IdentifierReference
from protocols.model import Parameter, Protocol, Tool
from protocols.render import sentence
from protocols.text.words import SEARCHES, is_identifier, words

__all__ = ["ProgramWriter", "printing", "question", "steps_to", "unprovided_arguments"]

_READ_FACTOR = 3
"""Factor on the number of programs with observed values for a read."""


Program: TypeAlias = tuple[str, str]
"""A program with its search term ("" for none)."""


@dataclass(frozen=True, slots=True)
class ProgramWriter:
    """Writes programs that call a tool.

    Args:
        graph: The data flow known so far.
        most: Programs of each kind.
    """

    tool: Tool
    graph: ProtocolGraph
    observations: Observations
    permission: WritePermission
    most: int

    def programs(self) -> Iterator[Program]:
        """Programs, the likeliest first: identifiers along the data flow come before other observed ones."""
        among = self.observations.complete
        creator = self.permission.creator(self.tool)
        if creator is not None:
            if (program := self._call_on_created(*creator)) is not None:
                yield program, ""
        elif self.permission.creates(self.tool):
            if not self.permission.why_unrecognizable(self.tool):
                if not unprovided_arguments(self.tool, self.graph, among):
                    yield from self._complete(self._steps(among))
                yield from self._calls_with_identifiers()
        else:
            yield from self._reads_and_updates(among)

    @property
    def _protocol(self) -> Protocol:
        return self.observations.protocol

    def _reads_and_updates(self, among: Collection[str]) -> Iterator[Program]:
        if not self.tool.writes and not any(param.required for param in self.tool.arguments):
            yield printing(Call(self.tool.name)), ""  # an unfiltered list
        yield from self._calls_with_missing()
        if self._name_references():  # an observed name is surer than any other
            yield from self._calls_with_identifiers()
        if not self._is_provided():
            yield from self._calls_with_values()
        if not unprovided_arguments(self.tool, self.graph, among):
            steps = self._steps(among)
            bare = Plan(steps).mapped(self._without_unknown_options)
            if bare != Plan(steps):  # an unfiltered list has more items
                yield from self._complete(bare.every_step)
            yield from self._complete(steps)
        yield from self._calls_with_identifiers()  # more may be known by now
        yield from self._calls_with_values()

    def _steps(self, among: Collection[str]) -> tuple[Step, ...]:
        steps = steps_to(self.graph, self.tool, among)
        return steps if len(steps) > 1 else (Step("", self._direct_call()),)

    def _without_unknown_options(self, expression: Expression) -> Expression:
        """A call of a read without the optional arguments that only the question could give."""
        if not isinstance(expression, Call) or self._protocol.tool(expression.tool).writes:
            return expression
        required = {param.argument for param in self._protocol.tool(expression.tool).arguments if param.required}
        return expression.where(lambda name, value: name in required or PLACEHOLDER not in parts(value))

    def _calls_with_missing(self) -> Iterator[Program]:
        """Calls with the arguments that earlier errors reported as missing."""
        names = self.observations.missing.get(self.tool.name, {})
        missing = [param for param in self.tool.arguments if param.argument in names]
        if missing:
            params = [param for param in self.tool.arguments if param.required or param in missing]
            yield from self._calls_from_values(params, [param for param in params if documented_value(param) is None])

    def _calls_with_values(self) -> Iterator[Program]:
        """Calls with observed values from the list above an argument, or from fields of its name."""
        params = [param for param in self.tool.arguments if param.required]
        unknown = [param for param in params if documented_value(param) is None and "pattern" not in param.schema]
        if unknown:
            yield from self._calls_from_values(params, unknown)

    def _calls_from_values(self, params: Sequence[Parameter], unknown: list[Parameter]) -> Iterator[Program]:
        fixed = {param.argument: value_of(param, self._protocol) for param in params if param not in unknown}
        count = self.most if self.tool.writes else _READ_FACTOR * self.most
        for values in islice(self.observations.values.calls(self.tool, unknown), count):
            call = self._with_body(self._call(params, {**fixed, **values}))
            if PLACEHOLDER not in parts(call):
                yield printing(call), ""

    def _call(self, params: Sequence[Parameter], values: Mapping[str, object]) -> Call:
        names = [param.argument for param in params if param.argument in values]
        return Call(self.tool.name, tuple((name, _observed(values[name])) for name in names))

    def _is_provided(self) -> bool:
        """True if the data flow or the document provides all required arguments, so that none is invented."""
        return all(
            documented_value(param) is not None or self.graph.reference(self.tool.name, param.argument) is not None
            for param in self.tool.arguments
            if param.required
        )

    def _calls_with_identifiers(self) -> Iterator[Program]:
        for call in islice(self._identifier_calls(), self.most):
            yield from self._complete((Step("", call),), 1)

    def _complete(self, steps: Iterable[Step], most: int | None = None) -> Iterator[Program]:
        """The programs of the steps that call a tool, with search terms filled in."""
        most = self.most if most is None else most
        *before, last = steps
        assert isinstance(last.value, Call)
        call = self._with_items(self._with_body(last.value.at(())))
        plan = Plan((*before, Print(call)))
        number = self.observations.requests
        if self.permission.creates(self.tool):
            plan = _filled(plan, _observed(own_name(number)))
            if _renumbered(plan, -1) == plan:  # it has neither a name of the probe's own nor a placeholder
                plan = Plan((*plan.steps[:-1], Print(self._with_own_name(call))))
            yield sketch(plan), ""
            if (renamed := _renumbered(plan, number, "_")) != plan:
                yield sketch(renamed), ""
        elif not plan.has_placeholder:
            yield sketch(plan), ""
        else:
            for word in islice([*islice(self.observations.names_for(self.tool), most), *FIRST_WORDS], most):
                yield sketch(_filled(plan, Literal(word))), word

    def _with_own_name(self, call: Call) -> Call:
        """A creating call that gives the object a name of the probe's own, where an argument takes one."""
        texts = [
            param
            for param in self.tool.arguments
            if param.location != "path" and is_free_text(param.schema, self._protocol)
            if call.argument(param.argument) is None and not is_identifier(param.argument)
        ]
        if not texts:
            return call
        param = min(texts, key=lambda param: param.argument.lower() not in SEARCHES)
        return call.with_argument(param.argument, _observed(own_name(self.observations.requests, param.schema)))

    def _call_on_created(self, creator: str, argument: str) -> str | None:
        """The program that creates an object and calls a tool on it; None if creating one is not known yet."""
        bodies, number = self.observations.bodies.get(creator), self.observations.requests
        noun = noun_of_path(self._protocol.tool(creator).path)
        located = created_identifier(bodies[0], argument, noun) if bodies else None
        created = kept_creation(self.observations.findings[creator].program, "made", number)
        if located is None or created is None:
            return None
        call = Call(self.tool.name, ((argument, Ref("made", located[0])),))
        for param in self.tool.arguments:
            if param.required and param.argument != argument:
                call = call.with_argument(param.argument, _observed(value_of(param, self._protocol, number)))
        plan = _filled(Plan((Print(self._with_body(call)),)), Literal("changed"))
        return f"{created}\n{sketch(plan)}"

    def _direct_call(self) -> Call:
        """The call of a tool with values from its document; a created object gets a name of the probe's own."""
        number = self.observations.requests if self.permission.creates(self.tool) else None
        params = [param for param in self.tool.arguments if param.required]
        params = params or [param for param in self.tool.arguments if param.argument.lower() in SEARCHES][:1]
        return self._call(params, {param.argument: value_of(param, self._protocol, number) for param in params})

    def _name_references(self) -> dict[str, IdentifierReference]:
        """The name references of a tool's path arguments, if such an entity was observed."""
        references = {param.argument: name_reference(self.tool, param, self.graph) for param in self.tool.arguments}
        if not any(references.values()):
            return {}
        observed = {reference for group in self.observations.identifier_groups for reference, _ in group}
        return {name: reference for name, reference in references.items() if reference in observed}

    def _identifier_calls(self) -> Iterator[Call]:
        """Calls of a tool with identifiers that were observed together."""
        names = self._name_references()
        required = [param for param in self.tool.arguments if param.required]
        flow = [
            (param, reference)
            for param in required
            if param.argument in names or documented_value(param) is None
            if (reference := names.get(param.argument) or self.graph.reference(self.tool.name, param.argument))
        ]
        if not flow:
            return
        references = [reference for _, reference in flow]
        calls: dict[Call, None] = {}
        for values in self.observations.identifiers(references, self.tool.path):
            arguments = {param.argument: value_of(param, self._protocol) for param in required}
            arguments |= {param.argument: values[reference] for param, reference in flow if reference in values}
            calls[self._call(required, arguments)] = None
        yield from calls

    def _with_body(self, call: Call) -> Call:
        """A call with at least one body argument, if the body is required and none of its arguments is."""
        members = [
            param
            for param in self.tool.arguments
            if param.location == "body" and not is_identifier(param.argument) and not param.schema.get("readOnly")
        ]
        is_required = self.tool.body is not None and self.tool.body.required
        if not is_required or not members or any(call.argument(param.argument) is not None for param in members):
            return call
        return call.with_argument(members[0].argument, _observed(value_of(members[0], self._protocol)))

    def _with_items(self, call: Call) -> Call:
        """A call whose objects have their required keys, and whose lists of objects hold one such."""
        for param in self.tool.arguments:
            value = call.argument(param.argument)
            if value == Items((PLACEHOLDER,)):
                call = call.with_argument(param.argument, _observed([item_of(param, self._protocol)]))
            elif value == Object():
                call = call.with_argument(param.argument, _observed(value_of(param, self._protocol)))
        return call


def unprovided_arguments(tool: Tool, graph: ProtocolGraph, among: Collection[str]) -> list[str]:
    """The required arguments that only another tool can provide, and none of these does."""
    return [
        param.argument
        for param in tool.arguments
        if param.required and documented_value(param) is None
        if graph.reference(tool.name, param.argument) is not None
        if not graph.providers(tool.name, param.argument, among)
    ]


def question(tool: Tool) -> str:
    """A user's question that the tool answers."""
    text = (tool.summary or tool.description or " ".join(words(tool.path))).strip()
    return sentence(text, 200)


def printing(call: Call) -> str:
    """The program that prints the response of one call."""
    return sketch(Plan((Print(call),)))


def _observed(value: object) -> Expression:
    return literal(value, observed=True)


def _filled(plan: Plan, value: Expression) -> Plan:
    """A plan with a value in place of each placeholder."""
    return plan.mapped(lambda part: value if part == PLACEHOLDER else part)


def _renumbered(plan: Plan, number: int, sign: str | None = None) -> Plan:
    """A plan with another number and separator in the names of the probe's own."""

    def change(part: Expression) -> Expression:
        if isinstance(part, Literal) and isinstance(part.value, str):
            return Literal(renumbered(part.value, number, sign), part.observed)
        return part

    return plan.mapped(change)


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
