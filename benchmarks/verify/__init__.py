"""Runs that look like answers and are none, and runs that are: what the inspection of answers is measured with."""

from benchmarks.verify.corpus import Half, Origin, Script, scripts
from benchmarks.verify.injected import KINDS, Fault, Kind, faults
from benchmarks.verify.services import NOW, Place, Services

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
