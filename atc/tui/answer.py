"""Format an answer for people: programs often print a list as Python writes it."""

from __future__ import annotations

import ast

__all__ = ["format_answer"]


def format_answer(answer: str) -> str:
    """The answer, with a line for each item of a list or key of a dictionary.

    Only an answer that is exactly one such value is changed; nested values stay as Python writes them.
    """
    if not answer.startswith(("[", "{", "(")):
        return answer
    try:
        value = ast.literal_eval(answer)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return answer
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_entry(entry)}" for key, entry in value.items()) or answer
    if isinstance(value, list | tuple | set):
        entries = sorted(value, key=repr) if isinstance(value, set) else value
        return "\n".join(f"- {_entry(entry)}" for entry in entries) or answer
    return answer


def _entry(value: object) -> str:
    """Format one entry; its further lines are indented."""
    if isinstance(value, dict) and value:
        text = ", ".join(f"{key}: {entry}" for key, entry in value.items())
    elif isinstance(value, list | tuple) and value and all(isinstance(entry, str | int | float) for entry in value):
        text = ", ".join(str(entry) for entry in value)
    else:
        text = str(value)
    return text.replace("\n", "\n  ")
