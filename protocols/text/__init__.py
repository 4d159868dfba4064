"""Words of names, and names in a text."""
