"""Runs a program once more on its recorded replies, rewritten so that it reports where its values come from.

Nothing is sent: each call is answered as it was the first time. The first run paid nothing for it, and this one ends
after a number of steps.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import marshal
import select
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from protocols.errors import ProgramRefused, SandboxError
from sandbox.body_store import LargeBody, parts
from sandbox.child import channel
from sandbox.child.exit_frame import ExitFrame, parse_exit_frame
from sandbox.language.policy import compile_program
from sandbox.pool import workers
from sandbox.provenance.instrument import instrument
from sandbox.records import Limits, Provenance, Run, Source

__all__ = ["ReplyLog", "replay_run", "send_reply"]

LONGEST = 10.0
"""Seconds after which a second run is given up; its limit on steps (sandbox.child.origins) ends it long before."""

PATIENCE = 0.01
"""Seconds to wait for the call that was answered next, when others wait for theirs."""

_HOW = ("decided", "made", "exact")


class _RecordedReply(NamedTuple):
    """A reply to a call, and the number of replies before it."""

    key: str
    rank: int
    head: dict[str, object]
    body: bytes | LargeBody


class ReplyLog:
    """The replies to the calls of a run, as the child got them; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._replies: list[_RecordedReply] = []

    @staticmethod
    def key(kind: bytes, head: Mapping[str, object], payload: bytes) -> str:
        """A digest that is equal for calls with equal content."""
        request = {name: value for name, value in head.items() if name not in ("id", "line")}
        try:
            text = json.dumps(request, sort_keys=True, default=str).encode()
        except RecursionError:  # as deep as no service takes it
            text = b"deep"
        return hashlib.sha256(kind + text + b"\0" + payload).hexdigest()

    def add(self, key: str, head: dict[str, object], body: bytes | LargeBody) -> None:
        with self._lock:
            self._replies.append(_RecordedReply(key, len(self._replies), head, body))

    def in_order(self) -> dict[str, deque[_RecordedReply]]:
        """The replies to equal calls, in the order in which these were made."""
        by_key: dict[str, deque[_RecordedReply]] = defaultdict(deque)
        with self._lock:
            for reply in sorted(self._replies, key=lambda reply: int(str(reply.head["index"]))):
                by_key[reply.key].append(reply)
        return by_key


def send_reply(to: socket.socket, head: dict[str, object], body: bytes | LargeBody) -> None:
    """Send the child the reply to a call. Raises: OSError: It is gone, or does not read in the socket's time."""
    size = body.size if isinstance(body, LargeBody) else len(body)
    to.sendall(channel.prefix(channel.REPLY, head, size))
    for part in parts(body):
        to.sendall(part)


def replay_run(
    program: str, run: Run, reply_log: ReplyLog, limits: Limits, settings: Mapping[str, Any]
) -> Provenance | None:
    """Run a program again and find where its values come from.

    Returns: None where that was not found in time, or the second run went another way than the first.
    """
    try:
        code = marshal.dumps(compile_program(program, instrument))
    except (ProgramRefused, SyntaxError):  # grown too deep by the rewriting
        return None
    deadline = time.monotonic() + LONGEST
    tracked_settings = {**settings, "tracked": True, "deadline": deadline, "cpu": LONGEST}
    try:
        worker = workers.take()
    except SandboxError:
        return None
    try:
        end = _converse(
            worker.socket, channel.encode(channel.START, tracked_settings, code), reply_log, limits, deadline
        )
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        end = None
    finally:
        workers.retire(worker)
    if end is None or not isinstance(end.provenance, Mapping) or not _same_end(run, end):
        return None
    report = end.provenance
    try:
        return Provenance(
            fault=_sources(report["fault"]),
            arguments={
                int(call): {str(name): _sources(sources) for name, sources in named.items()}
                for call, named in report["arguments"].items()
            },
            printed=_sources(report["printed"]),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError):
        return None


def _converse(
    ours: socket.socket, start: bytes, reply_log: ReplyLog, limits: Limits, deadline: float
) -> ExitFrame | None:
    """Answer the calls of the second run; gives its exit frame."""
    replies = reply_log.in_order()
    held: dict[int, tuple[object, _RecordedReply]] = {}
    due = 0
    frames = channel.Frames(max(limits.request, limits.output))
    poll = select.poll()
    poll.register(ours, select.POLLIN)
    ours.settimeout(LONGEST)
    ours.sendall(start)
    while (remaining := deadline - time.monotonic()) > 0:
        while due in held or (held and not poll.poll(PATIENCE * 1000)):  # as they came, while all are asked for
            due = min(held)
            number, reply = held.pop(due)
            ours.settimeout(max(deadline - time.monotonic(), PATIENCE))  # a child may have stopped reading
            with contextlib.suppress(OSError):  # the child may be gone; what it said before that is still to be read
                send_reply(ours, {**reply.head, "id": number}, reply.body)
            due += 1
        if not poll.poll(remaining * 1000 + 1):
            return None
        data = ours.recv(256 * 1024)
        if not data:
            return None
        for (kind, head, payload), _ in frames.feed(data):
            if kind == channel.DONE:
                return parse_exit_frame(head)
            if kind in (channel.CALL, channel.REQUEST):
                waiting = replies.get(ReplyLog.key(kind, head, payload))
                if not waiting:
                    return None
                reply = waiting.popleft()
                held[reply.rank] = (head["id"], reply)
    return None


def _same_end(run: Run, end: ExitFrame) -> bool:
    error = end.failure
    if run.error is None:
        return error is None and end.limit is None
    # The first one's message may go on with what was meant instead.
    return error is not None and error.type == run.error.type and run.error.message.startswith(error.message)


def _sources(reported: Sequence[Any]) -> tuple[Source, ...]:
    return tuple(
        Source(int(call), tuple(step if isinstance(step, (int, str)) else str(step) for step in path), _HOW[how])  # type: ignore[arg-type]
        for call, path, how in reported
    )
