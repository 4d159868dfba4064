"""Calls written down before they leave, so that no write is sent twice."""
