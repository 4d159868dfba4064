"""Runs one program: compiled here, executed in a child process, watched from here until nothing of it is left.

The parent's side of a run is one loop that reads what the child says and hands calls to threads, so that neither a
silent child nor a silent server can keep it beyond the wall limit. The child is trusted with nothing: limits on output,
calls and time are kept here as well as there.
"""

from __future__ import annotations

import contextlib
import functools
import marshal
import random
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from protocols.errors import APIError, ProgramRefused, UsageError
from sandbox.child import channel
from sandbox.child.exit_frame import ExitFrame, Failure, parse_exit_frame
from sandbox.egress import Writes
from sandbox.egress.bind import Doubts
from sandbox.egress.broker import Broker
from sandbox.egress.decide import ledger_of
from sandbox.egress.egress_rules import BaseURL, origin
from sandbox.egress.stages import BrokerReply, LimitExceeded, charset_of
from sandbox.language.policy import compile_program
from sandbox.pool import workers
from sandbox.provenance.replay import ReplyLog, replay_run, send_reply
from sandbox.records import CallRecord, Layer, Limits, ProgramError, Resources, Run, cut

if TYPE_CHECKING:
    from protocols.calls.credentials import Credential
    from protocols.model import Protocol
    from sandbox.egress.network import Network
    from sandbox.journal.journal import Journal, JournalAttempt

__all__ = ["Sandbox"]

MIB = 1024 * 1024
QUEUE_LIMIT = 8 * MIB
"""Bytes of requests that wait or are under way, above which nothing more is read from the child."""

PARSED_FACTOR = 24
"""Bytes of memory that a byte of a call's arguments may take once parsed, at the worst."""

GRACE = 0.05
"""Seconds beyond the wall limit in which the child may still say on which line it was."""

CONFIRMATION_LIMIT = 24 * 3600.0
"""Seconds that a run may wait for somebody to confirm its writes."""

PARALLEL_CALLS = 8


class Sandbox:
    """Runs programs against one protocol, each in a process of its own. Runs may go on side by side.

    Args:
        base_url: Where the API lives in place of its documented servers; by namespace where there are several.
        allow: Origins (`https://host:port`) that programs may reach besides, under any path, without the credentials;
            with them where there is no protocol. Such a host may have a private address.
        now: The time a program is told; with it, chance follows from `seed`. None: the real time, real chance.
        tools: Names of the tools a program may call as functions; all if None.
        before_call: Given each call before it is sent, from another thread; returns the reason against it, or None.
        on_call: Told of each call when it is over, from another thread.
        on_begin: Told of each call when it begins, from another thread: its index, the tool if it was named, and the
            line of the program.
        on_output: Told of text as it comes, with the name of its stream (stdout, stderr).
        track: Whether to find out, after each run, which responses its values come from (Run.provenance).
        strict: Whether to refuse to run anything where a layer of the walls cannot be had; else that is a warning.
        journal: Makes each run an attempt at the same thing: what an earlier one was answered is replayed, and no write
            is repeated.
        writes: What becomes of writes (see sandbox.egress). A simulated world lasts for one run.
        network: The certificates of the user.
    Raises: UsageError: The document names no server, and there is no `base_url`; something in `allow` is no origin; or
        `strict`, and a layer is missing.
    """

    def __init__(
        self,
        protocol: Protocol | None,
        *,
        base_url: BaseURL = None,
        allow: Sequence[str] = (),
        credentials: Sequence[Credential] = (),
        limits: Limits | None = None,
        now: datetime | None = None,
        seed: int = 0,
        tools: Collection[str] | None = None,
        before_call: Callable[[CallRecord], str | None] | None = None,
        on_call: Callable[[CallRecord], object] | None = None,
        on_begin: Callable[[int, str | None, int | None], None] | None = None,
        on_output: Callable[[str, str], None] | None = None,
        track: bool = True,
        strict: bool = False,
        journal: Journal | None = None,
        writes: Writes = "allow",
        network: Network | None = None,
    ) -> None:
        self._journal, self._writes = journal, writes
        self.doubts = Doubts()
        self._track = track
        self._protocol = protocol
        self._limits = limits or Limits()
        self._tools = frozenset(tools) if tools is not None else None
        self._program_tools = _program_tools(protocol, self._tools)
        self._broker = functools.partial(
            Broker,
            protocol,
            base_url=base_url,
            allow=tuple(origin(text) for text in allow),
            credentials=tuple(credentials),
            tools=self._tools,
            before_call=before_call,
            on_call=on_call,
            on_begin=on_begin,
            writes=writes,
            doubts=self.doubts,
            network=network,
        )
        self._now = now.replace(tzinfo=now.tzinfo or UTC).timestamp() if now is not None else None
        self._seed = seed
        self._on_output = on_output
        self._ending = threading.Lock()
        self._interrupted = False
        self._ends: list[Callable[[], None]] = []
        if protocol is not None and (writes == "simulate" or ledger_of(writes) is not None):
            from sandbox.egress.simulated_writes import prepare_simulation

            prepare_simulation(protocol)
        self._broker()  # a protocol that can't be called is told now, not in the middle of a run
        missing = [f"{layer.name} ({layer.reason})" for layer in self.layers() if not layer.active] if strict else []
        if missing:
            raise UsageError(f"the sandbox is not whole on this machine: {', '.join(missing)}; see atc doctor")

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing outlives a run but the worker in stock, which all sandboxes share."""

    def interrupt(self) -> None:
        """End the runs and calls under way, and those to come, from another thread: as ctrl-C does in the main thread.

        A run that is interrupted has the outcome "interrupted".
        """
        with self._ending:
            self._interrupted = True
            ends = list(self._ends)
        for end in ends:
            end()

    def _end_with(self, end: Callable[[], None]) -> None:
        """Call a function at an interruption, also at one that has been."""
        with self._ending:
            self._ends.append(end)
            interrupted = self._interrupted
        if interrupted:
            end()

    def prepare(self) -> None:
        """Have a worker ready, while the program is still being written."""
        workers.warm()

    def layers(self) -> tuple[Layer, ...]:
        """The walls around a program on this machine, tried out by running an empty one, the language policy first.

        Raises: SandboxError: No child process can be started.
        """
        code = compile_program("")
        started = time.monotonic()
        broker = self._broker(limits=self._limits, deadline=started + self._limits.wall)
        execution = _Execution(self._limits, broker, self._settings(), "", None, started)
        execution.run(marshal.dumps(code))
        broker.close()
        return (Layer("policy", True, ""), Layer("process", True, ""), *(execution.layers or ()))

    def run(self, program: str, calls: int | None = None) -> Run:
        """Run a program to its end or to a limit; whatever it does is in the Run, nothing of it is raised.

        Args:
            calls: The most calls of this run, where that is less than the limits say.
        Raises: SandboxError: No child process can be started.
        """
        started = time.monotonic()
        limits = self._limits if calls is None else replace(self._limits, calls=min(calls, self._limits.calls))
        try:
            code = compile_program(program)
        except (ProgramRefused, SyntaxError) as error:
            from sandbox.failures import run_not_started

            return run_not_started(program, error, time.monotonic() - started)
        ledger = ledger_of(self._writes)
        self.doubts.begin_run(again=ledger is not None and ledger.phase == "execute")
        attempt = self._journal.attempt(program) if self._journal is not None else None
        broker = self._broker(limits=limits, deadline=started + limits.wall, journal=attempt)
        settings = self._settings()
        try:
            execution = _Execution(limits, broker, settings, program, self._on_output, started)
            self._end_with(execution.interrupt)
            try:
                run = execution.run(marshal.dumps(code))
            finally:
                self._ends.remove(execution.interrupt)
        finally:
            broker.cancel()
            broker.close()
        if self._track and run.calls and run.outcome in ("ok", "error"):
            return replace(run, provenance=replay_run(program, run, execution.reply_log, limits, settings))
        return run

    def open_broker(self, attempt: JournalAttempt | None = None) -> Broker:
        """The way out alone, for calls that no program makes; `Broker.until` says how long each may take."""
        broker = self._broker(limits=self._limits, journal=attempt)
        self._end_with(broker.cancel)
        return broker

    def _settings(self) -> dict[str, object]:
        return {
            **self._program_tools,
            "cpu": self._limits.cpu,
            "memory": self._limits.memory * MIB,
            "output": self._limits.output,
            "request": self._limits.request,
            "now": self._now,
            "seed": self._seed,
            "chance": random.getrandbits(64),
            "tracked": False,
        }


class _Execution:
    """One run, from the start of its process until the process is gone."""

    def __init__(
        self,
        limits: Limits,
        broker: Broker,
        settings: dict[str, object],
        program: str,
        on_output: Callable[[str, str], None] | None,
        started: float,
    ) -> None:
        self._limits = limits
        self._broker = broker
        self._settings = settings
        self._program = program
        self._on_output = on_output
        self._started = started
        self._deadline = started + limits.wall
        self._printed_texts = {channel.STDOUT: bytearray(), channel.STDERR: bytearray()}
        self._printed = 0
        self._warnings: list[str] = []
        self.layers: tuple[Layer, ...] | None = None
        self._end: ExitFrame | None = None
        self._limit: str | None = None
        self._limit_line: int | None = None
        self._unexpected: BaseException | None = None
        self.reply_log = ReplyLog()
        self._sending = threading.Lock()
        self._counting = threading.Lock()
        self._calls = ThreadPoolExecutor(PARALLEL_CALLS, "broker")
        self._socket: socket.socket | None = None
        self._interrupted = False
        self._frames = 0
        self._queued_bytes = 0

    def run(self, code: bytes) -> Run:
        """Start the process, watch it, clean up, and give the run."""
        interrupted = False
        worker = None
        status, use = 0, None
        try:
            worker = workers.take()
            self._socket = worker.socket
            self._converse(code, worker.socket)
            interrupted = self._interrupted
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if worker is not None and self._end is not None and not interrupted:
                workers.retire(worker)
            elif worker is not None:
                status, use = worker.stop()
            self._broker.cancel()
            self._calls.shutdown(wait=False, cancel_futures=True)
        if self._unexpected is not None:
            raise self._unexpected
        return self._result(status, use, interrupted)

    def interrupt(self) -> None:
        """End the run from another thread."""
        self._interrupted = True
        self._wake()

    def _wake(self) -> None:
        """Have the loop look at what was set; it then ends the run."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    # The conversation with the child

    def _converse(self, code: bytes, ours: socket.socket) -> None:
        # Where somebody is asked, only this side knows how long a run may take.
        deadline = self._deadline + (CONFIRMATION_LIMIT if self._broker.asks else 0.0)
        settings = {**self._settings, "deadline": deadline}
        frames = channel.Frames(max(self._limits.request, self._limits.output))
        poll = select.poll()
        poll.register(ours, select.POLLIN)
        try:
            ours.settimeout(max(self._remaining(), GRACE))  # a stopped process reads nothing
            ours.sendall(channel.encode(channel.START, settings, code))
            ours.settimeout(None)
            while self._end is None and self._limit is None and not self._interrupted:
                if (remaining := self._remaining()) <= 0:
                    self._limit = "wall"
                elif self._queued_bytes > QUEUE_LIMIT:
                    time.sleep(min(remaining, 0.002))
                elif poll.poll(remaining * 1000 + 1):
                    data = ours.recv(256 * 1024)
                    if not data:
                        return
                    for (kind, head, payload), size in frames.feed(data):
                        self._on_frame(kind, head, payload, PARSED_FACTOR * size + len(payload))
                        del payload
                        if self._remaining() <= 0:
                            break
        except (ConnectionError, BrokenPipeError):
            return
        except TimeoutError:
            self._limit = "wall"
        except channel.OversizeError:
            self._limit = "request"
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as error:
            self._warnings.append(f"the program was stopped: its process spoke out of turn ({cut(str(error), 200)})")
            self._end = ExitFrame(Failure("RuntimeError", "the program broke its process"), exit_status=1)

    def _remaining(self) -> float:
        """Seconds until nothing more is listened to; the time that somebody takes to confirm writes is added."""
        return self._deadline + self._broker.waited + GRACE - time.monotonic()

    def _on_frame(self, kind: bytes, head: dict[str, Any], payload: bytes, weight: int) -> None:
        if self._end is not None or self._limit is not None:
            return
        if kind in self._printed_texts:
            room = self._limits.output - self._printed
            self._printed_texts[kind] += payload[:room]
            self._printed += min(len(payload), room)
            if len(payload) > room:
                self._limit = "output"
            if self._on_output is not None and payload:
                self._on_output(
                    "stdout" if kind == channel.STDOUT else "stderr", payload[:room].decode("utf-8", "replace")
                )
        elif kind in (channel.CALL, channel.REQUEST):
            self._frames += 1
            if self._frames > self._limits.calls + 1:
                return  # the one before has ended the run
            send = self._call_of(kind, head, payload)
            with self._counting:
                self._queued_bytes += weight
            key = ReplyLog.key(kind, head, payload)
            self._calls.submit(
                self._perform_call, send, int(head["id"]), kind == channel.CALL, head["line"], weight, key
            )
        elif kind == channel.READY and self.layers is None:
            self.layers = _layers(head["layers"])
            self._warnings += [
                f"{layer.name} is not active: {layer.reason}" for layer in self.layers if not layer.active
            ]
        elif kind == channel.DONE:
            self._end = parse_exit_frame(head)

    # Calls, each in a thread of its own

    def _call_of(self, kind: bytes, head: dict[str, Any], payload: bytes) -> Callable[[], BrokerReply]:
        """The call of a frame. Raises: ValueError, KeyError, TypeError: The frame is not one of ours."""
        line = head["line"] if head["line"] is None else int(head["line"])
        task = [str(part) for part in head["task"]]
        if kind == channel.CALL:
            tool, (args, kwargs) = str(head["tool"]), channel.with_bytes(head, payload)
            return lambda: self._broker.fetch(tool, args, kwargs, line, task)
        timeouts = [float(part) for part in head.get("timeout", ()) if part is not None]
        auth = tuple(map(str, head["auth"])) if "auth" in head else None
        if auth is not None and len(auth) != 2:
            raise ValueError("a sign-in is a name and a password")
        return functools.partial(
            self._broker.request,
            str(head["method"]),
            str(head["url"]),
            params=_pairs(head["params"]),
            headers=_texts(head["headers"]),
            cookies=_texts(head["cookies"]),
            data=payload if head.get("raw") else _pairs(head["form"]) if "form" in head else None,
            json_body=payload if head.get("json") else None,
            auth=auth,
            timeout=max(timeouts) if timeouts else None,
            redirects=bool(head["redirects"]),
            line=line,
            task=task,
        )

    def _perform_call(
        self, send: Callable[[], BrokerReply], number: int, function: bool, line: Any, weight: int, key: str
    ) -> None:
        assert self._socket is not None  # the call came by it
        try:
            reply = send()
            head = _reply_head(reply, number, function)
            self.reply_log.add(key, head, reply.body)
            with self._sending, contextlib.suppress(OSError):  # the child may be gone; the record stays
                send_reply(self._socket, head, reply.body)
            return
        except LimitExceeded as error:
            self._limit_line = line
            self._limit = error.limit
        except BaseException as error:
            self._on_error(error, line)
        finally:
            with self._counting:
                self._queued_bytes -= weight
        self._wake()

    def _on_error(self, error: BaseException, line: int | None) -> None:
        """Handle an exception that no call should raise.

        One of a hook, of a journal that can't be written, or of a token server is raised by `run`; any other is a
        mistake of ours, which ends this run alone.
        """
        if isinstance(error, UsageError | APIError):
            self._broker.give_up(error)
            self._unexpected = error
            return
        if error is not self._broker.on_call_error:
            self._broker.give_up(error)
            message = f"a call could not be made ({type(error).__name__}: {cut(str(error), 200)})"
            failure = Failure("RuntimeError", message, () if line is None else (line,))
            self._end = ExitFrame(failure, exit_status=1)
        self._unexpected = self._broker.on_call_error

    # The result

    def _result(self, status: int, use: workers.ResourceUse | None, interrupted: bool) -> Run:
        end = self._end or ExitFrame()
        stdout, stderr = (text.decode("utf-8", "replace") for text in self._printed_texts.values())
        limit = self._limit or end.limit or (None if self._end is not None else self._limit_of(status, use))
        failure: Failure | None = None
        outcome: Literal["ok", "error", "limit", "interrupted"] = "ok"
        exit_status = 0
        if interrupted:
            outcome = "interrupted"
        elif limit is not None:
            from sandbox.failures import limit_text

            outcome = "limit"
            line = self._limit_line
            trace = end.trace or ((line,) if line is not None else ())
            failure = Failure("LimitReached", limit_text(limit, self._limits, self._broker.calls), trace)
        elif self._end is None:
            outcome, exit_status = "error", 1
            signalled = signal.Signals(-status).name if status < 0 else f"exit status {status}"
            text = f"the program's process ended by itself ({signalled})"
            failure = Failure("RuntimeError", text)
        elif end.failure is not None:
            outcome, exit_status = "error", end.exit_status
            failure = end.failure
        fault: ProgramError | None = None
        if failure is not None:
            from sandbox.failures import program_error

            fault = program_error(
                failure, self._program, self._broker.calls, self._settings["tools"], self._broker.protocol
            )
        resources = Resources(
            wall=round(time.monotonic() - self._started, 4),
            cpu=end.cpu or (round(use.cpu, 4) if use else 0.0),
            memory=end.memory or (round(use.memory / 1024, 1) if use else 0.0),
            output=self._printed,
        )
        warnings = tuple(dict.fromkeys((*self._warnings, *self._broker.warnings, *end.notes)))
        return Run(outcome, stdout, stderr, fault, self._broker.calls, resources, limit, exit_status, warnings)

    def _limit_of(self, status: int, use: workers.ResourceUse | None) -> str | None:
        """The limit that a process hit without reporting it."""
        killed = status == -signal.SIGKILL and use is not None and use.cpu >= self._limits.cpu
        if status == -signal.SIGXCPU or killed:
            return "cpu"
        if status == -signal.SIGALRM or time.monotonic() >= self._deadline + self._broker.waited:
            return "wall"
        return None


def _program_tools(protocol: Protocol | None, selected: Collection[str] | None) -> dict[str, object]:
    """The functions of a program with the tool that each calls, and its value classes with their fields."""
    if protocol is None:
        return {"tools": {}, "values": {}}
    made = {tool.name: tool.function.made for tool in protocol.tools if tool.function and tool.function.made}
    everything = {tool.name: tool.name for tool in protocol.tools if tool.name not in made} | dict(protocol.aliases)
    offered = {name: tool for name, tool in everything.items() if selected is None or tool in selected}
    return {
        "tools": offered | {name: name for name in protocol.left_out_names},  # the broker says why it refuses these
        "values": {name: (kind.is_tuple, kind.description()) for name, kind in made.items()},
    }


def _layers(reported: Any) -> tuple[Layer, ...]:
    """The layers as the child reports them. Raises: ValueError, TypeError: It does not."""
    return tuple(Layer(cut(str(name), 50), bool(active), cut(str(why), 300)) for name, active, why in reported[:20])


def _pairs(items: Any) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in items]


def _texts(items: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in dict(items).items()}


def _reply_head(reply: BrokerReply, number: int, function: bool) -> dict[str, object]:
    """A reply as the child needs it, for a tool's result or for a Response."""
    head: dict[str, object] = {"id": number, "index": reply.record.index, "status": reply.record.status}
    if function:
        head |= {"form": reply.form, "charset": charset_of(reply.headers), "headers": reply.result_headers}
        if reply.raised:
            return {**head, "error": reply.raised[0], "raised": reply.raised[1:]}
        if reply.problem is not None:
            head["error"] = reply.problem
        return head
    if reply.failure is not None:
        return {**head, "error": reply.failure, "message": reply.record.error or "", "url": reply.url}
    head |= {name: getattr(reply, name) for name in ("reason", "url", "encoding", "hops")}
    head |= {name: dict(getattr(reply, name)) for name in ("headers", "cookies", "sent")}
    return {**head, "seconds": reply.record.ms / 1000}
