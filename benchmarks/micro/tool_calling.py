"""What the questions of `atc bench services` cost with the tools of fastmcp: one call at a time, or its code mode.

fastmcp makes the tools from the same documents, and a plain loop of chat completions gives them to the model until it
answers without a call: the loop that one writes to put an MCP server behind a model. Services, judge and the form of
the answer are those of our modes. Tokens are estimated for all alike, four characters each, of whatever a request or
an answer holds: messages, calls, and the schemas of the functions, which every request sends again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.files import to_json
from atc.models import Message, open_model
from atc.models.base import FunctionCall, FunctionSpec, Model, ModelRequest, answer
from benchmarks.micro.frame import Measurement, json_option
from benchmarks.report.render import print_table
from benchmarks.services.services_run import FOLDER, ServiceTask, read_services, service_names
from benchmarks.services.truth import answer_faults, state_faults
from benchmarks.tasks.service import DataService, ServiceData

if TYPE_CHECKING:
    from fastmcp import Client

__all__ = ["ToolAnswer", "main", "solve"]

MODEL_CALLS = 40
OUTPUT_TOKENS = 4_096
CHARACTERS = 4
"""Of a token: what the endpoint of the recorded runs counts."""

INSTRUCTION = """\
You answer a question with the functions of an API. Call them until their results answer the question. Then answer \
without a call, for a reader: a sentence or a short table in plain words, names instead of identifiers, numbers \
rounded and with their unit. Today is {today}."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What came of a question, with its cost; `faults` is empty where the answer is right."""

    id: str
    answer: str
    faults: Sequence[str]
    model_calls: int
    prompt_tokens: int
    completion_tokens: int


def solve(task: ServiceTask, data: ServiceData, model: Model, *, code: bool = False) -> ToolAnswer:
    """Let a model answer with the tools of fastmcp, at a fresh service.

    Args:
        code: With fastmcp's code mode: the model searches the tools and writes programs that call them.
    Raises: ModelError: The model is unavailable.
    """
    with closing(DataService(data)) as served:
        text, costs = asyncio.run(_converse(task, data, served.url, model, code))
        faults = [*answer_faults(text, task.truth), *state_faults(data, served.records, task.truth)]
    prompt, completion = (sum(cost[place] for cost in costs) for place in (0, 1))
    return ToolAnswer(task.id, text, faults, len(costs), prompt, completion)


async def _converse(
    task: ServiceTask, data: ServiceData, url: str, model: Model, code: bool
) -> tuple[str, list[tuple[int, int]]]:
    """The answer, empty where the calls of the model ran out, and the tokens read and written in each call."""
    import httpx2
    import yaml
    from fastmcp import Client, FastMCP
    from fastmcp.experimental.transforms.code_mode import CodeMode

    document = yaml.safe_load((FOLDER / task.service / "openapi.yaml").read_text("utf-8"))
    async with httpx2.AsyncClient(base_url=url) as http:
        server = FastMCP.from_openapi(document, client=http, transforms=[CodeMode()] if code else [])
        async with Client(server) as client:
            functions = tuple(
                FunctionSpec(tool.name, tool.description or "", tool.input_schema) for tool in await client.list_tools()
            )
            schemas = sum(len(json.dumps(_wire(function), separators=(",", ":"))) for function in functions)
            messages = [
                Message("system", INSTRUCTION.format(today=data.now.date().isoformat())),
                Message("user", task.query),
            ]
            costs: list[tuple[int, int]] = []
            while len(costs) < MODEL_CALLS:
                request = ModelRequest(messages, max_tokens=OUTPUT_TOKENS, functions=functions)
                completion = answer(model, request)
                turn = completion.message()
                costs.append(((schemas + sum(map(_length, messages))) // CHARACTERS, _length(turn) // CHARACTERS))
                if not turn.calls:
                    return turn.content, costs
                messages.append(turn)
                messages += [await _result(client, call) for call in turn.calls]
    return "", costs


async def _result(client: Client[Any], call: FunctionCall) -> Message:
    """The text of a result, or of the error, which the model is to read."""
    try:
        result = await client.call_tool(call.name, json.loads(call.arguments or "{}"), raise_on_error=False)
        text = "\n".join(part.text for part in result.content if part.type == "text")
    except ValueError as error:
        text = f"the arguments are no JSON: {error}"
    return Message("tool", text, call_id=call.id, name=call.name)


def _wire(function: FunctionSpec) -> dict[str, object]:
    return {"name": function.name, "description": function.description, "parameters": function.parameters}


def _length(message: Message) -> int:
    """Characters of a turn: its text, and the names and arguments of its calls."""
    return len(message.content) + sum(len(call.name) + len(call.arguments) for call in message.calls)


@click.command(cls=Measurement)
@click.option("--model", required=True, help="Model that calls functions, such as openai:NAME or replay:FILE.")
@click.option("--reuse", type=click.Path(path_type=Path), help="Answers are kept here, and taken from here.")
@click.option("--code", is_flag=True, help="With fastmcp's code mode.")
@click.option("--limit", type=int, help="Only the first tasks.")
@click.option("--workers", default=1, show_default=True, help="Questions at a time.")
@json_option()
def main(model: str, reuse: Path | None, code: bool, limit: int | None, workers: int, as_json: bool) -> None:
    """Ask the questions of `atc bench services` with the tools that fastmcp makes from the documents.

    To go on after a stop, repeat the command with the same --reuse.
    """
    services, tasks = read_services(service_names())
    with closing(open_model(model, reuse=reuse)) as opened, ThreadPoolExecutor(workers) as pool:
        answers = list(pool.map(lambda task: solve(task, services[task.service], opened, code=code), tasks[:limit]))
    means = {
        name: round(sum(getattr(task_answer, name) for task_answer in answers) / len(answers), 2)
        for name in ("model_calls", "prompt_tokens", "completion_tokens")
    }
    right = sum(not task_answer.faults for task_answer in answers)
    if as_json:
        click.echo(to_json({"right": right, "tasks": len(answers), **means, "wrong": _wrong(answers)}))
        return
    columns = ("right", "calls", "tokens read", "written")
    print_table("", columns, [(f"{right} of {len(answers)}", *map(str, means.values()))], 0)


def _wrong(answers: Sequence[ToolAnswer]) -> dict[str, Sequence[str]]:
    return {task_answer.id: task_answer.faults for task_answer in answers if task_answer.faults}


if __name__ == "__main__":
    main()
