"""Uploaded files: received, recognized, and written to the store."""
