"""A program, a document and a service: what the tests of the wire have in common."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from atc.apps.cli import main
from tests.protocols.wire.service import Handler, Service

Run = Callable[..., Result]


@pytest.fixture
def service() -> Iterator[Service]:
    """Answers every request with 200 and `{"ok": true}`; set `service.handle` to have it answer otherwise."""
    with Service() as service:
        yield service


@pytest.fixture
def run(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run(document, program, *options, handle=…)`: what `atc run` does with them at the service.

    The document is a mapping, or the mapping of its `paths` alone; writes are allowed unless an option says otherwise.
    """
    monkeypatch.chdir(tmp_path)

    def run_program(
        document: Mapping[str, object], program: str, *options: str, handle: Handler | None = None
    ) -> Result:
        service.handle = handle or service.handle
        whole = document if "paths" in document else {"paths": document}
        version = {} if whole.keys() & {"openapi", "swagger"} else {"openapi": "3.0.3"}
        info = {"info": {"title": "Wire", "version": "1"}}
        Path("spec.json").write_text(json.dumps({**version, **info, **whole}), encoding="utf-8")
        Path("program.py").write_text(textwrap.dedent(program), encoding="utf-8")
        target = [] if "--base-url" in options else ["--base-url", service.url]
        writes = [] if "--writes" in options else ["--writes", "allow"]
        return CliRunner().invoke(main, ["run", "program.py", "--api", "spec.json", *target, *writes, *options])

    return run_program
