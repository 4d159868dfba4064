"""Tabletop: programs that pick blocks and place them on a table."""
