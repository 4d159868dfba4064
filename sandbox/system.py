"""The operating system: Linux has every layer of the sandbox, macOS some of them, and Windows none.

The only module that asks for its name, so that the other branch of everything can be tried on one machine.
"""

from __future__ import annotations

import sys

__all__ = ["LINUX", "check_supported"]

LINUX = sys.platform == "linux"


def check_supported() -> None:
    """Raises: ImportError: This is Windows; the message says where atc runs on it."""
    if sys.platform == "win32":
        raise ImportError(
            "atc does not run on Windows itself, which has no layer of its sandbox: use WSL (`wsl --install`, then "
            "install atc in it), or the image of the Dockerfile (`docker build -t atc .`)"
        )
