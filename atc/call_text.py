"""A call in a line, as a program might have written it."""

from __future__ import annotations

from sandbox.records import CallRecord

__all__ = ["call_text"]


def call_text(call: CallRecord) -> str:
    """The name and the arguments of a call, shortened; method and address where it is no tool's."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    text = f"{call.tool}({arguments})" if call.tool else f"{call.method} {call.url}"
    return text if len(text) <= 200 else text[:199] + "…"
