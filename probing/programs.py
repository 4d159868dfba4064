"""Programs that call a tool with values that were seen, written without a model."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from probing.identifiers import OWN_NAME, noun_of_path, own_name
from probing.learned import Learned
from probing.permission import Permission, identity
from protocols.graph import ProtocolGraph, Want, attribute_of
from protocols.model import Parameter, Tool
from protocols.render import sentence
from protocols.routes import steps
from protocols.shapes import type_of
from protocols.words import SEARCHES, is_identifier, noun_of, words
from protocols.worked import FINDS, worked

__all__ = ["SEVERAL", "lacking", "others", "programs", "question"]

_FIRST_WORDS = ("a", "the", "love", "new")
"""What is looked for as long as no name has been seen."""
_MOST = 8
"""Values of an enumeration that a list is filled with."""
SEVERAL = 8
"""Things of which a tool is asked once it is known to answer: what only some of them have is optional."""


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
            yield from _chained(tool, [_direct(tool)], Learned(learned.protocol), permission, most)
        return
    among = [name for name, one in learned.found.items() if one.done]
    owner = permission.owner(tool)
    if owner is not None:
        if (program := _on_own(tool, owner, learned)) is not None:
            yield program, ""
        return
    if not lacking(tool, graph, among):
        lines = worked(graph, tool.name, among)
        yield from _chained(tool, lines if len(lines) > 1 else [_direct(tool)], learned, permission, most)
    for call in islice(_seen(tool, graph, learned), most):
        yield from _chained(tool, [call], learned, permission, 1)


def _chained(
    tool: Tool, lines: Sequence[str], learned: Learned, permission: Permission, most: int
) -> Iterator[tuple[str, str]]:
    """The programs of the lines that call a tool; what they look for is filled in."""
    *before, last = lines
    call = last if "=" not in last.partition("(")[0] else last.partition(" = ")[2]
    call = _with_items(_with_body(_whole(call), tool), tool, learned)
    program = "\n".join([*before, f"print({call})"])
    if '"…"' not in program:
        yield program, ""
    elif permission.makes(tool):
        yield program.replace('"…"', _new_name(learned)), ""
    else:
        for word in islice([*islice(learned.names, most), *_FIRST_WORDS], most):
            yield program.replace('"…"', json.dumps(word, ensure_ascii=False)), word


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
            yield f"{program[:-2]}{'' if program.endswith('())') else ', '}page={page}))"


def lacking(tool: Tool, graph: ProtocolGraph, among: Collection[str]) -> list[str]:
    """The required arguments of a tool that another one has to yield, and none of these does."""
    return [
        one.argument
        for one in tool.arguments
        if one.required
        and graph.want(tool.name, one.argument) is not None
        and _given(one) is None
        and not graph.producers(tool.name, one.argument, among)
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
    *before, last = OWN_NAME.sub(own_name(learned.requests), made).split("\n")
    call = f"{tool.name}({argument}=made{steps(found[0])})"
    for one in tool.arguments:
        if one.required and one.argument != argument:
            call = f"{call[:-1]}, {one.argument}={_value(one)})"
    call = _with_body(call, tool).replace('"…"', '"changed"')
    return "\n".join([*before, f"made = {last.removeprefix('print(').removesuffix(')')}", f"print({call})"])


def _new_name(learned: Learned) -> str:
    """What an object of our own is called, in quotes; no two are called the same."""
    return f'"{own_name(learned.requests)}"'


def _direct(tool: Tool) -> str:
    """The call of a tool with what its document gives for its required arguments."""
    given = [f"{one.argument}={_value(one)}" for one in tool.arguments if one.required]
    if not given:
        given = [f"{one.argument}={_value(one)}" for one in tool.arguments if one.argument.lower() in SEARCHES][:1]
    return f"{tool.name}({', '.join(given)})"


def _seen(tool: Tool, graph: ProtocolGraph, learned: Learned) -> Iterator[str]:
    """Calls of a tool with identifiers that were seen together, each with others."""
    flow = [
        (one, want)
        for one in tool.arguments
        if one.required and _given(one) is None and (want := graph.want(tool.name, one.argument)) is not None
    ]
    items = [one.argument for one, _ in flow if _item(one, learned) is not None]
    wanted = [want for one, want in flow if one.argument not in items]
    if not flow:
        return
    calls: dict[str, None] = {}
    for values in learned.identifiers(wanted):
        texts = {one.argument: repr(values[want]) for one, want in flow if want in values}
        given = [f"{one.argument}={texts.get(one.argument, _value(one))}" for one in tool.arguments if one.required]
        calls[f"{tool.name}({', '.join(given)})"] = None
    yield from calls


def _with_body(call: str, tool: Tool) -> str:
    """A call that gives a member of a body that may not be empty, though none of its members is required."""
    members = [
        one
        for one in tool.arguments
        if one.location == "body" and not is_identifier(one.argument) and not one.schema.get("readOnly")
    ]
    if tool.body is None or not tool.body.required or any(f"{one.argument}=" in call for one in members) or not members:
        return call
    given = f"{members[0].argument}={_value(members[0])}"
    return f"{call[:-1]}{'' if call.endswith('()') else ', '}{given})"


def _with_items(call: str, tool: Tool, learned: Learned) -> str:
    """A call whose lists of objects hold one of what was seen."""
    for one in tool.arguments:
        if f'{one.argument}=["…"]' in call and (item := _item(one, learned)) is not None:
            call = call.replace(f'{one.argument}=["…"]', f"{one.argument}={[item]!r}")
    return call


def _value(parameter: Parameter) -> str:
    given = _given(parameter)
    if given is not None:
        return repr(given)
    kinds = {"array": '["…"]', "integer": "1", "number": "1", "boolean": "True", "object": "{}"}
    return kinds.get(type_of(parameter.schema), '"…"')


def _item(parameter: Parameter, learned: Learned) -> dict[str, object] | None:
    """An object for a list of them, with identifiers that were seen of what the list is called after."""
    items = parameter.schema.get("items")
    properties = items.get("properties") if isinstance(items, Mapping) else None
    if not isinstance(properties, Mapping):
        return None
    wants = {str(key): Want(noun_of(parameter.argument), attribute_of(str(key)) or "") for key in properties}
    found = next(learned.identifiers([want for want in wants.values() if want.attribute]), {})
    return {key: found[want] for key, want in wants.items() if want in found} or None


def _given(parameter: Parameter) -> object:
    """A value that the document itself gives: of an enumeration, a default, an example."""
    schema = parameter.schema
    items = schema.get("items")
    if isinstance(items, Mapping) and isinstance(values := items.get("enum"), list):
        return values[:_MOST]  # what is asked for in all ways tells most
    for key in ("enum", "examples"):
        values = schema.get(key)
        if isinstance(values, list) and values:
            return values[0]
    return next((schema[key] for key in ("default", "example", "const") if schema.get(key) is not None), None)


def _whole(call: str) -> str:
    """A call without what is taken out of its response."""
    depth = 0
    for place, sign in enumerate(call):
        depth += (sign == "(") - (sign == ")")
        if sign == ")" and depth == 0:
            return call[: place + 1]
    return call
