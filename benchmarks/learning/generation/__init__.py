"""Instructions that a model writes for sampled APIs, and what they are checked by."""
