"""The file of a saved program: a function with typed parameters, and beside it data about the API and an example.

The data is a literal named SAVED. It is read from the syntax tree; nothing of the file runs outside the sandbox.
"""

from __future__ import annotations

import ast
import keyword
import math
import os.path
import pprint
import re
import shlex
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from atc.apps.saved.contract import ToolContract, broken_contracts, contracts_of
from atc.apps.saved.parameters import ParameterType, SavedParameter, Value, parametrized
from atc.program.def_use import DefUse
from atc.program.source import calls_of
from atc.solution import Solution
from protocols.errors import ProgramRefused, UsageError
from protocols.model import LeftOut, Protocol
from protocols.naming import RESERVED, split_namespace
from protocols.quoting import shorten, visible
from sandbox.language.parsing import parse_program
from sandbox.language.policy import compile_program

__all__ = ["TYPES", "SavedProgram", "parse_arguments", "parse_saved", "save_program"]

_NAME = "SAVED"
_ANSWER_WIDTH = 200
"""Characters of the recorded answer in the docstring; the data has all of it."""

TYPES: Mapping[ParameterType, type[str | int | float]] = {"str": str, "int": int, "float": float}
_DEFAULTS: Mapping[ParameterType, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float)}
_PLACEHOLDERS: Mapping[ParameterType, str] = {"str": "TEXT", "int": "INTEGER", "float": "NUMBER"}


@dataclass(frozen=True, slots=True)
class SavedProgram:
    """A saved program.

    Args:
        api: Where its document is, as `--api` takes it; a file is relative to the folder of the program.
        digest: The digest of the document's protocol.
        date: The day on which it was saved, as YYYY-MM-DD.
        function: The name of its function.
        contracts: What it relies on, by the name of a tool.
        answer: The answer with the default values.
        source: The text of the file, without the data.
    """

    format: Literal["atc-saved-1"]
    question: str
    api: tuple[str, ...]
    title: str
    digest: str
    date: str
    function: str
    parameters: tuple[SavedParameter, ...]
    contracts: Mapping[str, ToolContract]
    answer: str
    source: str = ""

    def text(self, name: str) -> str:
        """The text of the file, which is to have this name."""
        example = "".join(
            f" {_option(parameter)} {shlex.quote(visible(str(parameter.default)))}" for parameter in self.parameters
        )
        about = (
            f"{self.title}: {visible(self.question)}\n\n"
            f"Made by `atc save` on {self.date}; it runs in the sandbox, without a model:\n\n"
            f"    atc run {shlex.quote(visible(name))}{example}\n\n"
            f"{_NAME} is data for that command.\n"
        )
        data = {key: value for key, value in asdict(self).items() if key != "source"}
        literal = pprint.pformat(data, width=116, sort_dicts=False)
        docstring = ast.unparse(ast.Module([ast.Expr(ast.Constant(about))], []))
        return f"{docstring}\n\n{_NAME} = {literal}\n\n\n{self.source}\n"

    def program(self, arguments: Mapping[str, Value]) -> str:
        """The program that calls the function with these arguments; the others have the defaults that are shown.

        Its lines have the numbers that they have in the file.
        """
        values = {parameter.name: parameter.default for parameter in self.parameters} | dict(arguments)
        passed = ", ".join(f"{name}={value!r}" for name, value in values.items())
        return f"{self.source.rstrip()}\n\n\n{self.function}({passed})\n"

    def api_from(self, folder: Path) -> tuple[str, ...]:
        """Its API as `--api` takes it, for a file in this folder.

        Raises: UsageError: The document is gone, or it is code, which no file may choose to run.
        """
        specs = []
        for spec in self.api:
            namespace, source = split_namespace(spec)
            if source.startswith(("functions:", "mcp:")):
                raise UsageError(f"the program calls {visible(spec)}; name that with --api, if you trust it")
            if not source.startswith(("http://", "https://")):
                path = Path(os.path.normpath(Path.cwd() / folder / source))  # `./functions:x.py` is a file
                if not _is_file(path):
                    raise UsageError(
                        f"the program names the document {visible(str(path))}, which is not there; name it with --api"
                    )
                source = str(path)
            specs.append(f"{namespace}={source}" if namespace else source)
        return tuple(specs)

    def check(self, protocol: Protocol) -> Protocol:
        """The API as the program may use it: of its writes, those that the file names, which decide who is asked.

        Raises: UsageError: The API lacks what the program relies on, which is named, or the user left it out.
        """
        for name in self.contracts:
            if (why := protocol.why_left_out(name)) is not None:
                raise UsageError(f"the program calls {name}: {why}")
        if problems := broken_contracts(self.contracts, protocol):
            listed = "\n".join(f"- {problem}" for problem in problems)
            raise UsageError(
                f"{protocol.title} has changed since {self.date}, and the program relies on what is gone:\n{listed}\n"
                "Solve the question anew with `atc solve --out FILE`, and save that"
            )
        named = {*self.contracts, *protocol.value_classes}
        unnamed = {tool.name: tool for tool in protocol.tools if tool.writes and tool.name not in named}
        reason = f"because the {_NAME} of the file does not name it"
        left_out = [
            LeftOut(t.method, t.path, t.name, reason, t.operation_id, namespace=t.namespace, chosen=True)
            for t in unnamed.values()
        ]
        offered = protocol.only(tool.name for tool in protocol.tools if tool.name not in unnamed)
        return replace(offered, left_out=(*protocol.left_out, *left_out))

    def usage(self) -> str:
        """The parameters, a line each."""
        return "\n".join(
            visible(f"  {_option(p)} {_PLACEHOLDERS[p.type]}  {_described(p)}  [default: {p.default}]")
            for p in self.parameters
        )


def save_program(
    solution: Solution, protocol: Protocol, api: Sequence[str], name: str, date: str, reserved: Collection[str] = ()
) -> SavedProgram:
    """Make a saved program of a solution.

    Args:
        api: As the file is to name it.
        name: The function's name, if nothing else has it.
        date: YYYY-MM-DD.
        reserved: Names that no parameter may have.
    Raises: UsageError: There is no program that answered, or it is of another document.
    """
    if solution.answer is None:
        raise UsageError("the solution has no answer; only a program that answered can be saved")
    if solution.tree:
        raise UsageError("the solution was found by single calls (--mode); only a program can be saved")
    if solution.versions.get("protocol") != protocol.digest:
        raise UsageError(
            f"the solution was found with another document than this one of {protocol.title}; name that with --api, or "
            "solve the question anew"
        )
    run = solution.attempts[-1].run
    original = parse_program(solution.program)
    tree, parameters = parametrized(solution.program, solution.query, protocol, solution.calls, solution.flow, reserved)
    _drop_recorded_keys(tree, protocol)
    for node in ast.walk(original):
        if isinstance(node, ast.Name) and (why := protocol.why_left_out(node.id)) is not None:
            raise UsageError(f"the program calls {node.id}: {why}")
    contracts = contracts_of(original, protocol, run)
    if not contracts:
        raise UsageError("the program calls no tool of the API; there is nothing to save")
    function = re.sub(r"\W", "_", unicodedata.normalize("NFKC", name))  # as Python reads a name
    if not function.isidentifier() or function[0] == "_" or function in RESERVED | {_NAME} or function in protocol:
        function = "answer_question"
    saved = SavedProgram(
        "atc-saved-1",
        solution.query,
        tuple(api),
        protocol.title,
        protocol.digest,
        date,
        function,
        parameters,
        contracts,
        solution.answer,
    )
    try:
        source = _function_source(saved, tree)
        compile_program(f"{source}\n{function}()\n")
    except (SyntaxError, ValueError, ProgramRefused) as error:  # ValueError: unparse has no form for an f-string
        raise UsageError(f"the program cannot become a function: {error}") from None
    return replace(saved, source=source)


def _drop_recorded_keys(tree: ast.Module, protocol: Protocol) -> None:
    """Take the idempotency keys that the program itself holds out of its calls: each run gets keys of its own."""
    flow = DefUse(tree)
    for call, name in calls_of(tree, {tool.name for tool in protocol.tools}):
        keys = {word for p in protocol.tool(name).arguments if p.is_idempotency_key for word in (p.argument, p.name)}
        call.keywords = [
            word for word in call.keywords if word.arg not in keys or not isinstance(flow.constant(word.value), str)
        ]


def _function_source(saved: SavedProgram, tree: ast.Module) -> str:
    """The text of the function."""
    lines = [visible(saved.question), ""]
    if saved.parameters:
        lines += ["Args:"]
        lines += [visible(f"    {p.name}: {_described(p)}") for p in saved.parameters]
        lines += [""]
    passed = ", ".join(f"{p.name}={p.default!r}" for p in saved.parameters)
    printed = shorten(visible(saved.answer).replace("\n", "\n        "), _ANSWER_WIDTH)
    lines += ["Example:", f"    {saved.function}({passed})  # {saved.date}", f"        {printed}", ""]
    module = ast.parse(f"def {saved.function}() -> None:\n    pass")
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.args.args = [ast.arg(p.name, ast.Name(p.type, ast.Load())) for p in saved.parameters]
    function.args.defaults = [ast.Constant(p.default) for p in saved.parameters]
    docstring = ast.Expr(ast.Constant("\n".join(line and f"    {line}" for line in lines).strip() + "\n    "))
    function.body = [docstring, *tree.body]
    return ast.unparse(ast.fix_missing_locations(module))


def _described(parameter: SavedParameter) -> str:
    choices = f" One of {', '.join(map(str, parameter.choices))}." if parameter.choices else ""
    return f"{parameter.description}{choices}".strip() or f"In place of {parameter.default!r} in the question."


def parse_saved(text: str, where: str) -> SavedProgram | None:
    """The saved program that a text is; None for any other program. Raises: UsageError: Its data is damaged."""
    try:
        tree = parse_program(text)
    except (SyntaxError, ProgramRefused):
        return None  # running it says so
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as value) if name == _NAME:
                break
    else:
        return None
    try:
        data: Any = ast.literal_eval(value)
        if data.get("format") != "atc-saved-1":
            return None
        lines = text.split("\n")
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
        ast.parse(source := "\n".join(lines))
        saved = _adapter().validate_python({**data, "source": source})
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        first = error.errors(include_url=False, include_input=False)[0] if isinstance(error, ValidationError) else None
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else "it is no literal"
        raise UsageError(f"{where}: its {_NAME} is damaged ({why}); save the solution anew") from None
    names = [parameter.name for parameter in saved.parameters]
    is_twice = len(set(names)) < len(names)
    if is_twice or not all(map(_is_name, (saved.function, *names))):
        raise UsageError(f"{where}: its {_NAME} is damaged (a name is none, or is there twice); save the solution anew")
    if wrong := [p.name for p in saved.parameters if not isinstance(p.default, _DEFAULTS[p.type])]:
        raise UsageError(f"{where}: its {_NAME} is damaged (the default of {wrong[0]} has another type); save it anew")
    return saved


def _is_name(text: str) -> bool:
    """Whether Python reads a text as that name, and as no other one."""
    return text.isidentifier() and not keyword.iskeyword(text) and unicodedata.normalize("NFKC", text) == text


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have
        return False


@cache
def _adapter() -> TypeAdapter[SavedProgram]:
    return TypeAdapter(SavedProgram)


def parse_arguments(saved: SavedProgram, words: Sequence[str], where: str) -> dict[str, Value]:
    """The arguments in the words of a command: `--place Oslo` or `--place=Oslo`.

    Raises: UsageError: An unknown parameter, a missing or a wrong value; the message lists the parameters.
    """
    parameters = {_option(parameter): parameter for parameter in saved.parameters}
    arguments: dict[str, Value] = {}
    waiting = list(words)
    while waiting:
        word, equals, value = waiting.pop(0).partition("=")
        parameter = parameters.get(word.replace("_", "-"))
        if parameter is None:
            raise _wrong(saved, f"{where} has no parameter {visible(word)}")
        if parameter.name in arguments:
            raise _wrong(saved, f"{word} is given twice")
        if not equals:
            if not waiting:
                raise _wrong(saved, f"{word} needs a value")
            value = waiting.pop(0)
            if value.startswith("--"):  # the command may have taken the value itself for one of its options
                raise _wrong(saved, f"{word} has no value before {visible(value)}; a value with -- is {word}=VALUE")
        arguments[parameter.name] = _converted(saved, parameter, value)
    return arguments


def _converted(saved: SavedProgram, parameter: SavedParameter, text: str) -> Value:
    try:
        value = TYPES[parameter.type](text)
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError
    except ValueError:
        kind = {"int": "a whole number", "float": "a number"}[parameter.type]
        raise _wrong(saved, f"{_option(parameter)} takes {kind}, not {visible(text)!r}") from None
    if parameter.choices and value not in parameter.choices:
        raise _wrong(saved, f"{_option(parameter)} is one of {', '.join(map(str, parameter.choices))}, not {value!r}")
    return value


def _wrong(saved: SavedProgram, problem: str) -> UsageError:
    usage = f"Its parameters are:\n{saved.usage()}" if saved.parameters else "It has no parameters"
    return UsageError(f"{problem}. {usage}")


def _option(parameter: SavedParameter) -> str:
    return f"--{parameter.name.replace('_', '-')}"
