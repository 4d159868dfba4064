"""The parts of a view: a call, a fault, a search, what an answer rests on, the figures at the end.

Both views, the live one and the plain one, are built from them. All text from outside passes through `visible` here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from atc.apps.tui.nodes import node_line, trials
from atc.apps.tui.text import first_line, value_text
from atc.costs import dollars
from atc.fault import Attribution, Fault
from atc.models.base import Progress
from atc.search_tree import NodeOutcome, SearchNode
from atc.solution import Solution, Standing
from protocols.json_path import readable_path
from protocols.quoting import one_line, shorten, visible
from sandbox.records import CallRecord

__all__ = [
    "ATTRIBUTION_REASONS",
    "attribution_text",
    "call_row",
    "call_text",
    "diff_lines",
    "evidence_lines",
    "fault_text",
    "flow_lines",
    "indented",
    "note_lines",
    "progress_text",
    "standing_text",
    "summary_line",
    "tree_text",
]

FACT_WIDTH = 200
"""Longest line of evidence shown."""

EVIDENCE_SHOWN = 4
"""Most places in responses, and most choices, that are shown under an answer."""

_ANY = '["*"]'
"""How a readable path spells the place in a list that stands for several."""

STANDING_STYLES: Mapping[Standing, str] = {
    "supported": "green",
    "qualified": "cyan",
    "doubtful": "yellow",
    "unsupported": "red",
}

OUTCOME_STYLES: Mapping[NodeOutcome, str] = {
    "answer": "green",
    "give_up": "yellow",
    "depth": "yellow",
    "limit": "red",
    "error": "red",
    "abandoned": "dim",
}

ATTRIBUTION_REASONS = {
    "call": "its call failed",
    "line": "its call is nearest in the traceback",
    "data": "what failed came from its response",
    "check": "seen before anything ran",
    "none": "",
}


def call_text(call: CallRecord) -> str:
    """A call on one line: status (or the reason without one), milliseconds unless replayed, and the call as the program
    might have written it: `GET_search_person(query="Ada")`."""
    status = "---" if call.status is None else str(call.status)
    tail = f" {first_line(call.error, 120)}" if call.error and call.status is None else ""
    tail = f" (simulated){tail}" if call.simulated else tail
    took = "replayed" if call.replayed else f"{call.ms:5.0f} ms"
    arguments = ", ".join(f"{name}={value_text(value)}" for name, value in call.arguments.items())
    if call.tool is None:
        signature = visible(f"{call.method} {call.url}")
    else:
        signature = visible(f"{call.tool}({arguments})").replace("\n", "␊")
    return f"{status} {took}  {signature}{tail}"


def call_row(call: CallRecord) -> Text:
    """The same line with colour."""
    good = call.status is not None and 200 <= call.status < 300
    row = Text(call_text(call))
    row.stylize("green" if good else "red", 0, 3)
    row.stylize("dim", 3, 12)
    return row


def fault_text(fault: Fault) -> str:
    """A fault in one line."""
    place = f"line {fault.line}: " if fault.line else ""
    return one_line(f"{place}{fault.type}: {fault.message}".rstrip(": \n"))


def attribution_text(attribution: Attribution) -> str:
    """The tool to blame, the reason, and the evidence; empty when it is the program's own fault."""
    if attribution.tool is None:
        return ""
    location = f" at {attribution.path}" if attribution.path else ""
    other_tools = [tool for tool in attribution.candidates if tool != attribution.tool]
    alternatives = f"; considered too: {', '.join(other_tools)}" if other_tools else ""
    summary = visible(f"to blame: {attribution.tool}{location} ({ATTRIBUTION_REASONS[attribution.how]}{alternatives})")
    return "\n".join([summary, *(f"  {shorten(visible(fact), FACT_WIDTH)}" for fact in attribution.evidence[:2])])


def indented(line: str, style: str = "") -> RenderableType:
    """A line below a heading; where it is wrapped, its other lines are indented too."""
    return Padding(Text(line, style=style), (0, 0, 0, 2), expand=False)


def progress_text(progress: Progress) -> str:
    """The model's progress: `reads 512 of 1,749 tokens · about 12 s left`, then the amount written."""
    if progress.text:
        return f"writes · {_count(len(progress.text), 'character')}"
    if progress.reasoning:
        return f"thinks · {_count(len(progress.reasoning), 'character')}"
    if progress.read >= progress.prompt_tokens:
        return f"has read {progress.prompt_tokens:,} tokens"
    progress_count = f"{progress.read:,} of " if progress.read else ""
    seconds_left = progress.seconds_left
    about = f" · about {max(seconds_left, 1):.0f} s left" if seconds_left is not None else ""
    return f"reads {progress_count}{progress.prompt_tokens:,} tokens{about}"


def summary_line(solution: Solution) -> str:
    """The last line: status, reflections, calls, tokens, seconds and dollars."""
    usage, seconds = solution.usage, solution.seconds
    calls = [call for attempt in solution.attempts for call in attempt.calls]
    replayed = sum(call.replayed for call in calls)
    shares = [f"{name} {seconds[name]:.1f}" for name in ("model", "run") if name in seconds]
    fields: Sequence[str] = (
        solution.status,
        _count(solution.reflections, "reflection"),
        _count(len(calls), "call") + (f" ({replayed} replayed)" if replayed else ""),
        f"{usage.prompt_tokens:,} tokens read" + (f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""),
        f"{usage.completion_tokens:,} written",
        f"{seconds.get('total', 0.0):.1f} s" + (f" ({', '.join(shares)})" if shares else ""),
        *([dollars(solution.cost)] if solution.cost is not None else []),
    )
    return " · ".join(fields)


def standing_text(solution: Solution) -> Text | None:
    """How far the answer can be relied on, in a word and why; None without an answer."""
    standing = solution.standing
    if standing is None:
        return None
    findings = solution.findings
    reason = {
        "supported": "nothing was found that speaks against it",
        "qualified": "the model says what it assumed, or could not do",
        "doubtful": f"{_count(len(findings), 'finding')} against it: {', '.join(finding.kind for finding in findings)}",
        "unsupported": "nothing of it rests on a reply of the API",
    }[standing]
    return Text(f"{standing}: {reason}", style=STANDING_STYLES[standing])


def note_lines(solution: Solution) -> list[str]:
    """What the model said beside its last program, or in place of one, marked as such: no line is like one of ours."""
    lines = [visible(line) for line in solution.note.splitlines() if line.strip()]
    return [f"{'      ' if number else 'note: '}{line}" for number, line in enumerate(lines)]


def evidence_lines(solution: Solution) -> list[str]:
    """What the answer rests on: places in responses, choices of the program, arguments that the question gave."""
    if solution.answer is None:
        return []
    places = [
        f"{solution.calls[source.call].tool or solution.calls[source.call].url} → {readable_path(source.path)}"
        for source in solution.evidence
    ]
    chosen = [f"line {choice.line}: {choice.kind} {choice.text}" for choice in solution.choices]
    question_arguments = [
        f"{flow.argument}={value_text(solution.calls[flow.call].arguments.get(flow.argument))}"
        for flow in solution.flow
        if flow.origin == "query"
    ]
    return [
        *_evidence("rests on", places),
        *_evidence("chosen by", chosen),
        *_evidence("from the question", question_arguments),
    ]


def flow_lines(solution: Solution, most: int = EVIDENCE_SHOWN) -> list[str]:
    """The data flow between the calls of the last program: which field of a response fed which argument.

    Calls of the same tools by the same field are one line: `GET_a → items[*].id to GET_b(id), 3 times`.

    Args:
        most: Most lines of it; a further one says how many there are besides.
    """
    paths: dict[tuple[str, str, str], list[str]] = {}
    for flow in solution.flow:
        if flow.origin == "response" and flow.source is not None:
            source, target = solution.calls[flow.source], solution.calls[flow.call]
            fed = f"{target.tool or target.url}({flow.argument})"
            field = readable_path(["*" if isinstance(step, int) else step for step in flow.path])
            paths.setdefault((source.tool or source.url, field, fed), []).append(readable_path(flow.path))
    lines = [
        f"{source} → {exact[0]} to {fed}"
        if len(exact) == 1
        else f"{source} → {field.replace(_ANY, '[*]')} to {fed}, {len(exact)} times"
        for (source, field, fed), exact in paths.items()
    ]
    return _evidence("data flow", lines, most)


def tree_text(nodes: Sequence[SearchNode]) -> RenderableType:
    """All messages of a search in their order, below a heading for each try.

    A message names the one that it follows, unless that is the one above it.

    Args:
        nodes: In the order of their messages, as in `Solution.tree`.
    """
    by_trial = trials(nodes)
    lines = []
    for trial, part in by_trial.items():
        head = f"try {trial}" if len(by_trial) > 1 or trial > 1 else "search"
        lines.append(Text(f"{head} · {len(part)} message{'' if len(part) == 1 else 's'}", style="bold"))
        before = 0
        for node in part:
            after = f"after {node.parent}: " if node.parent != before else ""
            message = node_line(node) or "(an empty message)"
            style = OUTCOME_STYLES.get(node.outcome, "")
            lines.append(Text.assemble((after, "dim"), (f"{node.id} ", "bold"), (message, style)))
            before = node.id
    return Group(*lines)


def _evidence(title: str, facts: Sequence[str], most: int = EVIDENCE_SHOWN) -> list[str]:
    """Some facts under a title, each on a line, and how many more there are."""
    distinct = list(dict.fromkeys(facts))
    if not distinct:
        return []
    more = len(distinct) - most
    lines = [shorten(visible(fact).replace("\n", "␊"), FACT_WIDTH) for fact in distinct[:most]]
    lines += [f"and {more} more"] if more > 0 else []
    return [f"{title}: {lines[0]}", *(f"{' ' * len(title)}  {line}" for line in lines[1:])]


def diff_lines(diff: Sequence[str]) -> list[str]:
    """What was put right in a program without the model; empty where nothing was."""
    return ["changed without the model:", *(f"  {visible(line)}" for line in diff)] if diff else []


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
