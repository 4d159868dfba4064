"""The reference shows each option where `atc.options` declares it once: in the signatures that `takes` makes of it.

An extension of griffe, which reads sources and runs none; so the signatures come from the functions themselves.
"""

from __future__ import annotations

import importlib
import inspect
from functools import reduce
from typing import Any

import griffe

_KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
}


class OptionSignatures(griffe.Extension):
    """Replaces the one parameter `arguments` by the parameters that a caller has, and `_flag(…)` by the default."""

    def on_function_instance(self, *, func: griffe.Function, **_: Any) -> None:
        """A function that is decorated with `takes` or `takes_all`."""
        if not any(str(decorator.value).startswith(("takes(", "takes_all(")) for decorator in func.decorators):
            return
        module = func.module.path
        names = func.path.removeprefix(f"{module}.").split(".")
        signature = inspect.signature(reduce(getattr, names, importlib.import_module(module)))
        parameters = [p for p in signature.parameters.values() if p.kind in _KINDS]
        if func.parent is not None and func.parent.is_class:
            parameters = [p for p in parameters if p.name not in ("self", "cls")]
        func.parameters = griffe.Parameters(
            *(
                griffe.Parameter(
                    p.name,
                    annotation=str(p.annotation).strip("'\""),
                    kind=_KINDS[p.kind],
                    default=None if p.default is p.empty else repr(p.default),
                )
                for p in parameters
            )
        )

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """A field of the options."""
        if isinstance(attr.value, griffe.ExprCall) and str(attr.value.function) == "_flag":
            attr.value = attr.value.arguments[0]
