"""The simulated service as clients see it: requests, sessions, bodies, pages, writes."""
