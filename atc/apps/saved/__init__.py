"""Solved questions as tools of one's own: programs with parameters, which run without a model."""
