"""The results of functions that have the headers of their reply: as ordinary as any others, but for `headers`.

Loaded in the child only. The classes have the names of those that they extend, and `type(result)` is that one too (see
sandbox.language.guards), so that a program which does not care sees no difference.
"""

from __future__ import annotations

from sandbox.language import guards
from sandbox.language.shims.http_values import CaseInsensitiveDict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["with_headers"]


def _result_class(base: Any) -> Any:
    class Result(base):  # type: ignore[misc]
        @property
        def headers(self) -> CaseInsensitiveDict:
            """The headers of the reply; `result.headers["etag"]` and `["ETag"]` are the same."""
            return CaseInsensitiveDict(vars(self).get("_headers", {}))

    Result.__name__ = Result.__qualname__ = base.__name__
    Result.__module__ = "builtins"
    guards.shown_as[Result] = base
    return Result


_CLASSES: dict[type, Any] = {base: _result_class(base) for base in (dict, list, str, bytes, int, float)}


def with_headers(value: object, headers: Mapping[str, str]) -> object:
    """The result with its headers: an empty dict in the place of None; True and False cannot have any."""
    kind = _CLASSES.get(dict if value is None else type(value))
    if kind is None:
        return value
    result = kind() if value is None else kind(value)
    vars(result)["_headers"] = dict(headers)
    return result
