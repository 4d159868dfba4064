"""Solutions of queries as training data: split, annotated, exported, replayed."""
