"""`openai:NAME`: any endpoint that speaks the chat completions format, OpenAI's own first.

Endpoints differ in some points. A refused parameter is left out and the request repeated. Stop sequences are applied
again on our side. An answer is streamed where the endpoint does that, so that its text is seen as it comes and only
silence ends the wait.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from atc.models.base import (
    SILENCE,
    TEMPERATURE,
    Completion,
    ModelBase,
    ModelRequest,
    Progress,
    check_text_only,
    checked_silence,
    cut_at_stop,
)
from atc.models.chat_format import (
    BrokenStreamError,
    StreamedAnswer,
    chat_completion,
    chat_payload,
    usage_of,
    without_prefill,
)
from protocols.bounded_bodies import bound
from protocols.errors import ModelError
from sandbox.egress.egress_rules import display_url

if TYPE_CHECKING:
    import openai

__all__ = ["Endpoint"]

CONNECT_TIMEOUT = 5.0

RETRIES = 2

MOST_BYTES = 4 << 20
"""Of an answer, and of an event in a stream; an output of 128,000 tokens has half a MiB."""

MOST_BYTES_OF_STREAM = 256 << 20
"""The same output with a frame of up to 2 kB around each token."""

CONTEXT_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length")
"""Where endpoints tell the size of a model's context window."""

RENAMED = {"max_tokens": "max_completion_tokens"}
"""Parameters with another name at endpoints that refuse the first."""

OPTIONAL = frozenset({"temperature", "seed", "stop", "max_completion_tokens", "stream", "stream_options"})
"""Parameters that a request can do without."""


class Endpoint(ModelBase):
    """A model behind an OpenAI-compatible endpoint.

    Args:
        name: As the endpoint knows it.
        seed: Of sampled answers.
        base_url: Of the endpoint; by default `OPENAI_BASE_URL`, else OpenAI's own service.
        api_key: By default `OPENAI_API_KEY`. An endpoint of one's own may do without.
        silence: Seconds without a byte after which it is given up.
    Raises: ModelError: There is no key, or one that cannot be sent. UsageError: Nothing can wait so long.
    """

    def __init__(
        self,
        name: str,
        *,
        seed: int = 0,
        base_url: str | None = None,
        api_key: str | None = None,
        silence: float = SILENCE,
    ) -> None:
        self.name = f"openai:{name}"
        self._model = name
        self._seed = seed
        self._url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        own = api_key if api_key is not None else "" if base_url else os.environ.get("OPENAI_API_KEY", "")
        self._key = own.strip()
        self._silence = checked_silence(silence)
        self._setting, self._secret = ("base_url", "api_key") if base_url else ("OPENAI_BASE_URL", "OPENAI_API_KEY")
        if not self._key and not self._url:
            raise ModelError(
                f"{self.name} needs a key: set OPENAI_API_KEY, and OPENAI_BASE_URL for an endpoint of your own"
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise ModelError(f"{self._secret} for {self.name} has a letter that no header takes, such as a line break")
        if find_spec("openai") is None:
            from protocols.extras import needs_extra

            raise ModelError(needs_extra(self.name, "openai"))
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None
        self._refused: set[str] = set()

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`. Raises: ModelError: no answer; the message never holds the key."""
        if request.layout == "roles":
            return self._continue(request)
        started = time.monotonic()
        messages, prefill = without_prefill(request.messages)
        payload = {**self._payload(request), **chat_payload(request, messages, prefill)}
        reply = self._ask({**payload, "stream": True, "stream_options": {"include_usage": True}}, request.on_progress)
        with self._errors():
            completion = chat_completion(reply, messages, prefill, request.stop, time.monotonic() - started)
            return replace(completion, server=self._endpoint())

    def _continue(self, request: ModelRequest) -> Completion:
        """Continue a conversation that is one text, by the endpoint's older format, `completions`."""
        check_text_only(self.name, request)
        started = time.monotonic()
        stops = {"stop": list(request.stop)} if request.stop else {}
        from atc.models.chat_format import role_prompt

        reply = self._ask({**self._payload(request), **stops, "prompt": role_prompt(request.messages)})
        choices = getattr(reply, "choices", None)
        if not choices or not isinstance(choices, list) or not isinstance(getattr(choices[0], "text", None), str):
            raise ModelError(f"{self._endpoint()} answers, but not with a completion; is {self._setting} right?")
        text, stopped = cut_at_stop(choices[0].text, request.stop)
        finish = "stop" if stopped else str(choices[0].finish_reason or "stop")
        return Completion(text, usage_of(reply.usage, time.monotonic() - started), finish)

    def _payload(self, request: ModelRequest) -> dict[str, Any]:
        temperature, seed = (0.0, self._seed) if request.seed is None else (TEMPERATURE, request.seed)
        return {"model": self._model, "max_tokens": request.max_tokens, "temperature": temperature, "seed": seed}

    @property
    def calls_functions(self) -> bool:
        """True, though an endpoint may still refuse the first request that offers functions."""
        return True

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

    def _ask(self, payload: dict[str, Any], on_progress: Callable[[Progress], None] | None = None) -> Any:
        """Send a request, again without each parameter that the endpoint refuses; refused ones are remembered."""
        import openai

        with self._errors():
            while True:
                adapted = {key: value for key, value in payload.items() if key not in self._refused}
                for name in self._refused & RENAMED.keys() & payload.keys():
                    if RENAMED[name] not in self._refused:
                        adapted[RENAMED[name]] = payload[name]
                try:
                    client = self._get_client()
                    format_ = client.completions if "prompt" in payload else client.chat.completions
                    with format_.with_streaming_response.create(**adapted) as response:
                        return _received(response, "prompt" in payload, on_progress)
                except openai.BadRequestError as error:
                    parameter = str(error.param)
                    if parameter not in adapted or parameter not in OPTIONAL | RENAMED.keys():
                        raise
                    self._refused.add(parameter)

    def _get_client(self) -> openai.OpenAI:
        import openai

        with self._lock:
            if self._client is None:
                timeout = openai.Timeout(self._silence, connect=CONNECT_TIMEOUT)
                hooks = {"response": [bound(MOST_BYTES, MOST_BYTES_OF_STREAM, ValueError)]}
                self._client = openai.OpenAI(
                    api_key=self._key or "none",
                    base_url=self._url,
                    timeout=timeout,
                    max_retries=RETRIES,
                    http_client=openai.DefaultHttpxClient(event_hooks=hooks, timeout=timeout),
                )
            return self._client

    def _endpoint(self) -> str:
        """The endpoint, without secrets in its URL."""
        return display_url(self._url or "https://api.openai.com/v1")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the client's errors into one sentence, without their cause: an endpoint may quote the key."""
        import openai

        transport = _transport()
        try:
            yield
        except (BrokenStreamError, TimeoutError, ValueError, openai.OpenAIError, transport.HTTPError) as error:
            from atc.models.endpoint_errors import AskedEndpoint, model_error

            endpoint = AskedEndpoint(
                self._endpoint(), self.name, self._model, self._setting, self._secret, self._key, self._silence, RETRIES
            )
            raise model_error(error, endpoint) from None


def _transport() -> Any:
    """The HTTP client below openai's: httpx, or from openai 3 on httpx2."""
    import openai

    return sys.modules[openai.DefaultHttpxClient.__mro__[1].__module__]


def _received(response: Any, of_text: bool, on_progress: Callable[[Progress], None] | None) -> Any:
    """The completion of a chat or a text in a response: put together if it comes in parts, else as it is.

    Raises: ValueError: It holds something else. BrokenStreamError. TimeoutError: It was silent for too long.
    """
    import openai

    if "text/event-stream" not in response.headers.get("content-type", "").lower():
        from openai.types import Completion as TextCompletion
        from openai.types.chat import ChatCompletion

        transport = _transport()
        try:
            data = json.loads(response.read())
        except transport.TimeoutException:
            raise TimeoutError from None
        except transport.HTTPError:
            raise BrokenStreamError("broke off in the middle of the answer") from None
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if not isinstance(data, dict):
            raise ValueError("it holds no object")
        return (TextCompletion if of_text else ChatCompletion).construct(**data)
    if of_text:
        raise ValueError("it comes in parts, and was to come whole")
    answer = StreamedAnswer(on_progress)
    try:
        for chunk in response.parse():
            answer.add(chunk)
    except openai.APITimeoutError:
        raise TimeoutError from None
    except openai.APIConnectionError:  # the answer itself tells whether it had come to its end
        pass
    return answer.completion()
