"""Task files, their APIs, references and measures."""

__all__ = ["NAMES"]

NAMES = {
    "tiny": "24 tasks of our own with two made-up APIs, always simulated; needs no other file",
    "restbench-tmdb": "RestBench, questions about movies (TMDB)",
    "restbench-spotify": "RestBench, tasks for a music player (Spotify)",
    "toolflow": "ToolFlow (AutoTools-Eval), long questions about food, weather and more",
    "toolbench": "ToolBench, queries that list the APIs they may use; --subset or --tasks",
    "own": "200 tasks of our own over eight real API documents; or yours, with --tasks and --api",
}
"""The line of each benchmark in the help of `atc bench`."""
