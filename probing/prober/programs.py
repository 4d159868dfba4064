"""Programs that call a tool with values that were seen, written without a model."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from atc.planning.planner import FINDS, worked
from probing.prober.identifiers import named, noun_of_path
from probing.prober.observations import Learned
from probing.prober.permission import Permission, identity
from probing.prober.values import OWN_NAME, given, is_free_text, item_of, own_name, renamed, value_of
from probing.redact.redact import FIRST_WORDS
from protocols.dataflow.call_paths import steps
from protocols.dataflow.graph import ProtocolGraph
from protocols.dataflow.identifiers import IdentifierReference, attribute_of
from protocols.model import Parameter, Protocol, Tool
from protocols.render import sentence
from protocols.schema_fields import items_of, resolve, type_of
from protocols.text.words import SEARCHES, SIZES, is_identifier, noun_of, words

__all__ = ["SEVERAL", "choices", "lacking", "others", "programs", "question"]

_CHOICES = 4
"""Values of an enumeration of which each is asked for."""
SEVERAL = 8
"""Things of which a tool is asked once it is known to answer: what only some of them have is optional."""

_FILTERS = 8
"""Values of an enumeration that an empty list is filtered by."""

_MORE = 3
"""Times as many programs for a tool that reads, where values that were seen may be meant."""


def programs(
    tool: Tool,
    graph: ProtocolGraph,
    learned: Learned,
    permission: Permission,
    most: int,
    *,
    chain: bool = True,
) -> Iterator[tuple[str, str]]:
    """Programs that call a tool, the likeliest first, each with the name that it looks for ("" for none).

    First those that take identifiers from where the data flow says, then those with identifiers that were seen.
    Args:
        graph: The data flow of what is known so far.
        most: Programs of each kind.
        chain: Whether they may use what other tools answered.
    """
    if not chain:
        if not lacking(tool, graph, ()):
            empty = Learned(learned.protocol)
            yield from _chained(tool, [_direct(tool, empty, permission)], empty, permission, most)
        return
    among = [name for name, one in learned.found.items() if one.done]
    owner = permission.owner(tool)
    if owner is not None:
        if (program := _on_own(tool, owner, learned)) is not None:
            yield program, ""
        return
    if permission.makes(tool):
        yield from _making(tool, graph, learned, permission, most, among)
        return
    yield from _plain(tool)
    yield from _filtered(tool, learned)
    yield from _demanded(tool, learned, most)
    if _names(tool, graph, learned):  # what was seen to be called so is surer than any other name
        yield from _with_seen(tool, graph, learned, permission, most)
    if not _is_given(tool, graph):
        yield from _with_values(tool, learned, most)
    lacks = lacking(tool, graph, among)
    if not lacks:
        lines = worked(graph, tool.name, among)
        lines = lines if len(lines) > 1 else [_direct(tool, learned, permission)]
        if (bare := _bare(lines, learned.protocol)) != lines:  # a list that is not filtered holds more
            yield from _chained(tool, bare, learned, permission, most)
        yield from _chained(tool, lines, learned, permission, most)
    yield from _with_seen(tool, graph, learned, permission, most)  # more may have been seen since
    yield from _with_values(tool, learned, most)


def _making(
    tool: Tool, graph: ProtocolGraph, learned: Learned, permission: Permission, most: int, among: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Programs that make an object: what was asked for by an error is given, from values that were seen."""
    if permission.unsure(tool):
        return
    if not lacking(tool, graph, among):
        lines = worked(graph, tool.name, among)
        lines = lines if len(lines) > 1 else [_direct(tool, learned, permission)]
        yield from _chained(tool, lines, learned, permission, most)
    yield from _with_seen(tool, graph, learned, permission, most)


def _plain(tool: Tool) -> Iterator[tuple[str, str]]:
    """The call without optional arguments of a tool that reads and needs nothing: a list is asked for as it is."""
    if tool.writes or any(one.required for one in tool.arguments):
        return
    yield f"print({tool.name}())", ""


def _filtered(tool: Tool, learned: Learned) -> Iterator[tuple[str, str]]:
    """The call of a list that was empty, with each value of a filter that it does not go by on its own."""
    if tool.writes or any(one.required for one in tool.arguments):
        return
    for one in tool.arguments:
        schema = resolve(one.schema, learned.protocol)
        items = items_of(schema, learned.protocol) if type_of(schema) == "array" else None
        values = (resolve(items, learned.protocol) if items is not None else schema).get("enum")
        usual = schema.get("default")
        for value in values[:_FILTERS] if isinstance(values, list) else ():
            if tool.name not in learned.hollow:
                return  # nothing is missing
            if value is not None and value not in (usual if isinstance(usual, list) else [usual]):
                yield f"print({tool.name}({one.argument}={[value] if items is not None else value!r}))", ""


def _demanded(tool: Tool, learned: Learned, most: int) -> Iterator[tuple[str, str]]:
    """Calls with the arguments that errors of a tool asked for."""
    asked_for = [one for one in tool.arguments if one.argument in learned.demanded.get(tool.name, {})]
    if not asked_for:
        return
    wanted = [one for one in tool.arguments if one.required or one in asked_for]
    open_ones = [one for one in wanted if given(one) is None]
    fixed = {one.argument: value_of(one, learned.protocol) for one in wanted if given(one) is not None}
    yield from _calls(tool, wanted, open_ones, fixed, learned, most)


def _with_values(tool: Tool, learned: Learned, most: int) -> Iterator[tuple[str, str]]:
    """Calls whose arguments are values that were seen, of the list above them or of fields that are called so."""
    wanted = [one for one in tool.arguments if one.required]
    open_ones = [one for one in wanted if given(one) is None and "pattern" not in one.schema]
    if not open_ones:
        return
    fixed = {one.argument: value_of(one, learned.protocol) for one in wanted if one not in open_ones}
    yield from _calls(tool, wanted, open_ones, fixed, learned, most)


def _calls(
    tool: Tool,
    wanted: Sequence[Parameter],
    open_ones: list[Parameter],
    fixed: Mapping[str, str],
    learned: Learned,
    most: int,
) -> Iterator[tuple[str, str]]:
    for values in islice(learned.seen.calls(tool, open_ones), most if tool.writes else _MORE * most):
        texts = {**fixed, **{name: repr(value) for name, value in values.items()}}
        told = ", ".join(f"{one.argument}={texts[one.argument]}" for one in wanted if one.argument in texts)
        call = _with_body(f"{tool.name}({told})", tool, learned)
        if '"…"' not in call:
            yield f"print({call})", ""
    if len(open_ones) == 1 and (top := learned.seen.top(open_ones[0])) is not None:
        texts = {**fixed, open_ones[0].argument: repr(top)}
        told = ", ".join(f"{one.argument}={texts[one.argument]}" for one in wanted if one.argument in texts)
        yield f"print({tool.name}({told}))", ""


def _is_given(tool: Tool, graph: ProtocolGraph) -> bool:
    """Whether the data flow or the document yields all that a tool needs, so that nothing is made up for it."""
    return all(
        given(one) is not None or graph.reference(tool.name, one.argument) is not None
        for one in tool.arguments
        if one.required
    )


def _bare(lines: Sequence[str], protocol: Protocol) -> list[str]:
    """The lines without optional arguments of reads whose value would be made up: what they filter by is not known."""
    return [ast.unparse(_Bare(protocol).visit(ast.parse(line))).replace("'…'", '"…"') for line in lines]


class _Bare(ast.NodeTransformer):
    def __init__(self, protocol: Protocol) -> None:
        self._tools = {tool.name: tool for tool in protocol.tools}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        tool = self._tools.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if tool is not None and not tool.writes:
            required = {one.argument for one in tool.arguments if one.required}
            node.keywords = [one for one in node.keywords if one.arg in required or not _is_open(one.value)]
        return node


def _is_open(value: ast.expr) -> bool:
    return any(isinstance(part, ast.Constant) and part.value == "…" for part in ast.walk(value))


def _with_seen(
    tool: Tool, graph: ProtocolGraph, learned: Learned, permission: Permission, most: int
) -> Iterator[tuple[str, str]]:
    for call in islice(_seen(tool, graph, learned), most):
        yield from _chained(tool, [call], learned, permission, 1)


def _chained(
    tool: Tool, lines: Sequence[str], learned: Learned, permission: Permission, most: int
) -> Iterator[tuple[str, str]]:
    """The programs of the lines that call a tool; what they look for is filled in."""
    *before, last = lines
    call = last if "=" not in last.partition("(")[0] else last.partition(" = ")[2]
    call = _with_items(_with_body(_whole(call), tool, learned), tool, learned)
    program = "\n".join([*before, f"print({call})"])
    if permission.makes(tool):
        program = _with_own_name(program.replace('"…"', repr(own_name(learned.requests))), tool, learned)
        yield program, ""
        if (plain := renamed(program, learned.requests, "_")) != program:
            yield plain, ""
    elif '"…"' not in program:
        yield program, ""
    else:
        for word in islice([*islice(learned.names_for(tool), most), *FIRST_WORDS], most):
            yield program.replace('"…"', json.dumps(word, ensure_ascii=False)), word


def _with_own_name(program: str, tool: Tool, learned: Learned) -> str:
    """A program that makes an object, which gives it a name of one's own where nothing else does."""
    if OWN_NAME.search(program) or not program.endswith("))"):
        return program
    texts = [p for p in tool.arguments if p.location != "path" and is_free_text(p.schema, learned.protocol)]
    texts = [p for p in texts if f"{p.argument}=" not in program.rpartition("\n")[2] and not is_identifier(p.argument)]
    if not texts:
        return program
    named = sorted(texts, key=lambda p: p.argument.lower() not in SEARCHES)[0]
    return _also(program, f"{named.argument}={own_name(learned.requests, named.schema)!r}")


def choices(program: str, tool: Tool) -> Iterator[str]:
    """The same with each other value that a required argument may have (each one alone where it takes a list of them),
    and with pages of one: what is returned may depend on it."""
    *before, last = program.split("\n")
    for one in tool.arguments:
        values = one.schema.get("enum")
        listed = values[:_CHOICES] if one.required and isinstance(values, list) else []
        for value in listed:
            used = next((other for other in listed if f"{one.argument}={other!r}" in last), value)
            if value != used:
                yield "\n".join([*before, last.replace(f"{one.argument}={used!r}", f"{one.argument}={value!r}")])
        items = one.schema.get("items")
        several = items.get("enum") if isinstance(items, Mapping) else None
        if one.required and isinstance(several, list):
            filled = re.compile(rf"\b{one.argument}=\[[^\]]*\]")
            alone = [filled.sub(f"{one.argument}=[{value!r}]", last) for value in several[:_CHOICES]]
            yield from ("\n".join([*before, line]) for line in alone if line != last)
        sized = not SIZES.isdisjoint(words(one.argument)[-1:]) and type_of(one.schema) == "integer"
        if sized and f"{one.argument}=" not in last and last.endswith("))"):
            yield _also(program, f"{one.argument}=1")


def _also(program: str, argument: str) -> str:
    """A program whose last call, which is printed, is given one more argument."""
    return f"{program[:-2]}{'' if program.endswith('())') else ', '}{argument}))"


def others(program: str, tool: Tool, word: str, names: Sequence[str]) -> Iterator[str]:
    """The same for other things than the one a program found, so that what only some have is known to be optional.

    Args:
        word: The name that the program looks for, "" for none.
    """
    lines = program.split("\n")
    found = FINDS.fullmatch(lines[0])
    if found is not None:
        thing, call, inside = found.groups()
        inner = [f"    {line}" for line in lines[1:]]
        yield "\n".join([f"for {thing} in {call}{inside}[1:{SEVERAL}]:", *inner])
    if word:
        for other in [one for one in names if one != word][: SEVERAL - 2]:
            yield program.replace(json.dumps(word, ensure_ascii=False), json.dumps(other, ensure_ascii=False))
    if any(one.argument == "page" for one in tool.arguments) and "page=" not in program and program.endswith("))"):
        for page in (2, 3):
            yield _also(program, f"page={page}")


def lacking(tool: Tool, graph: ProtocolGraph, among: Collection[str]) -> list[str]:
    """The required arguments of a tool that another one has to yield, and none of these does."""
    return [
        one.argument
        for one in tool.arguments
        if one.required
        and graph.reference(tool.name, one.argument) is not None
        and given(one) is None
        and not graph.providers(tool.name, one.argument, among)
    ]


def question(tool: Tool) -> str:
    """What somebody asks for who is answered by a tool."""
    text = (tool.summary or tool.description or " ".join(words(tool.path))).strip()
    return sentence(text, 200)


def _on_own(tool: Tool, owner: tuple[str, str], learned: Learned) -> str | None:
    """The program that makes an object of our own and calls a tool on it; None where making one is not known yet."""
    maker, argument = owner
    made = learned.found[maker].program
    bodies = learned.bodies.get(maker)
    found = identity(bodies[0], argument, noun_of_path(learned.protocol.tool(maker).path)) if bodies else None
    if not made or found is None:
        return None
    *before, last = renamed(made, learned.requests).split("\n")
    call = f"{tool.name}({argument}=made{steps(found[0])})"
    for one in tool.arguments:
        if one.required and one.argument != argument:
            call = f"{call[:-1]}, {one.argument}={value_of(one, learned.protocol, learned.requests)})"
    call = _with_body(call, tool, learned).replace('"…"', '"changed"')
    return "\n".join([*before, f"made = {last.removeprefix('print(').removesuffix(')')}", f"print({call})"])


def _direct(tool: Tool, learned: Learned, permission: Permission) -> str:
    """The call of a tool with what its document gives for its required arguments; what it makes is called our way."""
    number = learned.requests if permission.makes(tool) else None
    wanted = [one for one in tool.arguments if one.required]
    wanted = wanted or [one for one in tool.arguments if one.argument.lower() in SEARCHES][:1]
    values = [f"{one.argument}={value_of(one, learned.protocol, number)}" for one in wanted]
    return f"{tool.name}({', '.join(values)})"


def _names(tool: Tool, graph: ProtocolGraph, learned: Learned) -> dict[str, IdentifierReference]:
    """By argument, what a path calls by another word than an identifier, where an answer had such a thing."""
    found = {one.argument: want for one in tool.arguments if (want := named(tool, one, graph)) is not None}
    seen = {want for record in learned.records for want, _ in record} if found else set()
    return {argument: want for argument, want in found.items() if want in seen}


def _seen(tool: Tool, graph: ProtocolGraph, learned: Learned) -> Iterator[str]:
    """Calls of a tool with identifiers that were seen together, each with others."""
    names = _names(tool, graph, learned)
    flow = [
        (one, want)
        for one in tool.arguments
        if one.required
        and (one.argument in names or given(one) is None)
        and (want := names.get(one.argument) or graph.reference(tool.name, one.argument)) is not None
    ]
    items = [one.argument for one, _ in flow if _item(one, learned) is not None]
    wanted = [want for one, want in flow if one.argument not in items]
    if not flow:
        return
    calls: dict[str, None] = {}
    for values in learned.identifiers(wanted, tool.path):
        texts = {one.argument: repr(values[want]) for one, want in flow if want in values}
        told = {
            one.argument: texts.get(one.argument) or value_of(one, learned.protocol)
            for one in tool.arguments
            if one.required
        }
        calls[f"{tool.name}({', '.join(f'{name}={text}' for name, text in told.items())})"] = None
    yield from calls


def _with_body(call: str, tool: Tool, learned: Learned) -> str:
    """A call that gives a member of a body that may not be empty, though none of its members is required."""
    members = [
        one
        for one in tool.arguments
        if one.location == "body" and not is_identifier(one.argument) and not one.schema.get("readOnly")
    ]
    if tool.body is None or not tool.body.required or any(f"{one.argument}=" in call for one in members) or not members:
        return call
    first = f"{members[0].argument}={value_of(members[0], learned.protocol)}"
    return f"{call[:-1]}{'' if call.endswith('()') else ', '}{first})"


def _with_items(call: str, tool: Tool, learned: Learned) -> str:
    """A call whose lists of objects hold one of what was seen, and whose objects have what they need."""
    for one in tool.arguments:
        if f'{one.argument}=["…"]' in call:
            item = _item(one, learned)
            told = item_of(one, learned.protocol) if item is None else repr(item)
            call = call.replace(f'{one.argument}=["…"]', f"{one.argument}=[{told}]")
        elif f"{one.argument}={{}}" in call:
            call = call.replace(f"{one.argument}={{}}", f"{one.argument}={value_of(one, learned.protocol)}")
    return call


def _item(parameter: Parameter, learned: Learned) -> dict[str, object] | None:
    """An object for a list of them, with identifiers that were seen of what the list is called after."""
    items = parameter.schema.get("items")
    properties = items.get("properties") if isinstance(items, Mapping) else None
    if not isinstance(properties, Mapping):
        return None
    wants = {
        str(key): IdentifierReference(noun_of(parameter.argument), attribute_of(str(key)) or "") for key in properties
    }
    found = next(learned.identifiers([want for want in wants.values() if want.attribute]), {})
    return {key: found[want] for key, want in wants.items() if want in found} or None


def _whole(call: str) -> str:
    """A call without what is taken out of its response."""
    depth = 0
    for place, sign in enumerate(call):
        depth += (sign == "(") - (sign == ")")
        if sign == ")" and depth == 0:
            return call[: place + 1]
    return call
