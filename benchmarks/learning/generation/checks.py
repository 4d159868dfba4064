"""What an instruction must be: each check refuses one with a reason.

They go from cheap to dear, and the first that refuses ends it, so the acceptance rate of each is over those that came
so far.

Source: ToolLLM (arXiv:2307.16789), section 2.2 and its appendix, for what an instruction must be. That its calls run is
our own check.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.learning.generation.pool import PooledAPI, required_names
from benchmarks.learning.generation.writing import FEWEST_WORDS, WrittenInstruction
from benchmarks.toolbench.server.address import VirtualCall
from benchmarks.toolbench.server.reply_sources import Upstream
from protocols.calls.envelope import fault_of, literal
from protocols.documents.tool_records import function_name
from protocols.errors import APIError
from protocols.text.words import singular, words

__all__ = ["CHECKS", "FORM", "InstructionChecks", "SeenTexts", "why_dropped"]

FORM = "form"
"""The first check: what the model wrote is an instruction at all."""

CHECKS = (FORM, "related", "words", "names", "concrete", "new", "runs")
"""The checks in their order."""

_SHINGLE = 3
_ALIKE = 0.5
"""Part of the shingles that two texts share (Jaccard) from which on they are near-duplicates."""
_CONTENT = 4
"""Letters of a word that says what a text is about."""
_EMPTY = frozenset(
    ["this", "that", "with", "from", "will", "your", "have", "endpoint", "return", "when", "what", "which"]
)
"""Words that are about nothing."""
_PLACEHOLDER = re.compile(
    r"<[\w ]+>|\[[\w ]+\]|\{[\w ]+\}|\b(?:your|my|insert|enter|some|user)_\w+|\b(?:xyz|x{3,}|lorem|placeholder|todo)\b",
    re.IGNORECASE,
)
_SOFTWARE = re.compile(r"\b(?:APIs?|endpoints?)\b", re.IGNORECASE)
"""Words for what somebody who asks knows nothing of."""
_NAMED = r"(?:[\"'`]{name}[\"'`]|\b{name}\b\s+(?:api|endpoint|function|tool)\b|\b(?:api|endpoint|function)\s+{name}\b)"
"""A name that is written like one: in quotes, or beside a word for what it names."""
_HTML = re.compile(r"\s*<(?:!doctype|html|\?xml|head|body)\b", re.IGNORECASE)
_ERROR_KEYS = frozenset({"error", "errors", "fault", "exception"})
_MESSAGE_KEYS = frozenset({"message", "messages", "msg", "detail", "info", "status", "code", "success", "statuscode"})
_ERROR_WORDS = re.compile(
    r"\b(?:error|fail(?:ed|ure)?|invalid|denied|unauthori[sz]ed|forbidden|not (?:found|subscribed|exist)|"
    r"does(?: not|n't) exist|exceeded|unavailable|missing|40[0134]|429|50\d)\b",
    re.IGNORECASE,
)


class SeenTexts:
    """Texts, and whether a further one is nearly the same as one of them: by their common word triples."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._places: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._sizes: list[int] = []
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Remember a text."""
        shingles = _shingles(text)
        for shingle in shingles:
            self._places[shingle].append(len(self._sizes))
        self._sizes.append(len(shingles))

    def likeness(self, text: str) -> float:
        """The greatest part of its shingles that a text shares with one of them, from 0 to 1."""
        shingles = _shingles(text)
        common: dict[int, int] = defaultdict(int)
        for shingle in shingles:
            for place in self._places.get(shingle, ()):
                common[place] += 1
        shares = (count / (len(shingles) + self._sizes[place] - count) for place, count in common.items())
        return max(shares, default=0.0)


class InstructionChecks:
    """The checks after the form.

    Args:
        seen: The instructions so far. server: What their calls are sent to; None leaves `runs` out.
    """

    def __init__(self, seen: SeenTexts, server: Upstream | None) -> None:
        self.seen = seen
        self._server = server
        self._checks: dict[str, Callable[[WrittenInstruction, Sequence[PooledAPI]], str]] = {
            "related": _related,
            "words": _long_enough,
            "names": _names,
            "concrete": _concrete,
            "new": self._new,
        }
        if server is not None:
            self._checks["runs"] = self._runs

    def refusal(self, instruction: WrittenInstruction, apis: Sequence[PooledAPI]) -> tuple[str, str]:
        """The check that refuses an instruction about some APIs, and why; two empty texts if none does.

        Raises: APIError: The server is away.
        """
        for name, check in self._checks.items():
            if why := check(instruction, apis):
                return name, why
        return "", ""

    def _new(self, instruction: WrittenInstruction, apis: Sequence[PooledAPI]) -> str:
        likeness = self.seen.likeness(instruction.text)
        return f"{likeness:.0%} of it is in an earlier instruction" if likeness >= _ALIKE else ""

    def _runs(self, instruction: WrittenInstruction, apis: Sequence[PooledAPI]) -> str:
        assert self._server is not None
        for api in apis:
            arguments = {name: instruction.values[name] for name in required_names([api])}
            reply = self._server.answer(VirtualCall(api.address, arguments))
            if reply is None and self._server.is_away:
                raise APIError(f"{self._server.problem or 'the server gives no reply'}; repeat the command to go on")
            if reply is None:
                return f"{api.name}: {self._server.problem}"
            if why := why_dropped(reply):
                return f"{api.name}: {why}: {str(reply['error'] or reply['response'])[:120]}"
        return ""


def _related(instruction: WrittenInstruction, apis: Sequence[PooledAPI]) -> str:
    """The text speaks of each API: it has a word of its name or description, or one of its values."""
    spoken = _content_words(instruction.text)
    text = _spaced(instruction.text)
    for api in apis:
        described = _content_words(f"{api.tool} {api.name} {api.record['api_description']}")
        values = [instruction.values[name] for name in required_names([api])]
        if described and not described & spoken and not any(_spaced(str(value)) in text for value in values):
            return f"it does not ask for {api.name}"
    return ""


def _long_enough(instruction: WrittenInstruction, apis: Sequence[PooledAPI]) -> str:
    count = len(instruction.text.split())
    return f"it has {count} words of at least {FEWEST_WORDS}" if count < FEWEST_WORDS else ""


def _names(instruction: WrittenInstruction, apis: Sequence[PooledAPI]) -> str:
    """No API or tool is named or spoken of. What could be common words counts only where it is written like a name."""
    for api in apis:
        published = function_name(api.name, api.tool)
        if published in instruction.text:
            return f"it names {published}"
        if (spelling := _spelled(api.name, instruction.text)) is not None:
            return f"it names {spelling}"
        if re.search(_NAMED.replace("{name}", re.escape(api.tool)), instruction.text, re.IGNORECASE):
            return f"it names {api.tool}"
    spoken = _SOFTWARE.search(instruction.text)
    return f"it speaks of an {spoken[0]}" if spoken else ""


def _spelled(name: str, text: str) -> str | None:
    """How a text names an API: by its display name, or by the published one in any case and with any joints."""
    parts = list(map(re.escape, words(name)))
    is_plain = re.fullmatch(r"[A-Z]?[a-z]+(?: [a-z]+)*", name) is not None
    patterns = [_NAMED.replace("{name}", r"[\s_-]*".join(parts) if len(parts) > 1 else re.escape(name))]
    if len(parts) > 1:
        patterns += [rf"(?<!\w){joint.join(parts)}(?!\w)" for joint in ("", "_", "-")]
    matches = [re.search(pattern, text, re.IGNORECASE) for pattern in patterns]
    matches += [] if is_plain else [re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    return next((match[0] for match in matches if match is not None), None)


def _concrete(instruction: WrittenInstruction, apis: Sequence[PooledAPI]) -> str:
    """Each required parameter has a value, and the text says it (but for a truth value); nothing is a placeholder."""
    if gap := _PLACEHOLDER.search(instruction.text):
        return f"{gap[0]!r} is a placeholder"
    text = _spaced(instruction.text)
    for name in required_names(apis):
        value = instruction.values[name]
        if value in (None, "") or isinstance(value, dict | list) or _is_placeholder(value, name):
            return f"the {name} is {value!r}"
        if not isinstance(value, bool) and _spaced(str(value)) not in text:
            return f"{value!r}, the {name}, is not in the text"
    return ""


def _is_placeholder(value: Any, name: str) -> bool:
    """True of a value that says nothing but the name of its parameter, and of one with a gap to be filled."""
    spoken = {word for word in words(str(value)) if not word.isdigit()}
    repeats = bool(spoken) and spoken <= {*words(name), "value", "example", "string", "your", "number"}
    return repeats or _PLACEHOLDER.search(str(value)) is not None


def _content_words(text: str) -> set[str]:
    """The words of a text that say what it is about, in the singular."""
    return {singular(word) for word in words(text) if len(word) >= _CONTENT} - _EMPTY


def _spaced(text: str) -> str:
    """The words and numbers of a text with a space around each, so that a part of one is not found in another."""
    return f" {' '.join(_tokens(text))} "


def _tokens(text: str) -> list[str]:
    """The words and numbers of a text; what joins them is no matter."""
    return re.findall(r"[^\W_]+", text.casefold())


def _shingles(text: str) -> set[tuple[str, ...]]:
    """The runs of three words of a text; all its words, where it has fewer."""
    tokens = _tokens(text)
    return {tuple(tokens[place : place + _SHINGLE]) for place in range(max(1, len(tokens) - _SHINGLE + 1))}


def why_dropped(reply: Mapping[str, Any]) -> str:
    """Why a reply holds no data; empty if it does.

    Source: ToolLLM, section 2.1: its filter by an example response.
    """
    if reply["error"]:
        return fault_of(str(reply["error"])).name
    value = reply["response"]
    value = literal(value) if isinstance(value, str) else value
    if value in (None, "", [], {}):
        return "empty"
    if isinstance(value, str):
        return "HTML" if _HTML.match(value) else "error message" if _ERROR_WORDS.search(value[:200]) else ""
    if isinstance(value, Mapping):
        keys = {str(key).lower() for key in value}
        if any(value[key] for key in value if str(key).lower() in _ERROR_KEYS):
            return "error message"
        if keys <= _MESSAGE_KEYS and _ERROR_WORDS.search(json.dumps(value, default=str)):
            return "error message"
    return ""
