"""Faults put into programs and services, and what is said of them."""
