"""Threads as files to share: without secrets, and without what the user leaves out."""
