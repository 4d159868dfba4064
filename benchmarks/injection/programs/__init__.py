"""Programs that fail for known reasons, and the services that they call: what attribution is measured with."""

from benchmarks.injection.programs.corpus import Case, cases
from benchmarks.injection.programs.services import Service, serve

__all__ = ["Case", "Service", "cases", "serve"]
