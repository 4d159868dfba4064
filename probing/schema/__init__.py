"""Schemas and constraints inferred from observed calls."""
