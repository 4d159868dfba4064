"""The type that an answer has to have: as Python for the prompt, and its validation.

Any type will do that pydantic's TypeAdapter takes: a BaseModel, a dataclass, `list[int]`, a Literal. An answer is JSON;
for a type with scalar values it may be plain text, as a program prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from protocols.errors import UsageError
from protocols.quoting import one_line
from sandbox.records import cut

__all__ = ["AnswerType", "WrongAnswerError"]

_MOST_PROBLEMS = 3
_INPUT_LENGTH = 60
_LIMITS = frozenset(
    {"format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minLength", "maxLength", "minItems", "maxItems", "uniqueItems"}
)
_NAMES = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "null": "None"}
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})


class WrongAnswerError(Exception):
    """An answer that does not fit its type; the message names the field, and what is wrong with it."""


class AnswerType:
    """A type that answers are validated with.

    Args:
        type_: As pydantic's TypeAdapter takes it.
    Raises: UsageError: pydantic can make no schema for it.
    """

    def __init__(self, type_: Any) -> None:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError

        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(type_)
            self._schema = self._adapter.json_schema()
        except (PydanticUserError, TypeError, NameError) as error:
            reason = one_line(str(error).partition("\n")[0].partition(". ")[0], 300)
            raise UsageError(
                f"answer_type {cut(repr(type_), 100)} is no type for answers ({reason}); give a pydantic model, a "
                "dataclass, or a plain type such as list[int]"
            ) from None

    @property
    def text(self) -> str:
        """The type as Python: the classes of its objects, then the type itself. No model takes it for an answer."""
        definitions: Mapping[str, Any] = self._schema.get("$defs", {})
        titled = self._schema.get("type") == "object" and "properties" in self._schema and "title" in self._schema
        classes = {**definitions, **({self._schema["title"]: self._schema} if titled else {})}
        texts = [_class_text(name, schema) for name, schema in classes.items()]
        text = "\n\n".join([*texts, self._schema["title"] if titled else _type_text(self._schema)])
        limits = f"\nIts JSON Schema has limits: {json.dumps(self._schema, ensure_ascii=False)}"
        return text + limits if _has_limits(self._schema) else text

    def read(self, text: str) -> Any:
        """The value of an answer. Raises: WrongAnswerError."""
        from pydantic import ValidationError

        try:
            return self._adapter.validate_json(text)
        except ValidationError as error:
            problems = error
        if any(kind in _SCALARS for kind in _kinds(self._schema, self._schema.get("$defs", {}))):
            try:
                return self._adapter.validate_strings(text)
            except ValidationError as error:
                problems = error
        raise WrongAnswerError(_described(text, problems))

    def problem(self, text: str) -> str | None:
        """What is wrong with an answer, if anything is."""
        try:
            self.read(text)
        except WrongAnswerError as error:
            return str(error)
        return None


def _has_limits(schema: Any) -> bool:
    """True if a schema says more than types: a format, a pattern, a range, or what a class is for."""
    if isinstance(schema, list):
        return any(map(_has_limits, schema))
    if not isinstance(schema, Mapping):
        return False
    own = _LIMITS - ({"minItems", "maxItems"} if "prefixItems" in schema else set())
    says = not own.isdisjoint(schema) or ("description" in schema and "properties" in schema)
    return says or any(map(_has_limits, schema.values()))


def _class_text(name: str, schema: Mapping[str, Any]) -> str:
    """An object as a class, or another definition as a name for its type."""
    if "properties" not in schema:
        return f"{name} = {_type_text(schema)}"
    required = schema.get("required", ())
    lines = []
    for key, part in schema["properties"].items():
        kind = _type_text(part) if key in required else f"NotRequired[{_type_text(part)}]"
        notes = [one_line(str(part[word])) for word in ("format", "description") if word in part]
        lines.append(f"    {key}: {kind}" + (f"  # {': '.join(notes)}" if notes else ""))
    return "\n".join([f"class {name}(TypedDict):", *lines])


def _type_text(schema: Mapping[str, Any]) -> str:
    """`list[int]`: a type without the classes that it names."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for values in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
        if values is not None:
            return f"Literal[{', '.join(map(repr, values))}]"
    if parts := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(map(_type_text, parts)))
    match schema.get("type"):
        case "array" if "prefixItems" in schema:
            return f"tuple[{', '.join(map(_type_text, schema['prefixItems']))}]"
        case "array":
            return f"list[{_type_text(schema.get('items') or {})}]"
        case "object":
            values = schema.get("additionalProperties")
            return f"dict[str, {_type_text(values if isinstance(values, Mapping) else {})}]"
        case kind:
            return _NAMES.get(str(kind), "Any")


def _kinds(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int = 5) -> Iterator[str]:
    """The JSON types that a schema allows at its root."""
    if depth == 0:
        return
    named = definitions.get(str(schema.get("$ref", "")).rpartition("/")[2])
    for part in (*([named] if named is not None else ()), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _kinds(part, definitions, depth - 1)
    if isinstance(schema.get("type"), str):
        yield schema["type"]
    if "const" in schema or "enum" in schema or not schema:
        yield "string"


def _described(text: str, error: Any) -> str:
    """What is wrong, and where: `items[0].price: Input should be a valid number (it is 12 EUR)`."""
    if not text:
        return "the answer is empty; print it as JSON"
    problems = error.errors(include_url=False, include_context=False)
    if problems[0]["type"] == "json_invalid":
        return f"the answer is no JSON; print it with json.dumps(), and nothing else (it begins with {_short(text)})"
    lines = [
        f"{_place(problem['loc'])}{problem['msg']} (it is {_short(problem['input'])})"
        for problem in problems[:_MOST_PROBLEMS]
    ]
    more = len(problems) - len(lines)
    return "the answer does not fit its type: " + "; ".join(lines) + (f"; and {more} more" if more else "")


def _place(location: tuple[int | str, ...]) -> str:
    """A place as a path before a colon: `items[0].price: `; empty for the whole answer."""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return f"{path.removeprefix('.')}: " if path else ""


def _short(value: object) -> str:
    return one_line(value if isinstance(value, str) else repr(value), _INPUT_LENGTH)
