"""What fills a template and what a command prints is ours, or was quoted on its way: a list of both, walked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from atc.apps.mcp_server.app import create_server
from atc.apps.mcp_server.service import ToolService
from atc.options import Options
from protocols import load
from protocols.mcp.answers import value_of
from tests.scripted import ScriptedModel
from tests.security.poisoned import POISON, acts, poisoned_document

ROOT = Path(__file__).resolve().parents[2]

_OWN = "today messages output calls seconds title type query program name argument task tried reader why"
_QUOTED = "answer call chains documentation error functions known last problem reply tool tools turns values"
PLACEHOLDERS = frozenset(f"{_OWN} {_QUOTED}".split())
"""Ours: settings, the question, names that are checked, a title in one line, what the model wrote itself. Quoted:
documentation and sketches are made of `plain`, `one_line` and `json_text`; errors and facts pass `one_line`."""

_FUNCTIONS = "escape escaped json_text one_line to_json unhidden visible words_of_service for_stream"
QUOTES = frozenset(_FUNCTIONS.split())
PRINTS = re.compile(r"click\.(echo|secho|confirm|prompt)|print|(.*[cC]onsole(\(\))?)\.print|sys\.std(out|err)\.write")
OURS = {
    "atc/apps/cli/__init__.py": "`say` quotes its message in the line before",
    "atc/apps/cli/chat.py": "JSON in ASCII",
    "atc/apps/cli/completion.py": "a script of click's",
    "atc/apps/cli/confirm.py": "our own question",
    "atc/apps/cli/contract.py": "a table of names of tools and numbers; lines that were quoted",
    "atc/apps/cli/doctor.py": "headings",
    "atc/apps/cli/explain.py": "a table of names that were quoted, headings",
    "atc/apps/cli/help_pages.py": "our help",
    "atc/apps/cli/init.py": "the name of our file",
    "atc/apps/cli/init_dialog.py": "our own questions",
    "atc/apps/cli/model.py": "names and files of the catalogue",
    "atc/apps/cli/save.py": "lines that `usage` has quoted",
    "atc/apps/cli/simulate.py": "an address of ours",
    "atc/apps/cli/trust.py": "a path that was quoted",
    "atc/apps/tui/__init__.py": "lines of the view, all of which are quoted in atc/apps/tui/parts.py",
    "atc/apps/tui/live.py": "the same",
    "probing/cli.py": "names of tools, numbers, reasons that were quoted",
}
"""By file: why what it prints without quoting is no text of a stranger."""


def test_every_template_is_filled_with_what_is_known_to_be_quoted() -> None:
    """A new placeholder is looked at: is it ours, and if not, where is it quoted?"""
    folders = [ROOT / "atc" / "prompting" / "templates", ROOT / "probing" / "prober" / "templates"]
    texts = [file.read_text() for folder in folders for file in folder.glob("*.txt")]
    names = {match[1] for text in texts for match in re.finditer(r"\$\{?(\w+)", text)}

    assert names - PLACEHOLDERS == set()
    assert PLACEHOLDERS - names == set()


def unquoted_prints() -> Iterator[tuple[str, int]]:
    """Files and lines that print a value without one of our quoting functions in the same call."""
    for file in sorted([*(ROOT / "atc").rglob("*.py"), *(ROOT / "probing").rglob("*.py")]):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and PRINTS.fullmatch(ast.unparse(node.func)):
                inner = [part for argument in node.args for part in ast.walk(argument)]
                called = {ast.unparse(part.func).rpartition(".")[2] for part in inner if isinstance(part, ast.Call)}
                names = {part.id for part in inner if isinstance(part, ast.Name)}
                if names and not called & QUOTES and not names & QUOTES:
                    yield file.relative_to(ROOT).as_posix(), node.lineno


def test_every_print_is_quoted_or_ours() -> None:
    """A new print of a value is quoted in place, or its file is named above with the reason."""
    files = {file for file, _ in unquoted_prints()}

    assert files - OURS.keys() == set(), list(unquoted_prints())
    assert OURS.keys() - files == set()


def test_what_the_server_for_mcp_clients_says_of_itself_is_quoted() -> None:
    """The title of a document stands in its instructions and titles, as a quotation in one line."""
    with ToolService(
        load(poisoned_document("https://notes.example")), Options(model=ScriptedModel(), simulate=True)
    ) as service:
        server = create_server(service, "1")

    assert server.instructions is not None
    assert acts(server.instructions) == acts(server.title or "") == ""
    assert '"evil' in server.instructions


@pytest.mark.parametrize("structured", [None, {"error": POISON}])
def test_an_error_of_a_tool_over_mcp_is_the_words_of_its_service(structured: dict[str, str] | None) -> None:
    """In one line, in quotation marks and cut; as text, or in the structured content."""
    import mcp_types as types

    from protocols.functions.host_function import RemoteCallError

    content: list[types.ContentBlock] = [] if structured else [types.TextContent(type="text", text=POISON * 100)]
    result = types.CallToolResult(content=content, structured_content=structured, is_error=True)
    with pytest.raises(RemoteCallError, match=r'^the service said ".*"$') as failure:
        value_of(result)

    assert acts(str(failure.value)) == ""
    assert len(str(failure.value)) < 700
