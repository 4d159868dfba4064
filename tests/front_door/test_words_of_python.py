"""A message names an option as its reader gives it: as an argument in Python, as a flag on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atc import Agent, check_program, run_program
from atc.apps.toolset import open_toolset
from atc.options import in_words_of_flags, worded
from protocols import UsageError
from tests.atc_command import atc

SHOP = Path(__file__).resolve().parents[2] / "docs/examples/shop.yaml"

MESSAGES = {
    "nobody is there to confirm it; --writes allow allows it": 'confirm it; writes="allow" allows it',
    "a write, which --writes deny refuses": 'which writes="deny" refuses',
    "give credentials: --auth bearer:env:TOKEN": 'give credentials: auth=["bearer:env:TOKEN"]',
    "the base URL of the service (--base-url shop=URL)": '(base_url={"shop": "URL"})',
    "--base-url shop=…: there is but one API": 'base_url={"shop": "…"}: there is but one API',
    "name a table with --prices FILE that has it": 'name a table with prices="FILE" that has it',
    "--only and --without leave no operation": "only=… and without=… leave no operation",
    "it was left out by --only 'POST /search', GET": 'by only=["POST /search"], GET',
    "it was left out by --without admin": 'by without=["admin"]',
    "--header X-A: its value is a secret": 'headers=["X-A"]: its value is a secret',
    "100 calls; --max-calls allows more": "100 calls; max_calls=… allows more",
    "use --format text, or another model": 'use search=SearchSettings(format="text"), or another model',
    "--read none takes that back.": "takes that back.",
    "use --simulate.": "use simulate=True.",
    "`atc solve --out FILE` and --store DIR": '`atc solve --out FILE` and store="DIR"',
    "--allowed and --max-calls-of are no options": "--allowed and --max-calls-of are no options",
}


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_has_the_words_of_python(message: str) -> None:
    """While a command is under way it stays as it is, so that a model reads the same text in each case."""
    assert MESSAGES[message] in worded(message)
    with in_words_of_flags():
        assert worded(message) == message


def test_python_and_the_command_line_each_have_their_words() -> None:
    """Both read the same message of the same place."""
    with pytest.raises(UsageError, match=r"only=\[\"nowhere\"\] fits no operation"):
        Agent(SHOP, simulate=True, only=["nowhere"])

    run = atc("explain", "Which orders?", "--api", SHOP, "--only", "nowhere")

    assert "--only 'nowhere' fits no operation" in run.stderr


def test_what_ended_a_program_is_told_in_words_of_python() -> None:
    """The run that is returned has them, too, and so have its calls."""
    outcome = run_program(SHOP, "for _ in range(9):\n    GET_orders()", simulate=True, max_calls=3)
    denied = run_program(
        SHOP, "POST_payments_paymentId_refund(paymentId='p1', reason='broken')", base_url="http://[::1]:9"
    )

    assert outcome.run.error is not None
    assert "allow more with max_calls=…" in outcome.run.error.message
    assert 'writes="allow" allows it' in str(denied.run.calls[0].error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"modle": "openai:any"}, "Agent has no argument 'modle'; did you mean mode or model?"),
        ({"read": ["GET"]}, "did you mean reads"),
        ({"seed": "three"}, "seed is 'three': it must be a number"),
        ({"max_calls": "3"}, "max_calls is '3': it must be a number"),
        ({"max_calls": True}, "max_calls is True: it must be a number"),
        ({"auth": "bearer:env:TOKEN"}, r"auth is a text: it must be a list of them, as in auth=\['…'\]"),
        ({"only": 5}, "only is 5: it must be a list of texts"),
        ({"confirm": "yes"}, "confirm is 'yes': it must be a function"),
        ({"limits": {"wall": 3}}, "limits is {'wall': 3}: it must be a Limits"),
        ({"simulate": "yes"}, "simulate is 'yes': it must be True, False or a session of a simulated API"),
        ({"strict_sandbox": 1}, "strict_sandbox is 1: it must be True or False"),
        ({"writes": "plans"}, "unknown writes policy 'plans'"),
        ({"base_url": 8000}, "base_url is 8000: it must be a URL, or a mapping of URLs by the name of their API"),
    ],
)
def test_a_wrong_argument_is_told_in_a_sentence(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Agent(SHOP, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("url", ["nohost", "ftp://shop.example/", "https:///v1"])
def test_a_base_url_without_a_server_is_refused_at_once(url: str) -> None:
    """No model is asked before."""
    with pytest.raises(UsageError, match="base_url=… must be http:// or https:// and a host"):
        Agent(SHOP, base_url=url)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda agent: agent.solve(None), "the question is None: it must be a text"),
        (lambda agent: agent.run_program(None), "program is None: it must be a text"),
        (lambda agent: run_program(SHOP, None), "program is None: it must be a text"),  # type: ignore[arg-type]
        (lambda agent: check_program(SHOP, 5), "program is 5: it must be a text"),  # type: ignore[arg-type]
        (
            lambda agent: check_program("print(1)", str(SHOP)),
            "a file: it must be the text of a program, after the tools",
        ),
        (lambda agent: Agent(""), "the name of the API document is empty"),
        (lambda agent: open_toolset(SHOP, modle="x"), "open_toolset has no argument 'modle'; did you mean mode"),  # type: ignore[call-arg]
    ],
)
def test_an_argument_of_another_type_is_told_in_a_sentence(call: Callable[[Any], object], message: str) -> None:
    """So it is where an argument is another one's."""
    with Agent(SHOP, simulate=True) as agent, pytest.raises(UsageError, match=message):
        call(agent)
