"""How many right programs of a strong model are accepted as they are.

`python -m benchmarks.micro.acceptance [NAME…]` takes the files of `data/acceptance`, one for each API document. A file
holds questions, each with a right program, and the replies of a service that the programs are right for. A server with
these replies stands in for the service; the model answers with the program, whatever it is asked.
Each program is also run directly in the sandbox. It is accepted if the first attempt is the program without a change
and the answer is what the direct run printed.

The documents are found in the folder `openapi` of `ATC_DATA`, or in that of `--documents`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import click
import yaml
from rich.console import Console
from rich.progress import track

from atc import Agent
from atc.files import to_json
from benchmarks.harness.registry import SHIPPED
from benchmarks.injection.replies import Reply, json_reply
from benchmarks.micro.frame import Measurement, find_document, json_option, repeating
from benchmarks.report.render import print_table
from protocols import Protocol, UsageError, load
from protocols.simulator.http.http_server import ConnectionServer
from sandbox import Run, Sandbox

__all__ = ["StandIn", "main", "read_file", "run_directly", "solve"]

FOLDER = SHIPPED / "acceptance"


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """A reply of the service: to which request, and with what.

    `query` and `body` are part of the request's; the reply with the most of them is sent. Of several `bodies` each is
    sent once, in order, and the last one from then on.
    """

    method: str
    path: str
    query: Mapping[str, str]
    body: object
    status: int
    bodies: tuple[object, ...]

    def fits(self, method: str, path: str, query: Mapping[str, str], body: object) -> bool:
        """True if this is a reply to a request."""
        same = (method, path) == (self.method, self.path) and self.query.items() <= query.items()
        return same and _contains(body, self.body)


@dataclass(frozen=True, slots=True)
class RightProgram:
    """A question, a program that answers it, and the replies that only this program gets."""

    question: str
    program: str
    replies: tuple[ServiceReply, ...]


def read_file(file: Path) -> tuple[str, list[RightProgram]]:
    """The name of the document, and the programs, each with all replies that it may get.

    Raises: UsageError: The file cannot be read.
    """
    try:
        data = yaml.safe_load(file.read_text("utf-8"))
        shared = [_reply(raw) for raw in data.get("replies", ())]
        programs = [
            RightProgram(raw["question"], raw["program"], (*(_reply(own) for own in raw.get("replies", ())), *shared))
            for raw in data["programs"]
        ]
        return data["document"], programs
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file} cannot be read: {type(error).__name__}: {error}") from None


def _reply(raw: Mapping[str, Any]) -> ServiceReply:
    method, target = str(raw["call"]).split(" ", 1)
    parts = urlsplit(target)
    bodies = tuple(raw["replies"]) if "replies" in raw else (raw.get("reply"),)
    return ServiceReply(
        method, unquote(parts.path), dict(parse_qsl(parts.query)), raw.get("body"), int(raw.get("status", 200)), bodies
    )


def _contains(whole: object, part: object) -> bool:
    """True if a value has everything that another one has."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(key in whole and _contains(whole[key], part[key]) for key in part)
    return part is None or whole == part


@dataclass
class StandIn:
    """Answers requests with the replies of a file, and 404 to all others."""

    replies: Sequence[ServiceReply]
    sent: dict[int, int] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def answer(self, method: str, target: str, body: object) -> tuple[int, object]:
        """The status and body for a request."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query))
        fitting = [
            (len(reply.query) + (reply.body is not None), -place, reply)
            for place, reply in enumerate(self.replies)
            if reply.fits(method, unquote(parts.path), query, body)
        ]
        if not fitting:
            self.unknown.append(f"{method} {target}")
            return 404, {"message": "not found"}
        reply = max(fitting, key=lambda rated: rated[:2])[2]
        count = self.sent.get(id(reply), 0)
        self.sent[id(reply)] = count + 1
        return reply.status, reply.bodies[min(count, len(reply.bodies) - 1)]


@contextmanager
def _serving(answer: Callable[[str, str, object], tuple[int, object]]) -> Iterator[str]:
    """A JSON server on this machine; gives its URL."""

    def handle(method: str, target: str, headers: Mapping[str, str], body: bytes) -> Reply:
        try:
            content = json.loads(body) if body else None
        except ValueError:
            content = dict(parse_qsl(body.decode("utf-8", "replace"))) or None
        status, reply = answer(method, target, content)
        return (status, b"", "", {}) if status == 204 else json_reply(reply, status)

    with closing(ConnectionServer(0, handle, datetime.now(UTC))) as server:
        yield server.url


def solve(protocol: Protocol, task: RightProgram, profile: str) -> dict[str, Any]:
    """What becomes of a right program.

    Returns: `accepted` as it was at the first attempt, `altered`, `right` (the answer is that of the direct run),
        `findings` against the answer, `fault` (the first one), `broken` (why the direct run failed; then the file is
        wrong).
    """
    direct = run_directly(protocol, task)
    with _serving(StandIn(task.replies).answer) as service:
        url = f"{service}/"  # as it is: the stand-in has no path
        with Agent(protocol, repeating(task.program), base_url=url, profile=profile, writes="allow") as agent:
            solution = agent.solve(task.question)
    first = solution.attempts[0] if solution.attempts else None
    unchanged = first is not None and first.program.strip() == task.program.strip()
    fault = next((attempt.fault for attempt in solution.attempts if attempt.fault), None)
    right = direct.error is None and solution.answer == direct.stdout.strip()
    return {
        "question": task.question,
        "accepted": unchanged and right and len(solution.attempts) == 1,
        "altered": any(attempt.program.strip() != task.program.strip() for attempt in solution.attempts),
        "right": right,
        "findings": [finding.warning() for finding in solution.findings],
        "fault": fault.message if fault else solution.message,
        "broken": "" if direct.error is None else f"{direct.error.type}: {direct.error.message}",
    }


def run_directly(protocol: Protocol, task: RightProgram) -> Run:
    """The program as it is, run in the sandbox, without an agent."""
    with _serving(StandIn(task.replies).answer) as url:
        return Sandbox(protocol, base_url=f"{url}/", writes="allow").run(task.program)


@click.command(cls=Measurement)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--documents", type=click.Path(file_okay=False, path_type=Path), help="The folder of the documents.")
@click.option("--profile", default="large", show_default=True, help="The profile of the model.")
@json_option("Print JSON instead of the table.")
def main(names: tuple[str, ...], documents: Path | None, profile: str, as_json: bool) -> None:
    """Measure how many right programs are accepted as they are: of all files, or of those with a NAME."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        if names and file.stem not in names:
            continue
        document, programs = read_file(file)
        protocol = load(find_document(document, documents))
        tracked_programs = track(programs, file.stem, console=Console(stderr=True), transient=True)
        rows[file.stem] = [solve(protocol, task, profile) for task in tracked_programs]
    if as_json:
        click.echo(to_json(rows), nl=False)
        return
    everything = [row for results in rows.values() for row in results]
    counted = ["accepted", "altered", "right", "findings", "broken"]
    titles = ["document", "programs", "accepted", "altered", "answer right", "doubted", "broken"]
    print_table(
        f"Right programs, profile {profile}",
        titles,
        [
            (name, len(results), *(sum(bool(row[key]) for row in results) for key in counted))
            for name, results in (*rows.items(), *([("all", everything)] if len(rows) > 1 else []))
        ],
    )
    for row in everything:
        if not row["accepted"]:
            Console().print(f"- {row['question']}: {row['broken'] or row['fault']}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
