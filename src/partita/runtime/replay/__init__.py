"""Stored runs played, stepped through, and used as models."""
