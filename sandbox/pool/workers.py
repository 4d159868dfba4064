"""Gives out workers: processes that wait behind their walls for one program each.

They are forked from the fork server (see fork_server.py), the one process that an interpreter is started for. It runs
without site packages and without the current folder on its path (`-S -s -P`). Its environment holds one variable, the
fixed hash seed, which `-I` would ignore. The package `sandbox` is set up there by hand, so that importing the worker
loads only what the worker itself imports. A few workers are in stock, so that a run finds one ready.

The filter of system calls (seccomp) is made here, in the parent, through the system's libseccomp; a worker gets it as
bytes and needs no library to put it on. Its list holds what Python needs to compute, to start threads, to read its
library and to talk on the descriptors that it has. Whatever else is asked for fails with EPERM: another process,
another program, a socket, a trace of someone else.
"""

# ruff: noqa: SIM905 - word lists read better than quoted ones

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import functools
import json
import os
import queue
import select
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import termios
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from protocols.errors import SandboxError

__all__ = ["ResourceUse", "Worker", "readable_folders", "retire", "system_call_filter", "take", "warm"]

_BOOT = """
import sys, types
package = types.ModuleType("sandbox")
package.__path__ = [sys.argv[1]]
sys.modules["sandbox"] = package
from sandbox.pool.fork_server import main
main(int(sys.argv[2]))
"""


class ResourceUse(NamedTuple):
    """The resources that a worker used: CPU seconds, and its largest memory in KiB."""

    cpu: float
    memory: int


class _ForkServer:
    """The host's side of a fork server."""

    def __init__(self) -> None:
        here = str(Path(__file__).resolve().parent.parent)
        interpreter = getattr(sys, "_base_executable", None) or sys.executable
        self._lock = threading.Lock()
        self.host = os.getpid()
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [interpreter, "-S", "-s", "-P", "-c", _BOOT, here, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PYTHONHASHSEED": "0"},
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def fork(self) -> Worker:
        """A new worker. Raises: OSError: The fork server is gone."""
        ours, theirs = socket.socketpair()
        rules, why_none = system_call_filter()
        walls: dict[str, object] = {
            "temporary": tempfile.gettempdir(),
            "readable": readable_folders(),
            "filter": rules.hex(),
            "why_none": why_none,
        }
        with theirs:
            try:
                (pid,) = self._ask(walls, theirs.fileno())
            except BaseException:
                ours.close()
                raise
        return Worker(int(pid), ours, self)

    def reap(self, pid: int) -> tuple[int, ResourceUse]:
        """Wait for the end of a worker: its wait status, and what it used. Raises: OSError: The fork server is gone."""
        status, user, system, memory = self._ask({"reap": pid})
        return int(status), ResourceUse(user + system, int(memory))

    def _ask(self, request: dict[str, object], *descriptors: int) -> list[float]:
        with self._lock:
            socket.send_fds(self._control, [json.dumps(request).encode()], list(descriptors))
            data = b""
            while not data.endswith(b"\n"):
                part = self._control.recv(4096)
                if not part:
                    raise OSError("the process that starts programs is gone")
                data += part
        answer: list[float] = json.loads(data)
        return answer

    @property
    def alive(self) -> bool:
        """True if it still runs and belongs to this process, not to the one that this was forked from."""
        return self.host == os.getpid() and self._process.poll() is None

    def stop(self) -> None:
        """End it; the workers in stock end by themselves when their sockets do."""
        self._control.close()
        if self.host == os.getpid():
            self._process.kill()
            self._process.wait()


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that waits for its program, and our end of its socket."""

    pid: int
    socket: socket.socket
    fork_server: _ForkServer

    @property
    def gone(self) -> bool:
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return bool(poll.poll(0))

    def stop(self, *, wait: bool = False) -> tuple[int, ResourceUse | None]:
        """End the whole process group; gives exit status (negative: signal) and what it used.

        A worker that has said how its program ended is leaving by itself: `wait` gives it a moment.
        """
        deadline = time.monotonic() + 0.2
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        with contextlib.suppress(OSError):
            while wait and (remaining := deadline - time.monotonic()) > 0:
                if poll.poll(remaining * 1000) and not self.socket.recv(65536):
                    break
        self.socket.close()
        for end in (os.killpg, os.kill):  # it may not have become the leader of its group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                end(self.pid, signal.SIGKILL)
        try:
            status, use = self.fork_server.reap(self.pid)
        except OSError:
            return -signal.SIGKILL, None
        return os.waitstatus_to_exitcode(status), use


_STOCK = 2
_lock = threading.Lock()
_fork_servers: list[_ForkServer] = []
_stock: list[Worker] = []
_chores: queue.SimpleQueue[Worker | None] = queue.SimpleQueue()
_helper: list[threading.Thread] = []


def take() -> Worker:
    """A worker that is ready, or a new one. Raises: SandboxError: No process can be started."""
    with contextlib.suppress(OSError):  # the process that starts workers has ended just now: another one may do
        return _taken()
    try:
        return _taken()
    except OSError as error:
        text = f"the sandbox cannot start a process for the program: {error}; see `atc doctor`, or try again"
        raise SandboxError(text) from None


def _taken() -> Worker:
    with _lock:
        fork_server = _running_server()
        while _stock:
            worker = _stock.pop(0)
            if not worker.gone:
                return worker
            worker.stop()
        return fork_server.fork()


def warm() -> None:
    """Have workers ready for the next runs. What goes wrong here is told by those runs."""
    with contextlib.suppress(OSError):
        for _ in range(_STOCK):
            with _lock:
                fork_server = _running_server()
                if len(_stock) < _STOCK:
                    _stock.append(fork_server.fork())


def retire(worker: Worker) -> None:
    """Stop a worker whose program has ended, and fill up the stock, both in the background."""
    _chores.put(worker)
    with _lock:
        if not _helper or not _helper[0].is_alive():
            _helper[:] = [threading.Thread(target=_do_chores, name="sandbox stock", daemon=True)]
            _helper[0].start()


def _do_chores() -> None:
    while (worker := _chores.get()) is not None:
        worker.stop(wait=True)
        warm()


def _running_server() -> _ForkServer:
    """The fork server of this process, started if there is none."""
    if not _fork_servers or not _fork_servers[0].alive:
        _stop_all()
        _fork_servers.append(_ForkServer())
    return _fork_servers[0]


def _stop_all() -> None:
    while _stock:
        _stock.pop().socket.close()
    while _fork_servers:
        _fork_servers.pop().stop()


@atexit.register
def _end() -> None:
    """No worker outlives this process, whatever it claims to have ended."""
    _chores.put(None)
    for helper in _helper:
        helper.join(timeout=2)
    _stop_all()


@functools.cache
def readable_folders() -> tuple[str, ...]:
    """The folders that a child may read behind its walls: Python's own library, our worker, time zones."""
    paths = sysconfig.get_paths()
    folders = [paths["stdlib"], paths["platstdlib"], str(Path(__file__).resolve().parent.parent)]
    folders += ["/usr/share/zoneinfo", "/etc/localtime"]
    return tuple(dict.fromkeys(os.path.realpath(folder) for folder in folders if Path(folder).exists()))


_ALLOWED_CALLS = """
    read readv pread64 write writev lseek close close_range dup fstat newfstatat stat lstat statx statfs
    fstatfs access faccessat faccessat2 readlink readlinkat getcwd getdents64 umask
    mmap munmap mprotect mremap madvise brk membarrier mincore
    poll ppoll select pselect6 recvfrom recvmsg sendto sendmsg shutdown eventfd2 pipe2
    futex futex_waitv set_robust_list get_robust_list rseq set_tid_address sched_yield sched_getaffinity
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending sigaltstack restart_syscall
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times setitimer getitimer alarm
    getpid getppid gettid getuid geteuid getgid getegid getpgrp getpgid getsid getrusage getcpu uname sysinfo getrandom
    capget exit exit_group
""".split()
_CLONE_THREAD = 0x10000
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_SET_NAME = 15  # prctl: how Python names its threads
_ANY_COMMAND = 0xFFFFFFFF
"""The bits of a command that the kernel looks at."""
_FCNTL = (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL)
_IOCTL = ("FIONBIO", "FIONREAD", "FIOCLEX", "FIONCLEX", "TCGETS", "TIOCGWINSZ")  # by name: macOS has not all of them
"""Commands on descriptors that Python uses. Others have the kernel signal a process of one's choice (F_SETOWN,
F_SETSIG, FIOSETOWN), or type on a terminal (TIOCSTI)."""


@functools.cache
def system_call_filter() -> tuple[bytes, str]:
    """The filter as a BPF program, and why there is none; one of the two is empty."""
    try:
        import pyseccomp as seccomp
    except (ImportError, OSError, RuntimeError) as error:
        return b"", f"libseccomp cannot be loaded: {error}"
    try:
        rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
        for name in _ALLOWED_CALLS:
            if seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) >= 0:
                rules.add_rule(seccomp.ALLOW, name)
        for call, commands in (("fcntl", _FCNTL), ("ioctl", [getattr(termios, name) for name in _IOCTL])):
            for command in commands:
                rules.add_rule(seccomp.ALLOW, call, seccomp.Arg(1, seccomp.MASKED_EQ, _ANY_COMMAND, command))
        rules.add_rule(
            seccomp.ALLOW,
            "fcntl",
            seccomp.Arg(1, seccomp.MASKED_EQ, _ANY_COMMAND, fcntl.F_SETFL),
            seccomp.Arg(2, seccomp.MASKED_EQ, fcntl.FASYNC, 0),  # it would have signals sent
        )
        rules.add_rule(seccomp.ALLOW, "openat", seccomp.Arg(2, seccomp.MASKED_EQ, _WRITES, 0))
        rules.add_rule(seccomp.ALLOW, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, _CLONE_THREAD))
        # Its flags lie in memory, where no filter can see them; the C library then falls back on clone.
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
        rules.add_rule(seccomp.ALLOW, "prctl", seccomp.Arg(0, seccomp.EQ, _SET_NAME))
        rules.add_rule(seccomp.ALLOW, "prlimit64", seccomp.Arg(0, seccomp.EQ, 0))  # its own, which can only go down
        descriptor = os.memfd_create("filter")
        with os.fdopen(descriptor, "w+b") as file:
            rules.export_bpf(file)
            file.seek(0)
            return file.read(), ""
    except (OSError, ValueError) as error:
        return b"", f"the filter cannot be made: {error}"
