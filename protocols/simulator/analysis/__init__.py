"""The analysis of an API: its entity types, relations and response shapes, read from its protocol once."""
