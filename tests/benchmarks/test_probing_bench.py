"""The bench of the prober prints what each way of probing finds out."""

from __future__ import annotations

import re

from click.testing import CliRunner

from benchmarks.micro.probing import WAYS, main


def test_every_way_of_probing_has_its_column() -> None:
    told = CliRunner().invoke(
        main, ["tiny", "--ablate", "--fresh", "0", "--model", "none"], env={"COLUMNS": "200"}, catch_exceptions=False
    )
    assert told.exit_code == 0, told.output
    assert all(len(re.findall(rf"\b{way}\b", told.output)) >= 2 for way in WAYS)
    found = re.findall(r"documented +│ +(\d+) of (\d+) +│ +(\d+) of \d+ +│ +(\d+) of \d+", told.output)
    assert len(found) == 2
    for everything, tools, one, unchained in found:
        assert everything == tools
        assert int(one) >= int(tools) - 1  # a list that one sample finds empty is not documented
        assert int(unchained) < int(tools)
