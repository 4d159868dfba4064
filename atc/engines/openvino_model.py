"""`openvino:NAME`: the file of `local:NAME`, run by OpenVINO GenAI in our own process.

It uses the low-precision instructions of newer processors (AVX-512 VNNI, AMX), which the wheel of llama.cpp does not:
on those it reads several times as fast, and writes about as fast. It rounds differently, so its answers may differ
from those of `local:NAME`, and answers to a new prompt from those to a cached one. The file is converted at its first
use, and kept converted.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import shutil
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atc.engines.local import stop_in_background
from atc.models.base import (
    TEMPERATURE,
    Completion,
    Message,
    ModelBase,
    ModelRequest,
    Progress,
    Usage,
    check_context_length,
    check_text_only,
    cut_at_stop,
    split_prefill,
)
from atc.models.chat_format import role_prompt
from atc.models.repetition import repetition_start
from protocols.errors import ModelError
from protocols.private_files import make_private_folder

__all__ = ["OpenVINOModel", "render", "settings"]

CONTEXT = 8192
"""Tokens of prompt and answer together, and the most that its tokenizer returns for a text."""

CACHE_GB = 1
"""GB for earlier prompts, which are cached by their prefix."""

DRAFT_TOKENS = 10
"""Tokens drafted from an earlier match of the last words: programs repeat their prompt."""

_NGRAM_TOKENS = 3
"""Tokens of such a match."""

_STALE_SECONDS = 3600.0
"""Age from which an unfinished conversion is abandoned; one takes about a minute."""

_STOP_SECONDS = 120.0
"""Seconds that the end of the process waits for an answer to stop: it stops only between two tokens."""


class OpenVINOModel(ModelBase):
    """A GGUF file that OpenVINO runs. It is loaded at the first request, and answers one conversation at a time.

    The number of cached tokens is unknown: `Usage.cached_tokens` is 0. An answer that only repeats itself ends before
    the second copy.

    Args:
        file: The GGUF file.
        converted: The folder for the conversion, some 1.3 GB for a model of 1.5 billion weights.
        threads: Threads to compute with, by default OpenVINO's own choice.
    """

    def __init__(self, name: str, file: Path, converted: Path, threads: int | None = None) -> None:
        self.name = name
        self._file = file
        self._converted = converted / f"{file.stem}-{importlib.metadata.version('openvino-genai')}"
        self._properties = {} if threads is None else {"INFERENCE_NUM_THREADS": threads}
        self._lock = threading.RLock()
        self._loaded: Any = None
        self._cancelled = threading.Event()
        self._writing: threading.Event | None = None

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`. Raises: ModelError: also when prompt and answer do not fit into CONTEXT."""
        check_text_only(self.name, request)
        started = time.monotonic()
        with self._lock:
            if self._writing is not None:  # it was interrupted, and may not have noticed yet
                self._writing.wait()
                self._writing = None
            self._cancelled = threading.Event()
            pipeline = self.load()
            tokenizer = pipeline.get_tokenizer()
            chat = request.layout == "chat"
            text = render(tokenizer, request.messages) if chat else role_prompt(request.messages)
            # A chat template writes the beginning of a text itself.
            prompt = tokenizer.encode(text, add_special_tokens=not chat)
            length = _length(prompt)
            if length == CONTEXT:  # it may be longer
                length = self.count_tokens(text)
            check_context_length(self.name, length, request.max_tokens, CONTEXT)
            reply, copies = self._write(pipeline, prompt, request, length)
            written = reply.tokens[0]
            text, _ = cut_at_stop(tokenizer.decode(written), request.stop)
        usage = Usage(length, len(written), 0, 1, time.monotonic() - started)
        incomplete = copies is not None or reply.finish_reasons[0].name == "LENGTH"
        return Completion(text[:copies], usage, "length" if incomplete else "stop")

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, without chat template; up to one off for each 8192 letters. Raises:
        ModelError."""
        pieces = [text[start : start + CONTEXT] for start in range(0, len(text), CONTEXT)]
        with self._lock:
            tokenizer = self.load().get_tokenizer()
            return sum(_length(tokenizer.encode(piece, add_special_tokens=False)) for piece in pieces)

    def close(self) -> None:
        """Free the memory; waiting requests raise ModelError."""
        self._cancelled.set()
        with self._lock:
            self._loaded = None

    def load(self) -> Any:
        """OpenVINO's pipeline, loaded at the first call. Raises: ModelError."""
        if self._loaded is None:
            import openvino_genai

            scheduler = openvino_genai.SchedulerConfig()
            scheduler.enable_prefix_caching = True
            scheduler.cache_size = CACHE_GB
            try:
                if not self._converted.is_dir():
                    self._convert(openvino_genai)
                self._loaded = openvino_genai.LLMPipeline(
                    str(self._converted), "CPU", scheduler_config=scheduler, prompt_lookup=True, **self._properties
                )
            except (RuntimeError, IndexError, OSError) as error:  # an IndexError of C++ for what is no model
                raise ModelError(
                    f"OpenVINO could not load {self._file}, or {self._converted} that was made of it: "
                    f"{_first_line(error)}"
                ) from error
        return self._loaded

    def _convert(self, openvino_genai: Any) -> None:
        """Write the conversion into a folder that exists as a whole or not at all."""
        partial = self._converted.with_name(f"{self._converted.name}.{os.getpid()}.part")
        make_private_folder(partial)
        try:
            link = partial / self._file.name  # it is written beside the file that it is made of
            link.symlink_to(self._file.absolute())
            openvino_genai.LLMPipeline(str(link), "CPU", enable_save_ov_model=True)
            link.unlink()
            if not self._converted.is_dir():
                self._remove_stale()
                partial.rename(self._converted)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _remove_stale(self) -> None:
        """Remove conversions by other versions of OpenVINO, and the rest of a killed one."""
        for folder in self._converted.parent.glob(f"{self._file.stem}-*"):
            if not folder.name.endswith(".part") or folder.stat().st_mtime < time.time() - _STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)

    def _write(self, pipeline: Any, prompt: Any, request: ModelRequest, length: int) -> tuple[Any, int | None]:
        """The answer's tokens, and the position from which it only repeats itself.

        A thread of its own generates it, so that Ctrl-C works. Stop sequences are searched here: with drafts, OpenVINO
        2026.4 fails on some answers that hold one (openvino.genai pull request 4302).
        """
        from openvino_genai import StreamingStatus

        cancelled, replies, failures, interruptions = self._cancelled, [], [], []
        # `is_alive` would not do: in Python 3.11 a thread whose `join` was interrupted counts as ended.
        finished = threading.Event()
        config, stop, report = settings(request), request.stop, request.on_progress or (lambda progress: None)
        report(Progress(0, length))
        written, copies = "", None

        def on_text(piece: str) -> Any:
            nonlocal written, copies
            written += piece
            try:
                report(Progress(length, length, written))
            except BaseException as error:  # OpenVINO would print it, and call the answer a whole one
                interruptions.append(error)
            copies = copies or repetition_start(written)  # it is told the rest of what was made in one go, too
            if cancelled.is_set() or interruptions:
                return StreamingStatus.CANCEL
            ended = copies is not None or any(sequence in written for sequence in stop)
            return StreamingStatus.STOP if ended else StreamingStatus.RUNNING

        def generate() -> None:
            try:
                replies.append(pipeline.generate(prompt, config, on_text))
            except Exception as error:  # told in the thread that waits
                failures.append(error)
            finally:
                finished.set()

        def cancel() -> None:
            cancelled.set()
            finished.wait(_STOP_SECONDS)

        thread = threading.Thread(target=generate, daemon=True)
        atexit.register(cancel)
        try:
            thread.start()
            finished.wait()
        finally:
            if thread.ident is not None and not finished.is_set():  # Ctrl-C, and the thread could be started
                cancelled.set()
                self._writing = finished
                stop_in_background(lambda: atexit.unregister(cancel), finished.wait)
            else:
                atexit.unregister(cancel)
        if cancelled.is_set():
            raise ModelError("the local engine was stopped while it answered")
        if interruptions:
            raise interruptions.pop()  # kept, it would hold the engine in a cycle until some fork collects it, and dies
        if failures:
            failure = failures.pop()
            raise ModelError(f"{self.name} could not answer: {_first_line(failure)}") from failure
        return replies[0], copies


def settings(request: ModelRequest) -> Any:
    """A request's limits and options, as OpenVINO's GenerationConfig."""
    import openvino_genai

    config = openvino_genai.GenerationConfig()
    config.apply_chat_template = False
    config.num_assistant_tokens, config.max_ngram_size = DRAFT_TOKENS, _NGRAM_TOKENS
    config.max_new_tokens = request.max_tokens
    config.do_sample = request.seed is not None
    if request.seed is not None:  # as llama.cpp draws
        config.temperature, config.top_k, config.top_p, config.min_p = TEMPERATURE, 40, 0.95, 0.05
        config.rng_seed = request.seed
    return config


def render(tokenizer: Any, messages: Sequence[Message]) -> str:
    """Render a conversation with the model's chat template, open at its end."""
    turns, prefill = split_prefill(messages)
    rendered: str = tokenizer.apply_chat_template(turns, add_generation_prompt=True)
    return rendered + prefill


def _length(tokens: Any) -> int:
    return int(tokens.input_ids.shape[1])


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
