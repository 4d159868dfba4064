"""The documentation site: it is built from the checkout, and a link that leads nowhere stops the build."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("mkdocs.yml", "docs", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def built(checkout: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Build the site of a checkout, as `make docs` does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(checkout / "mkdocs.yml"), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the site is made of; everything else is this checkout's."""
    for name in PARTS:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    (tmp_path / "benchmarks").mkdir()
    shutil.copy(ROOT / "benchmarks" / "README.md", tmp_path / "benchmarks")
    for source in (*ROOT.iterdir(), *(ROOT / "benchmarks").iterdir()):
        copy = tmp_path / source.relative_to(ROOT)
        if not copy.exists() and not source.name.startswith(".") and source.name != "site":
            copy.symlink_to(source)
    return tmp_path


def _plain(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page))


def test_the_site_has_every_page(checkout: Path) -> None:
    """Guide, figures, reference and commands; links of the checkout are links of the site, and nothing is loaded."""
    done = built(checkout)
    site = checkout / "site"
    texts = {page.stem: page.read_text("utf-8") for page in site.glob("*.html")}

    assert done.returncode == 0, done.stderr
    assert {"index", "quickstart", "attribution", "benchmarks", "commands", "reference", "security"} <= set(texts)
    assert 'href="benchmarks.html#attribution"' in texts["attribution"]
    assert "atc retrieve build" in texts["commands"]
    assert "--call-timeout" in texts["commands"], "all options, also those of --help-all"
    assert re.search(
        r"(?s)^Agent\(\n *tools: object,\n *model: str .*max_tokens: int", _plain(texts["reference"]), re.M
    )
    links = re.findall(r"\]\((.*?)\)", (site / "llms.txt").read_text("utf-8"))
    assert links and [link for link in links if not (site / link).is_file()] == []
    assert not [name for name, text in texts.items() if 'src="http' in text or 'rel="stylesheet" href="http' in text]


def test_broken_links_stop_the_build(checkout: Path) -> None:
    """Pages and anchors are checked; the messages name the page and the link."""
    for page in (checkout / "docs").glob("*.md"):
        if page.name not in ("index.md", "faq.md"):  # to build the others takes six seconds
            page.write_text("# Page\n")
    with (checkout / "docs" / "faq.md").open("a", encoding="utf-8") as faq:
        faq.write("\n[x](nowhere.md)\n[x](../benchmarks/README.md#no-such-heading)\n")

    done = built(checkout)
    messages = [line for line in done.stderr.splitlines() if "faq.md" in line]

    assert done.returncode != 0
    assert [word for word in ("nowhere.md", "no-such-heading") if not any(word in line for line in messages)] == []
