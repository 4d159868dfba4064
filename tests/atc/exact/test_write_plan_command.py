"""`atc solve --writes plan`: the list, the question on a terminal, and a plan that is resumed."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from atc.solution_file import read_solution
from sandbox import Journal
from sandbox.egress.write_plan import WritePlan
from tests.atc.exact.planned_orders import ORDER, QUESTION, Approval, Shop, shop_document, solved
from tests.atc.exact.test_writes import ATC, on_terminal
from tests.atc_command import atc
from tests.local_api import Answer, Received


def command(shop: Shop, folder: Path, *options: str) -> list[str]:
    """The arguments of a solve whose model is the scripted one."""
    file = folder / "shop.json"
    file.write_text(json.dumps(shop_document(shop.api.url)))
    named = ["solve", QUESTION, "--api", str(file), "--model", "openai:scripted", "--writes", "plan"]
    return [*named, "--mode", "naive", *options]


def test_without_a_terminal_the_list_is_printed(shop: Shop, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """Exit code 3; stderr has the list, and --out the plan."""
    endpoint(ORDER)
    out = tmp_path / "solution.json"
    result = atc(*command(shop, tmp_path, "--out", str(out)))

    assert (result.exit_code, result.stdout, shop.sent()) == (3, "", [])
    for text in (
        "The program plans 2 writes:",
        f"1. POST_orders: POST {shop.api.url}/orders",
        'customer: "Ada"  (from the question)',
        "from the answer of write 1: id; the value here is made up, the real one is sent",
        "nobody is there to confirm them",
    ):
        assert text in result.stderr
    assert [write["state"] for write in json.loads(out.read_text())["write_plan"]["writes"]] == ["new", "new"]
    assert read_solution(out).write_plan is not None


def test_a_run_is_asked_once(shop: Shop, tmp_path: Path) -> None:
    """`atc run`, too; what the program prints is shown once, of the run that sent."""
    (tmp_path / "shop.json").write_text(json.dumps(shop_document(shop.api.url)))
    (tmp_path / "program.py").write_text(ORDER)
    arguments = ["run", str(tmp_path / "program.py"), "--api", str(tmp_path / "shop.json"), "--writes", "plan"]
    nobody = atc(*arguments, "--json")
    assert (nobody.exit_code, shop.sent()) == (3, [])
    assert len(json.loads(nobody.stdout)["write_plan"]["writes"]) == 2

    status, screen = on_terminal([*ATC, *arguments], {"for yes": "WORD\n"})

    assert (status, shop.sent("POST")) == (0, ["POST /orders", "POST /orders/4711/lines"]), screen
    assert (screen.count("for yes, Enter"), screen.count("4711 A1"), screen.count(" A1\r\n")) == (1, 1, 1)


def test_a_plan_without_an_answer_is_asked_again(shop: Shop, tmp_path: Path) -> None:
    """Ctrl-C at the question ends the solve; resumed, it asks the model nothing, and the same question."""

    def interrupted(plan: WritePlan) -> bool:
        raise KeyboardInterrupt

    approval = Approval()
    with Journal(tmp_path / "solve.journal") as journal:
        assert solved(shop, ORDER, approval=interrupted, journal=journal).status == "interrupted"
        assert shop.sent() == []
    with Journal(tmp_path / "solve.journal") as journal:
        assert solved(shop, approval=approval, journal=journal).answer == "4711 A1"

    assert approval.asked == [["POST_orders", "POST_orders_order_id_lines"]]
    assert shop.sent("POST") == ["POST /orders", "POST /orders/4711/lines"]


def test_an_approved_plan_goes_on_without_a_question(shop: Shop, endpoint: Callable[..., None], tmp_path: Path) -> None:
    """The process is killed between two writes: --resume sends the second one, and the first not again."""
    program = ORDER.replace("line =", "print(GET_stock()['count'])\nline =")
    endpoint(program, "print('the model was asked again')")
    reads: list[Received] = []
    pids = tmp_path / "pid"

    def stock(received: Received) -> Answer:
        reads.append(received)
        if len(reads) == 2:  # the first was in the planning run
            os.kill(int(pids.read_text()), signal.SIGKILL)
        return Answer(body={"count": 5})

    shop.api.respond("GET", "/stock", stock)
    file = tmp_path / "solve.journal"
    start = "import os, sys; open(sys.argv.pop(1), 'w').write(str(os.getpid())); from atc.apps.cli import main; main()"
    arguments = [sys.executable, "-c", start, str(pids), *command(shop, tmp_path, "--journal", str(file))]
    status, screen = on_terminal(arguments, {"for yes": "WORD\n"})
    assert (status, shop.sent("POST")) == (-signal.SIGKILL, ["POST /orders"]), screen

    result = atc("solve", "--resume", file)
    assert (result.exit_code, result.stdout) == (0, "5\n4711 A1\n"), result.stderr
    assert shop.sent("POST") == ["POST /orders", "POST /orders/4711/lines"]
