"""Find the call that made a program fail, without asking a model.

Every value of a run leads back to its response (sandbox/child/tracker.py). The culprit is the call whose response lacks
what the program needed. For a rejected call it is that call, or the provider of a wrong identifier; for a service
error, the call itself. Where no response is involved, the fault is the program's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from atc.diagnosis.operands import evidence
from atc.diagnosis.provenance import MissingValue, lookup, traced_arguments
from atc.fault import Attribution, Fault
from protocols.dataflow.graph import ProtocolGraph
from protocols.json_path import subscripts
from protocols.text.words import attribute_of
from sandbox.records import CallRecord, Run, Source

__all__ = ["attribute", "by_traceback"]

NONE = Attribution(None, None, None, "none")
_PROGRAM_ERRORS = frozenset({"NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "RecursionError"})


def attribute(fault: Fault, run: Run | None, graph: ProtocolGraph) -> Attribution:
    """Name the call that made a program fail.

    Args:
        fault: What went wrong.
        run: How the program went, or None when it never ran.
        graph: The data flow between the protocol's tools; it knows which identifiers a tool takes.
    Returns: An Attribution; its `tool` is None when the fault lies in the program itself.
    Source: ATC paper (arXiv:2405.16533), section 3.3, which asks the model instead.
    """
    if run is None or run.error is None or fault.stage != "run":
        return NONE
    error = run.error
    if error.call is not None and error.call < len(run.calls):
        return _rejected(run.calls[error.call], run, graph)
    if error.tool is not None:
        return Attribution(error.tool, None, None, "call", (error.tool,))
    if error.type in _PROGRAM_ERRORS:
        return NONE
    if run.provenance is None:
        return by_traceback(run)
    if not run.provenance.fault or _is_misused(run, error.type, error.message):
        return NONE
    sources = sorted(run.provenance.fault, key=lambda source: _blame_rank(source, run, error.type, error.message))
    first = run.calls[sources[0].call]
    if first.status is None or first.status >= 400:
        return _rejected(first, run, graph)
    names = _names(run.calls[source.call] for source in sources)
    return _data_attribution(sources[0], run, names)


def _is_misused(run: Run, error: str, message: str) -> bool:
    """True if no type has the attribute that failed, or the program wrote `film.title` for `film["title"]`."""
    match = re.fullmatch(r"'(dict|list|str|int|float)' object has no attribute '(\w+)'", message)
    if error != "AttributeError" or match is None or run.provenance is None:
        return False
    source = run.provenance.fault[0]
    value = lookup(run.calls[source.call].response, source.path)
    written = match[1] == "dict" and isinstance(value, dict) and match[2] in value
    return written or not any(hasattr(kind, match[2]) for kind in (dict, list, str, int, float))


def by_traceback(run: Run) -> Attribution:
    """Attribution by the traceback alone: the call on the failing line, else the last one before the failure."""
    lines = reversed(run.error.trace if run.error else ())
    for line in lines:
        here = [call for call in run.calls if call.line == line and call.tool]
        if here:
            return Attribution(here[-1].tool, here[-1].index, None, "line", _names(reversed(here)))
    last = next((call for call in reversed(run.calls) if call.tool), None)
    return Attribution(last.tool, last.index, None, "line", _names(reversed(run.calls))) if last else NONE


def _rejected(call: CallRecord, run: Run, graph: ProtocolGraph) -> Attribution:
    """Blame a call that failed or was not sent, unless another call provided a wrong value for it."""
    itself = Attribution(call.tool, call.index, None, "call", _names([call]))
    if call.tool is None or (call.status is not None and call.status >= 500):
        return itself
    unsent = call.status is None and call.attempts == 0
    if call.status is None and not unsent:
        return itself
    tool = next((tool for tool in graph.protocol.tools if tool.name == call.tool), None)
    providers: list[CallRecord] = []
    wrong_sources: dict[str, Source | None] = {}
    for name, value, sources in traced_arguments(call, run, tool):
        if not sources:
            continue
        source = sources[0]
        provider = run.calls[source.call]
        providers.append(provider)
        if value in (None, "", [], {}) or isinstance(lookup(provider.response, source.path), MissingValue):
            return _data_attribution(source, run, _names([provider, call]))
        wrong_sources[name] = source if source.how == "exact" and _is_wrong(call, name, source, run, graph) else None
    for name, wrong_source in wrong_sources.items():
        # Another argument that is itself wrong may take this identifier: the two are swapped.
        others = (other for other in call.arguments if other != name and wrong_sources.get(other, call) is not None)
        if wrong_source is not None and not any(_provides(call, other, wrong_source, run, graph) for other in others):
            return _data_attribution(wrong_source, run, _names([run.calls[wrong_source.call], call]))
    return Attribution(call.tool, call.index, None, "call", _names([call, *providers]))


def _is_wrong(call: CallRecord, argument: str, source: Source, run: Run, graph: ProtocolGraph) -> bool:
    """True if an identifier comes from a field with identifiers of another type."""
    names = [step for step in source.path if isinstance(step, str)]
    if not names or attribute_of(names[-1]) is None or not graph.providers(call.tool or "", argument):
        return False
    return not _provides(call, argument, source, run, graph)


def _provides(call: CallRecord, argument: str, source: Source, run: Run, graph: ProtocolGraph) -> bool:
    """True if a source is a provider of an argument."""
    general = tuple(0 if isinstance(step, int) else step for step in source.path)
    provider = run.calls[source.call].tool
    return any(
        provided.tool == provider and provided.path == general
        for provided in graph.providers(call.tool or "", argument)
    )


def _data_attribution(source: Source, run: Run, names: tuple[str, ...]) -> Attribution:
    call = run.calls[source.call]
    path, error = source.path, run.error
    value = lookup(call.response, path)
    if error is not None and error.type == "KeyError" and isinstance(value, dict):
        key = error.message.strip("'\"")
        path = path if key in value else (*path, key)  # where it should be
    return Attribution(call.tool, call.index, subscripts(path) or None, "data", names, evidence(run))


def _blame_rank(source: Source, run: Run, error: str, message: str) -> int:
    """The rank of a value among the suspects, 0 first: absent, empty, a text for a number, any other."""
    if source.how == "decided":
        return 9
    value = lookup(run.calls[source.call].response, source.path)
    if value is None or isinstance(value, MissingValue):
        return 0
    if error == "KeyError" and isinstance(value, dict):
        return 0 if message.strip("'\"") not in value else 3
    if value in ("", [], {}):
        return 1
    return 2 if isinstance(value, str) and error in ("TypeError", "ValueError") else 3


def _names(calls: Iterable[CallRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(call.tool for call in calls if call.tool))
