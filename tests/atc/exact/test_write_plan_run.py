"""`atc run --writes plan`: a program of one's own, asked about once and held to that."""

from __future__ import annotations

import json
from pathlib import Path

from tests.atc.exact.planned_orders import ORDER, Shop, atc, shop_document
from tests.atc.exact.test_writes import ATC, on_terminal


def command(shop: Shop, folder: Path, program: str, *options: str) -> list[str]:
    """The arguments of a run."""
    (folder / "shop.json").write_text(json.dumps(shop_document(shop.api.url)))
    (folder / "program.py").write_text(program)
    return ["run", str(folder / "program.py"), "--api", str(folder / "shop.json"), "--writes", "plan", *options]


def test_a_run_is_asked_once(shop: Shop, tmp_path: Path) -> None:
    """What the program prints is shown once, of the run that sent."""
    status, screen = on_terminal([*ATC, *command(shop, tmp_path, ORDER)], {"Send them?": "y\n"})

    assert (status, shop.sent("POST")) == (0, ["POST /orders", "POST /orders/4711/lines"]), screen
    assert (screen.count("[y/N]"), screen.count("4711 A1"), screen.count(" A1\r\n")) == (1, 1, 1)


def test_a_run_without_a_terminal_sends_nothing(shop: Shop, tmp_path: Path) -> None:
    """The list is printed, and the plan is in the JSON."""
    result = atc(*command(shop, tmp_path, ORDER, "--json"))

    assert (result.exit_code, shop.sent()) == (3, [])
    assert "The program plans 2 writes:" in result.stderr
    assert "nobody is there to confirm them" in result.stderr
    assert len(json.loads(result.stdout)["write_plan"]["writes"]) == 2


def test_a_run_that_only_reads_is_not_asked(shop: Shop, tmp_path: Path) -> None:
    """Its output is that of the only run."""
    result = atc(*command(shop, tmp_path, "print(GET_stock()['count'])"))

    assert (result.exit_code, result.stdout, shop.sent()) == (0, "5\n", ["GET /stock"])


def test_a_plan_needs_a_protocol(tmp_path: Path) -> None:
    """There is nothing to answer the writes."""
    (tmp_path / "program.py").write_text("print(1)")
    result = atc("run", tmp_path / "program.py", "--writes", "plan")

    assert result.exit_code == 2
    assert "--writes plan needs --api SPEC" in result.stderr
