"""Questions that ask for a change, each with the program that makes it; and the reads that show the change."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from random import Random

from benchmarks.learning.pairs.code import constant, expression, part, print_program, request, statements
from benchmarks.learning.pairs.draft import Draft, QuestionPair
from benchmarks.learning.pairs.reach import Reach
from benchmarks.learning.pairs.views import ListView, is_search
from benchmarks.learning.pairs.wording import plural, spoken, template
from protocols.dataflow.identifiers import IdentifierReference
from protocols.dataflow.operations import is_own, looks_like_read
from protocols.model import Parameter, Protocol, Tool
from protocols.schema_fields import items_of, type_of
from protocols.text.words import SEARCHES, SIZES, noun_of, singular, words
from sandbox import CallRecord

__all__ = ["WriteQuestions", "reading_back"]

_USERS = re.compile(r"\b(?:the\s+)?(?:current\s+)?users?(?:'s?|s')\s+", re.IGNORECASE)
_FOR_USER = re.compile(r"\s+for\s+(?:the\s+)?(?:current\s+)?users?\b.*$", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\s+or\s+\w+", re.IGNORECASE)
_INTO = frozenset({"to", "of", "in", "from", "into", "on"})
_ARTICLES = frozenset({"the", "a", "an"})
_DETERMINERS = frozenset({"my", "next", "previous", "all", "some"})
_ITEMS = frozenset({"item", "entry"})
_SETTING = frozenset({"set", "change", "update", "edit", "modify", "rename"})
_NAMES = frozenset({"name", "title", "label", "subject"})
_TEXTS = _NAMES | {"description", "text", "comment", "note", "message", "instructions", "content"}
_MOST_READS = 3
_PAGE = 50


class WriteQuestions:
    """Requests for the writing tools of an API."""

    def __init__(self, reach: Reach) -> None:
        self.reach = reach
        self.views = reach.views
        self.tools = [tool for tool in reach.protocol.tools if tool.writes and not looks_like_read(tool)]

    def ask(self, tool: Tool, rng: Random) -> QuestionPair:
        """A request that a tool carries out. Raises: NoQuestion."""
        draft = Draft(rng)
        wording = _Wording(tool, rng)
        arguments: dict[str, ast.expr] = {}
        printed: ast.expr | None = None
        for parameter in self._filled(tool, draft):
            arguments[parameter.argument], node = self._value(draft, tool, parameter, wording)
            printed = node if node is not None else printed
        action = wording.text()
        draft.tools.append(tool.name)
        draft.add("CALL", CALL=request(tool.name, arguments))
        done = constant(f"{wording.verb.capitalize()}: done")
        draft.body += statements("print(DONE, WHAT)" if printed else "print(DONE)", DONE=done, WHAT=printed or done)
        return draft.pair(spoken(template("write", rng, {"action": action}), rng), writes=True)

    def _filled(self, tool: Tool, draft: Draft) -> list[Parameter]:
        """The required arguments, and one that says what is written where the path alone does not."""
        required = [p for p in tool.arguments if p.required]
        if any(p.location != "path" for p in required):
            return required
        optional = [p for p in tool.arguments if not p.required and p.location in ("body", "query")]
        content = [p for p in optional if self._is_provided(tool, p) or p.argument in _TEXTS]
        content = content or [p for p in optional if p.location == "body" and _enum(p)]
        return [*required, *([draft.rng.choice(content)] if content else [])]

    def _is_provided(self, tool: Tool, parameter: Parameter) -> bool:
        reference = self.reach.graph.reference(tool.name, parameter.argument)
        return reference is not None and bool(self.views.sources.get(reference.noun))

    def _value(
        self, draft: Draft, tool: Tool, parameter: Parameter, wording: _Wording
    ) -> tuple[ast.expr, ast.expr | None]:
        """The value of an argument, and what of it is worth printing."""
        reference = self.reach.graph.reference(tool.name, parameter.argument)
        name = parameter.argument
        if reference is not None:
            return self._referred(draft, tool, parameter, reference, wording)
        enum = _enum(parameter)
        if enum:
            named = [value for value in enum if singular(str(value).lower()) in wording.nouns()]
            value = named[0] if named else draft.choose(enum)
            if not named:
                wording.extra.append((" ".join(words(name)), draft.value(value)))
            return self._listed(parameter, value), None
        if type_of(parameter.schema) == "string" and (name.lower() in SEARCHES or name in _TEXTS):
            title = draft.value(self.reach.invented("title", draft.rng))
            wording.named(name, title)
            return constant(title), constant(title)
        value, _ = self.reach.plain(draft, parameter)
        wording.extra.append((" ".join(words(name)), str(value)))
        return constant(value), None

    def _referred(
        self, draft: Draft, tool: Tool, parameter: Parameter, reference: IdentifierReference, wording: _Wording
    ) -> tuple[ast.expr, ast.expr | None]:
        """The identifier of an object, or those of several."""
        noun, attribute = reference.noun, reference.attribute
        key = self.reach.graph.item_key(tool.name, parameter.argument)
        is_list = items_of(parameter.schema, self.reach.protocol) is not None
        several = is_list or parameter.argument.endswith("s")
        if several and draft.chance(0.4):
            lists = [v for v in self.views.sources.get(noun, ()) if not v.single and v.tool != tool.name]
            view = draft.choose([v for v in lists if not is_search(self.reach.protocol.tool(v.tool))])
            items = self.reach.items(draft, view)
            count = draft.rng.choice((2, 3, 3, 5))
            entry = part(view.item, [view.key_for(attribute)])
            entry = expression("{KEY: VALUE}", KEY=constant(key), VALUE=entry) if key else entry
            parts: dict[str, ast.expr | str] = {
                "ITEM": view.item,
                "ITEMS": items.node,
                "COUNT": constant(count),
                "ENTRY": entry,
            }
            identifiers = expression("[ENTRY for ITEM in ITEMS[:COUNT]]", **parts)
            wording.place((noun, noun_of(view.key)), items.phrase.text(count))
            names = (
                expression("[TITLE for ITEM in ITEMS[:COUNT]]", **parts, TITLE=part(view.item, [view.title]))
                if view.title
                else None
            )
            return self._joined(identifiers, is_list), names
        own_views = [v for v in self.views.sources.get(noun, ()) if v.single and not v.path and self._is_me(v)]
        own = bool(own_views)
        reached = self.reach.only(draft, own_views[0]) if own else self.reach.subject(draft, noun, 0, tool.name)
        wording.place((noun, noun_of(reached.view.key)), "" if own else reached.phrase)
        value = part(reached.variable, [reached.view.key_for(attribute)])
        value = expression("{KEY: VALUE}", KEY=constant(key), VALUE=value) if key else value
        printed = part(reached.variable, [reached.view.title]) if reached.view.title and not own else None
        return (expression("[VALUE]", VALUE=value) if is_list else value), printed

    def _is_me(self, view: ListView) -> bool:
        """True for the object of the caller."""
        tool = self.reach.protocol.tool(view.tool)
        return is_own(tool) and not any(p.required for p in tool.arguments)

    def _joined(self, identifiers: ast.expr, is_list: bool) -> ast.expr:
        return identifiers if is_list else expression("','.join(VALUES)", VALUES=identifiers)

    def _listed(self, parameter: Parameter, value: object) -> ast.expr:
        return constant([value] if items_of(parameter.schema, self.reach.protocol) is not None else value)


class _Wording:
    """The summary of a tool as a request: `Add Item to Playback Queue`, with the objects in place of their nouns."""

    def __init__(self, tool: Tool, rng: Random) -> None:
        text = (tool.summary or tool.description.partition(".")[0]).replace("\u2019", "'")
        self._own = bool(_USERS.search(text))
        text = _ALTERNATIVE.sub("", _FOR_USER.sub("", _USERS.sub("", text)))
        first, *self._tokens = text.split() or [tool.method.lower()]
        self.verb = rng.choice(first.split("/")).lower()
        self._rng, self._tool = rng, tool
        self._placed: dict[int, str] = {}
        self._further: list[str] = []
        self._name = ""
        self.extra: list[tuple[str, str]] = []

    def nouns(self) -> set[str]:
        """The nouns of the summary, in the singular."""
        return {singular(token.lower()) for token in self._tokens}

    def place(self, nouns: Sequence[str], phrase: str) -> None:
        """Put an object where its noun stands, or an item is spoken of."""
        if not phrase:
            return
        for wanted in (frozenset(nouns), _ITEMS):
            for at, token in enumerate(self._tokens):
                if at not in self._placed and singular(token.lower()) in wanted:
                    self._placed[at] = phrase
                    return
        self._further.append(phrase)

    def named(self, argument: str, title: str) -> None:
        """Say what a new object is called, or what an object is to be called."""
        self._name = f"{argument} {title}"

    def text(self) -> str:
        """The request: a verb and what it is done to."""
        spoken_tokens = [self._placed.get(at, token.lower()) for at, token in enumerate(self._tokens)]
        if self.verb in _SETTING and self._name and self._placed:
            argument, _, title = self._name.partition(" ")
            return f"change the {argument} of {next(iter(self._placed.values()))} to {self._quoted(title)}"
        pieces = self._pieces(spoken_tokens)
        text = f"{self.verb} {' '.join(pieces)}".strip()
        if self._name:
            argument, _, title = self._name.partition(" ")
            called = (
                self._rng.choice(["called", "named", "with the name"]) if argument in _NAMES else f"with the {argument}"
            )
            text += f" {called} {self._quoted(title)}"
        for phrase in self._further:
            text += f" {'from' if self._tool.method == 'DELETE' else 'with' if not self._placed else 'for'} {phrase}"
        for argument, value in self.extra:
            text += f" to {value}" if self.verb in _SETTING else f" with {argument} {value}"
        return text

    def _pieces(self, tokens: Sequence[str]) -> list[str]:
        """The words behind the verb, with articles, and in an order that can be spoken."""
        pieces: list[str] = []
        places = sorted(self._placed)
        if len(places) == 2 and places[1] == places[0] + 1:
            joint = "from" if self._tool.method == "DELETE" else "to"
            return [tokens[places[1]], joint, tokens[places[0]]]
        if len(places) == 1 and self._own:
            before = [token for at, token in enumerate(tokens[: places[0]])]
            nouns = plural(self._tokens[places[0]].lower())
            joint = "from" if self._tool.method == "DELETE" else "to"
            return [tokens[places[0]], joint, "my", *before, nouns]
        for at, token in enumerate(tokens):
            if at + 1 in self._placed and token in _ARTICLES:
                continue
            is_first = at == 0 and at not in self._placed and token not in _INTO
            follows = at > 0 and tokens[at - 1] in _INTO and at - 1 not in self._placed and at not in self._placed
            if (is_first or follows) and token not in _ARTICLES | _DETERMINERS:
                pieces.append("a" if self.verb in {"create", "add", "make"} and is_first else "the")
            pieces.append(token)
        return pieces

    def _quoted(self, title: str) -> str:
        return self._rng.choice([title, f'"{title}"', f"'{title}'"])


def reading_back(protocol: Protocol, call: CallRecord) -> str:
    """A program that prints what a write may have changed; empty where nothing reads it.

    Read are the path of the write, what lies above it, and lists with its last word.
    """
    tool = protocol.tool(call.tool or "")
    segments = [segment for segment in tool.path.split("/") if segment]
    last = next((segment for segment in reversed(segments) if "{" not in segment), "")
    rated: list[tuple[int, Tool]] = []
    for read in protocol.tools:
        path = [segment for segment in read.path.split("/") if segment]
        required = [p.argument for p in read.arguments if p.required]
        if read.method != "GET" or not set(required) <= call.arguments.keys():
            continue
        if path == segments or (path == segments[: len(path)] and len(path) > 1):
            rated.append((-len(path), read))
        elif path[-1:] == [last] and not required:
            rated.append((0, read))
    body: list[ast.stmt] = []
    for _, read in sorted(rated, key=lambda pair: pair[0])[:_MOST_READS]:
        arguments: Mapping[str, object] = {
            p.argument: call.arguments[p.argument] for p in read.arguments if p.required
        } | {
            p.argument: _PAGE for p in read.arguments if not SIZES.isdisjoint(words(p.argument)[-1:]) and not p.required
        }
        node = request(read.name, {name: constant(value) for name, value in arguments.items()})
        body += statements("print(CALL)", CALL=node)
    return print_program(body) if body else ""


def _enum(parameter: Parameter) -> list[object]:
    items = parameter.schema.get("items")
    schema = items if isinstance(items, Mapping) else parameter.schema
    values = schema.get("enum")
    return [value for value in values if value not in (None, "")] if isinstance(values, list) else []
