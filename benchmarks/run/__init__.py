"""Solving tasks with an agent: the environment, its settings, the oracle model."""
