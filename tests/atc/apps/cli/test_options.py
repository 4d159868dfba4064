"""An option of an agent is declared once: commands, `atc.toml` and journals read atc.options."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from atc.apps.cli.flags import FLAGS, click_settings, flag_values, with_values
from atc.options import Options

ROOT = Path(__file__).resolve().parents[4] / "atc"

MOST = 3
"""Files that may spell an option as a field or a text: its declaration, its use, and one more."""

MORE = {
    "model": 17,
    "allow": 9,
    "headers": 6,
    "now": 4,
    "reads": 5,
    "depth": 4,  # other things, too
    "max_calls": 4,
    "mode": 7,
    "max_reflections": 5,
    "max_tokens": 5,
    "max_seconds": 5,
    "max_cost": 6,  # over HTTP
    "simulate": 9,
    "base_url": 5,
    "auth": 8,  # what is wrong with it is told without repeating it, wherever it stands
    "store": 4,
    "writes": 6,
}
"""Options in more files than that; the numbers may only shrink. `atc init` asks for five of them now."""


def test_an_option_stands_in_few_files() -> None:
    """Whoever adds or renames one finds all of it."""
    files = [ast.parse(file.read_text("utf-8")) for file in [*ROOT.glob("*.py"), *(ROOT / "apps").rglob("*.py")]]
    counts = Counter(name for tree in files for name in set(spelled(tree)))

    assert {name: count for name, count in counts.items() if count > MORE.get(name, MOST)} == {}


def spelled(tree: ast.Module) -> Iterator[str]:
    """The options that a module has as a field or a text."""
    flags = {f"--{name.replace('_', '-')}": name for name in FLAGS}
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text: object = node.target.id
        else:
            text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and (name := flags.get(text, text)) in FLAGS:
            yield name


def test_every_option_has_help() -> None:
    """It is the entry of the docstring, without what is of Python alone."""
    texts = {name: str(click_settings(name)["help"]) for name in FLAGS}

    assert not [name for name, text in texts.items() if len(text) < 10 or "In Python" in text]
    assert texts["max_calls"] == "Most calls of a program; the model is told  [default: 100]"


def test_values_come_back() -> None:
    """What a journal keeps of options makes the same options again, those of the search included."""
    options = with_values(Options(seed=3), {"width": 4, "only": ("GET",), "max_cost": 0.5})

    assert (options.seed, options.search.width, options.only, options.max_cost) == (3, 4, ("GET",), 0.5)
    assert with_values(Options(), flag_values(options)) == options
