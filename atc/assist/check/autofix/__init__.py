"""Rewrites of a program whose mistake has one fix."""
