"""Programs for tests, in text files of sections `### name`."""

from __future__ import annotations

from pathlib import Path

__all__ = ["programs"]


def programs(name: str) -> dict[str, str]:
    """The programs of one file by their names."""
    text = (Path(__file__).parent / f"{name}.txt").read_text("utf-8")
    sections = [section.partition("\n") for section in text.split("\n### ")[1:]]
    return {title.strip(): body for title, _, body in sections}
