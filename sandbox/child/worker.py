"""The child process: takes one compiled program, isolates itself, runs it, reports how it ended, and is gone.

It is forked from the fork server with nothing but one socket. `main` puts up the walls that are the same for every
program and waits; `serve` runs one program. So a process can be kept in stock between the two."""

from __future__ import annotations

import builtins
import functools
import io
import marshal
import os
import random
import resource
import signal
import sys
import time
from _thread import allocate_lock, get_ident
from collections import abc, deque
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import NamedTuple

from sandbox.body_forms import read_body
from sandbox.child import channel
from sandbox.child.isolation import Report, Walls, confine, isolate
from sandbox.child.tracker import Tracker
from sandbox.child.values import CLASS, Value, revived, value_class
from sandbox.language import guards
from sandbox.language.names import TRACKER
from sandbox.language.shims import clock, modules, tasks
from sandbox.language.shims.http_values import CaseInsensitiveDict, with_headers
from sandbox.language.shims.tasks import bind_to_call, call_index
from sandbox.system import LINUX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, NoReturn

__all__ = ["main", "serve"]

FILENAME = "<program>"
_MAIN_THREAD = get_ident()
_LOOK = 0.02
"""CPU seconds between two looks at the memory: some 20 MB of small objects."""
TRACE_LIMIT = 50
"""Lines of a traceback that are reported, counted from the failure outwards."""

MESSAGE_LIMIT = 100_000
"""Characters of an exception's text that are reported."""


class ToolError(Exception):
    """A call of a tool went wrong: a 4xx or 5xx, no reply, or wrong arguments.

    `tool` is the name of the tool, `status` the HTTP status or None, `body` the parsed reply, `headers` those that the
    document has for it.
    """

    def __init__(
        self,
        message: str = "",
        tool: str | None = None,
        status: int | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.tool = tool
        self.status = self.status_code = status
        self.body = body
        self.headers = CaseInsensitiveDict(headers or {})


ToolError.__module__ = "builtins"


class ParentChannel:
    """The program's side of the channel: the only way out of this process."""

    def __init__(self, descriptor: int, output_limit: int, request_limit: int, status: int) -> None:
        self._descriptor = descriptor
        self._sending = allocate_lock()
        self._receiving = allocate_lock()
        self._replies: dict[object, tuple[dict[str, Any], bytes]] = {}
        self._calls = 0
        self._room = output_limit
        self._most = request_limit
        self.pending: dict[bytes, list[str]] = {channel.STDOUT: [], channel.STDERR: []}
        self._status = status  # /proc/self/status, open
        self.notes: list[str] = []
        self._begun = time.process_time()

    def send(self, kind: bytes, head: dict[str, Any], payload: bytes = b"") -> None:
        data = channel.encode(kind, head, payload)
        with self._sending:
            channel.send(self._descriptor, data)

    def write(self, kind: bytes, text: str) -> None:
        """Send what the program prints; ends the run when that is more than it may print."""
        data = text.encode()
        self._room -= len(data)
        if self._room < 0:
            self.send(kind, {}, data[: self._room])
            self.leave({"limit": "output", **_program_trace(sys._getframe())})
        self.send(kind, {}, data)

    def exchange(self, kind: bytes, head: dict[str, Any], payload: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """Ask the parent for a call and wait for its reply; calls of several threads go side by side."""
        sys.stdout.flush()
        sys.stderr.flush()
        with self._sending:
            self._calls += 1
            number = self._calls
        head = {**head, "id": number, "line": _calling_line(), "task": tasks.current()}
        start = channel.prefix(kind, head, len(payload))
        if len(payload) > self._most or len(start) > channel.HEAD_LIMIT:
            self.leave({"limit": "request", **_program_trace(sys._getframe())})
        with self._sending:
            channel.send(self._descriptor, start)
            channel.send(self._descriptor, payload)
        while True:
            with self._receiving:
                if number in self._replies:
                    return self._replies.pop(number)
                try:
                    _, reply, body = channel.receive(self._descriptor)
                    self._replies[reply["id"]] = reply, body
                except MemoryError:  # in the middle of a frame: nobody could read the next one
                    self.leave({"limit": "memory", **_program_trace(sys._getframe())})

    def leave(self, head: dict[str, Any]) -> NoReturn:
        """Report the end of the program, after what it printed and did not flush, and end this process."""
        try:
            self._report(head)
        except BaseException:  # no memory is left to say anything
            os._exit(1)
        os._exit(0)

    def _report(self, head: dict[str, Any]) -> None:
        head["memory"] = self._peak_memory()
        head["notes"] = self.notes[:10]
        head["cpu"] = round(time.process_time() - self._begun, 4)
        frames = []
        for kind, texts in self.pending.items():
            data = "".join(texts).encode(errors="replace")[: max(self._room, 0)]
            self._room -= len(data)
            if data:
                frames.append(channel.encode(kind, {}, data))
        frames.append(channel.encode(channel.DONE, head))
        if self._sending.acquire(timeout=1):  # a signal may have come in the middle of a frame; then say nothing
            for frame in frames:
                channel.send(self._descriptor, frame)

    def _peak_memory(self) -> float:
        """In MiB; what the kernel tells a parent counts the parent's own memory from before the start."""
        if self._status < 0:
            return 0.0
        for line in os.pread(self._status, 4096, 0).splitlines():
            if line.startswith(b"VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
        return 0.0


def _always(value: object) -> Callable[..., object]:
    return lambda self, *args, **options: value


class Stream:
    """`sys.stdout` or `sys.stderr`: whole lines leave at once, the rest when the program flushes or ends."""

    encoding = "utf-8"
    errors = "strict"
    closed = False
    isatty = readable = _always(False)  # never a terminal
    writable = _always(True)
    close = reconfigure = _always(None)  # it stays open, in UTF-8 and line-buffered

    def __init__(self, name: str, write: Callable[[str], None], pending: list[str]) -> None:
        self.name = f"<{name}>"

        def flush() -> None:
            text = "".join(pending)
            pending.clear()
            if text:
                write(text)

        def put(text: str) -> int:
            if not isinstance(text, str):
                raise TypeError(f"write() argument must be str, not {type(text).__name__}")
            pending.append(text)
            if "\n" in text or len(text) > 4096:
                flush()
            return len(text)

        self.flush = flush
        self.write = put

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each line."""
        for line in lines:
            self.write(line)


class Empty:
    """`sys.stdin`: nobody is there."""

    read = readline = _always("")
    isatty = _always(False)

    def __iter__(self) -> Iterable[str]:
        return iter(())


def main(descriptor: int, walls: Walls) -> NoReturn:
    """Put up the walls, then wait for one program on the descriptor and serve it. Never returns."""
    try:
        status = os.open("/proc/self/status", os.O_RDONLY)  # the walls would be in the way of it
    except OSError:
        status = -1
    time.tzset()
    layers = isolate(walls)
    # What a program will need is touched here, or copying it from the fork server's memory would cost the program time.
    guards.program_builtins(modules.ModuleShims({}, None).importer, {}, {})
    try:
        kind, head, code = channel.receive(descriptor)
        if kind == channel.START:
            settings = _StartSettings(**head)  # type: ignore[arg-type]
            serve(ParentChannel(descriptor, settings.output, settings.request, status), settings, code, layers)
    except EOFError:
        pass
    os._exit(0)


def serve(parent: ParentChannel, settings: _StartSettings, code: bytes, layers: Report) -> None:
    """Run one program. Never returns: the process ends with it. `layers` are the walls that are up already."""
    sys.stdout = Stream("stdout", lambda text: parent.write(channel.STDOUT, text), parent.pending[channel.STDOUT])
    sys.stderr = Stream("stderr", lambda text: parent.write(channel.STDERR, text), parent.pending[channel.STDERR])
    sys.stdin = Empty()
    random.seed(settings.chance)  # or all that were forked from one process would draw the same
    if settings.tracked:
        time.sleep = lambda seconds: None  # the replies are there already
        sys.setrecursionlimit(4 * sys.getrecursionlimit())  # a call of the program takes several of the tracker's
    fixed_clock = clock.Clock(settings.now, settings.seed) if settings.now is not None else None
    shims = modules.ModuleShims(_requests_sources(parent), fixed_clock)
    namespace: dict[str, Any] = {"__name__": "__main__", "__doc__": None}
    guards.forget()
    tracker = Tracker(lambda: parent.leave({"limit": "cpu"})) if settings.tracked else None
    values = {name: value_class(name, *described) for name, described in settings.values.items()}
    functions = {name: _tool(tool, parent, tracker, values) for name, tool in settings.tools.items()}
    ours: dict[str, object] = {**_by_namespace(functions), **values, "ToolError": ToolError}
    if tracker is not None:
        ours[TRACKER] = tracker
    namespace["__builtins__"] = guards.program_builtins(shims.importer, namespace, ours)
    _watch_time(parent, settings.deadline)
    if not LINUX:
        _watch_memory(parent, settings.memory)
    parent.send(channel.READY, {"layers": [*layers, *confine(settings.cpu, settings.memory)]})
    parent.leave(_run(marshal.loads(code), namespace, tracker))


class _StartSettings(NamedTuple):
    """The head of the START frame; the parent wrote it.

    `tools` are the functions that the program may call, and the tool that each one calls; `values` its value classes
    with their fields. `deadline` goes by the
    monotonic clock, `cpu` is in seconds, `memory`, `output` and `request` in bytes, `now` in seconds since 1970 or
    None. `chance` seeds what is left to chance, so that a tracked run repeats it.
    """

    tools: dict[str, str]
    values: dict[str, tuple[bool, list[list[Any]]]]
    deadline: float
    cpu: float
    memory: int
    output: int
    request: int
    now: float | None
    seed: int
    chance: int
    tracked: bool


def _run(code: CodeType, namespace: dict[str, Any], tracker: Tracker | None) -> dict[str, Any]:
    """Execute the program; gives the head of the DONE frame."""
    head, raised = _execute(code, namespace)
    return head if tracker is None else {**head, "provenance": tracker.report(raised)}


def _execute(code: CodeType, namespace: dict[str, Any]) -> tuple[dict[str, Any], BaseException | None]:
    try:
        try:
            exec(code, namespace)
        finally:
            if "threading" in sys.modules:
                sys.modules["threading"]._shutdown()
            sys.stdout.flush()
            sys.stderr.flush()
    except SystemExit as error:
        return _exit_head(error), error
    except MemoryError as error:
        return {"limit": "memory", **_failure_head(error)}, None
    except BaseException as error:
        return {"error": _failure_head(error)}, error
    return {}, None


def _exit_head(error: SystemExit) -> dict[str, Any]:
    """sys.exit: nothing or 0 is a good end; a text goes to stderr, as Python does it."""
    status = error.code
    if status is None:
        return {}
    if isinstance(status, int):
        number = int.__and__(status, -1)  # whatever a class of the program's own says that it is
        return {"error": _failure_head(error), "exit_status": number & 0xFF or 1} if number else {}
    print(_text_of(status, MESSAGE_LIMIT), file=sys.stderr)
    sys.stderr.flush()
    return {"error": _failure_head(error), "exit_status": 1}


def _failure_head(error: BaseException) -> dict[str, Any]:
    """The report of an exception: class name, text, the program's lines outermost first, the call behind it."""
    head: dict[str, Any] = {
        "type": _text_of(type(error).__name__, 200),
        "message": _text_of(error, MESSAGE_LIMIT),
        "trace": _lines(error.__traceback__),
    }
    if isinstance(error, SyntaxError) and not head["trace"]:
        line = vars(SyntaxError)["lineno"].__get__(error)  # not what a class of the program's own makes of it
        head["trace"] = [line] if type(line) is int else []
    if isinstance(error, NameError):
        name = vars(NameError)["name"].__get__(error)
        if name is not None:
            head["name"] = _text_of(name, 100)
    if isinstance(error, AttributeError):
        holder, name = (vars(AttributeError)[slot].__get__(error) for slot in ("obj", "name"))
        if type(holder) is _Namespace and name is not None:
            head["name"] = _text_of(f"{holder.__name__}.{name}", 100)
            head["message"] = f"{holder.__name__} has no function {head['name'].rpartition('.')[2]!r}"
    cause: BaseException | None = error
    for _ in range(100):  # causes may go round in a circle
        call = call_index(cause) if cause is not None else None
        if type(call) is int:
            head["call"] = call
        if cause is None or call is not None:
            break
        cause = cause.__cause__
    return head


def _text_of(value: object, most: int) -> str:
    """The beginning of what an object is as text; a text of the program's own may say anything of itself."""
    try:
        text = str(value)
    except Exception as failed:
        text = f"<no message: str() raised {str.__getitem__(type(failed).__name__, slice(200))}>"
    return str.__getitem__(str.__str__(text), slice(most))


def _lines(trace: TracebackType | None) -> list[int]:
    lines = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-TRACE_LIMIT:]


def _calling_line() -> int | None:
    """The program line behind a call; for a tool that a pool calls by itself, the line that waits for the pool."""
    frames = (sys._getframe(), sys._current_frames().get(_MAIN_THREAD))
    lines = [line for frame in frames for line in _program_trace(frame)["trace"][-1:]]
    return lines[0] if lines else None


def _program_trace(frame: FrameType | None) -> dict[str, Any]:
    lines = []
    while frame is not None:
        if frame.f_code.co_filename == FILENAME:
            lines.append(frame.f_lineno)
        frame = frame.f_back
    return {"trace": lines[:TRACE_LIMIT][::-1]}


def _watch_time(parent: ParentChannel, deadline: float) -> None:
    """Stop at a time limit from within, which tells the line; the parent stops a process that doesn't."""

    def stop(limit: str) -> Callable[[int, FrameType | None], None]:
        return lambda _, frame: parent.leave({"limit": limit, **_program_trace(frame)})

    signal.signal(signal.SIGXCPU, stop("cpu"))
    signal.signal(signal.SIGALRM, stop("wall"))
    signal.setitimer(signal.ITIMER_REAL, max(deadline - time.monotonic(), 0.001))


def _watch_memory(parent: ParentChannel, most: int) -> None:
    """Stop at a limit of bytes that the kernel does not know: looked at as the program computes, so it may be late."""

    def look(_: int, frame: FrameType | None) -> None:
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > most:  # bytes, on macOS
            parent.leave({"limit": "memory", **_program_trace(frame)})

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, _LOOK, _LOOK)


# Functions for the program


class _Namespace(ModuleType):
    """An object whose methods are tools; like a module, it cannot be changed."""


def _by_namespace(functions: dict[str, Callable[..., object]]) -> dict[str, object]:
    """Functions by name; those of an object, `api.search`, are members of a namespace `api`."""
    ours: dict[str, object] = {}
    for name, function in functions.items():
        holder, _, member = name.rpartition(".")
        if holder:
            vars(ours.setdefault(holder, _Namespace(holder)))[member] = function
        else:
            ours[name] = function
    return ours


def _raised(names: list[str]) -> type[ToolError]:
    """The class of an exception of a function: of its name, a ToolError and the builtin exception that it is."""
    members = {"__module__": "builtins", "__str__": Exception.__str__}
    for base in (getattr(builtins, name, None) for name in names[1:]):
        if isinstance(base, type) and issubclass(base, Exception) and base is not Exception:
            try:
                kind = type(names[0], (ToolError, base), members)
                kind("")
                return kind
            except TypeError:  # it wants other arguments
                continue
    return type(names[0], (ToolError,), members)


def _tool(
    name: str, parent: ParentChannel, tracker: Tracker | None, values: dict[str, type[Value]]
) -> Callable[..., object]:
    def tool(*args: object, **kwargs: object) -> object:
        found: list[tuple[list[object], bytes]] = []
        given = channel.without_bytes([_as_json(args), _as_json(kwargs)], [], found)
        head: dict[str, Any] = {"tool": name, **dict(zip(("args", "kwargs"), given, strict=True))}  # type: ignore[call-overload]
        head["bytes"] = [(place, len(data)) for place, data in found]
        reply, body = parent.exchange(channel.CALL, head, b"".join(data for _, data in found))
        if tracker is not None:
            tracker.called(reply["index"], args, kwargs)
        value, problem, note = read_body(reply.get("form", "none"), body, reply.get("charset"))
        if note is not None:
            parent.notes.append(f"{name}: {note}")
        problem = reply.get("error") or (f"{name}: {problem}" if problem is not None else None)
        if values and b'"__class__"' in body:
            value = revived(value, values)
        headers = reply.get("headers")
        if problem is not None:
            kind = _raised(reply["raised"]) if "raised" in reply else ToolError
            error = kind(str(problem), name, reply["status"], value, headers)
            bind_to_call(error, reply["index"])
            raise error
        if headers is not None:
            value = with_headers(value, headers)
        if tracker is not None:
            tracker.received(reply["index"], value)
        return value

    tool.__name__ = tool.__qualname__ = name
    tool.__module__ = "tools"
    return tool


def _as_json(value: object) -> object:
    """An argument as JSON, but for the bytes in it. Raises: TypeError: It holds something else."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Value):
        own = vars(value)
        return {CLASS: type(value).__name__, **{field: _as_json(own[field]) for field in own["_given"]}}
    if isinstance(value, abc.Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, range, deque, abc.KeysView, abc.ValuesView, abc.ItemsView)):
        return [_as_json(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_as_json(item) for item in value), key=str)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, (io.BytesIO, io.StringIO)):
        return value.getvalue()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "__iter__") and hasattr(value, "__next__"):
        return [_as_json(item) for item in value]
    enumerated = getattr(value, "value", None)
    if isinstance(enumerated, (str, int, float)):
        return enumerated
    if type(value).__name__ in ("UUID", "Decimal", "Fraction"):
        return str(value)
    raise TypeError(f"an argument of type {type(value).__name__} can't be sent; pass text, numbers, lists or dicts")


def _requests_sources(parent: ParentChannel) -> dict[str, Callable[[], dict[str, Any]]]:
    """The `requests` family, built when the program imports one of them."""
    built: dict[str, dict[str, Any]] = {}

    def source(name: str) -> dict[str, Any]:
        if not built:
            from sandbox.language.shims import http

            built.update(http.requests_modules(lambda head, body: parent.exchange(channel.REQUEST, head, body)))
        return built[name]

    names = ("requests", "requests.adapters", "requests.auth", "requests.exceptions", "requests.utils")
    return {name: functools.partial(source, name) for name in names}
