"""What went wrong in a run, whose fault it was, and what would have been right."""
