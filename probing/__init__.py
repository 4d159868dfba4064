"""How an API is learned by trying it: `Prober(protocol).probe()`, and `atc probe`."""

from __future__ import annotations

from probing.findings import Finding, ProbeReport
from probing.prober import Prober

__all__ = ["Finding", "ProbeReport", "Prober"]
