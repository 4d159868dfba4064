"""What is said of a call that its tool does not take: in words that help to repair it.

A message names the nearest valid argument, the values that are allowed, or how the function is called.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence, Sized
from typing import Any

from protocols.errors import ToolError
from protocols.model import Tool
from protocols.schema_fields import declared_types

__all__ = ["abbreviated", "nearest_argument", "refused_call", "signature", "together", "violated_keyword"]

_USAGE = ". It is called as "

_LIMITS = {
    "minimum": "must be at least {limit}, not {value}",
    "maximum": "must be at most {limit}, not {value}",
    "exclusiveMinimum": "must be more than {limit}, not {value}",
    "exclusiveMaximum": "must be less than {limit}, not {value}",
    "minLength": "must have at least {limit} characters, not {value}",
    "maxLength": "must have at most {limit} characters, not {size}",
    "minItems": "must have at least {limit} items, not {size}",
    "maxItems": "must have at most {limit} items, not {size}",
    "pattern": "must match the pattern {limit}, not {value}",
    "const": "must be {limit}, not {value}",
}
"""What is said of a keyword with a limit."""
_ARTICLES = {"integer": "an integer", "array": "a list", "object": "a dict", "boolean": "True or False", "null": "None"}


def signature(tool: Tool) -> str:
    """The function as a program sees it: `GET_search_person(query, page=None)`."""
    if tool.function is not None:
        return tool.function.usage
    inside = [p.argument if p.required else f"{p.argument}=None" for p in tool.arguments]
    return f"{tool.name}({', '.join(inside)})"


def together(tool: Tool, doubts: Sequence[str]) -> str:
    """One message for all that the document says against a call."""
    if len(doubts) == 1:
        return doubts[0]
    parts = [text.removeprefix(f"{tool.name}()").lstrip(": ").partition(_USAGE) for text in doubts]
    usage = next((f"{_USAGE}{usage}" for _, _, usage in parts if usage), "")
    return f"{tool.name}(): {'; '.join(problem for problem, _, _ in parts)}{usage}"


def refused_call(
    tool: Tool,
    problem: str,
    kwargs: Mapping[str, object],
    unknown: str | None = None,
    missing: bool = False,
) -> ToolError:
    """`GET_x() got an unexpected keyword argument 'name'; did you mean 'query'? It takes: query, page`."""
    names = [parameter.argument for parameter in tool.arguments]
    if tool.body is not None and any(p.location == "body" for p in tool.arguments) and "body" not in names:
        names.append("body")
    free = [name for name in names if name not in kwargs]
    nearest = nearest_argument(tool, unknown, free) if unknown is not None else None
    end = f"; did you mean {nearest!r}?" if nearest else "."
    takes = f"It takes: {', '.join(names)}" if names else "It takes no arguments"
    usage = f"It is called as {signature(tool)}" if missing else takes
    return ToolError(f"{tool.name}() {problem}{end} {usage}", tool=tool.name)


def nearest_argument(tool: Tool, unknown: str, names: Sequence[str]) -> str | None:
    """The argument that was probably meant: similar in spelling, else the only required one that is missing."""
    lowered = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(unknown.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return lowered[close[0]]
    words = set(unknown.lower().split("_"))
    sharing = [name for name in names if words & set(name.lower().split("_"))]
    if len(sharing) == 1:
        return sharing[0]
    needed = [p.argument for p in tool.arguments if p.required and p.argument in names]
    return needed[0] if len(needed) == 1 else None


def violated_keyword(error: Any) -> str:
    """The violation of one keyword of a schema, as the end of a sentence that begins with the argument."""
    limit, value = error.validator_value, error.instance
    if error.validator == "type":
        names = [_ARTICLES.get(name, f"a {name}") for name in declared_types({"type": limit})]
        return f"must be {' or '.join(names)}, not {abbreviated(value)}"
    if error.validator == "enum":
        listed = ", ".join(map(abbreviated, limit[:40])) + (", …" if len(limit) > 40 else "")
        texts = [option for option in limit if isinstance(option, str)]
        close = difflib.get_close_matches(value, texts, n=1) if isinstance(value, str) else []
        return f"must be one of {listed}, not {abbreviated(value)}" + (f"; did you mean {close[0]!r}?" if close else "")
    if form := _LIMITS.get(error.validator):
        limit_text = limit if error.validator == "pattern" else abbreviated(limit)
        return form.format(
            limit=limit_text, value=abbreviated(value), size=len(value) if isinstance(value, Sized) else ""
        )
    return f"is not what the schema asks for: {error.message[:300]}"


def abbreviated(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
