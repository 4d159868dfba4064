"""The bench of the prober prints what each way of probing finds out."""

from __future__ import annotations

import re

from click.testing import CliRunner

from benchmarks.micro.probing import VARIANTS, main


def test_every_way_of_probing_has_its_column() -> None:
    result = CliRunner().invoke(
        main, ["tiny", "--ablate", "--fresh", "0", "--model", "none"], env={"COLUMNS": "200"}, catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    assert all(len(re.findall(rf"\b{variant}\b", result.output)) >= 2 for variant in VARIANTS)
    rows = re.findall(r"documented +│ +(\d+) of (\d+) +│ +(\d+) of \d+ +│ +(\d+) of \d+", result.output)
    assert len(rows) == 2
    for everything, tools, one_sample, unchained in rows:
        assert everything == tools
        assert int(one_sample) >= int(tools) - 1  # a list that one sample finds empty is not documented
        assert int(unchained) < int(tools)
