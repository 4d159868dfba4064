"""One clock and one source of chance for a program whose run must be repeatable.

When a run is given the time, `datetime.now`, `date.today`, `time.time` and their like say that time (it moves on only
by `time.sleep`), and `uuid4` and unseeded `random` follow from the seed. Without a given time nothing here is used.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Clock", "replacements"]


class Clock:
    """The time of a run, in seconds since 1970 in UTC, and the seed of all its chance."""

    def __init__(self, now: float, seed: int) -> None:
        self._now = now
        self._seed = seed
        self._draws = 0
        self._sleep = time.sleep
        os.environ["TZ"] = "UTC"
        time.tzset()
        time.time = self.time  # the C code of datetime.today() and of time.localtime's callers asks this module
        time.sleep = self.sleep  # type: ignore[assignment]

    def time(self) -> float:
        """Stands for time.time."""
        return self._now

    def sleep(self, seconds: float, /) -> None:
        """Stands for time.sleep: waits, and moves the clock on by as much."""
        self._sleep(seconds)
        self._now += seconds

    def draw(self) -> int:
        """The next seed for a source of chance that was not given one; the same in every run."""
        self._draws += 1
        return self._seed * 1_000_003 + self._draws


def replacements(name: str, clock: Clock) -> dict[str, object]:
    """The replacements of real functions in the shim of module `name`, once that module is loaded."""
    make = _MAKERS.get(name)
    return make(clock) if make else {}


def _time(clock: Clock) -> dict[str, object]:
    def when(convert: Callable[[float], object]) -> Callable[..., object]:
        return lambda seconds=None, /: convert(clock.time() if seconds is None else seconds)

    def strftime(template: str, moment: time.struct_time | None = None, /) -> str:
        return real_strftime(template, time.localtime(clock.time()) if moment is None else moment)

    def asctime(moment: time.struct_time | None = None, /) -> str:
        return real_asctime(time.localtime(clock.time()) if moment is None else moment)

    real_strftime, real_asctime = time.strftime, time.asctime
    return {
        "asctime": asctime,
        "ctime": when(time.ctime),
        "gmtime": when(time.gmtime),
        "localtime": when(time.localtime),
        "sleep": clock.sleep,
        "strftime": strftime,
        "time": clock.time,
        "time_ns": lambda: int(clock.time() * 1_000_000_000),
    }


def _datetime(clock: Clock) -> dict[str, object]:
    """Gives the one real class `datetime` other methods, so that its type, repr and arithmetic stay Python's own."""
    import ctypes
    import datetime
    import gc

    def now(cls: type[datetime.datetime], tz: datetime.tzinfo | None = None) -> datetime.datetime:
        return cls.fromtimestamp(clock.time(), tz)

    def utcnow(cls: type[datetime.datetime]) -> datetime.datetime:
        return cls.fromtimestamp(clock.time(), datetime.UTC).replace(tzinfo=None)

    (methods,) = gc.get_referents(datetime.datetime.__dict__)  # the dict behind the read-only view
    methods.update(now=classmethod(now), utcnow=classmethod(utcnow))
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))
    return {}


def _random(clock: Clock) -> dict[str, object]:
    import random

    seed_as_given = random.Random.seed

    def seed(self: random.Random, a: object = None, version: int = 2) -> None:
        seed_as_given(self, clock.draw() if a is None else a, version)  # type: ignore[arg-type]

    random.Random.seed = seed  # type: ignore[method-assign]
    shared: random.Random = random._inst
    shared.seed()
    return {"seed": shared.seed}


def _uuid(clock: Clock) -> dict[str, object]:
    import random
    import uuid

    chance = random.Random(clock.draw())
    return {"uuid4": lambda: uuid.UUID(int=chance.getrandbits(128), version=4)}


_MAKERS: dict[str, Callable[[Clock], dict[str, object]]] = {
    "datetime": _datetime,
    "random": _random,
    "time": _time,
    "uuid": _uuid,
}
