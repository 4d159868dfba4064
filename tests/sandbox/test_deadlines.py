"""The thread that sees to it that nothing takes longer than it may."""

from __future__ import annotations

import os
import threading
import time

from sandbox.egress.transport import deadline


def test_what_is_late_is_told_and_what_is_not_is_not() -> None:
    expired: list[str] = []
    late = threading.Event()

    with deadline(30, lambda: expired.append("far")):  # first the later one, so that the thread has to be woken
        with deadline(0.02, late.set):
            assert late.wait(10)
        with deadline(0.02, lambda: expired.append("left in time")):
            pass
        time.sleep(0.1)

    assert expired == []


def test_each_of_several_is_told() -> None:
    events = [threading.Event() for _ in range(20)]

    def wait(number: int) -> None:
        with deadline(0.001 * (20 - number), events[number].set):
            assert events[number].wait(10)

    threads = [threading.Thread(target=wait, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert all(event.is_set() for event in events)


def test_a_fork_has_a_thread_of_its_own() -> None:
    with deadline(30, lambda: None):
        pid = os.fork()
        if not pid:
            late = threading.Event()
            with deadline(0.01, late.set):
                os._exit(0 if late.wait(10) else 1)
        assert os.waitpid(pid, 0)[1] == 0
