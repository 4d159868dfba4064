"""Runs of a benchmark: the runner, its engines, one task, the oracle model."""
