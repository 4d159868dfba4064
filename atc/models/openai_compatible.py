"""`openai:NAME`: any endpoint that speaks the chat completions format, OpenAI's own first.

Endpoints differ in three points. A refused parameter is left out and the request repeated. Stop sequences are applied
again on our side. A prefill, which the format lacks, becomes a request to begin the answer with that text.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from string import Template
from typing import TYPE_CHECKING, Any

from atc.models.base import TEMPERATURE, Completion, Message, ModelBase, ModelRequest, Usage, cut_at_stop
from protocols.calls.auth import Credential, redact
from protocols.errors import ModelError, PromptRefused
from sandbox.egress.egress_rules import display_url
from sandbox.truncation import one_line

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAIModel"]

CONNECT_TIMEOUT = 5.0
TIMEOUT = 120.0
RETRIES = 2

PREFILL = """$message

Begin your answer with exactly the following text, and go on from its end:
$prefill"""

CONTEXT_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length")
"""Where endpoints tell the size of a model's context window."""

RENAMED = {"max_tokens": "max_completion_tokens"}
"""Parameters with another name at endpoints that refuse the first."""

OPTIONAL = frozenset({"temperature", "seed", "stop", "max_completion_tokens"})
"""Parameters that a request can do without."""

REFUSALS = frozenset({"content_filter", "content_policy_violation", "context_length_exceeded"})
"""Error codes about one conversation only."""


class OpenAIModel(ModelBase):
    """A model behind `OPENAI_BASE_URL` (OpenAI's own service if unset), asked with `OPENAI_API_KEY`.

    An endpoint named by `OPENAI_BASE_URL` may do without a key. Raises: ModelError: there is no key.
    """

    def __init__(self, name: str, *, seed: int = 0) -> None:
        self.name = f"openai:{name}"
        self._model = name
        self._seed = seed
        self._url = os.environ.get("OPENAI_BASE_URL") or None
        self._key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not self._key and not self._url:
            raise ModelError(
                f"{self.name} needs a key: set OPENAI_API_KEY, and OPENAI_BASE_URL for an endpoint of your own"
            )
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None
        self._refused: set[str] = set()

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`. Raises: ModelError: no answer; the message never holds the key."""
        temperature, seed = (0.0, self._seed) if request.seed is None else (TEMPERATURE, request.seed)
        started = time.monotonic()
        messages, prefill = _without_prefill(request.messages)
        payload: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "max_tokens": request.max_tokens,
            "temperature": temperature,
            "seed": seed,
        }
        # The answer repeats the prefill: a stop sequence in there would end it before it began.
        if stops := [text for text in request.stop if text.strip() not in prefill]:
            payload["stop"] = stops
        reply = self._ask(payload)
        choices = getattr(reply, "choices", None)
        if not choices or choices[0].message is None:
            raise ModelError(f"{self._endpoint()} answers, but not with a chat completion; is OPENAI_BASE_URL right?")
        text, stopped = cut_at_stop(_after_prefill(choices[0].message.content or "", prefill), request.stop)
        finish = "stop" if stopped else choices[0].finish_reason or "stop"
        return Completion(text, _usage(reply.usage, time.monotonic() - started), finish)

    @cached_property
    def context(self) -> int | None:
        """Tokens of the context window, where the endpoint's list of models tells them; else None."""
        try:
            with self._errors():
                client = self._get_client().with_options(timeout=CONNECT_TIMEOUT, max_retries=0)
                entry = client.models.retrieve(self._model).model_dump()
        except ModelError:
            return None
        sizes = [entry.get(name) for name in CONTEXT_NAMES]
        return next((size for size in sizes if isinstance(size, int) and size > 0), None)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _ask(self, payload: dict[str, Any]) -> Any:
        """Send a request, again without each parameter that the endpoint refuses; refused ones are remembered."""
        import openai

        with self._errors():
            while True:
                adapted = {key: value for key, value in payload.items() if key not in self._refused}
                for name in self._refused & RENAMED.keys() & payload.keys():
                    if RENAMED[name] not in self._refused:
                        adapted[RENAMED[name]] = payload[name]
                try:
                    return self._get_client().chat.completions.create(**adapted)
                except openai.BadRequestError as error:
                    if error.param not in adapted or error.param not in OPTIONAL | RENAMED.keys():
                        raise
                    self._refused.add(error.param)

    def _get_client(self) -> openai.OpenAI:
        import openai

        with self._lock:
            if self._client is None:
                timeout = openai.Timeout(TIMEOUT, connect=CONNECT_TIMEOUT)
                self._client = openai.OpenAI(
                    api_key=self._key or "none", base_url=self._url, timeout=timeout, max_retries=RETRIES
                )
            return self._client

    def _endpoint(self) -> str:
        """The endpoint, without secrets in its URL."""
        return display_url(self._url or "https://api.openai.com/v1")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the client's errors into one sentence, without their cause: an endpoint may quote the key."""
        import openai

        endpoint = self._endpoint()
        try:
            yield
        except openai.APITimeoutError:
            raise ModelError(f"{endpoint} gave no answer within {TIMEOUT:.0f} seconds ({self.name})") from None
        except openai.APIConnectionError:
            raise ModelError(f"{endpoint} cannot be reached ({self.name}); is OPENAI_BASE_URL right?") from None
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise ModelError(
                f"{endpoint} refuses OPENAI_API_KEY for {self.name} (status {error.status_code})"
            ) from None
        except openai.NotFoundError as error:
            raise ModelError(f"{endpoint} has no model {self._model!r} ({self._error_text(error)})") from None
        except openai.APIStatusError as error:
            refused = isinstance(error, openai.BadRequestError) and error.code in REFUSALS
            raise (PromptRefused if refused else ModelError)(
                f"{endpoint} answers {self.name} with status {error.status_code}: {self._error_text(error)}"
            ) from None
        except (openai.OpenAIError, ValueError) as error:
            raise ModelError(f"{endpoint} answers, but not with a chat completion: {self._error_text(error)}") from None

    def _error_text(self, error: Exception) -> str:
        text = str(error)
        if self._key:
            text = redact(text, [Credential("bearer", self._key)])
        return one_line(text)[:300]


def _without_prefill(messages: Sequence[Message]) -> tuple[list[Message], str]:
    """The conversation with its prefill as a sentence of the last question, and the prefill."""
    if not messages or messages[-1].role != "assistant":
        return list(messages), ""
    *earlier, last = messages
    prefill = last.content
    question = earlier.pop().content if earlier and earlier[-1].role == "user" else ""
    text = Template(PREFILL).substitute(message=question, prefill=prefill).lstrip()
    return [*earlier, Message("user", text)], prefill


def _after_prefill(text: str, prefill: str) -> str:
    """The answer without its prefill, whether it repeats all of that, its last line, or nothing."""
    for opening in (prefill.strip(), prefill.strip().rpartition("\n")[2]):
        if opening and opening in text:
            addition = text.partition(opening)[2]
            return addition.removeprefix("\n") if prefill.endswith("\n") else addition
    return text


def _usage(counted: Any, seconds: float) -> Usage:
    """The endpoint's usage; zeros from one that does not count."""
    details = getattr(counted, "prompt_tokens_details", None)
    return Usage(
        prompt_tokens=getattr(counted, "prompt_tokens", 0) or 0,
        completion_tokens=getattr(counted, "completion_tokens", 0) or 0,
        cached_tokens=getattr(details, "cached_tokens", 0) or 0,
        model_calls=1,
        seconds=seconds,
    )
