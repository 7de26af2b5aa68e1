"""Conversations as people and trainers want them: documents, and lists of plain turns."""
