"""Protocols of clients: what a client sends becomes a turn of a thread, what a run emits its response."""
