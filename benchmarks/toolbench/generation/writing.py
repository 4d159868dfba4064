"""An instruction as a model is asked for it, and as it is read: the calls that it needs, and its text.

The calls come first, so that the text is about values that have been chosen. Then the first sentence of the text is
drawn, and the model goes on from there: without it a small one writes about everything alike, and too little.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from atc.models import Message, Model
from atc.models.base import ModelRequest, answer
from benchmarks.toolbench.generation.pool import PooledAPI
from protocols.documents.record_names import parameter_name
from protocols.text.words import words

__all__ = ["BadInstructionError", "PlannedCall", "WrittenInstruction", "ask", "conversation", "read"]

_PROMPTS = Path(__file__).parent / "prompts"
_MAX_TOKENS = 320
_CALLS = '{"calls": ['
_DESCRIPTION, _OPTIONAL, _EXAMPLE = 90, 2, 30
"""Characters of an API's description, optional parameters that are shown, characters of an example."""


class BadInstructionError(Exception):
    """A model's text is no instruction; the message says why."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that an instruction needs: the number of its API (from 1), and its arguments by name."""

    api: int
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WrittenInstruction:
    """An instruction as the model wrote it."""

    text: str
    calls: tuple[PlannedCall, ...]


def ask(model: Model, apis: Sequence[PooledAPI], seed: int) -> str:
    """The line that a model writes about some APIs, all of which are needed; it is sampled.

    The model is asked for the calls, and then goes on with the text in the same line.

    Raises: ModelError: The model cannot be had, or the prompt is too long for it; LimitReached.
    """
    messages = conversation(apis, seed)
    calls = _continue(model, messages, _CALLS, seed, stop=('"query"', "\n"))
    if not calls.rstrip().endswith("],"):
        return calls  # the whole line already, or no instruction
    opening = random.Random(f"opening:{seed}").choice(_text("openings").splitlines())
    return _continue(model, messages, f'{calls.rstrip()} "query": "{opening}', seed, stop=("\n",))


def _continue(model: Model, messages: Sequence[Message], begun: str, seed: int, stop: Sequence[str]) -> str:
    """The line that a model makes of its beginning."""
    request = ModelRequest([*messages, Message("assistant", begun)], stop=stop, max_tokens=_MAX_TOKENS, seed=seed)
    text = answer(model, request).text.rstrip()
    return text.lstrip() if text.lstrip().startswith('{"calls"') else begun + text  # an endpoint may begin anew


def conversation(apis: Sequence[PooledAPI], seed: int) -> list[Message]:
    """The conversation that asks for an instruction: the rules, an example that is drawn, the APIs."""
    generator = random.Random(f"example:{seed}")
    seeds = _seeds()["several" if len({api.address.tool for api in apis}) > 1 else "single"]
    example = generator.choice(seeds)
    line = json.dumps({"calls": example["calls"], "query": example["query"]}, ensure_ascii=False)
    spoken = [name for call in example["calls"] for name in call["arguments"]]
    needed = [parameter_name(str(parameter["name"])) for api in apis for parameter in api.required]
    return [
        Message("system", _text("instruction")),
        Message("user", _request(example["apis"], spoken)),
        Message("assistant", line),
        Message("user", _request([_line(api) for api in apis], needed)),
    ]


def read(text: str) -> WrittenInstruction:
    """Read a line that a model wrote. Raises: BadInstructionError: It is not of the form that was asked for."""
    try:
        data, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise BadInstructionError(f"no JSON: {error}") from None
    if text[end:].strip():
        raise BadInstructionError("text follows the JSON")
    if not isinstance(data, dict) or set(data) != {"query", "calls"}:
        raise BadInstructionError("it is no object with `query` and `calls` alone")
    query, listed = data["query"], data["calls"]
    if not isinstance(query, str) or not query.strip():
        raise BadInstructionError("`query` is no text")
    if not isinstance(listed, list) or not listed:
        raise BadInstructionError("`calls` lists no call")
    return WrittenInstruction(" ".join(query.split()), tuple(map(_call, listed)))


def _call(entry: object) -> PlannedCall:
    if not isinstance(entry, dict) or set(entry) - {"api", "arguments"} or not isinstance(entry.get("api"), int):
        raise BadInstructionError("a call is no object with the number of an `api` and its `arguments`")
    arguments = entry.get("arguments", {})
    if not isinstance(arguments, dict):
        raise BadInstructionError("the `arguments` of a call are no object")
    return PlannedCall(entry["api"], arguments)


def _request(apis: Sequence[str], needed: Iterable[str]) -> str:
    """The request for an instruction; `needed` are the parameters whose values it must say."""
    listed = "\n".join(f"{number}. {line}" for number, line in enumerate(apis, 1))
    results = f"the results of all {len(apis)}" if len(apis) > 1 else "its result"
    named = ", ".join(dict.fromkeys(needed))
    values = f", says a value of {named}" if named else ""
    return Template(_text("request")).substitute(apis=listed, results=results, values=values)


def _line(api: PooledAPI) -> str:
    """An API as the prompt shows it, on one line."""
    description = " ".join(str(api.record["api_description"]).split())[:_DESCRIPTION]
    optional = len(api.required) + _OPTIONAL
    parameters = "; ".join(map(_parameter, api.parameters[:optional]))
    return f"{api.tool} | {api.name}: {description} ({parameters or 'no parameters'})"


def _parameter(parameter: Mapping[str, Any]) -> str:
    """A parameter with its documented example, unless that only repeats its name."""
    name, example = parameter_name(str(parameter["name"])), str(parameter.get("default") or "")
    repeats = set(words(example)) <= set(words(str(parameter["name"])))
    return name if repeats else f"{name} like {' '.join(example.split())[:_EXAMPLE]}"


def _text(name: str) -> str:
    return (_PROMPTS / f"{name}.txt").read_text("utf-8").strip()


@cache
def _seeds() -> dict[str, list[dict[str, Any]]]:
    """The examples of our own, for one tool and for several."""
    seeds: dict[str, list[dict[str, Any]]] = json.loads((_PROMPTS / "seeds.json").read_text("utf-8"))
    return seeds
