"""Runs commands in processes that have loaded our modules already: they are forks of this one.

Tests start hundreds of commands, and two of three seconds of each are imports. Whoever connects sends arguments,
folder, environment and its three standard streams; the reply is the process id, and later the exit code. Nothing is
shared but what was imported.
"""

from __future__ import annotations

import array
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import sys
import termios
from pathlib import Path

from atc.apps.cli import main as atc

__all__ = ["receive", "run"]

LOADED = """
    bm25s jsonschema openai.resources.chat openai.types.chat requests
    atc.agent atc.apps.cli.config atc.apps.cli.explain atc.apps.cli.run atc.apps.cli.solve atc.apps.tui.live
    atc.assist.small atc.engines.names atc.models.replay atc.retrieval.embeddings atc.revise
    protocols.calls.auth protocols.documents.openapi protocols.simulator sandbox.egress.transport
"""
"""What a solve loads: with it, a question takes 0.6 s in place of 2."""


def receive(connection: socket.socket) -> None:
    """Become the process that was asked for: its streams, folder, environment and arguments."""
    streams = array.array("i")
    text, ancillary, _, _ = connection.recvmsg(1 << 20, socket.CMSG_SPACE(3 * streams.itemsize))
    streams.frombytes(ancillary[0][2])
    while not text.endswith(b"\n"):
        text += connection.recv(1 << 20)
    request = json.loads(text)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    if request["terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = request["arguments"]


def run() -> None:
    """Do what `atc …`, `python FILE` or `python -c CODE` does."""
    program, *arguments = sys.argv
    if Path(program).name == "atc":
        sys.exit(atc())
    elif arguments[0] == "-c":
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.path.insert(0, str(Path(arguments[0]).parent))
        runpy.run_path(arguments[0], run_name="__main__")


def main() -> None:
    """Wait for commands until the standard input ends, and remove the folder of the socket then."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for name in LOADED.split():
        importlib.import_module(name)
    gc.freeze()  # what was imported is neither looked at nor copied
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        print("ready", flush=True)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            connection = listener.accept()[0]
            if os.fork() == 0:
                break
            connection.close()
        else:
            shutil.rmtree(Path(sys.argv[1]).parent)
            return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if command := os.fork():
        connection.sendall(b"%d\n" % command)
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(command, 0)[1]))
        os._exit(0)
    receive(connection)
    connection.close()
    run()


if __name__ == "__main__":
    main()
