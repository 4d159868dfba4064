"""Whether a reply is data, so that its API is worth asking about.

Source: ToolLLM (arXiv:2307.16789), section 2.1: its filter by an example response.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from protocols.calls.envelope import fault_of, literal

__all__ = ["why_dropped"]

_HTML = re.compile(r"\s*<(?:!doctype|html|\?xml|head|body)\b", re.IGNORECASE)
_ERROR_KEYS = frozenset({"error", "errors", "fault", "exception"})
_MESSAGE_KEYS = frozenset({"message", "messages", "msg", "detail", "info", "status", "code", "success", "statuscode"})
_ERROR_WORDS = re.compile(
    r"\b(?:error|fail(?:ed|ure)?|invalid|denied|unauthori[sz]ed|forbidden|not (?:found|subscribed|exist)|"
    r"does(?: not|n't) exist|exceeded|unavailable|missing|40[0134]|429|50\d)\b",
    re.IGNORECASE,
)


def why_dropped(reply: Mapping[str, Any]) -> str:
    """Why a reply holds no data; empty if it does."""
    if reply["error"]:
        return fault_of(str(reply["error"])).name
    value = reply["response"]
    value = literal(value) if isinstance(value, str) else value
    if value in (None, "", [], {}):
        return "empty"
    if isinstance(value, str):
        return "HTML" if _HTML.match(value) else "error message" if _ERROR_WORDS.search(value[:200]) else ""
    if isinstance(value, Mapping):
        keys = {str(key).lower() for key in value}
        if any(value[key] for key in value if str(key).lower() in _ERROR_KEYS):
            return "error message"
        if keys <= _MESSAGE_KEYS and _ERROR_WORDS.search(json.dumps(value, default=str)):
            return "error message"
    return ""
