"""The documents at the top of the repository name files and folders that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = sorted((*ROOT.glob("*.md"), ROOT / "benchmarks/README.md", *ROOT.glob("docs/*.md")))
OURS = "protocols|sandbox|atc|probing|benchmarks|tests|docs"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_paths_and_links_exist(document: Path) -> None:
    """Every link, every path in backticks and every `python -m` of ours leads to something."""
    text = document.read_text("utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", text)
    paths = re.findall(rf"`((?:{OURS})/[\w./-]*)`", text)
    commands = re.findall(rf"python -m ((?:{OURS})[\w.]*)", text)

    missing = [link for link in links if not (document.parent / link).exists()]
    missing += [path for path in paths if not (ROOT / path).exists()]
    modules = [ROOT / name.removesuffix(".NAME").replace(".", "/") for name in commands]
    missing += [str(file) for file in modules if not (file.is_dir() or file.with_suffix(".py").is_file())]

    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_lead_to_headings(document: Path) -> None:
    """A link to a part of a page names a heading of that page."""
    for page, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", document.read_text("utf-8")):
        target = document.parent / page if page else document
        headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.M)
        assert anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
