"""The tasks of the suite as parameters of a test: one that needs an extra has its marker."""

from __future__ import annotations

import pytest

from benchmarks.manipulation.suite import TASKS

__all__ = ["SUITE"]

SUITE = [pytest.param(name, marks=[pytest.mark.manipulation] * (name == "sheets")) for name in TASKS]
