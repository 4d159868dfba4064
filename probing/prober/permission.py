"""The write policy of a probe: no writes, all, or only on objects that the probe created and removes at the end.

The probe creates an object only if it can recognise it later: the collection was listed before, and the object gets a
name of the probe's own. An object is the probe's own if the response to its POST has an identifier that was never seen
before and was not chosen by the probe. Without one, the list is searched for the name; if the name is the identifier
(`/rooms/{room_name}`), it must not have been seen before. Anything uncertain is reported and left alone, and its tool
creates nothing more.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from atc.program.plan import Call, Plan, Step, literal, sketch
from probing.prober.identifiers import is_value, linked_identifiers, reference_of
from probing.prober.replies import error_in_success
from probing.prober.values import OWN_NAME, is_free_text
from protocols.dataflow.identifiers import IdentifierReference, looks_like_read
from protocols.model import Protocol, Tool
from protocols.text.words import WRAPPERS, attribute_of, is_identifier, noun_of, noun_of_identifier, words
from sandbox import CallRecord

__all__ = ["CreatedObject", "WritePermission", "WriteScope", "created_identifier"]

WriteScope: TypeAlias = Literal["deny", "own", "all"]

_PARAMETER = re.compile(r"\{([^{}]+)\}")
_CREATED = 201


@dataclass(frozen=True, slots=True)
class CreatedObject:
    """An object created by a probe, as the call that removes it."""

    undo: str
    argument: str
    value: str | int

    @property
    def program(self) -> str:
        """The program that removes it."""
        call = Call(self.undo, ((self.argument, literal(self.value, observed=True)),))
        return sketch(Plan((Step("", call),)))


class WritePermission:
    """Decides on each write of a sandbox (`writes=`).

    Args:
        scope: "deny", "own" (create objects that the protocol can remove, and change these alone), or "all".
    """

    def __init__(self, protocol: Protocol, scope: WriteScope = "deny") -> None:
        self.protocol = protocol
        self._scope = scope
        self.reads = frozenset(tool.name for tool in protocol.tools if tool.reads)
        self.created: list[CreatedObject] = []
        """The objects to remove, oldest first."""
        self.unremovable: list[str] = []
        """Descriptions of objects that may have been created, and cannot be removed."""
        self.on_change: Callable[[], None] = lambda: None
        """Called after a change of these two, from any thread."""
        self._undo = dict(_create_delete_pairs(protocol)) if scope == "own" else {}
        self._creators = {_collection(protocol.tool(name).path): name for name in self._undo}
        self._stopped_creators: set[str] = set()
        self._listed_collections: set[str] = set()
        self._creator_by_name: dict[str, str] = {}
        self._foreign_names: set[str] = set()  # left by an earlier probe
        self._unconfirmed: dict[str, tuple[str, str]] = {}
        self._seen_identifiers: set[tuple[IdentifierReference, str]] = set()
        self._lock = threading.Lock()

    def __call__(self, call: CallRecord) -> bool:
        """True if a call may be sent; a write on an object needs an identifier of the probe's own."""
        if self._scope == "all":
            return True
        if call.tool is None:
            return False
        if call.tool in self.reads:
            return True
        tool = self.protocol.tool(call.tool)
        if call.tool in self._undo:  # a chosen identifier may be in use
            noun = noun_of(_collection(tool.path))
            chosen = [name for name in call.arguments if is_identifier(name) and reference_of(name, noun).noun == noun]
            names = _own_names(call.arguments)
            is_own = bool(names) and names.isdisjoint(self._foreign_names)
            return is_own and not chosen and not self.why_unrecognizable(tool)
        creator_and_argument = self.creator(tool)
        if creator_and_argument is None:
            return False
        creator, argument = creator_and_argument
        identifier = str(call.arguments.get(argument))
        undo = self._undo[creator].name
        with self._lock:
            return any((created.undo, str(created.value)) == (undo, identifier) for created in self.created)

    def allows(self, tool: Tool) -> bool:
        """True if some calls of a tool may be allowed."""
        free = not tool.writes or self._scope == "all" or tool.name in self.reads
        return free or tool.name in self._undo or self.creator(tool) is not None

    def creates(self, tool: Tool) -> bool:
        """True if a tool creates objects that are removed at the end."""
        return tool.name in self._undo

    @property
    def names(self) -> tuple[str, ...]:
        """The names given to created objects."""
        return tuple(self._creator_by_name)

    def unconfirmed(self, tool: str) -> list[str]:
        """The names that a tool used for objects which no response confirmed."""
        return [name for name, (creator, _) in self._unconfirmed.items() if creator == tool]

    def list_tools(self, name: str) -> list[str]:
        """The tools that list the collection of a name of the probe's own."""
        collection = _collection(self.protocol.tool(self._creator_by_name[name]).path)
        return [tool.name for tool in self.protocol.tools if self._lists(tool, collection)]

    def why_unrecognizable(self, tool: Tool) -> str:
        """The reason why a tool's objects could not be recognised; empty if they could, or if it creates none."""
        if tool.name not in self._undo:
            return ""
        if tool.name in self._stopped_creators:
            return "what it made before could not be recognised"
        collection = _collection(tool.path)
        if collection not in self._listed_collections:
            return f"what it makes could not be recognised: no list of {collection} was answered"
        if not any(
            is_free_text(argument.schema, self.protocol) for argument in tool.arguments if argument.location != "path"
        ):
            return "what it makes could not be recognised: it takes no text for a name of the probe's own"
        return ""

    def _lists(self, tool: Tool, collection: str) -> bool:
        """True if a tool reads a collection: by its path, or by one a word longer (`/flows/filter`)."""
        if tool.writes and tool.name not in self.reads:
            return False
        path = _collection(tool.path)
        longer = path.startswith(f"{collection}/") and path.count("/") == collection.count("/") + 1
        return path == collection or (longer and "{" not in path)

    def why_refused(self, tool: Tool) -> str:
        """The explanation for a tool that is not allowed."""
        reason = "it may change something: allow it with --writes"
        if self._scope == "own":
            reason = "it changes what the probe did not make, or makes what it could not remove"
        if looks_like_read(tool):
            reason += f"; by its name it only reads: if so, say --read '{tool.method} {tool.path}'"
        return reason

    def creator(self, tool: Tool) -> tuple[str, str] | None:
        """The tool that creates the object of a write, with the argument that names it.

        None if the write names another object too, or has an effect that removing the object does not undo.
        """
        variables = _PARAMETER.findall(tool.path)
        if len(variables) != 1 or not tool.writes:
            return None
        below = tool.path[tool.path.index("}") + 1 :].strip("/")
        has_undo = ("DELETE", tool.path) in {(candidate.method, candidate.path) for candidate in self.protocol.tools}
        if (below and not has_undo) or (not below and tool.method == "POST"):
            return None  # sent, paid, invited: removing the object may not undo it
        creator = self._creators.get(_collection(_PARAMETER.split(tool.path)[0]))
        argument = next((p.argument for p in tool.parameters if p.location == "path" and p.name == variables[0]), None)
        if creator is None or argument is None or not _takes_same_identifier(argument, self._undo[creator]):
            return None
        return creator, argument

    def observe(self, call: CallRecord) -> None:
        """Track created and removed objects; for `on_call` of the sandbox, from any thread."""
        if self._scope != "own" or call.tool is None or not call.attempts:
            return
        tool = self.protocol.tool(call.tool)
        with self._lock:
            before = len(self.created), len(self.unremovable)
            undo = self._undo.get(call.tool)
            self._observe_list(call, tool)
            if undo is not None:
                self._creator_by_name.update(dict.fromkeys(_own_names(call.arguments), call.tool))
                self._observe_creation(call, undo)
            elif call.status in range(200, 300) and tool.method == "DELETE" and error_in_success(call.response) is None:
                removed = {(call.tool, str(value)) for value in call.arguments.values()}
                self.created = [item for item in self.created if (item.undo, str(item.value)) not in removed]
            self._foreign_names |= _own_names(call.response) - self._creator_by_name.keys()
            for identifiers in linked_identifiers(call.response, _entity(tool), {}, most=None):
                self._seen_identifiers.update((reference, str(value)) for reference, value in identifiers.items())
            now = len(self.created), len(self.unremovable)
        if now != before:
            self.on_change()

    def _observe_creation(self, call: CallRecord, undo: Tool) -> None:
        """Add the object of a POST, or report it as uncertain."""
        if call.status is not None and 400 <= call.status < 500:
            return  # refused: nothing was created
        argument, noun = _path_argument(undo), _entity(undo)
        located = created_identifier(call.response, argument, noun) if call.status in range(200, 300) else None
        if located is not None:
            identifier = located[1]
            if (undo.name, identifier) in [(created.undo, created.value) for created in self.created]:
                return  # already ours: creating it again returns it
            new = call.status == _CREATED or _echoes_own_name(call)
            if new and (reference_of(argument, noun), str(identifier)) not in self._seen_identifiers:
                self.created.append(CreatedObject(undo.name, argument, identifier))
                return
            why = f"{argument} {identifier!r} {'was there before' if new else 'may have been there before'}"
        elif call.status is None:
            why = "no reply came"
        else:
            why = f"its answer holds no {argument}" if call.status < 300 else f"it answered {call.status}"
        text = f"what {call.tool} made, if it did: {why}"
        self.unremovable.append(text)
        self._stopped_creators.add(str(call.tool))
        self._unconfirmed.update(dict.fromkeys(_own_names(call.arguments), (str(call.tool), text)))

    def _observe_list(self, call: CallRecord, tool: Tool) -> None:
        """Mark a collection as listed, and find created objects in it by their names."""
        if call.status not in range(200, 300) or error_in_success(call.response) is not None:
            return
        for creator, undo in self._undo.items():
            collection = _collection(self.protocol.tool(creator).path)
            if not self._lists(tool, collection) or not _has_list(call.response):
                continue
            self._listed_collections.add(collection)
            names_of_creator = {name for name, user in self._creator_by_name.items() if user == creator}
            own_names = names_of_creator - self._foreign_names
            argument = _path_argument(undo)
            for item in _objects(call.response) if own_names else ():
                names = own_names & _own_names({key: part for key, part in item.items() if isinstance(part, str)})
                located = created_identifier(item, argument, noun_of(collection)) if names else None
                if located is None:
                    continue
                created = CreatedObject(undo.name, argument, located[1])
                if created not in self.created:
                    self.created.append(created)
                for name in names & self._unconfirmed.keys():
                    _, text = self._unconfirmed.pop(name)
                    self.unremovable = [reason for reason in self.unremovable if reason != text]


def _echoes_own_name(call: CallRecord) -> bool:
    """True if a response contains the name that the request chose, and so is about the created object."""
    return not _own_names(call.arguments).isdisjoint(_own_names(call.response))


def _own_names(value: object) -> set[str]:
    """The names of the probe's own in a value."""
    return {match[0] for match in OWN_NAME.finditer(json.dumps(value, default=str))}


def _has_list(body: object, depth: int = 0) -> bool:
    """True if a body is a list, or wraps one."""
    if isinstance(body, Mapping):
        return depth < 2 and any(_has_list(part, depth + 1) for part in body.values())
    return isinstance(body, list)


def _objects(body: object) -> Iterator[Mapping[str, object]]:
    """All objects in a body, the outermost first."""
    if isinstance(body, Mapping):
        yield body
        for part in body.values():
            yield from _objects(part)
    elif isinstance(body, list):
        for part in body:
            yield from _objects(part)


def created_identifier(body: object, argument: str, noun: str) -> tuple[tuple[str, ...], str | int] | None:
    """The path and value of a created object's identifier in a response; None if uncertain.

    Args:
        argument: The argument that takes the identifier.
        noun: The entity that was created.
    """
    if not isinstance(body, Mapping):
        return None
    parts = words(argument)
    own = "_".join(parts[1:]) if parts[:1] == (noun,) else ""  # /channels/{channel_name}: a channel has a name
    attribute = attribute_of(argument) or own or "id"
    for key in (argument, attribute, f"{noun}_{attribute}", f"{noun}{attribute.capitalize()}"):
        value = body.get(key)
        if isinstance(value, str | int) and is_value(value):
            return (key,), value
    for key, part in body.items():
        if noun_of(str(key)) in WRAPPERS | {noun}:
            located = created_identifier(part, argument, noun)
            if located is not None:
                return (str(key), *located[0]), located[1]
    return None


def _create_delete_pairs(protocol: Protocol) -> Iterator[tuple[str, Tool]]:
    """Each tool that creates an object, with the one that removes it."""
    removing = {
        _collection(_PARAMETER.split(tool.path)[0]): tool
        for tool in protocol.tools
        if tool.method == "DELETE"
        and len(_PARAMETER.findall(tool.path)) == sum(argument.required for argument in tool.arguments) == 1
        and tool.path.rstrip("/").endswith("}")
    }
    for tool in protocol.tools:
        undo = removing.get(_collection(tool.path))
        if tool.method != "POST" or "{" in tool.path or undo is None:
            continue
        if noun_of_identifier(_path_argument(undo)) in ("", noun_of(_collection(tool.path))):
            yield tool.name, undo


def _takes_same_identifier(argument: str, undo: Tool) -> bool:
    """True if an argument takes the same identifier as the tool that removes an object."""
    own = _path_argument(undo)
    if argument == own:
        return True
    return noun_of_identifier(argument) in ("", _entity(undo)) and attribute_of(argument) == (attribute_of(own) or "id")


def _path_argument(tool: Tool) -> str:
    return next(parameter.argument for parameter in tool.parameters if parameter.location == "path")


def _entity(tool: Tool) -> str:
    """The entity of a tool's collection."""
    return noun_of(_collection(_PARAMETER.split(tool.path)[0]))


def _collection(path: str) -> str:
    return path.rstrip("/")
