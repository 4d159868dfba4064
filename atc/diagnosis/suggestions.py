"""Suggestions for a failure, from the protocol and the records of the run.

An error names what failed. That an identifier was hallucinated, which call provides the right one, and what a response
held, are facts; a small model should not have to guess them.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from atc.check import Diagnostic, apply_edits
from atc.check.diagnostic import Edit
from atc.diagnosis.provenance import MissingValue, lookup
from atc.diagnosis.runtime_values import RuntimeFact, runtime_facts
from atc.fault import Attribution, Fault
from atc.language.api_words import mentioned_values
from atc.language.question import Question
from atc.program.source import calls_of, parsed, subscripts_at
from atc.program.tree import called_name, nodes_of
from protocols.dataflow.call_paths import AvailableObject, path_to_field, path_to_resource, search_expression
from protocols.dataflow.graph import ProtocolGraph, ProvidedField
from protocols.json_path import Step, leaves, subscripts
from protocols.text.words import abbreviated_names, stem, words
from sandbox.body_store import LargeBody
from sandbox.records import CallRecord, Run

__all__ = ["Suggester", "Suggestion", "fix_from_responses"]

_TAKES = "; it takes "
"""The part of a message before the arguments of a tool."""
_MAX_OUTLINE = 400
_MIN_SIMILARITY = 0.78
"""Least similarity of an unknown key and the field that was meant."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Facts about a failure, one a line.

    `whole` is the failed program with its fix, where only one way leads to the missing value.
    """

    facts: tuple[str, ...] = ()
    whole: str = ""


@dataclass(frozen=True, slots=True)
class Suggester:
    """What is known of failures, from the protocol and the records of runs.

    Args:
        graph: The data flow of the protocol.
        question: Its words need not come from a call.
        tools: Names of the tools that the program may use, the best for the question first.
        enum_values: The enum values of the API's fields (see `protocols.dataflow.enum_values`).
    """

    graph: ProtocolGraph
    question: Question
    tools: Sequence[str]
    enum_values: Mapping[str, frozenset[str]]

    def for_run(self, fault: Fault, attribution: Attribution, program: str, run: Run | None) -> Suggestion:
        """The facts that a revision needs; empty when nothing is known beyond the error."""
        if run is None or attribution.call is None:
            return Suggestion()
        rejected = run.error.call if run.error else None
        call = run.calls[attribution.call if rejected is None else rejected]
        if call.tool is None:
            return Suggestion()
        if call.status is None or call.status >= 400:
            return Suggestion(tuple(self._identifier_advice(call, run.calls[: call.index])))
        facts = runtime_facts(program, run)
        lines = [fact.text for fact in facts]
        if not facts:
            lines.extend(attribution.evidence or [f"{call.tool} returned {_outline(call.response)}"])
        if any("empty list" in text for text in lines[: len(facts)]) and (finders := self._search_tools(call.tool)):
            lines.append(f"{call.tool} found nothing for these arguments; by name one searches with {finders}")
        missing = {fact.missing_key: fact for fact in facts if fact.missing_key}
        if not missing and fault.type == "KeyError":
            missing[fault.message.strip("'\"")] = RuntimeFact("", call.tool)
        for key, fact in sorted(missing.items()):
            inside = next(_paths_to_key(call.response, key), None)
            where = f'"{key}" is in {call.tool}(…){subscripts(inside)}' if inside is not None else ""
            advice = where or self._key_elsewhere(key, fact)[0]
            lines.extend([advice] if advice else [])
        return Suggestion(tuple(lines))

    def for_program(self, program: str, diagnostics: Sequence[Diagnostic]) -> Suggestion:
        """The facts that a revision of an unrun program needs."""
        facts, edited, sure = _further_problems(diagnostics), [], True
        lines, tree = program.split("\n"), parsed(program) or ast.Module([], [])
        for diagnostic in diagnostics:
            if diagnostic.edit is not None or diagnostic.key is None or diagnostic.tool is None:
                edited.append(diagnostic)
                continue
            wrong = next(subscripts_at(tree, diagnostic.line, diagnostic.column), None)
            advice, text = self._key_replacement(diagnostic, wrong, tree) if wrong is not None else ("", "")
            facts.extend([advice] if advice and advice not in facts else [])
            # one value, and not the first of several, unless the program itself took the first
            old = ast.unparse(wrong) if wrong is not None else ""
            sure = sure and text.count("[0]") <= old.count("[0]") and not text.startswith("[")
            alike = (node for node in nodes_of(tree, ast.Subscript) if node.lineno == diagnostic.line)
            edits = [Edit.of(lines, node, text) for node in alike if text and ast.unparse(node) == old]
            edited += [replace(diagnostic, edit=edit) for edit in edits or [None]]
        with_edit = [diagnostic for diagnostic in edited if diagnostic.edit is not None]
        whole = apply_edits(program, with_edit) if edited[0].edit is not None else None
        return Suggestion(tuple(facts), whole or "" if sure else "")

    def _key_replacement(self, diagnostic: Diagnostic, wrong: ast.Subscript, tree: ast.Module) -> tuple[str, str]:
        """The advice and the expression for a key that an object lacks; see `_key_elsewhere`."""
        tool = diagnostic.tool or ""
        objects = (AvailableObject(ast.unparse(wrong.value), tool, diagnostic.path),)
        calls = [node for node, _ in calls_of(tree, {tool}) if node.lineno <= diagnostic.line]
        last = max(calls, key=lambda node: (node.lineno, node.col_offset), default=None)
        arguments = {word.arg: ast.unparse(word.value) for word in (last.keywords if last else ()) if word.arg}
        fact = RuntimeFact("", tool, diagnostic.path, diagnostic.key, objects, arguments)
        advice, text = self._key_elsewhere(diagnostic.key or "", fact)
        short = _with_held_variable(tree, diagnostic.line, text)
        return advice.replace(text, short) if text else advice, short

    def _identifier_advice(self, call: CallRecord, earlier: Sequence[CallRecord]) -> Iterator[str]:
        """The right provider of each wrong identifier in a rejected call."""
        tool, graph = call.tool or "", self.graph
        for argument, value in call.arguments.items():
            reference = graph.reference(tool, argument)
            providers = graph.providers(tool, argument, self.tools)
            if reference is None or not providers:
                continue
            if str(value) in self.question.text:
                text = search_expression(graph, providers, value) if isinstance(value, str) else None
                if text is not None:
                    yield f"{argument}={value!r} is a name and no identifier. Write {text}"
                continue
            origin = next(((c, path) for c in reversed(earlier) for path in _paths_to_value(c.response, value)), None)
            if origin is None:
                message = f"{argument}={value!r} was made up."
                source = providers[0]
            else:
                provider, path = origin
                general = tuple(0 if isinstance(step, int) else step for step in path)
                if any(s.tool == provider.tool and s.path == general for s in providers):
                    continue
                problem = f"which is no {reference.noun} {reference.attribute}"
                message = f"{argument}={value!r} came from {provider.tool}{subscripts(path)}, {problem}."
                beside = next((s.path[-1] for s in providers if s.tool == provider.tool and s.path), None)
                if beside is not None and beside != path[-1] and _holds(provider.response, (*path[:-1], beside)):
                    yield f'{message} Use "{beside}" of the same object'
                    continue
                source = self._reachable_provider(provider.tool or "", providers)
            yield f"{message} Take {argument} from {graph.expression(source)}"

    def _reachable_provider(self, provider: str, providers: tuple[ProvidedField, ...]) -> ProvidedField:
        """The provider that needs only what the program already has, else the best."""
        for source in providers:
            feeds = (self.graph.providers(source.tool, argument) for argument in self.graph.needs(source.tool))
            if any(feeding.tool == provider for producers in feeds for feeding in producers[:1]):
                return source
        return providers[0]

    def _key_elsewhere(self, key: str, fact: RuntimeFact) -> tuple[str, str]:
        """The way from an object without a key to the field of that name, or with that value.

        Returns: The advice, and the expression; both may be empty.
        """
        graph, tools = self.graph, self.tools
        mentions = sorted(
            mentioned_values(map(stem, words(key)), self.enum_values).items(),
            key=lambda item: item[1].lower() != key.lower(),
        )
        arguments = {
            reference: text
            for name, text in fact.arguments.items()
            if (reference := graph.reference(fact.tool or "", name)) is not None
        }
        fields = {field.lower(): field for name in tools for field in graph.response_fields(name)}
        alike = get_close_matches(key.lower(), fields, 1, _MIN_SIMILARITY) or abbreviated_names(key, fields)
        alike = [] if key.lower() in fields else alike
        for field, value in [(fields[alike[0]] if alike else key, ""), *mentions[:1]]:
            call_path = path_to_field(graph, field, fact.objects, arguments, tools)
            if call_path is not None and value:
                items = call_path.text + subscripts(call_path.path[:-2])
                text = f'[item for item in {items} if item["{field}"] == "{value}"]'
                return f"Write {text} to find it", text
            call_path = call_path or (None if value else path_to_resource(graph, key, fact.objects, arguments, tools))
            if call_path is not None:
                return f'Write {call_path} in place of {fact.objects[0].text}["{key}"]', str(call_path)
            if names := [name for name in tools if name != fact.tool and field in graph.response_fields(name)][:2]:
                location = f'"{value}" is a value of "{field}" in' if value else f'"{key}" is a field of'
                return f"{location} what {' and '.join(names)} return{'s' if len(names) == 1 else ''}", ""
        return "", ""

    def _search_tools(self, tool: str) -> str:
        """The search tools, other than the one that found nothing."""
        names = [name for name in self.tools if name != tool and name in self.graph.roots and self.graph.searches(name)]
        return " or ".join(names[:3])


def fix_from_responses(program: str, run: Run) -> str | None:
    """The program with the failed line as its responses leave one way to write it; None where they do not.

    The same expression is fixed wherever it stands.
    """
    lines, tree = program.split("\n"), parsed(program)
    line = run.error.line if run.error is not None else None
    if line is None or tree is None:
        return None
    edits: list[Edit] = []
    for fact in runtime_facts(program, run):
        if fact.replacement is not None:
            wrong, text = ast.unparse(fact.replacement[0]), fact.replacement[1]
            alike = [node for node in nodes_of(tree, ast.expr) if ast.unparse(node) == wrong]
            edits += [edit for node in alike if (edit := Edit.of(lines, node, text)) is not None]
    edits += _relation_edits(tree, lines, line, run)
    if not edits:
        return None
    diagnostics = [Diagnostic(edit.line, edit.start, "unknown-key", "", edit=edit) for edit in edits]
    better = apply_edits(program, diagnostics)
    return better if better is not None and parsed(better) is not None and better != program else None


def _relation_edits(tree: ast.AST, lines: Sequence[str], line: int, run: Run) -> Iterator[Edit]:
    """Edits of arguments that were given an object for its identifier: the relation was expanded."""
    rejected = run.calls[run.error.call] if run.error is not None and run.error.call is not None else None
    if rejected is None or rejected.attempts:
        return
    for node in nodes_of(tree, ast.Call):
        if called_name(node) != rejected.tool:
            continue
        for word in node.keywords:
            value = rejected.arguments.get(word.arg or "")
            key = word.arg if isinstance(value, dict) and word.arg in value else "id"
            if node.lineno <= line <= (node.end_lineno or 0) and isinstance(value, dict) and key in value:
                edit = Edit.of(lines, word.value, f'{ast.unparse(word.value)}["{key}"]')
                if edit is not None and not isinstance(value[key], dict | list):
                    yield edit


def _with_held_variable(tree: ast.Module, line: int, text: str) -> str:
    """An expression with the variable that already holds its call, if there is one on that line."""
    expression = parsed(text)
    if expression is None:
        return text
    calls = {ast.unparse(node): node for node in nodes_of(expression, ast.Call)}
    for statement in _statements_before(tree.body, line):
        if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
            continue
        call = calls.get(ast.unparse(statement.value))
        used = {node.id for node in nodes_of(statement, ast.Name)}
        later = (node for node in nodes_of(tree, ast.Name) if statement.lineno < node.lineno < line)
        set_again = any(isinstance(node.ctx, ast.Store) and node.id in used for node in later)
        if call is not None and not set_again:
            return text.replace(ast.get_source_segment(text, call) or "", statement.targets[0].id)
    return text


def _statements_before(body: Sequence[ast.stmt | ast.excepthandler], line: int) -> Iterator[ast.AST]:
    """The statements that have certainly run before a line, the last ones first."""
    for statement in reversed(body):
        if statement.lineno <= line <= (statement.end_lineno or 0):
            for name in ("body", "orelse", "handlers", "finalbody"):
                part = getattr(statement, name, None)
                if part and part[0].lineno <= line <= part[-1].end_lineno:
                    yield from _statements_before(part, line)
        elif statement.lineno < line:
            yield statement


def _further_problems(diagnostics: Sequence[Diagnostic]) -> list[str]:
    """The messages after the first one, each once; the arguments of a tool are listed once, too."""
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
        message = "; ".join(filter(None, (problem, remainder))) if is_listed else diagnostic.message
        facts.append(f"line {diagnostic.line}: {message}")
    return facts[1:]


def _outline(response: object) -> str:
    """A response by its keys: `{page, results: [{id, name}, … 20 items]}`; cut to about 400 characters."""
    text = _outline_part(response, 0)
    return text if len(text) <= _MAX_OUTLINE else text[:_MAX_OUTLINE].rsplit(",", 1)[0] + ", …"


def _outline_part(value: object, depth: int) -> str:
    if isinstance(value, dict):
        if depth > 2:
            return "{…}"
        parts = []
        for key, part in value.items():
            inner = _outline_part(part, depth + 1) if isinstance(part, (dict, list)) or part is None else ""
            parts.append(f"{key}: {inner}" if inner else str(key))
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        more = f", … {len(value)} items" if len(value) > 1 else ""
        return f"[{_outline_part(value[0], depth + 1)}{more}]" if value else "[] (empty)"
    if isinstance(value, LargeBody):
        return value.beginning[:40]
    return "None" if value is None else json.dumps(value, ensure_ascii=False)[:40]


def _paths_to_value(value: object, target: object) -> Iterator[tuple[Step, ...]]:
    """The paths of a value in a response."""
    for path, leaf in leaves(value):
        if leaf is not None and not isinstance(leaf, bool) and str(leaf) == str(target):
            yield path


def _paths_to_key(value: object, key: str, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """The paths of a key in a response, in the first item of each list."""
    if isinstance(value, Mapping):
        if key in value:
            yield (*path, key)
        for name, part in value.items():
            yield from _paths_to_key(part, key, (*path, str(name)))
    elif isinstance(value, list) and value:
        yield from _paths_to_key(value[0], key, (*path, 0))


def _holds(response: object, path: tuple[Step, ...]) -> bool:
    """True if a response has a value at a path."""
    value = lookup(response, path)
    return value is not None and not isinstance(value, MissingValue)
