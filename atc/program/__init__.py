"""The source of a program: extracted, parsed, cut into lines."""
