"""The virtual API server: a cache of replies, and what answers where it has none."""
