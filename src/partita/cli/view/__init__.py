"""Threads and messages drawn in the terminal. Loaded with the commands that draw: it brings rich."""
