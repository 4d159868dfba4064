"""Say what the type checker found as somebody would who knows the API."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from typing import Literal

from atc.check.checker import Report
from atc.check.operands import begins_with, misfit, unbegun
from atc.check.stubs import Place, Stubs
from protocols.calling import nearest_argument
from protocols.contract import Contract
from protocols.graph import ProtocolGraph
from protocols.model import Tool
from protocols.routes import steps
from protocols.shapes import Step
from protocols.words import WRAPPERS, is_identifier, likeness, noun_of

__all__ = ["Diagnostic", "Edit", "Rule", "Teller"]

Rule = Literal[
    "syntax",
    "unknown-tool",
    "unknown-argument",
    "missing-argument",
    "wrong-type",
    "wrong-value",
    "unknown-key",
    "unknown-name",
    "possibly-unbound",
    "made-up-identifier",
    "unknown-url",
]

_TYPES: Mapping[str, Rule] = {
    "invalid-argument-type": "wrong-type",
    "not-subscriptable": "wrong-type",
    "missing-attribute": "wrong-type",
    "unresolved-attribute": "wrong-type",
    "not-iterable": "wrong-type",
    "unsupported-operator": "wrong-type",
    "call-non-callable": "wrong-type",
    "unknown-argument": "unknown-argument",
    "too-many-positional-arguments": "unknown-argument",
    "missing-argument": "missing-argument",
    "possibly-unresolved-reference": "possibly-unbound",
    "unresolved-reference": "unknown-name",
    "invalid-typed-dict-key": "unknown-key",
}
"""What of the checker's rules matters to a run; the rest is style, or sure of less than it says."""

_KEYS = 14
_SURE = 0.8
"""Likeness of two names from which on one is taken for a slip of the other."""
_CALLED = frozenset({"label", "name", "title"})
"""Keys of what a thing is called; of two that an object might have, one is meant by the other."""
_SCALARS = ("int", "float", "bool", "str", "None")
_CLASS = re.compile(r"_T\d+")
_GIVEN = re.compile(r"Argument to function `(\w+)` is incorrect: Expected `(.*)`, found `(.*)`")
_LITERAL = re.compile(r"^Literal\[(.).*")
_INDEXED = re.compile(r"Method `__getitem__` of type .* on object of type `(.*)`$")
_KEY = re.compile(r'Unknown key "([^"]*)" for TypedDict `(_T\d+)`')
_METHOD = re.compile(r"(GET|POST|PUT|PATCH|DELETE)_")

_IMPORTS: Mapping[str, str] = {
    **{name: name for name in ("collections", "datetime", "itertools", "json", "math", "random", "re", "statistics")},
    **dict.fromkeys(("Counter", "defaultdict"), "collections"),
    **dict.fromkeys(("date", "timedelta", "timezone"), "datetime"),
}
"""Names that programs use without importing them, and their modules."""

_BLOCKS = (ast.For, ast.While, ast.If, ast.Try, ast.With)
"""What may be gone through without setting the variables in it."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What to write in a program for what stands on a line (from 1) between two columns (from 0)."""

    line: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake. `line` counts from 1 and `column` from 0; `tool` is the one whose call or response it is about.

    `suggestion` is the name, key or value that was probably meant, as it would be written; None where none is near.
    `edit` puts it into the program, where that is likely to be what was meant. `path` is where in the tool's response
    the object is that has no such key, `key` that key.
    """

    line: int
    column: int
    rule: Rule
    message: str
    tool: str | None = None
    suggestion: str | None = None
    edit: Edit | None = None
    path: tuple[Step, ...] = ()
    key: str | None = None
    """The name that is not defined, or the key that is not there."""

    def to_json(self) -> dict[str, object]:
        """Plain data; the keys are part of the interface."""
        names = ("line", "column", "rule", "message", "tool", "suggestion")
        return {name: getattr(self, name) for name in names}


class Teller:
    """Turns what the checker says of one program into diagnostics."""

    def __init__(
        self,
        program: str,
        tree: ast.Module,
        contract: Contract,
        names: Sequence[str],
        stubs: Stubs,
        graph: ProtocolGraph | None = None,
    ) -> None:
        self.graph = graph
        self.lines = program.split("\n")
        self.tree = tree
        self.contract = contract
        self.names = names
        self.stubs = stubs
        self._stored: set[tuple[str, str]] = set()
        self._updated = {
            node.func.value.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "update"
            and isinstance(node.func.value, ast.Name)
        }

    def all_told(self, reports: Sequence[Report]) -> list[Diagnostic]:
        """The diagnostics of one program. A key that it puts into an object itself is there."""
        stores = {
            (node.slice.lineno, node.slice.col_offset)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        }
        stores |= {
            (node.args[0].lineno, node.args[0].col_offset)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault"
            if node.args
        }
        for report in reports:
            found = _KEY.match(report.text)
            if found is not None and (report.line, report.column) in stores:
                self._stored.add((found[2], found[1]))
        return [told for report in reports if (told := self.told(report)) is not None]

    def told(self, report: Report) -> Diagnostic | None:
        """A diagnostic; None for what does not matter to a run."""
        rule = _TYPES.get(report.rule)
        if rule is None:
            return None
        quoted = re.findall(r"`([^`]*)`", report.text)
        match rule:
            case "unknown-name":
                return self._name(report, quoted[0] if quoted else "")
            case "possibly-unbound":
                message = f"{quoted[0]} may have no value here: no line before it is sure to set it"
                return self._at(report, rule, message, edit=self._begun_with(quoted[0]))
            case "unknown-key":
                return self._key(report, re.findall(r'Unknown key "([^"]*)"', report.text), quoted)
            case "unknown-argument" | "missing-argument":
                return self._argument(report, rule, quoted)
            case _:
                return self._type(report, quoted)

    def _at(
        self,
        report: Report,
        rule: Rule,
        message: str,
        tool: str | None = None,
        suggestion: str | None = None,
        edit: Edit | None = None,
    ) -> Diagnostic:
        return Diagnostic(report.line, report.column, rule, message, tool, suggestion, edit)

    def _begun_with(self, name: str) -> Edit | None:
        """Set a variable at the beginning, where a loop or a branch of the program itself sets it."""
        value = begins_with(self.tree, name)
        return Edit(1, 0, 0, f"{name} = {value}\n") if name in self._set_in_blocks() else None

    def _is_set_later(self, report: Report) -> bool:
        """Whether what is None at first is a variable that a loop or a branch sets to something, as in a search for
        the best of several."""
        name = re.match(r"\w+", self.lines[report.line - 1][report.column :])
        return name is not None and name[0] in self._set_in_blocks()

    def _set_in_blocks(self) -> set[str]:
        inner = [part for node in self.tree.body if isinstance(node, _BLOCKS) for part in ast.walk(node)]
        return {part.id for part in inner if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}

    def _instead(self, report: Report, text: str | None) -> Edit | None:
        """Write something for what the checker points at."""
        if text is None or report.line != report.end_line:
            return None
        return Edit(report.line, report.column, report.end_column, text)

    def _name(self, report: Report, name: str) -> Diagnostic:
        if name in _IMPORTS:
            line = self._import(name)
            told = self._at(report, "unknown-name", f"{name} is not imported", edit=Edit(1, 0, 0, f"{line}\n"))
            return replace(told, key=name)
        if not _METHOD.match(name):
            near = get_close_matches(name, self.names, 1, 0.85) if self._is_called(report) else []
            meant = f"; did you mean {near[0]}?" if near else ""
            rule: Rule = "unknown-tool" if near else "unknown-name"
            edit = self._instead(report, near[0] if near else None) or self._begun_with(name)
            told = self._at(report, rule, f"{name} is not defined{meant}", None, near[0] if near else None, edit)
            return replace(told, key=name)
        given = self._given_to(report)
        best = max(self.names, key=lambda tool: self._fitness(name, given, tool), default=None)
        near_tool = best if best is not None and self._fitness(name, given, best) >= 0.7 else None
        meant = f"; did you mean {near_tool}?" if near_tool else ""
        if near_tool is None:
            alike = sorted(self.names, key=lambda tool: -self._fitness(name, given, tool))[:3]
            meant = f"; there are {', '.join(alike)}" if alike else ""
        tool = self.contract.protocol.tool(near_tool) if near_tool else None
        edit = (
            self._instead(report, near_tool) if tool is not None and _may_stand_for(tool, name, given or ()) else None
        )
        return self._at(report, "unknown-tool", f"there is no function {name}{meant}", near_tool, near_tool, edit)

    def _import(self, name: str) -> str:
        """The line that imports a name of the standard library; of `datetime` the class, where that is meant."""
        used = {
            node.attr
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
        }
        if name == "datetime" and not used & {"datetime", "date", "timedelta", "timezone"}:
            return "from datetime import datetime"
        module = _IMPORTS[name]
        return f"from {module} import {name}" if module != name else f"import {name}"

    def _is_called(self, report: Report) -> bool:
        """Whether what is at a place is called: else it is no function, whatever it is called like."""
        return self.lines[report.line - 1][report.end_column :].startswith("(")

    def _given_to(self, report: Report) -> list[str] | None:
        """The names of the arguments of the call of a function that there is not; None where it is not called."""
        here = (report.line, report.column)
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        for call in calls:
            if isinstance(call.func, ast.Name) and (call.func.lineno, call.func.col_offset) == here:
                return [word.arg for word in call.keywords if word.arg]
        return None

    def _fitness(self, name: str, given: Sequence[str] | None, tool: str) -> float:
        """How well a tool stands for a function that there is not: by its name, and by the arguments it takes."""
        method = self.contract.protocol.tool(tool).method
        if any(name.startswith(f"{one}_") != (method == one) for one in ("GET", "DELETE")):
            return 0.0  # what removes does not stand for what adds
        alike = likeness(name, tool)
        if not given:
            return alike
        taken = {parameter.argument for parameter in self.contract.protocol.tool(tool).arguments}
        return alike * 0.7 + 0.3 * len(taken.intersection(given)) / len(given)

    def _key(self, report: Report, keys: list[str], quoted: list[str]) -> Diagnostic | None:
        place = next((self.stubs.places[name] for name in quoted if name in self.stubs.places), None)
        if place is None:
            return None
        if keys:
            return None if self._may_have(report, keys[0]) else self._missing(report, place, keys[0])
        lists = [key for key in place.keys if (*place.path, key, 0) in self._paths(place.tool)]
        hint = f', and the list is in ["{lists[0]}"]' if len(lists) == 1 else ""
        message = f"{place.tool}(…){steps(place.path)} is a dict: its keys are {_listed(place.keys)}{hint}"
        if len(lists) != 1:
            return self._at(report, "wrong-type", message, place.tool)
        written = f'"{lists[0]}"][' + self._written(report)
        return self._at(report, "wrong-type", message, place.tool, f'["{lists[0]}"]', self._instead(report, written))

    def _may_have(self, report: Report, key: str) -> bool:
        """Whether an object may have a key that its document does not know: the program put it there, or it is asked
        for with `.get` where the object may be another one, too."""
        classes = set(_CLASS.findall(report.text))
        if any((one, key) in self._stored for one in classes):
            return True
        place = (report.line, report.column)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Subscript) and (node.slice.lineno, node.slice.col_offset) == place:
                return isinstance(node.value, ast.Name) and node.value.id in self._updated
            if isinstance(node, ast.Call) and node.args and (node.args[0].lineno, node.args[0].col_offset) == place:
                return any(key in self.stubs.places[one].keys for one in classes & self.stubs.places.keys())
        return False

    def _written(self, report: Report) -> str:
        """The text that the checker points at."""
        return self.lines[report.line - 1][report.column : report.end_column]

    def _paths(self, tool: str) -> set[tuple[Step, ...]]:
        """Where a tool's response has objects."""
        return {place.path for place in self.stubs.places.values() if place.tool == tool}

    def _missing(self, report: Report, place: Place, key: str) -> Diagnostic:
        """A key that an object does not have: which it has, and where that key is."""
        where = f"{place.tool}(…){steps(place.path)}"
        message = f'{where} has no "{key}"; its keys are {_listed(place.keys)}'
        same = [name for name in place.keys if noun_of(name) == noun_of(key)]
        same = same or [name for name in place.keys if key in _CALLED and name in _CALLED][:1]
        lower = {name.lower(): name for name in place.keys}
        near = same or [lower[found] for found in get_close_matches(key.lower(), lower, 1, 0.6)]
        sure = bool(same) or (bool(near) and SequenceMatcher(None, near[0].lower(), key.lower()).ratio() >= _SURE)
        suggestion = f'["{near[0]}"]' if near else None
        text = f'"{near[0]}"' if sure else None
        if inside := self._inside(place, key):
            suggestion = steps(inside[len(place.path) :])
            text = suggestion[1:-1]
            message += f'; "{key}" is in {place.tool}(…){steps(inside)}'
        elif near:
            message += f'; did you mean "{near[0]}"?'
        edit = self._instead(report, text) if report.rule == "invalid-typed-dict-key" else None
        if not inside and not same and (beside := self._beside(place, key)) is not None:
            wrong, right, path = beside
            message = f'{where} has no "{key}"; "{key}" is in {place.tool}(…){steps(path)}, not in ["{wrong}"]'
            suggestion, edit = f'["{right}"]', self._only(wrong, right)
        elif not inside and not near and (above := self._above(place, key)) is not None:
            message += f'; "{key}" is in {place.tool}(…){steps(above)}'
            suggestion, edit = steps(above), self._from_above(report, place.tool, above)
        told = self._at(report, "unknown-key", message, place.tool, suggestion, edit)
        return replace(told, path=place.path, key=key)

    def _above(self, place: Place, key: str) -> tuple[Step, ...] | None:
        """Where a key is in one of the objects that an object is in, unless these are several."""
        holders = [place.path[:length] for length in range(len(place.path)) if 0 not in place.path[:length]]
        for other in self.stubs.places.values():
            if other.tool == place.tool and other.path in holders and key in other.keys:
                return (*other.path, key)
        return None

    def _from_above(self, report: Report, tool: str, path: tuple[Step, ...]) -> Edit | None:
        """Take a value from the whole response, which the only call of a tool that reads gives once more."""
        calls = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == tool
        ]
        wrong = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Subscript)
            and (node.slice.lineno, node.slice.col_offset) == (report.line, report.column)
            and node.lineno == node.end_lineno
        ]
        plain = self.lines[report.line - 1].isascii()
        if len(calls) != 1 or not wrong or not plain or self.contract.protocol.tool(tool).writes:
            return None
        return Edit(
            report.line, wrong[0].col_offset, wrong[0].end_col_offset or 0, f"{ast.unparse(calls[0])}{steps(path)}"
        )

    def _beside(self, place: Place, key: str) -> tuple[str, str, tuple[Step, ...]] | None:
        """An object beside another, which has a key: what was written, what leads there, and its place."""
        for other in self.stubs.places.values():
            if other.tool != place.tool or key not in other.keys or len(other.path) != len(place.path):
                continue
            steps_apart = [pair for pair in zip(place.path, other.path, strict=True) if pair[0] != pair[1]]
            if len(steps_apart) == 1:
                wrong, right = steps_apart[0]
                return str(wrong), str(right), (*other.path, key)
        return None

    def _only(self, wrong: str, right: str) -> Edit | None:
        """Write one key for another, if the program has it in one place alone."""
        found = [
            node.slice
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == wrong
        ]
        if len(found) != 1 or not self.lines[found[0].lineno - 1].isascii():
            return None
        return Edit(found[0].lineno, found[0].col_offset, found[0].end_col_offset or 0, f'"{right}"')

    def _inside(self, place: Place, key: str) -> tuple[Step, ...] | None:
        """Where a key is below an object, at most three keys and lists deeper."""
        below = [
            other.path
            for other in self.stubs.places.values()
            if other.tool == place.tool
            and len(place.path) < len(other.path) <= len(place.path) + 3
            and other.path[: len(place.path)] == place.path
            and key in other.keys
        ]
        return (*min(below, key=len), key) if below else None

    def _argument(self, report: Report, rule: Rule, quoted: list[str]) -> Diagnostic | None:
        name = next((name for name in quoted if name in self.names), None) or self._callee(report)
        if name is None:
            return None
        tool = self.contract.protocol.tool(name)
        takes = [parameter.argument for parameter in tool.arguments]
        if report.rule == "too-many-positional-arguments":
            path = ", ".join(p.argument for p in tool.arguments if p.location == "path")
            only = f"only {path} may go without a name" if path else "all its arguments need their names"
            message = f"{name}(): {only}; it takes {_listed(takes)}"
            return self._at(report, rule, message, name, edit=self._name_it(report, tool))
        if rule == "missing-argument":
            missing = [argument for argument in quoted if argument in takes]
            wanted = f"{missing[0]}=" if missing else None
            edit = self._filled(report, name, missing)
            return self._at(report, rule, f"{name}() misses {', '.join(missing)}", name, wanted, edit)
        given = {keyword.arg for call in self._calls(report) for keyword in call.keywords}
        near = nearest_argument(tool, quoted[0], [argument for argument in takes if argument not in given])
        meant = f"; did you mean {near}?" if near else f"; it takes {_listed(takes)}"
        protocol = self.contract.protocol
        others = [one for one in self.names if one != name and protocol.tool(one).argument(quoted[0]) is not None]
        if others:
            meant += f"; {' and '.join(others[:2])} take{'s' if len(others) == 1 else ''} it"
        sure = near is not None and SequenceMatcher(None, near.lower(), quoted[0].lower()).ratio() >= _SURE
        edit = None
        if near is not None and (sure or not others) and (sure or len(takes) == 1):
            edit = Edit(report.line, report.column, report.column + len(quoted[0]), near)
        return self._at(report, rule, f"{name}() has no argument {quoted[0]!r}{meant}", name, near, edit)

    def _filled(self, report: Report, name: str, missing: Sequence[str]) -> Edit | None:
        """Give a call what it misses, where a call that needs nothing yields it: `user_id=GET_me()["id"]`."""
        calls = [call for call in self._calls(report) if isinstance(call.func, ast.Name) and call.func.id == name]
        if not calls or not missing or self.graph is None or calls[-1].lineno != report.line:
            return None
        texts = []
        for argument in missing:
            sources = self.graph.producers(name, argument, self.names)
            if not sources or sources[0].header or 0 in sources[0].path or "…" in self.graph.expression(sources[0]):
                return None
            texts.append(f"{argument}={self.graph.expression(sources[0])}")
        row = self.lines[report.line - 1]
        end = len(row.encode()[: calls[-1].func.end_col_offset].decode(errors="ignore")) + 1
        comma = ", " if calls[-1].args or calls[-1].keywords else ""
        return Edit(report.line, end, end, ", ".join(texts) + comma) if row[end - 1 : end] == "(" else None

    def _name_it(self, report: Report, tool: Tool) -> Edit | None:
        """Give a value without a name that of the one argument that must be given."""
        needed = [parameter for parameter in tool.arguments if parameter.required]
        calls = self._calls(report)
        if len(needed) != 1 or needed[0].location == "path" or not calls or len(calls[-1].args) != 1:
            return None
        return Edit(report.line, report.column, report.column, f"{needed[0].argument}=")

    def _callee(self, report: Report) -> str | None:
        """The tool whose call stands around a place."""
        calls = self._calls(report)
        return calls[-1].func.id if calls and isinstance(calls[-1].func, ast.Name) else None

    def _calls(self, report: Report) -> list[ast.Call]:
        """The calls of tools that stand around a place, the outermost first."""
        place = (report.line, report.column)
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in self.names
            and (node.lineno, node.col_offset) <= place < (node.end_lineno or 0, node.end_col_offset or 0)
        ]

    def _type(self, report: Report, quoted: list[str]) -> Diagnostic | None:
        """A value that is used as what it is not: what an API returned, or what its functions are given."""
        classes = [name for text in quoted for name in _CLASS.findall(text) if name in self.stubs.places]
        place = self.stubs.places[classes[0]] if classes else None
        tool = place.tool if place else None
        if (given := _GIVEN.match(report.text)) is not None:
            return self._given(report, given[1], given[2], given[3])
        if (indexed := _INDEXED.match(report.text)) is not None:
            return self._indexed(report, indexed[1], place)
        if report.rule in ("missing-attribute", "unresolved-attribute"):
            return self._attribute(report, quoted, place)
        nothing = report.rule == "not-subscriptable" and quoted[:1] == ["None"]
        if nothing and (self._is_set_later(report) or self._written(report).startswith("re.")):
            return None
        if report.rule == "not-subscriptable" and quoted and quoted[0] in _SCALARS:
            return self._at(report, "wrong-type", f"this is of type {quoted[0]}, which has nothing inside", tool)
        if report.rule == "not-iterable" and quoted and quoted[0] in _SCALARS:
            return self._at(report, "wrong-type", f"this is of type {quoted[0]} and no list", tool)
        if report.rule == "unsupported-operator" and len(quoted) == 3:
            return self._operator(report, quoted[0], [_LITERAL.sub(_plain, kind) for kind in quoted[1:]], tool)
        return None

    def _operator(self, report: Report, sign: str, kinds: list[str], tool: str | None) -> Diagnostic | None:
        """`x < y` where one of the two is a text, or None at first."""
        begin, end = self._bytes(report.line, report.column), self._bytes(report.end_line, report.end_column)
        first = unbegun(self.tree, begin, end)
        if first is not None and any("None" in kind for kind in kinds):
            name, at, value = first
            begun = Edit(at.lineno, at.col_offset, at.end_col_offset or 0, value)
            return self._at(report, "wrong-type", f"{name} is None at first: begin with {value}", tool, value, begun)
        if not all(kind in _SCALARS or kind in self.stubs.places for kind in kinds):
            return None
        one, other = (self._spoken(kind) for kind in kinds)
        found = misfit(self.tree, begin, end, sign, kinds)
        edit = self._rewritten(*found) if found is not None else None
        hint = f"; write {edit.text}" if edit is not None else ""
        return self._at(report, "wrong-type", f"{sign} does not go with {one} and {other}{hint}", tool, edit=edit)

    def _rewritten(self, node: ast.expr, form: str) -> Edit | None:
        """An expression in another form; None where it goes over several lines."""
        if node.lineno != node.end_lineno:
            return None
        row = self.lines[node.lineno - 1]
        start, end = (len(row.encode()[:at].decode()) for at in (node.col_offset, node.end_col_offset or 0))
        return Edit(node.lineno, start, end, form.format(row[start:end]))

    def _bytes(self, line: int, column: int) -> tuple[int, int]:
        """A place with its column as the syntax tree counts it."""
        return line, len(self.lines[line - 1][:column].encode())

    def _attribute(self, report: Report, quoted: list[str], place: Place | None) -> Diagnostic | None:
        """`x.name` where x is an object of a response, or a list of them."""
        attribute = quoted[-1]
        if report.text.startswith("Module `datetime` "):
            message = f"datetime.{attribute} is of the class: from datetime import datetime"
            return self._at(report, "unknown-name", message, edit=self._import_class())
        if place is None or not quoted[0].startswith(("_T", "list[_T")):
            return None
        if quoted[0].startswith("list["):
            where = f"{place.tool}(…){steps(place.path[:-1])}"
            message = f'{where} is a list: take an item of it first, as in [0]["{attribute}"]'
            return self._at(report, "wrong-type", message, place.tool, f'[0]["{attribute}"]')
        if attribute in place.keys:
            message = f'{place.tool}(…){steps(place.path)} is a dict: write ["{attribute}"] for .{attribute}'
            return self._at(report, "wrong-type", message, place.tool, f'["{attribute}"]')
        return self._missing(report, place, attribute)

    def _import_class(self) -> Edit | None:
        """`from datetime import datetime` for `import datetime`, where nothing else of the module is used."""
        for node in self.tree.body:
            if isinstance(node, ast.Import) and [(one.name, one.asname) for one in node.names] == [("datetime", None)]:
                line = self._import("datetime")
                if line != "import datetime":
                    return Edit(node.lineno, 0, len(self.lines[node.lineno - 1]), line)
        return None

    def _given(self, report: Report, function: str, expected: str, found: str) -> Diagnostic | None:
        """An argument of a wrong type. Texts and literals are no matter of types: see atc.check.constants."""
        if function not in self.names or found.startswith("Literal[") or "Unknown" in found or "Any" in found:
            return None
        node = self._expression(report)
        value = node.value if isinstance(node, ast.keyword) else node
        number = expected.startswith("float")
        argument = node.arg if isinstance(node, ast.keyword) else self._place(report, function, node)
        if found in ("str", "None"):
            key = value.slice if isinstance(value, ast.Subscript) else None
            name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
            if (
                found == "None"
                or not number
                or not name
                or (is_identifier(name) and not self._counted(function, argument))
            ):
                return None
        which = f"argument {argument!r}" if argument else "an argument"
        wants = "a number" if number else "a text or number" if expected.startswith("str") else "another type"
        classes = [name for name in _CLASS.findall(found) if name in self.stubs.places]
        identifiers = [key for key in self.stubs.places[classes[0]].keys if is_identifier(key)] if classes else []
        suggestion = None
        if identifiers and not found.startswith("list["):
            suggestion = f'["{"id" if "id" in identifiers else identifiers[0]}"]'
        hint = f"; take its {suggestion}" if suggestion else ""
        message = f"{function}(): {which} is {self._spoken(found)}, and {wants} is wanted{hint}"
        end = Edit(report.end_line, report.end_column, report.end_column, suggestion) if suggestion else None
        return self._at(report, "wrong-type", message, function, suggestion, end)

    def _place(self, report: Report, function: str, node: ast.AST | None) -> str | None:
        """The argument that a value without a name is for."""
        names = [p.argument for p in self.contract.protocol.tool(function).arguments if p.location == "path"]
        for call in self._calls(report):
            for name, value in zip(names, call.args, strict=False):
                if value is node:
                    return name
        return None

    def _counted(self, tool: str, argument: str | None) -> bool:
        """Whether all that an identifier can come from are numbers, so that a text is another thing's."""
        sources = self.graph.producers(tool, argument) if self.graph is not None and argument else ()
        shapes = [(self.contract.body(source.tool), source.path) for source in sources if not source.header]
        return bool(shapes) and all(body is not None and body.at(path).kind == "int" for body, path in shapes)

    def _indexed(self, report: Report, kind: str, place: Place | None) -> Diagnostic | None:
        """`x["key"]` where x is a list or a text."""
        if kind.startswith("list["):
            edit = self._unwrapped(report)
            where = f"{place.tool}(…){steps(place.path[:-1])}" if place is not None else "this"
            told = "it is the list itself" if edit else "take an item of it first, as in [0], or go through it with for"
            tool = place.tool if place is not None else None
            return self._at(report, "wrong-type", f"{where} is a list: {told}", tool, None if edit else "[0]", edit)
        loop = self._loop(report) if kind == "str" else None
        if kind == "str" and loop is None:
            return self._at(report, "wrong-type", "this is a text and has no keys")
        return self._looped(report, loop) if loop is not None else None

    def _unwrapped(self, report: Report) -> Edit | None:
        """Without the key of a list that is not wrapped: `["results"]` of what is the results."""
        for node in ast.walk(self.tree):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.slice, ast.Constant)
                and isinstance(node.slice.value, str)
                and noun_of(node.slice.value) in WRAPPERS
                and node.lineno == node.end_lineno == report.line
                and node.col_offset == report.column
            ):
                return Edit(report.line, node.value.end_col_offset or 0, node.end_col_offset or 0, "")
        return None

    def _looped(self, report: Report, loop: ast.For | ast.comprehension) -> Diagnostic:
        """Going through a dict: which lists it has, and which one is meant where only one has the keys asked for."""
        said = "going through a dict gives its keys, which are texts"
        found = self._returned(loop.iter)
        if found is None or not isinstance(loop.target, ast.Name):
            return self._at(report, "wrong-type", said)
        tool, path = found
        body = self.contract.body(tool)
        shape = body.at(path) if body is not None else None
        lists = {key: one.shape.item for key, one in shape.keys.items() if one.shape.kind == "list"} if shape else {}
        asked = {
            node.slice.value
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == loop.target.id
            and isinstance(node.slice, ast.Constant)
        }
        fitting = [key for key, item in lists.items() if item is not None and asked <= set(item.keys)]
        message = f"{said}; the lists of {tool}(…){steps(path)} are {_listed(list(lists))}" if lists else said
        edit = None
        if len(fitting) == 1 and loop.iter.lineno == loop.iter.end_lineno:
            end = loop.iter.end_col_offset or 0
            edit = Edit(loop.iter.lineno, end, end, f'["{fitting[0]}"]')
            message = f'{said}; go through ["{fitting[0]}"] of {tool}(…){steps(path)}'
        return self._at(report, "wrong-type", message, tool, f'["{fitting[0]}"]' if edit else None, edit)

    def _returned(self, node: ast.expr, depth: int = 0) -> tuple[str, tuple[Step, ...]] | None:
        """The tool and the path in its response that an expression holds, through variables that are set once."""
        if depth > 20:
            return None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.names:
            return node.func.id, ()
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            found = self._returned(node.value, depth + 1)
            step = node.slice.value
            return (found[0], (*found[1], step)) if found is not None and isinstance(step, str | int) else None
        if isinstance(node, ast.Name):
            sets = [one for one in ast.walk(self.tree) if isinstance(one, ast.Assign) and _sets(one, node.id)]
            return self._returned(sets[0].value, depth + 1) if len(sets) == 1 else None
        return None

    def _loop(self, report: Report) -> ast.For | ast.comprehension | None:
        """The loop whose variable the checker points at."""
        node = self._expression(report)
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} if node is not None else set()
        around = [
            (one, loop)
            for one in ast.walk(self.tree)
            if isinstance(one, ast.For | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
            and one.lineno <= report.line <= (one.end_lineno or one.lineno)
            for loop in ([one] if isinstance(one, ast.For) else one.generators)
            if isinstance(loop.target, ast.Name) and loop.target.id in names
        ]
        around.sort(key=lambda found: (found[0].end_lineno or 0) - found[0].lineno)
        return around[0][1] if around else None

    def _expression(self, report: Report) -> ast.AST | None:
        """The largest expression or named argument that begins at a place."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.expr | ast.keyword) and (node.lineno, node.col_offset) == (
                report.line,
                report.column,
            ):
                return node
        return None

    def _spoken(self, text: str) -> str:
        """A type without the names of our classes."""

        def said(found: re.Match[str]) -> str:
            place = self.stubs.places.get(found[0])
            return f"the dict {place.tool}(…){steps(place.path)}" if place else "a dict"

        return _CLASS.sub(said, text).replace("`", "")


def _may_stand_for(tool: Tool, name: str, given: Sequence[str]) -> bool:
    """Whether a tool may be called for a function that there is not: a write is never guessed."""
    if tool.writes and not name.startswith(f"{tool.method}_"):
        return False
    return all(tool.argument(argument) is not None for argument in given)


def _plain(literal: re.Match[str]) -> str:
    """The type of a literal by its first character."""
    return "str" if literal[1] in "\"'" else "int" if literal[1] in "-0123456789" else "bool"


def _sets(one: ast.Assign, name: str) -> bool:
    return len(one.targets) == 1 and isinstance(one.targets[0], ast.Name) and one.targets[0].id == name


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_KEYS]) + (", …" if len(names) > _KEYS else "") if names else "nothing"
