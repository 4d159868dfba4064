"""`local:NAME`: llama.cpp inside our own process, with a model file and, where one is named, a LoRA adapter.

The `xllamacpp` wheel ships llama.cpp's server as a library. Its in-process calls cannot be interrupted, have no time
limit and do not tokenize, and it opens its HTTP listener in any case. So we use that listener: on loopback only, with
a random key that never leaves this process. An abandoned request (Ctrl-C, time limit) closes its connection, and the
engine stops.

The model's own chat template renders a prompt; it is tokenized once and sent as tokens, so the counted tokens are the
read ones. The engine caches prompts by their prefix. The prefix common to all prompts (instructions and examples) can
be kept on disk for the next process.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib.metadata
import json
import os
import secrets
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from atc.engines.gguf_metadata import read_metadata
from atc.engines.names import adapter_hash
from atc.models.base import (
    TEMPERATURE,
    Completion,
    ModelBase,
    ModelRequest,
    Progress,
    Usage,
    check_context_length,
    check_text_only,
)
from atc.models.chat_format import role_prompt
from protocols.errors import ModelError, UsageError
from protocols.private_files import make_private_folder

__all__ = ["CONTEXT", "Engine", "LocalEngine", "any_running", "default_threads", "stop_in_background"]

CONTEXT = 8192
"""Tokens of prompt and answer together."""

TIMEOUT = 900.0
"""Seconds for one answer; two slow cores read a full context in about three minutes."""

CACHE_MIB = 512
"""MiB for earlier prompts; one of 2,000 tokens takes about 60."""

MAX_PREFIXES = 4
"""Prompt prefixes kept on disk; one takes about 25 MiB."""

MIN_PREFIX_TOKENS = 64
"""Tokens from which a prefix is kept."""

BATCH = 256
"""Tokens of a batch. The engine stops only between two batches: two to four seconds on two slow cores."""

_MANY_CORES = 4
"""Cores from which one is left to other work: a thread that waits for its core delays all others."""


class LocalEngine(ModelBase):
    """A GGUF file and the engine that runs it. The engine starts at the first request.

    Prompts are answered one at a time; other threads wait. Raises: ModelError: the adapter does not fit the model.

    Args:
        file: The GGUF file.
        keep: A folder for the prefix of the first conversation, for later processes.
        threads: Threads to compute with, by default `default_threads()`.
        adapter: A LoRA adapter in a GGUF file.
    """

    def __init__(
        self,
        name: str,
        file: Path,
        *,
        seed: int = 0,
        context: int = CONTEXT,
        keep: Path | None = None,
        threads: int | None = None,
        adapter: Path | None = None,
    ) -> None:
        self.name = name
        self._context = context
        self.file = file
        self._seed = seed
        self._lock = threading.RLock()
        self._running: Engine | None = None
        self._prefix_folder = keep
        self._threads = threads
        self._adapter = adapter
        if adapter is not None:
            _check_adapter(file, adapter)

    @property
    def context(self) -> int:
        """Tokens of the context window."""
        return self._context

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`. Raises: ModelError: also when the prompt leaves less than `max_tokens` of
        `context`."""
        check_text_only(self.name, request)
        temperature, seed = (0.0, self._seed) if request.seed is None else (TEMPERATURE, request.seed)
        started = time.monotonic()
        with self._lock:
            engine = self._engine()
            turns = [message.to_json() for message in request.messages]
            if request.layout == "roles":
                prompt = role_prompt(request.messages)
            else:
                prompt = engine.post("/apply-template", {"messages": turns})["prompt"]
            tokens = engine.tokenize(prompt, special=True)
            check_context_length(self.name, len(tokens), request.max_tokens, self._context)
            reporter = _ProgressReporter(len(tokens), request.on_progress)
            read = self._restore_prefix(engine, turns, tokens, reporter) if request.layout == "chat" else 0
            reply = engine.complete(
                {
                    "prompt": tokens,
                    "n_predict": request.max_tokens,
                    "stop": list(request.stop),
                    "temperature": temperature,
                    "seed": seed,
                    "cache_prompt": True,
                    # A small model may fall into writing the same few tokens for ever (an endless number, say).
                    "dry_multiplier": 0.8,
                    "dry_allowed_length": 24,
                },
                reporter,
            )
        usage = Usage(
            prompt_tokens=len(tokens),
            completion_tokens=reply["tokens_predicted"],
            cached_tokens=max(reply["timings"]["cache_n"] - read, 0),
            model_calls=1,
            seconds=time.monotonic() - started,
        )
        return Completion(reply["content"], usage, "length" if reply["stop_type"] == "limit" else "stop")

    def _restore_prefix(
        self, engine: Engine, turns: Sequence[object], tokens: Sequence[int], reporter: _ProgressReporter
    ) -> int:
        """Before the first answer: load the prompt prefix that an earlier process kept, or read it and keep it.

        Returns: The number of tokens read.
        """
        folder, self._prefix_folder = self._prefix_folder, None
        if folder is None or len(turns) < 3:
            return 0
        prefix = engine.tokenize(engine.post("/apply-template", {"messages": turns[:-2]})["prompt"], special=True)
        head = [token for token, _ in takewhile(lambda pair: pair[0] == pair[1], zip(tokens, prefix, strict=False))]
        if len(head) < MIN_PREFIX_TOKENS:
            return 0
        state = self.file.stat()
        fingerprint = [str(self.file), state.st_size, state.st_mtime_ns, self._context, engine.version, head]
        if self._adapter is not None:
            fingerprint.append(adapter_hash(self._adapter))
        file = folder / f"{hashlib.sha256(json.dumps(fingerprint).encode()).hexdigest()[:32]}.kv"
        try:
            engine.post("/slots/0?action=restore", {"filename": file.name})
            os.utime(file)
            return 0
        except (ModelError, OSError):  # there is none, or it is damaged
            engine.complete({"prompt": head, "n_predict": 0, "cache_prompt": True}, reporter)
        partial = folder / f"{file.stem}.{os.getpid()}.part"
        with suppress(ModelError, OSError):  # a full disk is no reason not to answer
            try:
                engine.post("/slots/0?action=save", {"filename": partial.name})
                partial.chmod(0o600)
                partial.replace(file)
            finally:
                partial.unlink(missing_ok=True)
            for stale in sorted(folder.glob("*.kv"), key=lambda token: -token.stat().st_mtime)[MAX_PREFIXES:]:
                stale.unlink(missing_ok=True)
        return len(head)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, without chat template. Raises: ModelError."""
        with self._lock:
            return len(self._engine().tokenize(text, special=False))

    def close(self) -> None:
        """Stop the engine and free its memory; waiting requests raise ModelError.

        An engine that was interrupted while reading is stopped in the background.
        """
        engine, self._running = self._running, None
        if engine is not None:
            stop_in_background(engine.stop, engine.wait_until_idle) if engine.interrupted else engine.stop()

    def _engine(self) -> Engine:
        if self._running is None:
            if self._prefix_folder is not None:
                try:
                    make_private_folder(self._prefix_folder)
                except OSError:  # nothing can be kept there
                    self._prefix_folder = None
            self._running = Engine(
                self.file, self._context, keep=self._prefix_folder, threads=self._threads, adapter=self._adapter
            )
        return self._running


class Engine:
    """A running llama.cpp server; it ends with `stop`, with the object, or with the process.

    Args:
        keep: The folder for cached prefixes.
        threads: Threads to compute with, by default `default_threads()`.
        adapter: A LoRA adapter in a GGUF file.
    """

    def __init__(
        self,
        file: Path,
        context: int,
        keep: Path | None = None,
        threads: int | None = None,
        adapter: Path | None = None,
    ) -> None:
        # Threads that spin for long while they wait for each other take the processor from whoever they wait for:
        # beside another busy process that costs five sixths of the writing speed. Without any spinning a third of it is
        # lost where the machine is quiet. This is some microseconds; read once by OpenMP.
        os.environ.setdefault("GOMP_SPINCOUNT", "500")
        try:
            import xllamacpp
        except ImportError as error:
            raise ModelError(
                f"the local engine cannot be loaded: {error}. If libgomp.so.1 is missing: apt install libgomp1 "
                "(Debian, Ubuntu) or dnf install libgomp (Fedora); else reinstall xllamacpp"
            ) from error
        key = secrets.token_urlsafe(32)
        try:
            _read_into_page_cache(file)
            parameters = _parameters(xllamacpp, file, context, key, threads or default_threads())
            if keep is not None:
                parameters.slot_save_path = f"{keep}/"
            if adapter is not None:
                parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(adapter), 1.0)]
            server = xllamacpp.Server(parameters)
        except (RuntimeError, ValueError) as error:
            if adapter is not None:
                raise ModelError(
                    f"the local engine could not load {file} with {adapter}: the adapter was trained on another model, "
                    "or a file is damaged; convert it anew with llama.cpp's convert_lora_to_gguf.py"
                ) from error
            raise ModelError(
                f"the local engine could not load {file} ({file.stat().st_size:,} bytes); if the file is damaged, "
                "remove it and pull the model again"
            ) from error
        self.url: str = server.listening_address
        self.version = importlib.metadata.version("xllamacpp")
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._connections: set[http.client.HTTPConnection] = set()
        self.interrupted = False
        # The engine's threads have to end before the interpreter does.
        self.stop = weakref.finalize(self, _stop, [server], self._connections)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request to the server. Raises: ModelError."""
        with self._request(path, body) as reply:
            answer: dict[str, Any] = json.loads(reply.read())
        return answer

    def complete(self, body: dict[str, Any], reporter: _ProgressReporter) -> dict[str, Any]:
        """Have the server continue a prompt, and report the progress. Raises: ModelError."""
        end = time.monotonic() + TIMEOUT
        text: list[str] = []
        with self._request("/completion", {**body, "stream": True, "return_progress": True}) as reply:
            for line in reply:
                if time.monotonic() > end:
                    raise TimeoutError
                kind, _, data = line.partition(b": ")
                if kind == b"error":
                    raise ModelError(f"the local engine refused: {json.loads(data)['message']}")
                if kind != b"data":
                    continue
                part: dict[str, Any] = json.loads(data)
                if "error" in part:
                    raise ModelError(f"the local engine refused: {part['error']['message']}")
                text.append(part["content"])
                if part["stop"]:
                    return {**part, "content": "".join(text)}
                reporter.report(part.get("prompt_progress"), text)
        raise ModelError("the local engine was stopped while it answered")

    @contextmanager
    def _request(self, path: str, body: dict[str, Any]) -> Iterator[http.client.HTTPResponse]:
        """Open a successful response of the server for reading. Raises: ModelError."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=TIMEOUT)
        self._connections.add(connection)
        try:
            connection.request("POST", path, json.dumps(body), self._headers)
            reply = connection.getresponse()
            if reply.status != http.HTTPStatus.OK:
                raise ModelError(f"the local engine refused: {json.loads(reply.read())['error']['message']}")
            yield reply
        except TimeoutError as error:
            raise ModelError(f"the local engine gave no answer within {TIMEOUT:.0f} seconds") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ModelError("the local engine was stopped while it answered") from error
        except KeyboardInterrupt:
            self.interrupted = True
            raise
        finally:
            self._connections.discard(connection)
            connection.close()

    def wait_until_idle(self) -> None:
        """Wait until the engine has noticed that its last request was abandoned."""
        with suppress(ModelError):
            self.post("/completion", {"prompt": [0], "n_predict": 0})

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Split a text into tokens; `special` also reads marks such as the end of a turn, and adds a beginning."""
        body = {"content": text, "add_special": special, "parse_special": special}
        tokens: list[int] = self.post("/tokenize", body)["tokens"]
        return tokens


class _ProgressReporter:
    """Reports the engine's progress on one prompt of `length` tokens."""

    def __init__(self, length: int, on_progress: Callable[[Progress], None] | None) -> None:
        self._length = length
        self._read = 0
        self._on_progress = on_progress

    def report(self, part: dict[str, int] | None, text: Sequence[str]) -> None:
        """Report one part of a streamed answer; `part` is the engine's own report."""
        if self._on_progress is None:
            return
        seconds_left = 0.0
        if part is not None:
            self._read = max(self._read, part["processed"])
            new_tokens = part["processed"] - part["cache"]
            if new_tokens > 0 and part["time_ms"] > 0:
                seconds_left = (self._length - self._read) * part["time_ms"] / new_tokens / 1000
        else:
            self._read = self._length
        is_reading = part is None or part["processed"] > part["cache"]
        self._on_progress(Progress(self._read, self._length, "".join(text), seconds_left if is_reading else None))


_stopping: set[threading.Thread] = set()


def stop_in_background(stop: Callable[[], object], settle: Callable[[], object]) -> None:
    """Call `settle`, which waits until an interrupted engine is idle, and then `stop`, in a thread of their own.

    An engine cannot be stopped before it notices. A command that ends does not wait for that: it asks `any_running`,
    and leaves the process without its usual end (`os._exit`), after everything else was closed and written.
    """

    def work() -> None:
        settle()
        stop()
        _stopping.discard(thread)

    thread = threading.Thread(target=work, daemon=True)
    _stopping.add(thread)
    thread.start()


def any_running() -> bool:
    """True if an interrupted engine still computes."""
    return bool(_stopping)


def _read_into_page_cache(file: Path) -> None:
    """Read a file into memory before the engine loads it: Ctrl-C works here, and not while the engine loads."""
    buffer = bytearray(1 << 22)
    with suppress(OSError), file.open("rb", buffering=0) as opened:
        while opened.readinto(buffer):
            pass


def _check_adapter(file: Path, adapter: Path) -> None:
    """Raises: ModelError: The file is no LoRA adapter in GGUF, or one of another architecture."""
    if adapter.is_dir():
        raise ModelError(
            f"{adapter} is a folder, and local: takes an adapter as a GGUF file; convert it with llama.cpp's "
            "convert_lora_to_gguf.py, or give hf: the folder as it is"
        )
    keys = ["general.architecture", "general.type", "adapter.type"]
    metadata = read_metadata(adapter, keys)
    if (metadata.get("general.type"), metadata.get("adapter.type")) != ("adapter", "lora"):
        raise ModelError(
            f"{adapter} is a GGUF file, but no LoRA adapter; llama.cpp's convert_lora_to_gguf.py makes one"
        )
    architecture = read_metadata(file, keys[:1]).get("general.architecture")
    if metadata.get("general.architecture") != architecture:
        raise ModelError(
            f"{adapter} is an adapter of another architecture ({metadata.get('general.architecture')}) than {file} "
            f"({architecture}); name the model that it was trained on"
        )


def _stop(server: list[Any], connections: set[http.client.HTTPConnection]) -> None:
    """Close the open connections, since the engine waits for them; then drop its last reference, which ends it."""
    for connection in tuple(connections):
        if connection.sock is not None:
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)
    server.clear()


def _parameters(xllamacpp: Any, file: Path, context: int, key: str, threads: int) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.verbosity = -1
    parameters.warmup = False
    parameters.fit_params = False
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = BATCH
    parameters.cache_ram_mib = CACHE_MIB
    # Weights rearranged for this processor write an eighth faster, but read a tenth slower, and cost three seconds
    # at the start and a second copy of the weights in memory; as they lie in the file they are just mapped.
    parameters.no_extra_bufts = True
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    return parameters


def default_threads() -> int:
    """The threads of a local model: `ATC_THREADS`, else one a core, and a core less from four cores on.

    Raises: UsageError: ATC_THREADS is no number from 1.
    """
    if setting := os.environ.get("ATC_THREADS"):
        if not setting.isdecimal() or int(setting) < 1:
            raise UsageError(f"ATC_THREADS is {setting!r}: it must be a number from 1")
        return int(setting)
    cores = _physical_cores()
    return cores - 1 if cores >= _MANY_CORES else cores


def _physical_cores() -> int:
    """Count the processor cores that this process may use; hardware threads of one core share its arithmetic."""
    if not hasattr(os, "sched_getaffinity"):  # macOS: Apple's own processors have one thread a core
        return os.cpu_count() or 1
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text() if siblings.exists() else str(cpu))
    return len(cores)
