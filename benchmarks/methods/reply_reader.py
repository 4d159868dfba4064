"""The action that shows what an observation left out: a part of an earlier reply by its path, a page by its number.

It costs a message like any other action. No call of the API is made, so it is not on the path of the answer.
"""

from __future__ import annotations

from collections.abc import Collection

from atc.models.base import FunctionSpec
from benchmarks.methods.actions import Action
from benchmarks.methods.call_path import ApiSession
from benchmarks.methods.observations import page_of, part_of, truncate

__all__ = ["read_reply", "reader_name", "reader_spec", "shortened_note"]

_READER = "read_reply"
_ARGUMENTS = ("path", "page", "reply")


def reader_name(names: Collection[str]) -> str:
    """The name of the action, which none of these functions has."""
    name = _READER
    while name in names:
        name += "_"
    return name


def reader_spec(name: str) -> FunctionSpec:
    """The action as a function that an endpoint is offered."""
    properties = {
        "path": {"type": "string", "description": "Such as items[3] or items[*].price; without it the whole reply."},
        "page": {"type": "integer", "description": "From 1, where the part is longer than a page."},
        "reply": {"type": "integer", "description": "The number of its call, from 1; without it the last reply."},
    }
    description = "Show a part of a reply that was shortened. No call of the API is made."
    return FunctionSpec(name, description, {"type": "object", "properties": properties})


def shortened_note(name: str, call: int) -> str:
    """What stands below an observation that was shortened; `call` is its `CallRecord.index`."""
    return f"(Shortened. {name}(reply={call + 1}, path=…, page=…) shows the rest.)"


def read_reply(action: Action, api: ApiSession, budget: int, wanted: Collection[str]) -> str:
    """What the action shows, or why it shows nothing.

    Args: as `benchmarks.methods.observations.page_of` has them.
    """
    arguments = {**dict(zip(_ARGUMENTS, action.positional, strict=False)), **action.arguments}
    latest = next((call + 1 for call in reversed(api.path.calls) if call in api.replies), 0)
    path, page, reply = (
        arguments.get(name) or default for name, default in zip(_ARGUMENTS, ("", 1, latest), strict=True)
    )
    try:
        if unknown := arguments.keys() - {*_ARGUMENTS}:
            raise ValueError(
                f"there is no argument {', '.join(sorted(unknown))}; the arguments are {', '.join(_ARGUMENTS)}"
            )
        number, page_number = (_whole(text, name) for text, name in ((reply, "reply"), (page, "page")))
        if not api.replies:
            raise ValueError("no call has a reply yet")
        if number - 1 not in api.replies:
            numbers = ", ".join(str(call + 1) for call in sorted(api.replies))
            raise ValueError(f"call {number} has no reply; these have one: {numbers}")
        part = part_of(api.replies[number - 1], str(path).removeprefix("$"))
        return page_of(part, page_number, budget, wanted)
    except ValueError as error:
        return truncate(f"Error: {error}", budget)


def _whole(value: object, name: str) -> int:
    """A whole number, be it a text. Raises: ValueError: It is none."""
    try:
        return int(str(value))
    except ValueError:
        raise ValueError(f"{name} is a whole number, not {value!r}") from None
