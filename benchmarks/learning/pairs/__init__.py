"""Questions with programs that answer them, made from the data flow of an API and tried in its simulated service."""
