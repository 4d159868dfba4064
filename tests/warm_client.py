"""Starts a command at the server of warm processes; it loads little, for it is all that a command waits for."""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

__all__ = ["start"]


def start(
    address: str,
    arguments: Sequence[str],
    streams: Iterable[int],
    environment: Mapping[str, str] = os.environ,
    terminal: bool = False,
) -> BinaryIO:
    """Have a command run with three streams. The reply has a line with its process id, and one with its exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        values = {
            "arguments": arguments,
            "folder": str(Path.cwd()),
            "environment": dict(environment),
            "terminal": terminal,
        }
        text = json.dumps(values).encode() + b"\n"
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))]
        connection.sendall(text[connection.sendmsg([text], rights) :])
        return connection.makefile("rb")
