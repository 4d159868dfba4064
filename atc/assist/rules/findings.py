"""A finding, and the inspection that the rules read: one finished run, its program, the question and the protocol.

All rules read the same few things: the names in the question, the literals of the program, the responses, and the
sources of the answer and the arguments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from atc.assist.language.question import Question
from atc.diagnosis.provenance import lookup, traced_arguments
from atc.fault import Fault
from atc.program.choices import lines_behind_output
from atc.program.source import calls_of, parsed
from atc.program.tree import nodes_of
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import Step, leaves
from protocols.model import Tool
from protocols.schema_fields import fields
from protocols.text.words import fold, stem, words
from sandbox.records import CallRecord, Run, Source

__all__ = ["Finding", "Inspection", "Kind", "failed", "lists_in", "made_writes", "name_of", "orders"]

_WORD = re.compile(r"[^\W\d_]{3}")
_EXPRESSION = re.compile(r"[=<>{}\[\]]")
_MAX_NAME_WORDS = 7
_ORDER_WORDS = frozenset({"sort", "order", "ordering", "orderby", "sortby", "rank", "top"})
"""Words of an argument that orders a list."""

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
    "DeadCall",
    "Overwritten",
    "Placeholder",
    "ForeignText",
    "UnaskedWrite",
    "TakenByPlace",
    "OneOfMany",
    "OtherList",
    "Weakened",
    "Changed",
    "Disagreement",
]


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

    @classmethod
    def of_call(cls, kind: Kind, message: str, call: CallRecord, path: tuple[Step, ...] = ()) -> Finding:
        """A finding about a call, or about a place in its response."""
        return cls(kind, message, call.line, call.index, path)

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
        earlier_programs: Those that the model wrote before in the solve.
    """

    def __init__(
        self,
        program: str,
        run: Run,
        question: Question,
        graph: ProtocolGraph | None = None,
        earlier_programs: Sequence[str] = (),
    ) -> None:
        self.program = program
        self.run = run
        self.question = question
        self.graph = graph
        self.earlier_programs = earlier_programs

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed program; empty if it does not parse."""
        return parsed(self.program) or ast.Module([], [])

    @cached_property
    def lines(self) -> list[str]:
        """The printed lines, without empty ones."""
        return [line.strip() for line in self.run.stdout.strip().splitlines() if line.strip()]

    @cached_property
    def constants(self) -> tuple[ast.Constant, ...]:
        """The literals of the program, the plain parts of f-strings included."""
        return tuple(nodes_of(self.tree, ast.Constant))

    @cached_property
    def texts(self) -> frozenset[str]:
        """The string literals of the program."""
        return frozenset(node.value for node in self.constants if isinstance(node.value, str))

    @cached_property
    def printed_texts(self) -> frozenset[str]:
        """The string literals that are only printed: arguments of print, and parts of a composed text."""
        printed_nodes: set[ast.AST] = {argument for node, _ in calls_of(self.tree, {"print"}) for argument in node.args}
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.JoinedStr, ast.BinOp)):
                printed_nodes.update(ast.iter_child_nodes(node))
        return self.texts - {node.value for node in self.constants if node not in printed_nodes}

    @cached_property
    def entity_names(self) -> tuple[str, ...]:
        """The names in the question."""
        return tuple(name.text for name in self.question.entities)

    @cached_property
    def folded_names(self) -> frozenset[str]:
        """The names in the question, folded."""
        return frozenset(map(fold, self.entity_names))

    @cached_property
    def enum_values(self) -> frozenset[str]:
        """The folded enum values of the API."""
        return _enum_values(self.graph) if self.graph is not None else frozenset()

    @cached_property
    def good_calls(self) -> tuple[CallRecord, ...]:
        """The calls with a good response."""
        return tuple(call for call in self.run.calls if not failed(call))

    @cached_property
    def writes(self) -> tuple[CallRecord, ...]:
        """The writes that the service accepted."""
        return tuple(call for call in self.good_calls if call.writes)

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """The tools of the protocol by name; none without a graph."""
        return {tool.name: tool for tool in self.graph.protocol.tools} if self.graph is not None else {}

    @property
    def knows_writes(self) -> bool:
        """True if the protocol says which tools write; False without a graph."""
        return self.graph is not None and self.graph.protocol.tells_writes

    @property
    def printed_sources(self) -> Sequence[Source]:
        """The sources of the printed values."""
        return self.run.provenance.printed if self.run.provenance else ()

    @cached_property
    def data_sources(self) -> tuple[Source, ...]:
        """The sources that the printed values hold, not those that only decided about them."""
        return tuple(source for source in self.printed_sources if source.how != "decided")

    def arguments(self, call: CallRecord) -> Iterator[tuple[str, object, tuple[Source, ...]]]:
        """Each argument of a call: its name, its value, and where that comes from, nearest first."""
        return traced_arguments(call, self.run, self.tools.get(call.tool or ""))

    @cached_property
    def all_arguments(self) -> tuple[tuple[CallRecord, str, object, tuple[Source, ...]], ...]:
        """The arguments of all calls."""
        return tuple((call, *argument) for call in self.run.calls for argument in self.arguments(call))

    @cached_property
    def literal_arguments(self) -> tuple[tuple[CallRecord, str, object], ...]:
        """The arguments that come from no response: call, name, value."""
        return tuple((call, name, value) for call, name, value, sources in self.all_arguments if not sources)

    @cached_property
    def foreign_texts(self) -> tuple[tuple[CallRecord, str, str], ...]:
        """Names that the program sends of its own and that are not in the question: call, argument, value."""
        known_words = self.question.folded_words
        return tuple(
            (call, name, value)
            for call, name, value in self.literal_arguments
            if isinstance(value, str) and _WORD.search(value) and not _is_composed(value)
            if not known_words.issuperset(fold(value).split()) and fold(value) not in self.enum_values
        )

    @cached_property
    def used_sources(self) -> tuple[Source, ...]:
        """The sources of the printed values and of all arguments."""
        return (*self.printed_sources, *(source for *_, sources in self.all_arguments for source in sources))

    @cached_property
    def _feeds(self) -> dict[int, set[int]]:
        """The calls that each call took an argument from."""
        feeds: dict[int, set[int]] = {}
        for call, _, _, sources in self.all_arguments:
            feeds.setdefault(call.index, set()).update(source.call for source in sources)
        return feeds

    @cached_property
    def contributing_calls(self) -> frozenset[int]:
        """The indices of the calls that the answer or a write depends on, directly or through other calls."""
        return self.sources_of({source.call for source in self.printed_sources} | {call.index for call in self.writes})

    def sources_of(self, indices: set[int]) -> frozenset[int]:
        """Some calls, and those that they depend on, directly or through other calls."""
        pending, reached = list(indices), set[int]()
        while pending:
            index = pending.pop()
            if index not in reached:
                reached.add(index)
                pending += self._feeds.get(index, ())
        return frozenset(reached)

    def related(self, indices: set[int]) -> frozenset[int]:
        """Some calls, those that they depend on, and those that depend on any of them."""
        reached = self.sources_of(indices)
        dependent = {call.index for call in self.good_calls if not self.sources_of({call.index}).isdisjoint(reached)}
        return reached | dependent

    @cached_property
    def lines_behind_output(self) -> frozenset[int]:
        """The lines of the calls that the output depends on as the program is written, executed or not."""
        return lines_behind_output(self.program)

    @cached_property
    def live_calls(self) -> tuple[CallRecord, ...]:
        """The good calls that the answer or a write depends on; all of them where nobody followed the values."""
        if self.run.provenance is None:
            return self.good_calls
        return tuple(call for call in self.good_calls if call.index in self.contributing_calls)

    def spoken(self, stems: Collection[str]) -> str:
        """The words of the question that have one of some stems, each once."""
        return ", ".join(dict.fromkeys(word for word in self.question.words if stem(word) in stems))

    @cached_property
    def superlative_stems(self) -> frozenset[str]:
        """The stems of the superlatives in the question."""
        return frozenset(stem(word) for text in self.question.superlative_words for word in words(text))

    def value_at(self, call: CallRecord, path: tuple[Step, ...]) -> object:
        """The value at a path in the response to a call; MissingValue if there is none."""
        return lookup(self._responses[call.index], path)

    @cached_property
    def _responses(self) -> tuple[object, ...]:
        return tuple(lookup(call.response, ()) for call in self.run.calls)

    def response(self, call: CallRecord) -> object:
        """The response to a call; a large body is loaded."""
        return self._responses[call.index]

    def value_of(self, source: Source) -> object:
        """The value at a source; MissingValue if there is none."""
        return lookup(self._responses[source.call], source.path)

    @cached_property
    def values(self) -> tuple[tuple[CallRecord, tuple[Step, ...], object], ...]:
        """The scalar values of all good responses: call, path, value."""
        return tuple((call, *leaf) for call in self.good_calls for leaf in leaves(self.response(call)))


def _is_composed(text: str) -> bool:
    """True for what is no name: an expression of a query language, a code with digits, a longer text."""
    parts = text.split()
    code = len(parts) == 1 and any(map(str.isdigit, text))
    return code or len(parts) > _MAX_NAME_WORDS or _EXPRESSION.search(text) is not None


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


def name_of(call: CallRecord) -> str:
    """The name of a call's tool, else its address."""
    return call.tool or call.url


def orders(call: CallRecord) -> bool:
    """True if an argument of a call orders its list."""
    return any(
        isinstance(step, str) and not _ORDER_WORDS.isdisjoint({*words(step), step.lower()})
        for path, _ in leaves(call.arguments)
        for step in path
    )


def made_writes(run: Run) -> bool:
    """True if the service accepted a write: the task is then done, whatever is printed."""
    return any(call.writes and not failed(call) for call in run.calls)


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
