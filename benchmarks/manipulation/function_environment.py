"""An environment whose tools are Python functions, and whose actions are programs over them.

A program of the action generator and one of `atc` are the same text; both call the same objects through the sandbox.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any

from benchmarks.manipulation.environment import NOW, ActionResult, Environment, FunctionDocument, ManipulationTest
from protocols import Protocol
from protocols.model import Tool
from sandbox import Run, Sandbox

__all__ = ["FunctionEnvironment", "called_functions"]


class FunctionEnvironment(Environment):
    """An environment over objects and functions of this process.

    Attributes:
        reads: Names of the functions that change nothing, constructors of value classes aside.
        error: Why the last program of `act` did not run to its end; empty where it did, and after `reset`.
    """

    reads: Collection[str] = ()

    def __init__(self, *, compat: bool = False) -> None:
        super().__init__(compat=compat)
        self.error = ""
        self._sandbox: Sandbox | None = None

    @abstractmethod
    def objects(self) -> Any:
        """What `Protocol.from_functions` takes, the same objects each time; they act on the present state."""

    @abstractmethod
    def restore(self, test: ManipulationTest, seed: int) -> None:
        """Bring the objects into the state that a test starts from."""

    @cached_property
    def tools(self) -> Protocol:
        """The tools of the objects."""
        return Protocol.from_functions(self.objects(), name=self.name, reads=self.reads)

    @cached_property
    def functions(self) -> Sequence[FunctionDocument]:
        """One for each function and each constructor, in the order of their definitions."""
        return tuple(map(_document, self.protocol().tools))

    def reset(self, test: ManipulationTest, seed: int = 0) -> str:
        """Start a test, once a call of a run that is over has ended, too. Returns: Its goal."""
        function = self.protocol().tools[0].function
        with function.turn if function is not None else nullcontext():
            self._test, self.error = test, ""
            self.restore(test, seed)
        return test.goal

    def _run(self, program: str) -> Run:
        if self._sandbox is None:
            self._sandbox = Sandbox(self.protocol(), now=NOW, track=False)
        return self._sandbox.run(program)

    def run_label(self, test: ManipulationTest, label: str) -> None:
        """Run a label on the present state. Raises: ValueError: It does not run to its end."""
        if error := _error(self._run(label)):
            raise ValueError(f"{test.id}: the label {label!r} does not run: {error}")

    def act(self, text: str) -> ActionResult:
        """Run the text as a program in the sandbox; what it prints is the observation."""
        run = self._run(text)
        self.error = _error(run)
        names = [call.tool for call in run.calls if call.tool]
        return ActionResult((*names, *self._constructed(text)), run.stdout, self.error)

    def _constructed(self, program: str) -> list[str]:
        """The value classes of a program, as often as they are written: to make a value is no call of the sandbox."""
        classes = self.protocol().value_classes
        try:
            return [name for name in called_functions(program) if name in classes] if classes else []
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []

    def close(self) -> None:
        """Close the sandbox."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None


def _error(run: Run) -> str:
    if run.outcome == "ok":
        return ""
    error = run.error
    if error is None:
        return f"the program was ended: {run.limit or run.outcome}"
    line = f" (line {error.line})" if error.line else ""
    return f"{error.type}: {error.message}{line}"


def _document(tool: Tool) -> FunctionDocument:
    """A tool as a prompt describes it: what it does, its arguments that need words, and what it returns.

    The arrow of a result is not part of the signature: a model that has no example copies it into its calls.
    """
    arguments = [f"{argument.argument}: {argument.description}" for argument in tool.arguments if argument.description]
    prose = [line for line in tool.description.splitlines() if line]
    if tool.function is None:
        return FunctionDocument(tool.name, tool.name, "\n".join([*prose, *arguments]))
    result = [f"returns: {tool.function.returns}"] if tool.function.returns else []
    return FunctionDocument(tool.name, tool.function.typed_call, "\n".join([*prose, *arguments, *result]))


def called_functions(program: str) -> tuple[str, ...]:
    """The functions that a program calls, in the order of its text, each as often as its calls are written.

    Raises: SyntaxError: It is no program.
    """
    calls = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.end_lineno or 0, call.end_col_offset or 0))
    return tuple(ast.unparse(call.func) for call in calls)
