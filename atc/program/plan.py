"""A plan as data: calls of tools, references between them, loops and picks. Its text are lines of Python, which a
model is shown and a sandbox runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal as OneOf
from typing import TypeAlias

from protocols.json_path import Step as PathStep
from protocols.json_path import subscripts

__all__ = [
    "PLACEHOLDER",
    "Append",
    "Call",
    "Collected",
    "Each",
    "Expression",
    "Items",
    "Literal",
    "Object",
    "Path",
    "Pick",
    "Plan",
    "Print",
    "Ref",
    "Statement",
    "Step",
    "literal",
    "mapped",
    "parts",
    "reads",
    "sketch",
]

Path: TypeAlias = tuple[PathStep, ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A plain value. A Decimal has the digits of the question; `observed` values are spelled as Python's `repr`."""

    value: str | int | float | Decimal | None
    observed: bool = False


PLACEHOLDER = Literal("…")
"""A value that only the question can give."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of given values."""

    values: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Object:
    """An object of given values."""

    entries: tuple[tuple[Literal, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class Ref:
    """A variable, or a part of its value."""

    variable: str
    path: Path = ()


@dataclass(frozen=True, slots=True)
class Call:
    """The response of a tool, or a part of it."""

    tool: str
    arguments: tuple[tuple[str, Expression], ...] = ()
    path: Path = ()

    def argument(self, name: str) -> Expression | None:
        """The value of an argument; None if it is not given."""
        return dict(self.arguments).get(name)

    def with_argument(self, name: str, value: Expression) -> Call:
        """The call with another value of an argument, which goes last if it is new."""
        return replace(self, arguments=tuple({**dict(self.arguments), name: value}.items()))

    def where(self, keep: Callable[[str, Expression], bool]) -> Call:
        """The call with some of its arguments."""
        return replace(self, arguments=tuple(argument for argument in self.arguments if keep(*argument)))

    def at(self, path: Path) -> Call:
        """The same call, and another part of its response."""
        return replace(self, path=path)

    def is_part_of(self, whole: Expression) -> bool:
        """True for the same call with a path that goes on where the whole one's ends."""
        return isinstance(whole, Call) and self.path[: len(whole.path)] == whole.path and self.at(whole.path) == whole


@dataclass(frozen=True, slots=True)
class Collected:
    """A value from each item of a list, or from its first `count` items."""

    value: Expression
    item: str
    items: Expression
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Pick:
    """The item of a list with the `max` or `min` at a path, or the one that has the name `choice` there.

    Compared are values, numbers or texts that may be missing, or the lengths of lists.
    """

    choice: str
    items: Expression
    item: str
    path: Path
    measure: OneOf["value", "number", "text", "length", "name"] = "value"


Expression: TypeAlias = Literal | Items | Object | Ref | Call | Collected | Pick
Change: TypeAlias = Callable[[Expression], Expression]


@dataclass(frozen=True, slots=True)
class Step:
    """Sets a variable to a value; with the empty name it only makes the call."""

    variable: str
    value: Expression

    @property
    def first_of(self) -> Call | None:
        """The list of which the step takes the first item; None for any other value."""
        call = self.value
        if isinstance(call, Call) and call.path[-1:] == (0,) and 0 not in call.path[:-1]:
            return call.at(call.path[:-1])
        return None


@dataclass(frozen=True, slots=True)
class Append:
    """Puts an entry into a list that the plan fills itself."""

    variable: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Print:
    """Prints a value."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Each:
    """Steps for each item of a list, or for its first `count` items."""

    item: str
    value: Expression
    steps: tuple[Statement, ...]
    count: int | None = None


Statement: TypeAlias = Step | Append | Print | Each


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in their order."""

    steps: tuple[Statement, ...]

    def __iter__(self) -> Iterator[Statement]:
        """All statements, those of a loop after the loop."""
        for step in self.steps:
            yield step
            if isinstance(step, Each):
                yield from Plan(step.steps)

    @property
    def every_step(self) -> Iterator[Step]:
        """The steps that call or set, those of loops included."""
        return (step for step in self if isinstance(step, Step))

    @property
    def parts(self) -> Iterator[Expression]:
        """All expressions and what is in them."""
        return (part for statement in self for part in parts(statement.value))

    @property
    def has_placeholder(self) -> bool:
        """True if only the question can give one of the values."""
        return PLACEHOLDER in self.parts

    @property
    def with_names(self) -> Plan:
        """The plan, and a value that only the question can give is an undefined name: `search(query=query)`.

        A placeholder text could be sent as it is; an undefined name is refused.
        """

        def named(part: Expression) -> Expression:
            if not isinstance(part, Call):
                return part
            return replace(part, arguments=tuple((name, _named(name, value)) for name, value in part.arguments))

        return self.mapped(named)

    @property
    def tools(self) -> frozenset[str]:
        """The tools that are called."""
        return frozenset(part.tool for part in self.parts if isinstance(part, Call))

    def needed_for(self, variable: str) -> tuple[Step, ...]:
        """The step outside of loops that first sets a variable, after those that it needs; empty without one."""
        steps = [step for step in self.steps if isinstance(step, Step)]
        last = next((place for place, step in enumerate(steps) if step.variable == variable), -1)
        needed, read = [], {variable}
        for step in reversed(steps[: last + 1]):
            if step.variable in read:
                needed.append(step)
                read |= reads(step.value)
        return tuple(reversed(needed))

    def is_part_of(self, longer: Plan) -> bool:
        """True if a longer plan has all values of this one, or parts of them."""
        inside = list(longer.parts)
        return len(self.steps) < len(longer.steps) and all(
            any(part == own.value or (isinstance(part, Call) and part.is_part_of(own.value)) for part in inside)
            for own in self
        )

    def printing(self) -> Plan:
        """The plan, and at its end the value of the last step is printed."""
        last = self.steps[-1]
        if not isinstance(last, Step):
            return self
        if last.variable:
            return Plan((*self.steps, Print(Ref(last.variable))))
        return Plan((*self.steps[:-1], Print(last.value)))

    def mapped(self, change: Change) -> Plan:
        """The plan with each expression changed, the inner ones first."""
        steps = (replace(step, value=mapped(step.value, change)) for step in self.steps)
        return Plan(
            tuple(
                replace(step, steps=Plan(step.steps).mapped(change).steps) if isinstance(step, Each) else step
                for step in steps
            )
        )


def _named(name: str, value: Expression) -> Expression:
    """An argument's value, with the argument's name in place of each placeholder."""
    return mapped(value, lambda part: Ref(name) if part == PLACEHOLDER else part)


def literal(value: object, observed: bool = False) -> Expression:
    """A JSON value as an expression."""
    if isinstance(value, Mapping):
        return Object(tuple((Literal(key, observed), literal(part, observed)) for key, part in value.items()))
    if isinstance(value, list | tuple):
        return Items(tuple(literal(part, observed) for part in value))
    if value is not None and not isinstance(value, str | int | float | Decimal):  # a date of a YAML document
        value = str(value)
    return PLACEHOLDER if value == PLACEHOLDER.value else Literal(value, observed)


def mapped(expression: Expression, change: Change) -> Expression:
    """An expression with all that are in it changed, the inner ones first."""

    def inner(part: Expression) -> Expression:
        return mapped(part, change)

    match expression:
        case Items(values):
            expression = Items(tuple(map(inner, values)))
        case Object(entries):
            expression = Object(tuple((key, inner(value)) for key, value in entries))
        case Call():
            expression = replace(expression, arguments=tuple((name, inner(v)) for name, v in expression.arguments))
        case Collected():
            expression = replace(expression, value=inner(expression.value), items=inner(expression.items))
        case Pick():
            expression = replace(expression, items=inner(expression.items))
    return change(expression)


def parts(expression: Expression) -> list[Expression]:
    """An expression and all that are in it, the inner ones first."""
    inside: list[Expression] = []

    def note(part: Expression) -> Expression:
        inside.append(part)
        return part

    mapped(expression, note)
    return inside


def reads(expression: Expression) -> frozenset[str]:
    """The variables that an expression reads."""
    inside = parts(expression)
    own = {part.item for part in inside if isinstance(part, Collected)}
    return frozenset(part.variable for part in inside if isinstance(part, Ref)) - own


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
