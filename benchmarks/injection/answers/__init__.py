"""Runs that look like answers and are none, and runs that are: what the inspection of answers is measured with."""

from benchmarks.injection.answers.corpus import Origin, Script, scripts
from benchmarks.injection.answers.injected import KINDS, FaultKind, injected_faults
from benchmarks.injection.answers.services import CorpusServices

__all__ = ["KINDS", "CorpusServices", "FaultKind", "Origin", "Script", "injected_faults", "scripts"]
