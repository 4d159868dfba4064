"""Modules that are loaded in the worker process only."""
