"""Rewrites a program where what is wrong has one remedy."""
