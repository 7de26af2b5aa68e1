"""Exports of conversations: a document to read, and plain turns as training data."""
