"""What is loaded in the worker process only."""
