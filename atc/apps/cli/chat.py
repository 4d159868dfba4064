"""`atc chat`: questions one after another, each of which knows those before it."""

from __future__ import annotations

import itertools
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from atc.apps.cli import say
from atc.apps.cli.asking import AgentOptions, check_passwords, load_api, open_agent, tell_message, tell_solution
from atc.apps.cli.confirm import Confirmation
from atc.apps.cli.help_pages import BriefCommand
from atc.apps.cli.model import offer_pull
from atc.apps.cli.options import check_api_options, json_option, option, out_file, takes
from protocols.errors import ATCError, UsageError

if TYPE_CHECKING:
    from atc.apps.tui import SolveView
    from atc.chat import Chat
    from atc.events import Event
    from sandbox import Journal

__all__ = ["chat"]

PROMPT = "> "
_REFRESH = "/refresh"
_NOTE = "chat options"


@dataclass(frozen=True, kw_only=True)
class _Options(AgentOptions):
    journal: Path | None = option(
        "--journal",
        type=out_file,
        metavar="FILE",
        common=True,
        help="Keep the chat in FILE; a chat that is there goes on, without --api with the options that it had.",
    )
    as_json: bool = json_option("Print each solution as a line of JSON and nothing else.")

    def resolved(self, journal: Journal) -> _Options:
        """The options of the chat: those of the command, else those that the journal has. Raises: UsageError."""
        if self.api:
            check_api_options(self.agent.simulate, self.agent.base_url, self.agent.auth)
            if self.journal is not None:
                check_passwords(self.api)
            return self.complete()
        noted = journal.noted(_NOTE)
        if noted is None:
            raise click.UsageError("Missing option '--api' (or --journal FILE of a chat).")
        resolved = self.with_noted(noted)
        if resolved is None:
            raise UsageError(f"{self.journal} is damaged; move it away and start a new chat")
        if resolved.agent.auth:
            say(f"signs in with what {self.journal} names: {', '.join(resolved.agent.auth)}")
        return resolved


@click.command(cls=BriefCommand)
@takes(_Options)
def chat(options: _Options) -> None:
    """Answer questions about an API, each with those before it in mind.

    Questions are read from the terminal, or as lines from stdin. Ctrl-C ends a question, ctrl-D the chat. A read is
    made once, unless something was written since then; `/refresh QUESTION` makes all again, and `/refresh` alone asks
    the last question again like that. The exit code is that of the last question.
    """
    from sandbox import Journal

    with Journal(options.journal) as journal, _ended_by_sigterm():
        options = options.resolved(journal)
        protocol = load_api(options, check=True)
        offer_pull(str(options.agent.model))
        conversation = _Conversation(options)
        questions = _questions()
        first = next(questions, None)
        if first is None:
            if sys.stdin.isatty():
                return
            raise UsageError("no question came; write them as lines to stdin, or start the chat at a terminal")
        with (
            open_agent(options, protocol, first, conversation.sink, lambda: conversation.confirmation) as agent,
            agent.chat(journal) as dialogue,
        ):
            journal.note(_NOTE, options.to_note())
            for line in itertools.chain([first], questions):
                conversation.ask(dialogue, line, protocol.warnings)
    click.get_current_context().exit(conversation.exit_code)


class _Conversation:
    """The questions of one command, each with a view and a confirmation of its own; `exit_code` is of the last one."""

    def __init__(self, options: _Options) -> None:
        self.exit_code = 0
        self.confirmation = Confirmation()
        self._options = options
        self._view: SolveView | None = None

    def sink(self, event: Event) -> None:
        """Show an event of the question that is under way."""
        if self._view is not None:
            self._view.sink(event)

    def ask(self, dialogue: Chat, line: str, hidden: tuple[str, ...]) -> None:
        """Answer a line; what goes wrong is told, and the chat goes on."""
        try:
            query, refresh = _read(line, dialogue)
            self._answer(dialogue, query, refresh, hidden)
        except ATCError as error:
            say(str(error))
            self.exit_code = error.exit_code
        except KeyboardInterrupt:  # while things were closed
            say("interrupted")
            self.exit_code = 130

    def _answer(self, dialogue: Chat, query: str, refresh: bool, hidden: tuple[str, ...]) -> None:
        from atc.apps.tui import open_view

        options = self._options
        quiet = options.as_json and not options.verbose
        with (
            open_view(quiet=quiet, verbose=options.verbose, stdout=not options.as_json) as view,
            Confirmation(view.pause, query) as self.confirmation,
        ):
            self._view = view
            solution = dialogue.ask(query, refresh=refresh)
        self._view = None
        self.exit_code = solution.exit_code
        data = solution.to_json()
        if options.as_json:
            click.echo(json.dumps(data, default=str))
            tell_message(data)
        else:
            tell_solution(data, verbose=options.verbose, on_screen=view.answer, hidden=hidden)


def _read(line: str, dialogue: Chat) -> tuple[str, bool]:
    """The question of a line, and whether its reads are made again. Raises: UsageError."""
    command, _, rest = line.partition(" ")
    if command == _REFRESH:
        if not rest.strip() and not dialogue.turns:
            raise UsageError(f"nothing was asked yet; write {_REFRESH} QUESTION")
        return rest.strip() or dialogue.turns[-1].query, True
    if line.startswith("/"):
        raise UsageError(f"{command} is no command of a chat; there is {_REFRESH} [QUESTION], and ctrl-D ends it")
    return line, False


def _questions() -> Iterator[str]:
    """The lines that are typed or piped in; on a terminal ctrl-C drops a line, and ctrl-D ends them."""
    if not sys.stdin.isatty():
        yield from (line.strip() for line in sys.stdin if line.strip())
        return
    import readline  # noqa: F401 - gives `input` its editing and history

    while True:
        try:
            line = input(PROMPT).strip()
        except KeyboardInterrupt:
            click.echo(err=True)
            continue
        except EOFError:
            click.echo(err=True)
            return
        if line:
            yield line


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """End the command at a SIGTERM, which would else end a question like ctrl-C."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(130)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
