"""Describe what a program did that was told to act and printed nothing."""

from __future__ import annotations

from atc.assist.language.question import Question
from atc.assist.rules.changes import account, changes
from atc.evidence.finding import failed, made_writes
from protocols.model import Protocol
from sandbox.records import Run

__all__ = ["describe_silent_writes"]


def describe_silent_writes(run: Run, question: Question, protocol: Protocol) -> str | None:
    """Describe the writes of a program that was told to act and printed nothing; None for any other run.

    To call functions that give no result is to act, and so is to call those of which nobody said whether they write.
    """
    if run.outcome != "ok" or run.stdout.strip():
        return None
    calls = [call for call in run.calls if not failed(call)]
    tools = [protocol.tool(call.tool) for call in calls if call.tool is not None and call.tool in protocol]
    without_result = bool(tools) and all(tool.gives_nothing for tool in tools)
    if not without_result and (not made_writes(run) or (question.is_information_request and protocol.tells_writes)):
        return None
    of_functions = bool(tools) and all(tool.function is not None for tool in tools)
    return account(calls) if of_functions else changes(run.calls, protocol)
