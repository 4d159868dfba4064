"""A plan as data: calls of tools, references between them, loops and picks. `atc.planning.sketch` prints it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal as OneOf
from typing import TypeAlias

from protocols.json_path import Step as PathStep

__all__ = [
    "PLACEHOLDER",
    "Append",
    "Best",
    "Call",
    "Collected",
    "Each",
    "Expression",
    "Items",
    "Literal",
    "Named",
    "Object",
    "Path",
    "Plan",
    "Print",
    "Ref",
    "Statement",
    "Step",
    "holds",
    "literal",
    "mapped",
    "parts",
    "reads",
    "replaced",
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
        return replace(self, arguments=tuple(given for given in self.arguments if keep(*given)))

    def at(self, path: Path) -> Call:
        """The same call, and another part of its response."""
        return replace(self, path=path)


@dataclass(frozen=True, slots=True)
class Collected:
    """A value from each item of a list, or from its first `count` items."""

    value: Expression
    item: str
    items: Ref
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """The item of a list whose `field` is a name."""

    items: Call
    item: str
    field: str
    name: str


@dataclass(frozen=True, slots=True)
class Best:
    """The item of a list with the `max` or `min` at a path: of values, of numbers or texts that may be missing, of
    lengths of lists.
    """

    order: str
    items: Call | Ref
    item: str
    path: Path
    measure: OneOf["value", "number", "text", "length"] = "value"


Expression: TypeAlias = Literal | Items | Object | Ref | Call | Collected | Named | Best


@dataclass(frozen=True, slots=True)
class Step:
    """Sets a variable to a value; with the empty name it only makes the call."""

    variable: str
    value: Expression

    @property
    def first_of(self) -> Call | None:
        """The list of which the step takes the first item; None for any other value."""
        call = self.value
        if not isinstance(call, Call) or call.path[-1:] != (0,) or 0 in call.path[:-1]:
            return None
        return call.at(call.path[:-1])


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
    items: Items | Call
    steps: tuple[Statement, ...]
    count: int | None = None


Statement: TypeAlias = Step | Append | Print | Each


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in their order; one without steps is no plan."""

    steps: tuple[Statement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.steps)

    @property
    def every_step(self) -> Iterator[Step]:
        """The steps that call or set, those of loops included."""
        return (step for step in _flat(self.steps) if isinstance(step, Step))

    @property
    def values(self) -> Iterator[Expression]:
        """The values that the steps compute, and the lists that they loop over."""
        return (step.items if isinstance(step, Each) else step.value for step in _flat(self.steps))

    @property
    def has_placeholder(self) -> bool:
        """True if only the question can give one of the values."""
        return any(PLACEHOLDER in parts(value) for value in self.values)

    @property
    def tools(self) -> frozenset[str]:
        """The tools that are called."""
        return frozenset(tool for value in self.values for tool in tools_of(value))

    def needed_for(self, variable: str) -> tuple[Step, ...]:
        """The step outside of loops that first sets a variable, after those that it needs; empty without one."""
        needed: list[Step] = []
        read: set[str] = {variable}
        steps = [step for step in self.steps if isinstance(step, Step)]
        last = next((place for place, step in enumerate(steps) if step.variable == variable), -1)
        for step in reversed(steps[: last + 1]):
            if step.variable in read:
                needed.insert(0, step)
                read |= reads(step.value)
        return tuple(needed)

    def is_part_of(self, longer: Plan) -> bool:
        """True if a longer plan has all values of this one."""
        shorter = len(self.steps) < len(longer.steps)
        return shorter and all(any(holds(outer, value) for outer in longer.values) for value in self.values)

    def printing(self) -> Plan:
        """The plan, and at its end the value of the last step is printed."""
        last = self.steps[-1]
        if not isinstance(last, Step):
            return self
        if last.variable:
            return Plan((*self.steps, Print(Ref(last.variable))))
        return Plan((*self.steps[:-1], Print(last.value)))

    def mapped(self, change: Callable[[Expression], Expression]) -> Plan:
        """The plan with each expression changed, the inner ones first."""
        return Plan(tuple(_mapped_statement(statement, change) for statement in self.steps))


def literal(value: object, observed: bool = False) -> Expression:
    """A JSON value as an expression."""
    if isinstance(value, Mapping):
        return Object(tuple((Literal(key, observed), literal(part, observed)) for key, part in value.items()))
    if isinstance(value, list | tuple):
        return Items(tuple(literal(part, observed) for part in value))
    if value is not None and not isinstance(value, str | int | float | Decimal):  # a date of a YAML document
        value = str(value)
    return PLACEHOLDER if value == PLACEHOLDER.value else Literal(value, observed)


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all that are in it."""
    yield expression
    for inner in _children(expression):
        yield from parts(inner)


def _children(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Items(values):
            return values
        case Object(entries):
            return tuple(value for _, value in entries)
        case Call():
            return tuple(value for _, value in expression.arguments)
        case Collected():
            return expression.value, expression.items
        case Named() | Best():
            return (expression.items,)
    return ()


def mapped(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
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
            expression = replace(expression, value=inner(expression.value))
        case Named(items=Call() as items) | Best(items=Call() as items):
            expression = replace(expression, items=inner(items))  # type: ignore[arg-type]
    return change(expression)


def replaced(expression: Expression, old: Expression, new: Expression) -> Expression:
    """An expression with another one in place of one inside it."""
    return mapped(expression, lambda part: new if part == old else part)


def tools_of(expression: Expression) -> Iterator[str]:
    """The tools that an expression calls."""
    return (part.tool for part in parts(expression) if isinstance(part, Call))


def reads(expression: Expression) -> frozenset[str]:
    """The variables that an expression reads."""
    inside = list(parts(expression))
    own = {part.item for part in inside if isinstance(part, Collected)}
    return frozenset(part.variable for part in inside if isinstance(part, Ref)) - own


def holds(expression: Expression, value: Expression) -> bool:
    """True if an expression is a value, or has it or a part of it inside."""
    return any(
        part == value
        or (
            (isinstance(part, Call) and isinstance(value, Call) and part.at(value.path) == value)
            and part.path[: len(value.path)] == value.path
        )
        for part in parts(expression)
    )


def _flat(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Statements with those inside of loops, each loop before its steps."""
    for statement in statements:
        yield statement
        if isinstance(statement, Each):
            yield from _flat(statement.steps)


def _mapped_statement(statement: Statement, change: Callable[[Expression], Expression]) -> Statement:
    if isinstance(statement, Each):
        steps = tuple(_mapped_statement(step, change) for step in statement.steps)
        items = mapped(statement.items, change)
        assert isinstance(items, Items | Call)
        return replace(statement, items=items, steps=steps)
    return replace(statement, value=mapped(statement.value, change))
