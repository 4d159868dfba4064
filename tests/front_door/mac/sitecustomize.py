"""Makes a Python on Linux look like one on macOS: what only Linux has is gone. Python runs it as it starts.

What it cannot show is how a real kernel of macOS behaves; it shows that nothing here needs what is not there.
"""

from __future__ import annotations

import builtins
import ctypes
import os
import resource
import sys
import sysconfig
import termios
import types
from pathlib import Path
from typing import Any

LINUX_CALLS = frozenset(["prctl", "unshare", "capset", "mallopt", "syscall"])
"""Functions of the C library. macOS has a `syscall`, with other numbers: whoever calls it here is at fault."""
LINUX_NAMES = {
    os: "memfd_create sched_getaffinity sched_setaffinity O_PATH eventfd pidfd_open copy_file_range splice O_TMPFILE",
    termios: "TCGETS",
    resource: "prlimit RLIMIT_OFILE",
}


class _Library(ctypes.CDLL):
    def __getattr__(self, name: str) -> Any:
        if name in LINUX_CALLS:
            raise AttributeError(f"dlsym(RTLD_DEFAULT, {name}): symbol not found")
        return super().__getattr__(name)


def _without_proc(opener: Any) -> Any:
    def opened(path: Any, *args: Any, **options: Any) -> Any:
        if isinstance(path, str | Path) and str(path).startswith(("/proc/", "/sys/")):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return opener(path, *args, **options)

    return opened


_set_limit = resource.setrlimit


def _limited(kind: int, limits: tuple[int, int]) -> None:
    if kind == resource.RLIMIT_AS:
        raise ValueError("current limit exceeds maximum limit")
    _set_limit(kind, limits)


def _in_bytes(usage: Any) -> Any:
    fields = list(usage)
    fields[2] *= 1024  # ru_maxrss
    return type(usage)(fields)


_wait4, _getrusage = os.wait4, resource.getrusage


def _waited(pid: int, options: int) -> tuple[int, int, Any]:
    child, status, usage = _wait4(pid, options)
    return child, status, _in_bytes(usage)


sysconfig.get_config_vars()  # read once, from a file whose name has the platform


def _used(who: int) -> Any:
    return _in_bytes(_getrusage(who))


sysconfig.get_config_vars()  # read once, from a file whose name has the platform
sys.platform = "darwin"
for _module, _names in LINUX_NAMES.items():
    for _name in _names.split():
        if hasattr(_module, _name):
            delattr(_module, _name)
ctypes.CDLL = _Library  # type: ignore[misc]
os.open, builtins.open = _without_proc(os.open), _without_proc(open)
os.wait4, resource.setrlimit, resource.getrusage = _waited, _limited, _used
sys.modules["pyseccomp"] = None  # type: ignore[assignment]
_proxies = types.ModuleType("_scproxy")
vars(_proxies).update(_get_proxy_settings=dict, _get_proxies=dict)
sys.modules["_scproxy"] = _proxies
if os.environ.get("MAC_PYTHON"):  # processes that start without an environment look like macOS, too
    sys.executable = sys._base_executable = os.environ["MAC_PYTHON"]  # type: ignore[attr-defined]
