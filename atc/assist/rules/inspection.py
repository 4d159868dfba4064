"""The inspection that the rules read: a traced run, and the words of its question."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from functools import cached_property, lru_cache

from atc.assist.language.question import Question
from atc.diagnosis.provenance import TracedRun
from atc.program.source import calls_of, nodes_of
from protocols.dataflow.graph import ProtocolGraph
from protocols.schema_fields import fields
from protocols.text.words import fold, stem, words
from sandbox.records import CallRecord, Run

__all__ = ["Inspection"]

_WORD = re.compile(r"[^\W\d_]{3}")
_EXPRESSION = re.compile(r"[=<>{}\[\]]")
_MAX_NAME_WORDS = 7


class Inspection(TracedRun):
    """A run that ended well, with the properties that the rules read."""

    def __init__(self, program: str, run: Run, question: Question, graph: ProtocolGraph) -> None:
        super().__init__(program, run, graph)
        self.question = question

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
    def foreign_texts(self) -> tuple[tuple[CallRecord, str, str], ...]:
        """Names that the program sends of its own and that are not in the question: call, argument, value."""
        known_words = self.question.folded_words
        return tuple(
            (call, name, value)
            for call, name, value in self.literal_arguments
            if isinstance(value, str) and _WORD.search(value) and not _is_composed(value)
            if not known_words.issuperset(fold(value).split()) and fold(value) not in self.enum_values
        )

    def spoken(self, stems: Collection[str]) -> str:
        """The words of the question that have one of some stems, each once."""
        return ", ".join(dict.fromkeys(word for word in self.question.words if stem(word) in stems))

    @cached_property
    def superlative_stems(self) -> frozenset[str]:
        """The stems of the superlatives in the question."""
        return frozenset(stem(word) for text in self.question.superlative_words for word in words(text))


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
