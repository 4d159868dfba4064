"""Find the APIs that are worth serving: a basic call works, in time, and its reply is data.

Source: ToolLLM (arXiv:2307.16789), section 2.1: its two filters, of a basic call and of an example response.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from atc.files import append_line, read_lines
from benchmarks.toolbench.server.address import APIAddress, VirtualCall
from benchmarks.toolbench.server.catalogue import Catalogue
from benchmarks.toolbench.server.upstream import Upstream
from protocols.calls.envelope import fault_of, literal
from protocols.documents.record_names import parameter_name
from protocols.documents.tool_records import record_parameters
from protocols.errors import APIError, UsageError

__all__ = ["APIVerdict", "basic_call", "check_apis", "read_verdicts", "why_dropped"]

_HTML = re.compile(r"\s*<(?:!doctype|html|\?xml|head|body)\b", re.IGNORECASE)
_ERROR_KEYS = frozenset({"error", "errors", "fault", "exception"})
_MESSAGE_KEYS = frozenset({"message", "messages", "msg", "detail", "info", "status", "code", "success", "statuscode"})
_ERROR_WORDS = re.compile(
    r"\b(?:error|fail(?:ed|ure)?|invalid|denied|unauthori[sz]ed|forbidden|not (?:found|subscribed|exist)|"
    r"does(?: not|n't) exist|exceeded|unavailable|missing|40[0134]|429|50\d)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class APIVerdict:
    """What came of the basic call of an API; `reason` says why it is dropped, empty if it is kept.

    `seconds` are wall-clock time. `simulated`: no real service answered.
    """

    category: str
    tool: str
    api: str
    kept: bool
    reason: str
    seconds: float
    simulated: bool = False


def basic_call(address: APIAddress, record: Mapping[str, Any]) -> VirtualCall:
    """The call of an API with the documented examples of what it requires."""
    arguments = {
        parameter_name(str(parameter["name"])): parameter.get("default")
        for parameter, required in record_parameters(record)
        if required and parameter.get("default") not in (None, "")
    }
    return VirtualCall(address, arguments)


def why_dropped(reply: Mapping[str, Any], seconds: float, max_seconds: float) -> str:
    """Why an API with this reply is dropped; empty if it is kept."""
    if reply["error"]:
        return fault_of(str(reply["error"])).name
    if seconds > max_seconds:
        return "slow"
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


def read_verdicts(file: Path) -> list[APIVerdict]:
    """The verdicts in a file, an API once. Raises: UsageError: A line holds none."""
    verdicts: dict[tuple[str, str, str], APIVerdict] = {}
    for place, data in read_lines(file) if file.is_file() else ():
        try:
            verdict = APIVerdict(**data)
        except TypeError:
            raise UsageError(f"{place}: this is no verdict; delete the line") from None
        verdicts[verdict.category, verdict.tool, verdict.api] = verdict
    return list(verdicts.values())


def check_apis(
    catalogue: Catalogue, addresses: Iterable[APIAddress], server: Upstream, file: Path, max_seconds: float
) -> Iterator[APIVerdict]:
    """Call each API that the file has no verdict of, and add one; gives the verdict of each.

    Raises: APIError: The server gives no reply; the verdicts so far are in the file. UsageError.
    """
    earlier = {(verdict.category, verdict.tool, verdict.api): verdict for verdict in read_verdicts(file)}
    for address in addresses:
        verdict = earlier.get((address.category, address.tool, address.api))
        if verdict is None:
            tool = catalogue.tool(address.category, address.tool)
            started = time.perf_counter()
            reply = server.answer(basic_call(address, tool.records[address.api] if tool else {}))
            seconds = time.perf_counter() - started
            if reply is None:
                raise APIError(f"{server.problem or server.url + ' gives no reply'}; repeat the command to go on")
            reason = why_dropped(reply, seconds, max_seconds)
            place = (address.category, address.tool, address.api)
            verdict = APIVerdict(*place, not reason, reason, round(seconds, 3), bool(reply.get("simulated")))
            append_line(file, json.dumps(asdict(verdict), ensure_ascii=False))
        yield verdict
