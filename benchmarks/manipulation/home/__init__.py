"""Home Search: criteria of a home to buy or to rent."""
