"""How far a call has to walk: the rooms of this project that it enters between a program and its record."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from types import FrameType

import pytest

import sandbox
from sandbox import Broker
from sandbox.egress.stages import Begun, Bound, Decided, PlannedRequest, Sent
from tests.local_api import LocalAPI
from tests.sandbox.runs import OSLO

ROOT = Path(sandbox.__file__).parents[1]
MOST_MOVES = 30
"""Of the plan for this package; 75 before a call had four stages."""


def moves_between_rooms(action: Callable[[], object]) -> list[str]:
    """The folders of `protocols` and `sandbox` that an action enters from another one, in order."""
    rooms: list[str | None] = []
    moves: list[str] = []

    def nearest() -> str | None:
        return next((room for room in reversed(rooms) if room is not None), None)

    def follow(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            file = Path(frame.f_code.co_filename)
            inside = file.is_relative_to(ROOT / "sandbox") or file.is_relative_to(ROOT / "protocols")
            room = str(file.parent.relative_to(ROOT)) if inside else None
            if room is not None and nearest() not in (None, room):
                moves.append(f"{nearest()} -> {room}: {frame.f_code.co_qualname}")
            rooms.append(room)
        elif event == "return" and rooms:
            rooms.pop()

    sys.setprofile(follow)
    try:
        action()
    finally:
        sys.setprofile(None)
    return moves


def test_a_read_moves_between_few_rooms(api: LocalAPI, broker: Broker) -> None:
    """An ordinary GET, from the broker's entry to its record; that of a tool which was called before."""
    assert broker.call("GET_cities", (), {"query": "Bergen"}) == {"results": [OSLO]}

    moves = moves_between_rooms(lambda: broker.fetch("GET_cities", (), {"query": "Oslo"}))

    assert broker.calls[-1].status == 200
    assert 0 < len(moves) <= MOST_MOVES, "\n".join(moves)


@pytest.mark.parametrize("stage", [Begun, PlannedRequest, Bound, Decided, Sent])
def test_nobody_changes_a_stage(stage: type) -> None:
    """A step gives the next stage instead; all fields are there from the beginning."""
    blank: object = object.__new__(stage)

    for field in fields(stage):
        with pytest.raises(FrozenInstanceError):
            setattr(blank, field.name, None)
