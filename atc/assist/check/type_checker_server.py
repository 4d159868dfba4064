"""The type checker as a running language server, which reads Python's own types only once.

A new process answers ten times as slowly: most of that time goes to the types of the standard library.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import TimeoutError as NoAnswerInTime
from pathlib import Path
from typing import Any

from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

from protocols.errors import ATCError

__all__ = ["CheckerError", "TypeCheckerServer"]

logging.getLogger("pylsp_jsonrpc").addHandler(logging.NullHandler())  # it tells what goes wrong, and so does this

_TIMEOUT = 20.0
_POLL_SECONDS = 0.2
"""Seconds between two looks at whether the process still runs."""
_PYTHON = "3.11"
"""The Python version of the standard library that programs are checked against."""


class CheckerError(ATCError):
    """The type checker could not do its part."""

    exit_code = 2


class TypeCheckerServer:
    """A type checker that gets the text of files and returns their diagnostics.

    Args:
        binary: The path of ty.
        rules: The level of its rules, by name: `ignore`, `warn` or `error`.
    Raises: CheckerError: It cannot be started.
    """

    def __init__(self, binary: str, rules: Mapping[str, str]) -> None:
        self._host = os.getpid()
        self._folder = Path(tempfile.mkdtemp(prefix="atc-check-"))
        self._versions: dict[str, int] = {}
        marked = (f'{name} = "{level}"' for name, level in rules.items())
        settings = ["[environment]", f'python-version = "{_PYTHON}"', "[rules]", *marked]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(self._folder)}
        try:
            (self._folder / "ty.toml").write_text("\n".join(settings), "utf-8")
            self._process = subprocess.Popen(
                [binary, "server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._folder,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise CheckerError(f"the type checker cannot be run: {error}") from None
        handlers: defaultdict[str, Callable[[object], None]] = defaultdict(lambda: lambda _: None)
        self._endpoint = Endpoint(handlers, JsonRpcStreamWriter(self._process.stdin).write, max_workers=1)
        reader = JsonRpcStreamReader(self._process.stdout)
        threading.Thread(target=reader.listen, args=(self._endpoint.consume,), name="type checker", daemon=True).start()
        root = self._folder.as_uri()
        parameters = {
            "processId": self._host,
            "rootUri": root,
            "workspaceFolders": [{"uri": root, "name": "program"}],
            "capabilities": {"textDocument": {"diagnostic": {}}, "general": {"positionEncodings": ["utf-32"]}},
        }
        with contextlib.ExitStack() as unless_it_answers:
            unless_it_answers.callback(self.stop)
            self._request("initialize", parameters)
            unless_it_answers.pop_all()
        self._endpoint.notify("initialized", {})

    @property
    def alive(self) -> bool:
        """True if it runs, and in this process (not in one that this one was forked from)."""
        return self._host == os.getpid() and self._process.poll() is None

    def diagnose(self, files: Mapping[str, str], *names: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The diagnostics of some files: file name, and diagnostic as in the language server protocol.

        Columns count characters.

        Args:
            files: The text of each file by its name; earlier files keep their text.
            names: The files to diagnose.
        Raises: CheckerError: It has ended or does not answer in time.
        """
        for name, text in files.items():
            self._open_file(name, text.encode("utf-8", "replace").decode())
        for name in names:
            answer = self._request("textDocument/diagnostic", {"textDocument": {"uri": self._uri(name)}})
            if not isinstance(answer, dict) or "items" not in answer:
                raise CheckerError("the type checker answers with no diagnostics")
            for item in answer["items"]:
                yield name, item

    def stop(self) -> None:
        """End the process and remove its files."""
        if self._host != os.getpid():
            return
        self._process.kill()
        self._process.wait()
        self._endpoint.shutdown()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _uri(self, name: str) -> str:
        return (self._folder / name).as_uri()

    def _open_file(self, name: str, text: str) -> None:
        version = self._versions[name] = self._versions.get(name, -1) + 1
        document: dict[str, object] = {"uri": self._uri(name), "version": version}
        if version:
            changed = {"textDocument": document, "contentChanges": [{"text": text}]}
            self._endpoint.notify("textDocument/didChange", changed)
        else:
            (self._folder / name).touch()  # one that imports it looks whether it is there
            self._endpoint.notify(
                "textDocument/didOpen", {"textDocument": {**document, "languageId": "python", "text": text}}
            )

    def _request(self, method: str, params: object) -> Any:
        answer = self._endpoint.request(method, params)
        end = time.monotonic() + _TIMEOUT
        try:
            while True:
                with contextlib.suppress(NoAnswerInTime):
                    return answer.result(_POLL_SECONDS)
                if (status := self._process.poll()) is not None:
                    raise CheckerError(f"the type checker ended with {status}")
                if time.monotonic() > end:
                    raise CheckerError(f"the type checker does not answer within {_TIMEOUT:g} seconds")
        except JsonRpcException as error:
            raise CheckerError(f"the type checker cannot answer: {error}") from None
