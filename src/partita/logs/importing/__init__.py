"""Logs into the store: what is new of them, once, whatever happened to the files meanwhile."""
