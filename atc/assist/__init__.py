"""Help for small models, beside the core: readings of the question, plans, checks, rules in English."""
