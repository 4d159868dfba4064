"""Page through a list, and fill the fields about its pages: totals, cursors, links to the next one."""

# ruff: noqa: SIM905 - word lists are read, and split once

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, urlencode

from protocols.model import Schema, Tool
from protocols.schema_fields import declared_types
from protocols.simulator.analysis.response_shape import ResponseShape, fits
from protocols.simulator.analysis.world_schema import ResponsePlan, label_of
from protocols.simulator.world.entity import Entity, RelationEdge
from protocols.simulator.world.filters import FURTHER, LIMITS, OFFSETS, PAGES, is_paging
from protocols.simulator.world.plausible_values import is_date, number
from protocols.simulator.world.world import World
from protocols.text.words import singular

__all__ = [
    "NEXT_LINKS",
    "Paginator",
    "ResponseFrame",
    "beyond_first",
    "page_arguments",
    "stands_for_all",
]

_TOTALS = frozenset(
    "total_results total total_count count item_count total_items num_results total_hits total_elements total_entries "
    "total_records total_matches".split()
)
_PAGE_FIELDS = frozenset(
    "next prev previous first last next_page previous_page prev_page total_pages page_count".split()
)
NEXT_LINKS = frozenset("next_page next_url next_link next_page_url next_page_uri next_page_token next_cursor".split())
"""Names of fields that lead to the next page and mean nothing else."""
_WILDCARDS = frozenset("~ - * _all".split())
_URL = "/:?&=%#[]@!$'()*+,;~"
"""The characters of a URL that stay as they are in a header."""
_ADDRESS = re.compile(r"_(url|uri|link|href)$")
_NEXT_CURSORS = FURTHER - {"before"} | {"end_cursor", "next_after"}
_PAGE_COUNTS = frozenset({"total_pages", "pages", "page_count", "last_page", "num_pages"})


@dataclass(slots=True)
class ResponseFrame:
    """The context of one response: its plan, the entity in the path, arguments, and the list being paged.

    `requested` are the paths of fields that the query asks for, beside those of the response shape.
    """

    plan: ResponsePlan
    subject: Entity | None
    values: dict[str, object]
    url: str
    body: Mapping[str, object] = field(default_factory=dict)
    choice: str = ""
    requested: frozenset[str] = frozenset()
    edges: list[RelationEdge] = field(default_factory=list)
    total: int = 0
    offset: int = 0
    limit: int = 0
    page: int = 1

    @property
    def searched(self) -> object:
        """The text that is searched for; None without one."""
        name = self.plan.search
        return self.values.get(name, self.body.get(name)) if name else None


class Paginator:
    """The pages of one world's lists."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.schema = world.schema
        self._fields = world.fields

    def paginate(self, frame: ResponseFrame, edges: list[RelationEdge], plain: bool = False) -> None:
        """Store the requested page of these items in the frame; `plain` items are no entities."""
        limit = offset = page = None
        default = 20
        for name, schema, sent in page_arguments(frame):
            label = label_of(name)
            if (binding := self.schema.binding(frame.plan, name)) is not None:
                label = binding.how  # "limit", "offset" and "page" are such labels; the others are none of paging
            value = schema.get("default") if sent is None else sent
            requested = number(value)
            if label in LIMITS:  # 0, -1 and "all" are no page, but all
                requested = 0 if value == "all" else requested
                limit = default if requested is None else int(requested) if requested > 0 else max(len(edges), 1)
            elif label in OFFSETS and requested is not None:
                offset = int(requested)
            elif sent and is_cursor(name, schema) and not is_date(sent):
                offset = self._after(str(sent), edges, preceding=label == "before" and not _numeric(schema))
            elif label in PAGES and not is_cursor(name, schema):
                page = int(requested) if requested is not None else 1
        pages = limit is not None or offset is not None or page is not None
        detail = frame.plan.detail
        size = default if (pages or frame.subject is None) and not (plain and not pages) else max(len(edges), 1)
        size = 50 if detail else limit if limit is not None else size
        start = 0 if detail else offset if offset is not None else (max(page or 1, 1) - 1) * size
        frame.total, frame.limit, frame.offset = len(edges), size, start
        frame.page = max(page or (start // max(size, 1)) + 1, 1)
        frame.edges = edges[start : start + size]
        if not pages and not any(is_cursor(name, schema) for name, schema, _ in page_arguments(frame)):
            # No request could reach a later page, so what a write created is on the first one.
            frame.edges += [edge for edge in edges[start + size :] if edge.target.key[0] == "created"]

    def value(self, name: str, part: ResponseShape, frame: ResponseFrame) -> tuple[bool, object]:
        """True and the value of a field about paging; else False and None."""
        label = label_of(name)
        number_of = None if part.properties else self._number(label, frame)
        if number_of is not None:
            fitting = next((value for value in (number_of, str(number_of)) if fits(value, part)), None)
            return fitting is not None, fitting
        more = frame.offset + frame.limit < frame.total
        is_text = "string" in part.types
        if label in {"first_id", "last_id"} and is_text:
            edges = frame.edges[:1] if label == "first_id" else frame.edges[-1:]
            return True, next((str(self._fields.identifier(edge.target)) for edge in edges), None)
        if label in {"scroll_param", "scroll_id"} and is_text:
            return True, self._last_id(frame) or "end"
        if label in _NEXT_CURSORS and part.types & {"string", "integer", "number"}:
            return True, self._cursor(frame, part) if more else None
        if label in {"has_more", "has_next", "has_next_page", "more"} and "boolean" in part.types:
            return True, more
        if _ADDRESS.sub("", label) in {"next", "next_page", "previous", "prev", "previous_page", "prev_page"}:
            ahead = label.startswith("next")
            return True, self._neighbour(part, frame, ahead, more if ahead else frame.offset > 0)
        if label in {"href", "self", "self_link"} and is_text:
            return True, frame.url
        if part.properties and not part.kind and _about_pages(part):
            return True, self._page_object(part, frame)
        return False, None

    def headers(self, frame: ResponseFrame) -> dict[str, str]:
        """The documented headers about the page: the links of RFC 8288, and how many items there are in all."""
        headers: dict[str, str] = {}
        exists = {"next": frame.offset + frame.limit < frame.total, "prev": frame.offset > 0}
        urls = {name: quote(self._link(frame, name == "next"), _URL) for name, there in exists.items() if there}
        links = (f'<{url}>; rel="{name}"' for name, url in urls.items())
        success = frame.plan.tool.success
        for name in success.headers if success is not None and frame.limit else ():
            label = label_of(name).removeprefix("x_")
            if label == "link":
                headers[name] = ", ".join(links)
            elif label in _TOTALS:
                headers[name] = str(frame.total)
        return {name: value for name, value in headers.items() if value}

    def _number(self, label: str, frame: ResponseFrame) -> int | None:
        """The number of a page, of all pages or of all items that a field shows; None for other fields."""
        numbers = (
            (PAGES | {"current_page"}, frame.page),
            (_PAGE_COUNTS, max(-(-frame.total // max(frame.limit, 1)), 1)),
            (_TOTALS, frame.total),
            (LIMITS, frame.limit),
            (OFFSETS, frame.offset),
        )
        listed = frame.total if label.startswith("total_") and _names_list(label.rpartition("_")[2], frame) else None
        return next((number_of for names, number_of in numbers if label in names), listed)

    def _neighbour(self, part: ResponseShape, frame: ResponseFrame, ahead: bool, exists: bool) -> object:
        """What leads to the next or the previous page: a truth value, an object, a number, a cursor or a link."""
        if part.types == {"boolean"} or not exists:
            return exists if part.types == {"boolean"} else None
        if part.properties:
            return self._next_page(part, frame)
        if part.types & {"integer", "number"}:
            return frame.page + (1 if ahead else -1)
        if ahead and _continues_by_cursor(frame.plan) and not _is_link(part):
            return self._cursor(frame, part)
        return self._link(frame, ahead)

    def _after(self, cursor: str, edges: list[RelationEdge], preceding: bool) -> int:
        """The offset of the items after a cursor, or of those that end before it. An unknown cursor is the end."""
        ids = [str(self._fields.identifier(edge.target)) for edge in edges]
        if cursor in ids:
            return max(ids.index(cursor) - 20, 0) if preceding else ids.index(cursor) + 1
        return int(cursor) if cursor.isdecimal() and len(cursor) < 9 else len(edges)

    def _last_id(self, frame: ResponseFrame) -> str:
        return str(self._fields.identifier(frame.edges[-1].target)) if frame.edges else ""

    def _cursor(self, frame: ResponseFrame, part: ResponseShape) -> object:
        """The cursor of the next page: the last identifier, or its offset where the place takes only numbers."""
        last = self._last_id(frame) if "string" in part.types else ""
        return last or frame.offset + frame.limit

    def _next_page(self, part: ResponseShape, frame: ResponseFrame) -> dict[str, object]:
        """The object about the next page."""
        values: dict[str, object] = {}
        for name, inner in part.properties.items():
            label = label_of(name)
            if label in FURTHER:
                values[name] = self._cursor(frame, inner)
            elif label in LIMITS:
                values[name] = frame.limit
            elif label in OFFSETS:
                following = frame.offset + frame.limit
                values[name] = following if fits(following, inner) else f"{following}"
            elif label in {"path", "uri", "url", "href", "link"}:
                values[name] = self._link(frame, True)
        return values

    def _page_object(self, part: ResponseShape, frame: ResponseFrame) -> dict[str, object]:
        """An object about the pages of a list, such as `pagination` or `pages`."""
        values: dict[str, object] = {}
        for name, inner in part.properties.items():
            is_paging_field, value = self.value(name, inner, frame)
            if name == "count" and "total" in part.properties:
                value = len(frame.edges)
            elif not is_paging_field:
                value = self._fields.value(Entity("~list", ("list",)), name, inner) if inner.is_scalar else None
            if value is not None or inner.nullable:
                values[name] = value
            elif name in part.required and "string" in inner.types:
                values[name] = ""
        return values

    def _link(self, frame: ResponseFrame, ahead: bool) -> str:
        base, _, query = frame.url.partition("?")
        pairs = parse_qsl(query, keep_blank_values=True)
        arguments = [pair for pair in pairs if label_of(pair[0]) not in OFFSETS | PAGES | {"limit"}]
        names = {label_of(p.name): p.name for p in frame.plan.tool.parameters if p.location == "query"}
        page_name = next((names[name] for name in names if name in PAGES), None)
        cursor_name = next((names[name] for name in names if name in FURTHER - {"before"}), None)
        if cursor_name and ahead and _continues_by_cursor(frame.plan):
            arguments = [pair for pair in arguments if pair[0] != cursor_name]
            arguments.append((cursor_name, self._last_id(frame) or str(frame.offset + frame.limit)))
        elif page_name:
            arguments.append((page_name, str(frame.page + (1 if ahead else -1))))
        else:
            step = frame.limit if ahead else -frame.limit
            arguments += [("offset", str(max(frame.offset + step, 0))), ("limit", str(frame.limit))]
        return f"{base}?{urlencode(arguments)}"


def _names_list(word: str, frame: ResponseFrame) -> bool:
    """True if a word means the items of a list: total_films beside films, total_found."""
    targets = {edge.target.kind.rpartition("_")[2] for edge in frame.edges[:1]}
    return bool(targets) and singular(word) in targets | {"found", "match", "matches", "entries", "record"}


def is_cursor(name: str, schema: Schema) -> bool:
    """True if a parameter holds the cursor of a page; a page with a text for a number is one too."""
    label = label_of(name)
    return label in FURTHER or (label in PAGES and declared_types(schema) == ("string",))


def stands_for_all(tool: Tool, name: str, value: object) -> bool:
    """True if a value in the path stands for all entities, as the document says: `~` as the identifier of a DAG."""
    if value not in _WILDCARDS:
        return False
    parameter = next((p for p in tool.parameters if p.name == name and p.location == "path"), None)
    if parameter is not None and parameter.schema.get("const") == value:
        return True
    texts = [tool.description, tool.summary, parameter.description if parameter else ""]
    return any(f"{quote}{value}{quote}" in text for text in texts for quote in "`'\"")


def page_arguments(frame: ResponseFrame) -> Iterator[tuple[str, Schema, object]]:
    """The parameters that may choose a page: name, schema, and the value that was sent or None."""
    for parameter in frame.plan.tool.parameters:
        if parameter.location == "query":
            yield parameter.name, parameter.schema, frame.values.get(parameter.name)
    if frame.plan.searches:
        for name, value in frame.body.items():
            for inner_name, inner in value.items() if isinstance(value, dict) else [(name, value)]:
                if is_paging(inner_name) or label_of(inner_name) in FURTHER:
                    yield inner_name, {}, inner


def beyond_first(frame: ResponseFrame) -> bool:
    """True if a request asks for a page after the first."""
    for name, schema, sent in page_arguments(frame):
        label, requested = label_of(name), number(sent)
        if sent and is_cursor(name, schema) and not is_date(sent):
            return True
        if (label in OFFSETS and (requested or 0) > 0) or (label in PAGES and (requested or 0) > 1):
            return True
    return False


def _numeric(schema: Schema) -> bool:
    return bool({"integer", "number"} & set(declared_types(schema)))


def _is_link(part: ResponseShape) -> bool:
    texts = [str(check.get("description", "")).lower() + str(check.get("format", "")) for check in part.checks]
    return any("url" in text or "uri" in text or "link" in text for text in texts) or any(
        "/" in str(example) for example in part.examples
    )


def _continues_by_cursor(plan: ResponsePlan) -> bool:
    """True if a tool has a cursor and no number of a page or an item."""
    query = [p for p in plan.tool.parameters if p.location == "query"]
    counted = any(label_of(p.name) in OFFSETS | PAGES and not is_cursor(p.name, p.schema) for p in query)
    return not counted and any(is_cursor(p.name, p.schema) for p in query)


def _about_pages(part: ResponseShape) -> bool:
    """True if most fields of an object are about pages, or hold an object that is: `meta.pagination.total`.

    The inner object was seen in one document; in the recorded runs of the benchmarks no reply changes by it.
    """
    paging = PAGES | LIMITS | OFFSETS | _TOTALS | FURTHER | _PAGE_FIELDS
    hits = sum(
        label_of(name) in paging or (not inner.kind and _about_pages(inner)) for name, inner in part.properties.items()
    )
    return bool(hits) and 2 * hits >= len(part.properties)
