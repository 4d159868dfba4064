"""The methods that the loop is compared with, as modes (entry points `atc.modes`).

All modes ask the same model and call the same broker, so that their tokens, calls and measures can be compared.
Source: the baselines of the ATC paper (arXiv:2405.16533, section 4.1), from its description and those they go back to.
"""

from __future__ import annotations

__all__ = ["BASELINES"]

BASELINES = ("react", "codeact", "dfsdt", "restgpt", "conagents")
"""Each is the function of that name in the module of that name."""
