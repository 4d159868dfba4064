"""README and the first pages of the guide do what they show: every command and every script, with its output."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.front_door.pages import ROOT, blocks, differences, recorded_endpoint
from tests.shop import TOKEN, serving_shop
from tests.warm import warm_commands

PAGES = ("README.md", "docs/quickstart.md", "docs/your-api.md")
LOCAL = "local:qwen2.5-coder-1.5b"
LOCAL_ANSWERS = ROOT / "docs" / "examples" / "local_answers.jsonl"
MOST_NOT_RUN = 8
"""Blocks that install, need a network or a second terminal; each says why in the source of its page."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A reader's folder: `openapi.yaml` of a running shop, and the samples of a checkout."""
    for name in ("docs", "protocols", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    with serving_shop(tmp_path):
        yield tmp_path


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A reader's environment: the token of the shop, and nothing of the tester's own."""
    path = os.pathsep.join([str(warm_commands()), str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"PATH": path, "PYTHONPATH": str(ROOT), "SHOP_TOKEN": TOKEN, "COLUMNS": "100", "NO_COLOR": "1"}
    mine = {name: value for name, value in os.environ.items() if not name.startswith("ATC_")}
    return {**mine, **own, "XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_shows(page: str, folder: Path, env: dict[str, str]) -> None:
    """With a recorded strong model, all blocks in order in one folder."""
    with recorded_endpoint() as url:
        model = {"ATC_MODEL": "openai:recorded", "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        runnable = [block for block in blocks(ROOT / page) if block.kind in ("console", "python")]
        wrong = [
            difference
            for block in runnable
            if not block.why_not_run and not block.is_local
            for difference in differences(block, folder, {**env, **model})
        ]

    assert not wrong, "\n\n".join(wrong)


def local_differences(page: str, model: str, folder: Path, env: dict[str, str]) -> list[str]:
    """What the blocks of a page that show the local model do not do; the date is that of the page."""
    local_blocks = [block for block in blocks(ROOT / page) if block.is_local]
    assert local_blocks
    local = {**env, "ATC_MODEL": model, "ATC_SOLVE_NOW": "2026-04-02T09:00:00Z"}
    return [difference for block in local_blocks for difference in differences(block, folder, local)]


@pytest.mark.model
@pytest.mark.local
def test_the_local_model_answers_as_a_page_shows(folder: Path, env: dict[str, str]) -> None:
    """The block that shows it with the shop."""
    wrong = local_differences("docs/your-api.md", LOCAL, folder, env)

    assert not wrong, "\n\n".join(wrong)


def test_what_the_local_model_answered_is_the_answer_of_a_page(folder: Path, env: dict[str, str]) -> None:
    """Recorded, since it reads 1,500 tokens; after a change of its prompt the block with `--record` records it anew."""
    wrong = local_differences("docs/quickstart.md", f"replay:{LOCAL_ANSWERS}", folder, env)

    assert not wrong, "\n\n".join(wrong)


def test_few_blocks_are_not_run() -> None:
    """A block with a command of `atc` is a `console` block; those that are not run have a reason, and are few."""
    every = [block for page in PAGES for block in blocks(ROOT / page)]
    hidden = [block for block in every if not block.kind and re.search(r"^(\$ )?(atc|pip|uv) ", block.text, re.M)]
    not_run = [block for block in every if block.why_not_run]

    assert hidden == []
    assert len(not_run) <= MOST_NOT_RUN
