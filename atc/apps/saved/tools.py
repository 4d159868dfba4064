"""Saved programs as tools of later questions: `--api saved:DIR` offers a function for each program in a folder.

A call runs its program in a sandbox of its own, on the API that it was saved for, and gives what it prints.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from atc.apps.saved.saved_program import TYPES, SavedProgram, parse_saved
from protocols.bounded_files import read_bounded
from protocols.calls.auth import credential
from protocols.combined import load_specs
from protocols.errors import UsageError
from protocols.model import READS, Protocol
from sandbox import Sandbox
from sandbox.egress import Writes

__all__ = ["load_saved"]


def load_saved(folder: str, auth: Sequence[str] = ()) -> Protocol:
    """The programs of a folder as one protocol. A program whose file names only tools that read writes nothing.

    Args:
        auth: Credentials for the API of the programs, as `--auth` takes them.
    Raises:
        UsageError: The folder has no saved program, a damaged one, or one that relies on what its API no longer has; or
            there are credentials, and the programs are not all of one API.
    """
    programs, warnings = _programs(Path(folder))
    protocols = {file: load_specs(saved.api_from(file.parent)) for file, saved in programs.items()}
    digests = {(saved.digest, protocols[file].digest) for file, saved in programs.items()}  # a file may claim any
    if auth and len(digests) > 1:
        raise UsageError(
            f"{folder} has programs of several APIs, and a credential is for one; give each API a folder of its own"
        )
    functions: dict[str, Callable[..., str]] = {}
    reads: list[str] = []
    for file, saved in programs.items():
        if saved.function in functions:
            raise UsageError(
                f"{file}: another program of the folder is called {saved.function}, too; rename its function"
            )
        protocol = saved.check(protocols[file])
        functions[saved.function] = _function(saved, protocol, auth)
        reads += [saved.function] * _only_reads(saved, protocol)
    protocol = Protocol.from_functions(functions, name=f"saved programs in {folder}", reads=reads)
    return replace(protocol, warnings=(*protocol.warnings, *warnings))


def _programs(folder: Path) -> tuple[dict[Path, SavedProgram], list[str]]:
    """The programs, and what is said of what is no file: opening a pipe waits for whoever writes to it."""
    if not folder.is_dir():
        raise UsageError(f"saved:{folder} names no folder; name one with files that `atc save` wrote")
    programs: dict[Path, SavedProgram] = {}
    warnings: list[str] = []
    for file in sorted(folder.glob("*.py")):
        if not file.is_file():
            warnings.append(f"{file} is skipped: it is no file")
            continue
        try:
            saved = parse_saved(read_bounded(file), str(file))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file} cannot be read: {error}") from None
        if saved is not None:
            programs[file] = saved
    if not programs:
        raise UsageError(
            f"{folder} holds no saved program; `atc save SOLUTION -o {folder}/NAME.py --api SPEC` writes one"
        )
    return programs, warnings


def _only_reads(saved: SavedProgram, protocol: Protocol) -> bool:
    return all(contract.method in READS or protocol.tool(name).reads for name, contract in saved.contracts.items())


def _function(saved: SavedProgram, protocol: Protocol, auth: Sequence[str]) -> Callable[..., str]:
    """The function of a saved program, with its signature and docstring."""

    writes: Writes = "deny" if _only_reads(saved, protocol) else "allow"  # the caller's policy let a write pass

    def call(**arguments: str | int | float) -> str:
        credentials = [credential(text, protocol) for text in auth]
        with Sandbox(protocol, credentials=credentials, writes=writes) as sandbox:
            run = sandbox.run(saved.program(arguments))
        if run.outcome != "ok":
            error = f"{run.error.type}: {run.error.message}" if run.error is not None else f"limit of {run.limit}"
            raise RuntimeError(error)
        return run.stdout.strip()

    kinds = {p.name: TYPES[p.type] for p in saved.parameters}
    parameters = [
        inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=p.default, annotation=kinds[p.name])
        for p in saved.parameters
    ]
    functions = [node for node in ast.parse(saved.source).body if isinstance(node, ast.FunctionDef)]
    docstring = next((ast.get_docstring(node) for node in functions if node.name == saved.function), None)
    call.__name__ = call.__qualname__ = saved.function
    call.__doc__ = docstring or saved.question
    call.__annotations__ = {**kinds, "return": str}
    signature = inspect.Signature(parameters, return_annotation=str)
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call
