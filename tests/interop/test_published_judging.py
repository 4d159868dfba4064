"""`atc eval --compat` ends as the published evaluation scripts do; docs/interop.md has the comparison with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from atc.files import write_json
from tests.interop.published_judging import METHODS, MarkJudge, answer_of, environment, ours, queries, write_methods
from tests.local_api import LocalAPI

SUBSET = "G1_instruction"
GIVEN_UP = '{"return_type": "give_up_and_restart"}'


@pytest.mark.parametrize("edition", ["2", "sowr"])
def test_win_rate_where_no_lot_decides(tmp_path: Path, edition: str) -> None:
    """A status for both answers, and a judge that heeds no order: the better method wins each round."""
    opinions = [{**opinion, "statuses": ["Solved", "Solved"]} for opinion in queries(12)]
    with LocalAPI() as api:
        api.respond("POST", "/chat/completions", MarkJudge(opinions).reply)
        write_methods(tmp_path, 12, [SUBSET])
        answers = [tmp_path / "converted" / method / f"{SUBSET}.json" for method in METHODS]
        options = ["--edition", edition, "--times", 1]
        summary = ours(["win-rate", *answers, *options], tmp_path / "out", environment(api.url, tmp_path))

    assert summary["rate"] == sum(opinion["better"] for opinion in opinions) / 12


@pytest.mark.parametrize(("text", "asked"), [("", 0), (GIVEN_UP, 1), ("mark-0-0.", 1)])
def test_fac_asks_about_all_but_an_empty_answer(tmp_path: Path, text: str, asked: int) -> None:
    """An answer that gives up is put to the judge, whose generous word counts; an empty one is incomplete unasked."""

    opinions = [{**queries(1)[0], "fac": "SOLVED"}]
    write_json(tmp_path / f"{SUBSET}.json", {"0": answer_of(0, 0, text)})
    with LocalAPI() as api:
        api.respond("POST", "/chat/completions", MarkJudge(opinions).reply)
        arguments = ["pass-rate", tmp_path / f"{SUBSET}.json", "--edition", "fac"]
        summary = ours(arguments, tmp_path / "out", environment(api.url, tmp_path))

        assert (summary["rate"], len(api.requests)) == (asked, asked)
