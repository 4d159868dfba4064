"""Replaces what is secret or personal in what is written down."""
