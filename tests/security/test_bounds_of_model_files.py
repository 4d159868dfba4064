"""A GGUF file that is no model is a message, before the engine reads it: what it does not expect ends its process."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from atc.engines.gguf_metadata import read_metadata
from protocols.errors import ModelError


def head(tensors: int, fields: int) -> bytes:
    return struct.pack("<4sIQQ", b"GGUF", 3, tensors, fields)


def field(name: bytes, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value


ARRAY, TEXT = 9, 8
FILES = {
    "arrays in arrays": head(0, 1) + field(b"a", ARRAY, struct.pack("<IQ", ARRAY, 1) * 5000),
    "2**60 tensors": head(2**60, 0),
    "2**60 fields": head(0, 2**60) + b"\0" * 100,
    "a long array": head(0, 1) + field(b"a", ARRAY, struct.pack("<IQ", 0, 2**63)),
    "an array of texts that are not there": head(0, 1) + field(b"a", ARRAY, struct.pack("<IQ", TEXT, 1 << 24)),
    "an array of an unknown kind": head(0, 1) + field(b"a", ARRAY, struct.pack("<IQ", 77, 1)),
    "a text beyond the end": head(0, 1) + field(b"a", TEXT, struct.pack("<Q", 5000) + b"x"),
    "an unknown kind": head(0, 1) + field(b"a", 77, b"\0" * 8),
    "half a head": head(0, 1)[:10],
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_damaged_model_file_is_a_message(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelError, match=r"m\.gguf is no GGUF file, or a damaged one"):
        read_metadata(file, ["general.type"])


def test_values_behind_arrays_are_read(tmp_path: Path) -> None:
    """An array of numbers is passed over, one of texts read through."""
    arrays = field(b"a", ARRAY, struct.pack("<IQ", 5, 1000) + b"\0" * 4000)
    arrays += field(b"b", ARRAY, struct.pack("<IQ", TEXT, 2) + (struct.pack("<Q", 1) + b"x") * 2)
    file = tmp_path / "m.gguf"
    file.write_bytes(head(1, 3) + arrays + field(b"c", 4, struct.pack("<I", 7)) + b"\0" * 100)

    assert read_metadata(file, ["c", "a"]) == {"a": None, "c": 7}
