"""What an error of an endpoint means, in one sentence with what to look at; no key that it quotes is in there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import openai

from atc.models.chat_format import BrokenStreamError
from protocols.calls.credentials import BearerToken
from protocols.calls.redaction import redact
from protocols.errors import ModelError, PromptRefused
from protocols.quoting import one_line

__all__ = ["AskedEndpoint", "model_error"]

REFUSALS = frozenset({"content_filter", "content_policy_violation", "context_length_exceeded"})
"""Error codes about one conversation only."""

_TOOL_WORD = re.compile(r"\btools?\b", re.IGNORECASE)
"""The format's word for functions, in an endpoint's error."""


@dataclass(frozen=True, slots=True)
class AskedEndpoint:
    """An endpoint as its messages call it.

    Args:
        url: Without secrets. name: Of the model, as it was opened. model: As the endpoint knows it.
        setting: What names the URL. secret: What has the key.
        silence: Seconds after which it was given up, so many `retries`.
    """

    url: str
    name: str
    model: str
    setting: str
    secret: str
    key: str = field(repr=False)
    silence: float
    retries: int


def model_error(error: Exception, asked: AskedEndpoint) -> ModelError:
    """The error of a model for one of the client, or of what it received."""
    silent = f"{asked.url} was silent for {asked.silence:g} seconds"
    if isinstance(error, BrokenStreamError):
        return ModelError(f"{asked.url} {error} ({asked.name}); ask again")
    if isinstance(error, TimeoutError):
        return ModelError(f"{silent} in the middle of its answer ({asked.name})")
    if isinstance(error, openai.APITimeoutError):
        return ModelError(f"{silent}, {asked.retries + 1} times ({asked.name})")
    if isinstance(error, openai.APIConnectionError):
        return ModelError(f"{asked.url} cannot be reached ({asked.name}); is {asked.setting} right?")
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return ModelError(f"{asked.url} refuses {asked.secret} for {asked.name} (status {error.status_code})")
    text = _text(error, asked.key)
    if isinstance(error, openai.NotFoundError):
        return ModelError(f"{asked.url} has no model {asked.model!r} ({text})")
    if isinstance(error, openai.APIStatusError):
        refused = isinstance(error, openai.BadRequestError) and error.code in REFUSALS
        about_functions = error.param in (None, "tools", "tool_choice") and _TOOL_WORD.search(text)
        advice = "; if it takes no functions, use --format text" if about_functions and not refused else ""
        kind = PromptRefused if refused else ModelError
        return kind(f"{asked.url} answers {asked.name} with status {error.status_code}: {text}{advice}")
    if isinstance(error, openai.OpenAIError | ValueError):
        problem = f"answers, but not with a chat completion: {text}; is {asked.setting} right?"
        return ModelError(f"{asked.url} {problem}")
    # The client reads the body of an error status, and lets the error of its transport through.
    return ModelError(f"{asked.url} broke off in the middle of an error ({asked.name}); ask again")


def _text(error: Exception, key: str) -> str:
    text = str(error)
    if key:
        text = redact(text, [BearerToken(key)])
    return one_line(text, 300)
