"""Figures of one run (`MetricsScorer`, `table`), of an ablation (`ablation`), and the comparison of several runs.

`runs` reads the folders, `figures` and `stats` compute, `comparison` puts both together, `tables` says it in words and
numbers, and `render` and `page` write that down: for a terminal, as Markdown, as one HTML page, as JSON.
"""

from __future__ import annotations

from benchmarks.report.summary import MetricsScorer, ablation, table

__all__ = ["MetricsScorer", "ablation", "table"]
