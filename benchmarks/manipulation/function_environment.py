"""An environment whose tools are Python functions, and whose actions are programs over them.

A program of the action generator and one of `atc` are the same text; both call the same objects through the sandbox.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any

from benchmarks.manipulation.environment import NOW, ActionResult, Environment, FunctionDocument, ManipulationTest
from protocols import Protocol
from protocols.model import Tool
from sandbox import Run, Sandbox

__all__ = ["FunctionEnvironment", "called_functions", "execute"]


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
    def _protocol(self) -> Protocol:
        return Protocol.from_functions(self.objects(), name=self.name, reads=self.reads)

    def protocol(self) -> Protocol:
        """The tools of the objects."""
        return self._protocol

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

    def act(self, text: str) -> ActionResult:
        """Run the text as a program in the sandbox; what it prints is the observation."""
        if self._sandbox is None:
            self._sandbox = Sandbox(self.protocol(), now=NOW, track=False)
        run = self._sandbox.run(text)
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


def execute(program: str, namespace: Mapping[str, object]) -> None:
    """Run a label in this process: calls of the functions and methods of a namespace, and assignments to names.

    Arguments are literals, names, and calls. Raises: ValueError: There is anything else; and what a function raises.
    """
    names = dict(namespace)
    for statement in ast.parse(program).body:
        match statement:
            case ast.Expr(value=ast.Call() as call):
                _evaluate(call, names)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = _evaluate(value, names)
            case _:
                raise ValueError(f"line {statement.lineno} is neither a call nor an assignment: {program}")


def _evaluate(node: ast.expr, names: Mapping[str, object]) -> object:
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            positional = [_evaluate(argument, names) for argument in arguments]
            named = dict(_named(keywords, names))
            return _function(function, names)(*positional, **named)
        case ast.Name(id=name):
            if name not in names:
                raise ValueError(f"line {node.lineno}: {name} is not defined")
            return names[name]
        case ast.List(elts=items):
            return [_evaluate(item, names) for item in items]
        case _:
            return ast.literal_eval(node)


def _named(keywords: Sequence[ast.keyword], names: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for keyword in keywords:
        if keyword.arg is None:
            raise ValueError(f"line {keyword.lineno}: write each argument with its name")
        yield keyword.arg, _evaluate(keyword.value, names)


def _function(node: ast.expr, names: Mapping[str, object]) -> Callable[..., object]:
    match node:
        case ast.Name(id=name) if callable(names.get(name)):
            return names[name]  # type: ignore[return-value]
        case ast.Attribute(value=ast.Name(id=name), attr=method) if name in names and not method.startswith("_"):
            function = getattr(names[name], method, None)
            if callable(function):
                return function  # type: ignore[no-any-return]
    raise ValueError(f"line {node.lineno}: there is no function {ast.unparse(node)}")
