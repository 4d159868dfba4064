"""The HTTP side of a simulated service: requests, sessions, bodies, pages, writes."""
