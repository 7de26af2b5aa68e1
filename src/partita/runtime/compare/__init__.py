"""Differences between runs, messages and JSON values."""
