"""Rendering of threads, messages and runs in the terminal. Imported on demand, because it imports rich."""
