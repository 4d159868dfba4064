"""Page through a list, and fill the fields about its pages: totals, cursors, links to the next one."""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlencode

from protocols.simulator.analysis.response_shape import ResponseShape, fits
from protocols.simulator.analysis.world_schema import ResponsePlan, label_of
from protocols.simulator.world.entity import Entity, RelationEdge
from protocols.simulator.world.values import number
from protocols.simulator.world.world import World
from protocols.text.word_lists import NAMES
from protocols.text.words import singular, words

__all__ = ["LIMITS", "Paginator", "ResponseFrame", "is_paging"]

LIMITS = NAMES["limits"]
_OFFSETS = NAMES["offsets"] | {"from"}
"""With `from`, which elsewhere may be a date."""
_TOTALS = frozenset("total_results total total_count count total_items num_results total_hits total_elements".split())
_PAGES = NAMES["pages"]


@dataclass(slots=True)
class ResponseFrame:
    """The context of one response: its plan, the entity in the path, arguments, and the list being paged."""

    plan: ResponsePlan
    subject: Entity | None
    values: dict[str, object]
    url: str
    choice: str = ""
    edges: list[RelationEdge] = field(default_factory=list)
    total: int = 0
    offset: int = 0
    limit: int = 0
    page: int = 1


class Paginator:
    """The pages of one world's lists."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.schema = world.schema
        self._fields = world.fields

    def paginate(self, frame: ResponseFrame, edges: list[RelationEdge]) -> None:
        """Store the requested page of these items in the frame."""
        limit = offset = page = None
        default = 20
        for parameter in frame.plan.tool.parameters:
            if parameter.location != "query":
                continue
            label = label_of(parameter.name)
            if (binding := self.schema.binding(frame.plan, parameter.name)) is not None:
                label = binding.how  # "limit", "offset" and "page" are such labels; the others are none of paging
            value = frame.values.get(parameter.name, parameter.schema.get("default"))
            requested = number(value)
            if label in LIMITS:
                limit = int(requested) if requested is not None else default
            elif label in _OFFSETS and requested is not None:
                offset = int(requested)
            elif label in _PAGES:
                page = int(requested) if requested is not None else 1
            elif label in NAMES["cursors"] and frame.values.get(parameter.name):
                cursor = str(frame.values[parameter.name])
                ids = [str(self._fields.identifier(edge.target)) for edge in edges]
                offset = ids.index(cursor) + 1 if cursor in ids else 0
        pages = limit is not None or offset is not None or page is not None
        detail = frame.plan.detail
        size = default if pages or frame.subject is None else max(len(edges), 1)
        size = 50 if detail else limit if limit is not None else size
        start = 0 if detail else offset if offset is not None else (max(page or 1, 1) - 1) * size
        frame.total, frame.limit, frame.offset = len(edges), size, start
        frame.page = max(page or (start // max(size, 1)) + 1, 1)
        frame.edges = edges[start : start + size]

    def value(self, name: str, part: ResponseShape, frame: ResponseFrame) -> tuple[bool, object]:
        """True and the value of a field about paging; else False and None."""
        parts = words(name)
        joined = "_".join(parts)
        pages = max(-(-frame.total // max(frame.limit, 1)), 1)
        page_value: int | None = None
        if joined in _PAGES or joined == "current_page":
            page_value = frame.page
        elif joined in {"total_pages", "pages", "page_count", "last_page", "num_pages"}:
            page_value = pages
        elif joined in _TOTALS or (parts[0] == "total" and len(parts) > 1 and self._names_list(parts[-1], frame)):
            page_value = frame.total
        elif joined in LIMITS:
            page_value = frame.limit
        elif joined in _OFFSETS:
            page_value = frame.offset
        if page_value is not None:
            fitting = [value for value in (page_value, str(page_value)) if fits(value, part)]
            return (True, fitting[0]) if fitting else (False, None)
        if (
            joined in {"next_cursor", "cursor", "end_cursor", "next_token", "next_page_token"}
            and "string" in part.types
        ):
            last = frame.edges[-1].target if frame.edges and frame.offset + frame.limit < frame.total else None
            return True, str(self._fields.identifier(last)) if last else None
        if joined in {"has_more", "has_next", "has_next_page", "more"} and "boolean" in part.types:
            return True, frame.page < pages
        if joined in {"next", "next_page", "next_url", "previous", "prev", "previous_page", "prev_page"}:
            ahead = parts[0] == "next"
            exists = frame.offset + frame.limit < frame.total if ahead else frame.offset > 0
            if not exists:
                return True, None
            if part.types & {"integer", "number"}:
                return True, frame.page + (1 if ahead else -1)
            return True, self._link(frame, ahead)
        if joined in {"href", "self", "self_link"} and "string" in part.types:
            return True, frame.url
        if joined == "cursors" and part.properties:
            return True, self._cursors(part, frame)
        if joined == "dates" and {"maximum", "minimum"} & set(part.properties):
            return True, self._dates(part, frame)
        return False, None

    def _names_list(self, word: str, frame: ResponseFrame) -> bool:
        """True if a word means the items of a list: total_films beside films, total_found."""
        held = {
            name.rpartition("_")[2]
            for edge in frame.edges[:1]
            for name in (edge.target.kind, label_of(edge.target.kind))
        }
        return bool(frame.edges) and singular(word) in held | {"found", "match", "matches", "entries", "record"}

    def _cursors(self, part: ResponseShape, frame: ResponseFrame) -> object:
        ids = [str(self._fields.identifier(edge.target)) for edge in frame.edges] or [""]
        return {
            name: ids[-1] if "after" in words(name) or "next" in words(name) else ids[0] for name in part.properties
        }

    def _dates(self, part: ResponseShape, frame: ResponseFrame) -> object:
        dated = [(edge.target, self.schema.entity_types[edge.target.kind].date) for edge in frame.edges]
        days = sorted(str(self._fields.value(entity, date)) for entity, date in dated if date) or [
            self.world.now.strftime("%Y-%m-%d")
        ]
        return {name: days[-1] if name.startswith("max") else days[0] for name in part.properties}

    def _link(self, frame: ResponseFrame, ahead: bool) -> str:
        base, _, query = frame.url.partition("?")
        pairs = [tuple(part.split("=", 1)) for part in query.split("&") if "=" in part]
        arguments = [
            (n, unquote(v.replace("+", " "))) for n, v in pairs if label_of(n) not in _OFFSETS | _PAGES | {"limit"}
        ]
        names = {label_of(p.name): p.name for p in frame.plan.tool.parameters if p.location == "query"}
        page_name = next((names[name] for name in names if name in _PAGES), None)
        if page_name:
            arguments.append((page_name, str(frame.page + (1 if ahead else -1))))
        else:
            step = frame.limit if ahead else -frame.limit
            arguments += [("offset", str(max(frame.offset + step, 0))), ("limit", str(frame.limit))]
        return f"{base}?{urlencode(arguments)}"


def is_paging(name: str) -> bool:
    """True if a parameter chooses a page."""
    return label_of(name) in LIMITS | _OFFSETS | _PAGES
