"""An instruction as a model is asked for it, in two requests: values for the parameters, then a text that says them.

A small model that writes both at once forgets half of the APIs, or the values. The first sentence of the text is drawn,
and the model goes on from there: without it a small one writes about everything alike, and too little.
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
from benchmarks.learning.generation.pool import PooledAPI, required_names
from protocols.documents.tool_records import parameter_name
from protocols.text.words import words

__all__ = [
    "FEWEST_WORDS",
    "BadInstructionError",
    "WrittenInstruction",
    "ask_text",
    "ask_values",
    "read_text",
    "read_values",
]

_PROMPTS = Path(__file__).parent / "prompts"
_MAX_TOKENS = 220
FEWEST_WORDS = 30
"""Words of an instruction, at least."""
_LINKS = ("Also,", "Besides,", "And please tell me", "In addition,", "I would also like to know", "At the same time,")
_LONGER = 2
"""How often a text that is too short is gone on with."""
_DESCRIPTION, _EXAMPLE = 90, 30
"""Characters of an API's description, and of an example of a parameter."""


class BadInstructionError(Exception):
    """What a model wrote is no instruction; the message says why."""


@dataclass(frozen=True, slots=True)
class WrittenInstruction:
    """An instruction that needs some APIs: its text, and the values of their required parameters by published name."""

    text: str
    values: Mapping[str, Any]


def ask_values(model: Model, apis: Sequence[PooledAPI], seed: int) -> str:
    """The line of values that a model invents, sampled; `{}` without a request where no parameter is required.

    Raises: ModelError: The model cannot be had, or the prompt is too long for it; LimitReached.
    """
    needed = required_names(apis)
    if not needed:
        return "{}"
    example = _example(apis, seed)
    with_parameters = [line for line in example["apis"] if line.endswith(")")]
    lines = [f"{api.tool} | {api.name}: {_purpose(api)}" for api in apis if api.required]
    messages = [
        Message("system", _text("values")),
        Message("user", _values_request(with_parameters, example["values"])),
        Message("assistant", json.dumps(example["values"], ensure_ascii=False)),
        Message("user", _values_request(lines, needed)),
    ]
    return _continue(model, messages, f"{{{json.dumps(needed[0])}:", "{", seed)


def ask_text(model: Model, apis: Sequence[PooledAPI], values: Mapping[str, Any], seed: int) -> str:
    """The text that a model writes about these values; it is sampled. One that is too short is gone on with.

    Raises: as `ask_values`.
    """
    example = _example(apis, seed)
    messages = [
        Message("system", _text("instruction")),
        Message("user", _text_request([line.partition(": ")[2] for line in example["apis"]], example["values"])),
        Message("assistant", example["query"]),
        Message("user", _text_request([_purpose(api) for api in apis], values)),
    ]
    generator = random.Random(f"opening:{seed}")
    opening = generator.choice(_text("openings").splitlines())
    text = _continue(model, messages, opening, opening, seed)
    for link in generator.sample(_LINKS, _LONGER):
        if len(text.split()) >= FEWEST_WORDS:
            break
        text = _continue(model, messages, f"{text} {link}", opening, seed)
    return text


def read_values(text: str, apis: Sequence[PooledAPI]) -> dict[str, Any]:
    """Read a line of values. Raises: BadInstructionError: It is no object with one value for each parameter."""
    try:
        values, end = json.JSONDecoder(parse_constant=_no_number).raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise BadInstructionError(f"no JSON: {error}") from None
    if text[end:].strip():
        raise BadInstructionError("text follows the JSON")
    if not isinstance(values, dict):
        raise BadInstructionError("the values are no object")
    needed = set(required_names(apis))
    if differing := sorted(needed ^ set(values)):
        raise BadInstructionError(f"{differing[0]} is {'missing' if differing[0] in needed else 'no parameter'}")
    return values


def read_text(text: str) -> str:
    """Read the text of an instruction. Raises: BadInstructionError: It is cut off, or JSON or code."""
    joined = " ".join(text.split())
    if joined[-1:] not in '.?!)"':
        raise BadInstructionError("the text ends in the middle of a sentence")
    if "```" in joined or joined.startswith(("{", "[")) or '": ' in joined:
        raise BadInstructionError("the text has JSON or code in it")
    return joined


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no value")


def _continue(model: Model, messages: Sequence[Message], begun: str, anew: str, seed: int) -> str:
    """The line that a model makes of its beginning; `anew` is how a line starts where an endpoint begins it again."""
    request = ModelRequest([*messages, Message("assistant", begun)], ("\n",), _MAX_TOKENS, seed)
    text = answer(model, request).text.rstrip()
    return text.lstrip() if text.lstrip().startswith(anew) else begun + text


def _values_request(apis: Iterable[str], names: Iterable[str]) -> str:
    return Template(_text("values_request")).substitute(apis="\n".join(apis), parameters=", ".join(names))


def _text_request(apis: Sequence[str], values: Mapping[str, Any]) -> str:
    listed = "\n".join(f"{number}. {line}" for number, line in enumerate(apis, 1))
    spoken = "; ".join(f"{name} {value}" for name, value in values.items()) or "none"
    count = f"the results of all {len(apis)}" if len(apis) > 1 else "its result"
    return Template(_text("instruction_request")).substitute(apis=listed, values=spoken, count=count)


def _purpose(api: PooledAPI) -> str:
    """What an API does, with its required parameters; not its name, which the text must not say.

    Only an API without a description is described by its name.
    """
    description = " ".join(str(api.record["api_description"]).split()) or " ".join(words(api.name))
    parameters = "; ".join(map(_parameter, api.required))
    return description[:_DESCRIPTION] + (f" ({parameters})" if parameters else "")


def _parameter(parameter: Mapping[str, Any]) -> str:
    """A parameter with its documented example, unless that only repeats its name."""
    name, example = parameter_name(str(parameter["name"])), str(parameter.get("default") or "")
    repeats = set(words(example)) <= set(words(str(parameter["name"])))
    return name if repeats else f"{name} like {' '.join(example.split())[:_EXAMPLE]}"


def _text(name: str) -> str:
    return (_PROMPTS / f"{name}.txt").read_text("utf-8").strip()


def _example(apis: Sequence[PooledAPI], seed: int) -> dict[str, Any]:
    """An example of our own that is drawn, for one tool or for several: the APIs, their values, the text."""
    seeds: dict[str, list[dict[str, Any]]] = _seeds()
    kind = "several" if len({api.key for api in apis}) > 1 else "single"
    return random.Random(f"example:{seed}").choice(seeds[kind])


@cache
def _seeds() -> Any:
    return json.loads((_PROMPTS / "seeds.json").read_text("utf-8"))
