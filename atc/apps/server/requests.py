"""What a client sends: a question and a few options, checked before anything is recorded."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from atc.costs import QuestionLimits
from atc.modes import parse
from protocols.errors import UsageError
from sandbox.egress.request_values import unique_names

__all__ = ["MAX_BODY", "MAX_QUERY", "BadRequestError", "PlanDecision", "SolveRequest"]

MAX_BODY = 64 * 1024
"""Bytes of a request's body."""

MAX_QUERY = 8000
"""Characters of a question: one of a million held a search for 18 s."""

MAX_TRIES = 10

_LIMITS = tuple(entry.name for entry in fields(QuestionLimits))


class BadRequestError(Exception):
    """A request that is not accepted: its HTTP status, and where they help the field to blame and seconds to wait."""

    def __init__(self, status: int, message: str, field: str | None = None, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.field = field
        self.retry_after = retry_after


class _Body(BaseModel):
    """The body of a request, of which `EXAMPLE` is one."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    EXAMPLE: ClassVar[str]

    @classmethod
    def read(cls, body: bytes) -> Self:
        """Raises: BadRequestError: The body is no JSON object (400), or a field is wrong (422)."""
        try:
            data: Any = json.loads(body, object_pairs_hook=unique_names)  # a proxy may read the first
        except (ValueError, RecursionError) as error:
            raise BadRequestError(400, f"the body is no JSON: {error}") from None
        if not isinstance(data, dict):
            raise BadRequestError(400, f"the body is no JSON object; send {cls.EXAMPLE}")
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = str(first["loc"][0]) if first["loc"] else None
            message = str(first["msg"]).removeprefix("Value error, ")
            raise BadRequestError(422, f"{field}: {message}" if field else message, field) from None


class SolveRequest(_Body):
    """The body of `POST /v1/solve`.

    Args:
        query: The question.
        mode: As `atc solve --mode`; by default the server's.
        max_reflections: Most revisions of a program; by default as the profile says.
        background: Answer at once with an id.
        events: Keep the events of a solve in the background for its readers.
        max_tokens, max_seconds, max_cost: As of `atc solve`, at most what the key may use.
    """

    EXAMPLE = '{"query": "…"}'

    query: str = Field(min_length=1, max_length=MAX_QUERY)
    mode: str | None = None
    max_reflections: int | None = Field(default=None, ge=0, le=10)
    background: bool = False
    events: bool = False
    max_tokens: int | None = Field(default=None, ge=1)
    max_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @property
    def limits(self) -> QuestionLimits:
        """The limits that the client asks for."""
        return QuestionLimits(self.max_tokens, self.max_seconds, self.max_cost)

    def limited(self, most: QuestionLimits) -> SolveRequest:
        """The same within the limits of who asks. Raises: BadRequestError: 422 for a higher one."""
        for name in _LIMITS:
            asked, allowed = getattr(self, name), getattr(most, name)
            if asked is not None and allowed is not None and asked > allowed:
                raise BadRequestError(422, f"{name}: at most {allowed:.12g}, which is the limit here", name)
        return self.model_copy(update=asdict(self.limits.within(most)))

    @field_validator("query")
    @classmethod
    def _is_text(cls, query: str) -> str:
        if not query.strip():
            raise ValueError("the question is empty")
        query.encode("utf-8")  # a lone surrogate is no text
        return query

    @field_validator("mode")
    @classmethod
    def _is_mode(cls, mode: str | None) -> str | None:
        if mode is not None:
            try:
                name, tries = parse(mode)
            except UsageError as error:
                raise ValueError(str(error)) from None
            if tries > MAX_TRIES:
                raise ValueError(f"at most {MAX_TRIES} tries")
            mode = f"{name}@{tries}" if tries > 1 else name  # one agent is kept for each spelling
        return mode

    def digest(self) -> str:
        """The same for requests that ask for the same, in the background or not, with their events or without."""
        data = self.model_dump(exclude={"background", "events"})
        data = {name: value for name, value in data.items() if value is not None or name not in _LIMITS}
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


class PlanDecision(_Body):
    """The body of `POST /v1/solve/{id}/plan`: the id of a plan, and whether its writes may be sent."""

    EXAMPLE = '{"plan": "…", "approve": true}'

    plan: str
    approve: bool
