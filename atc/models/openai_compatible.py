"""`openai:NAME`: any endpoint that speaks the chat completions format, OpenAI's own first.

Endpoints differ in some points. A refused parameter is left out and the request repeated. Stop sequences are applied
again on our side. A prefill, which the format lacks, becomes a request to begin the answer with that text. Calls are
also read in the older form, `function_call`, and a call without an id gets one. An answer is streamed where the
endpoint does that, so that its text is seen as it comes and only silence ends the wait.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from string import Template
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from atc.models.base import (
    TEMPERATURE,
    Completion,
    FunctionCall,
    FunctionSpec,
    Message,
    ModelBase,
    ModelRequest,
    Progress,
    Usage,
    check_text_only,
    cut_at_stop,
)
from protocols.calls.credentials import BearerToken
from protocols.calls.redaction import redact
from protocols.errors import ModelError, PromptRefused
from sandbox.egress.egress_rules import display_url
from sandbox.truncation import one_line

if TYPE_CHECKING:
    import openai

__all__ = ["Endpoint"]

CONNECT_TIMEOUT = 5.0
SILENCE = 120.0
"""Seconds without a byte after which an endpoint is given up: a model may think for minutes, but not in silence."""
RETRIES = 2

PREFILL = """$message

Begin your answer with exactly the following text, and go on from its end:
$prefill"""

CONTEXT_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length")
"""Where endpoints tell the size of a model's context window."""

RENAMED = {"max_tokens": "max_completion_tokens"}
"""Parameters with another name at endpoints that refuse the first."""

OPTIONAL = frozenset({"temperature", "seed", "stop", "max_completion_tokens", "stream", "stream_options"})
"""Parameters that a request can do without."""

REFUSALS = frozenset({"content_filter", "content_policy_violation", "context_length_exceeded"})
"""Error codes about one conversation only."""


_TOOL_WORD = re.compile(r"\btools?\b", re.IGNORECASE)
"""The format's word for functions, in an endpoint's error."""


class Endpoint(ModelBase):
    """A model behind an OpenAI-compatible endpoint.

    Args:
        name: As the endpoint knows it.
        seed: Of sampled answers.
        base_url: Of the endpoint; by default `OPENAI_BASE_URL`, else OpenAI's own service.
        api_key: By default `OPENAI_API_KEY`. An endpoint of one's own may do without.
        silence: Seconds without a byte after which it is given up.
    Raises: ModelError: There is no key.
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
        self._silence = silence
        self._setting, self._secret = ("base_url", "api_key") if base_url else ("OPENAI_BASE_URL", "OPENAI_API_KEY")
        if not self._key and not self._url:
            raise ModelError(
                f"{self.name} needs a key: set OPENAI_API_KEY, and OPENAI_BASE_URL for an endpoint of your own"
            )
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None
        self._refused: set[str] = set()

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`. Raises: ModelError: no answer; the message never holds the key."""
        if request.layout == "roles":
            return self._continue(request)
        started = time.monotonic()
        messages, prefill = without_prefill(request.messages)
        payload = {**self._payload(request), "messages": [_turn(message) for message in messages]}
        # The answer repeats the prefill: a stop sequence in there would end it before it began.
        if stops := [text for text in request.stop if text.strip() not in prefill]:
            payload["stop"] = stops
        if request.functions:
            payload["tools"] = [_tool(function) for function in request.functions]
        reply = self._ask({**payload, "stream": True, "stream_options": {"include_usage": True}}, request.on_progress)
        choices = getattr(reply, "choices", None)
        if not choices or choices[0].message is None:
            raise ModelError(f"{self._endpoint()} answers, but not with a chat completion; is {self._setting} right?")
        text, stopped = cut_at_stop(after_prefill(choices[0].message.content or "", prefill), request.stop)
        finish = "stop" if stopped else choices[0].finish_reason or "stop"
        with self._errors():
            calls = _calls(choices[0].message, messages)
        return Completion(text, _usage(reply.usage, time.monotonic() - started), finish, calls)

    def _continue(self, request: ModelRequest) -> Completion:
        """Continue a conversation that is one text, by the endpoint's older format, `completions`."""
        check_text_only(self.name, request)
        started = time.monotonic()
        stops = {"stop": list(request.stop)} if request.stop else {}
        from atc.models.role_layout import role_prompt

        reply = self._ask({**self._payload(request), **stops, "prompt": role_prompt(request.messages)})
        choices = getattr(reply, "choices", None)
        if not choices or not isinstance(choices[0].text, str):
            raise ModelError(f"{self._endpoint()} answers, but not with a completion; is {self._setting} right?")
        text, stopped = cut_at_stop(choices[0].text, request.stop)
        finish = "stop" if stopped else choices[0].finish_reason or "stop"
        return Completion(text, _usage(reply.usage, time.monotonic() - started), finish)

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
                    if "prompt" in payload:
                        return client.completions.create(**adapted)
                    with client.chat.completions.with_streaming_response.create(**adapted) as response:
                        return _received(response, on_progress)
                except openai.BadRequestError as error:
                    if error.param not in adapted or error.param not in OPTIONAL | RENAMED.keys():
                        raise
                    self._refused.add(error.param)

    def _get_client(self) -> openai.OpenAI:
        import openai

        with self._lock:
            if self._client is None:
                timeout = openai.Timeout(self._silence, connect=CONNECT_TIMEOUT)
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
        except _BrokenStreamError as error:
            raise ModelError(f"{endpoint} broke off {error} ({self.name}); ask again") from None
        except openai.APITimeoutError:
            raise ModelError(
                f"{endpoint} was silent for {self._silence:g} seconds, {RETRIES + 1} times ({self.name})"
            ) from None
        except openai.APIConnectionError:
            raise ModelError(f"{endpoint} cannot be reached ({self.name}); is {self._setting} right?") from None
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise ModelError(
                f"{endpoint} refuses {self._secret} for {self.name} (status {error.status_code})"
            ) from None
        except openai.NotFoundError as error:
            raise ModelError(f"{endpoint} has no model {self._model!r} ({self._error_text(error)})") from None
        except openai.APIStatusError as error:
            refused = isinstance(error, openai.BadRequestError) and error.code in REFUSALS
            text = self._error_text(error)
            about_functions = error.param in (None, "tools", "tool_choice") and _TOOL_WORD.search(text)
            advice = "; if it takes no functions, use --format text" if about_functions and not refused else ""
            raise (PromptRefused if refused else ModelError)(
                f"{endpoint} answers {self.name} with status {error.status_code}: {text}{advice}"
            ) from None
        except (openai.OpenAIError, ValueError) as error:
            raise ModelError(f"{endpoint} answers, but not with a chat completion: {self._error_text(error)}") from None

    def _error_text(self, error: Exception) -> str:
        text = str(error)
        if self._key:
            text = redact(text, [BearerToken(self._key)])
        return one_line(text)[:300]


class _BrokenStreamError(Exception):
    """A stream ended before its answer did."""


def _received(response: Any, on_progress: Callable[[Progress], None] | None) -> Any:
    """The chat completion of a response: put together from its parts if it is streamed, else as it is.

    Raises: ValueError: It holds something else. _BrokenStreamError.
    """
    if "text/event-stream" not in response.headers.get("content-type", ""):
        from openai.types.chat import ChatCompletion

        data = json.loads(response.read())
        if not isinstance(data, dict):
            raise ValueError("it holds no object")
        return ChatCompletion.construct(**data)
    answer = _StreamedAnswer()
    try:
        for chunk in response.parse():
            answer.add(chunk)
            if on_progress is not None:
                on_progress(Progress(0, 0, answer.text))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"its stream is none of the format ({type(error).__name__}: {error})") from None
    if answer.finish is None:
        raise _BrokenStreamError(f"in the middle of the answer, after {len(answer.text):,} characters")
    return answer.completion()


class _StreamedAnswer:
    """An answer that comes in parts; what a part has in another form than the format's counts for nothing."""

    def __init__(self) -> None:
        self.text = ""
        self.finish: str | None = None
        self._usage: Any = None
        self._calls: dict[int, SimpleNamespace] = {}

    def add(self, chunk: Any) -> None:
        """Add a part. Raises: TypeError, AttributeError: It has another form."""
        self._usage = getattr(chunk, "usage", None) or self._usage
        choices = getattr(chunk, "choices", None)
        for choice in choices[:1] if isinstance(choices, list) else ():
            delta = getattr(choice, "delta", None)
            content = getattr(delta, "content", None)
            self.text += content if isinstance(content, str) else ""
            for call in getattr(delta, "tool_calls", None) or ():
                self._add_call(call)
            finish = getattr(choice, "finish_reason", None)
            self.finish = finish if isinstance(finish, str) else self.finish

    def _add_call(self, call: Any) -> None:
        index = getattr(call, "index", None)
        index = index if isinstance(index, int) else len(self._calls)
        function = getattr(call, "function", None)
        begun = self._calls.setdefault(
            index, SimpleNamespace(id=None, function=SimpleNamespace(name=None, arguments=""))
        )
        begun.id = getattr(call, "id", None) or begun.id
        begun.function.name = getattr(function, "name", None) or begun.function.name
        begun.function.arguments += str(getattr(function, "arguments", None) or "")

    def completion(self) -> Any:
        """The answer in the form of one that came whole."""
        calls = [self._calls[index] for index in sorted(self._calls)]
        message = SimpleNamespace(content=self.text or None, tool_calls=calls or None, function_call=None)
        return SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason=self.finish)], usage=self._usage)


def without_prefill(messages: Sequence[Message]) -> tuple[list[Message], str]:
    """The conversation with its prefill as a sentence of the last question, and the prefill."""
    if not messages or messages[-1].role != "assistant" or messages[-1].calls:
        return list(messages), ""
    *earlier, last = messages
    prefill = last.content
    question = earlier.pop().content if earlier and earlier[-1].role == "user" else ""
    text = Template(PREFILL).substitute(message=question, prefill=prefill).lstrip()
    return [*earlier, Message("user", text)], prefill


def after_prefill(text: str, prefill: str) -> str:
    """The answer without its prefill, whether it repeats all of that, its last line, or nothing."""
    for opening in (prefill.strip(), prefill.strip().rpartition("\n")[2]):
        if opening and opening in text:
            addition = text.partition(opening)[2]
            return addition.removeprefix("\n") if prefill.endswith("\n") else addition
    return text


def _tool(function: FunctionSpec) -> dict[str, Any]:
    schema = {"name": function.name, "description": function.description, "parameters": function.parameters}
    return {"type": "function", "function": schema}


def _turn(message: Message) -> dict[str, Any]:
    """A message in the endpoint's form; content beside calls is null where it is empty."""
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        turn["content"] = message.content or None
        turn["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.role == "tool":
        turn.update(tool_call_id=message.call_id, name=message.name)
    return turn


def _calls(message: Any, earlier: Sequence[Message]) -> tuple[FunctionCall, ...]:
    """The calls of a reply; a call without an id of its own in the conversation gets one.

    Raises: ValueError: The endpoint's calls are not of the format.
    """
    listed = message.tool_calls or []
    if not isinstance(listed, list):
        raise ValueError("the calls are no list")
    entries = [(getattr(call, "id", None), getattr(call, "function", None)) for call in listed]
    if not entries and message.function_call is not None:
        entries = [(None, message.function_call)]
    ids = {call.id for turn in earlier for call in turn.calls}
    calls: list[FunctionCall] = []
    for id, function in entries:
        name, arguments = getattr(function, "name", None), getattr(function, "arguments", None)
        if not isinstance(name, str):
            raise ValueError("a call names no function")
        if not isinstance(id, str) or not id or id in ids:
            id = next(
                text for text in (f"call_{number}" for number in itertools.count(len(ids) + 1)) if text not in ids
            )
        ids.add(id)
        if not isinstance(arguments, str):  # some endpoints send the object itself
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        calls.append(FunctionCall(id, name, arguments))
    return tuple(calls)


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
