"""What a finished run shows without a model: whether it is an answer, what that rests on, and what speaks against it.

Nothing here reads the question, or any English: a fact holds for a question in every language. A fact is no proof that
an answer is wrong. How often each one stands beside right and wrong answers is written beside its test.
"""

from __future__ import annotations

from atc.diagnosis.provenance import failed
from atc.evidence.answers import Finding, is_unsupported, judge, made_writes
from atc.evidence.facts import facts

__all__ = [
    "Finding",
    "facts",
    "failed",
    "is_unsupported",
    "judge",
    "made_writes",
]
