"""Runs that look like answers and are none, and runs that are: what the inspection of answers is measured with."""

from benchmarks.injection.answers.corpus import Half, Origin, Script, scripts
from benchmarks.injection.answers.injected import KINDS, FaultKind, InjectedFault, injected_faults
from benchmarks.injection.answers.services import NOW, CorpusServices, ProgramWorld

__all__ = [
    "KINDS",
    "NOW",
    "CorpusServices",
    "FaultKind",
    "Half",
    "InjectedFault",
    "Origin",
    "ProgramWorld",
    "Script",
    "injected_faults",
    "scripts",
]
