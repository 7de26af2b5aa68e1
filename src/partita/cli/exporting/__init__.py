"""Threads on their way into files."""
