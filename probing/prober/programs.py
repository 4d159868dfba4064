"""Write programs that call a tool with observed values, without a model."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from atc.planning.loops import FINDS
from atc.planning.planner import plan_sketch
from probing.prober.identifiers import name_reference, noun_of_path
from probing.prober.observations import Observations
from probing.prober.permission import WritePermission, created_identifier
from probing.prober.values import OWN_NAME, documented_value, is_free_text, item_of, own_name, rename_objects, value_of
from probing.redact.redact import FIRST_WORDS
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import IdentifierReference, attribute_of
from protocols.model import Parameter, Protocol, Tool
from protocols.render import sentence
from protocols.schema_fields import items_of, resolve, subscripts, type_of
from protocols.text.words import SEARCHES, SIZES, is_identifier, noun_of, words

__all__ = ["MAX_ITEMS", "argument_variants", "item_variants", "programs", "question", "unprovided_arguments"]

_MAX_CHOICES = 4
"""Values of an enumeration to try."""
MAX_ITEMS = 8
"""Entities to call a complete tool for: a field that some lack is optional."""

_MAX_FILTERS = 8
"""Filter values to try on an empty list."""

_READ_FACTOR = 3
"""Factor on the number of programs with observed values for a read."""


def programs(
    tool: Tool,
    graph: ProtocolGraph,
    observations: Observations,
    permission: WritePermission,
    most: int,
    *,
    chain: bool = True,
) -> Iterator[tuple[str, str]]:
    """Programs that call a tool, the likeliest first, each with its search term ("" for none).

    Identifiers along the data flow come first, then other observed ones.
    Args:
        graph: The data flow known so far.
        most: Programs of each kind.
        chain: If responses of other tools may be used.
    """
    if not chain:
        if not unprovided_arguments(tool, graph, ()):
            empty = Observations(observations.protocol)
            yield from _complete_programs(tool, [_direct_call(tool, empty, permission)], empty, permission, most)
        return
    among = [name for name, finding in observations.findings.items() if finding.is_complete]
    owner = permission.creator(tool)
    if owner is not None:
        if (program := _call_on_created(tool, owner, observations)) is not None:
            yield program, ""
        return
    if permission.creates(tool):
        yield from _creating_programs(tool, graph, observations, permission, most, among)
        return
    yield from _bare_call(tool)
    yield from _filtered_calls(tool, observations)
    yield from _calls_with_missing(tool, observations, most)
    if _name_references(tool, graph, observations):  # an observed name is surer than any other
        yield from _calls_with_identifiers(tool, graph, observations, permission, most)
    if not _is_provided(tool, graph):
        yield from _calls_with_values(tool, observations, most)
    lacks = unprovided_arguments(tool, graph, among)
    if not lacks:
        lines = plan_sketch(graph, tool.name, among)
        lines = lines if len(lines) > 1 else [_direct_call(tool, observations, permission)]
        if (
            bare := _without_unknown_options(lines, observations.protocol)
        ) != lines:  # an unfiltered list has more items
            yield from _complete_programs(tool, bare, observations, permission, most)
        yield from _complete_programs(tool, lines, observations, permission, most)
    yield from _calls_with_identifiers(tool, graph, observations, permission, most)  # more may be known by now
    yield from _calls_with_values(tool, observations, most)


def _creating_programs(
    tool: Tool,
    graph: ProtocolGraph,
    observations: Observations,
    permission: WritePermission,
    most: int,
    among: Collection[str],
) -> Iterator[tuple[str, str]]:
    """Programs that create an object."""
    if permission.why_unrecognizable(tool):
        return
    if not unprovided_arguments(tool, graph, among):
        lines = plan_sketch(graph, tool.name, among)
        lines = lines if len(lines) > 1 else [_direct_call(tool, observations, permission)]
        yield from _complete_programs(tool, lines, observations, permission, most)
    yield from _calls_with_identifiers(tool, graph, observations, permission, most)


def _bare_call(tool: Tool) -> Iterator[tuple[str, str]]:
    """The call of a read without required arguments: an unfiltered list."""
    if tool.writes or any(argument.required for argument in tool.arguments):
        return
    yield f"print({tool.name}())", ""


def _filtered_calls(tool: Tool, observations: Observations) -> Iterator[tuple[str, str]]:
    """Calls of an empty list with each value of a filter, except its default."""
    if tool.writes or any(argument.required for argument in tool.arguments):
        return
    for argument in tool.arguments:
        schema = resolve(argument.schema, observations.protocol)
        items = items_of(schema, observations.protocol) if type_of(schema) == "array" else None
        values = (resolve(items, observations.protocol) if items is not None else schema).get("enum")
        usual = schema.get("default")
        for value in values[:_MAX_FILTERS] if isinstance(values, list) else ():
            if tool.name not in observations.empty_tools:
                return  # it is not empty any more
            if value is not None and value not in (usual if isinstance(usual, list) else [usual]):
                yield f"print({tool.name}({argument.argument}={[value] if items is not None else value!r}))", ""


def _calls_with_missing(tool: Tool, observations: Observations, most: int) -> Iterator[tuple[str, str]]:
    """Calls with the arguments that earlier errors reported as missing."""
    missing = [argument for argument in tool.arguments if argument.argument in observations.missing.get(tool.name, {})]
    if not missing:
        return
    arguments = [argument for argument in tool.arguments if argument.required or argument in missing]
    open_arguments = [argument for argument in arguments if documented_value(argument) is None]
    fixed = {
        argument.argument: value_of(argument, observations.protocol)
        for argument in arguments
        if documented_value(argument) is not None
    }
    yield from _calls_from_values(tool, arguments, open_arguments, fixed, observations, most)


def _calls_with_values(tool: Tool, observations: Observations, most: int) -> Iterator[tuple[str, str]]:
    """Calls with observed values from the list above an argument, or from fields of its name."""
    arguments = [argument for argument in tool.arguments if argument.required]
    open_arguments = [
        argument for argument in arguments if documented_value(argument) is None and "pattern" not in argument.schema
    ]
    if not open_arguments:
        return
    fixed = {
        argument.argument: value_of(argument, observations.protocol)
        for argument in arguments
        if argument not in open_arguments
    }
    yield from _calls_from_values(tool, arguments, open_arguments, fixed, observations, most)


def _calls_from_values(
    tool: Tool,
    arguments: Sequence[Parameter],
    open_arguments: list[Parameter],
    fixed: Mapping[str, str],
    observations: Observations,
    most: int,
) -> Iterator[tuple[str, str]]:
    for values in islice(observations.values.calls(tool, open_arguments), most if tool.writes else _READ_FACTOR * most):
        texts = {**fixed, **{name: repr(value) for name, value in values.items()}}
        keywords = ", ".join(
            f"{argument.argument}={texts[argument.argument]}" for argument in arguments if argument.argument in texts
        )
        call = _with_body(f"{tool.name}({keywords})", tool, observations)
        if '"…"' not in call:
            yield f"print({call})", ""
    if len(open_arguments) == 1 and (top := observations.values.root_path(open_arguments[0])) is not None:
        texts = {**fixed, open_arguments[0].argument: repr(top)}
        keywords = ", ".join(
            f"{argument.argument}={texts[argument.argument]}" for argument in arguments if argument.argument in texts
        )
        yield f"print({tool.name}({keywords}))", ""


def _is_provided(tool: Tool, graph: ProtocolGraph) -> bool:
    """True if the data flow or the document provides all required arguments, so that none is invented."""
    return all(
        documented_value(argument) is not None or graph.reference(tool.name, argument.argument) is not None
        for argument in tool.arguments
        if argument.required
    )


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


def _calls_with_identifiers(
    tool: Tool, graph: ProtocolGraph, observations: Observations, permission: WritePermission, most: int
) -> Iterator[tuple[str, str]]:
    for call in islice(_identifier_calls(tool, graph, observations), most):
        yield from _complete_programs(tool, [call], observations, permission, 1)


def _complete_programs(
    tool: Tool, lines: Sequence[str], observations: Observations, permission: WritePermission, most: int
) -> Iterator[tuple[str, str]]:
    """The programs of the lines that call a tool, with search terms filled in."""
    *before, last = lines
    call = last if "=" not in last.partition("(")[0] else last.partition(" = ")[2]
    call = _with_items(_with_body(_without_path(call), tool, observations), tool, observations)
    program = "\n".join([*before, f"print({call})"])
    if permission.creates(tool):
        program = _with_own_name(program.replace('"…"', repr(own_name(observations.requests))), tool, observations)
        yield program, ""
        if (plain := rename_objects(program, observations.requests, "_")) != program:
            yield plain, ""
    elif '"…"' not in program:
        yield program, ""
    else:
        for word in islice([*islice(observations.names_for(tool), most), *FIRST_WORDS], most):
            yield program.replace('"…"', json.dumps(word, ensure_ascii=False)), word


def _with_own_name(program: str, tool: Tool, observations: Observations) -> str:
    """A creating program that gives the object a name of the probe's own, unless it has one."""
    if OWN_NAME.search(program) or not program.endswith("))"):
        return program
    texts = [p for p in tool.arguments if p.location != "path" and is_free_text(p.schema, observations.protocol)]
    texts = [p for p in texts if f"{p.argument}=" not in program.rpartition("\n")[2] and not is_identifier(p.argument)]
    if not texts:
        return program
    name_argument = sorted(texts, key=lambda p: p.argument.lower() not in SEARCHES)[0]
    return _with_argument(
        program, f"{name_argument.argument}={own_name(observations.requests, name_argument.schema)!r}"
    )


def argument_variants(program: str, tool: Tool) -> Iterator[str]:
    """The program with each other value of a required enumeration, and with pages of one item.

    A list of enumerated values is tried with each one alone: the response may depend on it.
    """
    *before, last = program.split("\n")
    for argument in tool.arguments:
        values = argument.schema.get("enum")
        listed = values[:_MAX_CHOICES] if argument.required and isinstance(values, list) else []
        for value in listed:
            used = next((choice for choice in listed if f"{argument.argument}={choice!r}" in last), value)
            if value != used:
                yield "\n".join(
                    [*before, last.replace(f"{argument.argument}={used!r}", f"{argument.argument}={value!r}")]
                )
        items = argument.schema.get("items")
        several = items.get("enum") if isinstance(items, Mapping) else None
        if argument.required and isinstance(several, list):
            filled = re.compile(rf"\b{argument.argument}=\[[^\]]*\]")
            alone = [filled.sub(f"{argument.argument}=[{value!r}]", last) for value in several[:_MAX_CHOICES]]
            yield from ("\n".join([*before, line]) for line in alone if line != last)
        sized = not SIZES.isdisjoint(words(argument.argument)[-1:]) and type_of(argument.schema) == "integer"
        if sized and f"{argument.argument}=" not in last and last.endswith("))"):
            yield _with_argument(program, f"{argument.argument}=1")


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
    if (
        any(argument.argument == "page" for argument in tool.arguments)
        and "page=" not in program
        and program.endswith("))")
    ):
        for page in (2, 3):
            yield _with_argument(program, f"page={page}")


def unprovided_arguments(tool: Tool, graph: ProtocolGraph, among: Collection[str]) -> list[str]:
    """The required arguments that only another tool can provide, and none of these does."""
    return [
        argument.argument
        for argument in tool.arguments
        if argument.required
        and graph.reference(tool.name, argument.argument) is not None
        and documented_value(argument) is None
        and not graph.providers(tool.name, argument.argument, among)
    ]


def question(tool: Tool) -> str:
    """A user's question that the tool answers."""
    text = (tool.summary or tool.description or " ".join(words(tool.path))).strip()
    return sentence(text, 200)


def _call_on_created(tool: Tool, owner: tuple[str, str], observations: Observations) -> str | None:
    """The program that creates an object and calls a tool on it; None if creating one is not known yet."""
    maker, argument = owner
    create_program = observations.findings[maker].program
    bodies = observations.bodies.get(maker)
    located = (
        created_identifier(bodies[0], argument, noun_of_path(observations.protocol.tool(maker).path))
        if bodies
        else None
    )
    if not create_program or located is None:
        return None
    *before, last = rename_objects(create_program, observations.requests).split("\n")
    call = f"{tool.name}({argument}=made{subscripts(located[0])})"
    for other_argument in tool.arguments:
        if other_argument.required and other_argument.argument != argument:
            value = value_of(other_argument, observations.protocol, observations.requests)
            call = f"{call[:-1]}, {other_argument.argument}={value})"
    call = _with_body(call, tool, observations).replace('"…"', '"changed"')
    return "\n".join([*before, f"made = {last.removeprefix('print(').removesuffix(')')}", f"print({call})"])


def _direct_call(tool: Tool, observations: Observations, permission: WritePermission) -> str:
    """The call of a tool with values from its document; a created object gets a name of the probe's own."""
    number = observations.requests if permission.creates(tool) else None
    arguments = [argument for argument in tool.arguments if argument.required]
    arguments = arguments or [argument for argument in tool.arguments if argument.argument.lower() in SEARCHES][:1]
    values = [f"{argument.argument}={value_of(argument, observations.protocol, number)}" for argument in arguments]
    return f"{tool.name}({', '.join(values)})"


def _name_references(tool: Tool, graph: ProtocolGraph, observations: Observations) -> dict[str, IdentifierReference]:
    """The name references of a tool's path arguments, if such an entity was observed."""
    references = {
        argument.argument: reference
        for argument in tool.arguments
        if (reference := name_reference(tool, argument, graph)) is not None
    }
    observed = (
        {reference for record in observations.identifier_groups for reference, _ in record} if references else set()
    )
    return {argument: reference for argument, reference in references.items() if reference in observed}


def _identifier_calls(tool: Tool, graph: ProtocolGraph, observations: Observations) -> Iterator[str]:
    """Calls of a tool with identifiers that were observed together."""
    names = _name_references(tool, graph, observations)
    flow = [
        (argument, reference)
        for argument in tool.arguments
        if argument.required
        and (argument.argument in names or documented_value(argument) is None)
        and (reference := names.get(argument.argument) or graph.reference(tool.name, argument.argument)) is not None
    ]
    items = [argument.argument for argument, _ in flow if _observed_item(argument, observations) is not None]
    references = [reference for argument, reference in flow if argument.argument not in items]
    if not flow:
        return
    calls: dict[str, None] = {}
    for values in observations.identifiers(references, tool.path):
        texts = {argument.argument: repr(values[reference]) for argument, reference in flow if reference in values}
        keywords = {
            argument.argument: texts.get(argument.argument) or value_of(argument, observations.protocol)
            for argument in tool.arguments
            if argument.required
        }
        calls[f"{tool.name}({', '.join(f'{name}={text}' for name, text in keywords.items())})"] = None
    yield from calls


def _with_body(call: str, tool: Tool, observations: Observations) -> str:
    """A call with at least one body argument, if the body is required and none of its arguments is."""
    body_arguments = [
        argument
        for argument in tool.arguments
        if argument.location == "body" and not is_identifier(argument.argument) and not argument.schema.get("readOnly")
    ]
    if (
        tool.body is None
        or not tool.body.required
        or any(f"{argument.argument}=" in call for argument in body_arguments)
        or not body_arguments
    ):
        return call
    first = f"{body_arguments[0].argument}={value_of(body_arguments[0], observations.protocol)}"
    return f"{call[:-1]}{'' if call.endswith('()') else ', '}{first})"


def _with_items(call: str, tool: Tool, observations: Observations) -> str:
    """A call whose lists of objects hold an observed one, and whose objects have their required keys."""
    for argument in tool.arguments:
        if f'{argument.argument}=["…"]' in call:
            item = _observed_item(argument, observations)
            item_text = item_of(argument, observations.protocol) if item is None else repr(item)
            call = call.replace(f'{argument.argument}=["…"]', f"{argument.argument}=[{item_text}]")
        elif f"{argument.argument}={{}}" in call:
            call = call.replace(
                f"{argument.argument}={{}}", f"{argument.argument}={value_of(argument, observations.protocol)}"
            )
    return call


def _observed_item(parameter: Parameter, observations: Observations) -> dict[str, object] | None:
    """An object for a list argument, with observed identifiers of the list's entity."""
    items = parameter.schema.get("items")
    properties = items.get("properties") if isinstance(items, Mapping) else None
    if not isinstance(properties, Mapping):
        return None
    references = {
        str(key): IdentifierReference(noun_of(parameter.argument), attribute_of(str(key)) or "") for key in properties
    }
    values = next(observations.identifiers([reference for reference in references.values() if reference.attribute]), {})
    return {key: values[reference] for key, reference in references.items() if reference in values} or None


def _without_path(call: str) -> str:
    """A call without the path into its response."""
    depth = 0
    for place, sign in enumerate(call):
        depth += (sign == "(") - (sign == ")")
        if sign == ")" and depth == 0:
            return call[: place + 1]
    return call
