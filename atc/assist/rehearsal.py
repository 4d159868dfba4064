"""What only a rehearsal shows: the question names something, and the program asks the service for nothing like it.

A simulated world holds what a question names and what its program looks for, so that a program with a wrong filter
finds something, too. What remains is to compare the two. The question's words are compared with those of the document
and of the replies, as they are: its values, its fields, numbers and quoted texts. This is a reading, so it is no fact
about a run of the real service.

The rules were written with programs over documents in view. Of 36 over four that nobody had read they find 5 wrong ones
and doubt 2 right ones (`python -m benchmarks.micro.twin --half last`). Words in capitals are no names here: that rule
doubted one more right program there, and found no wrong one (so that this one choice was made with them in view).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property

from atc.diagnosis.provenance import TracedRun
from atc.evidence import Finding
from atc.help import Help
from atc.program.source import called_name, called_tool
from atc.prompting import Offer
from atc.query import Query
from protocols.model import Protocol
from protocols.schema_fields import fields
from protocols.text.words import TEXTS, identifier_stem, selects_page, singular, stem, words
from sandbox.records import Run

__all__ = ["RehearsalHelp"]

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_QUOTED = re.compile(r"[\"“”]([^\"“”]+)[\"“”]")
_TOKEN = re.compile(r"(?<![\w@.#/-])[\w][\w.@/:-]*[\w]|\d")
_MARKED = re.compile(r"(?<![\w&?/=])(?:[#@]\w[\w-]*|\w+=\w+)(?![\w=])")
"""A tag, a handle, or a name with its value: `#harbour`, `@ada`, `env=test`."""
_AMOUNT = re.compile(r"(?<![\w.,@/:-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w@/:-]|[.,]\d)")
"""A number in English digits; `3,5` and `12:30` are written otherwise, and are nobody's amount."""
_GROUPED = re.compile(r"\+?\d+(?:[ /-]\d+)+")
"""Digits in groups, as of a telephone number, which a program may write without them."""
_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split(), 1)}
_MINOR = frozenset(
    "next previous id at on in date time is has are of the a an by to for number count total type".split()  # noqa: SIM905
)
"""Words of a field's name that a question need not have to mean it."""
_SUPERLATIVES = {"top": "max", "highest": "max", "largest": "max", "fastest": "max", "lowest": "min", "smallest": "min"}
"""Words of a question that a field's name has in short."""
_NEGATIONS = frozenset({"not", "no", "than", "without", "except", "non"})
_SMALL = 12
"""Numbers up to this may be said for something else: the top 3, the first 12."""
_LATE_DAY = 28
"""From this day on, a month may as well end before the first of the next one."""
_OUTPUTS = (ast.JoinedStr, ast.IfExp, ast.BinOp)
_PLACES = (ast.Compare, ast.Subscript, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.keyword)
_MOMENTS = (10**9, 4 * 10**9)
"""Numbers that are moments in seconds: from 2001 to 2096."""


class RehearsalHelp(Help):
    """As `atc.help.Help`; asked of every model, but of rehearsals alone."""

    def doubts(self, program: str, run: Run, query: Query, offer: Offer) -> Sequence[Finding]:
        """What of the question its program does not ask for: the first of such things."""
        traced = TracedRun(program, run, offer.graph)
        message = next(_unasked(query.text, traced, offer.graph.protocol), "")
        return (Finding("Unasked", message),) if message else ()


def _unasked(question: str, traced: TracedRun, protocol: Protocol) -> Iterator[str]:
    mentions = _Mentions(traced.tree, protocol)
    for text in (*_missing_texts(question, mentions), *_missing_numbers(question, mentions)):
        yield f"the question names {text}, and nothing in the program asks the service for it"
    plain = _question_words(question)
    for value, name in _missing_values(plain, traced, protocol, mentions):
        yield f"the question says {value!r}, a value of {name!r}, and nothing in the program asks for it"
    for name, used in _missing_fields(plain, traced, mentions) if not _changes(traced) else ():
        yield f"the question names {name!r}, which replies have beside {used!r}, and the program does not read it"


class _Mentions:
    """What a program asks for: the constants and keys that it passes, compares and reads, and the tools it calls."""

    def __init__(self, tree: ast.Module, protocol: Protocol) -> None:
        self._tree = tree
        self._protocol = protocol
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def constants(self) -> tuple[object, ...]:
        """The constants that are not only printed."""
        nodes = (node for node in ast.walk(self._tree) if isinstance(node, ast.Constant) and not self._is_output(node))
        return tuple(node.value for node in nodes)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The texts among the constants, and the names of tools and arguments."""
        named = (node.arg for node in ast.walk(self._tree) if isinstance(node, ast.keyword) and node.arg)
        return frozenset((*(text for text in self.constants if isinstance(text, str)), *named, *self._tools))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the keys, in the singular."""
        return frozenset(singular(word) for key in self.keys for word in words(key))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of these words: a program that reads `followed_by` asks who is following."""
        return frozenset(map(stem, self.words))

    @cached_property
    def tool_text(self) -> str:
        """The names of the tools that are called, as one text."""
        return " ".join(map(_bare, self._tools))

    @cached_property
    def tool_words(self) -> frozenset[str]:
        """The words in the names of the tools that are called."""
        return frozenset(singular(word) for tool in self._tools for word in words(tool))

    @cached_property
    def _tools(self) -> tuple[str, ...]:
        names = map(called_tool, ast.walk(self._tree))
        return tuple(name for name in names if name in self._protocol)

    @cached_property
    def text(self) -> str:
        """The constants as one text without what two spellings differ in."""
        return " ".join(_bare(str(value)) for value in self.constants)

    @cached_property
    def numbers(self) -> frozenset[float]:
        """The numbers among the constants and in their texts; those of the date that one of them may be."""
        numbers: set[float] = set()
        for value in self.constants:
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                numbers.add(float(value))
                if _MOMENTS[0] < value < _MOMENTS[1]:
                    moment = datetime.fromtimestamp(value, UTC)
                    numbers |= {moment.year, moment.month, moment.day}
            elif isinstance(value, str):
                numbers |= {float(number) for number in re.findall(r"\d+(?:\.\d+)?", value)}
                numbers |= {float(number) for number in re.findall(r"\d+", value)}
        return frozenset(numbers)

    def _is_output(self, node: ast.AST) -> bool:
        """True if a constant only words the output."""
        parent = self._parents.get(node)
        passed = False
        while parent is not None and not isinstance(parent, ast.stmt):
            if isinstance(parent, ast.Call):
                method = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
                if called_name(parent) == "print" or method in {"join", "append", "format"}:
                    return not passed
                passed = True
            passed = passed or isinstance(parent, _PLACES)
            if isinstance(parent, _OUTPUTS) and not passed and not _reckons(parent, node):
                return True
            parent = self._parents.get(parent)
        if isinstance(parent, ast.Assign):
            return all(isinstance(target, ast.Name) and target.id not in self._read_names for target in parent.targets)
        return not passed

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The words in the paths of the API, which name what there is and no state of it."""
        paths = (tool.path for tool in self._protocol.tools)
        return frozenset(singular(word) for path in paths for word in words(re.sub(r"\{[^}]*\}", "", path)))

    @cached_property
    def _read_names(self) -> frozenset[str]:
        names = (node for node in ast.walk(self._tree) if isinstance(node, ast.Name))
        return frozenset(node.id for node in names if isinstance(node.ctx, ast.Load))


def _reckons(parent: ast.AST, node: ast.AST) -> bool:
    """True for a number in a sum or a product, which is no part of a text."""
    number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return number and isinstance(parent, ast.BinOp)


def _missing_texts(question: str, mentions: _Mentions) -> Iterator[str]:
    """The quoted texts, addresses, codes and tags of a question that no constant has."""
    quoted = _QUOTED.findall(question)
    codes = [token for token in _TOKEN.findall(question) if _is_code(token)]
    for text in dict.fromkeys((*quoted, *codes, *_MARKED.findall(question))):
        parts = [_bare(part) for part in _WORD.findall(text)]
        if any(part not in mentions.text for part in parts if part and part not in TEXTS["inner words"]):
            yield repr(text)


def _is_code(token: str) -> bool:
    """True for an address, a domain, or letters mixed with digits."""
    if re.fullmatch(r"[\d.,:/-]+", token) or re.fullmatch(r"[\d.:]+(st|nd|rd|th|k|m|x|am|pm|h|s)?", token.lower()):
        return False
    return "@" in token or bool(re.search(r"\d", token)) or bool(re.fullmatch(r"[\w-]+(\.[\w-]+)*\.[a-z]{2,}", token))


def _missing_numbers(question: str, mentions: _Mentions) -> Iterator[str]:
    """The amounts and dates of a question that no constant has."""
    plain = _QUOTED.sub(" ", question)
    plain = _GROUPED.sub(lambda digits: " " if _bare(digits[0]) in mentions.text else digits[0], plain)
    dated = re.compile(
        rf"\b(?:(\d{{1,2}})\.?\s+)?({'|'.join(_MONTHS)})\b(?:\s+(\d{{1,2}})\b(?!\d))?(?:,?\s*(\d{{4}}))?",
        re.IGNORECASE,
    )
    for match in dated.finditer(plain):
        month = match[2].casefold()
        if month == "may" and not (match[1] or match[3] or match[4]):
            continue
        day = next((int(text) for text in (match[1], match[3]) if text), 0)
        needed = [_MONTHS[month], int(match[4] or 0)]
        following = needed[0] % 12 + 1
        if (
            (day and day < _LATE_DAY and not {day, day + 1, day - 1} & mentions.numbers)
            or (needed[0] not in mentions.numbers and not (day >= _LATE_DAY and following in mentions.numbers))
            or (needed[1] and not {needed[1], needed[1] + 1} & mentions.numbers)
        ):
            yield f"{match[0]!r}"
    for text in _AMOUNT.findall(dated.sub(" ", plain.lower())):
        number = float(text.replace(",", ""))
        if number > _SMALL and not {number, number * 100, number * 1000} & mentions.numbers:
            yield f"{text!r}"


def _question_words(question: str) -> list[str]:
    """The plain words of a question, without what is quoted; in the singular, `e-mail` as `email`."""
    return [word for text in _WORD.findall(_QUOTED.sub(" ", question)) for word in _parts_of(text)]


def _parts_of(text: str) -> list[str]:
    low = text.lower().removesuffix("'s")
    return [singular(low.replace("-", ""))] if low.startswith("e-") else [singular(part) for part in low.split("-")]


def _missing_values(
    plain: list[str], traced: TracedRun, protocol: Protocol, mentions: _Mentions
) -> Iterator[tuple[str, str]]:
    """The documented values that the question says and the program does not, of fields whose other values it may."""
    for name, values in _documented_values(traced, protocol).items():
        if len(values) < 2:
            continue
        named = [value for value in values if _says(plain, value) and not set(_value_words(value)) <= mentions.nouns]
        if any({*map(stem, _value_words(v))} <= mentions.stems or _bare(v) in mentions.tool_text for v in named):
            continue
        yield from ((value, name) for value in named[:1])


def _value_words(value: str) -> list[str]:
    return [singular(word) for word in words(value)]


def _says(plain: list[str], value: str) -> bool:
    """True if a question says a value as words in a row, and does not rule it out."""
    parts = _value_words(value)
    if not parts or parts[0].isdecimal() or all(part in TEXTS["stop words"] | TEXTS["small words"] for part in parts):
        return False
    places = [at for at in range(len(plain)) if plain[at : at + len(parts)] == parts]
    return any(not _NEGATIONS & set(plain[max(at - 1, 0) : at]) for at in places)


def _documented_values(traced: TracedRun, protocol: Protocol) -> Mapping[str, list[str]]:
    """The enumerated texts of the parameters and response fields of the tools that a run called, by name."""
    documented: dict[str, dict[str, None]] = {}
    deprecated: set[str] = set()

    def note(name: str, schema: Mapping[str, object]) -> None:
        items = schema.get("items")
        listed = schema.get("enum") or (items.get("enum") if isinstance(items, Mapping) else None)
        if schema.get("deprecated"):
            deprecated.add(name)
        elif isinstance(listed, list):
            documented.setdefault(name, {}).update(dict.fromkeys(str(value) for value in listed if value))

    for call in traced.good_calls:
        tool = protocol.tool(call.tool) if call.tool is not None and call.tool in protocol else None
        if tool is None:
            continue
        for parameter in tool.arguments:
            note(parameter.argument, parameter.schema)
        if tool.success is not None and tool.success.schema is not None:
            for field in fields(tool.success.schema, protocol):
                if len([step for step in field.path if isinstance(step, str)]) <= _DEEPEST:
                    note(field.name, field.schema)
    observed: dict[str, list[str]] = {}
    for _, path, value in traced.values:
        if isinstance(value, str) and isinstance(path[-1], str) and any(isinstance(step, int) for step in path):
            observed.setdefault(path[-1], []).append(value)
    for name, texts in observed.items():
        if len(set(texts)) <= min(_MOST_STATES, len(texts) // 2) and not any(" " in text for text in texts):
            if name in deprecated:
                continue
            documented.setdefault(name, {}).update(dict.fromkeys(texts))
    return {name: list(values) for name, values in documented.items()}


_MOST_STATES = 8
"""Different values up to which a field of many items is one of states or types."""
_DEEPEST = 3
"""Keys on the way to a field that a question may mean; deeper ones belong to something else."""


def _missing_fields(plain: list[str], traced: TracedRun, mentions: _Mentions) -> Iterator[tuple[str, str]]:
    """The fields that the question names and the program does not read, beside one that its answer rests on."""
    named_words = frozenset(plain) | {_SUPERLATIVES[word] for word in plain if word in _SUPERLATIVES}
    for used, siblings, deeper in _used_objects(traced):
        own = [singular(word) for word in words(used)]
        for name in dict.fromkeys((*siblings, *deeper)):
            parts = [singular(word) for word in words(name)]
            telling = [part for part in parts if part not in _MINOR]
            if name in mentions.keys or name == used or not telling or (identifier_stem(name) and "id" not in plain):
                continue
            alike = len(parts) > 1 and len(own) > 1 and bool(set(own) & set(parts))
            differing = [part for part in telling if part not in own] if alike else telling
            mine = {part for part in own if part not in parts and part not in _MINOR | mentions.tool_words}
            if not set(differing) - mentions.tool_words or not set(differing) <= named_words or mine & named_words:
                continue
            if alike or (name in siblings and not set(differing) & mentions.words):
                yield name, used


def _changes(traced: TracedRun) -> bool:
    """True if something was changed; many a search is a POST."""
    return any(call.method not in {"GET", "POST"} for call in traced.good_calls)


def _used_objects(traced: TracedRun) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Each key on the way to a value that the answer rests on, the keys beside it, and those in objects beside it."""
    for call, path in dict.fromkeys((s.call, s.path) for s in traced.printed_sources if s.path):
        record = traced.run.calls[call]
        for depth, step in enumerate(path):
            holder = traced.value_at(record, path[:depth]) if isinstance(step, str) else None
            if isinstance(holder, dict) and isinstance(step, str):
                inner = (key for value in holder.values() if isinstance(value, dict) for key in value)
                above = traced.value_at(record, path[: depth - 1]) if depth else None
                outer = above.values() if isinstance(above, dict) else ()
                cousins = (key for value in outer if isinstance(value, dict) for key in value)
                plain = tuple(key for key, value in holder.items() if not isinstance(value, dict | list))
                if isinstance(holder.get(step), list):  # beside a list stands its page: `start`, `total`
                    plain = tuple(key for key in plain if not selects_page(key))
                yield step, plain, (*holder, *inner, *cousins)


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
