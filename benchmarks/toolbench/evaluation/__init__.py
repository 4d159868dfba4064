"""ToolEval: pass rate, win rate, and their successors, by a judge."""
