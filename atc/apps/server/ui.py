"""The page of `atc serve --ui`: a client of the endpoints in a browser, and the policies that the browser holds it to.

The page runs no script but its own file, and what a service or a model says reaches it as text alone. It knows no key:
a user enters one, and each request of the page has it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from string import Template

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from atc.apps.page.environment import BASE_STYLE, trace_page
from atc.options import WritesPolicy
from atc.solution_file import solution_of

__all__ = ["PAGE_POLICY", "UI_POLICY", "solution_page", "ui_routes"]

PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""Of the page of a solution, by itself."""

_STYLE_HASH = base64.b64encode(hashlib.sha256(f"\n{BASE_STYLE}\n".encode()).digest()).decode()
"""A frame has the policy of the page around it, and so the style of a solution's page must be named there."""

UI_POLICY = (
    f"default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{_STYLE_HASH}'; img-src 'self'; "
    "connect-src 'self'; frame-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_HEADERS = {
    "Content-Security-Policy": UI_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

_STATIC = Path(__file__).with_name("static")
_TYPES = {"ui.css": "text/css", "ui.js": "text/javascript", "ui.svg": "image/svg+xml"}


def ui_routes(title: str, writes: WritesPolicy | None, simulated: bool) -> list[Route]:
    """The routes of the page, for the API with this title; they hold nothing secret and need no key."""
    notice = "A simulated service made from the document. " if simulated else ""
    if writes == "plan":
        notice += "Changes are listed first, and made only if you approve the list."
    else:
        notice += f"What becomes of changes: {writes} (--writes)."
    template = Template((_STATIC / "ui.html").read_text("utf-8"))
    page = template.substitute(title=html.escape(title), notice=html.escape(notice))
    return [
        _route("/", page, "text/html"),
        *(_route(f"/{name}", (_STATIC / name).read_text("utf-8"), kind) for name, kind in _TYPES.items()),
    ]


def _route(path: str, text: str, kind: str) -> Route:
    async def answer(request: Request) -> Response:
        return Response(text, media_type=kind, headers=_HEADERS)

    return Route(path, answer, methods=["GET"])


def solution_page(solution: str) -> str:
    """The page that `atc trace` makes of a Solution, given as JSON. Raises: UsageError: It has another form."""
    return trace_page(solution_of(json.loads(solution), "the stored solution"))
