"""The picture of an episode on the page of a report, in a real browser."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from atc.apps.cli import main
from benchmarks.manipulation.run import ManipulationSettings
from tests.benchmarks.manipulation.perfect import LabelModel
from tests.benchmarks.manipulation.suite_runs import run_suite
from tests.benchmarks.manipulation.tiny_environment import TinyEnvironment
from tests.browser import open_browser

SETTINGS = ManipulationSettings("manipulation", "labels", "action", 3, 0, "paper", "bm25", False)
PICTURE = '<svg width="300" height="100"><rect width="300" height="100" fill="#f1ece0"/></svg>'
COLOURS = "const style = getComputedStyle(document.body); return style.backgroundColor"
FRAME = """
const box = document.querySelector('.solution:target iframe.picture').getBoundingClientRect();
return [box.width > 600, box.height > 400, document.documentElement.scrollWidth <= innerWidth]
"""


class Drawn(TinyEnvironment):
    """The tiny tool with a picture that has a size, and would run a script."""

    def picture(self) -> str:
        return f"{PICTURE}<p>Seen: {self._finder._state.get('place')}</p><script>parent.document.title = 'run'</script>"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A report over two tests."""
    with closing(Drawn()) as environment:
        model = LabelModel(environment)
        for test in environment.tests[:2]:
            model.expect(test)
            run_suite(environment, SETTINGS, model, [test], tmp_path / "run")
    done = CliRunner().invoke(main, ["report", str(tmp_path / "run"), "--html", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    return tmp_path / "page.html"


@pytest.mark.browser
@pytest.mark.parametrize(
    ("dark", "background", "ink"),
    [(False, "rgb(255, 255, 255)", "rgb(0, 0, 0)"), (True, "rgb(20, 23, 27)", "rgb(255, 255, 255)")],
)
def test_the_frame_has_the_picture(dark: bool, background: str, ink: str, page: Path) -> None:
    """Each test has its own, as dark or light as the page; a script in it does not run."""
    with open_browser(dark=dark) as browser:
        browser.open(page)
        assert browser.run(COLOURS) == background
        for number, place in enumerate(("Bonn", "Graz")):
            browser.click(f"a.cell[href='#t{number}-r0']")
            assert browser.run(FRAME) == [True, True, True]
            with browser.inside(f"#t{number}-r0 iframe.picture"):
                assert browser.text("p") == f"Seen: {place}"
                assert browser.run("return getComputedStyle(document.body).color") == ink
                assert browser.run("return document.querySelector('svg rect').getBoundingClientRect().width") == 300
            browser.run("document.querySelector('.solution:target iframe').scrollIntoView()")
            browser.screenshot(page.with_suffix(".png"))
            browser.click(f"#t{number}-r0 .close")
        assert browser.run("return document.title") != "run"
