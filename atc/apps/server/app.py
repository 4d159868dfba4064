"""The endpoints of a server, as an ASGI application.

    POST   /v1/solve              {query, mode?, background?, events?, and limits}: a question
    GET    /v1/solve              the latest solves
    GET    /v1/solve/{id}         the state of a solve, its Solution, and the plan that it asks about
    DELETE /v1/solve/{id}         stop a solve
    GET    /v1/solve/{id}/events  its events so far and to come, or those after Last-Event-ID
    POST   /v1/solve/{id}/plan    {plan, approve}: answer about the planned writes
    GET    /v1/solve/{id}/page    its Solution as an HTML page
    GET    /healthz               whether solves are taken; needs no key
    GET    /metrics               figures for Prometheus

A failed request is answered with {"error": {"message", "field"}}.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from atc.apps.server.keys import LOCAL, ApiKeys, Client
from atc.apps.server.messages import ServerSettings
from atc.apps.server.requests import MAX_BODY, BadRequestError, PlanDecision, SolveRequest
from atc.apps.server.service import GRACE, LiveSolve, SolveService, ToldEvent
from atc.apps.server.store import RequestStore
from atc.apps.server.ui import PAGE_POLICY, solution_page
from protocols.errors import ATCError

__all__ = ["create_app"]

BODY_SECONDS = 10.0
"""Seconds in which the body of a request has to come."""

_LOCAL_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?", re.IGNORECASE | re.ASCII)

MAX_KEY = 255
"""Characters of an Idempotency-Key."""


def create_app(
    settings: ServerSettings,
    store: RequestStore,
    keys: ApiKeys | None,
    on_start: Callable[[ATCError | None], None],
    hurries: Callable[[], bool],
    pages: Sequence[BaseRoute] = (),
) -> Starlette:
    """The application.

    Args:
        keys: Who may ask; None lets everybody on this machine, who then has to name it by a loopback address.
        on_start: Called when solves are taken, or with the reason why they cannot be.
        hurries: Whether the end waits for no solve any longer.
        pages: Further routes, which need no key.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        service = app.state.service = SolveService(settings, store)
        try:
            try:
                await service.start()
                on_start(None)
            except ATCError as error:
                on_start(error)
            yield
        finally:
            await service.stop(hurries)

    app = Starlette(
        routes=[
            Route("/v1/solve", _solve, methods=["POST"]),
            Route("/v1/solve", _recent, methods=["GET"]),
            Route("/v1/solve/{id}", _state, methods=["GET"]),
            Route("/v1/solve/{id}", _stop, methods=["DELETE"]),
            Route("/v1/solve/{id}/events", _told, methods=["GET"]),
            Route("/v1/solve/{id}/plan", _plan, methods=["POST"]),
            Route("/v1/solve/{id}/page", _page, methods=["GET"]),
            Route("/healthz", _health, methods=["GET"]),
            Route("/metrics", _metrics, methods=["GET"]),
            *pages,
        ],
        middleware=[Middleware(_CountingMiddleware), *([] if keys else [Middleware(_LocalHostMiddleware)])],
        exception_handlers={
            BadRequestError: _refused,
            HTTPException: _http_error,
            ClientDisconnect: _hung_up,
            Exception: _broken,
        },
        lifespan=lifespan,
    )
    app.state.keys = keys
    return app


class _CountingMiddleware:
    """Counts answers by their status."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                scope["app"].state.service.metrics.replies.labels(str(message["status"])).inc()
            await send(message)

        await self._app(scope, receive, counting if scope["type"] == "http" else send)


class _LocalHostMiddleware:
    """Refuses requests to another name than this machine's: a page in a browser could have its own resolve to it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http" and not _LOCAL_HOST.fullmatch((request := Request(scope)).headers.get("host", "")):
            why = "without a key file this server is called 127.0.0.1, localhost or [::1], and by no other name"
            app = await _refused(request, BadRequestError(400, why, "Host"))
        await app(scope, receive, send)


def _client(request: Request) -> Client:
    """Who asks. Raises: BadRequestError: 401."""
    keys: ApiKeys | None = request.app.state.keys
    if keys is None:
        return LOCAL
    client = keys.client(request.headers.get("authorization", ""))
    if client is None:
        raise BadRequestError(401, "an API key is needed: send the header `Authorization: Bearer KEY`", "Authorization")
    return client


async def _body(request: Request) -> bytes:
    """The body.

    Raises: BadRequestError: It is too large (413), does not come (408), or is of another type (415); ClientDisconnect.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # a browser lets a foreign page send any other type without asking us first
        raise BadRequestError(415, "send the body as `Content-Type: application/json`", "Content-Type")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise BadRequestError(413, f"the body has more than {MAX_BODY} bytes")
    except TimeoutError:
        raise BadRequestError(408, f"the body did not come within {BODY_SECONDS:g} seconds") from None
    return bytes(body)


def _idempotency(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= MAX_KEY and key.isprintable()):
        raise BadRequestError(400, f"a key has 1 to {MAX_KEY} printable characters", "Idempotency-Key")
    return key


async def _solve(request: Request) -> Response:
    started = time.monotonic()
    client, service = _client(request), _service(request)
    idempotency = _idempotency(request)
    solve_request = SolveRequest.read(await _body(request))
    streams = "text/event-stream" in request.headers.get("accept", "") and not solve_request.background
    id, live = await service.accept(client, solve_request, idempotency, events=streams)
    headers = {"Location": f"/v1/solve/{id}"}
    if solve_request.background:
        return JSONResponse({"id": id}, 202, headers)
    if streams:
        reader = live.history.read() if live is not None else None  # before it tells its first event
        events = _events(service.events(client, id, live, reader), partial(service.hung_up, live, reader))
        return EventSourceResponse(events, headers=headers, shutdown_grace_period=GRACE)
    text = await _unless_hung_up(request, service, client, id, live)
    service.metrics.seconds.observe(time.monotonic() - started)
    return Response(text, headers=headers, media_type="application/json")


async def _unless_hung_up(
    request: Request, service: SolveService, client: Client, id: str, live: LiveSolve | None
) -> str:
    """The solution as JSON. Raises: ClientDisconnect: The client did not wait for it."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    solution = asyncio.ensure_future(service.solution(client, id, live))
    gone = asyncio.ensure_future(disconnected())
    try:
        await asyncio.wait((solution, gone), return_when=asyncio.FIRST_COMPLETED)
        if not solution.done():
            raise ClientDisconnect
        return solution.result()
    finally:
        for future in (solution, gone):
            future.cancel()
        service.hung_up(live)


async def _events(events: AsyncIterator[ToldEvent], on_end: Callable[[], None]) -> AsyncIterator[ServerSentEvent]:
    try:
        async for event in events:
            yield ServerSentEvent(event.data, event=event.name, id=event.id)
    finally:
        on_end()


async def _told(request: Request) -> Response:
    """The events of a solve from its beginning, or after the one that the client has; the solve outlives this."""
    client, id, service = _client(request), request.path_params["id"], _service(request)
    live = service.live(client, id)
    if live is None:
        await _stored(request)
    reader = live.history.read(request.headers.get("last-event-id")) if live is not None else None
    forget = partial(live.history.forget, reader) if live is not None else lambda: None
    # Whoever reads comes again after a restart: the end of the server does not wait for that.
    return EventSourceResponse(_events(service.events(client, id, live, reader), forget))


async def _state(request: Request) -> Response:
    client, id, name, solution = await _stored(request)
    live = _service(request).live(client, id)
    plan = live.plan.data if live is not None and live.plan is not None else "null"
    text = f'{{"id": "{id}", "state": "{name}", "solution": {solution or "null"}, "plan": {plan}}}'
    return Response(text, media_type="application/json")


async def _stored(request: Request) -> tuple[Client, str, str, str | None]:
    """Who asks, and the id of a solve with its state and solution. Raises: BadRequestError: There is none (404)."""
    client, id = _client(request), request.path_params["id"]
    state = await _service(request).find(client, id)
    if state is None:
        raise BadRequestError(404, f"there is no solve {id} of this key", "id")
    return client, id, *state


async def _running(request: Request) -> LiveSolve:
    """The solve that a request is about. Raises: BadRequestError: There is none (404), or it is over (409)."""
    live = _service(request).live(_client(request), request.path_params["id"])
    if live is None:
        raise BadRequestError(409, f"the solve {(await _stored(request))[1]} is over")
    return live


async def _recent(request: Request) -> Response:
    return JSONResponse({"solves": await _service(request).recent(_client(request))})


async def _stop(request: Request) -> Response:
    _service(request).cancel(await _running(request))
    return Response(status_code=202)


async def _plan(request: Request) -> Response:
    _client(request)  # before the body is read
    answer = PlanDecision.read(await _body(request))
    _service(request).answer(await _running(request), answer.plan, answer.approve)
    return JSONResponse({"plan": answer.plan, "approved": answer.approve})


async def _page(request: Request) -> Response:
    _, id, state, solution = await _stored(request)
    if solution is None:
        raise BadRequestError(409, f"the solve {id} has no solution: it is {state}")
    page = await asyncio.to_thread(solution_page, solution)
    return HTMLResponse(page, headers={"Content-Security-Policy": PAGE_POLICY})


async def _health(request: Request) -> Response:
    ready = _service(request).pool.ready
    return JSONResponse({"status": "ok" if ready else "starting"}, 200 if ready else 503)


async def _metrics(request: Request) -> Response:
    _client(request)
    return Response(_service(request).metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _service(request: Request) -> SolveService:
    service: SolveService = request.app.state.service
    return service


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, BadRequestError)
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after is not None else {}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": {"message": str(error), "field": error.field}}, error.status, headers)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": {"message": error.detail, "field": None}}, error.status_code, error.headers)


async def _hung_up(request: Request, error: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it


async def _broken(request: Request, error: Exception) -> Response:
    message = f"an error of the server ({type(error).__name__})"
    return JSONResponse({"error": {"message": message, "field": None}}, 500)
