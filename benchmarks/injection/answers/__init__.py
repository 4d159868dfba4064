"""Runs that look like answers and are none, and runs that are: what the inspection of answers is measured with."""

from benchmarks.injection.answers.corpus import Half, Origin, Script, scripts
from benchmarks.injection.answers.injected import KINDS, Fault, Kind, faults
from benchmarks.injection.answers.services import NOW, Place, Services

__all__ = [
    "KINDS",
    "NOW",
    "Fault",
    "Half",
    "Kind",
    "Origin",
    "Place",
    "Script",
    "Services",
    "faults",
    "scripts",
]
