"""The benchmark of the local engine starts it with a setting, and measures what it reads and writes."""

from __future__ import annotations

import pytest

from atc.engines import files
from atc.models import DEFAULT_MODEL, Message
from benchmarks.micro.engine import SETTINGS, Speed, measure, openvino

PROMPT = [Message("user", "Write the numbers from one to nine, and then the same again.")]


@pytest.mark.model
@pytest.mark.timeout(300)
def test_a_setting_is_measured() -> None:
    """How fast is not asserted: beside other work the second answer may well take longer than the first."""
    _is_measured(measure(files.path(DEFAULT_MODEL.removeprefix("local:")), SETTINGS["drafts, n-grams"], [PROMPT]))


@pytest.mark.model
@pytest.mark.openvino
@pytest.mark.timeout(300)
def test_the_other_engine_is_measured_alike() -> None:
    """With the same file."""
    _is_measured(openvino(files.path(DEFAULT_MODEL.removeprefix("local:")), [PROMPT]))


def _is_measured(speed: Speed) -> None:
    assert speed.texts[0].strip()
    assert speed.read > 0
    assert speed.written > 0
    assert speed.cached > 0
    assert speed.cold > 0
