"""Programs that fail for known reasons, and the services that they call: what attribution is measured with."""

from benchmarks.injection.programs.corpus import FailingProgram, failing_programs
from benchmarks.injection.programs.services import RunningService, serve

__all__ = ["FailingProgram", "RunningService", "failing_programs", "serve"]
