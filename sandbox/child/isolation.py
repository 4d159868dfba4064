"""The walls around a child process, each a layer of its own, put up by the child before it sees its program.

A layer that this kernel does not offer is reported with the reason and the others still stand. They are applied in
the order of `LAYERS`: what needs privileges comes before they are given up. Linux system calls are made through
ctypes, since Python has no functions for them; elsewhere none is made, for a number there means another call.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import resource
import signal
import stat
from typing import NamedTuple

from sandbox.system import LINUX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["LAYERS", "Report", "Walls", "confine", "isolate"]

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
CLONE_NEWIPC = 0x08000000
M_ARENA_MAX = -8
STACK = 96 * 1024 * 1024
"""Bytes of stack: room for the deepest recursion that a program may ask for, also where it goes through C."""

THREADS = 256
"""Threads of a program, where it does not run as root, whom the kernel lets have any number."""
_COUNTED_APART = (5, 14)
"""Linux from which on each user namespace counts its own; before, it would count all that the user runs."""

LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_VERSION = 1
LANDLOCK_PATH_BENEATH = 1
READ_FILE, READ_FOLDER = 1 << 2, 1 << 3

RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""The number of kinds of file access in each Landlock version; later ones add none."""

PORTABLE = ("folder", "rlimits")
"""The layers that other systems have, too."""

_libc = ctypes.CDLL(None, use_errno=True)
_apart: list[bool] = []
"""Not empty if this process has a user namespace of its own."""


class Walls(NamedTuple):
    """The settings of the layers.

    They are the process to end with, the folder to make and leave behind as a name, the folders that stay readable, and
    the filter of system calls, or the reason why there is none.
    """

    parent: int
    folder: str
    readable: Sequence[str]
    filter: bytes
    why_none: str


Report = list[tuple[str, bool, str]]
"""The name of each layer, whether it is active, and the reason why not."""


def isolate(walls: Walls) -> Report:
    """Put up the layers that are the same for every program, in order."""
    return [_apply(name, functools.partial(apply_layer, walls)) for name, apply_layer in LAYERS]


def confine(cpu: float, memory: int) -> Report:
    """Put up the last layer, the limits of one program: CPU seconds and bytes."""
    return [_apply("rlimits", lambda: _limits(cpu, memory))]


def _apply(name: str, apply_layer: Callable[[], None]) -> tuple[str, bool, str]:
    if not LINUX and name not in PORTABLE:
        return name, False, "only Linux has it"
    try:
        apply_layer()
    except (OSError, ValueError, AttributeError) as error:
        return name, False, str(error)
    return name, True, ""


def _checked(result: int, call_name: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call_name}: {os.strerror(number)}")
    return result


def _folder(walls: Walls) -> None:
    """An empty place of its own to stand in: made, entered and taken off the disk."""
    os.mkdir(walls.folder, 0o700)  # noqa: PTH102 - pathlib is not loaded here
    os.chdir(walls.folder)
    os.rmdir(walls.folder)  # noqa: PTH106


def _no_new_privileges(walls: Walls) -> None:
    _checked(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(no_new_privs)")
    _checked(_libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl(dumpable)")


def _limits(cpu: float, memory: int) -> None:
    if LINUX:
        _libc.mallopt(M_ARENA_MAX, 1)  # else each thread would reserve 64 MiB of the address space
    seconds = max(1, int(cpu + 0.999))
    limits = {
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_CPU: (seconds, seconds + 1),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_NOFILE: (32, 32),
        resource.RLIMIT_STACK: (STACK, STACK),
    }
    if _apart and tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= _COUNTED_APART:
        limits[resource.RLIMIT_NPROC] = (THREADS, THREADS)
    if not LINUX:
        del limits[resource.RLIMIT_AS]
    for kind, (soft, hard) in limits.items():
        ceiling = resource.getrlimit(kind)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))
    if not LINUX:
        raise OSError("only Linux limits memory; here it is looked at now and then, and the other limits are set")


def _user_namespace(walls: Walls) -> None:
    _checked(_libc.unshare(CLONE_NEWUSER), "unshare(user)")
    _apart.append(True)


def _network_namespace(walls: Walls) -> None:
    _checked(_libc.unshare(CLONE_NEWNET | CLONE_NEWIPC), "unshare(net)")


def _no_capabilities(walls: Walls) -> None:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    none = (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(header, none), "capset")


def _ends_with_parent(walls: Walls) -> None:
    """After the capabilities: the kernel forgets it when these change."""
    _checked(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl(pdeathsig)")
    if os.getppid() != walls.parent:  # it ended before
        os._exit(1)


def _landlock(walls: Walls) -> None:
    abi = _checked(_libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_VERSION), "landlock")
    # handled_access_fs, handled_access_net (bind and connect, from version 4), scoped (sockets, signals; from 6)
    handled = (ctypes.c_uint64 * 3)((1 << RIGHTS_BY_ABI.get(abi, 16)) - 1, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _checked(_libc.syscall(LANDLOCK_CREATE_RULESET, handled, size, 0), "landlock_create_ruleset")
    try:
        for path in walls.readable:
            _allow_reading(ruleset, path)
        _checked(_libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    finally:
        os.close(ruleset)


def _allow_reading(ruleset: int, path: str) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rights = READ_FILE | READ_FOLDER if stat.S_ISDIR(os.fstat(descriptor).st_mode) else READ_FILE
        rule = rights.to_bytes(8, "little") + descriptor.to_bytes(4, "little")  # landlock_path_beneath_attr, packed
        _checked(_libc.syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_PATH_BENEATH, rule, 0), "landlock_add_rule")
    finally:
        os.close(descriptor)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("rules", ctypes.c_void_p))


def _system_calls(walls: Walls) -> None:
    if not walls.filter:
        raise OSError(walls.why_none)
    rules = ctypes.create_string_buffer(walls.filter, len(walls.filter))
    filter_ = _Filter(len(walls.filter) // 8, ctypes.addressof(rules))
    _checked(_libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filter_), 0, 0), "prctl(seccomp)")


LAYERS: tuple[tuple[str, Callable[[Walls], None]], ...] = (
    ("folder", _folder),
    ("no_new_privs", _no_new_privileges),
    ("user namespace", _user_namespace),
    ("network namespace", _network_namespace),
    ("capabilities", _no_capabilities),
    ("parent", _ends_with_parent),
    ("landlock", _landlock),
    ("seccomp", _system_calls),
)
