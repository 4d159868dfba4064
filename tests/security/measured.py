"""A step in a process of its own, with the memory that it took."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["in_process"]

_MEASURE = """
import sys
from pathlib import Path
def peak():  # not ru_maxrss, which begins with the peak of whoever started the process
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024
{imports}
before = peak()
try:
{step}
except Exception as error:
    print(type(error).__name__, str(error)[:400])
print(peak() - before)
"""


def in_process(imports: str, step: str, **variables: str) -> tuple[str, int]:
    """What a step printed, or the error that ended it, and the MiB by which it raised the peak of its process."""
    code = _MEASURE.format(imports=imports, step="\n".join(f"    {line}" for line in step.splitlines()))
    environment = {**os.environ, **variables}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        cwd=Path(__file__).parents[2],
    )
    assert ended.returncode == 0, ended.stderr
    text, _, grown = ended.stdout.strip().rpartition("\n")
    return text, int(grown)
