"""The published files: queries, tool records, answers."""
