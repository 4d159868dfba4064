"""Schemas and constraints inferred from what was seen."""
