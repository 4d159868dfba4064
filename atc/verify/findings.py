"""A finding, and the inspection that the rules read: one finished run, its program, the question and the protocol.

All rules read the same few things: the names in the question, the literals of the program, the responses, and the
sources of the answer and the arguments.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from atc.diagnosis.provenance import lookup, traced_arguments
from atc.fault import Fault
from atc.program.source import calls_of, parsed
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import Step
from protocols.model import Tool
from protocols.schema_fields import fields
from protocols.text.entities import read_entities
from protocols.text.words import words
from sandbox.records import SAFE, CallRecord, Run, Source

__all__ = ["Finding", "Inspection", "Kind", "failed", "fold", "leaves", "lists_in", "made_writes"]

Kind = Literal[
    "NoCall",
    "NoEvidence",
    "NothingDone",
    "ErrorPrinted",
    "ErrorSwallowed",
    "NothingFound",
    "NothingNew",
    "WrongKind",
    "Mislabelled",
    "Unanswered",
    "OtherEntity",
    "FirstPage",
    "EmptyForNegative",
]

_OFFERS_CHOICE = re.compile(r"\b(which|who|what)( one)? of\b.*\band\b|\bbetween\b.*\band\b", re.IGNORECASE)
_YES_OR_NO = frozenset(words("is are was were do does did has have had can could will would should"))
"""First words of a question whose answer may be one of its own words."""

_MAX_VALUES = 5_000
"""Values of a response that are read."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason to doubt an answer.

    `message` tells the model what to do. `line` is a line of the program, `call` the index of a call, and `path` a
    place in its response, where the finding is about one.
    """

    kind: Kind
    message: str
    line: int | None = None
    call: int | None = None
    path: tuple[Step, ...] = ()

    def fault(self) -> Fault:
        """The finding as the fault of an attempt."""
        return Fault("answer", self.kind, self.message, self.line)

    def warning(self) -> str:
        """The finding as a warning for the reader of the answer."""
        return f"the answer is doubtful ({self.kind}): {self.message}"


class Inspection:
    """A run that ended well, with the properties that the rules read.

    Args:
        graph: The protocol's graph; without it, rules that need the tools find nothing.
    """

    def __init__(self, program: str, run: Run, query: str, graph: ProtocolGraph | None = None) -> None:
        self.program = program
        self.run = run
        self.query = query
        self.graph = graph
        self._responses: dict[int, object] = {}
        self._tools = {tool.name: tool for tool in graph.protocol.tools} if graph is not None else {}

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed program; empty if it does not parse."""
        return parsed(self.program) or ast.Module([], [])

    @cached_property
    def lines(self) -> list[str]:
        """The printed lines, without empty ones."""
        return [line.strip() for line in self.run.stdout.strip().splitlines() if line.strip()]

    @cached_property
    def texts(self) -> frozenset[str]:
        """The string literals of the program, the plain parts of f-strings included."""
        nodes = ast.walk(self.tree)
        return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))

    @cached_property
    def printed_texts(self) -> frozenset[str]:
        """The string literals that are only printed: arguments of print, and parts of a composed text."""
        printed_nodes: set[ast.AST] = {argument for node, _ in calls_of(self.tree, {"print"}) for argument in node.args}
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.JoinedStr, ast.BinOp)):
                printed_nodes.update(ast.iter_child_nodes(node))
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        only = {str(node.value) for node in nodes if node in printed_nodes}
        return frozenset(only - {str(node.value) for node in nodes if node not in printed_nodes})

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The integer literals of the program, as text."""
        nodes = [node.value for node in ast.walk(self.tree) if isinstance(node, ast.Constant)]
        return frozenset(str(value) for value in nodes if isinstance(value, int) and not isinstance(value, bool))

    @cached_property
    def query_words(self) -> frozenset[str]:
        """The words of the question."""
        return frozenset(fold(self.query).split())

    @cached_property
    def entity_names(self) -> tuple[str, ...]:
        """The names in the question."""
        return tuple(name.text for name in read_entities(self.query).names)

    @cached_property
    def folded_names(self) -> frozenset[str]:
        """The names in the question, folded."""
        return frozenset(map(fold, self.entity_names))

    @cached_property
    def enum_values(self) -> frozenset[str]:
        """The folded enum values of the API."""
        return _enum_values(self.graph) if self.graph is not None else frozenset()

    @cached_property
    def offers_choice(self) -> bool:
        """True if a word of the question may be its answer."""
        return "or" in words(self.query) or self.yes_or_no or _OFFERS_CHOICE.search(self.query) is not None

    @cached_property
    def yes_or_no(self) -> bool:
        """True if the question asks for a yes or a no."""
        return bool(_YES_OR_NO.intersection(words(self.query)[:1]))

    @cached_property
    def good_calls(self) -> tuple[CallRecord, ...]:
        """The calls with a good response."""
        return tuple(call for call in self.run.calls if not failed(call))

    @cached_property
    def made_writes(self) -> bool:
        """True if the service accepted a write."""
        return made_writes(self.run)

    @property
    def printed_sources(self) -> Sequence[Source]:
        """The sources of the printed values."""
        return self.run.provenance.printed if self.run.provenance else ()

    def arguments(self, call: CallRecord) -> Iterator[tuple[str, object, tuple[Source, ...]]]:
        """Each argument of a call: its name, its value, and where that comes from, nearest first."""
        return traced_arguments(call, self.run, self.tool(call))

    @cached_property
    def all_arguments(self) -> tuple[tuple[CallRecord, str, object, tuple[Source, ...]], ...]:
        """The arguments of all calls."""
        return tuple((call, *argument) for call in self.run.calls for argument in self.arguments(call))

    @cached_property
    def literal_arguments(self) -> tuple[tuple[CallRecord, str, object], ...]:
        """The arguments that come from no response: call, name, value."""
        return tuple((call, name, value) for call, name, value, sources in self.all_arguments if not sources)

    @cached_property
    def used_sources(self) -> tuple[Source, ...]:
        """The sources of the printed values and of all arguments."""
        return (*self.printed_sources, *(source for *_, sources in self.all_arguments for source in sources))

    @cached_property
    def empty_calls(self) -> tuple[CallRecord, ...]:
        """The good calls whose response has lists, all of them empty."""
        lists = ((call, [items for _, items, _ in lists_in(self.response(call))]) for call in self.good_calls)
        return tuple(call for call, of_call in lists if of_call and not any(of_call))

    def tool(self, call: CallRecord) -> Tool | None:
        """The tool of a call."""
        return self._tools.get(call.tool or "")

    def response(self, call: CallRecord) -> object:
        """The response to a call; a large body is loaded."""
        if call.index not in self._responses:
            self._responses[call.index] = lookup(call.response, ())
        return self._responses[call.index]

    @cached_property
    def values(self) -> tuple[tuple[CallRecord, tuple[Step, ...], object], ...]:
        """The scalar values of all good responses: call, path, value."""
        return tuple((call, *leaf) for call in self.good_calls for leaf in leaves(self.response(call)))

    def is_literal(self, value: object) -> bool:
        """True if a value is a literal of the program."""
        return str(value) in self.numbers or any(str(value) in text for text in self.texts)


@lru_cache(maxsize=8)
def _enum_values(graph: ProtocolGraph) -> frozenset[str]:
    allowed_values: set[str] = set()
    for tool in graph.protocol.tools:
        schemas = [parameter.schema for parameter in tool.arguments]
        if tool.success is not None and tool.success.schema is not None:
            schemas += [field.schema for field in fields(tool.success.schema, graph.protocol, 3)]
        for schema in schemas:
            allowed = schema.get("enum")
            allowed_values.update(fold(str(value)) for value in (allowed if isinstance(allowed, list) else []))
    return frozenset(allowed_values)


def failed(call: CallRecord) -> bool:
    """True if a call has no good response."""
    return call.status is None or call.status >= 300


def fold(text: str) -> str:
    """Normalize a text for comparing names: words only, without case, accents and possessives."""
    text = "".join(part for part in unicodedata.normalize("NFKD", text) if not unicodedata.combining(part)).casefold()
    text = re.sub(r"['\u2019]s\b", "", text)
    return " ".join(re.findall(r"\w+", text.replace("'", "").replace("\u2019", "")))


def made_writes(run: Run) -> bool:
    """True if the service accepted a write: the task is then done, whatever is printed."""
    return any(call.method not in SAFE and not failed(call) for call in run.calls)


def leaves(value: object, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], object]]:
    """The scalar values of a response with their paths, in order."""
    pending: list[tuple[tuple[Step, ...], object]] = [(path, value)]
    count = 0
    while pending and count < _MAX_VALUES:
        location, node = pending.pop()
        count += 1
        if isinstance(node, dict):
            pending += [((*location, str(key)), part) for key, part in reversed(node.items())]
        elif isinstance(node, list):
            pending += [((*location, place), part) for place, part in reversed(list(enumerate(node)))]
        else:
            yield location, node


def lists_in(value: object, depth: int = 2) -> Iterator[tuple[tuple[str, ...], list[object], dict[str, object]]]:
    """The lists of a response, at most `depth` objects deep: path, items, and the object around them."""
    if isinstance(value, list):
        yield (), value, {}
    pending: list[tuple[tuple[str, ...], dict[str, object]]] = [((), value)] if isinstance(value, dict) else []
    while pending:
        path, fields = pending.pop(0)
        for key, part in fields.items():
            if isinstance(part, list):
                yield (*path, key), part, fields
            elif isinstance(part, dict) and len(path) + 1 < depth:
                pending.append(((*path, key), part))
