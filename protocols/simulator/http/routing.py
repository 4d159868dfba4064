"""Answer requests from a world: find the tool, validate the request, and reply as documented."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import cast
from urllib.parse import urlencode

from protocols.calls.path_matching import match
from protocols.model import Schema, Tool
from protocols.simulator.analysis.response_shape import ResponseShape, build, fits
from protocols.simulator.analysis.world_schema import ResponsePlan
from protocols.simulator.http.messages import RequestError, SimulatedReply, SimulatedRequest
from protocols.simulator.http.paging import ResponseFrame, stands_for_all
from protocols.simulator.http.request import RequestReader
from protocols.simulator.http.response_bodies import ResponseBodies
from protocols.simulator.http.writes import WriteHandler
from protocols.simulator.world.entity import Entity
from protocols.simulator.world.world import World
from protocols.text.words import words

__all__ = ["Responder"]

_MAX_CACHED = 8192
_UNDOCUMENTED = {"status": "ok", "message": "simulated: what this operation replies is not documented"}


class Responder:
    """Turns requests into replies for one world; the caller holds the lock."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._fields = world.fields
        self.schema = world.schema
        self.protocol = world.schema.protocol
        self._plans = {plan.tool.name: plan for plan in self.schema.plans}
        self._reader = RequestReader(self.protocol)
        self._writer = WriteHandler(world)
        self._match = lru_cache(_MAX_CACHED)(
            lambda method, path: match(self.protocol, "GET" if method == "HEAD" else method, path)
        )
        self._bodies = ResponseBodies(world, self._writer)
        self._path_names = {step.name for plan in self.schema.plans for step in plan.steps if step.role == "entity"}
        self._shown: set[tuple[str, str]] = set()  # while programs are rehearsed: what a reply names, exists

    # -- from request to reply -------------------------------------------------------------------------------------

    def answer(self, request: SimulatedRequest) -> SimulatedReply:
        """The reply to a request with accepted credentials."""
        matched = self._match(request.method, request.path)
        if matched is None:
            allowed = sorted({t.method for t in self.protocol.tools if match(self.protocol, t.method, request.path)})
            if not allowed:
                return self.problem(None, RequestError(404, f"there is nothing at {request.path}"))
            reply = self.problem(None, RequestError(405, f"{request.method} is not allowed here"))
            return replace(reply, headers={"Allow": ", ".join(allowed)})
        tool, path_values = matched
        try:
            return self._answer(request, self._plans[tool.name], path_values)
        except RequestError as problem:
            return self.problem(tool, problem)

    def tool_for(self, request: SimulatedRequest) -> Tool | None:
        """The tool of a request."""
        matched = self._match(request.method, request.path)
        return matched[0] if matched else None

    def _answer(self, request: SimulatedRequest, plan: ResponsePlan, path_values: Mapping[str, str]) -> SimulatedReply:
        body = self._reader.body(request, plan.tool)
        values = self._reader.parameters(request, plan.tool, path_values, body)
        root = self.protocol.servers[0].url if self.protocol.servers else ""
        url = root + request.path + ("?" + urlencode(request.query) if request.query else "")
        choices = [str(path_values[self._argument(plan, s.name)]) for s in plan.steps if s.role == "choice"]
        frame = ResponseFrame(plan, self._subject(plan, path_values), values, url, body, "".join(choices[:1]))
        reads = plan.tool.reads or plan.searches or self._asks_for_list(plan, body)
        writes = plan.tool.method not in {"GET", "HEAD"} and not reads
        if writes:
            frame.subject = self._writer.write(plan, frame.subject, values, body) or frame.subject
        if plan.shape is None and self.world.open and _undocumented(plan.tool):
            return SimulatedReply(plan.status, _UNDOCUMENTED, "application/json")
        if plan.shape is None:
            return SimulatedReply(plan.status)
        body_data = self._bodies.root(plan.shape, frame, created=writes)
        if self.world.demanded.active:
            self._note_shown(body_data)
        headers = self._bodies.page_headers(frame)
        return SimulatedReply(plan.status, body_data, plan.media_type or "application/json", headers)

    def _asks_for_list(self, plan: ResponsePlan, body: Mapping[str, object]) -> bool:
        """True for a POST that is answered with a list of which it sends no item and no field."""
        shape = plan.shape
        if plan.tool.method != "POST" or plan.subject or shape is None or shape.kind:
            return False
        names = {name for part in (shape, *shape.properties.values()) for name in part.item_types}
        kinds = [self.schema.entity_types[name] for name in names]
        return bool(kinds) and not any(
            name in kind.all_fields or self.schema.entity_type_named(name) is kind for kind in kinds for name in body
        )

    def _argument(self, plan: ResponsePlan, name: str) -> str:
        return next((p.argument for p in plan.tool.parameters if p.name == name and p.location == "path"), name)

    def _subject(self, plan: ResponsePlan, path_values: Mapping[str, str]) -> Entity | None:
        current: Entity | None = None
        for step in plan.steps:
            if step.role != "entity":
                continue
            value = path_values[self._argument(plan, step.name)]
            if stands_for_all(plan.tool, step.name, value):
                continue
            kind = self.schema.entity_types[step.kind]
            if kind.local and current is not None:
                entity = self.world.child_at(current, step.kind, value)
            else:
                entity = self.world.find(step.kind, value, step.name)
            if entity is None and (step.name, value) in self._shown:
                entity = self.world.adopt(kind, value)
            if entity is None:
                raise RequestError(404, f"{step.name}: there is no {kind.name.replace('_', ' ')} {value!r}")
            current = entity
        if current is None and plan.root:
            current = self.world.keyed_entity(plan.subject, "singleton", plan.root)
        return current

    def _note_shown(self, value: object, name: str = "") -> None:
        """Note the texts and numbers in a response that may identify an entity in a path."""
        if isinstance(value, dict):
            for key, part in value.items():
                if key in self._path_names or isinstance(part, (dict, list)):
                    self._note_shown(part, key)
        elif isinstance(value, list):
            for part in value:
                self._note_shown(part, name)
        elif isinstance(value, (str, int)):
            self._shown.add((name, str(value)))

    # -- errors ----------------------------------------------------------------------------------------------------

    def problem(self, tool: Tool | None, problem: RequestError) -> SimulatedReply:
        """An error reply in the documented shape of that status, else of any error, else in a plain one."""
        message, status = str(problem), problem.status
        plain = SimulatedReply(status, {"message": message, "status": status}, "application/json")
        own = tool.responses if tool else ()
        everywhere = [response for other in self.protocol.tools for response in other.responses]
        names = (str(status), f"{status // 100}XX", "default")
        exact = [r for name in names for r in own if r.status.upper() == name and r.schema is not None]
        similar = [r for r in own if r.status[:1] == "4"]
        similar += [r for r in everywhere if r.status == str(status)]
        similar += [r for r in everywhere if r.status[:1] == "4"]
        response = next((r for r in (*exact, *similar) if r.schema is not None), None)
        if response is None or response.media_type is None or "json" not in response.media_type:
            return plain
        shape = build(self.protocol, cast("Schema", response.schema), response.examples)
        if shape is None:
            return plain
        entity = self.world.keyed_entity("~error", "error", tool.name if tool else "", str(status))
        example = next((e for e in response.examples if isinstance(e, dict)), {}) if response in exact else {}
        return SimulatedReply(status, self._error(shape, entity, status, message, example), response.media_type)

    def _error(
        self, shape: ResponseShape, entity: Entity, status: int, message: str, example: Mapping[str, object]
    ) -> object:
        body: dict[str, object] = {}
        texts = {"message", "detail", "error", "title", "description", "reason"}
        has_message = any(part.properties for part in shape.properties.values())
        for name, part in shape.properties.items():
            last = words(name)[-1:] or ("",)
            if part.properties:
                inner = example.get(name)
                body[name] = self._error(part, entity, status, message, inner if isinstance(inner, dict) else {})
            elif "string" in part.types and last[0] in texts and fits(message, part):
                body[name] = message
                has_message = True
            elif name.lower() in {"status", "code", "http_status", "statuscode"} and fits(status, part):
                body[name] = example.get(name, status)
            elif part.is_array:
                body[name] = [message] if part.item and "string" in part.item.types else []
            else:
                body[name] = example[name] if name in example else self._fields.value(entity, name, part)
        if not has_message and not shape.closed:
            body.setdefault("message", message)
        return body


def _undocumented(tool: Tool) -> bool:
    """True if not a word says what a tool replies."""
    return not any(response.schema is not None or response.description for response in tool.responses)
