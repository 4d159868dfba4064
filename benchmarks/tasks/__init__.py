"""Task files, their APIs, references and measures."""

__all__ = ["NAMES"]

NAMES = {
    "tiny": "24 tasks of our own with two made-up APIs, always simulated; needs no other file",
    "restbench-tmdb": "RestBench, questions about movies (TMDB)",
    "restbench-spotify": "RestBench, tasks for a music player (Spotify)",
    "toolflow": "ToolFlow (AutoTools-Eval), long questions about food, weather and more",
    "own": "your tasks in one of these formats, and your API: needs --tasks and --api",
}
"""The line of each benchmark in the help of `atc bench`."""
