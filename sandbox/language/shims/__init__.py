"""Curated, read-only stand-ins for the modules that a program imports."""
