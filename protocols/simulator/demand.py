"""What a program takes for granted about a service, as data: which values it looks for, and where.

A program that asks for the paid invoices of March is right in a world that has some, and in one that has none. Only the
first one shows it. A world that knows the demands of a program can hold what the program looks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from protocols.json_path import Step

__all__ = ["Demand", "DemandKind"]

DemandKind = Literal[
    "call", "argument", "is", "is not", "above", "below", "starts", "contains", "true", "false", "number"
]


@dataclass(frozen=True, slots=True)
class Demand:
    """One value that a program looks for in the replies of a tool, or passes to it.

    `path` is the place in the reply, 0 for any item of a list. For an argument it begins with the argument's name, and
    goes on within its value. `above` and `below` include the limit itself. `folded`: the case of letters does not
    matter. `taken`: the argument comes from the reply of another tool, so that it has no value here. `call` says no
    more than that the tool is called, `number` that the text there is read as a number.
    """

    tool: str
    kind: DemandKind
    value: object = None
    path: tuple[Step, ...] = ()
    folded: bool = False
    taken: bool = False
