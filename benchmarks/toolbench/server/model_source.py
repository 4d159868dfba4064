"""Replies that a language model writes in place of an API.

Source: StableToolBench (arXiv:2403.07714), the simulation by prompt.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from atc.models import Message, Model
from atc.models.base import ModelRequest, answer
from benchmarks.toolbench.server.address import VirtualCall
from benchmarks.toolbench.server.catalogue import CataloguedTool
from protocols.errors import PromptRefused

__all__ = ["FAILED", "ModelSource", "reply_in"]

_PROMPTS = Path(__file__).parent
_TRIES = 3
_MAX_TOKENS = 1024
_MAX_EXAMPLES = 2048
"""Characters of all examples of earlier replies in a prompt."""

FAILED = "Failed to generate fake response"
"""The published error text for a model whose answers are no replies."""


class ModelSource:
    """Asks a model, one call at a time; it is right to ask once per call and keep the reply."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = threading.Lock()

    def answer(self, call: VirtualCall, tool: CataloguedTool, examples: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        """The reply to a call, marked as `simulated`; an error after three answers that are no replies.

        Raises: ModelError: The model is unavailable.
        """
        messages = _messages(call, tool, examples)
        for number in range(_TRIES):
            try:
                with self._lock:
                    completion = answer(
                        self._model, ModelRequest(messages, max_tokens=_MAX_TOKENS, seed=number if number else None)
                    )
            except PromptRefused as error:
                return {"error": f"{FAILED}: {error}", "response": "", "simulated": True}
            reply = reply_in(completion.text)
            if reply is not None:
                return {**reply, "simulated": True}
        return {"error": FAILED, "response": "", "simulated": True}

    def close(self) -> None:
        self._model.close()


def reply_in(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text that has a `response` and a text as `error`; None if there is none."""
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            content, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            content = None
        if isinstance(content, dict) and "response" in content and isinstance(content.get("error", ""), str):
            return {"error": content.get("error", ""), "response": content["response"]}
        start = text.find("{", start + 1)
    return None


def _messages(call: VirtualCall, tool: CataloguedTool, examples: Sequence[tuple[str, Any]]) -> list[Message]:
    record = tool.records[call.address.api]
    shown = ""
    for key, reply in examples:
        line = f"{key} -> {json.dumps(reply, ensure_ascii=False)}\n"
        if len(shown) + len(line) > _MAX_EXAMPLES:
            break
        shown += line
    values = {
        "tool_name": tool.title,
        "category": tool.category,
        "tool_description": tool.description or "(no description)",
        "api_name": call.address.api,
        "api_description": str(record.get("api_description") or record.get("description") or "(no description)"),
        "parameters": _parameters(record) or "(none)",
        "examples": shown or "(none)",
        "arguments": json.dumps(dict(call.arguments), ensure_ascii=False, default=str),
    }
    template = Template((_PROMPTS / "reply_prompt.txt").read_text("utf-8"))
    return [Message("user", template.substitute(values))]


def _parameters(record: Mapping[str, Any]) -> str:
    """The parameters of a record, a line each."""
    lines = []
    for kind in ("required", "optional"):
        for parameter in record.get(f"{kind}_parameters") or ():
            described = str(parameter.get("description") or "").strip().replace("\n", " ")
            lines.append(f"- {parameter.get('name')} ({parameter.get('type')}, {kind}): {described}")
    return "\n".join(lines)
