"""VirtualHome: activities of a household as lines of calls, judged by their likeness to reference programs."""
