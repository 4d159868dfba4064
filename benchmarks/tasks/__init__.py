"""Task files, their APIs, references and measures."""
