"""Programs are checked before they run: what is wrong in any case costs no call and changes nothing.

`stubs` writes the tools down with their types, `checker` runs a type checker over the program, `telling` says
what it found in the words of the API, `constants` looks at what a program says outright, and `checking` puts it all
together; `mending` puts right what needs no model.
"""

from __future__ import annotations

from atc.check.autofix.edits import mended, respelled
from atc.check.check import check
from atc.check.diagnostic import Diagnostic

__all__ = ["Diagnostic", "check", "mended", "respelled"]
