"""Worker processes, forked ahead."""
