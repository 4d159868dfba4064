"""Data to train models with, and their training."""
