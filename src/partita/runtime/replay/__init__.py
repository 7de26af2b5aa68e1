"""Runs again: played, stepped through, answered with, read anew, compared."""
