"""The text of a plan: the lines of Python that a model is shown, and that a sandbox runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from atc.program.plan import (
    PLACEHOLDER,
    Append,
    Call,
    Collected,
    Each,
    Expression,
    Items,
    Literal,
    Object,
    Pick,
    Plan,
    Print,
    Ref,
    Statement,
    Step,
)
from protocols.json_path import subscripts

__all__ = ["sketch"]

_MEASURES = {"value": "{}", "number": "{} or 0", "text": 'str({} or "")', "length": "len({})"}


def sketch(plan: Plan) -> str:
    """The text of a plan."""
    return "\n".join(_lines(plan.steps))


def _lines(statements: Sequence[Statement]) -> Iterator[str]:
    for statement in statements:
        match statement:
            case Step(variable, value):
                yield f"{variable} = {_text(value)}" if variable else _text(value)
            case Append(variable, value):
                yield f"{variable}.append({_text(value)})"
            case Print(value):
                yield f"print({_text(value)})"
            case Each(item, items, steps, count):
                yield f"for {item} in {_text(items)}{_first(count)}:"
                yield from (f"    {line}" for line in _lines(steps))


def _text(expression: Expression) -> str:
    match expression:
        case Literal(str(value), observed):
            return repr(value) if observed and expression != PLACEHOLDER else json.dumps(value, ensure_ascii=False)
        case Literal(value):
            return str(value)
        case Items(values):
            return f"[{', '.join(map(_text, values))}]"
        case Object(entries):
            return f"{{{', '.join(f'{_text(key)}: {_text(value)}' for key, value in entries)}}}"
        case Ref(variable, path):
            return variable + subscripts(path)
        case Call(tool, arguments, path):
            return f"{tool}({', '.join(f'{name}={_text(value)}' for name, value in arguments)}){subscripts(path)}"
        case Collected(value, item, items, count):
            return f"[{_text(value)} for {item} in {_text(items)}{_first(count)}]"
        case Pick(name, items, item, path, "name"):
            searched = _text(Literal(name))
            return f"next({item} for {item} in {_text(items)} if {item}{subscripts(path)} == {searched})"
        case Pick(order, items, item, path, measure):
            key = _MEASURES[measure].format(item + subscripts(path))
            return f"{order}({_text(items)}, key=lambda {item}: {key})"


def _first(count: int | None) -> str:
    return f"[:{count}]" if count is not None else ""
