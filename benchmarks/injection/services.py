"""Documents, time and replies of the services that the programs of both corpora call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from protocols import Protocol, load
from protocols.samples import sample

__all__ = ["NOW", "Reply", "json_reply", "load_api"]

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)

Reply = tuple[int, bytes, str, Mapping[str, str]]
"""Status, body, media type ("" without a body), further headers."""

_BENCHMARKS = Path(__file__).parents[1]
_FOLDERS = {
    **dict.fromkeys(("museum", "parcels"), _BENCHMARKS / "data" / "tiny"),
    **dict.fromkeys(("films", "shop", "fleet"), _BENCHMARKS / "injection" / "programs"),
}


@lru_cache(maxsize=8)
def load_api(name: str) -> Protocol:
    """The API of this name. Raises: KeyError: There is none."""
    if name == "cinema":
        return load(sample("cinema"))
    if name not in _FOLDERS:
        raise KeyError(f"there is no API {name!r}; there are cinema, {', '.join(_FOLDERS)}")
    return load(_FOLDERS[name] / f"{name}.yaml")


def json_reply(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """A reply with a JSON body."""
    return status, json.dumps(body).encode(), "application/json", headers or {}
