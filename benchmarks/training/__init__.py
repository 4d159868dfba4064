"""`atc train`: data to train models with, and their training."""
