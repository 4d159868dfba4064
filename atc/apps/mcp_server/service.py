"""The five things that the MCP server offers, for callers in any thread; it knows nothing of the protocol.

The API, its credentials and the writes policy are those of whoever started the server. A client gives questions,
programs and names. It gets models, from which output schemas are written: the descriptions of their fields are for the
client's model.
"""

from __future__ import annotations

import difflib
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from atc.agent import SIMULATED_NOW, Agent
from atc.diagnosis.attribution import attribute
from atc.events import Event
from atc.fault import Attribution, Fault, Stage
from atc.options import Options, check_text
from atc.program.source import renamed
from atc.solution import Standing
from protocols.calls.call_errors import signature
from protocols.choice import choose
from protocols.contracts.contract import Contract
from protocols.documentation import documentation
from protocols.errors import UsageError
from protocols.model import Protocol
from protocols.render import render_full, sentence
from sandbox.body_store import LargeBody
from sandbox.records import Run

if TYPE_CHECKING:
    from protocols.simulator import Simulator

__all__ = ["CheckedProgram", "FoundTools", "ProgramRun", "SolvedQuestion", "ToolDocumentation", "ToolService"]

_FOUND = 10
"""Tools that a search gives at most."""


class _Part(BaseModel):
    """A part of a result, read from the record of the same names."""

    model_config = ConfigDict(from_attributes=True)


class SolvedQuestion(_Part):
    """The answer to a question, and what speaks against it."""

    answer: str | None = Field(description="None where there is no answer; `message` then says why.")
    standing: Standing | None = Field(
        description="supported; qualified: the note says what was assumed or not possible; doubtful: `findings` speak "
        "against it; unsupported: nothing of it rests on a reply."
    )
    note: str = Field(description="What the model said beside its program.")
    findings: list[str] = Field(description="Reasons to doubt the answer.")
    program: str = Field(description="The program that gave it.")
    status: str = Field(description="answered, failed, refused, limit, model_error, api_error or interrupted.")
    message: str = Field(description="Why there is no answer.")
    attempts: int = Field(description="Programs that were tried.")

    @field_validator("findings", "attempts", mode="before")
    @classmethod
    def _in_short(cls, value: Any, info: ValidationInfo) -> Any:
        return len(value) if info.field_name == "attempts" else [finding.message for finding in value]


class ProgramDiagnostic(_Part):
    """A mistake in a program."""

    line: int = Field(description="From 1.")
    column: int = Field(description="From 0.")
    rule: str
    message: str
    tool: str | None = Field(description="The tool whose call or response it is about.")
    suggestion: str | None = Field(description="What was probably meant.")


class CheckedProgram(_Part):
    """The mistakes in a program that was not run; none where nothing was found."""

    diagnostics: list[ProgramDiagnostic]


class ProgramCall(_Part):
    """A call that a program made."""

    tool: str | None = Field(description="None for a request that is no operation of the API.")
    arguments: dict[str, Any]
    line: int | None
    status: int | None = Field(description="HTTP status; None where no reply came.")
    error: str | None
    refused: bool = Field(description="A write that is not allowed here, and was not sent.")
    response: Any = Field(description="Parsed JSON, or text; of a large one its beginning.")

    @field_validator("response", mode="before")
    @classmethod
    def _beginning(cls, value: Any) -> Any:
        return value.beginning if isinstance(value, LargeBody) else value


class ProgramFault(_Part):
    """What ended a program."""

    type: str = Field(description="The class of the exception, or LimitReached or ProgramRefused.")
    message: str
    line: int | None
    snippet: str = Field(description="The program around the line.")


class BlamedCall(_Part):
    """The tool whose call made a program fail."""

    tool: str
    call: int | None = Field(description="Index among the calls.")
    path: str | None = Field(description="Where in its response the fault lies.")
    evidence: list[str] = Field(description="What the response holds there.")


class ProgramRun(BaseModel):
    """The course of a program."""

    outcome: Literal["ok", "error", "refused", "limit", "interrupted"]
    output: str = Field(description="What it printed.")
    errors: str = Field(description="What it printed on stderr.")
    calls: list[ProgramCall]
    fault: ProgramFault | None
    attribution: BlamedCall | None = Field(description="None where the fault is the program's own.")
    warnings: list[str]

    @classmethod
    def of(cls, run: Run, fault: Fault | None, attribution: Attribution | None) -> ProgramRun:
        blamed = attribution is not None and attribution.tool is not None
        return cls(
            outcome=run.outcome,
            output=run.stdout,
            errors=run.stderr,
            calls=[ProgramCall.model_validate(call) for call in run.calls],
            fault=ProgramFault.model_validate(fault) if fault is not None else None,
            attribution=BlamedCall.model_validate(attribution) if blamed else None,
            warnings=list(run.warnings),
        )


class FoundTool(BaseModel):
    """A tool in a line."""

    name: str
    signature: str = Field(description="How a program calls it.")
    summary: str
    writes: bool = Field(description="Whether a call may change something.")


class FoundTools(BaseModel):
    """The tools that a question is likeliest to need, best first."""

    tools: list[FoundTool]


class ToolDocumentation(BaseModel):
    """A tool as a program writes it."""

    name: str
    documentation: str = Field(description="Signature, sources of its identifiers, and the fields of its response.")
    reference: str = Field(description="Every parameter, and the response as a JSON schema.")


class ToolService:
    """An agent for one protocol.

    With `options.simulate` each question is solved in a world of its own; all programs that are run share another one.

    Raises: UsageError: An option is unknown or contradicts another one, or asks somebody; a credential cannot be read.
    """

    def __init__(self, protocol: Protocol, options: Options) -> None:
        writes = options.writes or "deny"
        if writes == "ask" or writes == "plan":
            raise UsageError(f"writes={writes!r}: nobody can be asked here; choose allow, deny or simulate")
        self.writes: Literal["allow", "deny", "simulate"] = writes
        self._closing = ExitStack()
        self._simulator: Simulator | None = None
        options = replace(options, writes=self.writes)
        protocol = choose(protocol, options.only, options.without, options.reads, hints=options.takes_hints)
        self.protocol = protocol
        with ExitStack() as failing:
            failing.callback(self.close)
            if options.simulate is True:
                from protocols.simulator import Simulator

                now = options.now or SIMULATED_NOW
                simulator = self._closing.enter_context(Simulator(protocol, seed=options.seed, now=now))
                options = replace(options, simulate=simulator.session(), now=now)
                self._simulator = simulator
            self.agent = self._closing.enter_context(Agent(protocol, **vars(options)))
            failing.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the agent, its model and the simulated API."""
        self._closing.close()

    @property
    def changes_nothing(self) -> bool:
        """True if no call can change anything at the API."""
        return self.writes in ("deny", "simulate")

    @property
    def simulated(self) -> bool:
        """True if the API is a simulated one."""
        return self._simulator is not None

    async def solve(self, query: str) -> AsyncGenerator[Event, None]:
        """The events of a solve; the last one has the solution. Raises: UsageError, ModelError."""
        import anyio.to_thread

        async with AsyncExitStack() as stack:
            agent = self.agent
            if self._simulator is not None:
                model = await anyio.to_thread.run_sync(lambda: agent.model)
                agent = await stack.enter_async_context(
                    agent.within(model, self._simulator.session(query=query, rehearses=True))
                )
            async for event in agent.astream(query):
                yield event

    def check_program(self, program: str) -> CheckedProgram:
        """The diagnostics of a program, which is not run."""

        from atc.assist.check import check

        program = renamed(program, self.protocol.aliases)
        diagnostics = check(program, Contract(self.protocol), graph=self.agent.graph)
        return CheckedProgram.model_validate({"diagnostics": diagnostics})

    def run_program(self, program: str) -> ProgramRun:
        """Run a program with the tools as its functions."""
        run = self.agent.run_program(program).run
        error, fault = run.error, None
        if error is not None:
            stage: Stage = "policy" if run.outcome == "refused" else "run"
            fault = Fault(stage, error.type, error.message, error.line, error.snippet)
        return ProgramRun.of(run, fault, attribute(fault, run, self.agent.graph) if fault is not None else None)

    def search_tools(self, query: str, limit: int = _FOUND) -> FoundTools:
        """The tools that a question is likeliest to need, best first."""
        check_text("query", query)
        if not query.strip():
            raise UsageError("the query is empty")
        ranked = tuple(self.agent.candidates.scores(query.strip()))[: max(1, limit)]
        tools = [self.protocol.tool(name) for name in ranked]
        lines = [
            FoundTool(name=t.name, signature=signature(t), summary=sentence(t.description), writes=t.writes)
            for t in tools
        ]
        return FoundTools(tools=lines)

    def describe_tool(self, name: str) -> ToolDocumentation:
        """A tool as the model reads it, and all there is to know. Raises: UsageError: There is no such tool."""
        check_text("name", name)
        if name not in self.protocol:
            if (why := self.protocol.why_left_out(name)) is not None:
                raise UsageError(f"there is no tool {name[:100]!r}: {why}")
            near = difflib.get_close_matches(name, [tool.name for tool in self.protocol.tools], n=1, cutoff=0.4)
            raise UsageError(f"there is no tool {name[:100]!r}{f'; did you mean {near[0]}?' if near else ''}")
        tool = self.protocol.tool(name)
        text = documentation([tool], self.agent.graph, sources=[tool.name for tool in self.protocol.tools])
        return ToolDocumentation(name=tool.name, documentation=text, reference=render_full([tool]))
