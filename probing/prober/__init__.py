"""Call the tools of an API to learn what they return."""
