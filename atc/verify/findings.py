"""What an inspection finds, and what its rules look at: one finished run, its program, the question and the protocol.

Every rule reads the same few things: which words the question calls by name, which texts the program holds, what each
call was answered, and where in the replies the answer and the arguments come from.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from atc.diagnosis.provenance import arguments, lookup
from atc.fault import Fault
from atc.program.source import calls_of, parsed
from protocols.dataflow.graph import ProtocolGraph
from protocols.model import Tool
from protocols.schema_fields import Step, fields
from protocols.text.entities import read_entities
from protocols.text.words import words
from sandbox.journal.call_fingerprint import SAFE
from sandbox.records import CallRecord, Run, Source

__all__ = ["Finding", "Inspection", "Kind", "failed", "folded", "leaves", "lists_in", "made_writes"]

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

_AMONG = re.compile(r"\b(which|who|what)( one)? of\b.*\band\b|\bbetween\b.*\band\b", re.IGNORECASE)
_YES_OR_NO = frozenset(words("is are was were do does did has have had can could will would should"))
"""How a question begins whose answer may well be one of its own words."""

_MAX_VALUES = 5_000
"""Values of a reply that are looked at."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Why an answer deserves a second look.

    `message` says what to do, in words for the model. `line` is of the program; `call` the index of a call and `path`
    where in its reply, as far as it is about one.
    """

    kind: Kind
    message: str
    line: int | None = None
    call: int | None = None
    path: tuple[Step, ...] = ()

    def fault(self) -> Fault:
        """The finding as what is wrong with an attempt."""
        return Fault("answer", self.kind, self.message, self.line)

    def warning(self) -> str:
        """The finding as what a reader of the answer should know."""
        return f"the answer is doubtful ({self.kind}): {self.message}"


class Inspection:
    """A run that ended well, with what the rules of an inspection ask about it.

    Args:
        graph: Of the protocol; without it the rules that need to know the tools find nothing.
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
        """The program; empty where it cannot be read."""
        return parsed(self.program) or ast.Module([], [])

    @cached_property
    def lines(self) -> list[str]:
        """What was printed, without empty lines."""
        return [line.strip() for line in self.run.stdout.strip().splitlines() if line.strip()]

    @cached_property
    def texts(self) -> frozenset[str]:
        """The texts that the program holds; of an f-string its plain parts."""
        nodes = ast.walk(self.tree)
        return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))

    @cached_property
    def printed_texts(self) -> frozenset[str]:
        """Those of the texts that are only said: what print is given, and what is put together with values."""
        printed_nodes: set[ast.AST] = {argument for node, _ in calls_of(self.tree, {"print"}) for argument in node.args}
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.JoinedStr, ast.BinOp)):
                printed_nodes.update(ast.iter_child_nodes(node))
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        only = {str(node.value) for node in nodes if node in printed_nodes}
        return frozenset(only - {str(node.value) for node in nodes if node not in printed_nodes})

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The whole numbers that the program holds, as text."""
        nodes = [node.value for node in ast.walk(self.tree) if isinstance(node, ast.Constant)]
        return frozenset(str(value) for value in nodes if isinstance(value, int) and not isinstance(value, bool))

    @cached_property
    def query_words(self) -> frozenset[str]:
        """The words of the question."""
        return frozenset(folded(self.query).split())

    @cached_property
    def entity_names(self) -> tuple[str, ...]:
        """What the question calls by name."""
        return tuple(name.text for name in read_entities(self.query).names)

    @cached_property
    def enum_values(self) -> frozenset[str]:
        """The words that the API's enumerations allow, folded."""
        return _enum_values(self.graph) if self.graph is not None else frozenset()

    @cached_property
    def offers_choice(self) -> bool:
        """Whether one of the question's own words may be its answer."""
        return "or" in words(self.query) or self.yes_or_no or _AMONG.search(self.query) is not None

    @cached_property
    def yes_or_no(self) -> bool:
        """Whether the question wants a yes or a no."""
        return bool(_YES_OR_NO.intersection(words(self.query)[:1]))

    @cached_property
    def good_calls(self) -> tuple[CallRecord, ...]:
        """The calls that were answered well."""
        return tuple(call for call in self.run.calls if not failed(call))

    @cached_property
    def made_writes(self) -> bool:
        """Whether the service took a write."""
        return made_writes(self.run)

    @property
    def printed_sources(self) -> Sequence[Source]:
        """Where what was printed comes from."""
        return self.run.provenance.printed if self.run.provenance else ()

    def arguments(self, call: CallRecord) -> Iterator[tuple[str, object, tuple[Source, ...]]]:
        """Each argument of a call: its name, its value, and where that comes from, nearest first."""
        return arguments(call, self.run, self.tool(call))

    @cached_property
    def all_arguments(self) -> tuple[tuple[CallRecord, str, object, tuple[Source, ...]], ...]:
        """All arguments of all calls."""
        return tuple((call, *argument) for call in self.run.calls for argument in self.arguments(call))

    def tool(self, call: CallRecord) -> Tool | None:
        """The tool of a call."""
        return self._tools.get(call.tool or "")

    def response(self, call: CallRecord) -> object:
        """What a call was answered; a large body is read."""
        if call.index not in self._responses:
            self._responses[call.index] = lookup(call.response, ())
        return self._responses[call.index]

    @cached_property
    def values(self) -> tuple[tuple[CallRecord, tuple[Step, ...], object], ...]:
        """The plain values of all good replies: call, place, value."""
        return tuple((call, *leaf) for call in self.good_calls for leaf in leaves(self.response(call)))

    def is_own(self, value: object) -> bool:
        """Whether a value stands in the program's text."""
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
            allowed_values.update(folded(str(value)) for value in (allowed if isinstance(allowed, list) else []))
    return frozenset(allowed_values)


def failed(call: CallRecord) -> bool:
    """Whether a call was not answered well."""
    return call.status is None or call.status >= 300


def folded(text: str) -> str:
    """A text as names are compared: its words alone, without case, accents and possessives."""
    text = "".join(part for part in unicodedata.normalize("NFKD", text) if not unicodedata.combining(part)).casefold()
    text = re.sub(r"['\u2019]s\b", "", text)
    return " ".join(re.findall(r"\w+", text.replace("'", "").replace("\u2019", "")))


def made_writes(run: Run) -> bool:
    """Whether the service took a write; who is asked to do something has then done it, whatever is printed."""
    return any(call.method not in SAFE and not failed(call) for call in run.calls)


def leaves(value: object, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], object]]:
    """The plain values of a reply and where they stand, in order."""
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
    """The lists of a reply, at most `depth` objects deep: where each is, and the object around it."""
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
