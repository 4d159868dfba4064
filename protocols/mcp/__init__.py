"""Servers of the Model Context Protocol: their tools become those of a protocol, and are called over one connection."""
