"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real benchmark data: `ATC_DATA`, else `../shared/data` beside the checkout."""
    folder = Path(os.environ.get("ATC_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "restbench").is_dir():
        pytest.skip(f"no benchmark data at {folder}: set ATC_DATA to a folder that holds restbench/")
    return folder


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own settings; models stay where they are, to be downloaded once."""
    monkeypatch.delenv("ATC_MODEL", raising=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where nothing may be skipped (`ATC_NO_SKIP`), say that this is why the run fails."""
    if skipped := _forbidden_skips(terminalreporter):
        terminalreporter.write_line(f"{skipped} skipped, and ATC_NO_SKIP forbids it", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skipped test fails the run where `ATC_NO_SKIP` is set."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(reporter, pytest.TerminalReporter) and _forbidden_skips(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _forbidden_skips(reporter: pytest.TerminalReporter) -> int:
    return len(reporter.stats.get("skipped", [])) if os.environ.get("ATC_NO_SKIP") else 0
