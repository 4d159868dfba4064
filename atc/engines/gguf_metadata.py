"""The metadata at the beginning of a GGUF file.

The `gguf` package is only in the extra `train`, and it reads a whole vocabulary before it returns: a second or more.
This reads the few values that tell what a file is, and stops there.

Source: the GGUF specification, versions 2 and 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

from protocols.errors import ModelError

__all__ = ["read_metadata"]

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_LONGEST = 1 << 24
"""Bytes of a string, and entries of an array, from which a file is damaged."""

_LEAST_TENSOR, _LEAST_FIELD = 24, 13
"""Bytes that the description of a tensor, and a field of the metadata, take at least."""


def read_metadata(file: Path, keys: Collection[str]) -> dict[str, Any]:
    """The values of those keys that a file has; the value of an array is None.

    A key that begins with a dot is one of the file's architecture: `.context_length` is found as
    `llama.context_length` in a file of llama.
    Raises: ModelError: There is no such file, it cannot be read, or it is no GGUF file.
    """
    try:
        with file.open("rb") as opened:
            return _read(opened, keys)
    except (struct.error, ValueError, KeyError) as error:
        raise ModelError(
            f"{file} is no GGUF file, or a damaged one; give a model or an adapter in this format"
        ) from error
    except FileNotFoundError:
        raise ModelError(f"there is no file {file}") from None
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror or error}") from error


def _read(opened: BinaryIO, keys: Collection[str]) -> dict[str, Any]:
    magic, version, tensors, count = _unpack(opened, "4sIQQ")
    if magic != b"GGUF" or version not in (2, 3):
        raise ValueError(magic)
    if tensors * _LEAST_TENSOR + count * _LEAST_FIELD > os.fstat(opened.fileno()).st_size:
        raise ValueError(tensors)  # the engine would take memory for all of them, and end the process
    values: dict[str, Any] = {}
    architecture = ""
    for _ in range(count):
        name = _string(opened)
        (kind,) = _unpack(opened, "I")
        value = _value(opened, kind)
        if name == "general.architecture":
            architecture = str(value)
        short = name.removeprefix(architecture)
        for key in {name, short} & set(keys):
            values[key] = value
        if len(values) == len(keys):
            break
    return values


def _value(opened: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(opened)
    if kind != _ARRAY:
        return _unpack(opened, _SCALARS[kind])[0]
    kind, count = _unpack(opened, "IQ")
    if count > _LONGEST or kind == _ARRAY:  # no engine takes arrays in arrays
        raise ValueError(count)
    if kind != _STRING:
        opened.seek(count * struct.calcsize(f"<{_SCALARS[kind]}"), os.SEEK_CUR)
        return None
    for _ in range(count):
        _string(opened)
    return None


def _string(opened: BinaryIO) -> str:
    (length,) = _unpack(opened, "Q")
    if length > _LONGEST:
        raise ValueError(length)
    content = opened.read(length)
    if len(content) < length:
        raise ValueError(length)
    return content.decode("utf-8", "replace")


def _unpack(opened: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{form}", opened.read(struct.calcsize(f"<{form}")))
