"""Faults in programs and services, to measure attribution and verification with."""
