"""The solution of a solve that ended before its first attempt, as the commands and the server tell it."""

from __future__ import annotations

import platform
from importlib.metadata import version

from atc.models import Usage
from atc.solution import EXIT_CODES, Solution, Status

__all__ = ["unsolved"]


def unsolved(query: str, model: str, exit_code: int, message: str) -> Solution:
    """A solution without attempts, with the status that the exit code stands for."""
    status: Status = next((status for status, code in EXIT_CODES.items() if code == exit_code), "failed")
    versions = {"atc": version("atc-toolchain"), "python": platform.python_version(), "model": model}
    seconds = {"total": 0.0, "model": 0.0, "run": 0.0}
    return Solution(query, status, None, (), (), Usage(), seconds, versions, message)
