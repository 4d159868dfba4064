"""Which response field feeds which argument."""
