"""Ask a model for an API: one function that selects it, gives its call and describes the result, or a text with these.

Source: ToolLLM (arXiv:2307.16789), appendix "Details for Experiments on APIBench": one function instead of one for each
API. The prompts are our own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from string import Template

from atc.models.base import Completion, FunctionSpec, Message, Model, ModelRequest, Usage, answer, calls_functions
from benchmarks.apibench.dataset import CatalogueEntry, shown
from protocols.errors import PromptRefused

__all__ = ["SELECT", "APIReply", "api_request", "ask", "read_reply"]

SELECT = FunctionSpec(
    "select_api",
    "Select the API that fits the question, with the code that calls it.",
    {
        "type": "object",
        "properties": {
            "api_name": {"type": "string", "description": "The name of the API."},
            "call": {"type": "string", "description": "The Python call that loads its model."},
            "description": {"type": "string", "description": "What the call returns, in one sentence."},
        },
        "required": ["api_name", "call", "description"],
    },
)

_PREFILL = "API:"
_REPLY_TOKENS = 300
_FENCED = re.compile(r"```\w*\s*(.*?)(?:```|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class APIReply:
    """The answer to a question; `call` is empty where none can be read. `text` is all that the model wrote."""

    text: str
    api_name: str = ""
    call: str = ""
    description: str = ""
    refused: str = ""
    usage: Usage = field(default_factory=Usage)


def api_request(question: str, documents: Sequence[CatalogueEntry], functions: bool) -> ModelRequest:
    """The request for a question, with the documentation of some APIs or of none.

    Args:
        functions: Whether the model calls functions; else it writes a text.
    """
    form = _template("function_form" if functions else "text_form")
    system = f"{_template('role')}\n{form}"
    lines = "\n".join(map(shown, documents))
    template = Template(_template("with_documents" if documents else "without_documents"))
    messages = [Message("system", system), Message("user", template.substitute(documents=lines, question=question))]
    if functions:
        return ModelRequest(messages, max_tokens=_REPLY_TOKENS, functions=(SELECT,))
    return ModelRequest([*messages, Message("assistant", _PREFILL)], max_tokens=_REPLY_TOKENS)


@cache
def _template(name: str) -> str:
    return files(__package__).joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()


def ask(model: Model, question: str, documents: Sequence[CatalogueEntry]) -> APIReply:
    """Ask for an API. A conversation that the model refuses has a reply without a call.

    Raises: ModelError: The model cannot be had.
    """
    request = api_request(question, documents, calls_functions(model))
    try:
        completion = answer(model, request)
    except PromptRefused as error:
        return APIReply("", refused=str(error))
    return read_reply(completion, "" if request.functions else _PREFILL)


def read_reply(completion: Completion, prefill: str = "") -> APIReply:
    """Read a call of the function, or a text: a fenced block after the name, or the function's arguments as JSON."""
    arguments = next((call.arguments for call in completion.calls if call.name == SELECT.name), None)
    text = prefill + completion.text
    fields = _json_fields(text if arguments is None else arguments)
    block = _FENCED.search(text)
    if arguments is None and not fields and block:
        name = text[: block.start()].strip().removeprefix(_PREFILL).strip()
        fields = {"api_name": name, "call": block[1].strip(), "description": text[block.end() :].strip()}
    read = {name: fields.get(name, "") for name in ("api_name", "call", "description")}
    return APIReply(text if arguments is None else arguments, **read, usage=completion.usage)


def _json_fields(text: str) -> dict[str, str]:
    """The fields of the first JSON object in a text that has a `call`; none without one."""
    decoder = json.JSONDecoder(strict=False)
    for start in (match.start() for match in re.finditer(r"\{", text)):
        try:
            data, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict) and isinstance(data.get("call"), str):
            return {name: value for name, value in data.items() if isinstance(value, str)}
    return {}
