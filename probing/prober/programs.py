"""Write programs that call a tool with observed values, without a model."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from atc.planning.loops import FINDS
from atc.planning.planner import plan_sketch
from probing.prober.identifiers import name_reference, noun_of_path
from probing.prober.observations import Observations
from probing.prober.permission import WritePermission, created_identifier
from probing.prober.values import OWN_NAME, documented_value, is_free_text, item_of, own_name, rename_objects, value_of
from probing.redact.redact import FIRST_WORDS
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import IdentifierReference, attribute_of
from protocols.json_path import subscripts
from protocols.model import Parameter, Protocol, Tool
from protocols.render import sentence
from protocols.schema_fields import items_of, resolve, type_of
from protocols.text.words import SEARCHES, SIZES, is_identifier, noun_of, words

__all__ = ["MAX_ITEMS", "ProgramWriter", "argument_variants", "item_variants", "question", "unprovided_arguments"]

_MAX_CHOICES = 4
"""Values of an enumeration to try."""
MAX_ITEMS = 8
"""Entities to call a complete tool for: a field that some lack is optional."""

_MAX_FILTERS = 8
"""Filter values to try on an empty list."""

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
        among = [name for name, finding in self.observations.findings.items() if finding.is_complete]
        creator = self.permission.creator(self.tool)
        if creator is not None:
            if (program := self._call_on_created(*creator)) is not None:
                yield program, ""
        elif self.permission.creates(self.tool):
            if not self.permission.why_unrecognizable(self.tool):
                if not unprovided_arguments(self.tool, self.graph, among):
                    yield from self._complete(self._sketch(among))
                yield from self._calls_with_identifiers()
        else:
            yield from self._reads_and_updates(among)

    def unchained(self) -> Iterator[Program]:
        """Programs without responses of other tools."""
        if not unprovided_arguments(self.tool, self.graph, ()):
            empty = replace(self, observations=Observations(self._protocol))
            yield from empty._complete([empty._direct_call()])

    @property
    def _protocol(self) -> Protocol:
        return self.observations.protocol

    def _reads_and_updates(self, among: Collection[str]) -> Iterator[Program]:
        if not self.tool.writes and not any(param.required for param in self.tool.arguments):
            yield f"print({self.tool.name}())", ""  # an unfiltered list
            yield from self._filtered_calls()
        yield from self._calls_with_missing()
        if self._name_references():  # an observed name is surer than any other
            yield from self._calls_with_identifiers()
        if not self._is_provided():
            yield from self._calls_with_values()
        if not unprovided_arguments(self.tool, self.graph, among):
            lines = self._sketch(among)
            bare = _without_unknown_options(lines, self._protocol)
            if bare != lines:  # an unfiltered list has more items
                yield from self._complete(bare)
            yield from self._complete(lines)
        yield from self._calls_with_identifiers()  # more may be known by now
        yield from self._calls_with_values()

    def _sketch(self, among: Collection[str]) -> list[str]:
        lines = plan_sketch(self.graph, self.tool.name, among)
        return lines if len(lines) > 1 else [self._direct_call()]

    def _filtered_calls(self) -> Iterator[Program]:
        """Calls of an empty list with each value of a filter, except its default."""
        for param in self.tool.arguments:
            schema = resolve(param.schema, self._protocol)
            items = items_of(schema, self._protocol) if type_of(schema) == "array" else None
            values = (resolve(items, self._protocol) if items is not None else schema).get("enum")
            usual = schema.get("default")
            for value in values[:_MAX_FILTERS] if isinstance(values, list) else ():
                if self.tool.name not in self.observations.empty_tools:
                    return  # it is not empty any more
                if value is not None and value not in (usual if isinstance(usual, list) else [usual]):
                    text = repr(value if items is None else [value])
                    yield f"print({self.tool.name}({param.argument}={text}))", ""

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
            call = self._with_body(self._call(params, {**fixed, **{name: repr(values[name]) for name in values}}))
            if '"…"' not in call:
                yield f"print({call})", ""
        if len(unknown) == 1 and (top := self.observations.values.root_path(unknown[0])) is not None:
            yield f"print({self._call(params, {**fixed, unknown[0].argument: repr(top)})})", ""

    def _call(self, params: Sequence[Parameter], texts: Mapping[str, str]) -> str:
        keywords = [f"{param.argument}={texts[param.argument]}" for param in params if param.argument in texts]
        return f"{self.tool.name}({', '.join(keywords)})"

    def _is_provided(self) -> bool:
        """True if the data flow or the document provides all required arguments, so that none is invented."""
        return all(
            documented_value(param) is not None or self.graph.reference(self.tool.name, param.argument) is not None
            for param in self.tool.arguments
            if param.required
        )

    def _calls_with_identifiers(self) -> Iterator[Program]:
        for call in islice(self._identifier_calls(), self.most):
            yield from self._complete([call], 1)

    def _complete(self, lines: Sequence[str], most: int | None = None) -> Iterator[Program]:
        """The programs of the lines that call a tool, with search terms filled in."""
        most = self.most if most is None else most
        *before, last = lines
        call = last if "=" not in last.partition("(")[0] else last.partition(" = ")[2]
        call = self._with_items(self._with_body(_without_path(call)))
        program = "\n".join([*before, f"print({call})"])
        if self.permission.creates(self.tool):
            number = self.observations.requests
            program = self._with_own_name(program.replace('"…"', repr(own_name(number))))
            yield program, ""
            if (renamed := rename_objects(program, self.observations.requests, "_")) != program:
                yield renamed, ""
        elif '"…"' not in program:
            yield program, ""
        else:
            for word in islice([*islice(self.observations.names_for(self.tool), most), *FIRST_WORDS], most):
                yield program.replace('"…"', json.dumps(word, ensure_ascii=False)), word

    def _with_own_name(self, program: str) -> str:
        """A creating program that gives the object a name of the probe's own, unless it has one."""
        if OWN_NAME.search(program) or not program.endswith("))"):
            return program
        last = program.rpartition("\n")[2]
        texts = [
            param
            for param in self.tool.arguments
            if param.location != "path" and is_free_text(param.schema, self._protocol)
            if f"{param.argument}=" not in last and not is_identifier(param.argument)
        ]
        if not texts:
            return program
        param = min(texts, key=lambda param: param.argument.lower() not in SEARCHES)
        return _with_argument(program, f"{param.argument}={own_name(self.observations.requests, param.schema)!r}")

    def _call_on_created(self, creator: str, argument: str) -> str | None:
        """The program that creates an object and calls a tool on it; None if creating one is not known yet."""
        create_program = self.observations.findings[creator].program
        bodies = self.observations.bodies.get(creator)
        noun = noun_of_path(self._protocol.tool(creator).path)
        located = created_identifier(bodies[0], argument, noun) if bodies else None
        if not create_program or located is None:
            return None
        number = self.observations.requests
        *before, last = rename_objects(create_program, number).split("\n")
        call = f"{self.tool.name}({argument}=made{subscripts(located[0])})"
        for param in self.tool.arguments:
            if param.required and param.argument != argument:
                call = f"{call[:-1]}, {param.argument}={value_of(param, self._protocol, number)})"
        call = self._with_body(call).replace('"…"', '"changed"')
        return "\n".join([*before, f"made = {last.removeprefix('print(').removesuffix(')')}", f"print({call})"])

    def _direct_call(self) -> str:
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

    def _identifier_calls(self) -> Iterator[str]:
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
        references = [reference for param, reference in flow if self._observed_item(param) is None]
        calls: dict[str, None] = {}
        for values in self.observations.identifiers(references, self.tool.path):
            observed = {param.argument: repr(values[reference]) for param, reference in flow if reference in values}
            texts = {
                param.argument: observed.get(param.argument) or value_of(param, self._protocol) for param in required
            }
            calls[self._call(required, texts)] = None
        yield from calls

    def _with_body(self, call: str) -> str:
        """A call with at least one body argument, if the body is required and none of its arguments is."""
        members = [
            param
            for param in self.tool.arguments
            if param.location == "body" and not is_identifier(param.argument) and not param.schema.get("readOnly")
        ]
        is_required = self.tool.body is not None and self.tool.body.required
        if not is_required or not members or any(f"{param.argument}=" in call for param in members):
            return call
        first = f"{members[0].argument}={value_of(members[0], self._protocol)}"
        return f"{call[:-1]}{'' if call.endswith('()') else ', '}{first})"

    def _with_items(self, call: str) -> str:
        """A call whose lists of objects hold an observed one, and whose objects have their required keys."""
        for param in self.tool.arguments:
            if f'{param.argument}=["…"]' in call:
                item = self._observed_item(param)
                text = item_of(param, self._protocol) if item is None else repr(item)
                call = call.replace(f'{param.argument}=["…"]', f"{param.argument}=[{text}]")
            elif f"{param.argument}={{}}" in call:
                call = call.replace(f"{param.argument}={{}}", f"{param.argument}={value_of(param, self._protocol)}")
        return call

    def _observed_item(self, param: Parameter) -> dict[str, object] | None:
        """An object for a list argument, with observed identifiers of the list's entity."""
        items = param.schema.get("items")
        properties = items.get("properties") if isinstance(items, Mapping) else None
        if not isinstance(properties, Mapping):
            return None
        noun = noun_of(param.argument)
        references = {str(key): IdentifierReference(noun, attribute_of(str(key)) or "") for key in properties}
        values = next(self.observations.identifiers([ref for ref in references.values() if ref.attribute]), {})
        return {key: values[reference] for key, reference in references.items() if reference in values} or None


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


def argument_variants(program: str, tool: Tool) -> Iterator[str]:
    """The program with each other value of a required enumeration, and with pages of one item.

    A list of enumerated values is tried with each one alone: the response may depend on it.
    """
    *before, last = program.split("\n")
    for param in tool.arguments:
        values = param.schema.get("enum")
        listed = values[:_MAX_CHOICES] if param.required and isinstance(values, list) else []
        for value in listed:
            used = next((choice for choice in listed if f"{param.argument}={choice!r}" in last), value)
            if value != used:
                yield "\n".join([*before, last.replace(f"{param.argument}={used!r}", f"{param.argument}={value!r}")])
        items = param.schema.get("items")
        several = items.get("enum") if isinstance(items, Mapping) else None
        if param.required and isinstance(several, list):
            filled = re.compile(rf"\b{param.argument}=\[[^\]]*\]")
            alone = [filled.sub(f"{param.argument}=[{value!r}]", last) for value in several[:_MAX_CHOICES]]
            yield from ("\n".join([*before, line]) for line in alone if line != last)
        sized = not SIZES.isdisjoint(words(param.argument)[-1:]) and type_of(param.schema) == "integer"
        if sized and f"{param.argument}=" not in last and last.endswith("))"):
            yield _with_argument(program, f"{param.argument}=1")


def _with_argument(program: str, argument: str) -> str:
    """A program whose last, printed call has one more argument."""
    return f"{program[:-2]}{'' if program.endswith('())') else ', '}{argument}))"


def item_variants(program: str, tool: Tool, word: str, names: Sequence[str]) -> Iterator[str]:
    """The program for other entities, to learn which fields are optional.

    Args:
        word: The search term of the program, "" for none.
    """
    lines = program.split("\n")
    match = FINDS.fullmatch(lines[0])
    if match is not None:
        variable, call, inside = match.groups()
        inner = [f"    {line}" for line in lines[1:]]
        yield "\n".join([f"for {variable} in {call}{inside}[1:{MAX_ITEMS}]:", *inner])
    if word:
        for other_name in [name for name in names if name != word][: MAX_ITEMS - 2]:
            yield program.replace(json.dumps(word, ensure_ascii=False), json.dumps(other_name, ensure_ascii=False))
    if any(param.argument == "page" for param in tool.arguments) and "page=" not in program and program.endswith("))"):
        for page in (2, 3):
            yield _with_argument(program, f"page={page}")


def _without_unknown_options(lines: Sequence[str], protocol: Protocol) -> list[str]:
    """The lines without optional arguments of reads that only have a placeholder: a filter with unknown values."""
    return [ast.unparse(_UnknownOptionRemover(protocol).visit(ast.parse(line))).replace("'…'", '"…"') for line in lines]


class _UnknownOptionRemover(ast.NodeTransformer):
    def __init__(self, protocol: Protocol) -> None:
        self._tools = {tool.name: tool for tool in protocol.tools}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        tool = self._tools.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if tool is not None and not tool.writes:
            required = {argument.argument for argument in tool.arguments if argument.required}
            node.keywords = [
                keyword for keyword in node.keywords if keyword.arg in required or not _has_placeholder(keyword.value)
            ]
        return node


def _has_placeholder(value: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and part.value == "…" for part in ast.walk(value))


def _without_path(call: str) -> str:
    """A call without the path into its response."""
    depth = 0
    for place, sign in enumerate(call):
        depth += (sign == "(") - (sign == ")")
        if sign == ")" and depth == 0:
            return call[: place + 1]
    return call
