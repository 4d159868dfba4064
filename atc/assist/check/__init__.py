"""Checks of a program before it runs: a mistake found here costs no call and changes nothing.

`stubs` writes the tools as typed stubs, `type_checker` runs a type checker over the program, `diagnostics` describes
its reports in the words of the API, and `literals` looks at constants. `check` puts it all together; `edits` fixes
what needs no model.
"""

from __future__ import annotations

from atc.assist.check.check import check
from atc.assist.check.diagnostic import Diagnostic
from atc.assist.check.edits import apply_edits, fix_syntax

__all__ = ["Diagnostic", "apply_edits", "check", "fix_syntax"]
