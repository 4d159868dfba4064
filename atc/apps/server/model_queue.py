"""The queue before a model on this machine: one answer at a time, over all processes of a server.

Such a model uses all cores for one answer, and two answers at once would only take each other's cores. An endpoint is
asked by all solves at once: it has a queue of its own.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

from atc.models import Completion, Model
from atc.models.base import ModelBase, ModelRequest, answer

__all__ = ["LOCAL_ENGINES", "queued"]

LOCAL_ENGINES = ("local:", "openvino:", "hf:")


def queued(model: Model, folder: Path) -> Model:
    """The model, behind a queue if it computes on this machine; `folder` has the queue's lock."""
    return _QueuedModel(model, folder / "model.lock") if model.name.startswith(LOCAL_ENGINES) else model


class _QueuedModel(ModelBase):
    """Waits, without using a core, until no other solve of any process is answered."""

    def __init__(self, model: Model, lock: Path) -> None:
        self.name = model.name
        self._model = model
        self._file = lock
        self._turn = threading.Lock()

    def answer(self, request: ModelRequest) -> Completion:
        """As `ModelBase.answer`."""
        with self._turn:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                return answer(self._model, request)
            finally:
                os.close(descriptor)

    def close(self) -> None:
        """Close the model."""
        self._model.close()
