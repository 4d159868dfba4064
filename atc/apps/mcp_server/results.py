"""What the tools of the MCP server give: models, from which their output schemas are written.

The descriptions of the fields are for the client's model.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from atc.fault import Attribution, Fault
from atc.solution import Standing
from sandbox.body_store import LargeBody
from sandbox.records import Run

__all__ = ["CheckedProgram", "FoundTools", "ProgramRun", "SolvedQuestion", "ToolDocumentation"]


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
