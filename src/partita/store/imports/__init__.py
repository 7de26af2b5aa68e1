"""Rows of other systems, straight from their databases or dumps, into the store."""
