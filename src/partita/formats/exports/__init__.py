"""Exports of conversations: Markdown documents, and plain turns as training data."""
