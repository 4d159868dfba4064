"""Programs without an agent: run under a writes policy, or checked without a run. The commands go through the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from atc.agent import Agent
from atc.options import Options, check_text, spoken, takes_all
from atc.program.source import renamed
from atc.program_run import ProgramResult
from protocols.errors import ProgramRefused, UsageError
from protocols.gathering import gather
from sandbox.language.policy import compile_program

if TYPE_CHECKING:
    from atc.assist.check import Diagnostic

__all__ = ["check_program", "run_program"]


@dataclass(frozen=True)
class _ProgramAndTools:
    tools: object
    program: str


@dataclass(frozen=True)
class _ProgramArguments(Options, _ProgramAndTools):
    """What is run, with which tools, and the options."""


@takes_all(_ProgramArguments)
def run_program(arguments: _ProgramArguments) -> ProgramResult:
    """Run a program in the sandbox, with the tools as its functions; no model is asked.

    Args:
        tools: As atc.Agent takes them, and so the other arguments; those about models and prompts have no effect.
        program: Python; it may `print` anything.
    Raises: as atc.Agent and `Agent.run_program`.
    """
    _check_program_text(arguments.program)
    options = {name: value for name, value in vars(arguments).items() if name not in ("tools", "program")}
    with Agent(arguments.tools, **options) as agent:
        return agent.run_program(arguments.program)


@spoken
def check_program(
    tools: object, program: str, *, auth: Sequence[str] = (), store: Path | None = None, question: str | None = None
) -> tuple[Diagnostic, ...]:
    """What is wrong with a program, found without running it: in the order of its lines, nothing if it is empty.

    Checked are names of tools and their arguments, keys and types of what the API's document says it returns, variables
    that may have no value, and what the sandbox refuses.

    Args:
        tools: As atc.Agent takes them.
        auth: Credentials for an MCP server, which must be asked for its tools.
        store: What `Agent(store=…)` saw of responses counts, too.
        question: What the program is to answer: identifiers that it does not name are told.
    Raises:
        UsageError, ProtocolError: Something is no source of tools, cannot be read, or is no text of a program.
        CheckerError: The type checker fails.
    """
    from atc.assist.check import Diagnostic, check
    from atc.assist.language.question import Question
    from protocols.contracts.contract import Contract
    from protocols.contracts.store import ContractStore
    from protocols.dataflow.graph import ProtocolGraph

    _check_program_text(program)
    protocol = gather(tools, auth)
    program = renamed(program, protocol.aliases)
    contract = ContractStore(store).contract(protocol) if store is not None else Contract(protocol)
    parsed_question = Question(question) if question is not None else None
    diagnostics = check(program, contract, question=parsed_question, graph=ProtocolGraph(protocol), strict=True)
    if not any(diagnostic.rule == "syntax" for diagnostic in diagnostics):
        try:
            compile_program(program)
        except ProgramRefused as error:
            return (Diagnostic(error.line or 1, 0, "refused", str(error)), *diagnostics)
    return tuple(diagnostics)


def _check_program_text(program: object) -> None:
    """Raises: UsageError: It is no text, or the name of a file, as when the arguments are in the other order."""
    check_text("program", program)
    if os.path.isfile(str(program)):  # noqa: PTH113 - Path.is_file fails on a name as long as a program
        raise UsageError(f"program is {program!r}, a file: it must be the text of a program, after the tools")
