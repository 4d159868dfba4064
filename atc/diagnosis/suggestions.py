"""Say what would have been right, where the protocol and the run's own records know it.

An error text names what failed. That an identifier was made up or belongs to another kind of thing, which call yields
the right one, and what a response really held, are facts; a small model should not have to guess them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from atc.check import Diagnostic, mended
from atc.check.diagnostic import Edit
from atc.diagnosis.runtime_values import Finding, findings
from atc.fault import Attribution, Fault
from atc.language.enum_words import mentioned_values
from atc.program.source import parsed, subscripts_at
from protocols.dataflow.call_paths import AvailableObject, path_to_field, path_to_resource, search_expression
from protocols.dataflow.graph import ProtocolGraph, ProvidedField
from protocols.schema_fields import Step, subscripts
from protocols.text.words import abbreviated_names
from sandbox.body_store import LargeBody
from sandbox.records import CallRecord, Run

__all__ = ["Remedy", "by_replies", "outline", "remedy", "remedy_of"]


_TAKES = "; it takes "
"""What a message says before it lists the arguments of a tool."""
_ALIKE = 0.78
"""Likeness from which on a key that no tool returns is taken for one that a tool does return."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What is known about a failure: facts, each one line.

    `whole` is the failed program with what it should have said, where what was missing is one value that one way leads
    to.
    """

    facts: tuple[str, ...] = ()
    whole: str = ""


def remedy(
    fault: Fault,
    attribution: Attribution,
    program: str,
    run: Run | None,
    query: str,
    graph: ProtocolGraph,
    tools: Sequence[str],
    enum_values: Mapping[str, frozenset[str]],
) -> Remedy:
    """What a revision should know; nothing when nothing is known beyond the error.

    Args:
        fault: What went wrong.
        attribution: Whose fault it was.
        program: The program's text.
        run: The run, with its calls.
        query: The question: what it says need not come from a call.
        graph: The data flow of the protocol.
        tools: Names of the tools that the program may use, the best for the question first.
        enum_values: The fixed words of the API's fields (see `protocols.dataflow.enum_values`).
    """
    if run is None or attribution.call is None:
        return Remedy()
    rejected = run.error.call if run.error else None
    call = run.calls[attribution.call if rejected is None else rejected]
    if call.tool is None:
        return Remedy()
    lines: list[str] = []
    if call.status is None or call.status >= 400:
        lines.extend(_identifiers(call, run.calls[: call.index], query, graph, tools))
    else:
        facts = findings(program, fault.line, run.calls) if fault.line else []
        lines.extend(fact.text for fact in facts)
        if not facts:
            lines.extend(attribution.evidence or [f"{call.tool} returned {outline(call.response)}"])
        if any("empty list" in fact.text for fact in facts) and (finders := _finders(call.tool, graph, tools)):
            lines.append(f"{call.tool} found nothing for these arguments; by name one searches with {finders}")
        missing = {fact.missing: fact for fact in facts if fact.missing}
        if not missing and fault.type == "KeyError":
            missing[fault.message.strip("'\"")] = Finding("", call.tool)
        for key, fact in sorted(missing.items()):
            inside = [subscripts(path) for path in _places(call.response, key)]
            if inside:
                lines.append(f'"{key}" is in {call.tool}(…){inside[0]}')
                continue
            advice, _ = _elsewhere(key, fact, graph, tools, enum_values)
            lines.extend([advice] if advice else [])
    return Remedy(tuple(lines))


def by_replies(program: str, line: int | None, run: Run) -> str | None:
    """The program as the replies of its run leave one way to write the line that failed; None where they do not.

    The same expression is put right wherever it stands.
    """
    lines, tree = program.split("\n"), parsed(program)
    if line is None or tree is None:
        return None
    edits: list[Edit] = []
    for fact in findings(program, line, run.calls):
        if fact.instead is not None:
            wrong, text = ast.unparse(fact.instead[0]), fact.instead[1]
            alike = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and ast.unparse(node) == wrong]
            edits += [edit for node in alike if (edit := Edit.of(lines, node, text)) is not None]
    edits += _of_relations(tree, lines, line, run)
    if not edits:
        return None
    diagnostics = [Diagnostic(edit.line, edit.start, "unknown-key", "", edit=edit) for edit in edits]
    better = mended(program, diagnostics)
    return better if better is not None and parsed(better) is not None and better != program else None


def _of_relations(tree: ast.AST, lines: Sequence[str], line: int, run: Run) -> Iterator[Edit]:
    """Where a call was given a thing in place of its identifier: the relation was expanded."""
    rejected = run.calls[run.error.call] if run.error is not None and run.error.call is not None else None
    if rejected is None or rejected.attempts:
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != rejected.tool:
            continue
        for word in node.keywords:
            value = rejected.arguments.get(word.arg or "")
            key = word.arg if isinstance(value, dict) and word.arg in value else "id"
            if node.lineno <= line <= (node.end_lineno or 0) and isinstance(value, dict) and key in value:
                edit = Edit.of(lines, word.value, f'{ast.unparse(word.value)}["{key}"]')
                if edit is not None and not isinstance(value[key], dict | list):
                    yield edit


def remedy_of(
    diagnostics: Sequence[Diagnostic],
    program: str,
    graph: ProtocolGraph,
    tools: Sequence[str],
    enum_values: Mapping[str, frozenset[str]],
) -> Remedy:
    """What a revision should know of a program that was not run; `tools` and `enum_values` as for `remedy`."""
    facts, edited, sure = _told_once(diagnostics), [], True
    for diagnostic in diagnostics:
        if diagnostic.edit is None and diagnostic.key is not None and diagnostic.tool is not None:
            advice, text = _instead(diagnostic, program, graph, tools, enum_values)
            facts.extend([advice] if advice and advice not in facts else [])
            # one value, and not the first of several, unless the program itself took the first
            wrong = _wrong(program, diagnostic)
            firsts = ast.unparse(wrong).count("[0]") if wrong is not None else 0
            sure = sure and text.count("[0]") <= firsts and not text.startswith("[")
            edits = [Edit.of(program.split("\n"), node, text) for node in _alike(program, diagnostic)] if text else []
            edited += [replace(diagnostic, edit=edit) for edit in edits or [None]]
            continue
        edited.append(diagnostic)
    whole = (
        mended(program, [diagnostic for diagnostic in edited if diagnostic.edit is not None])
        if edited[0].edit is not None
        else None
    )
    return Remedy(tuple(facts), whole or "" if sure else "")


def _instead(
    diagnostic: Diagnostic,
    program: str,
    graph: ProtocolGraph,
    tools: Sequence[str],
    enum_values: Mapping[str, frozenset[str]],
) -> tuple[str, str]:
    """What to write in place of a key that an object has not; see `_elsewhere`."""
    node = _wrong(program, diagnostic)
    if node is None:
        return "", ""
    held = (AvailableObject(ast.unparse(node.value), diagnostic.tool or "", diagnostic.path),)
    arguments = _given(program, diagnostic.line, diagnostic.tool or "")
    advice, text = _elsewhere(
        diagnostic.key or "",
        Finding("", diagnostic.tool, diagnostic.path, diagnostic.key, held=held, arguments=arguments),
        graph,
        tools,
        enum_values,
    )
    short = _at_hand(program, diagnostic.line, text)
    return advice.replace(text, short) if text else advice, short


def _wrong(program: str, diagnostic: Diagnostic) -> ast.Subscript | None:
    """The expression that looks for a key that is not there."""
    return next(subscripts_at(parsed(program) or ast.Module([], []), diagnostic.line, diagnostic.column), None)


def _alike(program: str, diagnostic: Diagnostic) -> list[ast.Subscript]:
    """The expression that looks for a key that is not there, and the same again on its line."""
    wrong = _wrong(program, diagnostic)
    wrong_text = ast.unparse(wrong) if wrong is not None else None
    nodes = [node for node in ast.walk(parsed(program) or ast.Module([], [])) if isinstance(node, ast.Subscript)]
    return [node for node in nodes if node.lineno == diagnostic.line and ast.unparse(node) == wrong_text]


def _at_hand(program: str, line: int, text: str) -> str:
    """An expression for a line of a program, with the variable that holds what it calls for, if one does by then."""
    tree = parsed(program)
    expression = parsed(text)
    if tree is None or expression is None:
        return text
    calls = {ast.unparse(node): node for node in ast.walk(expression) if isinstance(node, ast.Call)}
    for statement in _before(tree.body, line):
        if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
            continue
        call = calls.get(ast.unparse(statement.value))
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        set_again = any(
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id in used
            and statement.lineno < node.lineno < line
            for node in ast.walk(tree)
        )
        if call is not None and not set_again:
            return text.replace(ast.get_source_segment(text, call) or "", statement.targets[0].id)
    return text


def _before(body: Sequence[ast.stmt | ast.excepthandler], line: int) -> Iterator[ast.AST]:
    """The statements that are sure to have run when a line does, the last ones first."""
    for statement in reversed(body):
        if statement.lineno <= line <= (statement.end_lineno or 0):
            for name in ("body", "orelse", "handlers", "finalbody"):
                part = getattr(statement, name, None)
                if part and part[0].lineno <= line <= part[-1].end_lineno:
                    yield from _before(part, line)
        elif statement.lineno < line:
            yield statement


def _told_once(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """What is wrong besides the first: each message once, and once what arguments a tool takes."""
    messages: set[str] = set()
    listed: set[tuple[str | None, str]] = set()
    facts = []
    for diagnostic in diagnostics:
        if diagnostic.message in messages:
            continue
        messages.add(diagnostic.message)
        problem, _, rest = diagnostic.message.partition(_TAKES)
        takes, _, remainder = rest.partition("; ")
        is_listed = takes and (diagnostic.tool, takes) in listed
        listed.add((diagnostic.tool, takes))
        facts.append(
            f"line {diagnostic.line}: {'; '.join(filter(None, (problem, remainder))) if is_listed else diagnostic.message}"
        )
    return facts[1:]


def _given(program: str, line: int, tool: str) -> dict[str, str]:
    """The arguments of the last call of a tool up to a line, as they are written; those of one in a loop may not hold
    outside."""
    calls = [
        node
        for node in ast.walk(parsed(program) or ast.Module([], []))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == tool
        and node.lineno <= line
    ]
    last = max(calls, key=lambda call: (call.lineno, call.col_offset), default=None)
    return {word.arg: ast.unparse(word.value) for word in last.keywords if word.arg} if last is not None else {}


def outline(value: object, most: int = 400) -> str:
    """A response by its keys: `{page, results: [{id, name}, … 20 items]}`; cut to about `most` characters."""
    text = _outline(value, 0)
    return text if len(text) <= most else text[:most].rsplit(",", 1)[0] + ", …"


def _outline(value: object, depth: int) -> str:
    if isinstance(value, Mapping):
        if depth > 2:
            return "{…}"
        parts = []
        for key, part in value.items():
            inner = _outline(part, depth + 1) if isinstance(part, (Mapping, list)) or part is None else ""
            parts.append(f"{key}: {inner}" if inner else str(key))
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        if not value:
            return "[] (empty)"
        return (
            f"[{_outline(value[0], depth + 1)}, … {len(value)} items]"
            if len(value) > 1
            else f"[{_outline(value[0], depth + 1)}]"
        )
    if isinstance(value, LargeBody):
        return value.beginning[:40]
    return "None" if value is None else json.dumps(value, ensure_ascii=False)[:40]


def _identifiers(
    call: CallRecord, earlier: Collection[CallRecord], query: str, graph: ProtocolGraph, tools: Collection[str]
) -> Iterator[str]:
    """For each identifier that a rejected call was given: where it should have come from."""
    tool = call.tool or ""
    for argument, value in call.arguments.items():
        want = graph.reference(tool, argument)
        sources = graph.providers(tool, argument, tools)
        if want is None or not sources:
            continue
        if str(value) in query:
            text = search_expression(graph, sources, value) if isinstance(value, str) else None
            if text is not None:
                yield f"{argument}={value!r} is a name and no identifier. Write {text}"
            continue
        origin = next(((c, path) for c in reversed(list(earlier)) for path in _find(c.response, value)), None)
        if origin is None:
            message = f"{argument}={value!r} was made up."
            source = sources[0]
        else:
            giver, path = origin
            general = tuple(0 if isinstance(step, int) else step for step in path)
            if any(s.tool == giver.tool and s.path == general for s in sources):
                continue
            message = f"{argument}={value!r} came from {giver.tool}{subscripts(path)}, which is no {want.noun} {want.attribute}."
            beside = next((s.path[-1] for s in sources if s.tool == giver.tool and s.path), None)
            if beside is not None and beside != path[-1] and _has(giver.response, (*path[:-1], beside)):
                yield f'{message} Use "{beside}" of the same object'
                continue
            source = _onwards(giver.tool or "", sources, graph)
        yield f"{message} Take {argument} from {graph.expression(source)}"


def _onwards(giver: str, sources: tuple[ProvidedField, ...], graph: ProtocolGraph) -> ProvidedField:
    """The source that can be reached with what the program already has, else the best."""
    for source in sources:
        feeds = (graph.providers(source.tool, argument) for argument in graph.needs(source.tool))
        if any(feeder.tool == giver for producers in feeds for feeder in producers[:1]):
            return source
    return sources[0]


def _find(value: object, target: object, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """Where a value stands in a response, each path from the root."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _find(part, target, (*path, str(key)))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _find(part, target, (*path, index))
    elif value is not None and not isinstance(value, bool) and str(value) == str(target):
        yield path


def _places(value: object, key: str, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """Where a key stands in a response, in the first item of each list."""
    if isinstance(value, Mapping):
        if key in value:
            yield (*path, key)
        for name, part in value.items():
            yield from _places(part, key, (*path, str(name)))
    elif isinstance(value, list) and value:
        yield from _places(value[0], key, (*path, 0))


def _has(value: object, path: tuple[Step, ...]) -> bool:
    """Whether a response has something at a path."""
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
            continue
        if not isinstance(value, list) or not isinstance(step, int) or step >= len(value):
            return False
        value = value[step]
    return value is not None


def _elsewhere(
    key: str, fact: Finding, graph: ProtocolGraph, tools: Sequence[str], enum_values: Mapping[str, frozenset[str]]
) -> tuple[str, str]:
    """How to get from an object that has no such key to what was meant: a field of that name, or with that value.

    Returns: A line that says it, and the program text that does it; both may be empty.
    """
    meant = sorted(mentioned_values(key, enum_values).items(), key=lambda item: item[1].lower() != key.lower())
    arguments = {
        want: text
        for name, text in fact.arguments.items()
        if (want := graph.reference(fact.tool or "", name)) is not None
    }
    fields = {field.lower(): field for name in tools for field in graph.response_fields(name)}
    alike = (
        []
        if key.lower() in fields
        else get_close_matches(key.lower(), fields, 1, _ALIKE) or abbreviated_names(key, fields)
    )
    for field, value in [(fields[alike[0]] if alike else key, ""), *meant[:1]]:
        call_path = path_to_field(graph, field, fact.held, arguments, tools)
        if call_path is not None and value:
            text = (
                f'[item for item in {call_path.text + subscripts(call_path.path[:-2])} if item["{field}"] == "{value}"]'
            )
            return f"Write {text} to find it", text
        call_path = call_path or (None if value else path_to_resource(graph, key, fact.held, arguments, tools))
        if call_path is not None:
            return f'Write {call_path} in place of {fact.held[0].text}["{key}"]', str(call_path)
        if names := [name for name in tools if name != fact.tool and field in graph.response_fields(name)][:2]:
            location = f'"{value}" is a value of "{field}" in' if value else f'"{key}" is a field of'
            return f"{location} what {' and '.join(names)} return{'s' if len(names) == 1 else ''}", ""
    return "", ""


def _finders(tool: str, graph: ProtocolGraph, tools: Collection[str]) -> str:
    """The tools that search by words, other than the one that found nothing."""
    names = [name for name in tools if name != tool and name in graph.roots and graph.searches(name)]
    return " or ".join(names[:3])
