"""Which tools and which solved questions are shown for a question."""
