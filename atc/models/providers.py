"""`anthropic:NAME`, `google:NAME`, `mistral:NAME`, `ollama:NAME` and others: providers with an API of their own.

The library any-llm (extra `providers`) asks each with the provider's own client, and hands its answer over in the chat
completions format, calls and reasoning included. Keys and addresses are in the variables that a provider's own client
reads, too. Each request has its own connections, which end with it: with an answer, silence, an error or ctrl-C.
Sampled answers have no seed, since most providers take none.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import re
import time
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from atc.models.base import (
    SILENCE,
    TEMPERATURE,
    Completion,
    Message,
    ModelBase,
    ModelRequest,
    Progress,
    check_text_only,
    checked_silence,
)
from atc.models.chat_format import (
    BrokenStreamError,
    StreamedAnswer,
    chat_completion,
    chat_payload,
    without_prefill,
)
from protocols.calls.credentials import BearerToken
from protocols.calls.redaction import redact
from protocols.errors import ModelError, PromptRefused
from protocols.extras import needs_extra
from protocols.installed_from import packages_command
from protocols.quoting import one_line

__all__ = ["FAMILIES", "ProviderModel", "check_installed", "is_provider", "meant"]

FAMILIES: Mapping[str, str] = {
    "ollama": r"[\w.-]+:(?:latest|[\d.]+b\b)",
    "anthropic": r"claude",
    "google": r"gemini",
    "mistral": r"(?:mi|code|mini|magi|dev)st?ral",
    "openai": r"(?:chat)?gpt-|o\d\b",
}
"""How the names of a provider's models begin, to say what a name without a prefix may mean."""

LIBRARY_NAMES = {"google": "gemini"}
"""Providers that the library calls otherwise."""

OPTIONAL = ("temperature", "stop", "stream_options")
"""Parameters that a request can do without."""

CHARACTERS_PER_TOKEN = 3
"""A token of English or Python has more, so that a window is rather too large; other letters are escaped in JSON."""

WINDOW_STEP = 8_192
"""Tokens; another size of its window makes Ollama load the model anew, so there are few."""

_TOO_LONG = re.compile(r"too long|context (?:length|window|size)", re.IGNORECASE)
"""What providers say of a conversation that the library does not tell from other bad requests."""


def is_provider(name: str) -> bool:
    """True if a prefix names a provider: one of those above, or with the extra `providers` any of the library's."""
    if name in FAMILIES:
        return name != "openai"
    if not name or find_spec("any_llm") is None:
        return False
    from any_llm import AnyLLM

    return name in AnyLLM.get_supported_providers()


def _with_mark(message: Message) -> list[dict[str, Any]]:
    """A text in two parts, the first of which is to be kept for other questions."""
    first = {"type": "text", "text": message.content[: message.shared], "cache_control": {"type": "ephemeral"}}
    return [first, {"type": "text", "text": message.content[message.shared :]}]


def check_installed(name: str) -> None:
    """Raises: ModelError: The extra for the model of a provider is missing."""
    if find_spec("any_llm") is None:
        raise ModelError(needs_extra(name, "providers"))


def meant(name: str, engines: Collection[str]) -> str | None:
    """What a name may mean that begins with no engine's name; None without an idea."""
    for provider, form in FAMILIES.items():
        if re.match(form, name.lower()):
            return f"{provider}:{name}"
    prefix, _, rest = name.partition(":" if ":" in name else "/")
    near = difflib.get_close_matches(prefix.lower(), {*engines, *FAMILIES}, n=1)
    return f"{near[0]}:{rest}" if near and rest else None


class ProviderModel(ModelBase):
    """A model of a provider with an API of its own.

    Args:
        provider: As `is_provider` takes it.
        name: As the provider knows it.
        silence: Seconds without a part of an answer after which it is given up.
    Raises: ModelError: The extra `providers`, the provider's own client or its key is missing. UsageError: Nothing can
        wait so long.
    """

    def __init__(self, provider: str, name: str, *, silence: float = SILENCE) -> None:
        self.name = f"{provider}:{name}"
        self._provider = LIBRARY_NAMES.get(provider, provider)
        self._model = name
        self._silence = checked_silence(silence)
        self._refused: set[str] = set()
        check_installed(self.name)
        with self._errors():
            self._client()

    @property
    def calls_functions(self) -> bool:
        """True, though a model may still refuse the first request that offers functions."""
        return True

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`. Raises: ModelError: no answer; the message never holds the key."""
        if request.layout == "roles":
            check_text_only(self.name, request)
            raise ModelError(f"{self.name} reads no conversation that is one text; use --format text or functions")
        started = time.monotonic()
        messages, prefill = without_prefill(request.messages)
        payload = {
            **chat_payload(request, messages, prefill),
            "temperature": 0.0 if request.seed is None else TEMPERATURE,
            "stream_options": {"include_usage": True},
        }
        if self._provider == "anthropic":  # the others keep what they read without being asked
            for message, turn in zip(messages, payload["messages"], strict=True):
                turn["content"] = _with_mark(message) if message.shared else turn["content"]
        if self._provider == "ollama":  # it cuts a conversation beyond its window without a word
            tokens = len(json.dumps(payload)) // CHARACTERS_PER_TOKEN + request.max_tokens
            payload["num_ctx"] = -(-tokens // WINDOW_STEP) * WINDOW_STEP
        with self._errors():
            reply = self._ask(payload, request.on_progress)
            return chat_completion(reply, messages, prefill, request.stop, time.monotonic() - started)

    def close(self) -> None:
        """Nothing to close."""

    def _ask(self, payload: dict[str, Any], on_progress: Callable[[Progress], None] | None) -> Any:
        """Send a request, again without a parameter that the model refuses; refused ones are remembered."""
        from any_llm.exceptions import InvalidRequestError, UnsupportedParameterError

        while True:
            adapted = {name: value for name, value in payload.items() if name not in self._refused}
            try:
                return _run(self._stream(adapted, on_progress))
            except (InvalidRequestError, UnsupportedParameterError) as error:
                refused = next((name for name in OPTIONAL if name in adapted and name in str(error)), None)
                if refused is None:
                    raise
                self._refused.add(refused)

    async def _stream(self, payload: dict[str, Any], on_progress: Callable[[Progress], None] | None) -> Any:
        """The answer, put together from its parts. Raises: TimeoutError: None came for too long."""
        answer, client = StreamedAnswer(on_progress), self._client()  # whose import is nobody's silence
        # Not wait_for: that of Python 3.11 loses a ctrl-C that comes together with a part.
        async with asyncio.timeout(self._silence) as waiting:
            parts = await client.acompletion(self._model, **payload, stream=True)
            try:
                async for part in parts:
                    answer.add(part)
                    waiting.reschedule(asyncio.get_running_loop().time() + self._silence)
            finally:
                await parts.aclose()
        return answer.completion()

    def _client(self) -> Any:
        """A client of the provider. Raises: ImportError, AnyLLMError."""
        from any_llm import AnyLLM

        return AnyLLM.create(self._provider, unified_exceptions=True)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the library's errors into one sentence, without their cause: a provider may quote the key."""
        from any_llm import exceptions

        try:
            yield
        except ImportError:
            raise ModelError(
                f"{self.name} needs the provider's own client: {packages_command(f'any-llm-sdk[{self._provider}]')}"
            ) from None
        except TimeoutError:
            raise ModelError(f"{self.name} was silent for {self._silence:g} seconds") from None
        except BrokenStreamError as error:
            raise ModelError(f"{self.name} {error}; ask again") from None
        except exceptions.MissingApiKeyError as error:
            raise ModelError(f"{self.name} needs a key: set {error.env_var_name.replace('/', ' or ')}") from None
        except exceptions.AuthenticationError as error:
            raise ModelError(f"{self.name}: the provider refuses the key (status {error.status_code})") from None
        except exceptions.ModelNotFoundError as error:
            raise ModelError(f"the provider has no model {self.name} ({self._error_text(error)})") from None
        except (exceptions.ContextLengthExceededError, exceptions.ContentFilterError) as error:
            raise PromptRefused(f"{self.name} refuses the conversation: {self._error_text(error)}") from None
        except (exceptions.AnyLLMError, ValueError) as error:
            status = getattr(error, "status_code", None)
            kind = f"answers with status {status}" if status else "gives no answer"
            refused = status in (400, 413) and _TOO_LONG.search(str(error))
            raise (PromptRefused if refused else ModelError)(f"{self.name} {kind}: {self._error_text(error)}") from None

    def _error_text(self, error: Exception) -> str:
        from any_llm import AnyLLM

        names = AnyLLM.get_provider_class(self._provider).ENV_API_KEY_NAME.split("/")
        names.append(f"{self._provider.upper()}_API_KEY")  # the library names none where a client may do without
        keys = [BearerToken(key) for name in names if (key := os.environ.get(name, "").strip())]
        return one_line(redact(str(error), keys), 300)


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in this thread; where an event loop runs in it already, as in a notebook, in another one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
