"""What the words of a question say: entities, intent, comparisons, dates, synonyms."""
