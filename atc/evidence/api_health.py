"""Whether an API is ill: no call can succeed, whatever the program. Only where a call has no good reply of JSON."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.model import Protocol
from sandbox.egress.egress_rules import FUNCTION, MCP
from sandbox.records import CallRecord, Run

__all__ = ["api_health_problem", "silent_service"]


def silent_service(run: Run) -> str:
    """The problem of a service that answered no call until the run's time was over; empty where there is none.

    Half of that time was spent in one call: one that a slow program makes at its end says nothing of the service.
    """
    sent = [call for call in run.calls if call.attempts and not call.url.startswith(FUNCTION)]
    if run.limit != "wall" or not sent or any(call.status is not None for call in run.calls):
        return ""
    longest = max(sent, key=lambda call: call.ms)
    seconds = longest.ms / 1000
    if 2 * seconds < run.resources.wall:
        return ""
    what = f"{longest.method} {longest.url} had no reply after {seconds:.3g} s, when the time of the program was over"
    return f"{what}; see that the service runs; --wall allows more"


def api_health_problem(
    protocol: Protocol, calls: Sequence[CallRecord], *, stopped: bool = False, signed: bool = True
) -> str:
    """The reason why no call can succeed with this API; empty when it is well, or when that is unknown.

    Each of several APIs is looked at by itself.

    Args:
        calls: The calls of a run, oldest first.
        stopped: A limit ended the run, so a call without a reply says nothing of the API.
        signed: Credentials were given; without them, a 403 asks for some, too.
    """
    for call in calls:
        if _is_page(protocol, call):
            return f"{call.method} {call.url} answered a web page, not JSON: check the base URL (--base-url)"
    sent = [call for call in calls if call.attempts]
    if protocol.namespaces:
        tools = {call.index: protocol.tool(call.tool) for call in sent if call.tool is not None}
        groups = [[c for c in sent if c.index in tools and tools[c.index].namespace == n] for n in protocol.namespaces]
    else:
        groups = [sent]
    problems = [] if stopped else [_problem(protocol, group, signed) for group in groups if group]
    return next(filter(None, problems), "")


def _problem(protocol: Protocol, sent: Sequence[CallRecord], signed: bool) -> str:
    """The reason why no call of one API can succeed, by those that were sent to it."""
    refused = {401} if signed else {401, 403}
    if any(call.status is not None and call.status not in refused for call in sent):
        return ""
    last = sent[-1]
    if last.status is not None and last.tool is not None and protocol.tool(last.tool).envelope is not None:
        return ""  # each API behind such a server has credentials of its own
    if last.status is None and last.url.startswith(MCP):
        return f"{last.tool}: {last.error}"
    if last.status is None:
        return f"{last.method} {last.url} could not be reached: {last.error}"
    return f"{last.method} {last.url} was refused with {last.status}: {_sign_in(protocol, last, signed)}"


def _sign_in(protocol: Protocol, call: CallRecord, signed: bool) -> str:
    """How to sign in, by the security schemes of an operation, as `--auth` takes them."""
    tool = protocol.tool(call.tool) if call.tool is not None else None
    scheme_names = {name for alternative in tool.security for name in alternative} if tool is not None else set()
    namespace = tool.namespace if tool is not None else ""
    own = [scheme for scheme in protocol.security_schemes if scheme.namespace == namespace]
    schemes = [scheme for scheme in own if not scheme_names or scheme.name in scheme_names]
    api = f"{namespace}=" if namespace else ""
    wanted = "".join(
        f'; the value of {s.name} begins with "{s.prefix}", says the document' for s in schemes if s.prefix
    )
    options = " or ".join(f"--auth {scheme.name}:env:VARIABLE" for scheme in schemes) or f"--auth {api}KIND:SOURCE"
    return f"{'check the' if signed else 'give'} credentials: {options}{wanted}"


def _is_page(protocol: Protocol, call: CallRecord) -> bool:
    if not isinstance(call.response, str) or call.tool is None:
        return False
    success = protocol.tool(call.tool).success
    promised = (success.media_type or "") if success else ""
    return "json" in promised and call.response.lstrip()[:15].lower().startswith(("<!doctype html", "<html"))
