"""Stored messages rebuilt from the raw bytes that are kept of their runs."""
