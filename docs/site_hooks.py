"""What MkDocs does beside its own: pages from files outside `docs/`, the page of commands, and links between them.

The files keep links that work in a checkout. On the site, a link to another page of the site leads there, and a link
to a source file is its name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {
    "architecture.md": "ARCHITECTURE.md",
    "benchmarks.md": "benchmarks/README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
"""Pages of the site, and the files of the checkout that they are."""
_PAGES = {(ROOT / file).resolve(): page for page, file in ELSEWHERE.items()} | {
    (ROOT / "README.md").resolve(): "index.md",
}
_LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)")
_CODE = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are written or generated elsewhere."""
    for page, file in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / file).read_text("utf-8")))
    files.append(File.generated(config, "commands.md", content="\n".join(_commands())))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turn links of the checkout into links of the site."""
    source = ROOT / ELSEWHERE.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def rewritten(link: re.Match[str]) -> str:
        target, _, anchor = link["target"].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return link[0]
        file = (source.parent / target).resolve()
        if file in _PAGES:
            return f"[{link['text']}]({_PAGES[file]}{'#' + anchor if anchor else ''})"
        if file.is_relative_to(ROOT / "docs"):
            return f"[{link['text']}]({file.relative_to(ROOT / 'docs').as_posix()}{'#' + anchor if anchor else ''})"
        return link["text"] if file.exists() else link[0]  # one that is broken is MkDocs' to report

    parts = _CODE.split(markdown)
    return "".join(part if number % 2 else _LINK.sub(rewritten, part) for number, part in enumerate(parts))


def _commands() -> Iterator[str]:
    """The page of commands: the help of each, as the terminal prints it."""
    from atc.apps.cli import main
    from atc.apps.cli.help_pages import ALL_OPTIONS

    context = click.Context(main, info_name="atc", terminal_width=100, max_content_width=100)
    context.meta[ALL_OPTIONS] = True
    yield "# Commands\n\nWhat `atc --help` and `atc COMMAND --help-all` print."
    yield from _helps(main, context, "atc")


def _helps(command: click.Command, context: click.Context, name: str) -> Iterator[str]:
    yield f"\n## {name}\n\n```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            below = command.get_command(context, part)
            if below is not None and not below.hidden:
                inner = click.Context(below, info_name=part, parent=context, max_content_width=100)
                yield from _helps(below, inner, f"{name} {part}")
