"""The process that workers are forked from: it has loaded what a worker needs, so that a new one is there at once.

It runs no program and reads nothing but the requests of the host, one at a time: `fork`, with the worker's end of a
socket, answered by the worker's process id; `reap`, answered by how a worker ended and what it used. It ends when the
host does, and with it every worker that still waits for a program.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import socket

from sandbox.child import worker
from sandbox.child.isolation import Walls
from sandbox.language.shims.catalogue import MODULES
from sandbox.system import LINUX

__all__ = ["main"]

_OURS = "requests"
"""The package whose stand-in is sandbox.language.shims.http."""


def main(descriptor: int) -> None:
    """Serve the host on a descriptor; never returns."""
    control = socket.socket(fileno=descriptor)
    # Behind its walls a worker can't load the system's libraries that some of them need.
    for name in ("sandbox.language.shims.http", *sorted(MODULES)):
        if name.partition(".")[0] != _OURS:
            importlib.import_module(name)
    gc.freeze()
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 65536, 1)
        if not data:
            os._exit(0)
        request = json.loads(data)
        if "reap" in request:
            _, status, used = os.wait4(request["reap"], 0)
            memory = used.ru_maxrss if LINUX else used.ru_maxrss // 1024  # macOS counts bytes
            answer = [status, used.ru_utime, used.ru_stime, memory]
        else:
            parent = os.getpid()
            child = os.fork()
            if child == 0:
                control.close()
                os.setsid()
                walls = Walls(
                    parent=parent,
                    folder=f"{request['temporary']}/atc-{os.getpid()}-{os.urandom(4).hex()}",
                    readable=request["readable"],
                    filter=bytes.fromhex(request["filter"]),
                    why_none=request["why_none"],
                )
                worker.main(descriptors[0], walls)
            os.close(descriptors[0])
            answer = [child]
        control.sendall(json.dumps(answer).encode() + b"\n")
