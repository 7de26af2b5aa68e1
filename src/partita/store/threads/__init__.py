"""Threads: rows, filters, lists, copies, branches."""
