"""The entities of a simulated API, their values and relations."""
